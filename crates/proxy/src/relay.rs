//! The one loop: waits for whatever happens next, lets `exchange` say what that means, and does it. A side that has something
//! at the gate is read no further, except to spot that it gives up.

mod condense;
mod lane;
mod later;
mod pass;
mod perform;
mod stand;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use lockgate_gate::{Gate, Release, Tap, When};
use lockgate_protocol::debug::{RunId, SdkInfo};
use lockgate_protocol::framing::Line;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::alive::{Heartbeat, Hosts};
use crate::console::Console;
use crate::end::{End, Sink};
use crate::exchange::{Action, Debugger, Exchange, Input, Moment};
use crate::rules::{Duplicates, FrameCap, Rules, Trouble};
use crate::side::{Both, Side};
use crate::story::{Command, SessionEnd};
use crate::trace::Trace;
use lane::{Lane, News, Next};
use later::Later;

/// What a relay needs to know.
pub(crate) struct Setup {
    pub(crate) run: RunId,
    pub(crate) tap: Tap,
    pub(crate) rules: Rules,
    pub(crate) cap: FrameCap,
    pub(crate) console: Console,
    pub(crate) trace: Trace,
    pub(crate) hold: HoldRules,
    pub(crate) hosts: Hosts,
    /// What happens outside the two streams.
    pub(crate) outside: mpsc::Receiver<Outside>,
    /// Whom to tell what happens inside. Full: it is dropped; there are only two things to tell, once each.
    pub(crate) told: mpsc::Sender<Told>,
}

/// What happens while a call stands.
#[derive(Debug, Clone)]
pub(crate) struct HoldRules {
    pub(crate) heartbeat: Heartbeat,
    /// How long its asker may wait; `None`: as long as the host is known to, less a margin.
    pub(crate) limit: Option<Duration>,
    /// What ends it then; `None`: nothing while somebody watches.
    pub(crate) at_limit: Option<Release>,
    /// Where a call can be released, for people.
    pub(crate) place: Arc<str>,
}

/// Something that happens outside the two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outside {
    /// The wait for the debugger is over.
    Ready,
    /// The server's process is gone: what is still in its pipe is all there will be.
    ServerGone,
}

/// Something that happened inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// The client hung up, and everything it said went on.
    ClientGone,
}

/// Carries frames between two ends, through a gate.
pub(crate) struct Relay<'g> {
    gate: &'g Gate,
    tap: Tap,
    run: RunId,
    exchange: Exchange,
    lanes: Both<Lane<'g>>,
    sinks: Both<Sink>,
    console: Console,
    trace: Trace,
    hold: HoldRules,
    hosts: Hosts,
    /// Name and version of the client.
    host: (String, String),
    trouble: Trouble,
    duplicates: Duplicates,
    began: Instant,
    state: State,
    outside: Option<mpsc::Receiver<Outside>>,
    told: mpsc::Sender<Told>,
    /// When the rest of a dead server's pipe is waited for no longer.
    rest: Option<Instant>,
    /// When the server has had time enough to take what a host that hung up had said.
    deaf: Option<Instant>,
    actions: Vec<Action>,
    /// What is done when nothing else is to be done.
    later: Later,
    /// When what is dealt with happened.
    when: When,
    /// What has passed stands no longer.
    over: CancellationToken,
    /// Number of the `node.started` emitted last in this step.
    started: Option<u64>,
    complained: Complained,
}

/// Where a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Reads, but looks at nothing yet: the debugger may still attach.
    Waiting,
    Running,
    /// Frames are no longer looked at.
    Raw,
    /// Nothing more comes from the server.
    Over,
    /// Ended by ourselves, for this reason.
    Stopped(&'static str),
}

/// What was said once and need not be said again.
#[derive(Debug, Default)]
struct Complained {
    failure: bool,
    client: bool,
    server: bool,
}

#[expect(
    clippy::large_enum_variant,
    reason = "moved once and never stored; a box would be an allocation for every frame"
)]
enum Event {
    Lane(Side, News),
    Wrote(Side, io::Result<()>),
    Outside(Option<Outside>),
    Time,
}

