//! What nothing can hold passes at once, and is looked at when it is on its way: a frame as it came, a long one part by part,
//! of which viewers are told a short copy.

use bytes::Bytes;
use lockgate_gate::Outcome;

use super::stand;
use super::{Relay, State};
use crate::exchange::{Ask, Decided, Input, Left};
use crate::rules::{Duplicates, Trouble};
use crate::side::Side;

impl Relay<'_> {
    /// Passes a part of a frame that is not complete, if there is one and it may; whether it did.
    pub(super) fn pass_part(&mut self, from: Side) -> bool {
        if !self.lanes[from].is_amid() && !self.may_pass() {
            return false;
        }
        let Some(part) = self.lanes[from].part() else { return false };
        self.lanes[from].passing.push(&part);
        self.sinks[from.other()].push(part);
        true
    }

    /// The end of a frame that passed.
    pub(super) fn pass_last(&mut self, from: Side, last: Bytes) {
        self.lanes[from].passing.push(&last);
        self.sinks[from.other()].push(last);
        if self.state == State::Raw {
            return self.lanes[from].passing.give_up();
        }
        let left = match self.lanes[from].passing.finish() {
            Some(copy) => {
                self.trace.line(&self.console, from, &copy);
                Left::Short(copy)
            }
            None => Left::Nothing,
        };
        self.step(Input::Passed { from, left });
    }

    /// A frame goes on as it came, and is looked at when it is on its way.
    pub(super) fn pass_whole(&mut self, from: Side, line: Bytes) {
        self.sinks[from.other()].push(line.clone());
        self.later.tell(from, line);
    }

    /// The gate only watches a frame that has passed.
    pub(super) fn ask_too_late(&mut self, ask: &Ask, started: Option<u64>) {
        let mut call = ask.call.clone();
        call.signal = Some(self.over.clone());
        let polled: std::task::Poll<Option<Outcome>> = stand::ask(&mut self.gate.pass(call, ask.at));
        drop(polled);
        self.lanes[ask.from].decided = Some(Decided { outcome: None, started, beat: None });
    }

    /// Whether nothing at all can happen to a frame, whatever it says.
    pub(super) fn may_pass(&self) -> bool {
        let lenient = self.trouble == Trouble::Pass && self.duplicates == Duplicates::Pass;
        self.state == State::Running && lenient && self.gate.is_open() && self.exchange.is_plain()
    }
}
