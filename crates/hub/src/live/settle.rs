//! What stored events change: status, counts, pauses, and what viewers see (hub §4). Repeats change nothing.

use std::sync::Arc;

use super::records::millis;
use super::{Clock, State, tell};
use crate::claims::Stage;
use crate::feed::frames;
use crate::ingest::frame::Note;
use crate::pauses::{AppId, Key, Refused};
use crate::storage::{Done, From};
use crate::store::{Batch, Committed, Mark, NewEvent, Status, Totals};

impl State {
    /// A batch has been written, or could not be; either way viewers see its new events, in the order of the store.
    pub(super) fn settle(&mut self, done: Done, clock: Clock) {
        let Done { batch, committed, failure } = done;
        let Batch { runs, events, turns } = batch;
        let Committed { ords, totals } = committed;
        let origins = self.pending.landed();
        for ((event, from), ord) in events.iter().zip(origins).zip(ords) {
            if let Some(ord) = ord {
                self.happened(event, from, ord, clock);
            }
        }
        let kept = failure.is_none();
        for (run, now) in totals {
            self.count(&run, now, kept);
            self.timers.update_soon(clock.now);
            self.dirty.insert(run);
        }
        if !kept {
            // Their rows are missing; the next batch of these runs brings them again.
            for run in &runs {
                self.records.get_mut(&run.id).into_iter().for_each(|record| record.ensured = false);
            }
        }
        if !(runs.is_empty() && turns.is_empty()) {
            self.polls.look();
        }
        self.health(failure.map(|error| error.to_string().into()));
        if self.pending.is_empty() {
            self.reconciled.drain(..).for_each(|reply| tell(reply, ()));
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
                let answer = self.pauses.refused(&key(pause), request.as_deref(), refused);
                self.answer(answer);
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

    fn count(&mut self, run: &Arc<str>, now: Totals, kept: bool) {
        let Some(record) = self.records.get_mut(run) else { return };
        record.run.events = now.events;
        record.run.errors = now.errors;
        record.run.last_ord = now.last_ord;
        if !kept {
            return;
        }
        record.stored = now.last_ord;
        if !record.tails.is_empty() {
            let text = frames::stored(run, now.last_ord);
            self.viewers.tell_tails(&record.tails, &text);
        }
    }

    fn health(&mut self, failure: Option<Arc<str>>) {
        if self.storage == failure {
            return;
        }
        match &failure {
            Some(failure) => tracing::error!(%failure, "runs are not kept at the moment; viewers still see them"),
            None => tracing::info!("runs are kept again"),
        }
        self.storage = failure;
        self.broadcast_state();
    }
}
