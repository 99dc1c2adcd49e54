//! One call on its way past the policies: who was asked, who let it go, what was changed on the way.

use lockgate_protocol::json::Raw;

use super::Inner;
use crate::call::{Call, Outcome, Passed, Refused, Stop};
use crate::hold::{Cause, Ended};
use crate::policy::{Ending, Guard, Hold, Policy, Release, Verdict};

pub(super) struct Walk {
    call: Call,
    at: Stop,
    /// Whom to ask next; one past the policies are the breakpoints.
    next: usize,
    debugger: Debugger,
    /// Guards somebody approved this call to.
    approved: Vec<usize>,
    edited: Option<Raw>,
    amended: Option<Raw>,
}

#[derive(PartialEq, Eq)]
enum Debugger {
    MayHold,
    /// It has held this call at this stop.
    Done,
}

/// What the policies say, taken together.
pub(super) enum Step {
    Go,
    Refuse(Refused),
    Hold(Box<Holding>),
}

/// A hold, and who wants it.
pub(super) struct Holding {
    by: usize,
    hold: Hold,
}

impl Walk {
    pub(super) fn new(call: Call, at: Stop) -> Self {
        Self { call, at, next: 0, debugger: Debugger::MayHold, approved: Vec::new(), edited: None, amended: None }
    }

    pub(super) fn passed(self) -> Passed<Call> {
        Passed::new(self.call, self.edited, self.amended)
    }

    /// Asks on until somebody objects.
    pub(super) fn next(&mut self, gate: &Inner) -> Step {
        while let Some(policy) = gate.policies.get(self.next) {
            let by = self.next;
            self.next += 1;
            if self.approved.contains(&by) {
                continue;
            }
            match policy.judge(&self.call, self.at) {
                Verdict::Pass => {}
                Verdict::Amend(with) => self.amend(with),
                Verdict::Refuse(refused) => return Step::Refuse(refused),
                Verdict::Hold(hold) if hold.guard.is_some() || self.debugger == Debugger::MayHold => {
                    return Step::Hold(Box::new(Holding { by, hold }));
                }
                Verdict::Hold(_) => {}
            }
        }
        if self.next > gate.policies.len() || self.debugger == Debugger::Done {
            return Step::Go;
        }
        let by = self.next;
        self.next += 1;
        match gate.breakpoints.judge(&self.call, self.at) {
            Verdict::Hold(hold) => Step::Hold(Box::new(Holding { by, hold })),
            Verdict::Pass | Verdict::Amend(_) | Verdict::Refuse(_) => Step::Go,
        }
    }

    /// Lets the call stand as often as it takes.
    pub(super) async fn stand(mut self, gate: &Inner, first: Box<Holding>) -> Outcome {
        let mut holding = first;
        loop {
            let settled = match self.gone() {
                Some(cause) => self.missed(&holding, cause),
                None => match gate.room.open(&self.call, self.at, &holding.hold) {
                    Some(waiter) => {
                        let ended = waiter.wait(&self.call, &holding.hold).await;
                        self.settle(gate, &holding, ended)
                    }
                    None => self.missed(&holding, Cause::Left),
                },
            };
            match settled {
                Settled::Asking => {}
                Settled::Again => return Outcome::Again(self.passed()),
                Settled::Answer(output) => return Outcome::Answer(output),
                Settled::Refuse(refused) => return Outcome::Refuse(refused),
            }
            match self.next(gate) {
                Step::Go => return Outcome::Go(self.passed()),
                Step::Refuse(refused) => return Outcome::Refuse(refused),
                Step::Hold(next) => holding = next,
            }
        }
    }

    /// Whether it makes no sense to stand (wire §2.6 step 6, §10.6).
    fn gone(&self) -> Option<Cause> {
        let is_gone = |token: &Option<tokio_util::sync::CancellationToken>| {
            token.as_ref().is_some_and(tokio_util::sync::CancellationToken::is_cancelled)
        };
        if is_gone(&self.call.cancel) {
            Some(Cause::Asker)
        } else {
            is_gone(&self.call.signal).then_some(Cause::Signal)
        }
    }

    /// A hold that is not made.
    fn missed(&self, holding: &Holding, cause: Cause) -> Settled {
        if cause == Cause::Asker {
            return Settled::Refuse(Refused::Cancelled);
        }
        match &holding.hold.guard {
            None => Settled::Asking,
            Some(guard) if cause == Cause::Left => refusal(guard, Ending::NobodyThere),
            Some(guard) => refusal(guard, ending(cause)),
        }
    }

    fn settle(&mut self, gate: &Inner, holding: &Holding, ended: Ended) -> Settled {
        if ended.cause == Cause::Asker {
            return Settled::Refuse(Refused::Cancelled);
        }
        match &holding.hold.guard {
            Some(guard) => self.guarded(guard, holding.by, &ended),
            None => self.debugged(gate, ended),
        }
    }

    fn guarded(&mut self, guard: &Guard, by: usize, ended: &Ended) -> Settled {
        match ended.release {
            Release::Continue => self.approved.push(by),
            Release::Retry => self.next = by,
            Release::Inject(_) | Release::Abort => return refusal(guard, ending(ended.cause)),
        }
        Settled::Asking
    }

    fn debugged(&mut self, gate: &Inner, ended: Ended) -> Settled {
        if let Some(edited) = ended.edited {
            self.call.input = Some(edited.clone());
            self.edited = Some(edited);
        }
        match (ended.release, self.at) {
            (Release::Continue | Release::Retry, Stop::Before) => {
                // The world moved while the call stood; guards look again, the debugger does not hold twice.
                self.next = 0;
                self.debugger = Debugger::Done;
                Settled::Asking
            }
            (Release::Continue, Stop::After | Stop::Error) => {
                self.debugger = Debugger::Done;
                Settled::Asking
            }
            (Release::Retry, Stop::After | Stop::Error) => Settled::Again,
            (Release::Inject(output), _) => Settled::Answer(output),
            (Release::Abort, _) => {
                (gate.on_abort)(&self.call);
                Settled::Refuse(Refused::Aborted)
            }
        }
    }

    fn amend(&mut self, with: Raw) {
        match self.at {
            Stop::Before => self.call.input = Some(with.clone()),
            Stop::After | Stop::Error => self.call.output = Some(with.clone()),
        }
        self.amended = Some(with);
    }
}

enum Settled {
    /// The policies that are left may still object.
    Asking,
    Again,
    Answer(Option<Raw>),
    Refuse(Refused),
}

fn refusal(guard: &Guard, ending: Ending) -> Settled {
    let refusal = (guard.refusal)(ending);
    Settled::Refuse(Refused::Policy(Box::new(refusal)))
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
