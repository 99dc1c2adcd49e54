//! A call that stands at the gate, with everything that ends or prolongs it.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use lockgate_gate::{Outcome, Pass};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::alive::Vigil;

/// One standing call.
pub(super) struct Stand<'g> {
    pub(super) pass: Pass<'g>,
    pub(super) vigil: Vigil,
    pub(super) ends: Ends,
    pub(super) started: Option<u64>,
}

/// What ends a hold from our side. Without a debugger nothing is held, and there is nothing to end.
#[derive(Default)]
pub(super) struct Ends {
    /// The asker gave up.
    pub(super) cancel: Option<CancellationToken>,
    /// There is no point in standing any longer: it goes on.
    pub(super) release: Option<CancellationToken>,
    /// When its asker will have given up.
    pub(super) deadline: Option<watch::Sender<Option<Instant>>>,
}

impl Stand<'_> {
    /// The decision; nothing when the gate failed.
    pub(super) async fn outcome(&mut self) -> Option<Outcome> {
        poll_fn(|context| poll(&mut self.pass, context)).await
    }
}

/// Asks once, without waiting.
pub(super) fn ask(pass: &mut Pass<'_>) -> Poll<Option<Outcome>> {
    // A call that has to stand is polled again by the loop before that goes to sleep, so nobody needs to be woken yet.
    poll(pass, &mut Context::from_waker(Waker::noop()))
}

/// A policy that panics must not take the session with it.
fn poll(pass: &mut Pass<'_>, context: &mut Context<'_>) -> Poll<Option<Outcome>> {
    match catch_unwind(AssertUnwindSafe(|| Pin::new(pass).poll(context))) {
        Ok(polled) => polled.map(Some),
        Err(_) => Poll::Ready(None),
    }
}

impl Ends {
    pub(super) fn give_up(&self) {
        if let Some(cancel) = &self.cancel {
            cancel.cancel();
        }
    }

    pub(super) fn release(&self) {
        if let Some(release) = &self.release {
            release.cancel();
        }
    }
}
