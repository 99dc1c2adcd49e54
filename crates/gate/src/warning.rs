//! What the gate complains about to its host. Texts carry names and limits, never values of a call.

use std::fmt;

use lockgate_logic::{EvalError, RuleError};

/// Something that went wrong without stopping anything.
#[derive(Debug, Clone, PartialEq)]
pub enum Warning {
    /// A breakpoint's condition could not be read: the breakpoint is not set.
    BadCondition(RuleError),
    /// A breakpoint's condition failed or took too long: it counts as false.
    ConditionFailed(EvalError),
    /// A viewer asked for an action that this call cannot do, under a hub that shows it no refusal.
    Unsupported,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadCondition(error) => write!(f, "breakpoint not set, its condition cannot be read: {error}"),
            Self::ConditionFailed(error) => write!(f, "condition of a breakpoint counts as false: {error}"),
            Self::Unsupported => {
                f.write_str("a viewer asked for an action this call cannot do; the call is still held")
            }
        }
    }
}
