//! The loop guard: holds a call that repeats itself, goes round in laps, or keeps failing alike (wire §5.4, §5.5).
//! A policy: it is told of starts, failures and ends by being asked about calls, and never looks at events.

mod history;
mod print;
mod runs;
mod same;
mod sketch;
mod streak;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lockgate_gate::{Alone, Call, End, Hold, Policy, Reason, Round, Stop, Verdict};
use lockgate_protocol::debug::{ErrorInfo, LoopInfo, NodeKind, PauseReason, RunStatus};

use crate::environment::OnLoop;
use crate::presence::Line;
use crate::smart::{Failed, says_failed};
use crate::warn::Warnings;
use history::{Ended, Entry, Starting};
use print::Print;
use runs::{KindState, Open, Runs};
use streak::Streak;

/// What the loop guard watches and what it does about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoopOptions {
    /// Identical calls in a row that are one too many; 0 switches all of it off.
    pub(crate) threshold: u64,
    /// Hold, say so, or do not look.
    pub(crate) on_loop: OnLoop,
    /// Kinds of nodes that are watched.
    pub(crate) kinds: Vec<NodeKind>,
    /// Members that make no difference between two inputs, at any depth.
    pub(crate) ignore_keys: Vec<String>,
    /// Nodes, by id or name, that may repeat themselves.
    pub(crate) allow_nodes: Vec<String>,
}

/// The policy.
pub(crate) struct LoopGuard {
    options: LoopOptions,
    line: Line,
    warnings: Warnings,
    runs: Mutex<Runs>,
}

impl LoopGuard {
    pub(crate) fn new(options: LoopOptions, line: Line, warnings: Warnings) -> LoopGuard {
        LoopGuard { options, line, warnings, runs: Mutex::new(Runs::default()) }
    }
}

impl Policy for LoopGuard {
    fn judge(&self, call: &Call, at: Stop) -> Verdict {
        if !self.watches(call) {
            return Verdict::Pass;
        }
        match at {
            Stop::Before => self.starting(call),
            Stop::After => Verdict::Pass,
            Stop::Error => {
                self.failed(call);
                Verdict::Pass
            }
        }
    }

    fn alone(&self) -> Alone {
        Alone::OnlyWatches
    }

    fn finished(&self, call: &Call, end: &End) {
        if !self.watches(call) {
            return;
        }
        let (open, room) = {
            let mut runs = self.lock();
            let share = runs.share();
            let run = runs.of(&call.run);
            (call.started.and_then(|started| run.close(started)), run.kind(call.node.kind).history.room(share))
        };
        let node = Arc::clone(&call.node.id);
        let entry = match open {
            Some(open) => {
                Entry { node, ended: self.ended(call, end, open.failure), input: open.input, started: open.started }
            }
            None => {
                self.missed(call);
                Entry { node, ended: Ended::Unknown, input: Print::never(), started: 0 }
            }
        };
        // Digests of what is too large to keep are made here, where no other call waits for them.
        let entry = entry.settled(room);
        self.lock().of(&call.run).kind(call.node.kind).history.push(entry, &self.ignored());
    }
}

impl LoopGuard {
    fn watches(&self, call: &Call) -> bool {
        let options = &self.options;
        let allowed = |name: &String| **name == *call.node.id || **name == *call.node.name;
        options.threshold > 0
            && options.on_loop != OnLoop::Off
            && options.kinds.contains(&call.node.kind)
            && !options.allow_nodes.iter().any(allowed)
    }

