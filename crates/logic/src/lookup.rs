//! Where `var` gets its answer: the language's own dotted lookup, or a resolver of the host.

use std::fmt;

use lockgate_protocol::json::{Kind, Text};

use crate::budget::Budget;
use crate::coerce;
use crate::datum::{Datum, Form};
use crate::eval::EvalError;

/// Who answers `var`.
#[derive(Clone, Copy)]
pub enum Vars<'a, 'd> {
    /// The language's own lookup: dotted paths, numbers for elements, the empty path for everything. Own members
    /// only; what JavaScript inherits (`constructor`, `toString`) is not there.
    Plain,
    /// The host. `missing` and `missing_some` keep the language's own lookup.
    Asked(&'a Resolver<'d>),
}

/// Answers a path, as the rule computed it, seen from a scope. `Ok(None)` means nothing is there, and the rule's
/// default is taken; an `Err` ends the evaluation with [`EvalError::Var`].
pub type Resolver<'d> = dyn Fn(&Datum<'d>, &Scope<'d>) -> Result<Option<Datum<'d>>, String>;

/// What a path is looked up in.
#[derive(Debug, Clone)]
pub enum Scope<'d> {
    /// Outside every element: the data given to the evaluation.
    Root(Datum<'d>),
    /// Inside `map`, `filter`, `all`, `some`, `none` the element; inside `reduce` an object of `current` and `accumulator`.
    Element(Datum<'d>),
}

impl<'d> Scope<'d> {
    /// The data or the element itself.
    pub fn datum(&self) -> &Datum<'d> {
        match self {
            Self::Root(datum) | Self::Element(datum) => datum,
        }
    }
}

impl fmt::Debug for Vars<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "Plain",
            Self::Asked(_) => "Asked",
        })
    }
}

/// The language's own lookup. `None` where JavaScript would find `undefined`.
pub(crate) fn plain<'d>(
    path: &Datum<'d>,
    scope: &Datum<'d>,
    budget: &mut Budget,
) -> Result<Option<Datum<'d>>, EvalError> {
    if matches!(path.0, Form::Undefined | Form::Null) {
        return Ok(Some(scope.clone()));
    }
    if path.is_text() && !coerce::truthy(path) {
        return Ok(Some(scope.clone()));
    }
    let units: Vec<u16> = coerce::text(path, budget)?.utf16().collect();
    let mut found = scope.clone();
    for segment in units.split(|unit| *unit == u16::from(b'.')) {
        match property(&found, &Text::from_utf16(segment), budget)? {
            Some(next) => found = next,
            None => return Ok(None),
        }
    }
    Ok(Some(found))
}

/// An own property, `None` for none.
pub(crate) fn property<'d>(of: &Datum<'d>, key: &Text, budget: &mut Budget) -> Result<Option<Datum<'d>>, EvalError> {
    budget.step()?;
    match &of.0 {
        Form::Undefined | Form::Null | Form::Bool(_) | Form::Number(_) => Ok(None),
        Form::Members(members) => {
            let found = members.members.iter().find(|(name, value)| name == key && !value.is_undefined());
            Ok(found.map(|(_, value)| value.clone()))
        }
        Form::List(list) => Ok(match seat(key) {
            Seat::At(at) => list.items.get(at).filter(|item| !item.is_undefined()).cloned(),
            Seat::Length => Some(count(list.items.len())),
            Seat::None => None,
        }),
        Form::Text(text) => {
            budget.read(coerce::bytes(text))?;
            Ok(unit(text, key))
        }
        Form::View(view) => {
            budget.read(view.raw().len())?;
            Ok(match view.kind() {
                Kind::Object => match key.as_str() {
                    Some(name) => view.get(name).map(Datum::view),
                    None => view.members().filter(|(name, _)| name == key).last().map(|(_, value)| Datum::view(value)),
                },
                Kind::Array => match seat(key) {
                    Seat::At(at) => view.items().nth(at).map(Datum::view),
                    Seat::Length => Some(count(view.items().count())),
                    Seat::None => None,
                },
                Kind::String => view.text().and_then(|text| unit(&text, key)),
                Kind::Null | Kind::Bool | Kind::Number => None,
            })
        }
    }
}

/// What a key means to an array or a string.
enum Seat {
    At(usize),
    Length,
    None,
}

/// Only the number as JavaScript would print it is an index: `01` and `+1` are ordinary names.
fn seat(key: &Text) -> Seat {
    match key.as_str() {
        Some("length") => Seat::Length,
        Some(digits)
            if digits == "0" || (!digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit())) =>
        {
            digits.parse().map_or(Seat::None, Seat::At)
        }
        Some(_) | None => Seat::None,
    }
}

fn unit<'d>(text: &Text, key: &Text) -> Option<Datum<'d>> {
    match seat(key) {
        Seat::At(at) => text.utf16().nth(at).map(|unit| Datum::of_text(Text::from_utf16(&[unit]))),
        Seat::Length => Some(count(text.utf16().count())),
        Seat::None => None,
    }
}

/// Counts beyond 2^53 do not fit into memory.
fn count<'d>(count: usize) -> Datum<'d> {
    Datum::number(u32::try_from(count).map_or(f64::MAX, f64::from))
}
