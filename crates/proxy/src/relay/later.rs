//! What is done at once, and what is left until neither side has anything to say, so that neither waits for it.

use std::mem;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use lockgate_gate::When;
use tokio::time::Instant;

use super::{Relay, State};
use crate::exchange::{Action, Input, Left as Passed};
use crate::side::Side;

/// What is left to do, in order, with the moment it is about.
#[derive(Default)]
pub(super) struct Later {
    queue: Vec<(When, Left)>,
    bytes: usize,
}

#[expect(
    clippy::large_enum_variant,
    reason = "few wait, and their room is used again; a box would be an allocation each"
)]
enum Left {
    /// A frame that has passed is told.
    Tell(Side, Bytes),
    Do(Action),
}

impl Later {
    pub(super) fn tell(&mut self, from: Side, line: Bytes) {
        self.bytes += line.len();
        self.queue.push((When::now(), Left::Tell(from, line)));
    }

    /// When it has to be done.
    pub(super) fn due(&self) -> Option<Instant> {
        self.queue.first().map(|(when, _)| when.at + LAG)
    }

    /// Whether it has to be done now.
    pub(super) fn is_much(&self) -> bool {
        self.queue.len() >= MOST || self.bytes >= MOST_BYTES
    }

    fn take(&mut self) -> Vec<(When, Left)> {
        self.bytes = 0;
        mem::take(&mut self.queue)
    }
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
                Action::Emit(_) | Action::Finished(_) if hurries => {
                    self.later.queue.push((self.when, Left::Do(action)));
                }
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

    /// Writes what goes at once. The rest is written while the loop waits.
    pub(super) fn write(&mut self) {
        for side in Side::BOTH {
            if self.sinks[side].is_busy()
                && let Poll::Ready(result) = self.sinks[side].drain_now()
            {
                self.wrote(side, &result);
            }
        }
    }

    /// Does what was left, in order.
    pub(super) fn catch_up(&mut self) {
        while !self.later.queue.is_empty() {
            let mut queue = self.later.take();
            for (when, left) in queue.drain(..) {
                self.when = when;
                match left {
                    Left::Tell(from, line) => self.tell(from, line),
                    Left::Do(action) => self.act(action),
                }
            }
            // Its room is used again.
            if self.later.queue.is_empty() {
                self.later.queue = queue;
                return;
            }
        }
    }

    fn tell(&mut self, from: Side, line: Bytes) {
        self.trace.line(&self.console, from, &line);
        self.take_step(Input::Passed { from, left: Passed::Whole(line) });
        while let Some(decided) = self.lanes[from].decided.take() {
            self.take_step(Input::Decided { from, decided });
        }
    }
}

/// How long something may be left while the two sides are silent: an answer that comes soon does not wait for what is told
/// about its question.
const LAG: Duration = Duration::from_millis(5);
/// So much is left at most while they are not: enough that what is told is told from warm caches, and so little that the
/// call which waits for it hardly notices.
const MOST: usize = 8;
const MOST_BYTES: usize = 256 << 10;
