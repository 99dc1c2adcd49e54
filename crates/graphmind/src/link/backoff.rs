//! When to try again: soon, three times, after a hub was there; else at the usual interval (wire §2.1).

use std::time::Duration;

pub(super) struct Backoff {
    usual: Duration,
    soon: &'static [Duration],
}

impl Backoff {
    pub(super) fn new(usual: Duration) -> Backoff {
        Backoff { usual, soon: &[] }
    }

    /// An attachment was lost: the hub may only have been restarted.
    pub(super) fn rearm(&mut self) {
        self.soon = &SOON;
    }

    /// How long to wait before the next attempt.
    pub(super) fn next(&mut self) -> Duration {
        let Some((next, rest)) = self.soon.split_first() else { return self.usual };
        self.soon = rest;
        self.usual.min(*next)
    }
}

const SOON: [Duration; 3] = [Duration::from_millis(200), Duration::from_millis(400), Duration::from_millis(800)];
