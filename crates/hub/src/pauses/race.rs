//! The race itself: one resume against all others, and whom the program's answer credits.

use std::sync::Arc;
use std::time::Duration;

use lockgate_protocol::debug::{Control, ExecResume, Principal, RefusalCode, ResumeAction};
use lockgate_protocol::edit;
use lockgate_protocol::json::Raw;
use tokio::time::Instant;

use super::entry::{Attempt, Deadline, Entry, Phase};
use super::{Answer, AppId, Code, Key, Outcome, OutcomeKind, Pauses, WaiterId, Waiting, When};
use crate::level::{self, Denied, Edits, Level, Reads, Wish};

/// A resume as it was asked for.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) key: Key,
    pub(crate) action: ResumeAction,
    pub(crate) output: Option<Raw>,
    pub(crate) input: Option<Raw>,
    pub(crate) pin: Option<String>,
    /// Acceptable, or minted here.
    pub(crate) request: Arc<str>,
    pub(crate) by: Principal,
    pub(crate) operator: Option<Arc<str>>,
    pub(crate) waiter: WaiterId,
    /// Until when the waiter waits.
    pub(crate) until: Instant,
}

/// The program that would have to release the call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Owner {
    pub(crate) app: AppId,
    /// Takes edited inputs.
    pub(crate) edits: bool,
    /// Longest payload it can take, in bytes.
    pub(crate) longest: usize,
}

/// Rules of this hub.
#[derive(Debug, Clone, Copy)]
pub(crate) struct House {
    pub(crate) agents: Level,
    pub(crate) edits: Edits,
    pub(crate) reads: Reads,
}

/// A resume on its way to the program.
#[derive(Debug)]
pub(crate) struct Release {
    pub(crate) app: AppId,
    pub(crate) payload: Raw,
}

/// Whom an `exec.resumed` credits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Winner {
    pub(crate) request: Arc<str>,
    pub(crate) by: Principal,
    pub(crate) operator: Option<Arc<str>>,
}

impl Pauses {
    /// Judges a resume in the order of hub §9. A release that could not be sent must be undone with [`Pauses::undo`].
    pub(crate) fn ask(
        &mut self,
        now: Instant,
        ask: &Ask,
        owner: Option<Owner>,
        house: House,
    ) -> Result<Release, Outcome> {
        let hold = self.entries.get(&ask.key).and_then(|entry| entry.hold.as_ref());
        let guarded = hold.is_some_and(|hold| hold.item.guard.is_some());
        permitted(ask, guarded, house)?;
        if self.closed.has(&ask.key) {
            return Err(Outcome::of(Code::NoSuchPause));
        }
        if let Some(Phase::Resolving(request)) = hold.map(|hold| &hold.phase) {
            let attempts = self.entries.get(&ask.key).map(|entry| entry.attempts.as_slice()).unwrap_or_default();
            let waited = attempts.iter().any(|attempt| attempt.request == *request && attempt.waiter.is_some());
            return Err(Outcome::of(if waited { Code::PauseTaken } else { Code::StillResolving }));
        }
        let Some(owner) = owner else { return Err(Outcome::of(Code::NoOwner)) };
        let editable = owner.edits && hold.is_some_and(|hold| hold.item.editable);
        if ask.input.is_some() && !editable {
            return Err(Outcome::of(Code::NotEditable));
        }
        let payload = forwarded(ask, guarded);
        if payload.len() > owner.longest {
            return Err(Outcome::of(Code::TooLarge));
        }
        self.claim(now, ask, owner.app);
        Ok(Release { app: owner.app, payload })
    }

    /// The last release for this pause never left.
    pub(crate) fn undo(&mut self, key: &Key, code: Code) -> Outcome {
        if let Some(entry) = self.entries.get_mut(key)
            && let Some(last) = entry.attempts.pop()
        {
            entry.reopen(&last.request);
            self.clear(&last);
            self.answer(last.waiter, Outcome::of(code));
            self.drop_idle_ghost(key);
        }
        Outcome::of(code)
    }

