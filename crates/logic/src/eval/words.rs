//! Texts: a part of one, one in another, and several as one. Counted in UTF-16 units, as in JavaScript.

use std::borrow::Cow;

use lockgate_protocol::json::Text;

use crate::budget::Budget;
use crate::coerce::{self, Join, less};
use crate::datum::{Datum, Form};
use crate::eval::{Arguments, EvalError};

/// Whether `needle`, as text, stands somewhere in the text `hay`.
pub(super) fn contains(hay: &Datum<'_>, needle: &Datum<'_>, budget: &mut Budget) -> Result<bool, EvalError> {
    let hay = coerce::text(hay, budget)?;
    let needle = coerce::text(needle, budget)?;
    match (hay.as_str(), needle.as_str()) {
        (Some(hay), Some(needle)) => Ok(hay.contains(needle)),
        _ => Ok(searchable(&hay).contains(&*searchable(&needle))),
    }
}

/// Every unit as a character of its own, so that half of a pair is found inside a pair.
fn searchable(text: &Text) -> Cow<'_, str> {
    let units = text.utf16().map(|unit| {
        let stand_in = SURROGATES_STAND_IN + u32::from(unit);
        char::from_u32(u32::from(unit)).or_else(|| char::from_u32(stand_in)).unwrap_or_default()
    });
    Cow::Owned(units.collect())
}

/// A private plane, which cannot itself occur: its characters are pairs here.
const SURROGATES_STAND_IN: u32 = 0x10_0000;

/// All arguments as one text; null and undefined are nothing.
pub(super) fn cat<'d>(of: &Arguments<'d>, budget: &mut Budget) -> Result<Datum<'d>, EvalError> {
    let mut join = Join::new(budget);
    for argument in &of.0 {
        join.element(argument)?;
    }
    Ok(Datum::of_text(join.done()))
}

/// Part of a text from `start` (negative: from the end), of a length (negative: leaving so many off).
pub(super) fn substr<'d>(of: &Arguments<'d>, budget: &mut Budget) -> Result<Datum<'d>, EvalError> {
    let source: Vec<u16> = coerce::text(of.first(), budget)?.utf16().collect();
    let start = coerce::number(of.second(), budget)?;
    let length = of.third();
    let part = if less(length, &Datum::number(0.0), budget)? {
        let rest = part(&source, start, f64::INFINITY);
        part_leaving(rest, length, budget)?
    } else if length.is_undefined() {
        part(&source, start, f64::INFINITY)
    } else {
        part(&source, start, coerce::number(length, budget)?)
    };
    let text = Text::from_utf16(part);
    budget.keep(coerce::bytes(&text))?;
    Ok(Datum::of_text(text))
}

/// `left_off` is negative. As a text or an array it is glued to the length instead of added, which is no number.
fn part_leaving<'u>(rest: &'u [u16], left_off: &Datum<'_>, budget: &mut Budget) -> Result<&'u [u16], EvalError> {
    let Form::Number(left_off) = coerce::primitive(left_off, budget)?.0 else {
        return Ok(&[]);
    };
    #[expect(clippy::cast_precision_loss, reason = "lengths in memory are below 2^53")]
    let length = rest.len() as f64;
    Ok(part(rest, 0.0, length + left_off))
}

/// JavaScript's `String.prototype.substr`.
fn part(units: &[u16], start: f64, length: f64) -> &[u16] {
    let start = match whole(-start) {
        0 => whole(start).min(units.len()),
        from_end => units.len().saturating_sub(from_end),
    };
    let end = start.saturating_add(whole(length)).min(units.len());
    units.get(start..end).unwrap_or_default()
}

/// Towards zero; nothing for NaN and below zero, and as many as there can be for infinity.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturating is what is meant")]
fn whole(number: f64) -> usize {
    number as usize
}
