//! What programs bring: they attach, write to runs, leave (hub §4). A frame is judged here and waits to be stored; what it
//! changes is for `settle`.

use std::sync::Arc;

use lockgate_protocol::debug::{Control, Hello};
use tokio::sync::oneshot;

use super::apps::App;
use super::records::{Introduction, Record};
use super::{Clock, FromApp, State};
use crate::breakpoints::is_conditional;
use crate::claims::{Entry, Refusal, Stage, Standing};
use crate::ingest::frame::{Incoming, Note, with_audit};
use crate::outbox::{Closing, Outbox, PushError, Text};
use crate::pauses::{AppId, Key};
use crate::store::{NewRun, Status, Turn};

/// A program introduces itself.
#[derive(Debug)]
pub(crate) struct Greeting {
    pub(crate) hello: Hello,
    /// Becomes its session token, if it has none yet.
    pub(crate) fresh: String,
    pub(crate) outbox: Arc<Outbox<Text>>,
}

/// An event, and what is known of its run when the actor may not know it.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub(crate) incoming: Incoming,
    pub(crate) first: First,
}

/// Whether the connection had to ask the store for the run.
#[derive(Debug)]
pub(crate) enum First {
    /// It is in memory.
    No,
    /// The store has no such run.
    New,
    Stored(Box<Introduction>),
}

impl State {
    pub(super) fn take_in(&mut self, from: FromApp, clock: Clock) {
        match from {
            FromApp::Hello { app, greeting } => self.attach(app, *greeting, clock),
            FromApp::Frames { app, arrivals } => {
                // Neighbours mostly share a run; what was decided for one holds for the next.
                let mut admitted = None;
                for Arrival { incoming, first } in arrivals {
                    if admitted.as_ref() != Some(&incoming.event.run) {
                        admitted = self.admit(app, &incoming, first, clock);
                    }
                    if admitted.is_some() {
                        self.accept(app, incoming);
                    }
                }
            }
            FromApp::Gone { app } => self.detach(app, clock),
        }
    }

    fn attach(&mut self, id: AppId, greeting: Greeting, clock: Clock) {
        let Greeting { hello, fresh, outbox } = greeting;
        let mut app = App::new(hello, fresh, outbox);
        let (setup, watched) = (&self.setup, self.watch.watched());
        if app.greet(&setup.breakpoints, &setup.hub_capabilities, watched, clock).is_err() {
            return;
        }
        self.setup.claims.connect(&app.session.token);
        let lacks = self.lacks(&app);
        self.apps.insert(id, app);
        if lacks {
            self.broadcast_state();
        }
    }

    fn detach(&mut self, id: AppId, clock: Clock) {
        let Some(app) = self.apps.remove(&id) else { return };
        self.setup.claims.disconnect(&app.session.token);
        let answers = self.pauses.owner_gone(id);
        self.answer(answers);
        for run in &app.runs {
            let number = self.number();
            let Some(record) = self.records.get_mut(run).filter(|record| record.owner == Some(id)) else { continue };
            record.owner = None;
            if record.run.status == Status::Running {
                let when = (clock.now + self.setup.grace, number);
                record.abandon_at = Some(when);
                self.timers.abandon(when, Arc::clone(run));
            }
            self.update(run);
            self.forget_idle(run);
        }
        if self.lacks(&app) {
            self.broadcast_state();
        }
    }

    /// Whether a program's coming and going tells viewers something: a breakpoint that it cannot be sent (wire §10.4).
    fn lacks(&self, app: &App) -> bool {
        !app.can("conditions") && self.setup.breakpoints.matchers().any(is_conditional)
    }

    /// Judges an event: who may write, who owns, what must exist first. Answers its run if it may be stored.
    fn admit(&mut self, id: AppId, incoming: &Incoming, first: First, clock: Clock) -> Option<Arc<str>> {
        let app = self.apps.get(&id)?;
        let run = Arc::clone(&incoming.event.run);
        let record = self.records.get(&run).filter(|record| !record.is_awaited());
        let known = match (record, &first) {
            (Some(record), _) => Some((record.owner, record.run.status)),
            (None, First::Stored(stored)) => Some((None, stored.run.status)),
            (None, First::New) => None,
            // It was in memory when the connection looked, and its claim has been evicted since.
            (None, First::No) => {
                self.refused(id, &run, Refusal::Ended, clock);
                return None;
            }
        };
        let standing = Standing {
            owned_by_another: known.and_then(|(owner, _)| owner).is_some_and(|owner| owner != id),
            status: known.map(|(_, status)| status),
        };
        let (entry, evicted) = self.setup.claims.enter(&run, &app.session, standing);
        if let Some(evicted) = evicted {
            self.evict(&evicted, clock);
        }
        match entry {
            Entry::Allowed | Entry::Claimed => {}
            Entry::TakenOver => {
                if let Some(swallowed) = self.throttle.pass("takeover", clock.now) {
                    tracing::info!(run = %run.escape_debug(), swallowed, "another session goes on with the run");
                }
            }
            Entry::Refused(refusal) => {
                self.refused(id, &run, refusal, clock);
                return None;
            }
        }
        self.own(id, &run, incoming, first);
        Some(run)
    }

