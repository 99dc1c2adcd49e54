//! Who gives up: cancels of requests that stand, that are on their way, or that have not come yet, and peers that hang up.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use lockgate_protocol::debug::RunStatus;
use lockgate_protocol::mcp::{Params, method};
use lockgate_protocol::rpc::{Content, Frame, Id, Message};

use super::Exchange;
use super::action::{Action, Patience};
use super::open::Effect;
use crate::rules::LIMITS;
use crate::side::Side;
use crate::story::Finish;

/// What is remembered about requests that are not open. Bounded; the oldest goes first.
#[derive(Debug, Default)]
pub(super) struct Cancels {
    /// Cancels that named no request we know, and when they came.
    early: VecDeque<(Side, Id, Duration)>,
    /// Cancels that were seen behind what stands, of requests that have not been dealt with either.
    behind: VecDeque<(Side, Id)>,
    /// Requests that were given up before they reached their target, whose cancel therefore goes nowhere.
    swallowed: VecDeque<(Side, Id)>,
    /// Requests that were answered or given up lately.
    closed: VecDeque<(Side, Id)>,
}

impl Cancels {
    /// Whether the cancel of a request came before it, as from hosts that write every message in a task of its own.
    pub(super) fn patience(&mut self, from: Side, id: &Id, at: Duration) -> Patience {
        if self.behind.iter().any(|(side, behind)| *side == from && behind == id) {
            return Patience::Over;
        }
        self.early.retain(|(_, _, came)| at.saturating_sub(*came) <= EARLY);
        let place = self.early.iter().position(|(side, early, _)| *side == from && early == id);
        match place.and_then(|place| self.early.remove(place)) {
            Some(_) => Patience::Over,
            None => Patience::Waiting,
        }
    }

    /// A request was answered or given up: a cancel that comes now is late, not early.
    pub(super) fn finished(&mut self, from: Side, id: &Id) {
        remember(&mut self.closed, (from, id.clone()));
    }

    /// A request ended at our gate although its asker gave it up.
    pub(super) fn swallow(&mut self, from: Side, id: &Id) {
        remember(&mut self.swallowed, (from, id.clone()));
        self.finished(from, id);
    }

    /// An id is in use again.
    pub(super) fn reopened(&mut self, from: Side, id: &Id) {
        self.swallowed.retain(|(side, known)| *side != from || known != id);
    }

    pub(super) fn was_closed(&self, from: Side, id: &Id) -> bool {
        self.closed.iter().any(|(side, known)| *side == from && known == id)
    }

    /// Whether a cancel may have to go nowhere.
    pub(super) fn swallows(&self) -> bool {
        !self.swallowed.is_empty()
    }

    fn take_swallowed(&mut self, from: Side, id: &Id) -> bool {
        let place = self.swallowed.iter().position(|(side, known)| *side == from && known == id);
        place.and_then(|place| self.swallowed.remove(place)).is_some()
    }
}

impl Exchange {
    /// A cancel came. What stands ends at once; what is open closes when the cancel goes on.
    pub(super) fn cancelled(&mut self, from: Side, read: &Params<'_>) -> Effect {
        let Some(id) = read.request_id.and_then(Id::of) else { return Effect::None };
        self.cancels.behind.retain(|(side, behind)| *side != from || *behind != id);
        if self.cancels.take_swallowed(from, &id) {
            return Effect::Swallowed;
        }
        if self.gives_up(from, &id) {
            return Effect::None;
        }
        if self.asked[from].get_mut(&id).is_some() {
            return Effect::Closes(from, id);
        }
        let listens = |exchange: &mut Exchange| {
            exchange.asked[from.other()].get_mut(&id).is_some_and(|open| *open.method == *method::LISTEN)
        };
        // A server may end a subscription by cancelling the client's request (mcp §3.5).
        if listens(self) {
            return Effect::Closes(from.other(), id);
        }
        if !self.cancels.was_closed(from, &id) {
            remember(&mut self.cancels.early, (from, id, self.now.at));
        }
        Effect::None
    }

    /// A line that waits behind what stands: if it cancels that, the wait is over.
    pub(super) fn ahead(&mut self, from: Side, line: &Bytes) {
        // Reading every line twice would be dear; the word has to be in it.
        if memchr::memmem::find(line, b"cancelled").is_none() {
            return;
        }
        let Ok(frame) = Frame::read(line, LIMITS) else { return };
        let spoken = match frame.content {
            Content::Single(spoken) => vec![spoken],
            Content::Batch { elements, .. } => elements,
        };
        for each in spoken {
            let Message::Notification(told) = &each.message else { continue };
            let id = told.params.as_ref().and_then(|params| Id::of(params.view().get("requestId")?));
            if let Some(id) = id.filter(|_| *told.method == *method::CANCELLED)
                && !self.gives_up(from, &id)
                && self.asked[from].get_mut(&id).is_none()
            {
                remember(&mut self.cancels.behind, (from, id));
            }
        }
    }

    /// Nobody is at that side any more to wait for an answer.
    pub(super) fn gone(&mut self, side: Side) {
        for lane in Side::BOTH {
            let open = self.standing[lane].as_ref().and_then(|work| work.standing.open());
            if open.is_some_and(|open| open.from == side) {
                self.out.push(Action::GaveUp(lane));
            }
        }
    }

    /// A cancel went on to the target: no answer is expected any more.
    pub(super) fn close_cancelled(&mut self, asker: Side, id: &Id) {
        let Some(open) = self.close(asker, id) else { return };
        self.cancels.finished(asker, id);
        self.groups.closed(open.group);
        let age = self.now.at.saturating_sub(open.asked);
        if *open.method == *method::LISTEN {
            return self.story.finish(open.exec, Finish::new(RunStatus::Ok), self.now.at, &mut self.out);
        }
        if asker == Side::Client {
            self.out.push(Action::Patience(age));
        }
        let finish = Finish { cancelled: Some(age), ..Finish::new(RunStatus::Aborted) };
        self.story.finish(open.exec, finish, self.now.at, &mut self.out);
    }

    /// Ends what stands at the gate for a request; whether anything does.
    fn gives_up(&mut self, asker: Side, id: &Id) -> bool {
        for lane in Side::BOTH {
            let open = self.standing[lane].as_ref().and_then(|work| work.standing.open());
            let Some(open) = open.filter(|open| open.from == asker && open.id == *id) else { continue };
            if asker == Side::Client {
                self.out.push(Action::Patience(self.now.at.saturating_sub(open.asked)));
            }
            self.out.push(Action::GaveUp(lane));
            return true;
        }
        false
    }
}

fn remember<T>(list: &mut VecDeque<T>, item: T) {
    if list.len() >= REMEMBERED {
        list.pop_front();
    }
    list.push_back(item);
}

/// How long a cancel may be ahead of its request.
const EARLY: Duration = Duration::from_secs(1);
const REMEMBERED: usize = 256;
