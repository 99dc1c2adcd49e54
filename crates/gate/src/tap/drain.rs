//! The other end of the tap: hands over what has queued up, in order, with what was lost meanwhile.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::{Loss, Outlet, Queued, ROOM, State};

/// Empties a [`Tap`](super::Tap). Dropping it closes the tap.
pub struct Drain {
    outlet: Arc<Outlet>,
    /// Length of the last batch: what the next one is likely to need.
    usual: usize,
    pause: Duration,
    /// Until when events may gather.
    rest: Option<Instant>,
}

/// Everything that queued up since the last one.
#[derive(Debug, Default)]
pub struct Batch {
    /// In the order of their numbers.
    pub events: Vec<Queued>,
    /// What was dropped, for at most 64 runs.
    pub losses: Vec<Loss>,
    /// Drops of further runs.
    pub unattributed: u64,
}

impl Drain {
    pub(super) fn new(outlet: Arc<Outlet>) -> Self {
        Self { outlet, usual: 0, pause: Duration::ZERO, rest: None }
    }

    /// Lets events gather so long between two batches, so that a busy program does not wake its reader for each of them.
    ///
    /// An event after a quiet time is handed over at once, and so is one that somebody waits for: a call that stands or is
    /// let go. A queue that is half full ends the pause too.
    pub fn gather(&mut self, pause: Duration) {
        self.pause = pause;
        self.rest = None;
    }

    /// Waits until something is queued or lost and hands over all of it; `None` once the tap is closed and empty.
    ///
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Batch> {
        loop {
            if let Some(until) = self.rest.filter(|_| self.outlet.is_open()) {
                tokio::select! {
                    () = sleep_until(until) => {}
                    () = self.outlet.urgent.notified() => {}
                }
            }
            self.rest = None;
            match self.take() {
                Taken::Batch(batch) => {
                    self.rest = (!self.pause.is_zero()).then(|| Instant::now() + self.pause);
                    return Some(batch);
                }
                Taken::End => return None,
                Taken::Nothing => self.outlet.filled.notified().await,
            }
        }
    }

    /// What is queued right now, without waiting; `None` if nothing is.
    pub fn now(&mut self) -> Option<Batch> {
        match self.take() {
            Taken::Batch(batch) => Some(batch),
            Taken::End | Taken::Nothing => None,
        }
    }

    fn take(&mut self) -> Taken {
        // Allocated before the lock is taken: nobody who emits waits for it.
        let fresh = Vec::with_capacity(self.usual.clamp(16, ROOM));
        let mut queue = self.outlet.lock();
        if queue.events.is_empty() && queue.losses.is_empty() {
            return match queue.state {
                State::Open => Taken::Nothing,
                State::Closed => Taken::End,
            };
        }
        let events = mem::replace(&mut queue.events, fresh);
        let losses = mem::take(&mut queue.losses);
        let unattributed = mem::take(&mut queue.unattributed);
        queue.bytes = 0;
        drop(queue);
        self.usual = events.len();
        Taken::Batch(Batch { events, losses, unattributed })
    }
}

impl Drop for Drain {
    /// Without this, a program whose observer died would fill its queue for nothing.
    fn drop(&mut self) {
        self.outlet.close();
    }
}

enum Taken {
    Batch(Batch),
    Nothing,
    End,
}
