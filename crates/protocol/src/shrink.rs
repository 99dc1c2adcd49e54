//! Brings a payload below a byte budget without making its message invalid (wire §5.1), in a few passes over its text. What
//! fits is left alone, byte for byte.

mod body;
mod compact;
mod fields;
mod marker;
mod skeleton;
mod trim;

use std::borrow::Cow;

use crate::debug::event_fields;
use crate::json::{Kind, Raw};
use body::Body;

pub use self::marker::{SUFFIX, TRUNCATED};

/// The usual budget of a payload, in bytes: 512 KiB.
pub const BUDGET: usize = 524_288;

/// What became of a payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shrunk {
    /// It fits as it is.
    Same,
    /// It did not; this does.
    Cut(Raw),
}

impl Shrunk {
    /// The payload to go on with.
    pub fn or(self, payload: &Raw) -> Cow<'_, Raw> {
        match self {
            Shrunk::Same => Cow::Borrowed(payload),
            Shrunk::Cut(raw) => Cow::Owned(raw),
        }
    }
}

/// Shrinks a payload to `budget` bytes of compact JSON in JavaScript's spelling.
///
/// In order: unchanged if it fits · the largest fields trimmed · for an event `kind`, the skeleton its schema requires · a bare
/// marker, which is no valid event any more. The first that fits, and is valid if its kind is known, is taken. Doing it again
/// changes nothing. Budgets below about 200 bytes may be missed by the marker.
pub fn shrink(kind: Option<&str>, payload: &Raw, budget: usize) -> Shrunk {
    // Spelling a number as JavaScript does can make it longer (`1e20`), at most by this factor.
    if payload.len().saturating_mul(LONGEST) <= budget {
        return Shrunk::Same;
    }
    cut(kind, payload.view().into(), budget)
}

/// As [`shrink`], for an object whose field `name` has a value that stands elsewhere, so that a long one need not be copied to
/// be cut. The object holds the name once, with any value in its place.
pub fn shrink_apart(kind: Option<&str>, payload: &Raw, (name, value): (&str, &Raw), budget: usize) -> Shrunk {
    cut(kind, Body::apart(payload.view(), name, value.view()), budget)
}

fn cut(kind: Option<&str>, body: Body<'_>, budget: usize) -> Shrunk {
    let total = compact::measure(body).bytes;
    if total <= budget {
        return Shrunk::Same;
    }
    let plan = kind.and_then(event_fields);
    let goal = Goal { budget, total, plan };
    let tiers = if body.kind() == Kind::Object { trimmed(body, &goal) } else { None };
    Shrunk::Cut(tiers.unwrap_or_else(|| marker::whole(body, total, budget)))
}

fn trimmed(body: Body<'_>, goal: &Goal) -> Option<Raw> {
    let trimmed = fields::of(body).and_then(|fields| trim::trim(body, &fields, goal));
    trimmed.or_else(|| skeleton::skeleton(body, goal))
}

/// What a result has to satisfy.
struct Goal {
    /// Bytes it may have.
    budget: usize,
    /// Bytes there were.
    total: usize,
    /// The fields of its event type, if that is known.
    plan: Option<&'static [crate::debug::Field]>,
}

impl Goal {
    /// The result, if it is short enough and still valid.
    fn accept(&self, out: Vec<u8>) -> Option<Raw> {
        if out.len() > self.budget {
            return None;
        }
        let raw = Raw::trusted(out);
        let valid = self.plan.is_none_or(|plan| crate::debug::payload_is_valid(plan, raw.view().pairs()));
        valid.then_some(raw)
    }
}

const LONGEST: usize = 6;

#[cfg(test)]
mod tests;
