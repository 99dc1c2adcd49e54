//! The gentlest cut: the largest top-level fields are shortened, one after the other, until half the budget is free again.

use std::cmp::Reverse;

use super::Goal;
use super::body::Body;
use super::compact;
use super::fields::TopField;
use super::marker::{Marker, PREVIEW, write_stand_in};
use crate::json::{Kind, Raw, View};

/// The trimmed payload, if it fits and is valid.
pub(super) fn trim(payload: Body<'_>, fields: &[TopField<'_>], goal: &Goal) -> Option<Raw> {
    let mut by_size: Vec<(usize, usize)> =
        fields.iter().map(|field| compact::measure(field.value).units).enumerate().collect();
    // Stable: fields of one size keep their order.
    by_size.sort_by_key(|(_, units)| Reverse(*units));
    let mut sizes = vec![None; fields.len()];
    let mut order = Vec::new();
    let mut remaining = goal.total;
    for (place, units) in by_size {
        if remaining <= goal.budget / 2 {
            break;
        }
        remaining = remaining.saturating_sub(units);
        if let (Some(size), Some(field)) = (sizes.get_mut(place), fields.get(place)) {
            *size = Some(units);
            order.push(field.name);
        }
    }
    let marker = Marker::new().number("bytes", goal.total).preview(payload, PREVIEW).fields(order);
    let mut out = Vec::new();
    let entries = fields.iter().zip(sizes).map(|(field, size)| (field.name, (field.value, size)));
    marker.merge(entries, &mut out, |(value, size), out| match size {
        Some(units) => write_field(value, units, out),
        None => compact::write(value, out),
    });
    goal.accept(out)
}

/// Appends a shortened field; `units` is the length of its compact JSON.
fn write_field(value: View<'_>, units: usize, out: &mut Vec<u8>) {
    if value.kind() != Kind::Object {
        return write_short(value, 0, out);
    }
    let dropped = dropped(value);
    let marker = Marker::new().number("bytes", units).preview(value, PREVIEW);
    let marker = if dropped > 0 { marker.number(DROPPED, dropped) } else { marker };
    marker.merge(value.pairs().take(KEYS), out, |inner, out| write_short(inner, 1, out));
}

/// Appends a shortened value. Recurses at most `DEEPEST` levels, whatever the value.
fn write_short(value: View<'_>, depth: usize, out: &mut Vec<u8>) {
    match value.kind() {
        Kind::String => {
            compact::write_cut(value, STRING, out);
        }
        Kind::Array => out.extend_from_slice(b"[]"),
        Kind::Object if depth >= DEEPEST => write_stand_in("[deeply nested]", out),
        Kind::Object => {
            let dropped = dropped(value);
            let marker = if dropped > 0 { Marker::new().number(DROPPED, dropped) } else { Marker::none() };
            marker.merge(value.pairs().take(KEYS), out, |inner, out| write_short(inner, depth + 1, out));
        }
        Kind::Null | Kind::Bool | Kind::Number => compact::write(value, out),
    }
}

/// How many members are too many.
fn dropped(object: View<'_>) -> usize {
    object.pairs().skip(KEYS).count()
}

const DROPPED: &str = "keysDropped";
const KEYS: usize = 256;
const STRING: usize = 2_000;
const DEEPEST: usize = 6;
