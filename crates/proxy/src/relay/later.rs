//! What is done at once, and what is left until bytes are on their way, so that neither side waits for it.

use std::mem;
use std::task::Poll;

use bytes::Bytes;

use super::{Relay, State};
use crate::exchange::{Action, Input, Left};
use crate::side::Side;

/// What is left to do.
#[expect(
    clippy::large_enum_variant,
    reason = "few wait, and their room is used again; a box would be an allocation each"
)]
pub(super) enum Later {
    /// A frame that has passed is told.
    Tell(Side, Bytes),
    Do(Action),
}

impl Relay<'_> {
    pub(super) fn perform(&mut self) {
        let mut actions = mem::take(&mut self.actions);
        self.started = None;
        // Bytes do not wait for what is told about them; a question at the gate does.
        let sends = actions.iter().any(|action| matches!(action, Action::Send { .. }));
        let hurries = sends && !actions.iter().any(|action| matches!(action, Action::Ask(_)));
        for action in actions.drain(..) {
            match action {
                Action::Emit(_) | Action::Finished(_) if hurries => self.later.push(Later::Do(action)),
                _ => self.act(action),
            }
        }
        // Its room is used again for the next step.
        if self.actions.is_empty() {
            self.actions = actions;
        }
    }

    pub(super) fn act(&mut self, action: Action) {
        match action {
            Action::Send { to, bytes } => self.sinks[to].push(bytes),
            Action::Emit(event) => self.emit(event),
            Action::Ask(ask) => self.ask(*ask),
            Action::Finished(finished) => self.gate.finished(&finished.0, &finished.1),
            Action::GaveUp(side) => {
                if let Some(stand) = self.lanes[side].stand() {
                    stand.ends.give_up();
                }
            }
            Action::Patience(age) => self.gave_up(age),
            Action::Client { name, version } => self.host = (name, version),
            Action::Say(say) => self.say(say),
            Action::Stop(why) => self.state = State::Stopped(why),
        }
    }

    /// Writes what goes at once. The rest is written while the loop waits; what is left for later does not wait for that.
    pub(super) fn write(&mut self) {
        for side in Side::BOTH {
            if self.sinks[side].is_busy()
                && let Poll::Ready(result) = self.sinks[side].drain_now()
            {
                self.wrote(side, &result);
            }
        }
    }

    /// Does what was left until bytes were on their way, in order.
    pub(super) fn catch_up(&mut self) {
        while !self.later.is_empty() {
            let mut later = mem::take(&mut self.later);
            for each in later.drain(..) {
                match each {
                    Later::Tell(from, line) => self.tell(from, line),
                    Later::Do(action) => self.act(action),
                }
            }
            // Its room is used again.
            if self.later.is_empty() {
                self.later = later;
                return;
            }
        }
    }

    fn tell(&mut self, from: Side, line: Bytes) {
        self.trace.line(&self.console, from, &line);
        self.take_step(Input::Passed { from, left: Left::Whole(line) });
        while let Some(decided) = self.lanes[from].decided.take() {
            self.take_step(Input::Decided { from, decided });
        }
    }
}
