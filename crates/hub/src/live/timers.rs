//! When something happens without anybody's asking. All deadlines are data; the loop sleeps until the first.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use lockgate_protocol::debug::Control;
use tokio::time::Instant;

use super::{Clock, State};

/// The deadlines that belong to no part of their own.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    abandon: BTreeMap<(Instant, u64), Arc<str>>,
    updates: Option<Instant>,
}

impl Timers {
    pub(crate) fn abandon(&mut self, when: (Instant, u64), run: Arc<str>) {
        self.abandon.insert(when, run);
    }

    pub(crate) fn keep(&mut self, when: (Instant, u64)) {
        self.abandon.remove(&when);
    }

    /// Counts have changed: viewers are told before long.
    pub(crate) fn update_soon(&mut self, now: Instant) {
        self.updates.get_or_insert(now + UPDATES);
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.abandon.first_key_value().map(|((at, _), _)| *at).into_iter().chain(self.updates).min()
    }

    fn abandoned(&mut self, now: Instant) -> Option<Arc<str>> {
        let first = self.abandon.first_entry().filter(|first| first.key().0 <= now)?;
        Some(first.remove())
    }
}

impl State {
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let parts = [
            self.timers.next_deadline(),
            self.pauses.next_deadline(),
            self.watch.next_deadline(),
            self.polls.next_deadline(),
            self.pending.next_deadline(),
            self.owed.again.filter(|_| !self.pending.in_flight()),
        ];
        parts.into_iter().flatten().min()
    }

    /// Everything whose time has come, and what follows from the event just handled.
    pub(super) fn pass_time(&mut self, clock: Clock) {
        while let Some(run) = self.timers.abandoned(clock.now) {
            self.give_up(&run, clock);
        }
        let answers = self.pauses.tick(clock.now);
        self.answer(answers);
        self.hear_watchers(clock);
        if self.timers.updates.is_some_and(|at| at <= clock.now) {
            self.timers.updates = None;
            let dirty = std::mem::take(&mut self.dirty);
            dirty.iter().for_each(|run| self.update(run));
        }
        self.wake_polls(clock);
        if !self.pending.in_flight() && self.owed.again.is_some_and(|again| again <= clock.now) {
            self.repay(clock);
        }
    }

    /// Follows the watchers: programs are told, and the default breakpoint comes and goes with them.
    pub(super) fn hear_watchers(&mut self, clock: Clock) {
        let Some(watched) = self.watch.news(clock.now) else { return };
        let default = self.setup.breakpoints.watched(watched);
        self.tell_apps(&Control::WatchSet(watched), clock);
        if let Some(default) = default {
            self.tell_apps(&default, clock);
            self.broadcast_state();
        }
    }
}

const UPDATES: Duration = Duration::from_millis(200);
