//! What leaves an evaluation: JSON, or one of the values that JSON cannot say.

use lockgate_protocol::json::{Number, Object, Value};

use crate::budget::Budget;
use crate::coerce;
use crate::datum::{Datum, Form, MAX_NESTING};
use crate::eval::EvalError;

/// What a rule gives.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// JavaScript's `undefined`, for example from an empty `and`.
    Undefined,
    /// NaN or an infinity.
    NotFinite(f64),
    /// Everything that JSON can say. Inside of it, a member that is undefined is left out; an element that is, and the
    /// numbers JSON lacks, are null.
    Json(Value),
}

impl Answer {
    pub(super) fn of(datum: &Datum<'_>, budget: &mut Budget) -> Result<Self, EvalError> {
        Ok(match datum.0 {
            Form::Undefined => Self::Undefined,
            Form::Number(number) if !number.is_finite() => Self::NotFinite(number),
            _ => Self::Json(value(datum, budget)?),
        })
    }
}

/// The JSON of a value.
pub(crate) fn value(datum: &Datum<'_>, budget: &mut Budget) -> Result<Value, EvalError> {
    nested(datum, budget, 0)
}

fn nested(datum: &Datum<'_>, budget: &mut Budget, depth: usize) -> Result<Value, EvalError> {
    budget.step()?;
    if depth > MAX_NESTING {
        return Err(EvalError::Nesting);
    }
    Ok(match &datum.0 {
        Form::Undefined | Form::Null => Value::Null,
        Form::Bool(value) => Value::Bool(*value),
        Form::Number(number) => Number::from_f64(*number).map_or(Value::Null, Value::Number),
        Form::Text(text) => {
            budget.keep(coerce::bytes(text))?;
            Value::String(text.as_ref().clone())
        }
        Form::View(view) => {
            budget.keep(view.raw().len())?;
            view.to_value().map_err(|_| EvalError::Nesting)?
        }
        Form::List(list) => {
            let items = list.items.iter().map(|item| nested(item, budget, depth + 1));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        Form::Members(members) => {
            let members = members.members.iter().filter(|(_, value)| !value.is_undefined());
            let members = members.map(|(key, value)| Ok((key.clone(), nested(value, budget, depth + 1)?)));
            Value::Object(members.collect::<Result<Object, EvalError>>()?)
        }
    })
}