    /// Lets an event wait to be stored.
    fn accept(&mut self, id: AppId, mut incoming: Incoming) {
        self.stamp(id, &mut incoming);
        self.pending.event(incoming, id);
    }

    /// The claim of a run had to make room. Its connection may live on and begin runs without end, so it no longer owns it.
    fn evict(&mut self, run: &Arc<str>, clock: Clock) {
        if let Some(record) = self.records.get_mut(run) {
            let owner = record.owner.take();
            if let Some(app) = owner.and_then(|owner| self.apps.get_mut(&owner)) {
                app.runs.remove(run);
            }
            if let Some(when) = record.abandon_at.take() {
                self.timers.keep(when);
            }
        }
        self.give_up(run, clock);
    }

    fn refused(&self, id: AppId, run: &str, refusal: Refusal, clock: Clock) {
        if let Some(swallowed) = self.throttle.pass("refused", clock.now) {
            let app = self.apps.get(&id).map(|app| &*app.name).unwrap_or_default();
            let (run, app) = (run.escape_debug(), app.escape_debug());
            tracing::warn!(%run, %app, reason = %refusal, swallowed, "a program may not write to this run");
        }
    }

    /// The last entitled connection to write to a run owns it.
    fn own(&mut self, id: AppId, run: &Arc<str>, incoming: &Incoming, first: First) {
        let Some(app) = self.apps.get_mut(&id) else { return };
        let new = || NewRun {
            id: Arc::clone(run),
            app: Arc::clone(&app.name),
            started_at: incoming.event.ts,
            source: app.source,
        };
        let unknown = self.records.get(run).is_none_or(Record::is_awaited);
        if unknown {
            let record = match first {
                First::Stored(stored) => Record::stored(*stored),
                First::New | First::No => Record::fresh(&new()),
            };
            self.records.begin(record);
        }
        let Some(record) = self.records.get_mut(run) else { return };
        if !record.ensured {
            record.ensured = true;
            self.pending.run(new());
        }
        if record.owner == Some(id) {
            return;
        }
        if let Some(before) = record.owner.replace(id)
            && let Some(before) = self.apps.get_mut(&before)
        {
            before.runs.remove(run);
        }
        if let Some(when) = record.abandon_at.take() {
            self.timers.keep(when);
        }
        if record.run.status == Status::Abandoned {
            record.run.status = Status::Running;
            record.run.finished_at = None;
            record.turning = true;
            self.pending.turn(Turn::Resumed { run: Arc::clone(run) });
            self.setup.claims.turn(run, Stage::Running);
        }
        if let Some(app) = self.apps.get_mut(&id) {
            app.runs.insert(Arc::clone(run));
        }
        self.update(run);
    }

    /// Writes down who is credited with a release, as far as that can be told.
    fn stamp(&self, id: AppId, incoming: &mut Incoming) {
        let Note::Resumed { pause, action, request, winner } = &mut incoming.note else { return };
        let Some(app) = self.apps.get(&id) else { return };
        let key = Key { run: Arc::clone(&incoming.event.run), pause: Arc::clone(pause) };
        *winner = self.pauses.winner(&key, action, request.as_deref(), app.echo);
        if let (Some(winner), Some(payload)) = (winner, &incoming.event.payload) {
            let stamped = with_audit(payload, winner.by.as_str(), winner.operator.as_deref());
            incoming.event.payload = Some(stamped);
        }
    }

    /// Nobody came back for the run.
    pub(super) fn give_up(&mut self, run: &Arc<str>, clock: Clock) {
        let Some(record) = self.records.get_mut(run) else { return };
        record.abandon_at = None;
        if record.owner.is_none() && record.run.status == Status::Running {
            record.run.status = Status::Abandoned;
            record.turning = true;
            record.run.finished_at = Some(super::records::millis(record.last_ts.unwrap_or(clock.wall_ms)));
            self.pending.turn(Turn::Abandoned { run: Arc::clone(run), now: clock.wall_ms });
            self.setup.claims.turn(run, Stage::Abandoned);
            self.polls.look();
            self.update(run);
        }
        self.forget_idle(run);
    }

    /// Runs that were left running by an earlier hub.
    pub(super) fn reconcile(&mut self, runs: Vec<Arc<str>>, reply: oneshot::Sender<()>, clock: Clock) {
        for run in runs {
            // A program that is back already, or within its grace, is none of these.
            if self.records.get(&run).is_none_or(Record::is_awaited) {
                self.orphans.insert(Arc::clone(&run));
                self.polls.look();
                self.pending.turn(Turn::Abandoned { run, now: clock.wall_ms });
            }
        }
        self.reconciled.push(reply);
    }

    pub(super) fn tell_apps(&mut self, control: &Control, clock: Clock) {
        for app in self.apps.values_mut() {
            if app.tell(control, clock) == Err(PushError::Full) {
                // It must not go on with breakpoints it was never told of; it comes back and hears them all.
                app.outbox().close(Closing { code: 1013, reason: "not reading" });
            }
        }
    }
}
