//! What people want: calls released, breakpoints set (hub §6, §8, §9). Decides who hears about it; the race is in `pauses`.

use std::sync::Arc;
use std::time::Duration;

use lockgate_protocol::debug::{Control, ResumeAction};
use lockgate_protocol::json::Raw;
use tokio::sync::oneshot;

use super::{Clock, State, tell};
use crate::breakpoints::BadBreakpoint;
use crate::feed::ViewerId;
use crate::feed::frames::{self, Complaint};
use crate::level;
use crate::outbox::PushError;
use crate::pauses::{Answer, Ask, Code, Key, Outcome, WaiterId};

/// A resume, before anybody has looked at it.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) key: Key,
    pub(crate) action: ResumeAction,
    pub(crate) output: Option<Raw>,
    pub(crate) input: Option<Raw>,
    pub(crate) pin: Option<String>,
    pub(crate) request: RequestId,
    pub(crate) by: lockgate_protocol::debug::Principal,
    pub(crate) operator: Option<Arc<str>>,
    pub(crate) wait: Duration,
}

/// The id of a resume.
#[derive(Debug, Clone)]
pub(crate) enum RequestId {
    Theirs(Arc<str>),
    /// Minted here; never shown in an `error`.
    Ours(Arc<str>),
}

/// Who waits for the outcome.
#[derive(Debug)]
pub(crate) enum Asker {
    Http(oneshot::Sender<Outcome>),
    Viewer(ViewerId),
}

impl RequestId {
    pub(crate) fn text(&self) -> &Arc<str> {
        match self {
            RequestId::Theirs(text) | RequestId::Ours(text) => text,
        }
    }
}

impl Asker {
    pub(crate) fn is(&self, viewer: ViewerId) -> bool {
        matches!(self, Asker::Viewer(id) if *id == viewer)
    }

    fn hung_up(&self) -> bool {
        matches!(self, Asker::Http(reply) if reply.is_closed())
    }
}

impl State {
    pub(super) fn resume(&mut self, wanted: Wanted, asker: Asker, clock: Clock) {
        self.sweep_askers();
        let Wanted { key, action, output, input, pin, request, by, operator, wait } = wanted;
        let owner = self.records.get(&key.run).and_then(|record| record.owner);
        let owner = owner.and_then(|id| self.apps.get(&id).map(|app| app.owner(id)));
        let waiter = WaiterId(self.number());
        let until = clock.now + wait;
        let id = Arc::clone(request.text());
        let ask = Ask { key, action, output, input, pin, request: id, by, operator, waiter, until };
        let released = self.pauses.ask(clock.now, &ask, owner, self.setup.house);
        let sent = released.and_then(|release| {
            let app = self.apps.get_mut(&release.app);
            let sent = app.map_or(Err(PushError::Closing), |app| app.resume(release.payload, clock));
            sent.map_err(|error| {
                let code = match error {
                    PushError::Full => Code::SendFailed,
                    PushError::Closing => Code::AppDisconnected,
                };
                self.pauses.undo(&ask.key, code)
            })
        });
        match sent {
            Ok(()) => {
                if ask.input.is_some() {
                    let (run, pause) = (ask.key.run.escape_debug(), ask.key.pause.escape_debug());
                    tracing::info!(%by, %pause, %run, "an edited input was sent");
                }
                self.askers.insert(waiter, (asker, ask.request));
                // Its state, open or resolving, is part of what pollers see, but wakes nobody.
            }
            Err(outcome) => self.turn_down(asker, ask.key, &request, outcome),
        }
    }

    fn turn_down(&self, asker: Asker, key: Key, request: &RequestId, outcome: Outcome) {
        match asker {
            Asker::Http(reply) => tell(reply, outcome),
            Asker::Viewer(viewer) => {
                let request = match request {
                    RequestId::Theirs(request) => Some(Arc::clone(request)),
                    RequestId::Ours(_) => None,
                };
                let message = outcome.message.clone().unwrap_or_default();
                let complaint = Complaint { message, key: Some(key), run: None, outcome: Some(outcome), request };
                self.viewers.complain(viewer, &complaint);
            }
        }
    }

    /// Tells those who waited.
    pub(super) fn answer(&mut self, answers: impl IntoIterator<Item = Answer>) {
        for Answer { waiter, key, request, outcome } in answers {
            match self.askers.remove(&waiter) {
                Some((Asker::Http(reply), _)) => tell(reply, outcome),
                Some((Asker::Viewer(viewer), _)) => {
                    self.viewers.answer(viewer, frames::resume_result(&key, &request, &outcome));
                }
                None => {}
            }
        }
    }

    /// Forgets HTTP clients that hung up: nobody waits on their attempts any more.
    pub(super) fn sweep_askers(&mut self) {
        let gone = self.askers.iter().filter(|(_, (asker, _))| asker.hung_up()).map(|(waiter, _)| *waiter);
        for waiter in gone.collect::<Vec<_>>() {
            self.askers.remove(&waiter);
            self.pauses.gone(waiter);
        }
    }

    pub(super) fn arm(&mut self, viewer: ViewerId, control: Control, clock: Clock) {
        let Some(principal) = self.viewers.principal(viewer) else { return };
        if level::arm(principal, self.setup.house.agents).is_err() {
            let outcome = Outcome::of(Code::Forbidden);
            let message = outcome.message.clone().unwrap_or_default();
            self.viewers.complain(viewer, &Complaint { outcome: Some(outcome), ..Complaint::new(message) });
            return self.show_state(viewer);
        }
        match self.setup.breakpoints.obey(control) {
            Ok(None) => self.show_state(viewer),
            Ok(Some(change)) => {
                self.tell_apps(&change, clock);
                self.broadcast_state();
            }
            Err(error @ (BadBreakpoint::Rule(_) | BadBreakpoint::Long | BadBreakpoint::Many)) => {
                self.viewers.complain(viewer, &Complaint::new(error.to_string()));
                self.show_state(viewer);
            }
        }
    }
}
