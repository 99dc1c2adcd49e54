//! The operators that answer true or false.

use crate::budget::Budget;
use crate::coerce::{less, less_or_equal, loosely_equal, strictly_equal, truthy};
use crate::datum::Datum;
use crate::eval::{Arguments, EvalError, words};
use crate::parse::Test;

pub(super) fn test(test: Test, of: &Arguments<'_>, budget: &mut Budget) -> Result<bool, EvalError> {
    match test {
        Test::LooselyEqual => loosely_equal(of.first(), of.second(), budget),
        Test::LooselyDifferent => loosely_equal(of.first(), of.second(), budget).map(|equal| !equal),
        Test::StrictlyEqual => strictly_equal(of.first(), of.second(), budget),
        Test::StrictlyDifferent => strictly_equal(of.first(), of.second(), budget).map(|equal| !equal),
        Test::Greater => less(of.second(), of.first(), budget),
        Test::GreaterOrEqual => less_or_equal(of.second(), of.first(), budget),
        Test::Less => rising(of, budget, less),
        Test::LessOrEqual => rising(of, budget, less_or_equal),
        Test::Truth => Ok(truthy(of.first())),
        Test::Not => Ok(!truthy(of.first())),
        Test::In => within(of.first(), of.second(), budget),
    }
}

type Order = fn(&Datum<'_>, &Datum<'_>, &mut Budget) -> Result<bool, EvalError>;

/// With a third argument the second must lie between.
fn rising(of: &Arguments<'_>, budget: &mut Budget, order: Order) -> Result<bool, EvalError> {
    let below = order(of.first(), of.second(), budget)?;
    if !below || of.third().is_undefined() {
        return Ok(below);
    }
    order(of.second(), of.third(), budget)
}

/// A part of a text, or an element of an array.
fn within(needle: &Datum<'_>, hay: &Datum<'_>, budget: &mut Budget) -> Result<bool, EvalError> {
    if hay.is_text() {
        // JavaScript asks an empty text nothing.
        return Ok(truthy(hay) && words::contains(hay, needle, budget)?);
    }
    budget.read(hay.stretch())?;
    if hay.has("indexOf") {
        return Err(EvalError::Type("an object with a member `indexOf` cannot be searched"));
    }
    for element in hay.elements().into_iter().flatten() {
        budget.step()?;
        if strictly_equal(&element, needle, budget)? {
            return Ok(true);
        }
    }
    Ok(false)
}
