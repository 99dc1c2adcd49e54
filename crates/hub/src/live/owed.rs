//! What a failing store has missed of runs. Once it works again their rows are written as they should stand (hub §4), and
//! the events that were shown meanwhile, as far as they could be remembered; the others are counted.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::records::Record;
use super::{Behind, Clock, State};
use crate::store::{Batch, Committed, NewEvent, StoredEvent, Turn};

/// Runs whose rows are behind.
#[derive(Debug, Default)]
pub(super) struct Owed {
    pub(super) runs: HashSet<Arc<str>>,
    /// When to try again; nothing while nothing is owed, or while it is on its way.
    pub(super) again: Option<Instant>,
    /// Their events that were shown and not kept, with their numbers, oldest first.
    events: Vec<(NewEvent, u64)>,
    bytes: usize,
    /// How many of them were handed to the store the last time.
    pub(super) under_way: usize,
    /// Events for which there was no room.
    pub(super) lost: u64,
}

impl Owed {
    /// Keeps new events in mind until the store can have them.
    pub(super) fn remember<'b>(&mut self, events: impl IntoIterator<Item = (&'b NewEvent, Option<u64>)>) {
        for (event, ord) in events {
            let Some(ord) = ord else { continue };
            let size = event.weight();
            if self.bytes + size > MOST_BYTES || !self.runs.contains(&event.run) {
                self.lost += 1;
                continue;
            }
            self.bytes += size;
            self.events.push((event.clone(), ord));
        }
    }

    /// Says what is lost with the hub.
    pub(super) fn part(&self) {
        let lost = self.lost + u64::try_from(self.events.len()).unwrap_or(u64::MAX);
        if lost > 0 {
            tracing::error!(lost, "the hub stops, and some events were never kept");
        }
    }

    /// Events of a run that the store has missed.
    pub(super) fn of<'o>(&'o self, run: &str) -> impl Iterator<Item = (&'o NewEvent, u64)> {
        self.events.iter().filter(move |(event, _)| *event.run == *run).map(|(event, ord)| (event, *ord))
    }
}

/// Every run that a batch changes.
pub(super) fn touched<'b>(batch: &'b Batch, committed: &'b Committed) -> impl Iterator<Item = &'b Arc<str>> {
    let Batch { rows, runs, turns, .. } = batch;
    let turned = turns.iter().map(Turn::run);
    let rows = rows.iter().map(|row| &row.id).chain(runs.iter().map(|run| &run.id));
    rows.chain(committed.totals.iter().map(|(run, _)| run)).chain(turned)
}

impl State {
    /// The store has missed something of these runs.
    pub(super) fn owe(&mut self, runs: impl IntoIterator<Item = Arc<str>>, clock: Clock) {
        for run in runs {
            if self.owed.runs.len() < MOST {
                self.owed.runs.insert(run);
            } else if !self.owed.runs.contains(&run) {
                // Given up, so that a store that never comes back costs no more memory than this.
                self.records.get_mut(&run).into_iter().for_each(|record| record.stored = record.shown);
            }
        }
        self.owed.again.get_or_insert(clock.now + AGAIN);
    }

    /// Writes down what is owed. Not while a batch is under way: it may hold newer than is known here.
    pub(super) fn repay(&mut self, clock: Clock) {
        self.owed.again = None;
        for run in &self.owed.runs {
            match self.records.get(run).filter(|record| !Record::is_awaited(record)) {
                Some(record) => self.pending.row(record.run.clone()),
                // Of an earlier hub, and nobody came back for it.
                None => self.pending.turn(Turn::Abandoned { run: Arc::clone(run), now: clock.wall_ms }),
            }
        }
        self.owed.under_way = self.owed.events.len();
        // Those of runs that were removed since are not wanted any more.
        let wanted = |(event, _): &&(NewEvent, u64)| self.owed.runs.contains(&event.run);
        self.pending.missed(self.owed.events.iter().filter(wanted).cloned().collect());
    }

    /// A run as viewers were shown it, if the store is behind.
    pub(super) fn behind(&self, run: &str) -> Option<Behind> {
        let record = self.records.get(run).filter(|record| self.owed.runs.contains(run) && !record.is_awaited())?;
        let missed = self.owed.of(run).map(|(event, ord)| StoredEvent::of(event, ord)).collect();
        Some(Behind { run: record.run.clone(), missed })
    }

    /// The rows that a batch leaves as they should stand.
    pub(super) fn restated(&self, batch: &Batch) -> Vec<Arc<str>> {
        let left = batch.turns.iter().filter_map(|turn| match turn {
            Turn::Abandoned { run, .. } => Some(run).filter(|run| self.records.get(run).is_none_or(Record::is_awaited)),
            Turn::Resumed { .. } => None,
        });
        batch.rows.iter().map(|row| &row.id).chain(left).cloned().collect()
    }

    /// These rows are on disk, and so many of the events that were missed.
    pub(super) fn repaid(&mut self, rows: Vec<Arc<str>>, caught_up: usize) {
        let kept = self.owed.events.drain(..caught_up.min(self.owed.events.len()));
        self.owed.bytes -= kept.map(|(event, _)| event.weight()).sum::<usize>();
        for run in rows {
            if self.owed.runs.remove(&run)
                && let Some(record) = self.records.get_mut(&run)
            {
                record.ensured = true;
                record.stored = record.shown;
            }
            self.forget_idle(&run);
        }
    }
}

const AGAIN: Duration = Duration::from_secs(2);
const MOST: usize = 10_000;
const MOST_BYTES: usize = 16 << 20;
