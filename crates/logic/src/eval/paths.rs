//! The operators that look into data: `var`, `missing`, `missing_some`.

use lockgate_protocol::json::Text;

use crate::coerce;
use crate::datum::{Datum, Form};
use crate::eval::{Arguments, EvalError, Machine};
use crate::lookup::{self, Scope, Vars};

impl<'d> Machine<'_, 'd> {
    /// The value at a path, else the second argument, else null.
    pub(super) fn var(&mut self, of: &Arguments<'d>, scope: &Scope<'d>) -> Result<Datum<'d>, EvalError> {
        let found = match self.setting.vars {
            Vars::Plain => lookup::plain(of.first(), scope.datum(), &mut self.budget)?,
            Vars::Asked(resolver) => resolver(of.first(), scope).map_err(EvalError::Var)?,
        };
        Ok(found.unwrap_or_else(|| or_null(of.second())))
    }

    /// The paths at which there is nothing, null or an empty text. One array of paths counts as its elements.
    pub(super) fn missing(&mut self, of: Arguments<'d>, scope: &Scope<'d>) -> Result<Datum<'d>, EvalError> {
        let paths = match self.elements(of.first())? {
            Some(elements) => self.collect(elements)?,
            None => of.0,
        };
        self.absent(paths, scope).and_then(Datum::list)
    }

    /// Nothing when at least so many of the paths have a value, else those that are missing.
    pub(super) fn missing_some(&mut self, of: &Arguments<'d>, scope: &Scope<'d>) -> Result<Datum<'d>, EvalError> {
        let (wanted, paths) = (of.first(), of.second());
        if matches!(paths.0, Form::Undefined | Form::Null) {
            return Err(EvalError::Type("missing_some needs paths"));
        }
        let listed = self.elements(paths)?;
        let arguments = match listed {
            Some(elements) => Arguments(self.collect(elements)?),
            None => Arguments(vec![paths.clone()]),
        };
        let length = lookup::property(paths, &Text::from("length"), &mut self.budget)?;
        let length = coerce::number(&length.unwrap_or(Datum::undefined()), &mut self.budget)?;
        let missing = self.missing(arguments, scope)?;
        let count: f64 = missing.elements().into_iter().flatten().map(|_| 1.0).sum();
        if coerce::less_or_equal(wanted, &Datum::number(length - count), &mut self.budget)? {
            return Datum::list(Vec::new());
        }
        Ok(missing)
    }

    fn absent(&mut self, paths: Vec<Datum<'d>>, scope: &Scope<'d>) -> Result<Vec<Datum<'d>>, EvalError> {
        let mut absent = Vec::new();
        for path in paths {
            // A path that is an array is a path and its default.
            let (at, default) = match self.elements(&path)? {
                Some(mut elements) => {
                    let at = elements.next().unwrap_or(Datum::undefined());
                    (at, elements.next().unwrap_or(Datum::undefined()))
                }
                None => (path.clone(), Datum::undefined()),
            };
            let found = lookup::plain(&at, scope.datum(), &mut self.budget)?;
            let found = found.unwrap_or_else(|| or_null(&default));
            if matches!(found.0, Form::Null) || (found.is_text() && !coerce::truthy(&found)) {
                absent.push(path);
            }
        }
        Ok(absent)
    }

    fn collect(&mut self, elements: impl Iterator<Item = Datum<'d>>) -> Result<Vec<Datum<'d>>, EvalError> {
        elements.map(|element| self.budget.step().map(|()| element)).collect()
    }
}

fn or_null<'d>(default: &Datum<'d>) -> Datum<'d> {
    if default.is_undefined() { Datum::null() } else { default.clone() }
}
