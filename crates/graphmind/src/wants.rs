//! What the handles of a session ask of its one task: to begin, and to try right now. Asking twice is asking once.

use std::sync::atomic::{AtomicBool, Ordering};

use lockgate_gate::{Alone, Call, Policy, Stop, Verdict};
use tokio::sync::Notify;

use crate::link::Input;

#[derive(Default)]
pub(crate) struct Wants {
    /// Set for good by the first use.
    started: AtomicBool,
    /// The first use has not been passed on yet.
    start: AtomicBool,
    kick: AtomicBool,
    news: Notify,
}

impl Wants {
    /// Something uses the session. Costs one look once it has been said.
    pub(crate) fn start(&self) {
        if self.started.load(Ordering::Relaxed) || self.started.swap(true, Ordering::Relaxed) {
            return;
        }
        self.start.store(true, Ordering::Release);
        self.news.notify_one();
    }

    /// Somebody waits for a hub.
    pub(crate) fn kick(&self) {
        self.started.store(true, Ordering::Relaxed);
        self.kick.store(true, Ordering::Release);
        self.news.notify_one();
    }

    /// Waits for the next wish. Dropping the future loses none.
    pub(crate) async fn next(&self) -> Input {
        loop {
            if self.kick.swap(false, Ordering::Acquire) {
                return Input::Kick;
            }
            if self.start.swap(false, Ordering::Acquire) {
                return Input::Start;
            }
            self.news.notified().await;
        }
    }
}

/// A gate that is asked is a session that is used (wire §2.6, step 2).
pub(crate) struct Starter(pub(crate) std::sync::Arc<Wants>);

impl Policy for Starter {
    fn judge(&self, _call: &Call, _at: Stop) -> Verdict {
        self.0.start();
        Verdict::Pass
    }

    fn alone(&self) -> Alone {
        Alone::OnlyWatches
    }
}
