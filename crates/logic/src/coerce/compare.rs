//! JavaScript's four ways to compare: `==`, `===`, `<` and `<=`.

use std::sync::Arc;

use crate::budget::Budget;
use crate::coerce::{number, primitive, text};
use crate::datum::{Datum, Form};
use crate::eval::EvalError;

/// `===`. Arrays and objects are equal to themselves only.
pub(crate) fn strictly_equal(left: &Datum<'_>, right: &Datum<'_>, budget: &mut Budget) -> Result<bool, EvalError> {
    if left.is_text() && right.is_text() {
        return Ok(text(left, budget)? == text(right, budget)?);
    }
    Ok(match (&left.0, &right.0) {
        (Form::Undefined, Form::Undefined) | (Form::Null, Form::Null) => true,
        (Form::Bool(left), Form::Bool(right)) => left == right,
        (Form::Number(left), Form::Number(right)) => left == right,
        (Form::List(left), Form::List(right)) => Arc::ptr_eq(left, right),
        (Form::Members(left), Form::Members(right)) => Arc::ptr_eq(left, right),
        // Two looks at the same place in the data.
        (Form::View(left), Form::View(right)) => std::ptr::eq(left.raw(), right.raw()),
        (
            Form::Undefined
            | Form::Null
            | Form::Bool(_)
            | Form::Number(_)
            | Form::Text(_)
            | Form::View(_)
            | Form::List(_)
            | Form::Members(_),
            _,
        ) => false,
    })
}

/// `==`.
pub(crate) fn loosely_equal(left: &Datum<'_>, right: &Datum<'_>, budget: &mut Budget) -> Result<bool, EvalError> {
    let kinds = (Sort::of(left), Sort::of(right));
    match kinds {
        (Sort::Nothing, Sort::Nothing) => Ok(true),
        (Sort::Nothing, _) | (_, Sort::Nothing) => Ok(false),
        (Sort::Object, Sort::Object) | (Sort::Text, Sort::Text) => strictly_equal(left, right, budget),
        (Sort::Object, Sort::Text) | (Sort::Text, Sort::Object) => Ok(text(left, budget)? == text(right, budget)?),
        (Sort::Object | Sort::Text | Sort::Number, Sort::Object | Sort::Text | Sort::Number) => {
            Ok(number(left, budget)? == number(right, budget)?)
        }
    }
}

/// `<`, false where a side is no number.
pub(crate) fn less(left: &Datum<'_>, right: &Datum<'_>, budget: &mut Budget) -> Result<bool, EvalError> {
    let (left, right) = (primitive(left, budget)?, primitive(right, budget)?);
    if left.is_text() && right.is_text() {
        return Ok(text(&left, budget)? < text(&right, budget)?);
    }
    Ok(number(&left, budget)? < number(&right, budget)?)
}

/// `<=`, false where a side is no number.
pub(crate) fn less_or_equal(left: &Datum<'_>, right: &Datum<'_>, budget: &mut Budget) -> Result<bool, EvalError> {
    let (left, right) = (primitive(left, budget)?, primitive(right, budget)?);
    if left.is_text() && right.is_text() {
        return Ok(text(&left, budget)? <= text(&right, budget)?);
    }
    Ok(number(&left, budget)? <= number(&right, budget)?)
}

/// The sorts that `==` tells apart; truth values count as numbers.
#[derive(Clone, Copy)]
enum Sort {
    Nothing,
    Number,
    Text,
    Object,
}

impl Sort {
    fn of(datum: &Datum<'_>) -> Self {
        match &datum.0 {
            Form::Undefined | Form::Null => Self::Nothing,
            Form::Bool(_) | Form::Number(_) => Self::Number,
            Form::Text(_) => Self::Text,
            Form::List(_) | Form::Members(_) => Self::Object,
            Form::View(_) if datum.is_text() => Self::Text,
            Form::View(_) => Self::Object,
        }
    }
}
