//! The operators that make a value of their arguments: arithmetic, texts, lists, look-ups.

use crate::coerce;
use crate::datum::Datum;
use crate::eval::{Arguments, EvalError, Machine, answer, words};
use crate::lookup::Scope;
use crate::parse::Make;

impl<'d> Machine<'_, 'd> {
    pub(super) fn make(&mut self, make: Make, of: Arguments<'d>, scope: &Scope<'d>) -> Result<Datum<'d>, EvalError> {
        match make {
            Make::Plus => self.plus(&of),
            Make::Minus => self.minus(&of),
            Make::Times => self.times(&of),
            Make::Divide => self.pair(&of, |left, right| left / right),
            Make::Remainder => self.pair(&of, |left, right| left % right),
            Make::Min => self.best(&of, f64::INFINITY, |next, best| next < best || is_below_at_zero(next, best)),
            Make::Max => self.best(&of, f64::NEG_INFINITY, |next, best| next > best || is_below_at_zero(best, next)),
            Make::Cat => words::cat(&of, &mut self.budget),
            Make::Substr => words::substr(&of, &mut self.budget),
            Make::Merge => self.merge(&of),
            Make::Log => self.log(&of),
            Make::Var => self.var(&of, scope),
            Make::Missing => self.missing(of, scope),
            Make::MissingSome => self.missing_some(&of, scope),
        }
    }

    fn plus(&mut self, of: &Arguments<'d>) -> Result<Datum<'d>, EvalError> {
        let mut sum = 0.0;
        for argument in &of.0 {
            sum += coerce::leading_number(argument, &mut self.budget)?;
        }
        Ok(Datum::number(sum))
    }

    /// A single factor stays what it is, even a text. A product is read again before the next factor, which costs a zero
    /// its sign; the text `-0` keeps it.
    fn times(&mut self, of: &Arguments<'d>) -> Result<Datum<'d>, EvalError> {
        let (first, rest) = of.0.split_first().ok_or(EvalError::Type("`*` needs a factor"))?;
        let mut product = first.clone();
        for factor in rest {
            let left = coerce::leading_number(&product, &mut self.budget)?;
            product = Datum::number(left * coerce::leading_number(factor, &mut self.budget)?);
        }
        Ok(product)
    }

    fn minus(&mut self, of: &Arguments<'d>) -> Result<Datum<'d>, EvalError> {
        if of.second().is_undefined() {
            let number = coerce::number(of.first(), &mut self.budget)?;
            return Ok(Datum::number(-number));
        }
        self.pair(of, |left, right| left - right)
    }

    fn pair(&mut self, of: &Arguments<'d>, compute: fn(f64, f64) -> f64) -> Result<Datum<'d>, EvalError> {
        let left = coerce::number(of.first(), &mut self.budget)?;
        let right = coerce::number(of.second(), &mut self.budget)?;
        Ok(Datum::number(compute(left, right)))
    }

    /// One NaN makes the whole NaN.
    fn best(&mut self, of: &Arguments<'d>, start: f64, beats: fn(f64, f64) -> bool) -> Result<Datum<'d>, EvalError> {
        let mut best = start;
        for argument in &of.0 {
            let next = coerce::number(argument, &mut self.budget)?;
            if next.is_nan() || beats(next, best) {
                best = next;
            }
        }
        Ok(Datum::number(best))
    }

    /// Arrays give their elements, everything else itself.
    fn merge(&mut self, of: &Arguments<'d>) -> Result<Datum<'d>, EvalError> {
        let mut merged = Vec::new();
        for argument in &of.0 {
            match self.elements(argument)? {
                None => merged.push(argument.clone()),
                Some(elements) => {
                    for element in elements {
                        self.budget.step()?;
                        merged.push(element);
                    }
                }
            }
        }
        Datum::list(merged)
    }

    fn log(&mut self, of: &Arguments<'d>) -> Result<Datum<'d>, EvalError> {
        let logged = answer::value(of.first(), &mut self.budget)?;
        (self.log)(logged);
        Ok(of.first().clone())
    }
}

/// The two zeros are equal, but the negative one is the smaller.
fn is_below_at_zero(left: f64, right: f64) -> bool {
    left == right && left.is_sign_negative() && right.is_sign_positive()
}
