//! The shapes that several messages share (wire §1.4), as their senders build them.

use std::borrow::Cow;
use std::sync::Arc;

use super::parse::Issue;
use super::words::{LoopKind, NodeKind, PausePoint, ResumeAction, SmartRule, TokenChannel, Why};
use crate::json::{Kind, ObjectWriter, Raw, View, canonical, write_str};

/// Loose fields, written as given; nothing checks that their names are new.
pub type Extra = Vec<(&'static str, Raw)>;

/// Name and version of a program or library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SdkInfo {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// An error as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorInfo {
    /// Its kind, e.g. a type name.
    pub name: String,
    /// What it says.
    pub message: String,
    /// Where it happened.
    pub stack: Option<String>,
}

/// Tokens of a model call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TokenUsage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Whether the input count includes cached tokens.
    pub inclusive: Option<bool>,
    /// Tokens read from a cache.
    pub cache_read_tokens: Option<u64>,
    /// Tokens written to a cache.
    pub cache_write_tokens: Option<u64>,
    /// Tokens spent on reasoning.
    pub reasoning_tokens: Option<u64>,
}

/// A piece of a model's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenDelta {
    /// The stream it belongs to.
    pub channel: TokenChannel,
    /// The text; empty when redacted.
    pub text: String,
    /// UTF-16 length of a text that was redacted.
    pub chars: Option<u64>,
}

/// Announces a node before it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphNodeHint {
    /// Its id.
    pub node_id: Arc<str>,
    /// Its kind.
    pub kind: NodeKind,
    /// Its name.
    pub name: Arc<str>,
    /// The node it belongs to.
    pub parent_id: Option<Arc<str>>,
}

/// What the loop guard saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopInfo {
    /// How often.
    pub repeats: u64,
    /// Seq of the first start counted.
    pub first_seq: u64,
    /// Seq of the last start counted.
    pub last_seq: u64,
    /// 32 lower-case hex digits, or the redaction placeholder.
    pub fingerprint: String,
    /// The pattern; left out for plain repeats.
    pub kind: Option<LoopKind>,
    /// Calls in a lap.
    pub period: Option<u64>,
    /// Equal laps.
    pub laps: Option<u64>,
}

/// What a smart hold noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Smart {
    /// The rule.
    pub rule: SmartRule,
    /// At most 200 characters that never quote a value.
    pub detail: Option<String>,
}

/// Which policy of the guard holds a call (wire §10.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardHold {
    /// `drift` or `lock`; an open set.
    pub policy: Cow<'static, str>,
    /// The word its refusal would carry.
    pub cause: Cow<'static, str>,
    /// At most 200 characters that never quote a value.
    pub detail: Option<String>,
}

/// When and how a hold ends by itself (wire §10.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Until {
    /// Epoch milliseconds; none while the clock stands still.
    pub at: Option<u64>,
    /// What happens then.
    pub action: ResumeAction,
    /// Which clock it is.
    pub why: Why,
}

/// Frames of a run that were lost before they could be sent (wire §2.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// How many.
    pub dropped_count: u64,
    /// The lowest lost seq.
    pub from_seq: u64,
    /// The highest lost seq.
    pub to_seq: u64,
}

/// What was hidden in a message (wire §4.2).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Redaction {
    /// How many values.
    pub count: u64,
    /// The fields they stood in.
    pub keys: Vec<Cow<'static, str>>,
    /// Set when the message could not be inspected and was replaced.
    pub failed: bool,
}

/// Says at which calls to stop (wire §1.4, §10.4). Absent and default are different: matchers are told apart by their fields.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Matcher {
    /// Only nodes of this kind.
    pub kind: Option<NodeKind>,
    /// Only nodes of exactly this name.
    pub name: Option<String>,
    /// Where; absent means before.
    pub point: Option<PausePoint>,
    /// A JSON Logic rule over the call; only checked to be JSON here.
    pub when: Option<Raw>,
    /// So many matching calls pass first.
    pub after: Option<u64>,
}

impl Matcher {
    /// Identity for set and clear: the canonical JSON of its fields (wire §10.4).
    pub fn key(&self) -> String {
        canonical(self.to_raw().view(), &[])
    }

    /// Its JSON.
    pub fn to_raw(&self) -> Raw {
        Raw::object(|w| self.write(w))
    }

