//! One execution of a node: from its start to its end, with what it was given, gave and cost.

use std::sync::Arc;

use lockgate_protocol::json::Raw;

use super::duration::elapsed;
use super::read::Fields;

/// One execution of a node.
#[derive(Debug, Clone)]
pub struct Execution {
    /// Its own name.
    pub instance: Arc<str>,
    /// How it stands, holds aside.
    pub state: State,
    /// Epoch milliseconds.
    pub started: u64,
    /// Epoch milliseconds; none while it is open.
    pub finished: Option<u64>,
    /// What it was given.
    pub input: Option<Raw>,
    /// What it ran with instead, if somebody edited the input.
    pub edited: Option<Raw>,
    /// What it gave.
    pub output: Option<Raw>,
    /// Its latest failure; a later attempt may have gone well.
    pub error: Option<Failure>,
    /// Failed attempts.
    pub failures: u32,
    /// Tokens spent.
    pub usage: Option<Usage>,
    /// Somebody put the output there.
    pub injected: bool,
    /// The asker gave up.
    pub cancelled: bool,
    /// What a model wrote on the way.
    pub stream: Stream,
    /// The sender's own figures, once it is finished.
    duration_ms: Option<f64>,
    sent_held_ms: Option<f64>,
    held: Held,
}

/// How a node or an execution stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Only announced.
    Ghost,
    /// Going on.
    Running,
    /// Held at a gate.
    Paused,
    /// Ended well.
    Ok,
    /// Failed.
    Error,
    /// Was ended.
    Aborted,
    /// Going on when its run was over.
    CutOff,
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Its kind.
    pub name: String,
    /// What it says.
    pub message: String,
    /// Where.
    pub stack: Option<String>,
}

/// Tokens in and out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Read.
    pub input: u64,
    /// Written.
    pub output: u64,
}

/// What a model wrote, by channel; the newest part of it.
#[derive(Debug, Clone, Default)]
pub struct Stream {
    /// The answer.
    pub text: String,
    /// The thinking.
    pub reasoning: String,
    /// Arguments of tool calls.
    pub arguments: String,
    /// Pieces received.
    pub chunks: u64,
    /// When the first piece came.
    pub first: Option<u64>,
}

/// The union of the holds that an execution stood in.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    ms: f64,
    open: u32,
    since: u64,
}

impl Execution {
    pub(crate) fn new(instance: Arc<str>, started: u64, input: Option<Raw>) -> Self {
        Self {
            instance,
            state: State::Running,
            started,
            finished: None,
            input,
            edited: None,
            output: None,
            error: None,
            failures: 0,
            usage: None,
            injected: false,
            cancelled: false,
            stream: Stream::default(),
            duration_ms: None,
            sent_held_ms: None,
            held: Held::default(),
        }
    }

    /// Whether it has not ended yet.
    pub fn is_open(&self) -> bool {
        self.finished.is_none()
    }

    /// Milliseconds it was held; `now` counts for a hold that goes on.
    pub fn held_ms(&self, now: u64) -> f64 {
        self.sent_held_ms.unwrap_or_else(|| {
            let going_on = if self.held.open > 0 { elapsed(self.held.since, now) } else { 0.0 };
            self.held.ms + going_on
        })
    }

    /// Milliseconds it ran, held time aside; `now` counts while it is open.
    pub fn ran_ms(&self, now: u64) -> f64 {
        let whole = self.duration_ms.unwrap_or_else(|| elapsed(self.started, self.finished.unwrap_or(now)));
        (whole - self.held_ms(now)).max(0.0)
    }

    pub(crate) fn hold(&mut self, ts: u64) {
        if self.held.open == 0 {
            self.held.since = ts;
        }
        self.held.open += 1;
    }

    pub(crate) fn release(&mut self, ts: u64) {
        self.held.open = self.held.open.saturating_sub(1);
        if self.held.open == 0 {
            self.held.ms += elapsed(self.held.since, ts);
        }
    }

    pub(crate) fn fail(&mut self, failure: Failure) {
        self.error = Some(failure);
        self.failures += 1;
        self.state = State::Error;
    }

    /// Takes the failure back, to be put where it belongs.
    pub(crate) fn unfail(&mut self) -> Option<Failure> {
        self.failures = self.failures.saturating_sub(1);
        self.state = State::Running;
        self.error.take()
    }

    pub(crate) fn finish(&mut self, payload: Fields<'_>, state: State, ts: u64) {
        self.state = state;
        self.finished = Some(ts);
        self.output = payload.part("output").or(self.output.take());
        self.usage = payload.below("usage").and_then(Usage::read).or(self.usage);
        self.duration_ms = payload.size("durationMs");
        self.sent_held_ms = payload.size("heldMs");
        self.injected = payload.is_true("injected");
        self.cancelled = payload.is_true("cancelled");
    }
}

impl State {
    /// The word for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ghost => "ahead",
            Self::Running => "running",
            Self::Paused => "held",
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Aborted => "aborted",
            Self::CutOff => "cut off",
        }
    }
}

impl Failure {
    pub(crate) fn read(fields: Fields<'_>) -> Self {
        Self {
            name: fields.text("name").unwrap_or_default(),
            message: fields.text("message").unwrap_or_default(),
            stack: fields.text("stack").filter(|stack| !stack.is_empty()),
        }
    }
}

impl Usage {
    fn read(fields: Fields<'_>) -> Option<Self> {
        Some(Self { input: fields.count("inputTokens")?, output: fields.count("outputTokens")? })
    }
}

impl Stream {
    pub(crate) fn push(&mut self, payload: Fields<'_>, ts: u64) {
        for delta in payload.each("deltas") {
            let (Some(channel), Some(text)) = (delta.text("t"), delta.text("v")) else { continue };
            let buffer = match channel.as_str() {
                "text" => &mut self.text,
                "reasoning" => &mut self.reasoning,
                "tool-args" => &mut self.arguments,
                _ => continue,
            };
            self.chunks += 1;
            self.first.get_or_insert(ts);
            buffer.push_str(&text);
            keep_newest(buffer);
        }
    }
}

/// Drops the oldest half of a text that has become too long, at a character's edge.
fn keep_newest(text: &mut String) {
    if text.len() > LONGEST_STREAM {
        let cut = (text.len() / 2..text.len()).find(|at| text.is_char_boundary(*at));
        text.drain(..cut.unwrap_or(0));
    }
}

const LONGEST_STREAM: usize = 1 << 20;
