//! Decides which events of a batch are new and numbers them in order of arrival. Pure: looks into no database.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::store::{Committed, Mark, NewEvent, Totals};

/// Where each run of late stands, so that the common batch needs no question to the database.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    runs: HashMap<Arc<str>, Cursor>,
    /// Events that have numbers and are not in the database, since it fails.
    adrift: Known,
}

/// Events by their run and `seq`.
pub(super) type Known = HashSet<(Arc<str>, u64)>;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) totals: Totals,
    /// One above the highest `seq` seen; 0 when there is none.
    pub(super) next_seq: u64,
}

/// The runs of one batch, worked on apart so that a failed transaction changes nothing.
#[derive(Debug, Default)]
pub(super) struct Draft {
    runs: Vec<(Arc<str>, Cursor)>,
    places: HashMap<Arc<str>, usize>,
}

impl Arrivals {
    pub(super) fn get(&self, run: &str) -> Option<Cursor> {
        self.runs.get(run).copied()
    }

    pub(super) fn forget(&mut self, run: &str) {
        self.runs.remove(run);
    }

    pub(super) fn keep(&mut self, draft: &Draft) {
        if self.runs.len() + draft.runs.len() > REMEMBERED {
            self.runs.clear();
        }
        self.runs.extend(draft.runs.iter().cloned());
    }

    /// Nobody else will know that these were here. Beyond what is remembered of them a repeat passes for new.
    pub(super) fn drift(&mut self, events: &[NewEvent]) {
        let room = ADRIFT.saturating_sub(self.adrift.len());
        self.adrift.extend(events.iter().take(room).map(|event| (Arc::clone(&event.run), event.seq)));
    }

    pub(super) fn adrift<'a>(&'a self, suspects: &'a [&NewEvent]) -> impl Iterator<Item = (Arc<str>, u64)> + 'a {
        let keys = suspects.iter().map(|event| (Arc::clone(&event.run), event.seq));
        keys.filter(|key| self.adrift.contains(key))
    }

    /// The database works again, and has all that could be kept of them.
    pub(super) fn land(&mut self) {
        self.adrift = Known::default();
    }
}

impl Draft {
    pub(super) fn has(&self, run: &str) -> bool {
        self.places.contains_key(run)
    }

    pub(super) fn add(&mut self, run: Arc<str>, cursor: Cursor) {
        self.places.insert(Arc::clone(&run), self.runs.len());
        self.runs.push((run, cursor));
    }

    /// Events whose `seq` does not lie above all before it: repeats, or late. The database has to say which.
    pub(super) fn suspects<'e>(&self, events: &'e [NewEvent]) -> Vec<&'e NewEvent> {
        let mut next: Vec<u64> = self.runs.iter().map(|(_, cursor)| cursor.next_seq).collect();
        let mut suspects = Vec::new();
        self.each(events, |place, event| {
            let Some(next) = next.get_mut(place) else { return };
            if event.seq < *next {
                suspects.push(event);
            }
            *next = (*next).max(event.seq + 1);
        });
        suspects
    }

    /// Numbers what is new. `known` holds those among the suspects that were here before.
    pub(super) fn number(&mut self, events: &[NewEvent], known: &Known, care: Care) -> Vec<Option<u64>> {
        let mut ords = Vec::with_capacity(events.len());
        let mut seen: HashSet<(&str, u64)> = HashSet::new();
        let mut runs = std::mem::take(&mut self.runs);
        self.each(events, |place, event| {
            let Some((_, cursor)) = runs.get_mut(place) else { return ords.push(None) };
            let repeat = match care {
                Care::Fresh => false,
                Care::Suspect => {
                    let again = !seen.insert((&event.run, event.seq));
                    again || (event.seq < cursor.next_seq && known.contains(&(Arc::clone(&event.run), event.seq)))
                }
            };
            ords.push((!repeat).then(|| cursor.take(event)));
        });
        self.runs = runs;
        ords
    }

    /// An event was numbered that is here already.
    pub(super) fn was_repeat(&mut self, event: &NewEvent) {
        if let Some(cursor) = self.cursor(&event.run) {
            cursor.totals.events = cursor.totals.events.saturating_sub(1);
            cursor.totals.errors = cursor.totals.errors.saturating_sub(u64::from(event.mark == Mark::Error));
        }
    }

    /// A number was taken by somebody else, so that the event got this one.
    pub(super) fn reached(&mut self, run: &str, ord: u64) {
        if let Some(cursor) = self.cursor(run) {
            cursor.totals.last_ord = cursor.totals.last_ord.max(ord);
        }
    }

    fn cursor(&mut self, run: &str) -> Option<&mut Cursor> {
        let place = *self.places.get(run)?;
        self.runs.get_mut(place).map(|(_, cursor)| cursor)
    }

    pub(super) fn committed(&self, ords: Vec<Option<u64>>) -> Committed {
        let totals = self.runs.iter().map(|(run, cursor)| (Arc::clone(run), cursor.totals)).collect();
        Committed { ords, totals }
    }

    pub(super) fn runs(&self) -> &[(Arc<str>, Cursor)] {
        &self.runs
    }

    /// Calls with the place of each event's run; neighbours mostly share one.
    fn each<'e>(&self, events: &'e [NewEvent], mut each: impl FnMut(usize, &'e NewEvent)) {
        let mut last: Option<(&str, usize)> = None;
        for event in events {
            let place = match last {
                Some((run, place)) if *run == *event.run => place,
                _ => self.places.get(&event.run).copied().unwrap_or(usize::MAX),
            };
            last = Some((&event.run, place));
            each(place, event);
        }
    }
}

/// How far the numbering trusts `seq`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Care {
    /// Nothing in the batch is suspect.
    Fresh,
    /// Suspects were looked up.
    Suspect,
}

impl Cursor {
    fn take(&mut self, event: &NewEvent) -> u64 {
        self.next_seq = self.next_seq.max(event.seq + 1);
        self.totals.last_ord += 1;
        self.totals.events += 1;
        self.totals.errors += u64::from(event.mark == Mark::Error);
        self.totals.last_ord
    }
}

/// Runs remembered at once; forgetting one costs a question later.
const REMEMBERED: usize = 8_192;
/// More than the hub can remember itself until the database works again.
const ADRIFT: usize = 1 << 16;
