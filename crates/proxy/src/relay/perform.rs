//! Does what the step says, and tells it what happened.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use std::{io, thread};

use bytes::Bytes;
use lockgate_gate::{Limit, Outcome, Release, When};
use lockgate_protocol::debug::Event as Told;
use lockgate_protocol::framing::Line;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::stand::{self, Ends, Stand};
use super::{DEAF, REST, Relay, State, lane};
use crate::alive::{self, Countdown, Duty, Evidence, HostLimit, Resets, Stands, Vigil};
use crate::console::{quoted, visible};
use crate::exchange::{Action, Ask, Asker, Debugger, Decided, Input, Passage, Patience, Say, Target};
use crate::rules::Trouble;
use crate::side::Side;

impl Relay<'_> {
    pub(super) fn frame(&mut self, from: Side, line: Bytes) {
        self.trace.line(&self.console, from, &line);
        self.lanes[from].current = Some(line.clone());
        self.step(Input::Frame { from, line });
        if !self.lanes[from].stands() && self.lanes[from].decided.is_none() {
            self.lanes[from].current = None;
        }
    }

    /// One step, after everything that was left for later.
    pub(super) fn step(&mut self, input: Input) {
        self.catch_up();
        self.when = When::now();
        self.take_step(input);
    }

    /// A step and everything it asks for. Should the step itself fail, the frame it was about passes unchanged.
    pub(super) fn take_step(&mut self, input: Input) {
        let now = self.moment();
        let about = match &input {
            Input::Frame { from, .. } | Input::Decided { from, .. } => Some(*from),
            Input::Passed { .. }
            | Input::Ahead { .. }
            | Input::Gone(_)
            | Input::Tick
            | Input::Unjudged(_)
            | Input::Ended(_) => None,
        };
        let (exchange, actions) = (&mut self.exchange, &mut self.actions);
        if catch_unwind(AssertUnwindSafe(|| exchange.step(input, now, actions))).is_err() {
            self.actions.clear();
            self.failed(about);
        }
        self.perform();
    }

    fn failed(&mut self, about: Option<Side>) {
        if self.trouble == Trouble::Refuse {
            return self.step(Input::Unjudged("a frame could not be judged"));
        }
        if !std::mem::replace(&mut self.complained.failure, true) {
            self.console.say("watching a frame failed, it passes unchanged");
        }
        if let Some(from) = about
            && let Some(line) = self.lanes[from].current.take()
        {
            self.actions.push(Action::Send { to: from.other(), bytes: line });
        }
    }

    pub(super) fn emit(&mut self, event: Told) {
        let starts = matches!(event, Told::NodeStarted(_));
        let seq = self.tap.emit_at(&self.run, event, self.when);
        if starts {
            self.started = seq;
        }
    }

    /// Brings a call to the gate. Usually nothing holds it.
    pub(super) fn ask(&mut self, mut ask: Ask) {
        let from = ask.from;
        let started = self.started.take();
        if started.is_some() {
            ask.call.started = started;
        }
        if ask.passage != Passage::Waits {
            return self.ask_too_late(&ask, started);
        }
        let now = self.now();
        let mut ends = Ends::default();
        if now.debugger == Debugger::There {
            ends = self.ends(&mut ask);
        }
        let Ask { call, at, asker, title, .. } = ask;
        let node = Arc::clone(&call.node);
        let mut pass = self.gate.pass(call, at);
        match stand::ask(&mut pass) {
            Poll::Ready(outcome) => {
                let outcome = self.judged(outcome);
                self.lanes[from].decided = Some(Decided { outcome, started, beat: None });
            }
            Poll::Pending => {
                let stands = Stands { name: &node.name, title: &title, at, asker };
                let vigil = Vigil::begin(stands, self.hold.heartbeat, now.at);
                self.lanes[from].set(Stand { pass, vigil, ends, started });
            }
        }
    }

    /// A gate that fails has judged nothing: the debugger lets pass, the guard does not.
    fn judged(&mut self, outcome: Option<Outcome>) -> Option<Outcome> {
        if outcome.is_none() {
            self.failed(None);
            self.perform();
        }
        outcome
    }

    /// What may end a hold of this call from our side.
    fn ends(&self, ask: &mut Ask) -> Ends {
        let cancel = CancellationToken::new();
        let release = CancellationToken::new();
        ask.call.cancel = Some(cancel.clone());
        ask.call.signal = Some(release.clone());
        let mut deadline = None;
        let hung_up = |side: Side| self.lanes[side].has_hung_up();
        // Nobody waits for what has not begun. An answer goes on: who closed its mouth may still listen.
        let asks_no_more = |asker: &Asker| {
            asker.patience == Patience::Over || (asker.progress.target == Target::Untouched && hung_up(asker.side))
        };
        if ask.asker.as_ref().is_some_and(asks_no_more) {
            cancel.cancel();
        } else if Side::BOTH.into_iter().any(hung_up) {
            release.cancel();
        }
        if let Some(at) = ask.asker.as_ref().and_then(|asker| self.deadline(asker)) {
            let (moves, seen) = watch::channel(Some(at));
            ask.call.limit = Some(Box::new(Limit { deadline: seen, action: self.hold.at_limit.clone() }));
            deadline = Some(moves);
        }
        Ends { cancel: Some(cancel), release: Some(release), deadline }
    }

    fn host_limit(&self) -> HostLimit {
        self.hosts.limit(&self.host.0, &self.host.1)
    }

    /// When a hold has to end so that its asker gets an answer in time. Only the host is known to be impatient.
    fn deadline(&self, asker: &Asker) -> Option<Instant> {
        if asker.side != Side::Client {
            return None;
        }
        let host = self.host_limit();
        let wait = self.hold.limit.unwrap_or_else(|| in_time(host.patience));
        let at = self.began + asker.since + wait;
        // A host that has waited longer than hosts usually do is not a usual one.
        let refuted = self.hold.limit.is_none() && host.evidence == Evidence::Usual && at <= Instant::now();
        (!refuted).then_some(at)
    }

    pub(super) fn decided(&mut self, side: Side, outcome: Option<Outcome>) {
        let Some(stand) = self.lanes[side].take_stand() else { return };
        let now = self.now().at;
        if let Some(line) = stand.vigil.ended(outcome.as_ref(), now) {
            self.console.say(&line);
        }
        self.outlasted(&stand, outcome.as_ref(), now);
        let outcome = self.judged(outcome);
        self.lanes[side].decided = Some(Decided { outcome, started: stand.started, beat: stand.vigil.reported() });
    }

    /// A host that heard progress and still waits has shown that progress counts.
    fn outlasted(&mut self, stand: &Stand<'_>, outcome: Option<&Outcome>, now: Duration) {
        let gave_up = matches!(outcome, Some(Outcome::Refuse(_)));
        if gave_up || !stand.vigil.has_beaten() {
            return;
        }
        let Some(waited) = stand.vigil.waited(now) else { return };
        if self.hosts.outlasted(&self.host.0, &self.host.1, waited) {
            self.save();
        }
    }

    pub(super) fn gave_up(&mut self, age: Duration) {
        if self.hosts.gave_up(&self.host.0, &self.host.1, age) {
            self.save();
        }
    }

    /// Apart from the loop: disks can be slow.
    fn save(&self) {
        let Some((path, text)) = self.hosts.file() else { return };
        let console = self.console.clone();
        thread::spawn(move || {
            if let Err(error) = alive::save(&path, &text) {
                console.say(&visible(&format!("cannot remember how long hosts wait: {error}")));
            }
        });
    }

    /// Lines behind what stands are only looked at.
    pub(super) fn look_ahead(&mut self, side: Side) {
        while let Some(line) = self.lanes[side].next_ahead() {
            if let Line::Frame(line) = line {
                let line = line.clone();
                self.step(Input::Ahead { from: side, line });
            }
        }
    }

    /// A frame is longer than may be held. The debugger stops looking, the guard stops the session.
    pub(super) fn overflow(&mut self, side: Side, bytes: Bytes) {
        if self.trouble == Trouble::Refuse {
            return self.step(Input::Unjudged("a frame is too long to be judged"));
        }
        self.console.say("a frame is longer than may be held; from now on bytes pass unseen, viewers see nothing more");
        self.state = State::Raw;
        self.lanes[side].passing.give_up();
        for lane in Side::BOTH {
            if let Some(stand) = self.lanes[lane].stand() {
                stand.ends.release();
            }
        }
        self.sinks[side.other()].push(bytes);
    }

    /// Nothing more is read from a side; what it said may still be on its way.
    pub(super) fn hung_up(&mut self, side: Side) {
        match side {
            Side::Client => {
                self.deaf = Some(Instant::now() + DEAF);
                self.step(Input::Gone(side));
            }
            Side::Server => {
                self.ready();
                if let Some(stand) = self.lanes.client.stand() {
                    stand.ends.release();
                }
            }
        }
    }

    /// Everything a side said is dealt with.
    pub(super) fn stream_ended(&mut self, side: Side) {
        self.sinks[side.other()].end();
        match side {
            Side::Client => self.client_gone(),
            Side::Server => {
                if !matches!(self.state, State::Stopped(_)) {
                    self.state = State::Over;
                }
            }
        }
    }

    pub(super) fn wrote(&mut self, side: Side, result: &io::Result<()>) {
        let Err(error) = result else { return };
        let told = match side {
            Side::Client => &mut self.complained.client,
            Side::Server => &mut self.complained.server,
        };
        if !std::mem::replace(told, true) {
            let who = match side {
                Side::Client => "the host",
                Side::Server => "the server",
            };
            self.console.say(&visible(&format!("{who} takes no more input: {error}")));
        }
    }

    /// When something is due.
    pub(super) fn alarm(&self) -> Option<Instant> {
        let stands = Side::BOTH.iter().filter_map(|side| self.lanes[*side].stand()?.vigil.next());
        let due = stands.chain(self.exchange.next_expiry()).min().map(|due| self.began + due);
        due.into_iter().chain(self.rest).chain(self.deaf).chain(self.later.due()).min()
    }

    pub(super) fn time(&mut self) {
        if self.later.due().is_some_and(|due| due <= Instant::now()) {
            self.catch_up();
        }
        let now = self.now().at;
        for side in Side::BOTH {
            self.attend(side, now);
        }
        if self.exchange.next_expiry().is_some_and(|due| due <= now) {
            self.step(Input::Tick);
        }
        if self.deaf.is_some_and(|deaf| deaf <= Instant::now()) {
            self.client_gone();
        }
        if self.rest.is_some_and(|rest| rest <= Instant::now()) {
            self.no_more();
        }
    }

    /// The host hung up: the server has to end too.
    fn client_gone(&mut self) {
        self.deaf = None;
        self.told.try_send(super::Told::ClientGone).ok();
    }

    /// Nothing has come from a dead server for a while. If we were to blame, it gets another while.
    fn no_more(&mut self) {
        if self.lanes.server.stands() || self.sinks.client.waiting() > lane::HIGH {
            self.rest = Some(Instant::now() + REST);
            return;
        }
        self.rest = None;
        self.ready();
        self.lanes.server.close();
    }

    /// Whatever is due for what stands from a side.
    fn attend(&mut self, side: Side, now: Duration) {
        let limit = self.host_limit();
        let raw = self.state == State::Raw;
        let Some(stand) = self.lanes[side].stand_mut() else { return };
        let asker = stand.vigil.asker_side();
        let action = self.hold.at_limit.as_ref().map(Release::action);
        let after = self.hold.limit.unwrap_or_else(|| in_time(limit.patience));
        let countdown = Countdown { host: &limit, limit: self.hold.limit, end: action.map(|action| (action, after)) };
        let shown = (asker == Some(Side::Client)).then_some(&countdown);
        let duties = stand.vigil.due(now, shown, &self.hold.place);
        for duty in duties {
            match duty {
                Duty::Notice(line) => self.console.say(&line),
                // In a stream that is no longer cut a message of ours could land amid another.
                Duty::Beat(_) if raw => {}
                Duty::Beat(beat) => {
                    let Some(asker) = asker else { continue };
                    self.sinks[asker].push(beat);
                    self.sinks[asker].push(Bytes::from_static(b"\n"));
                    self.prolong(side, &limit);
                }
            }
        }
    }

    /// Progress went out: where it is known to count, the host's clock begins anew.
    fn prolong(&self, side: Side, limit: &HostLimit) {
        if limit.resets != Resets::Yes || self.hold.limit.is_some() {
            return;
        }
        if let Some(moves) = self.lanes[side].stand().and_then(|stand| stand.ends.deadline.as_ref()) {
            moves.send_replace(Some(Instant::now() + in_time(limit.patience)));
        }
    }

    pub(super) fn say(&self, say: Say) {
        match say {
            Say::Noise(line) => {
                let line = line.trim_ascii_end();
                let shown = line.get(..QUOTED).unwrap_or(line);
                let more = if shown.len() < line.len() { "…" } else { "" };
                let text = quoted(&String::from_utf8_lossy(shown));
                self.console.say(&format!("the server wrote something that is no message to stdout: {text}{more}"));
            }
            Say::Unread(side) => {
                let who = match side {
                    Side::Client => "client",
                    Side::Server => "server",
                };
                self.console.say(&format!("a line from the {who} is nested too deeply to be read; it passes unseen"));
            }
            Say::Refused(_, why) => self.console.say(&visible(&why)),
            Say::NotAnObject(method) => {
                self.console
                    .say(&visible(&format!("what was injected for {method} is no object, the original went on")));
            }
            Say::Summary(text) => self.console.say(&format!("session over: {text}")),
        }
    }
}

/// A little before the asker's patience ends (hub §21.6); of one that is shorter than that little, half.
fn in_time(patience: Duration) -> Duration {
    patience.checked_sub(MARGIN).filter(|left| !left.is_zero()).unwrap_or(patience / 2)
}

const MARGIN: Duration = Duration::from_secs(5);
/// Bytes of a line of noise that are quoted.
const QUOTED: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hold_ends_five_seconds_before_the_host_gives_up() {
        for (patience, expected) in [(60.0, 55.0), (8.0, 3.0), (5.5, 0.5), (5.0, 2.5), (2.0, 1.0), (0.0, 0.0)] {
            assert_eq!(in_time(Duration::from_secs_f64(patience)), Duration::from_secs_f64(expected), "{patience}");
        }
    }
}
