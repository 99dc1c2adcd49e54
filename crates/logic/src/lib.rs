//! JSON Logic: yes or no from data, with variables answered by whoever asks.

mod budget;
mod coerce;
mod datum;
mod eval;
mod lookup;
mod parse;

pub use budget::Limits;
pub use datum::Datum;
pub use eval::{Answer, EvalError, Setting};
pub use lookup::{Resolver, Scope, Vars};
pub use parse::{Rule, RuleError, RuleErrorKind, Strange};
