//! How a gated function hears that it may not go on, and how errors of the program become words on the wire.

use std::error::Error;

use lockgate_gate::{PolicyRefusal, Refused};
use lockgate_protocol::debug::{ErrorInfo, RunStatus};

/// Why a span gives up instead of calling, or answering with, what it stands around.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Stopped {
    /// Somebody pressed abort; to be treated as a cancellation, never as a failure worth a retry.
    #[error("aborted in the debugger")]
    Aborted,
    /// The asker gave up.
    #[error("cancelled by the asker")]
    Cancelled,
    /// A policy said no, in these words.
    #[error("{}", .0.message)]
    Refused(Box<PolicyRefusal>),
    /// What was injected in the debugger cannot be read as a result.
    #[error("injected value does not fit: {0}")]
    Unfit(String),
}

impl From<Refused> for Stopped {
    fn from(refused: Refused) -> Stopped {
        match refused {
            Refused::Aborted => Stopped::Aborted,
            Refused::Cancelled => Stopped::Cancelled,
            Refused::Policy(refusal) => Stopped::Refused(refusal),
        }
    }
}

impl Stopped {
    /// Whether the call was taken away rather than failed.
    fn is_abort(&self) -> bool {
        match self {
            Stopped::Aborted | Stopped::Cancelled => true,
            Stopped::Refused(_) | Stopped::Unfit(_) => false,
        }
    }
}

/// What an error of the program looks like to a viewer.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Shown as it is.
    pub info: ErrorInfo,
    /// `error`, or `aborted` for what began as an abort.
    pub status: RunStatus,
}

impl Failure {
    /// Of any error: named after its type, or `AbortError` when an abort is among its causes.
    pub fn of<E: Error + 'static>(error: &E) -> Failure {
        let aborted = causes(error).any(is_abort);
        let (name, status) = if aborted {
            ("AbortError".to_owned(), RunStatus::Aborted)
        } else {
            (short_name(std::any::type_name::<E>()), RunStatus::Error)
        };
        Failure { info: ErrorInfo { name, message: error.to_string(), stack: stack(error) }, status }
    }
}

/// A transparent wrapper shows the words of an abort but not the abort itself.
fn is_abort(error: &(dyn Error + 'static)) -> bool {
    match error.downcast_ref::<Stopped>() {
        Some(stopped) => stopped.is_abort(),
        None => error.to_string() == Stopped::Aborted.to_string(),
    }
}

fn causes<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    let mut next = Some(error);
    let chain = std::iter::from_fn(move || {
        let cause = next?;
        next = cause.source();
        Some(cause)
    });
    chain.take(CAUSES)
}

/// The causes below an error, which is the nearest to a stack that every error has.
fn stack(error: &(dyn Error + 'static)) -> Option<String> {
    let below: Vec<String> = causes(error).skip(1).map(|cause| format!("caused by: {cause}")).collect();
    (!below.is_empty()).then(|| below.join("\n"))
}

/// `io::Error<T>` of `std::io::error::Error<alloc::T>`: `Error`.
fn short_name(full: &str) -> String {
    let plain = full.split('<').next().unwrap_or(full);
    plain.rsplit("::").next().unwrap_or(plain).to_owned()
}

/// A chain of causes may be a circle.
const CAUSES: usize = 32;

#[cfg(test)]
mod tests {
    use lockgate_protocol::debug::RunStatus;

    use super::{Failure, Stopped, short_name};

    #[derive(Debug, thiserror::Error)]
    enum Fetch {
        #[error("fetch failed")]
        Io(#[source] std::io::Error),
        #[error(transparent)]
        Stopped(#[from] Stopped),
    }

    fn check(error: &Fetch, expected: &str) {
        let failure = Failure::of(error);
        let status = failure.status.as_str();
        let stack = failure.info.stack.unwrap_or_default();
        assert_eq!(format!("{status} {}: {} [{stack}]", failure.info.name, failure.info.message), expected);
    }

    #[test]
    fn u02_errors_are_named_after_their_type_and_aborts_are_aborts() {
        check(&Fetch::Io(std::io::Error::other("no route")), "error Fetch: fetch failed [caused by: no route]");
        check(&Fetch::Stopped(Stopped::Aborted), "aborted AbortError: aborted in the debugger []");
        assert_eq!(Failure::of(&Stopped::Cancelled).status, RunStatus::Aborted);
        assert_eq!(Failure::of(&Stopped::Unfit("x".to_owned())).status, RunStatus::Error);
        assert_eq!(short_name("a::b::Error<c::D>"), "Error");
        assert_eq!(short_name("&str"), "&str");
    }
}
