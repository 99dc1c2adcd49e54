//! The language's own truth, numbers and texts: JavaScript's, with the one exception that an empty array is false.

mod compare;
mod join;
mod number;

use std::borrow::Cow;

use lockgate_protocol::json::{Kind, Text};

use crate::budget::Budget;
use crate::datum::{Datum, Form};
use crate::eval::EvalError;

pub(crate) use compare::{less, less_or_equal, loosely_equal, strictly_equal};
pub(crate) use join::{Join, bytes};

/// The language's truth: false are null, false, 0, NaN, the empty text and the empty array.
pub(crate) fn truthy(datum: &Datum<'_>) -> bool {
    match &datum.0 {
        Form::Undefined | Form::Null => false,
        Form::Bool(value) => *value,
        Form::Number(number) => *number != 0.0 && !number.is_nan(),
        Form::Text(text) => !text.is_empty(),
        Form::List(list) => !list.items.is_empty(),
        Form::Members(_) => true,
        Form::View(view) => match view.kind() {
            Kind::Array => view.items().next().is_some(),
            Kind::String => view.raw() != b"\"\"",
            Kind::Object | Kind::Null | Kind::Bool | Kind::Number => true,
        },
    }
}

/// JavaScript's `Number(…)`.
pub(crate) fn number(datum: &Datum<'_>, budget: &mut Budget) -> Result<f64, EvalError> {
    Ok(match &datum.0 {
        Form::Undefined => f64::NAN,
        Form::Null => 0.0,
        Form::Bool(value) => f64::from(u8::from(*value)),
        Form::Number(number) => *number,
        Form::Text(_) | Form::List(_) | Form::Members(_) | Form::View(_) => {
            number::parse(&text(datum, budget)?.to_lossy())
        }
    })
}

/// JavaScript's `parseFloat(…)`: the longest number at the start of the text.
pub(crate) fn leading_number(datum: &Datum<'_>, budget: &mut Budget) -> Result<f64, EvalError> {
    Ok(match &datum.0 {
        Form::Undefined | Form::Null | Form::Bool(_) => f64::NAN,
        // Printed and read again it is the same number; only the sign of a zero is lost.
        Form::Number(number) => *number + 0.0,
        Form::Text(_) | Form::List(_) | Form::Members(_) | Form::View(_) => {
            number::parse_leading(&text(datum, budget)?.to_lossy())
        }
    })
}

/// JavaScript's `String(…)`.
pub(crate) fn text<'x>(datum: &'x Datum<'_>, budget: &mut Budget) -> Result<Cow<'x, Text>, EvalError> {
    Ok(match &datum.0 {
        Form::Undefined => Cow::Owned(Text::from("undefined")),
        Form::Null => Cow::Owned(Text::from("null")),
        Form::Bool(value) => Cow::Owned(Text::from(if *value { "true" } else { "false" })),
        Form::Number(number) => Cow::Owned(Text::from(number::print(*number))),
        Form::Text(text) => {
            budget.read(bytes(text))?;
            Cow::Borrowed(text)
        }
        Form::View(view) if view.kind() == Kind::String => {
            budget.read(view.raw().len())?;
            Cow::Owned(view.text().unwrap_or_else(|| Text::from("")))
        }
        Form::List(_) | Form::Members(_) | Form::View(_) => {
            let mut join = Join::new(budget);
            join.object(datum)?;
            Cow::Owned(join.done())
        }
    })
}

/// JavaScript's step before it compares or adds: arrays and objects become texts, all else stays.
pub(crate) fn primitive<'d>(datum: &Datum<'d>, budget: &mut Budget) -> Result<Datum<'d>, EvalError> {
    if datum.is_object() {
        let text = text(datum, budget)?.into_owned();
        return Ok(Datum::of_text(text));
    }
    Ok(datum.clone())
}
