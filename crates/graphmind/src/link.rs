//! The life of the connection to a hub, as a pure step: what happened in, what to do out (wire §2.1).
//! Knows neither sockets nor clocks nor what stands behind a control.

mod backoff;

use std::time::Duration;

use bytes::Bytes;
use lockgate_protocol::debug::{Class, Control, HelloAck, Issue, PROTOCOL, Parsed, class, parse};

use backoff::Backoff;

/// How patient the link is with a hub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// From dialling until the socket is open.
    pub connect: Duration,
    /// From hello until its answer.
    pub handshake: Duration,
    /// Between attempts, unless a hub was there a moment ago.
    pub retry: Duration,
}

impl Timing {
    /// 300 ms, 1,000 ms and 10 s (wire §2.1).
    pub const STANDARD: Timing = Timing {
        connect: Duration::from_millis(300),
        handshake: Duration::from_millis(1_000),
        retry: Duration::from_secs(10),
    };
}

/// What happened to the link.
#[derive(Debug)]
pub(crate) enum Input {
    /// The session is used for the first time.
    Start,
    /// Somebody waits for a hub right now.
    Kick,
    /// The socket is open.
    Opened,
    /// It could not be opened.
    Failed(Failure),
    /// A frame came.
    Text(Bytes),
    /// The socket is gone.
    Gone(String),
    /// The time that was asked for is over.
    Timeout,
    /// The session ends.
    Dispose,
}

/// Why a socket could not be opened.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It may work the next time.
    Now(String),
    /// It never will.
    Ever(String),
}

/// What is to be done, in this order.
#[derive(Debug)]
pub(crate) enum Action {
    /// Open a socket.
    Dial,
    /// Give up the socket, or the attempt to open one.
    Hang,
    /// Say hello, with the token of the run that was claimed.
    Greet { resume: Option<String> },
    /// A hub is there: arm what it says, then replay.
    Attach(Box<HelloAck>),
    /// The hub is gone: forget what it armed, let go what it held.
    Detach,
    /// Do what a viewer wants.
    Obey(Control),
    /// Say [`Input::Timeout`] after this time; replaces an earlier wish.
    Wake(Duration),
    /// Forget that wish.
    Sleep,
    /// Tell the people who run the program.
    Warn { key: &'static str, text: String },
}

pub(crate) struct Link {
    state: State,
    timing: Timing,
    backoff: Backoff,
    /// Proof that this session owns its runs; kept for good once a hub gave one.
    token: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Never used.
    New,
    /// Waiting for the next attempt.
    Idle,
    Dialling,
    /// Hello is said, not answered.
    Greeting,
    Attached,
    /// No attempt can succeed.
    Hopeless,
    Disposed,
}

impl Link {
    pub(crate) fn new(timing: Timing) -> Link {
        Link { state: State::New, timing, backoff: Backoff::new(timing.retry), token: None }
    }

    pub(crate) fn step(&mut self, input: Input) -> Vec<Action> {
        match (input, self.state) {
            (_, State::Disposed) => Vec::new(),
            (Input::Dispose, _) => self.dispose(),
            (_, State::Hopeless) => Vec::new(),
            (Input::Start, State::New) | (Input::Kick, State::New | State::Idle) => self.dial(),
            (Input::Start | Input::Kick, _) => Vec::new(),
            (Input::Timeout, State::Idle) => self.dial(),
            (Input::Timeout, State::Dialling) => self.give_up("connect", late("did not open", self.timing.connect)),
            (Input::Timeout, State::Greeting) => {
                self.give_up("handshake", late("did not answer the hello", self.timing.handshake))
            }
            (Input::Timeout, State::New | State::Attached) => Vec::new(),
            (Input::Opened, State::Dialling) => self.greet(),
            (Input::Opened, _) => Vec::new(),
            (Input::Failed(Failure::Now(why)), State::Dialling) => self.give_up("connect", why),
            (Input::Failed(Failure::Ever(why)), State::Dialling) => self.despair(why),
            (Input::Failed(_), _) => Vec::new(),
            (Input::Text(text), State::Greeting | State::Attached) => self.hear(text),
            (Input::Text(_), State::New | State::Idle | State::Dialling) => Vec::new(),
            (Input::Gone(why), State::Dialling | State::Greeting | State::Attached) => self.give_up("lost", why),
            (Input::Gone(_), State::New | State::Idle) => Vec::new(),
        }
    }

