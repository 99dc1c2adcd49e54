//! Checks a payload against the registry and names what is wrong. Descends only as deep as the registry does.

use std::fmt::{self, Write as _};

use super::messages::{Field, Message, Need, Shape};
use super::parse::Issue;
use crate::json::{Kind, View};

/// Whether the members of a payload satisfy its event type; for types we do not know they always do.
pub(crate) fn payload_is_valid<'a>(
    fields: &'static [Field],
    members: impl Iterator<Item = (View<'a>, View<'a>)>,
) -> bool {
    let mut issues = Issues::default();
    issues.members(fields, members);
    issues.found.is_empty()
}

pub(super) fn payload(message: &Message, payload: Option<View<'_>>) -> Vec<Issue> {
    let mut issues = Issues::default();
    match payload {
        Some(view) => issues.object(message.fields, view),
        None => issues.add("required"),
    }
    issues.found
}

/// A safe integer from `least` on; `1.0` is one.
pub(super) fn integer(view: View<'_>, least: i64) -> Option<i64> {
    view.i64().filter(|value| *value >= least && value.unsigned_abs() <= SAFE)
}

/// 2^53 - 1
pub(super) const SAFE: u64 = (1 << 53) - 1;

#[derive(Default)]
struct Issues {
    /// From the payload down, each step with a point before it. Only built where something below may be wrong.
    path: String,
    found: Vec<Issue>,
}

impl Issues {
    fn object(&mut self, fields: &'static [Field], view: View<'_>) {
        if view.kind() != Kind::Object {
            return self.add("expected object");
        }
        self.members(fields, view.pairs());
    }

    fn members<'a>(&mut self, fields: &'static [Field], pairs: impl Iterator<Item = (View<'a>, View<'a>)>) {
        // Of a repeated field the last one counts, and only that one is looked at.
        let mut values = [None; MOST];
        for (name, value) in pairs {
            let known = values.iter_mut().zip(fields).find(|(_, field)| name.is(field.name));
            if let Some((place, _)) = known {
                *place = Some(value);
            }
        }
        for (field, value) in fields.iter().zip(values) {
            match (value, field.need) {
                (Some(value), Need::Required | Need::Optional) => self.value(&field.name, &field.shape, value),
                (None, Need::Required) => self.below(&field.name, |inner| inner.add("required")),
                (None, Need::Optional | Need::Loose) | (Some(_), Need::Loose) => {}
            }
        }
    }

    fn value(&mut self, step: &dyn fmt::Display, shape: &'static Shape, view: View<'_>) {
        let wrong = match shape {
            Shape::List(item) => return self.below(step, |inner| inner.list(item, view)),
            Shape::Object(object) => return self.below(step, |inner| inner.object(object.fields, view)),
            Shape::Any => None,
            Shape::Text => (view.kind() != Kind::String).then_some("expected string"),
            Shape::Flag => (view.kind() != Kind::Bool).then_some("expected boolean"),
            Shape::Int(least) => integer(view, *least).is_none().then_some("expected integer in range"),
            Shape::Amount => {
                let amount = view.f64().filter(|amount| amount.is_finite() && *amount >= 0.0);
                amount.is_none().then_some("expected number, not negative")
            }
            Shape::Map => (view.kind() != Kind::Object).then_some("expected object"),
            Shape::Word(set) => (!set.words.iter().any(|word| view.is(word))).then_some("unknown value"),
        };
        if let Some(wrong) = wrong {
            self.below(step, |inner| inner.add(wrong));
        }
    }

    fn list(&mut self, item: &'static Shape, view: View<'_>) {
        if view.kind() != Kind::Array {
            return self.add("expected array");
        }
        for (place, each) in view.items().enumerate() {
            self.value(&place, item, each);
        }
    }

    fn below(&mut self, step: &dyn fmt::Display, check: impl FnOnce(&mut Issues)) {
        let length = self.path.len();
        // Writing to a string cannot fail.
        let _ = write!(self.path, ".{step}");
        check(self);
        self.path.truncate(length);
    }

    fn add(&mut self, message: &'static str) {
        if self.found.len() < LISTED {
            self.found.push(Issue::new(&format!("payload{}", self.path), message));
        }
    }
}

/// No object in the registry has more fields.
const MOST: usize = 12;
/// A frame can be wrong in a million places; so many are told.
const LISTED: usize = 16;
