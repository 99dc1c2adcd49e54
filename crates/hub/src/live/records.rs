//! What the live state knows of each run it deals with: its row, its owner, who follows it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};

use tokio::time::Instant;

use crate::feed::ViewerId;
use crate::pauses::AppId;
use crate::store::{NewRun, Run, Source, Status};

/// A run in memory. It lives as long as it has a claim, an owner or a follower.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) run: Run,
    pub(crate) owner: Option<AppId>,
    /// Whether its row exists.
    pub(crate) ensured: bool,
    /// Whether its status was decided here and is on its way to the row.
    pub(crate) turning: bool,
    /// When it counts as abandoned, after its owner has gone.
    pub(crate) abandon_at: Option<(Instant, u64)>,
    /// Time of its last event.
    pub(crate) last_ts: Option<u64>,
    /// Highest arrival number that viewers were shown, and that is on disk.
    pub(crate) shown: u64,
    pub(crate) stored: u64,
    /// Viewers that get its events as they come.
    pub(crate) tails: Vec<ViewerId>,
    pub(crate) followers: usize,
}

/// A run as the store has it, and when its last event was.
#[derive(Debug, Clone)]
pub(crate) struct Introduction {
    pub(crate) run: Run,
    pub(crate) last_ts: Option<u64>,
}

impl Record {
    pub(crate) fn stored(known: Introduction) -> Record {
        let Introduction { run, last_ts } = known;
        let ord = run.last_ord;
        Record { last_ts, shown: ord, stored: ord, ensured: true, ..Record::bare(run) }
    }

    pub(crate) fn fresh(new: &NewRun) -> Record {
        Record::bare(Run {
            id: Arc::clone(&new.id),
            app: Arc::clone(&new.app),
            started_at: millis(new.started_at),
            finished_at: None,
            status: Status::Running,
            schema_version: 1,
            source: new.source,
            events: 0,
            errors: 0,
            last_ord: 0,
        })
    }

    /// A run that somebody follows before it exists.
    pub(crate) fn awaited(id: &Arc<str>) -> Record {
        let new = NewRun { id: Arc::clone(id), app: "unknown".into(), started_at: 0, source: Source::Live };
        Record::fresh(&new)
    }

    fn bare(run: Run) -> Record {
        Record {
            run,
            owner: None,
            ensured: false,
            turning: false,
            abandon_at: None,
            last_ts: None,
            shown: 0,
            stored: 0,
            tails: Vec::new(),
            followers: 0,
        }
    }

    /// Nothing of it was ever written, so it is no run yet.
    pub(crate) fn is_awaited(&self) -> bool {
        !self.ensured && self.owner.is_none() && self.shown == 0
    }

    /// Its row, if there is one, says how it stands.
    pub(crate) fn is_written(&self) -> bool {
        self.stored >= self.shown && !self.turning
    }
}

/// The records, and their names for those who want to know whether the store need be asked.
#[derive(Debug, Default)]
pub(crate) struct Records {
    records: HashMap<Arc<str>, Record>,
    names: Names,
}

/// Names of the runs in memory, shared with the connections.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names(Arc<RwLock<HashSet<Arc<str>>>>);

impl Names {
    pub(crate) fn has(&self, run: &str) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains(run)
    }
}

impl Records {
    pub(crate) fn names(&self) -> Names {
        self.names.clone()
    }

    pub(crate) fn get(&self, run: &str) -> Option<&Record> {
        self.records.get(run)
    }

    pub(crate) fn get_mut(&mut self, run: &str) -> Option<&mut Record> {
        self.records.get_mut(run)
    }

    /// A run begins, or is heard of; those who awaited it follow it now.
    pub(crate) fn begin(&mut self, mut record: Record) {
        let id = Arc::clone(&record.run.id);
        self.names.0.write().unwrap_or_else(PoisonError::into_inner).insert(Arc::clone(&id));
        if let Some(before) = self.records.remove(&id) {
            (record.tails, record.followers) = (before.tails, before.followers);
        }
        self.records.insert(id, record);
    }

    /// Somebody follows a run that is not there yet. Its name stays unknown, so that its first frame asks the store.
    pub(crate) fn expect(&mut self, run: &Arc<str>) {
        self.records.entry(Arc::clone(run)).or_insert_with(|| Record::awaited(run));
    }

    pub(crate) fn remove(&mut self, run: &str) {
        self.names.0.write().unwrap_or_else(PoisonError::into_inner).remove(run);
        self.records.remove(run);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Record> {
        self.records.values()
    }
}

#[expect(clippy::cast_precision_loss, reason = "envelope times lie below 2^53")]
pub(crate) fn millis(value: u64) -> f64 {
    value as f64
}
