//! Longer loops: the last completed calls of one kind in a run, searched for laps and for a failure that keeps coming back
//! (wire §5.5). Completed calls are compared as they come in, where nobody waits; a call that starts only looks at the counts.

use std::collections::VecDeque;
use std::sync::Arc;

use lockgate_protocol::debug::{LoopInfo, LoopKind};

use super::print::{Digest, Print, hex, mac};

/// One completed call.
pub(super) struct Entry {
    pub(super) node: Arc<str>,
    pub(super) input: Print,
    pub(super) ended: Ended,
    pub(super) started: u64,
}

/// How it ended.
pub(super) enum Ended {
    Well(Print),
    Failed(Print),
    /// Equals nothing: aborted, never reported, or not to be compared.
    Unknown,
}

/// A call that starts now.
pub(super) struct Starting<'c> {
    pub(super) node: &'c str,
    pub(super) input: &'c Print,
    pub(super) started: u64,
}

/// Completed calls of one kind, the newest last.
#[derive(Default)]
pub(super) struct History {
    entries: VecDeque<Entry>,
    /// For each length of a lap: how many of the newest entries, without a gap, repeat the one a lap before them.
    repeated: [usize; PERIODS.len()],
    /// Completions to wait for before laps are looked for again.
    quiet: usize,
}

impl History {
    /// How much of `share` bytes may still be kept.
    pub(super) fn room(&self, share: usize) -> usize {
        share.saturating_sub(self.entries.iter().map(Entry::weight).sum())
    }

    pub(super) fn push(&mut self, entry: Entry, ignored: &[&str]) {
        for (place, period) in PERIODS.into_iter().enumerate() {
            let repeats = self.back(period).is_some_and(|early| entry.same(early, ignored));
            if let Some(count) = self.repeated.get_mut(place) {
                *count = if repeats { *count + 1 } else { 0 };
            }
        }
        if self.entries.len() >= KEPT {
            self.entries.pop_front();
        }
        self.entries.push_back(entry);
        self.quiet = self.quiet.saturating_sub(1);
    }

    /// The loop that `call` is about to continue, if it is one.
    pub(super) fn look(&mut self, call: &Starting<'_>, ignored: &[&str]) -> Option<LoopInfo> {
        if let Some(found) = self.cycle(call, ignored) {
            self.quiet = usize::try_from(found.period.unwrap_or(0)).unwrap_or(0);
            return Some(found);
        }
        self.failing(call, ignored)
    }

    fn cycle(&self, call: &Starting<'_>, ignored: &[&str]) -> Option<LoopInfo> {
        if self.quiet > 0 {
            return None;
        }
        let mut periods = PERIODS.into_iter().zip(self.repeated);
        periods.find_map(|lap| self.laps(call, lap, ignored))
    }

    /// Laps of `period` calls, counted back from the newest; three at least, and `call` begins the next.
    fn laps(&self, call: &Starting<'_>, (period, repeated): (usize, usize), ignored: &[&str]) -> Option<LoopInfo> {
        // Of what repeats, some may be forgotten already.
        let laps = 1 + repeated.min(self.entries.len().saturating_sub(period)) / period;
        let head = self.back(period)?;
        if laps < LAPS || *head.node != *call.node || !head.input.same(call.input, ignored) {
            return None;
        }
        let first = self.back(laps * period)?;
        if !(1..period).any(|n| self.back(n).is_some_and(|entry| !entry.same_call(head, ignored))) {
            return None;
        }
        let lap: Vec<Vec<u8>> = (1..=period).rev().filter_map(|n| self.back(n)?.trace(ignored)).collect();
        let parts: Vec<&[u8]> = lap.iter().map(Vec::as_slice).collect();
        Some(LoopInfo {
            repeats: count(laps),
            first_seq: first.started,
            last_seq: call.started,
            fingerprint: fingerprint(mac(&parts)),
            kind: Some(LoopKind::Cycle),
            period: Some(count(period)),
            laps: Some(count(laps)),
        })
    }

    /// The node's own newest calls, all failed alike.
    fn failing(&self, call: &Starting<'_>, ignored: &[&str]) -> Option<LoopInfo> {
        let mut own = self.entries.iter().rev().filter(|entry| *entry.node == *call.node);
        let newest = own.next()?;
        let Ended::Failed(failure) = &newest.ended else { return None };
        let mut first = newest.started;
        let mut repeats = 1;
        for earlier in own {
            match &earlier.ended {
                Ended::Failed(print) if print.same(failure, ignored) => {}
                Ended::Failed(_) | Ended::Well(_) | Ended::Unknown => break,
            }
            first = earlier.started;
            repeats += 1;
        }
        (repeats >= count(LAPS)).then(|| LoopInfo {
            repeats,
            first_seq: first,
            last_seq: call.started,
            fingerprint: fingerprint(failure.trace(ignored)),
            kind: Some(LoopKind::ErrorRepeat),
            period: None,
            laps: None,
        })
    }

    /// The `n`-th entry from the end; the newest is the first.
    fn back(&self, n: usize) -> Option<&Entry> {
        self.entries.get(self.entries.len().checked_sub(n)?)
    }
}

impl Entry {
    /// For keeping, within about `room` bytes.
    pub(super) fn settled(mut self, room: usize) -> Entry {
        self.input = self.input.settled(room);
        self.ended = match self.ended {
            Ended::Well(print) => Ended::Well(print.settled(room)),
            Ended::Failed(print) => Ended::Failed(print.settled(room)),
            Ended::Unknown => Ended::Unknown,
        };
        self
    }

    fn same_call(&self, other: &Entry, ignored: &[&str]) -> bool {
        self.node == other.node && self.input.same(&other.input, ignored)
    }

    fn same(&self, other: &Entry, ignored: &[&str]) -> bool {
        let ended = match (&self.ended, &other.ended) {
            (Ended::Well(one), Ended::Well(two)) | (Ended::Failed(one), Ended::Failed(two)) => (one, two),
            _ => return false,
        };
        self.same_call(other, ignored) && ended.0.same(ended.1, ignored)
    }

    /// What goes into the fingerprint of a lap.
    fn trace(&self, ignored: &[&str]) -> Option<Vec<u8>> {
        let mut trace = self.node.as_bytes().to_vec();
        trace.extend(self.input.trace(ignored)?);
        Some(trace)
    }

    fn weight(&self) -> usize {
        let ended = match &self.ended {
            Ended::Well(print) | Ended::Failed(print) => print.weight(),
            Ended::Unknown => 0,
        };
        self.input.weight() + ended
    }
}

/// Without randomness there is no digest that may be shown.
fn fingerprint(digest: Option<Digest>) -> String {
    digest.map_or_else(|| "0".repeat(32), |digest| hex(&digest))
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// Completed calls remembered.
const KEPT: usize = 64;

/// Equal laps, or equal failures, that make a loop.
const LAPS: usize = 3;

/// Lengths of a lap that are looked for, the shortest first.
const PERIODS: [usize; 3] = [2, 3, 4];
