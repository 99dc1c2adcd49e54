//! Programs that are attached, and the frames the hub sends them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use lockgate_protocol::debug::{Control, Envelope, Hello, HelloAck, Matcher, PROTOCOL, RunId, Watched};
use lockgate_protocol::json::Raw;

use super::Clock;
use crate::breakpoints::{Breakpoints, is_conditional};
use crate::claims::{Bond, Session};
use crate::ingest::frame::name;
use crate::outbox::{Outbox, PushError, Text, text};
use crate::pauses::{AppId, Echo, Owner};
use crate::store::Source;

/// One attached program.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) session: Session,
    pub(crate) name: Arc<str>,
    pub(crate) source: Source,
    pub(crate) echo: Echo,
    /// Runs it owns now.
    pub(crate) runs: HashSet<Arc<str>>,
    outbox: Arc<Outbox<Text>>,
    capabilities: Vec<String>,
    python: bool,
    /// Number of the next frame to it.
    seq: u64,
}

impl App {
    /// `fresh` becomes the session token of a program that has none yet.
    pub(crate) fn new(hello: Hello, fresh: String, outbox: Arc<Outbox<Text>>) -> App {
        let token = hello.resume_token.filter(|token| (1..=LONGEST_TOKEN).contains(&token.chars().count()));
        let capabilities: Vec<String> =
            hello.capabilities.into_iter().filter(|word| word.len() <= LONGEST_WORD).take(MOST_WORDS).collect();
        let can = |word: &str| capabilities.iter().any(|capability| capability == word);
        let bond = if can("run-claim") { Bond::Strict } else { Bond::Loose };
        let echo = if can("request-id") || can("edit-input") { Echo::Yes } else { Echo::No };
        App {
            session: Session { token: token.unwrap_or(fresh).into(), bond },
            name: name(hello.app.as_deref()),
            source: Source::parse(hello.source.as_deref().unwrap_or_default()),
            echo,
            runs: HashSet::new(),
            outbox,
            python: hello.sdk.is_some_and(|sdk| sdk.name == "python"),
            capabilities,
            seq: 0,
        }
    }

    pub(crate) fn can(&self, word: &str) -> bool {
        self.capabilities.iter().any(|capability| capability == word)
    }

    pub(crate) fn owner(&self, id: AppId) -> Owner {
        // The published Python SDK closes a link that brings it more than a mebibyte.
        let longest = if self.python { PYTHON_LONGEST } else { usize::MAX };
        Owner { app: id, edits: self.can("edit-input"), longest }
    }

    /// Tells it the debug state, what this hub can do, and whether anybody looks on.
    pub(crate) fn greet(
        &mut self,
        breakpoints: &Breakpoints,
        hub_capabilities: &[String],
        watched: Watched,
        clock: Clock,
    ) -> Result<(), PushError> {
        let fits = |matcher: &&Matcher| self.can("conditions") || !is_conditional(matcher);
        let ack = HelloAck {
            protocol: i64::try_from(PROTOCOL).unwrap_or(1),
            viewer: concat!("lockgate/", env!("CARGO_PKG_VERSION")).to_owned(),
            capabilities: self.capabilities.clone(),
            session_token: Some(self.session.token.to_string()),
            hub_capabilities: Some(hub_capabilities.to_vec()),
            breakpoints: breakpoints.matchers().filter(fits).cloned().collect(),
            left_out: None,
            mode: breakpoints.mode(),
            watched: Some(watched == Watched::Yes),
        };
        self.send("hello.ack", ack.payload(), clock)
    }

    /// Tells a control to a program that understands it.
    pub(crate) fn tell(&mut self, control: &Control, clock: Clock) -> Result<(), PushError> {
        let understood = match control {
            Control::BreakpointSet(matcher) | Control::BreakpointClear(matcher) => {
                self.can("conditions") || !is_conditional(matcher)
            }
            Control::WatchSet(_) => self.can("watch"),
            Control::Resume(_) | Control::ModeSet(_) => true,
        };
        if !understood {
            return Ok(());
        }
        self.send(control.kind(), control.payload(), clock)
    }

    pub(crate) fn resume(&mut self, payload: Raw, clock: Clock) -> Result<(), PushError> {
        self.send("exec.resume", payload, clock)
    }

    pub(crate) fn outbox(&self) -> &Outbox<Text> {
        &self.outbox
    }

    fn send(&mut self, kind: &'static str, payload: Raw, clock: Clock) -> Result<(), PushError> {
        let (seq, ts) = (self.seq, clock.wall_ms);
        let envelope =
            Envelope { seq, ts, run: RunId::none(), kind: kind.into(), payload: Some(payload), extra: Vec::new() };
        let mut out = Vec::new();
        envelope.write(&mut out);
        self.outbox.push(text(out))?;
        self.seq += 1;
        Ok(())
    }
}

/// All of them.
pub(crate) type Apps = HashMap<AppId, App>;

const LONGEST_TOKEN: usize = 128;
const LONGEST_WORD: usize = 128;
const MOST_WORDS: usize = 64;
const PYTHON_LONGEST: usize = 1_000_000;
