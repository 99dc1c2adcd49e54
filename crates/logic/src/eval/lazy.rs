//! The operators that choose what to compute: branches, short circuits, and a rule for each element.

use crate::coerce::truthy;
use crate::datum::{Datum, Elements};
use crate::eval::{EvalError, Machine};
use crate::lookup::Scope;
use crate::parse::{Lazy, Node};

impl<'d> Machine<'_, 'd> {
    pub(super) fn lazy(&mut self, lazy: Lazy, nodes: &[Node], scope: &Scope<'d>) -> Result<Datum<'d>, EvalError> {
        match lazy {
            Lazy::If => self.branch(nodes, scope),
            Lazy::And => self.until(nodes, scope, |value| !truthy(value)),
            Lazy::Or => self.until(nodes, scope, truthy),
            Lazy::Map => self.map(nodes, scope),
            Lazy::Filter => self.filter(nodes, scope),
            Lazy::Reduce => self.reduce(nodes, scope),
            Lazy::All => self.all(nodes, scope).map(Datum::bool),
            Lazy::Some => self.some(nodes, scope).map(Datum::bool),
            Lazy::None => self.some(nodes, scope).map(|some| Datum::bool(!some)),
        }
    }

    /// Pairs of condition and value, perhaps a last value for when no condition was true.
    fn branch(&mut self, nodes: &[Node], scope: &Scope<'d>) -> Result<Datum<'d>, EvalError> {
        for pair in nodes.chunks(2) {
            match pair {
                [condition, value] if truthy(&self.apply(condition, scope)?) => return self.apply(value, scope),
                [otherwise] => return self.apply(otherwise, scope),
                _ => {}
            }
        }
        Ok(Datum::null())
    }

    /// The first value that ends the search, else the last; undefined without any.
    fn until(
        &mut self,
        nodes: &[Node],
        scope: &Scope<'d>,
        ends: fn(&Datum<'_>) -> bool,
    ) -> Result<Datum<'d>, EvalError> {
        let mut last = Datum::undefined();
        for node in nodes {
            last = self.apply(node, scope)?;
            if ends(&last) {
                break;
            }
        }
        Ok(last)
    }

    fn map(&mut self, nodes: &[Node], scope: &Scope<'d>) -> Result<Datum<'d>, EvalError> {
        let mut mapped = Vec::new();
        for element in self.walk(nodes, scope)?.into_iter().flatten() {
            mapped.push(self.inside(nodes, element)?);
        }
        Datum::list(mapped)
    }

    fn filter(&mut self, nodes: &[Node], scope: &Scope<'d>) -> Result<Datum<'d>, EvalError> {
        let mut kept = Vec::new();
        for element in self.walk(nodes, scope)?.into_iter().flatten() {
            if truthy(&self.inside(nodes, element.clone())?) {
                kept.push(element);
            }
        }
        Datum::list(kept)
    }

    fn reduce(&mut self, nodes: &[Node], scope: &Scope<'d>) -> Result<Datum<'d>, EvalError> {
        let elements = self.walk(nodes, scope)?;
        let mut accumulator = match nodes.get(2) {
            Some(initial) => self.apply(initial, scope)?,
            None => Datum::null(),
        };
        for current in elements.into_iter().flatten() {
            let turn = Datum::object([("current", current), ("accumulator", accumulator)])?;
            accumulator = self.inside(nodes, turn)?;
        }
        Ok(accumulator)
    }

    /// False for nothing to ask.
    fn all(&mut self, nodes: &[Node], scope: &Scope<'d>) -> Result<bool, EvalError> {
        let mut asked = false;
        for element in self.walk(nodes, scope)?.into_iter().flatten() {
            asked = true;
            if !truthy(&self.inside(nodes, element)?) {
                return Ok(false);
            }
        }
        Ok(asked)
    }

    fn some(&mut self, nodes: &[Node], scope: &Scope<'d>) -> Result<bool, EvalError> {
        for element in self.walk(nodes, scope)?.into_iter().flatten() {
            if truthy(&self.inside(nodes, element)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The elements of the first argument.
    fn walk(&mut self, nodes: &[Node], scope: &Scope<'d>) -> Result<Option<Elements<'d>>, EvalError> {
        match nodes.first() {
            Some(node) => {
                let list = self.apply(node, scope)?;
                self.elements(&list)
            }
            None => Ok(None),
        }
    }

    /// The second argument, seen from an element.
    fn inside(&mut self, nodes: &[Node], element: Datum<'d>) -> Result<Datum<'d>, EvalError> {
        match nodes.get(1) {
            Some(node) => self.apply(node, &Scope::Element(element)),
            None => {
                self.budget.step()?;
                Ok(Datum::undefined())
            }
        }
    }
}
