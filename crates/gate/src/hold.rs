//! The table of held calls: who may let each of them go, and when one goes by itself. A pure step that says what to do;
//! `pass` does it. The first release of a hold takes it out of the table, so a later one finds nothing.

mod clock;
mod resume;
mod slot;
mod told;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use lockgate_protocol::debug::{Event, ExecResume, ExecResumed, ExecUntil, RefusalCode, ResumeAction};
use lockgate_protocol::edit::Refusal;
use tokio::time::Instant;

use crate::policy::{Guard, OldHub, Release};
use crate::presence::{Presence, Watched};
use crate::warning::Warning;
use resume::{Reply, Standing};
use slot::{Slot, State};

pub use slot::EditInput;
pub(crate) use slot::{HostLimit, Terms};
pub(crate) use told::{Action, Cause, Checked, Ended, Input, Now, Seat, Work};
pub use told::{Held, Revisit};

/// All holds of one gate.
pub(crate) struct Table {
    rules: Rules,
    presence: Presence,
    /// Since when nobody watches, as far as that is known.
    unwatched: Option<Instant>,
    life: Life,
    last: u64,
    slots: BTreeMap<u64, Slot>,
}

/// What holds for every hold of a gate.
pub(crate) struct Rules {
    /// Middle of each pause id (wire §2.10).
    pub(crate) base: String,
    pub(crate) pause_timeout: Option<Duration>,
    pub(crate) patience: Option<Duration>,
    pub(crate) edit_input: EditInput,
}

#[derive(PartialEq, Eq)]
enum Life {
    Open,
    Disposed,
}

impl Table {
    pub(crate) fn new(rules: Rules) -> Self {
        Self { rules, presence: Presence::Detached, unwatched: None, life: Life::Open, last: 0, slots: BTreeMap::new() }
    }

    pub(crate) fn held(&self) -> usize {
        self.slots.len()
    }

    /// Registers a hold and gives its number, what viewers are told and what its waiter has to know. `None`: nobody
    /// could come to release it.
    pub(crate) fn open(&mut self, terms: Terms, now: Now) -> Option<(u64, Event, Seat)> {
        let guard = terms.hold.guard.as_deref();
        if !can_come(self.presence, guard) {
            return None;
        }
        let offered = guard.is_none()
            && terms.edit == EditInput::On
            && self.rules.edit_input == EditInput::On
            && self.presence.hub().edits();
        self.last += 1;
        let mut slot = Slot {
            pause: format!("pause_{}_{}", self.rules.base, self.last).into(),
            terms,
            editable: if offered { EditInput::On } else { EditInput::Off },
            opened: now.at,
            due: None,
            tickets: 0,
            state: State::Held,
        };
        slot.due = clock::due(&slot, &self.rules, self.unwatched);
        let opened = (self.last, slot.paused(now), slot.seat());
        self.slots.insert(self.last, slot);
        Some(opened)
    }

    /// Takes back a hold that no viewer will ever hear of.
    pub(crate) fn forget(&mut self, hold: u64) {
        self.slots.remove(&hold);
    }

    /// Every guarded hold, for its policy to look at.
    pub(crate) fn guarded(&self) -> impl Iterator<Item = (u64, Held<'_>)> {
        self.slots.iter().filter(|(_, slot)| slot.terms.hold.guard.is_some()).map(|(hold, slot)| {
            let terms = &slot.terms;
            (*hold, Held { run: &terms.run, node: &terms.node, at: terms.at, reason: &terms.hold.reason })
        })
    }

