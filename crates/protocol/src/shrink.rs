//! Brings a payload below a byte budget without making its message invalid (wire §5.1), in a few passes over its text. What
//! fits is left alone, byte for byte.

mod compact;
mod fields;
mod marker;
mod skeleton;
mod trim;

use std::borrow::Cow;

use crate::debug::event_fields;
use crate::json::{Kind, Raw};

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
    let view = payload.view();
    let total = compact::measure(view).bytes;
    if total <= budget {
        return Shrunk::Same;
    }
    let plan = kind.and_then(event_fields);
    let goal = Goal { budget, total, plan };
    let tiers = if view.kind() == Kind::Object { trimmed(payload, &goal) } else { None };
    Shrunk::Cut(tiers.unwrap_or_else(|| marker::whole(view, total, budget)))
}

fn trimmed(payload: &Raw, goal: &Goal) -> Option<Raw> {
    let view = payload.view();
    let trimmed = fields::of(view).and_then(|fields| trim::trim(view, &fields, goal));
    trimmed.or_else(|| skeleton::skeleton(payload, goal))
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
        let valid = self.plan.is_none_or(|plan| crate::debug::payload_is_valid(plan, &raw));
        valid.then_some(raw)
    }
}

const LONGEST: usize = 6;

#[cfg(test)]
mod tests;
