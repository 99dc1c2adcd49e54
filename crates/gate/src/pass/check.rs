//! Runs a check where the call stands: in its task, so in its run. A check that panics has said no.

use std::future;
use std::panic::{self, AssertUnwindSafe};
use std::pin::Pin;
use std::task::Poll;

use lockgate_protocol::debug::RefusalCode;
use lockgate_protocol::edit::Refusal;

use crate::call::Call;
use crate::hold::{Checked, Work};
use crate::policy::Hold;

pub(super) type Running = Pin<Box<dyn Future<Output = Result<Checked, Refusal>> + Send>>;

/// Starts the check of an edit or of an approval.
pub(super) fn start(work: &Work, call: &Call, hold: &Hold) -> Running {
    match work {
        Work::Edit(proposed) => {
            let edit = call.edit.clone();
            let proposed = proposed.clone();
            caught(async move {
                match edit {
                    Some(edit) => edit.check(proposed).await.map(Checked::Edit),
                    None => Ok(Checked::Edit(proposed)),
                }
            })
        }
        Work::Approve(pin) => {
            let guard = hold.guard.clone();
            let pin = pin.clone();
            caught(async move {
                if let Some(approve) = guard.as_ref().and_then(|guard| guard.approve.as_ref()) {
                    approve(pin).await?;
                }
                Ok(Checked::Approval)
            })
        }
    }
}

fn caught(check: impl Future<Output = Result<Checked, Refusal>> + Send + 'static) -> Running {
    let mut check = Box::pin(check);
    Box::pin(future::poll_fn(move |context| {
        // Dropped after a panic and never polled again, so nobody sees what it left half done.
        panic::catch_unwind(AssertUnwindSafe(|| check.as_mut().poll(context)))
            .unwrap_or_else(|_| Poll::Ready(Err(Refusal::new(RefusalCode::Shape, "the check failed"))))
    }))
}
