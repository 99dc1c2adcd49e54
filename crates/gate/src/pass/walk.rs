//! One call on its way past the policies: who objects, who let it go, what was changed on the way.

use lockgate_protocol::json::Raw;
use tokio_util::sync::CancellationToken;

use super::Inner;
use crate::call::{Call, Changes, Outcome, Passed, Refused, Round, Stop};
use crate::hold::{Cause, Ended};
use crate::policy::{Ending, Guard, Hold, Policy, Release, Verdict};

/// A policy's objection, and whose it is.
pub(super) struct Objection {
    by: usize,
    verdict: Verdict,
}

impl Inner {
    /// Asks from the policy at `from` on, then the breakpoints, until one has something to say.
    pub(super) fn object(&self, call: &Call, at: Stop, (from, hits): (usize, Hits)) -> Option<Objection> {
        for (by, policy) in self.policies.iter().enumerate().skip(from) {
            match policy.judge(call, at) {
                Verdict::Pass => {}
                verdict => return Some(Objection { by, verdict }),
            }
        }
        let by = self.policies.len();
        if from > by || hits == Hits::Counted {
            return None;
        }
        match self.breakpoints.judge(call, at) {
            Verdict::Pass => None,
            verdict => Some(Objection { by, verdict }),
        }
    }
}

/// Whether the breakpoints were asked at this stop. Asked once more they would count it twice (wire §10.4, B09).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Hits {
    Due,
    Counted,
}

/// Everything known about a call that somebody objects to.
pub(super) struct Walk {
    call: Call,
    at: Stop,
    debugger: Debugger,
    hits: Hits,
    /// Guards somebody approved this call to.
    approved: Vec<usize>,
    changes: Option<Box<Changes>>,
}

#[derive(PartialEq, Eq)]
enum Debugger {
    MayHold,
    /// It has held this call at this stop.
    Done,
}

/// Where a call goes from an objection.
enum Settled {
    /// On to the policy at this place and those after it.
    Ask(usize),
    Again,
    Answer(Option<Raw>),
    Refuse(Refused),
}

impl Walk {
    pub(super) fn new(call: Call, at: Stop) -> Self {
        // A repeated round had its chance to be held on its first way in; its answer is a new one.
        let debugger = match (call.round, at) {
            (Round::Repeated, Stop::Before) => Debugger::Done,
            (Round::Repeated, Stop::After | Stop::Error) | (Round::New, _) => Debugger::MayHold,
        };
        Self { call, at, debugger, hits: Hits::Due, approved: Vec::new(), changes: None }
    }

    /// Settles one objection after the other until the call may go on or not.
    pub(super) async fn stand(mut self, gate: &Inner, first: Objection) -> Outcome {
        let mut objection = first;
        loop {
            let by = objection.by;
            if by == gate.policies.len() {
                self.hits = Hits::Counted;
            }
            let settled = match objection.verdict {
                Verdict::Pass => Settled::Ask(by + 1),
                Verdict::Amend(with) => self.amend(with, by),
                Verdict::Refuse(refused) => Settled::Refuse(refused),
                Verdict::Hold(hold) => self.hold(gate, &hold, by).await,
            };
            let from = match settled {
                Settled::Ask(from) => from,
                Settled::Again => return Outcome::Again(Passed::new(self.call, self.changes)),
                Settled::Answer(output) => return Outcome::Answer(output),
                Settled::Refuse(refused) => return Outcome::Refuse(refused),
            };
            match gate.object(&self.call, self.at, (from, self.hits)) {
                Some(next) => objection = next,
                None => return Outcome::Go(Passed::new(self.call, self.changes)),
            }
        }
    }

    async fn hold(&mut self, gate: &Inner, hold: &Hold, by: usize) -> Settled {
        let settled_before = match hold.guard {
            Some(_) => self.approved.contains(&by),
            None => self.debugger == Debugger::Done,
        };
        if settled_before {
            return Settled::Ask(by + 1);
        }
        if let Some(cause) = self.gone() {
            return missed(hold, cause, by);
        }
        let Some(waiter) = gate.room.open(&self.call, self.at, hold) else {
            return missed(hold, Cause::Left, by);
        };
        let ended = waiter.wait(&self.call, hold).await;
        match &hold.guard {
            _ if ended.cause == Cause::Asker => Settled::Refuse(Refused::Cancelled),
            Some(guard) => self.guarded(guard, &ended, by),
            None => self.debugged(gate, ended, by),
        }
    }

    /// Whether it makes no sense to stand (wire §2.6 step 6, §10.6).
    fn gone(&self) -> Option<Cause> {
        let is_gone = |token: &Option<CancellationToken>| token.as_ref().is_some_and(CancellationToken::is_cancelled);
        if is_gone(&self.call.cancel) {
            Some(Cause::Asker)
        } else {
            is_gone(&self.call.signal).then_some(Cause::Signal)
        }
    }

    fn guarded(&mut self, guard: &Guard, ended: &Ended, by: usize) -> Settled {
        match ended.release {
            Release::Continue => {
                self.approved.push(by);
                Settled::Ask(by + 1)
            }
            Release::Retry => Settled::Ask(by),
            Release::Inject(_) | Release::Abort => refusal(guard, ending(ended.cause)),
        }
    }

    fn debugged(&mut self, gate: &Inner, ended: Ended, by: usize) -> Settled {
        if let Some(edited) = ended.edited {
            self.call.input = Some(edited.clone());
            self.changes.get_or_insert_default().edited = Some(edited);
        }
        self.debugger = Debugger::Done;
        match (ended.release, self.at) {
            // The world moved while the call stood: guards look again.
            (Release::Continue | Release::Retry, Stop::Before) => Settled::Ask(0),
            (Release::Continue, Stop::After | Stop::Error) => Settled::Ask(by + 1),
            (Release::Retry, Stop::After | Stop::Error) => Settled::Again,
            (Release::Inject(output), _) => Settled::Answer(output),
            (Release::Abort, _) => {
                (gate.on_abort)(&self.call);
                Settled::Refuse(Refused::Aborted)
            }
        }
    }

    fn amend(&mut self, with: Raw, by: usize) -> Settled {
        match self.at {
            Stop::Before => self.call.input = Some(with.clone()),
            Stop::After | Stop::Error => self.call.output = Some(with.clone()),
        }
        self.changes.get_or_insert_default().amended = Some(with);
        Settled::Ask(by + 1)
    }
}

/// A hold that is not made.
fn missed(hold: &Hold, cause: Cause, by: usize) -> Settled {
    match &hold.guard {
        _ if cause == Cause::Asker => Settled::Refuse(Refused::Cancelled),
        None => Settled::Ask(by + 1),
        Some(guard) if cause == Cause::Left => refusal(guard, Ending::NobodyThere),
        Some(guard) => refusal(guard, ending(cause)),
    }
}

fn refusal(guard: &Guard, ending: Ending) -> Settled {
    Settled::Refuse(Refused::Policy(Box::new((guard.refusal)(ending))))
}

fn ending(cause: Cause) -> Ending {
    match cause {
        Cause::Viewer => Ending::Refused,
        Cause::Time => Ending::TimedOut,
        Cause::Left | Cause::Waiter => Ending::Left,
        Cause::Asker | Cause::Signal => Ending::Cancelled,
        Cause::Superseded | Cause::Policy => Ending::Superseded,
    }
}