    /// Whom an arriving `exec.resumed` will credit. Changes nothing: the frame may yet turn out to be a repeat.
    pub(crate) fn winner(&self, key: &Key, action: &str, request: Option<&str>, echo: Echo) -> Option<Winner> {
        let attempts = &self.entries.get(key)?.attempts;
        let winner = match (request, echo) {
            (Some(request), _) => attempts.iter().find(|attempt| *attempt.request == *request),
            // A program that echoes and did not has released the call itself.
            (None, Echo::Yes) => None,
            // Who has left can only have done it if nobody else did.
            (None, Echo::No) => {
                let fits = |attempt: &&Attempt| attempt.action.as_str() == action;
                let waits = |attempt: &&Attempt| fits(attempt) && attempt.waiter.is_some();
                attempts.iter().find(waits).or_else(|| attempts.iter().find(fits))
            }
        }?;
        let Attempt { request, by, operator, .. } = winner;
        Some(Winner { request: Arc::clone(request), by: *by, operator: operator.clone() })
    }

    /// A newly stored `exec.resumed`: the pause is over.
    pub(crate) fn resumed(&mut self, key: &Key, winner: Option<&Winner>) -> Vec<Answer> {
        self.closed.insert(key.clone());
        let Some(entry) = self.take(key) else { return Vec::new() };
        let mut answers = Vec::new();
        for attempt in entry.attempts {
            let won = winner.filter(|winner| winner.request == attempt.request);
            let outcome = won.map_or_else(|| Outcome::of(Code::Superseded), |winner| Outcome::resumed(winner.by));
            answers.extend(self.answer(attempt.waiter, outcome));
        }
        answers
    }

    /// A newly stored `exec.refused`: the call still stands there.
    pub(crate) fn refused(&mut self, key: &Key, request: Option<&str>, refusal: Refused<'_>) -> Vec<Answer> {
        let Some(entry) = self.entries.get_mut(key) else { return Vec::new() };
        let pending = entry.hold.as_ref().and_then(|hold| match &hold.phase {
            Phase::Resolving(request) => Some(Arc::clone(request)),
            Phase::Open => None,
        });
        let last = || entry.attempts.last().map(|attempt| Arc::clone(&attempt.request));
        let Some(request) = request.map(Arc::from).or(pending).or_else(last) else { return Vec::new() };
        let Refused { code, message } = refusal;
        let message = message.and_then(edit::clean);
        let outcome = Outcome { kind: OutcomeKind::Refused, code: Some(Code::Content(code)), message, principal: None };
        let mut answers = Vec::new();
        for attempt in entry.settle(&request) {
            self.clear(&attempt);
            answers.extend(self.answer(attempt.waiter, outcome.clone()));
        }
        self.drop_idle_ghost(key);
        answers
    }

    /// A waiter hung up.
    pub(crate) fn gone(&mut self, waiter: WaiterId) {
        self.leave(waiter, Code::NoAnswer);
    }

    /// Ends what has waited long enough.
    pub(crate) fn tick(&mut self, now: Instant) -> Vec<Answer> {
        let mut answers = Vec::new();
        while let Some(first) = self.deadlines.first_entry().filter(|first| first.key().0 <= now) {
            match first.remove() {
                Deadline::Attempt { key, request } => {
                    if let Some(entry) = self.entries.get_mut(&key) {
                        entry.reopen(&request);
                    }
                }
                Deadline::Waiter(waiter) => answers.extend(self.leave(waiter, Code::NoAnswer)),
            }
        }
        answers
    }

    fn claim(&mut self, now: Instant, ask: &Ask, app: AppId) {
        if !self.entries.contains_key(&ask.key) {
            self.make_ghost_room(now);
            let age = self.age();
            self.ghosts.insert(age, ask.key.clone());
            self.put(&ask.key, Entry { owner: app, age, hold: None, attempts: Vec::new() });
        }
        let request = Arc::clone(&ask.request);
        let expiry =
            self.deadline(now + ANSWER, Deadline::Attempt { key: ask.key.clone(), request: Arc::clone(&request) });
        let deadline = self.deadline(ask.until, Deadline::Waiter(ask.waiter));
        let waiting = Waiting { key: ask.key.clone(), request: Arc::clone(&request), deadline };
        self.waiters.insert(ask.waiter, waiting);
        let Some(entry) = self.entries.get_mut(&ask.key) else { return };
        if let Some(hold) = &mut entry.hold {
            hold.phase = Phase::Resolving(Arc::clone(&request));
        }
        let Ask { action, by, waiter, .. } = *ask;
        let operator = ask.operator.clone();
        entry.attempts.push(Attempt { request, action, by, operator, waiter: Some(waiter), expiry: Some(expiry) });
        if entry.attempts.len() > ATTEMPTS {
            let oldest = entry.attempts.remove(0);
            self.clear(&oldest);
            self.hurry(now, oldest.waiter);
        }
    }