    pub(crate) fn step(&mut self, input: Input, now: Now) -> Vec<Action> {
        match input {
            Input::Resume(resume) => self.resume(resume, now),
            Input::Checked { hold, ticket, verdict } => self.checked(hold, ticket, verdict, now),
            Input::Tick(hold) => self.expire(hold, now),
            Input::Gone(hold, cause) => self.let_go(hold, cause),
            Input::Limit(hold, at) => self.limit(hold, at, now),
            Input::Presence(presence) => self.present(presence, now),
            Input::ReleaseAll => self.let_all_go(),
            Input::Dispose => {
                self.life = Life::Disposed;
                self.presence = Presence::Detached;
                self.let_all_go()
            }
            Input::Revisit(_, Revisit::Keep) => Vec::new(),
            Input::Revisit(hold, Revisit::Again) => self.close(hold, Ended::plain(Release::Retry, Cause::Policy), None),
            Input::Revisit(hold, Revisit::Superseded) => self.let_go(hold, Cause::Superseded),
        }
    }

    fn resume(&mut self, resume: ExecResume, now: Now) -> Vec<Action> {
        let Some(hold) = self.slots.iter().find(|(_, slot)| *slot.pause == *resume.pause_id).map(|(hold, _)| *hold)
        else {
            return Vec::new();
        };
        let mut actions = self.expire(hold, now);
        let hub = self.presence.hub();
        let Some(slot) = self.slots.get_mut(&hold) else {
            return actions;
        };
        if matches!(slot.state, State::Validating(_)) {
            return actions;
        }
        let standing = Standing {
            at: slot.terms.at,
            editable: slot.editable,
            unsupported: slot.terms.unsupported,
            guard: slot.terms.hold.guard.as_deref(),
            app: self.rules.edit_input,
            hub,
        };
        match resume::reply(&standing, &resume) {
            Reply::Release(release) => {
                actions.extend(self.close(hold, Ended::plain(release, Cause::Viewer), resume.request_id));
            }
            Reply::Refuse(refusal) => {
                let unseen = hub.is_old() && refusal.code == RefusalCode::Unsupported;
                actions.push(slot.refused(refusal, resume.request_id));
                if unseen {
                    actions.push(Action::Warn(Warning::Unsupported));
                }
            }
            Reply::Check(work) => {
                slot.validate(resume, work, now);
                actions.push(Action::Tell(hold, slot.seat()));
            }
        }
        actions
    }

    fn checked(&mut self, hold: u64, ticket: u64, verdict: Result<Checked, Refusal>, now: Now) -> Vec<Action> {
        // A verdict that took too long is late even when no timer had a chance to say so.
        let mut actions = self.expire(hold, now);
        let Some(slot) = self.slots.get_mut(&hold) else {
            return actions;
        };
        let State::Validating(validating) = &slot.state else {
            return actions;
        };
        if validating.ticket != ticket {
            return actions;
        }
        let request_id = validating.asked.request_id.clone();
        let release = match validating.asked.action {
            ResumeAction::Retry => Release::Retry,
            ResumeAction::Continue | ResumeAction::Inject | ResumeAction::Abort => Release::Continue,
        };
        match verdict {
            Ok(passed) => {
                let edited = match passed {
                    Checked::Edit(value) => Some(value),
                    Checked::Approval => None,
                };
                actions.extend(self.close(hold, Ended { release, edited, cause: Cause::Viewer }, request_id));
            }
            Err(refusal) => {
                slot.state = State::Held;
                actions.extend([slot.refused(refusal, request_id), Action::Tell(hold, slot.seat())]);
            }
        }
        actions
    }

    fn limit(&mut self, hold: u64, at: Option<Instant>, now: Now) -> Vec<Action> {
        let mut actions = self.expire(hold, now);
        if let Some(limit) = self.slots.get_mut(&hold).and_then(|slot| slot.terms.limit.as_mut()) {
            limit.at = at;
        }
        actions.extend(self.retime(hold, now));
        actions
    }

    fn present(&mut self, presence: Presence, now: Now) -> Vec<Action> {
        if self.life == Life::Disposed {
            return Vec::new();
        }
        // What was over before this came is over.
        let mut actions: Vec<Action> = self.all().into_iter().flat_map(|hold| self.expire(hold, now)).collect();
        self.presence = presence;
        self.unwatched = presence.is_unwatched().then(|| self.unwatched.unwrap_or(now.at));
        for hold in self.all() {
            let guard = self.slots.get(&hold).and_then(|slot| slot.terms.hold.guard.as_deref());
            actions.extend(if can_come(presence, guard) {
                self.retime(hold, now)
            } else {
                self.let_go(hold, Cause::Left)
            });
        }
        actions
    }

