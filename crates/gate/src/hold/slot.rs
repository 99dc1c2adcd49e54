//! One held call in the table, and the words in which viewers hear of it.

use std::sync::Arc;
use std::time::Duration;

use lockgate_protocol::debug::{Event, ExecPaused, ExecRefused, ExecResume, Extra, RunId};
use lockgate_protocol::edit::{self, Refusal};
use lockgate_protocol::json::Raw;
use tokio::time::Instant;

use super::clock::Due;
use super::told::{Action, Job, Now, Seat, Work};
use crate::call::{Actions, Node, Stop};
use crate::policy::{Hold, Release};

/// Whether an input may be edited: by this call, by this host (wire §3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditInput {
    /// It may.
    On,
    /// It may not; what is proposed all the same is refused.
    Off,
}

/// What is to stand, and on which terms.
pub(crate) struct Terms {
    pub(crate) run: RunId,
    pub(crate) node: Arc<Node>,
    pub(crate) instance: Option<Arc<str>>,
    pub(crate) at: Stop,
    pub(crate) hold: Hold,
    pub(crate) edit: EditInput,
    pub(crate) unsupported: Actions,
    pub(crate) limit: Option<HostLimit>,
    pub(crate) mark: Option<(&'static str, &'static str)>,
}

impl Terms {
    /// The loose fields of every event of the hold.
    pub(super) fn extra(&self) -> Extra {
        self.mark.map(|(name, word)| (name, Raw::string(word))).into_iter().collect()
    }
}

/// The asker's own limit, as known right now.
pub(crate) struct HostLimit {
    pub(crate) at: Option<Instant>,
    pub(crate) action: Option<Release>,
}

pub(super) struct Slot {
    pub(super) pause: Arc<str>,
    pub(super) terms: Terms,
    /// Whether it was offered as editable.
    pub(super) editable: EditInput,
    pub(super) opened: Instant,
    pub(super) due: Option<Due>,
    pub(super) tickets: u64,
    pub(super) state: State,
}

pub(super) enum State {
    Held,
    Validating(Validating),
}

/// An answer that is being checked; every other answer is passed over meanwhile.
pub(super) struct Validating {
    pub(super) ticket: u64,
    pub(super) until: Instant,
    pub(super) asked: Box<ExecResume>,
    pub(super) work: Work,
}

impl Slot {
    /// Has the answer checked where the call stands.
    pub(super) fn validate(&mut self, asked: ExecResume, work: Work, now: Now) {
        self.tickets += 1;
        self.state =
            State::Validating(Validating { ticket: self.tickets, until: now.at + LIMIT, asked: Box::new(asked), work });
    }

    /// What its waiter has to know.
    pub(super) fn seat(&self) -> Seat {
        let due = self.due.as_ref().map(|due| due.at);
        match &self.state {
            State::Held => Seat { wake: due, job: None, end: None },
            State::Validating(validating) => Seat {
                wake: Some(due.map_or(validating.until, |due| due.min(validating.until))),
                job: Some(Job { ticket: validating.ticket, work: validating.work.clone() }),
                end: None,
            },
        }
    }

    pub(super) fn paused(&self, now: Now) -> Event {
        let reason = &self.terms.hold.reason;
        Event::ExecPaused(ExecPaused {
            pause_id: Arc::clone(&self.pause),
            node_id: Arc::clone(&self.terms.node.id),
            point: self.terms.at.point(),
            reason: Some(reason.kind),
            looped: reason.looped.clone(),
            smart: reason.smart.clone(),
            editable: self.editable == EditInput::On,
            instance_id: self.terms.instance.clone().filter(|instance| !instance.is_empty()),
            hold: reason.guard.clone(),
            until: self.due.as_ref().map(|due| due.until(now)),
            extra: self.terms.extra(),
        })
    }

    pub(super) fn refused(&self, refusal: Refusal, request_id: Option<String>) -> Action {
        let event = Event::ExecRefused(ExecRefused {
            pause_id: Arc::clone(&self.pause),
            code: refusal.code,
            message: refusal.message.and_then(|message| edit::clean(&message)),
            request_id,
            redaction: None,
            extra: self.terms.extra(),
        });
        Action::Emit(self.terms.run.clone(), event)
    }
}

/// How long a check may take, from the moment the resume was handled (wire §3.2).
const LIMIT: Duration = Duration::from_millis(4_000);