    /// Resumes for invented pauses push out each other only.
    fn make_ghost_room(&mut self, now: Instant) {
        while self.ghosts.len() >= GHOSTS
            && let Some((_, oldest)) = self.ghosts.first_key_value()
        {
            let oldest = oldest.clone();
            for attempt in self.take(&oldest).into_iter().flat_map(|entry| entry.attempts) {
                self.hurry(now, attempt.waiter);
            }
        }
    }

    /// Lets the next tick tell this waiter that nobody answered.
    fn hurry(&mut self, now: Instant, waiter: Option<WaiterId>) {
        let Some(waiter) = waiter else { return };
        let sooner = self.deadline(now, Deadline::Waiter(waiter));
        if let Some(waiting) = self.waiters.get_mut(&waiter) {
            let later = std::mem::replace(&mut waiting.deadline, sooner);
            self.deadlines.remove(&later);
        }
    }

    fn deadline(&mut self, at: Instant, deadline: Deadline) -> When {
        let when = (at, self.age());
        self.deadlines.insert(when, deadline);
        when
    }

    fn clear(&mut self, attempt: &Attempt) {
        attempt.expiry.map(|expiry| self.deadlines.remove(&expiry));
    }

    /// Ends a wait; the attempt stays, for the program may still answer it.
    fn leave(&mut self, waiter: WaiterId, code: Code) -> Option<Answer> {
        let answer = self.answer(Some(waiter), Outcome::of(code))?;
        if let Some(entry) = self.entries.get_mut(&answer.key) {
            for attempt in entry.attempts.iter_mut().filter(|attempt| attempt.waiter == Some(waiter)) {
                attempt.waiter = None;
            }
            self.drop_idle_ghost(&answer.key);
        }
        Some(answer)
    }

    fn drop_idle_ghost(&mut self, key: &Key) {
        let idle =
            |entry: &Entry| entry.hold.is_none() && entry.attempts.iter().all(|attempt| attempt.waiter.is_none());
        if self.entries.get(key).is_some_and(idle) {
            self.take(key);
        }
    }
}

/// Whether a program repeats the request id of the resume it obeyed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Echo {
    Yes,
    No,
}

/// Why the program did not obey.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Refused<'a> {
    pub(crate) code: RefusalCode,
    pub(crate) message: Option<&'a str>,
}

impl Entry {
    /// Takes the attempts of a request off the list; if it was the pending one, the pause is open again.
    fn settle(&mut self, request: &Arc<str>) -> Vec<Attempt> {
        self.reopen(request);
        self.attempts.extract_if(.., |attempt| attempt.request == *request).collect()
    }

    fn reopen(&mut self, request: &Arc<str>) {
        if let Some(hold) = &mut self.hold
            && hold.phase == Phase::Resolving(Arc::clone(request))
        {
            hold.phase = Phase::Open;
        }
    }
}

fn permitted(ask: &Ask, guarded: bool, house: House) -> Result<(), Outcome> {
    let (edit, pin) = (ask.input.is_some(), ask.pin.is_some());
    let wish = Wish { action: ask.action, edit, pin, guarded };
    level::resume(ask.by, wish, house.agents, house.reads).map_err(|denied| match denied {
        Denied::Forbidden => Outcome::of(Code::Forbidden),
        Denied::EditRefused => Outcome::of(Code::EditRefused),
    })?;
    let injected = ask.output.as_ref().filter(|_| ask.action == ResumeAction::Inject);
    if let Some(code) = ask.input.iter().chain(injected).find_map(|value| edit::copied(value.view())) {
        return Err(Outcome::of(Code::Content(code)));
    }
    if edit && house.edits == Edits::Refused {
        return Err(Outcome::of(Code::EditRefused));
    }
    Ok(())
}

fn forwarded(ask: &Ask, guarded: bool) -> Raw {
    let output = ask.output.clone().filter(|_| ask.action == ResumeAction::Inject);
    let pin = ask.pin.clone().filter(|_| guarded);
    let request_id = Some(ask.request.to_string());
    let Ask { key, action, input, .. } = ask;
    let pause_id = Arc::clone(&key.pause);
    let resume = ExecResume { pause_id, action: *action, output, input: input.clone(), request_id, pin };
    Control::Resume(resume).payload()
}

/// How long an unanswered attempt keeps others out.
const ANSWER: Duration = Duration::from_secs(5);
const ATTEMPTS: usize = 16;
const GHOSTS: usize = 1_000;