    /// Reads a matcher, unknown fields aside.
    ///
    /// # Errors
    /// When a field we know has a value it cannot have.
    pub fn read(view: View<'_>) -> Result<Matcher, Issue> {
        if view.kind() != Kind::Object {
            return Err(Issue::new("", "expected object"));
        }
        let wrong = |path: &str| Issue::new(path, "unknown value");
        let mut matcher = Matcher { when: view.get("when").map(Raw::from), ..Matcher::default() };
        if let Some(kind) = view.get("kind") {
            matcher.kind = Some(kind.str().and_then(|word| NodeKind::parse(&word)).ok_or_else(|| wrong("kind"))?);
        }
        if let Some(name) = view.get("name") {
            matcher.name = Some(name.text().map(|name| name.to_lossy().into_owned()).ok_or_else(|| wrong("name"))?);
        }
        if let Some(point) = view.get("point") {
            matcher.point = Some(point.str().and_then(|word| PausePoint::parse(&word)).ok_or_else(|| wrong("point"))?);
        }
        if let Some(after) = view.get("after") {
            matcher.after = Some(after.u64().ok_or_else(|| wrong("after"))?);
        }
        Ok(matcher)
    }

    pub(super) fn write(&self, w: &mut ObjectWriter<'_>) {
        optional(self.kind, |kind| w.str("kind", kind.as_str()));
        optional(self.name.as_deref(), |name| w.str("name", name));
        optional(self.point, |point| w.str("point", point.as_str()));
        optional(self.when.as_ref(), |when| w.raw("when", when));
        optional(self.after, |after| w.u64("after", after));
    }
}

impl SdkInfo {
    pub(super) fn write(&self, w: &mut ObjectWriter<'_>) {
        w.str("name", &self.name).str("version", &self.version);
    }
}

impl ErrorInfo {
    pub(super) fn write(&self, w: &mut ObjectWriter<'_>) {
        w.str("name", &self.name).str("message", &self.message);
        optional(self.stack.as_deref(), |stack| w.str("stack", stack));
    }
}

impl TokenUsage {
    pub(super) fn write(&self, w: &mut ObjectWriter<'_>) {
        w.u64("inputTokens", self.input_tokens).u64("outputTokens", self.output_tokens);
        optional(self.inclusive, |inclusive| w.bool("inclusive", inclusive));
        optional(self.cache_read_tokens, |tokens| w.u64("cacheReadTokens", tokens));
        optional(self.cache_write_tokens, |tokens| w.u64("cacheWriteTokens", tokens));
        optional(self.reasoning_tokens, |tokens| w.u64("reasoningTokens", tokens));
    }
}

impl TokenDelta {
    pub(super) fn write(&self, w: &mut ObjectWriter<'_>) {
        w.str("t", self.channel.as_str()).str("v", &self.text);
        optional(self.chars, |chars| w.u64("chars", chars));
    }
}

impl GraphNodeHint {
    pub(super) fn write(&self, w: &mut ObjectWriter<'_>) {
        w.str("nodeId", &self.node_id).str("kind", self.kind.as_str()).str("name", &self.name);
        optional(self.parent_id.as_deref(), |parent| w.str("parentId", parent));
    }
}

impl LoopInfo {
    pub(super) fn write(&self, w: &mut ObjectWriter<'_>) {
        w.u64("repeats", self.repeats).u64("firstSeq", self.first_seq).u64("lastSeq", self.last_seq);
        w.str("fingerprint", &self.fingerprint);
        optional(self.kind, |kind| w.str("kind", kind.as_str()));
        optional(self.period, |period| w.u64("period", period));
        optional(self.laps, |laps| w.u64("laps", laps));
    }
}

impl Smart {
    pub(super) fn write(&self, w: &mut ObjectWriter<'_>) {
        w.str("rule", self.rule.as_str());
        optional(self.detail.as_deref(), |detail| w.str("detail", detail));
    }
}

impl GuardHold {
    pub(super) fn write(&self, w: &mut ObjectWriter<'_>) {
        w.str("policy", &self.policy).str("cause", &self.cause);
        optional(self.detail.as_deref(), |detail| w.str("detail", detail));
    }
}

impl Until {
    pub(super) fn write(&self, w: &mut ObjectWriter<'_>) {
        optional(self.at, |at| w.u64("at", at));
        w.str("action", self.action.as_str()).str("why", self.why.as_str());
    }
}

impl Gap {
    pub(super) fn write(&self, w: &mut ObjectWriter<'_>) {
        w.u64("droppedCount", self.dropped_count).u64("fromSeq", self.from_seq).u64("toSeq", self.to_seq);
        w.str("reason", "buffer-overflow");
    }
}

impl Redaction {
    pub(super) fn write(&self, w: &mut ObjectWriter<'_>) {
        w.u64("count", self.count).array("keys", &self.keys, |out, key| write_str(key, out));
        if self.failed {
            w.bool("failed", true);
        }
    }
}

/// Does nothing for an absent value; an optional field is left out, never `null`.
pub(super) fn optional<T, R>(value: Option<T>, write: impl FnOnce(T) -> R) {
    value.map(write);
}
