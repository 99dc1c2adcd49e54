//! Runs a checked rule. Only the rule is ever run: a value that came from data stays a value, whatever it looks like.

pub(crate) mod answer;
mod lazy;
mod make;
mod paths;
mod test;
mod words;

use std::sync::Arc;

use lockgate_protocol::json::Value;

use crate::budget::{Budget, Limits};
use crate::coerce;
use crate::datum::{Datum, Elements};
use crate::lookup::{Scope, Vars};
use crate::parse::{Node, Operator, Rule};

pub use answer::Answer;

/// What a rule is run on.
#[derive(Debug, Clone)]
pub struct Setting<'a, 'd> {
    /// The data outside every element.
    pub data: Datum<'d>,
    /// Who answers `var`.
    pub vars: Vars<'a, 'd>,
    /// What the evaluation may cost.
    pub limits: Limits,
}

/// Why a rule gives nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// The steps are used up.
    #[error("rule takes too many steps")]
    Steps,
    /// The rule is deeper than the limit.
    #[error("rule nested too deeply")]
    Depth,
    /// A value is nested more than 512 levels deep.
    #[error("value nested too deeply")]
    Nesting,
    /// JavaScript would throw a type error.
    #[error("{0}")]
    Type(&'static str),
    /// An operator nobody knows was reached.
    #[error("unknown operator `{0}`")]
    Operator(Arc<str>),
    /// The host's resolver failed.
    #[error("{0}")]
    Var(String),
}

impl Rule {
    /// Runs the rule. `log` gets what the rule logs.
    ///
    /// # Errors
    /// See [`EvalError`].
    pub fn eval<'d>(&self, setting: &Setting<'_, 'd>, log: &mut dyn FnMut(Value)) -> Result<Answer, EvalError> {
        let mut machine = Machine::new(setting, log);
        let datum = machine.run(self)?;
        Answer::of(&datum, &mut machine.budget)
    }

    /// Runs the rule and gives only its truth, by the language's own measure: an empty array is false.
    ///
    /// # Errors
    /// See [`EvalError`].
    pub fn holds<'d>(&self, setting: &Setting<'_, 'd>, log: &mut dyn FnMut(Value)) -> Result<bool, EvalError> {
        let datum = Machine::new(setting, log).run(self)?;
        Ok(coerce::truthy(&datum))
    }
}

/// One evaluation.
struct Machine<'m, 'd> {
    setting: &'m Setting<'m, 'd>,
    budget: Budget,
    log: &'m mut dyn FnMut(Value),
}

impl<'m, 'd> Machine<'m, 'd> {
    fn new(setting: &'m Setting<'m, 'd>, log: &'m mut dyn FnMut(Value)) -> Self {
        Self { setting, budget: Budget::new(setting.limits), log }
    }

    fn run(&mut self, rule: &Rule) -> Result<Datum<'d>, EvalError> {
        if rule.depth() > self.setting.limits.depth {
            return Err(EvalError::Depth);
        }
        self.apply(&rule.root, &Scope::Root(self.setting.data.clone()))
    }

    fn apply(&mut self, node: &Node, scope: &Scope<'d>) -> Result<Datum<'d>, EvalError> {
        self.budget.step()?;
        match node {
            Node::Literal(literal) => Ok(literal.clone()),
            Node::List(nodes) => Datum::list(self.each(nodes, scope)?),
            Node::Strange(name) => Err(EvalError::Operator(Arc::clone(name))),
            Node::Operation(Operator::Lazy(lazy), nodes) => self.lazy(*lazy, nodes, scope),
            Node::Operation(Operator::Test(test), nodes) => {
                let arguments = Arguments(self.each(nodes, scope)?);
                test::test(*test, &arguments, &mut self.budget).map(Datum::bool)
            }
            Node::Operation(Operator::Make(make), nodes) => {
                let arguments = Arguments(self.each(nodes, scope)?);
                self.make(*make, arguments, scope)
            }
        }
    }

    fn each(&mut self, nodes: &[Node], scope: &Scope<'d>) -> Result<Vec<Datum<'d>>, EvalError> {
        nodes.iter().map(|node| self.apply(node, scope)).collect()
    }

    /// The elements of an array, paid for; `None` for everything else.
    fn elements(&mut self, of: &Datum<'d>) -> Result<Option<Elements<'d>>, EvalError> {
        self.budget.read(of.stretch())?;
        Ok(of.elements())
    }
}

/// The computed arguments of an operation; one that is not there is undefined.
struct Arguments<'d>(Vec<Datum<'d>>);

impl<'d> Arguments<'d> {
    fn first(&self) -> &Datum<'d> {
        self.nth(0)
    }

    fn second(&self) -> &Datum<'d> {
        self.nth(1)
    }

    fn third(&self) -> &Datum<'d> {
        self.nth(2)
    }

    fn nth(&self, at: usize) -> &Datum<'d> {
        self.0.get(at).unwrap_or(&UNDEFINED)
    }
}

static UNDEFINED: Datum<'static> = Datum::undefined();
