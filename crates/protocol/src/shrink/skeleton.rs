//! The harsher cut: only what the event's schema needs, strings cut short, so that the event stays valid.

use super::Goal;
use super::body::Body;
use super::compact;
use super::fields::TopField;
use super::marker::{Marker, PREVIEW, write_stand_in};
use crate::debug::{Field, Need, Shape, payload_is_valid};
use crate::json::{Kind, Raw, View};

/// The skeleton of an event payload, if there is one that fits. An event invalid from the start has none.
pub(super) fn skeleton(payload: Body<'_>, goal: &Goal) -> Option<Raw> {
    let plan = goal.plan.filter(|plan| payload_is_valid(plan, payload.pairs()))?;
    let attempts = [(LONG, Detail::Full), (LONG, Detail::Bare), (SHORT, Detail::Bare)];
    attempts.into_iter().find_map(|(limit, detail)| goal.accept(attempt(payload, plan, goal, (limit, detail))))
}

#[derive(Debug, Clone, Copy)]
enum Detail {
    Full,
    /// Without preview and list of fields: the names alone may exceed the budget.
    Bare,
}

fn attempt(payload: Body<'_>, plan: &'static [Field], goal: &Goal, (limit, detail): (usize, Detail)) -> Vec<u8> {
    let kept = kept(payload.pairs(), plan);
    let mut out = Vec::new();
    let marker = Marker::new().number("bytes", goal.total);
    let marker = match detail {
        Detail::Full => marker.preview(payload, PREVIEW).fields(lost(payload, &kept)),
        Detail::Bare => marker.preview(payload, 0),
    };
    let entries = kept.iter().map(|(field, top)| (top.name, (*field, top.value)));
    marker.merge(entries, &mut out, |(field, value), out| write_bone(field, value, limit, out));
    out
}

/// The planned fields that are kept, in the plan's order.
fn kept<'a>(
    pairs: impl Iterator<Item = (View<'a>, View<'a>)>,
    plan: &'static [Field],
) -> Vec<(&'static Field, TopField<'a>)> {
    let mut found = vec![None; plan.len()];
    for (name, value) in pairs {
        if let Some((place, _)) = found.iter_mut().zip(plan).find(|(_, field)| name.is(field.name)) {
            *place = Some(TopField { name, value });
        }
    }
    let present = plan.iter().zip(found).filter_map(|(field, top)| Some((field, top?)));
    present
        .filter(|(field, top)| match field.need {
            Need::Required => true,
            Need::Optional => matches!(top.value.kind(), Kind::String | Kind::Number | Kind::Bool),
            Need::Loose => false,
        })
        .collect()
}

/// The names of all fields that are not kept word for word.
fn lost<'a>(payload: Body<'a>, kept: &[(&'static Field, TopField<'a>)]) -> impl Iterator<Item = View<'a>> {
    let whole = kept.iter().filter(|(field, top)| verbatim(field, top.value));
    let whole: Vec<View<'a>> = whole.map(|(_, top)| top.value).collect();
    let names =
        payload.pairs().filter(move |(_, value)| !whole.iter().any(|kept| std::ptr::eq(kept.raw(), value.raw())));
    names.map(|(name, _)| name)
}

fn verbatim(field: &'static Field, value: View<'_>) -> bool {
    match value.kind() {
        Kind::String => compact::string_units(value) <= LONG,
        Kind::Number | Kind::Bool => true,
        Kind::Array => value.items().next().is_none(),
        Kind::Object => match &field.shape {
            Shape::Object(shared) => {
                let bones = kept(value.pairs(), shared.fields);
                bones.len() == value.pairs().count() && bones.iter().all(|(field, top)| verbatim(field, top.value))
            }
            _ => false,
        },
        Kind::Null => false,
    }
}

/// Appends what is left of a field. Recurses as deep as the plan does.
fn write_bone(field: &'static Field, value: View<'_>, limit: usize, out: &mut Vec<u8>) {
    match (value.kind(), &field.shape) {
        (Kind::String, _) => {
            compact::write_cut(value, limit, out);
        }
        (Kind::Array, _) => out.extend_from_slice(b"[]"),
        (Kind::Object, Shape::Object(shared)) => {
            let bones = kept(value.pairs(), shared.fields);
            let entries = bones.iter().map(|(field, top)| (top.name, (*field, top.value)));
            Marker::none().merge(entries, out, |(field, value), out| write_bone(field, value, limit, out));
        }
        (Kind::Object, _) => write_stand_in("[omitted]", out),
        (Kind::Null | Kind::Bool | Kind::Number, _) => compact::write(value, out),
    }
}

const LONG: usize = 256;
const SHORT: usize = 32;
