//! Who gives up: cancels of requests that stand, that are on their way, or that have not come yet, and peers that hang up.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use lockgate_protocol::debug::RunStatus;
use lockgate_protocol::mcp::{Era, Params, method};
use lockgate_protocol::rpc::{Content, Frame, Id, Message, Spoken};

use super::Exchange;
use super::action::{Action, Patience};
use super::open::Effect;
use crate::rules::{LIMITS, MOST_OPEN};
use crate::side::{Both, Side};
use crate::story::Finish;

/// What is remembered about requests that are not open. Bounded; the oldest goes first.
#[derive(Debug, Default)]
pub(super) struct Cancels {
    /// Cancels that named no request we know, and when they came.
    early: VecDeque<(Side, Id, Duration)>,
    /// Cancels that were seen behind what stands, or further on in its array, of requests that have not been dealt with
    /// either. Bounded by the bytes that may wait there.
    behind: Both<HashSet<Id>>,
    /// Requests that were given up before they reached their target, whose cancel therefore goes nowhere.
    swallowed: VecDeque<(Side, Id)>,
    /// Requests that were answered lately, and their era.
    answered: VecDeque<(Side, Id, Era)>,
    /// Requests that were given up. Their answers may still come.
    given_up: VecDeque<(Side, Id, Era)>,
}

impl Cancels {
    /// Whether the cancel of a request came before it, as from hosts that write every message in a task of its own.
    pub(super) fn patience(&mut self, from: Side, id: &Id, at: Duration) -> Patience {
        if self.behind[from].contains(id) {
            return Patience::Over;
        }
        self.early.retain(|(_, _, came)| at.saturating_sub(*came) <= EARLY);
        let place = self.early.iter().position(|(side, early, _)| *side == from && early == id);
        match place.and_then(|place| self.early.remove(place)) {
            Some(_) => Patience::Over,
            None => Patience::Waiting,
        }
    }

    /// A request was answered: a cancel that comes now is late, not early.
    pub(super) fn answered(&mut self, from: Side, id: &Id, era: Era) {
        remember(&mut self.answered, (from, id.clone(), era), ANSWERED);
    }

    /// A request was given up, on its way to its target or there.
    pub(super) fn given_up(&mut self, from: Side, id: &Id, era: Era) {
        remember(&mut self.given_up, (from, id.clone(), era), MOST_OPEN);
    }

    /// A request ended at our gate although its asker gave it up.
    pub(super) fn swallow(&mut self, from: Side, id: &Id, era: Era) {
        remember(&mut self.swallowed, (from, id.clone()), MOST_OPEN);
        self.given_up(from, id, era);
    }

    /// An id is in use again.
    pub(super) fn reopened(&mut self, from: Side, id: &Id) {
        self.swallowed.retain(|(side, known)| *side != from || known != id);
    }

    /// The era of a request that is over.
    pub(super) fn closed(&self, from: Side, id: &Id) -> Option<Era> {
        let all = self.answered.iter().rev().chain(self.given_up.iter().rev());
        all.into_iter().find(|(side, known, _)| *side == from && known == id).map(|(_, _, era)| *era)
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
        self.cancels.behind[from].remove(&id);
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
        if self.cancels.closed(from, &id).is_none() {
            remember(&mut self.cancels.early, (from, id, self.now.at), MOST_OPEN);
        }
        Effect::None
    }

    /// The era of the request a cancel names, if it is or was one of those we know.
    pub(super) fn era_of_cancelled(&mut self, from: Side, read: &Params<'_>) -> Option<Era> {
        let id = read.request_id.and_then(Id::of)?;
        let stands = Side::BOTH.into_iter().find_map(|lane| {
            let open = self.standing[lane].as_ref()?.standing.open()?;
            (open.from == from && open.id == id).then_some(open.exec.era)
        });
        let open = |side: Side, exchange: &mut Exchange| exchange.asked[side].get_mut(&id).map(|open| open.exec.era);
        stands
            .or_else(|| open(from, self))
            .or_else(|| self.cancels.closed(from, &id))
            .or_else(|| open(from.other(), self))
    }

    /// A line that waits behind what stands: if it cancels that, the wait is over.
    pub(super) fn ahead(&mut self, from: Side, line: &Bytes) {
        // Reading every line twice would be dear; the word has to be in it.
        if memchr::memmem::find(line, b"cancelled").is_none() {
            return;
        }
        let Ok(frame) = Frame::read(line, LIMITS) else { return };
        if self.denial(&frame).is_some() {
            return;
        }
        match &frame.content {
            Content::Single(spoken) => self.foresee(from, std::slice::from_ref(spoken)),
            Content::Batch { elements, .. } => self.foresee(from, elements),
        }
    }

    /// Messages whose turn has not come: the cancels among them count at once.
    pub(super) fn foresee(&mut self, from: Side, coming: &[Spoken]) {
        for each in coming {
            let Message::Notification(told) = &each.message else { continue };
            let id = told.params.as_ref().and_then(|params| Id::of(params.view().get("requestId")?));
            if let Some(id) = id.filter(|_| *told.method == *method::CANCELLED)
                && !self.gives_up(from, &id)
                && self.asked[from].get_mut(&id).is_none()
            {
                self.cancels.behind[from].insert(id);
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
        self.cancels.given_up(asker, id, open.exec.era);
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

fn remember<T>(list: &mut VecDeque<T>, item: T, most: usize) {
    if list.len() >= most {
        list.pop_front();
    }
    list.push_back(item);
}

/// How long a cancel may be ahead of its request.
const EARLY: Duration = Duration::from_secs(1);
/// Requests that are remembered as answered: their cancels can only be a moment late.
const ANSWERED: usize = 256;
