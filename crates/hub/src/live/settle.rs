//! What stored events change: status, counts, pauses, and what viewers see (hub §4). Repeats change nothing.

use std::collections::HashSet;
use std::sync::Arc;

use lockgate_runs::writer::Done;
use tokio::sync::oneshot;

use super::owed::touched;
use super::records::millis;
use super::{Behind, Clock, State, tell};
use crate::claims::Stage;
use crate::feed::frames;
use crate::ingest::frame::Note;
use crate::pauses::{AppId, Key, Refused};
use crate::storage::From;
use crate::store::error::StoreError;
use crate::store::{Batch, Committed, Mark, NewEvent, Status, Totals, Turn};

impl State {
    /// Follows the store. Viewers see new events as soon as they have their numbers, in the order of the store.
    pub(super) fn settle(&mut self, done: Done, clock: Clock) {
        let (batch, committed, failure) = match done {
            Done::Put { batch, committed } => (batch, committed, None),
            Done::Unsaved { batch, committed, failure } => (batch, committed, Some(failure)),
            Done::Kept => return self.kept(),
            Done::Lost(failure) => return self.lost(&failure, clock),
        };
        self.unkept.touch(&batch, &committed);
        if batch.missed.is_some() {
            self.unkept.caught_up = self.owed.under_way;
        }
        let missed = batch.missed.iter().flatten().map(|(event, _)| &event.run);
        self.unkept.runs.extend(committed.totals.iter().map(|(run, _)| run).chain(missed).cloned());
        self.unkept.restated.extend(self.restated(&batch));
        self.take_back(&batch, &committed, clock);
        self.unkept.events.push((batch, committed.ords));
        if let Some(failure) = failure {
            self.lost(&failure, clock);
        }
    }

    fn take_back(&mut self, batch: &Batch, committed: &Committed, clock: Clock) {
        let origins = self.pending.landed();
        let mut quiet = Quiet::default();
        for ((event, from), ord) in batch.events.iter().zip(origins).zip(&committed.ords) {
            let Some(ord) = *ord else { continue };
            if quiet.takes(event, &from, ord) {
                continue;
            }
            self.passed(&quiet);
            quiet.events.clear();
            if !quiet.takes(event, &from, ord) {
                self.happened(event, from, ord, clock);
            }
        }
        self.passed(&quiet);
        for (run, now) in &committed.totals {
            self.count(run, *now);
            self.timers.update_soon(clock.now);
            self.dirty.insert(Arc::clone(run));
        }
        if !(batch.runs.is_empty() && batch.turns.is_empty()) {
            self.polls.look();
        }
    }

    /// All that was shown so far is on disk.
    fn kept(&mut self) {
        let Unkept { runs, readers, restated, caught_up, turned, .. } = std::mem::take(&mut self.unkept);
        self.repaid(restated, caught_up);
        self.turned(&turned);
        for run in runs {
            let Some(record) = self.records.get_mut(&run) else { continue };
            record.stored = record.shown;
            if !record.tails.is_empty() {
                let text = frames::stored(&run, record.stored);
                self.viewers.tell_tails(&record.tails, &text);
            }
            self.forget_idle(&run);
        }
        readers.into_iter().for_each(|(_, reader)| tell(reader, None));
        self.health(None);
        if self.pending.is_empty() && !self.pending.in_flight() && self.owed.runs.is_empty() {
            self.reconciled.drain(..).for_each(|reply| tell(reply, ()));
        }
    }

    /// These rows say what the hub decided, or are owed.
    fn turned(&mut self, runs: &[Arc<str>]) {
        for run in runs {
            self.records.get_mut(run).into_iter().for_each(|record| record.turning = false);
            self.forget_idle(run);
        }
    }

    /// What was shown and not kept stays shown, and is remembered until it can be.
    fn lost(&mut self, failure: &StoreError, clock: Clock) {
        let Unkept { events, readers, touched, turned, .. } = std::mem::take(&mut self.unkept);
        // A row that is missing now comes again with the next event of its run.
        for run in &touched {
            self.records.get_mut(run).into_iter().for_each(|record| record.ensured = false);
        }
        self.owe(touched, clock);
        self.turned(&turned);
        for (batch, ords) in events {
            self.owed.remember(batch.events.iter().zip(ords));
        }
        readers.into_iter().for_each(|(run, reader)| tell(reader, self.behind(&run)));
        let lost = if self.owed.lost > 0 { "; more than can be remembered, so that events are lost" } else { "" };
        self.health(Some(format!("{failure}{lost}").into()));
    }

    /// Events that only have to be shown.
    fn passed(&mut self, quiet: &Quiet<'_>) {
        let Some((last, ord)) = quiet.events.last() else { return };
        let Some(record) = self.records.get_mut(&last.run) else { return };
        record.shown = *ord;
        record.last_ts = Some(last.ts);
        if !record.tails.is_empty() {
            quiet.events.iter().for_each(|(event, ord)| self.show(event, *ord));
        }
    }

