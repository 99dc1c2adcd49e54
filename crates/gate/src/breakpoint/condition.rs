//! The condition of a breakpoint: a rule over the call, then a count (wire §10.4). Sees no more than viewers may.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use lockgate_logic::{Datum, EvalError, Limits, Rule, RuleError, Setting, Vars};
use lockgate_protocol::debug::{ErrorInfo, NodeKind};
use lockgate_protocol::edit::Hidden;
use lockgate_protocol::json::Raw;

use super::HiddenSides;
use crate::call::{Call, Stop};
use crate::warning::Warning;

pub(super) struct Condition {
    rule: Option<Rule>,
    /// How many fitting calls pass before one is held.
    after: u64,
    seen: AtomicU64,
    warned: AtomicBool,
}

/// A call as a condition sees it.
pub(super) struct Seen<'c> {
    pub(super) call: &'c Call,
    pub(super) at: Stop,
    pub(super) hidden: &'c dyn Fn(NodeKind) -> HiddenSides,
}

impl Condition {
    pub(super) fn read(when: Option<&Raw>, after: u64) -> Result<Self, RuleError> {
        let rule = when.map(|rule| Rule::parse(rule.view())).transpose()?;
        Ok(Self { rule, after, seen: AtomicU64::new(0), warned: AtomicBool::new(false) })
    }

    /// Whether a call that fits is to be held. Counts it if the rule is true.
    pub(super) fn hit(&self, seen: &Seen<'_>, warn: &dyn Fn(&Warning)) -> bool {
        let truth = self.rule.as_ref().map_or(Ok(true), |rule| holds(rule, seen));
        match truth {
            Ok(true) => self.seen.fetch_add(1, Ordering::Relaxed) >= self.after,
            Ok(false) => false,
            Err(error) => {
                if !self.warned.swap(true, Ordering::Relaxed) {
                    warn(&Warning::ConditionFailed(error));
                }
                false
            }
        }
    }
}

fn holds(rule: &Rule, seen: &Seen<'_>) -> Result<bool, EvalError> {
    let call = seen.call;
    let hidden = (seen.hidden)(call.node.kind);
    let data = Datum::object([
        ("input", side(call.input.as_ref(), hidden.input)),
        ("output", side(call.output.as_ref(), hidden.output)),
        (
            "error",
            match &call.error {
                Some(error) => failure(error)?,
                None => Datum::null(),
            },
        ),
        ("name", Datum::text(&call.node.name)),
        ("kind", Datum::text(call.node.kind.as_str())),
        ("point", Datum::text(seen.at.point().as_str())),
    ])?;
    let limits = Limits { steps: STEPS, depth: DEPTH };
    rule.holds(&Setting { data, vars: Vars::Plain, limits }, &mut |_| {})
}

fn side(value: Option<&Raw>, hidden: Hidden) -> Datum<'_> {
    match value {
        None => Datum::null(),
        Some(_) if hidden == Hidden::Yes => Datum::text(PLACEHOLDER),
        Some(value) => Datum::view(value.view()),
    }
}

fn failure(error: &ErrorInfo) -> Result<Datum<'_>, EvalError> {
    let known = [("name", Datum::text(&error.name)), ("message", Datum::text(&error.message))];
    let stack = error.stack.as_deref().map(|stack| ("stack", Datum::text(stack)));
    Datum::object(known.into_iter().chain(stack))
}

/// What redaction puts in place of a value (wire §4.1).
const PLACEHOLDER: &str = "__REDACTED__";
const STEPS: u64 = 10_000;
const DEPTH: usize = 32;