    fn let_all_go(&mut self) -> Vec<Action> {
        self.all().into_iter().flat_map(|hold| self.let_go(hold, Cause::Left)).collect()
    }

    fn all(&self) -> Vec<u64> {
        self.slots.keys().copied().collect()
    }

    /// The automatic release; an asker that is gone needs no answer.
    fn let_go(&mut self, hold: u64, cause: Cause) -> Vec<Action> {
        let Some(slot) = self.slots.get(&hold) else {
            return Vec::new();
        };
        let release = if cause == Cause::Asker { Release::Abort } else { slot.terms.hold.alone() };
        self.close(hold, Ended::plain(release, cause), None)
    }

    /// Ends what time has ended: the hold itself, or only the check it waits for.
    fn expire(&mut self, hold: u64, now: Now) -> Vec<Action> {
        let Some(slot) = self.slots.get_mut(&hold) else {
            return Vec::new();
        };
        if let Some(due) = slot.due.as_ref().filter(|due| due.at <= now.at) {
            let ended = Ended::plain(due.release.clone(), Cause::Time);
            return self.close(hold, ended, None);
        }
        let request_id = match &slot.state {
            State::Validating(validating) if validating.until <= now.at => validating.asked.request_id.clone(),
            State::Validating(_) | State::Held => return Vec::new(),
        };
        slot.state = State::Held;
        let late = Refusal::new(RefusalCode::Shape, "the check took too long");
        vec![slot.refused(late, request_id), Action::Tell(hold, slot.seat())]
    }

    /// Finds out anew when a hold ends by itself, and says so if that has changed.
    fn retime(&mut self, hold: u64, now: Now) -> Vec<Action> {
        let Some(slot) = self.slots.get_mut(&hold) else {
            return Vec::new();
        };
        let due = clock::due(slot, &self.rules, self.unwatched);
        if slot.due == due {
            return Vec::new();
        }
        slot.due = due;
        let event = Event::ExecUntil(ExecUntil {
            pause_id: Arc::clone(&slot.pause),
            until: slot.due.as_ref().map(|due| due.until(now)),
            extra: slot.terms.extra(),
        });
        vec![Action::Emit(slot.terms.run.clone(), event), Action::Tell(hold, slot.seat())]
    }

    /// Takes a hold out of the table. Announced before the waiter is told.
    fn close(&mut self, hold: u64, ended: Ended, request_id: Option<String>) -> Vec<Action> {
        let Some(slot) = self.slots.remove(&hold) else {
            return Vec::new();
        };
        let event = Event::ExecResumed(ExecResumed {
            extra: slot.terms.extra(),
            pause_id: slot.pause,
            action: ended.release.action(),
            edited: ended.edited.clone(),
            request_id,
            redaction: None,
        });
        let seat = Seat { end: Some(ended), ..Seat::default() };
        vec![Action::Emit(slot.terms.run, event), Action::Tell(hold, seat)]
    }
}

/// Whether somebody may come to release a hold: the debugger takes a hub for enough, a guard wants to know of a watcher.
fn can_come(presence: Presence, guard: Option<&Guard>) -> bool {
    match (presence, guard) {
        (Presence::Detached, _) => false,
        (Presence::Attached { .. }, None) => true,
        (Presence::Attached { watched: Watched::No, .. }, Some(_)) => false,
        (Presence::Attached { watched: Watched::Yes, hub }, Some(_)) if hub.reviews() => true,
        (Presence::Attached { watched: Watched::Yes | Watched::Unknown, .. }, Some(guard)) => match guard.old_hub {
            OldHub::Wait => true,
            OldHub::Refuse => false,
        },
    }
}
