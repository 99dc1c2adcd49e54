//! What the loop guard remembers: per run the open calls, per run and kind a streak and a history. The runs longest unused
//! are forgotten first.

use std::collections::{HashMap, VecDeque};

use lockgate_protocol::debug::{NodeKind, RunId};

use super::history::History;
use super::print::Print;
use super::streak::Streak;

/// All runs that are remembered.
#[derive(Default)]
pub(super) struct Runs {
    runs: HashMap<RunId, Run>,
    clock: u64,
}

/// One of them.
#[derive(Default)]
pub(super) struct Run {
    used: u64,
    open: VecDeque<Open>,
    kinds: HashMap<NodeKind, KindState>,
}

/// A call that has started and not ended. Its input is the call's own, held for as long as the call.
pub(super) struct Open {
    pub(super) started: u64,
    pub(super) input: Print,
    /// Its last failed attempt.
    pub(super) failure: Option<Print>,
    /// It was held, or looked at, for a loop already.
    pub(super) tripped: bool,
}

/// What is known about the calls of one kind in a run.
#[derive(Default)]
pub(super) struct KindState {
    pub(super) streak: Option<Streak>,
    pub(super) history: History,
}

impl Runs {
    /// The memory of `run`, made if there is none.
    pub(super) fn of(&mut self, run: &RunId) -> &mut Run {
        self.clock += 1;
        if !self.runs.contains_key(run) && self.runs.len() >= RUNS {
            let oldest = self.runs.iter().min_by_key(|(_, state)| state.used).map(|(id, _)| id.clone());
            oldest.and_then(|id| self.runs.remove(&id));
        }
        let state = self.runs.entry(run.clone()).or_default();
        state.used = self.clock;
        state
    }

    /// Payload bytes each history may keep: all of them together stay within bounds, a single one need not be stingy.
    pub(super) fn share(&self) -> usize {
        (KEPT / self.runs.len().max(1)).min(KEPT / 4)
    }
}

impl Run {
    pub(super) fn is_open(&self, started: u64) -> bool {
        self.open.iter().any(|open| open.started == started)
    }

    pub(super) fn open(&mut self, call: Open) {
        if self.open.len() >= OPEN {
            self.open.pop_front();
        }
        self.open.push_back(call);
    }

    pub(super) fn find(&mut self, started: u64) -> Option<&mut Open> {
        self.open.iter_mut().find(|open| open.started == started)
    }

    pub(super) fn close(&mut self, started: u64) -> Option<Open> {
        let index = self.open.iter().position(|open| open.started == started)?;
        self.open.remove(index)
    }

    pub(super) fn kind(&mut self, kind: NodeKind) -> &mut KindState {
        self.kinds.entry(kind).or_default()
    }

    /// An open call and the state of its kind, to look at together.
    pub(super) fn at(&mut self, started: u64, kind: NodeKind) -> Option<(&mut Open, &mut KindState)> {
        let open = self.open.iter_mut().find(|open| open.started == started)?;
        let state = self.kinds.get_mut(&kind)?;
        Some((open, state))
    }
}

impl Open {
    pub(super) fn new(started: u64, input: Print) -> Open {
        Open { started, input, failure: None, tripped: false }
    }
}

/// Payload bytes kept for comparison, over all runs and about; of what is beyond, digests.
const KEPT: usize = 32 << 20;

/// Runs remembered at once.
const RUNS: usize = 64;

/// Open calls remembered in a run; of more, the oldest count as never ended.
const OPEN: usize = 256;
