//! What a person may put in place of a call's input: the merge rule, the markers that show a recording was copied, a light
//! look at the tool's schema, and the texts of refusals, which name a field and a problem but never a value (wire §3).

mod copied;
mod markers;
mod merge;
mod schema;
mod text;

use crate::debug::RefusalCode;

pub use self::copied::copied;
pub use self::markers::{forbidden, pollutes};
pub use self::merge::{Hidden, merge};
pub use self::schema::{Issue, check};
pub use self::text::clean;

/// Why an edit was not taken. The call still stands where it stood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("edit refused as {}", code.as_str())]
pub struct Refusal {
    /// The class of the reason.
    pub code: RefusalCode,
    /// For the person, already [`clean`]; never quotes a value.
    pub message: Option<String>,
}

impl Refusal {
    /// A refusal with a message, which is cleaned.
    pub fn new(code: RefusalCode, message: &str) -> Refusal {
        Refusal { code, message: clean(message) }
    }
}