impl<'g> Relay<'g> {
    pub(crate) fn new(gate: &'g Gate, setup: Setup, client: End, server: End) -> Relay<'g> {
        let cap = setup.cap.bytes();
        Relay {
            gate,
            tap: setup.tap,
            exchange: Exchange::new(setup.run.clone(), setup.rules),
            run: setup.run,
            lanes: Both { client: Lane::new(client.reader, cap), server: Lane::new(server.reader, cap) },
            sinks: Both { client: Sink::new(client.writer), server: Sink::new(server.writer) },
            console: setup.console,
            trace: setup.trace,
            hold: setup.hold,
            hosts: setup.hosts,
            host: Default::default(),
            trouble: setup.rules.trouble,
            duplicates: setup.rules.duplicates,
            began: Instant::now(),
            state: State::Running,
            outside: Some(setup.outside),
            told: setup.told,
            rest: None,
            deaf: None,
            actions: Vec::new(),
            later: Later::default(),
            when: When::now(),
            over: cancelled(),
            started: None,
            complained: Complained::default(),
        }
    }

    /// The session begins for viewers.
    pub(crate) fn begin(&mut self, command: &Command, sdk: SdkInfo) {
        self.when = When::now();
        let now = self.moment();
        self.exchange.begin(command, sdk, now, &mut self.actions);
        self.perform();
    }

    /// Looks at nothing until [`Outside::Ready`] comes, or the server says no more.
    pub(crate) fn wait(&mut self) {
        self.state = State::Waiting;
    }

    /// Runs until nothing more comes from the server, or the session must not go on.
    pub(crate) async fn run(&mut self) -> State {
        loop {
            self.advance();
            self.write();
            // Attached, what is left is what the gate has to know before it judges the next call.
            if self.later.is_much() || !self.gate.is_open() {
                self.catch_up();
            }
            let busy = self.sinks.client.is_busy() || Side::BOTH.iter().any(|side| self.lanes[*side].stands());
            match self.state {
                State::Over if !busy => break,
                State::Stopped(_) => break,
                State::Waiting | State::Running | State::Raw | State::Over => {}
            }
            let event = self.next().await;
            self.handle(event);
        }
        self.catch_up();
        // A server that only stopped talking still has to see that nobody listens.
        self.sinks.server.close();
        self.state
    }

    /// What the session was, once it is over.
    pub(crate) fn end(&mut self, end: SessionEnd) {
        self.step(Input::Ended(end));
    }

    /// Whether the server ever said anything, and how many requests it owes the client.
    pub(crate) fn heard(&self) -> (Heard, usize) {
        (self.exchange.heard(), self.exchange.unanswered())
    }

    async fn next(&mut self) -> Event {
        let alarm = self.alarm();
        let Both { client: client_lane, server: server_lane } = &mut self.lanes;
        let Both { client: client_sink, server: server_sink } = &mut self.sinks;
        let client_reads = client_lane.reading(server_sink.waiting(), self.state);
        let server_reads = server_lane.reading(client_sink.waiting(), self.state);
        tokio::select! {
            biased;
            result = server_sink.drain(), if server_sink.is_busy() => Event::Wrote(Side::Server, result),
            result = client_sink.drain(), if client_sink.is_busy() => Event::Wrote(Side::Client, result),
            news = client_lane.news(client_reads) => Event::Lane(Side::Client, news),
            news = server_lane.news(server_reads) => Event::Lane(Side::Server, news),
            event = outside(self.outside.as_mut()), if self.outside.is_some() => Event::Outside(event),
            () = sleep_until(alarm.unwrap_or(self.began)), if alarm.is_some() => Event::Time,
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Lane(Side::Server, News::Bytes) if self.rest.is_some() => self.rest = Some(Instant::now() + REST),
            Event::Lane(_, News::Bytes) => {}
            Event::Lane(side, News::End) => self.hung_up(side),
            Event::Lane(side, News::Decided(outcome)) => self.decided(side, outcome),
            Event::Wrote(side, result) => self.wrote(side, &result),
            Event::Outside(Some(Outside::Ready)) => self.ready(),
            Event::Outside(Some(Outside::ServerGone)) => self.rest = Some(Instant::now() + REST),
            Event::Outside(None) => self.outside = None,
            Event::Time => self.time(),
        }
    }

    /// Takes whatever is there to be taken from both sides.
    fn advance(&mut self) {
        for side in Side::BOTH {
            while !matches!(self.state, State::Waiting | State::Stopped(_)) && self.advance_one(side) {}
        }
    }

    /// Whether something was taken.
    fn advance_one(&mut self, side: Side) -> bool {
        if let Some(decided) = self.lanes[side].decided.take() {
            self.step(Input::Decided { from: side, decided });
            return true;
        }
        if self.lanes[side].stands() {
            self.look_ahead(side);
            return false;
        }
        if self.sinks[side.other()].waiting() > lane::HIGH {
            return false;
        }
        if self.pass_part(side) {
            return true;
        }
        match self.lanes[side].next() {
            Next::Line(Line::Last(last)) => self.pass_last(side, last),
            Next::Line(Line::Frame(line)) if self.state == State::Raw => self.sinks[side.other()].push(line),
            Next::Line(Line::Frame(line)) if self.may_pass() => self.pass_whole(side, line),
            Next::Rest(rest) if self.lanes[side].passing.has_begun() => self.pass_last(side, rest),
            Next::Line(Line::Frame(line)) | Next::Rest(line) => self.frame(side, line),
            Next::Line(Line::Overflow(bytes)) => self.overflow(side, bytes),
            Next::Line(Line::Raw(bytes)) => self.sinks[side.other()].push(bytes),
            Next::End => self.stream_ended(side),
            Next::Nothing => return false,
        }
        true
    }

    fn now(&self) -> Moment {
        self.at(Instant::now())
    }

    /// The moment of what is dealt with.
    fn moment(&self) -> Moment {
        self.at(self.when.at)
    }

    fn at(&self, at: Instant) -> Moment {
        let debugger = if self.gate.is_attached() { Debugger::There } else { Debugger::Away };
        Moment { at: at.saturating_duration_since(self.began), debugger }
    }

    fn ready(&mut self) {
        if self.state == State::Waiting {
            self.state = State::Running;
        }
    }
}

/// Whether the server said anything that is a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    Nothing,
    Something,
}

fn cancelled() -> CancellationToken {
    let token = CancellationToken::new();
    token.cancel();
    token
}

async fn outside(receiver: Option<&mut mpsc::Receiver<Outside>>) -> Option<Outside> {
    match receiver {
        Some(receiver) => receiver.recv().await,
        None => std::future::pending().await,
    }
}

/// How long a server may take to take what a host said before it hung up.
const DEAF: Duration = Duration::from_secs(30);
/// How long the rest of a dead server's pipe is waited for: something it left behind may hold it open.
const REST: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests;