    fn happened(&mut self, event: &NewEvent, from: From, ord: u64, clock: Clock) {
        let From { app, note } = from;
        let Some(record) = self.records.get_mut(&event.run) else { return };
        record.shown = ord;
        record.last_ts = Some(event.ts);
        match &event.mark {
            Mark::None | Mark::Error => {}
            Mark::Started { app } => {
                record.run.app = Arc::clone(app);
                record.run.started_at = millis(event.ts);
                self.dirty.insert(Arc::clone(&event.run));
            }
            Mark::Finished { status } => self.finish(&event.run, *status, event.ts),
        }
        self.note(&event.run, note, app, clock);
        self.show(event, ord);
    }

    fn finish(&mut self, run: &Arc<str>, status: Status, ts: u64) {
        let Some(record) = self.records.get_mut(run) else { return };
        if !record.run.status.is_final() {
            record.run.status = status;
            record.run.finished_at = Some(millis(ts));
            if let Some(when) = record.abandon_at.take() {
                self.timers.keep(when);
            }
        }
        self.setup.claims.turn(run, Stage::Finished);
        let answers = self.pauses.run_finished(run);
        self.answer(answers);
        self.polls.look();
        self.update(run);
    }

    fn note(&mut self, run: &Arc<str>, note: Note, app: AppId, clock: Clock) {
        let key = |pause: Arc<str>| Key { run: Arc::clone(run), pause };
        let changed = match note {
            Note::Nothing => return,
            Note::Paused { pause, item } => {
                // A pause of a connection that has gone was released over there already.
                let held = self.apps.contains_key(&app) && self.pauses.open(&key(pause), app, *item);
                if held {
                    self.polls.look();
                }
                held
            }
            Note::Resumed { pause, winner, .. } => {
                let answers = self.pauses.resumed(&key(pause), winner.as_ref());
                self.answer(answers);
                true
            }
            Note::Refused { pause, code, message, request } => {
                let refused = Refused { code, message: message.as_deref() };
                let answers = self.pauses.refused(&key(pause), request.as_deref(), refused);
                self.answer(answers);
                self.polls.look();
                false
            }
            Note::Until { pause, until } => {
                self.pauses.moved(&key(pause), until);
                false
            }
        };
        if changed {
            self.timers.update_soon(clock.now);
            self.update(run);
        }
    }

    fn count(&mut self, run: &str, now: Totals) {
        if let Some(record) = self.records.get_mut(run) {
            record.run.events = now.events;
            record.run.errors = now.errors;
            record.run.last_ord = now.last_ord;
        }
    }

    fn health(&mut self, failure: Option<Arc<str>>) {
        if self.storage == failure {
            return;
        }
        match &failure {
            Some(failure) => tracing::error!(%failure, "runs are not kept at the moment; viewers still see them"),
            None => tracing::info!(lost = self.owed.lost, "runs are kept again"),
        }
        self.storage = failure;
        self.broadcast_state();
    }
}

type Reader = oneshot::Sender<Option<Behind>>;

/// What is in the open transaction of the store.
#[derive(Debug, Default)]
pub(super) struct Unkept {
    /// Batches with the numbers of their new events.
    events: Vec<(Arc<Batch>, Vec<Option<u64>>)>,
    runs: HashSet<Arc<str>>,
    /// Runs whose row it changes in any way, and those whose row it leaves as it should stand.
    touched: HashSet<Arc<str>>,
    restated: Vec<Arc<str>>,
    /// Runs whose status it changes by what the hub decided.
    turned: Vec<Arc<str>>,
    /// How many of the events that were missed it keeps.
    caught_up: usize,
    /// Who reads the store, of which run, and wants to see what is shown.
    readers: Vec<(Arc<str>, Reader)>,
}

impl Unkept {
    fn touch(&mut self, batch: &Batch, committed: &Committed) {
        self.touched.extend(touched(batch, committed).cloned());
        self.turned.extend(batch.turns.iter().map(Turn::run).cloned());
    }

    /// Lets a reader wait, or gives it back when there is nothing to wait for.
    pub(super) fn wait(&mut self, run: &Arc<str>, reader: Reader) -> Option<Reader> {
        if !self.runs.contains(run) {
            return Some(reader);
        }
        self.readers.push((Arc::clone(run), reader));
        None
    }

    /// Events of a run that no reader of the store can see yet.
    pub(super) fn of<'u>(&'u self, run: &str) -> impl Iterator<Item = (&'u NewEvent, u64)> {
        let all = self.events.iter().flat_map(|(batch, ords)| batch.events.iter().zip(ords));
        all.filter_map(move |(event, ord)| Some((event, (*ord)?)).filter(|_| *event.run == *run))
    }
}

/// Neighbouring events of one run that change nothing but its counts; most are.
#[derive(Default)]
struct Quiet<'e> {
    events: Vec<(&'e NewEvent, u64)>,
}

impl<'e> Quiet<'e> {
    /// Whether the event could be put with the others.
    fn takes(&mut self, event: &'e NewEvent, from: &From, ord: u64) -> bool {
        let changes = !matches!(event.mark, Mark::None | Mark::Error) || !matches!(from.note, Note::Nothing);
        if changes || self.events.first().is_some_and(|(first, _)| first.run != event.run) {
            return false;
        }
        self.events.push((event, ord));
        true
    }
}
