//! The same call again and again: one streak of back-to-back identical starts per run and kind (wire §5.4).

use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::fast::FixedState;
use lockgate_protocol::debug::{LoopInfo, fingerprint};
use lockgate_protocol::json::Raw;

use super::print::Print;

/// Identical starts in a row.
pub(super) struct Streak {
    node: Arc<str>,
    input: Print,
    pub(super) count: u64,
    first: u64,
    last: u64,
    /// This start has been held already; the next one may be again.
    tripped: bool,
    pub(super) warned: bool,
}

impl Streak {
    /// A start that resembles nothing before it.
    pub(super) fn new(node: &Arc<str>, input: Print, started: u64) -> Streak {
        Streak { node: Arc::clone(node), input, count: 1, first: started, last: started, tripped: false, warned: false }
    }

    /// Counts a start if it continues this streak; otherwise gives its input back.
    pub(super) fn follow(&mut self, node: &str, input: Print, started: u64, ignored: &[&str]) -> Result<(), Print> {
        if *self.node != *node || !self.input.same(&input, ignored) {
            return Err(input);
        }
        self.count += 1;
        self.last = started;
        self.tripped = false;
        Ok(())
    }

    /// Whether the start numbered `started` is the newest of a streak that is long enough and not yet held.
    pub(super) fn is_due(&self, node: &str, started: u64, threshold: u64) -> bool {
        self.count >= threshold && !self.tripped && self.last == started && *self.node == *node
    }

    /// Whether the start numbered `started` is a later one.
    pub(super) fn is_before(&self, started: u64) -> bool {
        self.last < started
    }

    /// Tells this loop from others.
    pub(super) fn subject(&self, input: Option<&Raw>, ignored: &[&str]) -> u64 {
        FixedState::default().hash_one(fingerprint(&self.node, input.map(Raw::view), ignored))
    }

    /// Holds the newest start; what it says is worked out only now.
    pub(super) fn trip(&mut self, input: Option<&Raw>, ignored: &[&str]) -> LoopInfo {
        self.tripped = true;
        LoopInfo {
            repeats: self.count,
            first_seq: self.first,
            last_seq: self.last,
            fingerprint: fingerprint(&self.node, input.map(Raw::view), ignored),
            kind: None,
            period: None,
            laps: None,
        }
    }
}
