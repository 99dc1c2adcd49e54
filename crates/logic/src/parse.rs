//! Turns the JSON of a rule into a tree that is known to end: bounded in depth, every operator named.

use std::fmt;
use std::sync::Arc;

use lockgate_protocol::json::{JsonError, Object, Text, Value, View};

use crate::datum::Datum;
use crate::eval::EvalError;

mod operator;

pub(crate) use operator::{Lazy, Make, Operator, Test};

/// A checked rule. It answers as json-logic-js 2.0.5 does, apart from five things meant otherwise: a value from data is
/// never run (there `missing` and `missing_some` run their paths); paths find own members only; an operator is a name,
/// not a path such as `cat.prototype.constructor`; depth and work are limited; a value handed through keeps its spelling.
#[derive(Debug, Clone)]
pub struct Rule {
    pub(crate) root: Node,
    depth: usize,
}

/// What becomes of an operator that nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strange {
    /// The rule is not accepted.
    Refused,
    /// The rule fails when it gets there, as in json-logic-js.
    FailsWhenReached,
}

/// Why a rule is not accepted, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at `{pointer}`")]
pub struct RuleError {
    /// JSON Pointer into the rule; empty for the whole rule.
    pub pointer: String,
    /// What is wrong there.
    pub kind: RuleErrorKind,
}

/// What can be wrong with a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleErrorKind {
    /// The text itself, in practice its nesting.
    #[error("{0}")]
    Json(JsonError),
    /// More than 256 lists and operations inside each other.
    #[error("rule nested too deeply")]
    Depth,
    /// An object with one key is an operation, and this one does not exist.
    #[error("unknown operator `{0}`")]
    Operator(String),
}

/// One place of a rule.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    /// A scalar, or an object that is data because it has no or several keys; nothing inside is looked at.
    Literal(Datum<'static>),
    List(Vec<Node>),
    Operation(Operator, Vec<Node>),
    Strange(Arc<str>),
}

impl Rule {
    /// Reads a rule and refuses operators that nobody knows.
    ///
    /// # Errors
    /// Unknown operator, too deep.
    pub fn parse(rule: View<'_>) -> Result<Self, RuleError> {
        Self::parse_with(rule, Strange::Refused)
    }

    /// Reads a rule.
    ///
    /// # Errors
    /// As [`Rule::parse`]; unknown operators as `strange` says.
    pub fn parse_with(rule: View<'_>, strange: Strange) -> Result<Self, RuleError> {
        let value = rule.to_value().map_err(|error| here(RuleErrorKind::Json(error)))?;
        let mut reader = Reader { strange, deepest: 0 };
        let root = reader.node(value, 0)?;
        Ok(Self { root, depth: reader.deepest })
    }

    /// How many lists and operations stand inside each other.
    pub fn depth(&self) -> usize {
        self.depth
    }
}

struct Reader {
    strange: Strange,
    deepest: usize,
}

impl Reader {
    fn node(&mut self, value: Value, depth: usize) -> Result<Node, RuleError> {
        match value {
            Value::Array(items) => Ok(Node::List(self.items(items, depth + 1)?)),
            Value::Object(object) if object.len() == 1 => self.operation(object, depth + 1),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                let literal = Datum::value(value).map_err(|_: EvalError| here(RuleErrorKind::Depth))?;
                Ok(Node::Literal(literal))
            }
        }
    }

    fn operation(&mut self, object: Object, depth: usize) -> Result<Node, RuleError> {
        let Some((name, arguments)) = object.into_iter().next() else {
            return Ok(Node::List(Vec::new()));
        };
        let Some(operator) = name.as_str().and_then(Operator::named) else {
            return self.unknown(&name);
        };
        let arguments = match arguments {
            Value::Array(items) => self.items(items, depth),
            single => self.check(depth).and_then(|()| Ok(vec![self.node(single, depth)?])),
        };
        let arguments = arguments.map_err(|error| error.below(&name.to_lossy()))?;
        Ok(Node::Operation(operator, arguments))
    }

    fn items(&mut self, items: Vec<Value>, depth: usize) -> Result<Vec<Node>, RuleError> {
        self.check(depth)?;
        let nodes = items.into_iter().enumerate();
        nodes.map(|(at, item)| self.node(item, depth).map_err(|error| error.below(&at))).collect()
    }

    fn check(&mut self, depth: usize) -> Result<(), RuleError> {
        self.deepest = self.deepest.max(depth);
        if depth > MAX_DEPTH {
            return Err(here(RuleErrorKind::Depth));
        }
        Ok(())
    }

    fn unknown(&self, name: &Text) -> Result<Node, RuleError> {
        let name = name.to_lossy();
        match self.strange {
            Strange::FailsWhenReached => Ok(Node::Strange(Arc::from(&*name))),
            Strange::Refused => {
                let error = here(RuleErrorKind::Operator(name.clone().into_owned()));
                Err(error.below(&name))
            }
        }
    }
}

fn here(kind: RuleErrorKind) -> RuleError {
    RuleError { pointer: String::new(), kind }
}

impl RuleError {
    /// The same error, seen from one level up.
    fn below(mut self, segment: &impl fmt::Display) -> Self {
        let segment = segment.to_string().replace('~', "~0").replace('/', "~1");
        self.pointer.insert_str(0, &segment);
        self.pointer.insert(0, '/');
        self
    }
}

/// Evaluation recurses along the rule; this many levels fit on a small stack.
const MAX_DEPTH: usize = 256;