    fn dial(&mut self) -> Vec<Action> {
        self.state = State::Dialling;
        vec![Action::Dial, Action::Wake(self.timing.connect)]
    }

    fn greet(&mut self) -> Vec<Action> {
        self.state = State::Greeting;
        vec![Action::Greet { resume: self.token.clone() }, Action::Wake(self.timing.handshake)]
    }

    /// Leaves whatever connection there is and tries again later.
    fn give_up(&mut self, key: &'static str, text: String) -> Vec<Action> {
        let mut actions = vec![Action::Warn { key, text }, Action::Hang];
        if self.state == State::Attached {
            self.backoff.rearm();
            actions.push(Action::Detach);
        }
        self.state = State::Idle;
        actions.push(Action::Wake(self.backoff.next()));
        actions
    }

    fn despair(&mut self, text: String) -> Vec<Action> {
        self.state = State::Hopeless;
        vec![Action::Warn { key: "hopeless", text }, Action::Hang, Action::Sleep]
    }

    fn dispose(&mut self) -> Vec<Action> {
        let was = std::mem::replace(&mut self.state, State::Disposed);
        let mut actions = vec![Action::Sleep, Action::Hang];
        if was == State::Attached {
            actions.push(Action::Detach);
        }
        actions
    }

    fn hear(&mut self, text: Bytes) -> Vec<Action> {
        let envelope = match parse(text) {
            Parsed::Ok(envelope) => envelope,
            Parsed::UnknownType(_) => return Vec::new(),
            Parsed::VersionMismatch { received } => return self.mismatch(received),
            Parsed::Invalid { kind, issues } => {
                let what = kind.unwrap_or_else(|| "a frame".to_owned());
                let why = issues.first().map(|issue| format!(": {issue}")).unwrap_or_default();
                return vec![Action::Warn {
                    key: "invalid",
                    text: format!("the hub sent {what} that is not valid{why}"),
                }];
            }
        };
        if let Some(ack) = HelloAck::read(&envelope) {
            return self.acknowledge(ack);
        }
        match Control::read(&envelope) {
            Ok(control) if self.state == State::Attached => vec![Action::Obey(control)],
            Err(issue) if self.state == State::Attached && class(&envelope.kind) == Some(Class::Control) => {
                vec![unreadable(&envelope.kind, &issue)]
            }
            Ok(_) | Err(_) => Vec::new(),
        }
    }

    fn acknowledge(&mut self, ack: HelloAck) -> Vec<Action> {
        if self.state != State::Greeting {
            return Vec::new();
        }
        if u64::try_from(ack.protocol) != Ok(PROTOCOL) {
            return self.mismatch(ack.protocol);
        }
        if let Some(token) = ack.session_token.as_ref().filter(|token| !token.is_empty()) {
            self.token = Some(token.clone());
        }
        self.state = State::Attached;
        let complaint = ack.left_out.as_ref().map(|issue| unreadable("a breakpoint", issue));
        [Action::Sleep, Action::Attach(Box::new(ack))].into_iter().chain(complaint).collect()
    }

    fn mismatch(&mut self, theirs: i64) -> Vec<Action> {
        self.give_up("version", format!("the hub speaks version {theirs} of the protocol, this program {PROTOCOL}"))
    }
}

/// A wish that cannot be honoured: whoever waits for its breakpoint is to know why nothing stops.
fn unreadable(what: &str, issue: &Issue) -> Action {
    Action::Warn { key: "breakpoint", text: format!("the hub sent {what} that cannot be read: {issue}") }
}

fn late(what: &str, after: Duration) -> String {
    format!("the hub {what} within {} ms", after.as_millis())
}

#[cfg(test)]
mod tests;