    fn ignored(&self) -> Vec<&str> {
        self.options.ignore_keys.iter().map(String::as_str).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn starting(&self, call: &Call) -> Verdict {
        let mut runs = self.lock();
        let run = runs.of(&call.run);
        let Some(started) = call.started else {
            // Nobody saw it start, so nobody could follow a loop through it.
            run.kind(call.node.kind).streak = None;
            return Verdict::Pass;
        };
        // A retry, a second look at the same stop and a further round of an exchange are no new starts.
        if !run.is_open(started) && call.round == Round::New {
            let input = Print::of(call.input.as_ref(), &self.ignored());
            self.count(run.kind(call.node.kind), call, (started, input.clone()));
            run.open(Open::new(started, input));
        }
        let Some((open, state)) = run.at(started, call.node.kind) else { return Verdict::Pass };
        match self.consult(state, open, call) {
            Some(found) => {
                Verdict::Hold(Hold::debugger(Reason { looped: Some(found), ..Reason::plain(PauseReason::Loop) }))
            }
            None => Verdict::Pass,
        }
    }

    /// A call that ended and never came here: another policy refused it. It started all the same, between the others.
    fn missed(&self, call: &Call) {
        let Some(started) = call.started else { return };
        let input = Print::of(call.input.as_ref(), &self.ignored());
        let mut runs = self.lock();
        let state = runs.of(&call.run).kind(call.node.kind);
        if state.streak.as_ref().is_none_or(|streak| streak.is_before(started)) {
            self.count(state, call, (started, input));
        }
    }

    fn count(&self, state: &mut KindState, call: &Call, (started, input): (u64, Print)) {
        let node = &call.node.id;
        let followed = match &mut state.streak {
            Some(streak) => streak.follow(node, input, started, &self.ignored()),
            None => Err(input),
        };
        if let Err(input) = followed {
            state.streak = Some(Streak::new(node, input, started));
        }
    }

    /// The loop to hold `call` for; each start is held once at most.
    fn consult(&self, state: &mut KindState, open: &mut Open, call: &Call) -> Option<LoopInfo> {
        let ignored = &self.ignored();
        let holds = self.options.on_loop == OnLoop::Pause && self.line.is_attached();
        let due =
            state.streak.as_mut().filter(|streak| streak.is_due(&call.node.id, open.started, self.options.threshold));
        if let Some(streak) = due {
            if holds {
                open.tripped = true;
                return Some(streak.trip(call.input.as_ref(), ignored));
            }
            if !std::mem::replace(&mut streak.warned, true) {
                let (name, count) = (&call.node.name, streak.count);
                let subject = streak.subject(call.input.as_ref(), ignored);
                self.warnings.warn_about("loop", subject, || {
                    format!("{name} was called {count} times in a row with the same input")
                });
            }
            return None;
        }
        if !holds || std::mem::replace(&mut open.tripped, true) {
            return None;
        }
        let starting = Starting { node: &call.node.id, input: &open.input, started: open.started };
        state.history.look(&starting, ignored)
    }

    fn failed(&self, call: &Call) {
        let (Some(started), Some(error)) = (call.started, &call.error) else { return };
        let failure = noted(error);
        let mut runs = self.lock();
        if let Some(open) = runs.of(&call.run).find(started) {
            open.failure = Some(failure);
        }
    }

    /// What an end says about the call, for the search for loops.
    fn ended(&self, call: &Call, end: &End, noted_before: Option<Print>) -> Ended {
        let (output, ignored) = (end.output.as_ref(), &self.ignored()[..]);
        let shape = match call.node.kind {
            NodeKind::Tool => output.and_then(|output| says_failed(output.view())),
            _ => None,
        };
        match (end.status, shape) {
            (RunStatus::Aborted, _) => Ended::Unknown,
            (RunStatus::Ok, None) => Ended::Well(Print::result(output, ignored)),
            (RunStatus::Ok, Some(_)) => Ended::Failed(Print::result(output, ignored)),
            (RunStatus::Error, Some(Failed::IsError | Failed::Success | Failed::ExitCode(_))) => {
                Ended::Failed(Print::result(output, ignored))
            }
            (RunStatus::Error, shape) => match (noted_before.or_else(|| end.error.as_ref().map(noted)), shape) {
                (Some(noted), _) => Ended::Failed(noted),
                (None, Some(_)) => Ended::Failed(Print::result(output, ignored)),
                (None, None) => Ended::Unknown,
            },
        }
    }
}

fn noted(error: &ErrorInfo) -> Print {
    Print::thrown(&collapsed(&error.name), &collapsed(&error.message))
}

/// White space collapsed and cut short: what varies in a failure usually stands further back.
fn collapsed(text: &str) -> String {
    let scanned = text.get(..text.floor_char_boundary(SCANNED)).unwrap_or(text);
    let mut out = String::new();
    for word in scanned.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.chars().take(QUOTED));
        if out.len() >= QUOTED * 4 {
            break;
        }
    }
    out.chars().take(QUOTED).collect()
}

/// Characters of a name or message that count.
const QUOTED: usize = 512;

/// Bytes of a name or message that are looked at.
const SCANNED: usize = 1 << 20;

#[cfg(test)]
mod tests;
