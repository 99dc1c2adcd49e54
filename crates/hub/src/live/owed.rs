//! What a failing store has missed of runs. Once it works again their rows are written as they should stand (hub §4); events
//! that were shown meanwhile are gone.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::records::Record;
use super::{Clock, State};
use crate::store::{Batch, Committed, Turn};

/// Runs whose rows are behind.
#[derive(Debug, Default)]
pub(super) struct Owed {
    pub(super) runs: HashSet<Arc<str>>,
    /// When to try again; nothing while nothing is owed, or while it is on its way.
    pub(super) again: Option<Instant>,
}

/// Every run that a batch changes.
pub(super) fn touched<'b>(batch: &'b Batch, committed: &'b Committed) -> impl Iterator<Item = &'b Arc<str>> {
    let Batch { rows, runs, turns, .. } = batch;
    let turned = turns.iter().map(|turn| match turn {
        Turn::Abandoned { run, .. } | Turn::Resumed { run } => run,
    });
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
    }

    /// The rows that a batch leaves as they should stand.
    pub(super) fn restated(&self, batch: &Batch) -> Vec<Arc<str>> {
        let left = batch.turns.iter().filter_map(|turn| match turn {
            Turn::Abandoned { run, .. } => Some(run).filter(|run| self.records.get(run).is_none_or(Record::is_awaited)),
            Turn::Resumed { .. } => None,
        });
        batch.rows.iter().map(|row| &row.id).chain(left).cloned().collect()
    }

    /// These rows are on disk.
    pub(super) fn repaid(&mut self, rows: Vec<Arc<str>>) {
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
