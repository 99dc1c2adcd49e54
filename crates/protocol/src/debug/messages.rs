//! The registry of messages (wire §1.3–1.7): which fields each has, in declaration order. Validation, the JSON Schema and the
//! skeletons of shrinking all read this one table.

use super::words::{
    LoopKind, NodeKind, PausePoint, PauseReason, RefusalCode, ResumeAction, RunMode, RunStatus, SmartRule,
    TokenChannel, Why,
};

/// Who sends a message, and what for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// App to hub: something happened.
    Event,
    /// Hub to app: something is wanted.
    Control,
    /// Either way, once per link.
    Handshake,
}

/// The class of a message type; nothing for types we do not know.
pub fn class(kind: &str) -> Option<Class> {
    message(kind).map(|message| message.class)
}

/// A message type.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) kind: &'static str,
    pub(super) class: Class,
    pub(super) fields: &'static [Field],
}

/// One field of an object. Objects are loose: fields beyond the table never do harm.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) need: Need,
    pub(crate) shape: Shape,
}

/// Whether a field may be absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Required,
    Optional,
    /// Optional, and a wrong value does not make the message invalid: newer than what peers agreed on, or an open set.
    Loose,
}

/// What a value must look like.
#[derive(Debug)]
pub(crate) enum Shape {
    Any,
    Text,
    Flag,
    /// A safe integer from here on.
    Int(i64),
    /// A finite number, not negative.
    Amount,
    /// An object of any members.
    Map,
    Word(&'static Words),
    List(&'static Shape),
    Object(&'static Object),
}

/// A set of words; those with an id have a definition of their own in the schema.
#[derive(Debug)]
pub(crate) struct Words {
    pub(super) id: Option<&'static str>,
    pub(super) words: &'static [&'static str],
}

/// A shared object shape.
#[derive(Debug)]
pub(crate) struct Object {
    pub(super) id: Option<&'static str>,
    pub(crate) fields: &'static [Field],
}

pub(super) fn message(kind: &str) -> Option<&'static Message> {
    MESSAGES.iter().find(|message| message.kind == kind)
}

/// The payload fields of an event type.
pub(crate) fn event_fields(kind: &str) -> Option<&'static [Field]> {
    message(kind).filter(|message| message.class == Class::Event).map(|message| message.fields)
}

const fn required(name: &'static str, shape: Shape) -> Field {
    Field { name, need: Need::Required, shape }
}

const fn optional(name: &'static str, shape: Shape) -> Field {
    Field { name, need: Need::Optional, shape }
}

const fn loose(name: &'static str, shape: Shape) -> Field {
    Field { name, need: Need::Loose, shape }
}

const fn event(kind: &'static str, fields: &'static [Field]) -> Message {
    Message { kind, class: Class::Event, fields }
}

const fn control(kind: &'static str, fields: &'static [Field]) -> Message {
    Message { kind, class: Class::Control, fields }
}

const fn handshake(kind: &'static str, fields: &'static [Field]) -> Message {
    Message { kind, class: Class::Handshake, fields }
}

const fn named(id: &'static str, words: &'static [&'static str]) -> Words {
    Words { id: Some(id), words }
}

const fn inline(words: &'static [&'static str]) -> Words {
    Words { id: None, words }
}

static NODE_KIND: Words = named("NodeKind", NodeKind::WORDS);
static RUN_STATUS: Words = named("RunStatus", RunStatus::WORDS);
static PAUSE_POINT: Words = named("PausePoint", PausePoint::WORDS);
static RESUME_ACTION: Words = named("ResumeAction", ResumeAction::WORDS);
static RUN_MODE: Words = named("RunMode", RunMode::WORDS);
static PAUSE_REASON: Words = inline(PauseReason::WORDS);
static TOKEN_CHANNEL: Words = inline(TokenChannel::WORDS);
static REFUSAL_CODE: Words = inline(RefusalCode::WORDS);
static LOOP_KIND: Words = inline(LoopKind::WORDS);
static SMART_RULE: Words = inline(SmartRule::WORDS);
static WHY: Words = inline(Why::WORDS);

static SDK_INFO: Object =
    Object { id: Some("SdkInfo"), fields: &[required("name", Shape::Text), required("version", Shape::Text)] };
static ERROR_INFO: Object = Object {
    id: Some("ErrorInfo"),
    fields: &[required("name", Shape::Text), required("message", Shape::Text), optional("stack", Shape::Text)],
};
static TOKEN_USAGE: Object = Object {
    id: Some("TokenUsage"),
    fields: &[
        required("inputTokens", Shape::Int(0)),
        required("outputTokens", Shape::Int(0)),
        optional("inclusive", Shape::Flag),
        optional("cacheReadTokens", Shape::Int(0)),
        optional("cacheWriteTokens", Shape::Int(0)),
        optional("reasoningTokens", Shape::Int(0)),
    ],
};
static TOKEN_DELTA: Object = Object {
    id: Some("TokenDelta"),
    fields: &[required("t", Shape::Word(&TOKEN_CHANNEL)), required("v", Shape::Text), loose("chars", Shape::Int(0))],
};
static MATCHER: Object = Object {
    id: Some("BreakpointMatcher"),
    fields: &[
        optional("kind", Shape::Word(&NODE_KIND)),
        optional("name", Shape::Text),
        optional("point", Shape::Word(&PAUSE_POINT)),
        loose("when", Shape::Any),
        loose("after", Shape::Int(0)),
    ],
};
static GRAPH_NODE_HINT: Object = Object {
    id: Some("GraphNodeHint"),
    fields: &[
        required("nodeId", Shape::Text),
        required("kind", Shape::Word(&NODE_KIND)),
        required("name", Shape::Text),
        optional("parentId", Shape::Text),
    ],
};
static REDACTION: Object = Object {
    id: None,
    fields: &[
        required("count", Shape::Int(0)),
        required("keys", Shape::List(&Shape::Text)),
        loose("failed", Shape::Flag),
    ],
};
static LOOP_INFO: Object = Object {
    id: None,
    fields: &[
        required("repeats", Shape::Int(0)),
        required("firstSeq", Shape::Int(0)),
        required("lastSeq", Shape::Int(0)),
        required("fingerprint", Shape::Text),
        loose("kind", Shape::Word(&LOOP_KIND)),
        optional("period", Shape::Int(1)),
        optional("laps", Shape::Int(1)),
    ],
};
static SMART: Object =
    Object { id: None, fields: &[loose("rule", Shape::Word(&SMART_RULE)), optional("detail", Shape::Text)] };
static GUARD_HOLD: Object = Object {
    id: None,
    fields: &[required("policy", Shape::Text), required("cause", Shape::Text), optional("detail", Shape::Text)],
};
static UNTIL: Object = Object {
    id: None,
    fields: &[
        optional("at", Shape::Int(0)),
        required("action", Shape::Word(&RESUME_ACTION)),
        required("why", Shape::Word(&WHY)),
    ],
};
static GAP: Object = Object {
    id: None,
    fields: &[
        required("droppedCount", Shape::Int(0)),
        required("fromSeq", Shape::Int(0)),
        required("toSeq", Shape::Int(0)),
        required("reason", Shape::Text),
    ],
};
static EDITED: Object = Object { id: None, fields: &[required("after", Shape::Any)] };
static CLIENT: Object =
    Object { id: None, fields: &[required("protocol", Shape::Int(i64::MIN)), required("client", Shape::Text)] };
static HUB: Object =
    Object { id: None, fields: &[required("protocol", Shape::Int(i64::MIN)), required("viewer", Shape::Text)] };

/// The word sets and shapes with a definition of their own, in the order of the schema.
pub(super) static SHARED_WORDS: [&Words; 5] = [&NODE_KIND, &RUN_STATUS, &PAUSE_POINT, &RESUME_ACTION, &RUN_MODE];
pub(super) static SHARED_OBJECTS: [&Object; 6] =
    [&ERROR_INFO, &TOKEN_USAGE, &TOKEN_DELTA, &MATCHER, &GRAPH_NODE_HINT, &SDK_INFO];

pub(super) static MESSAGES: [Message; 18] = [
    event(
        "run.started",
        &[required("app", Shape::Text), required("sdk", Shape::Object(&SDK_INFO)), optional("meta", Shape::Map)],
    ),
    event(
        "run.finished",
        &[required("status", Shape::Word(&RUN_STATUS)), optional("error", Shape::Object(&ERROR_INFO))],
    ),
    event(
        "graph.hint",
        &[required("nodes", Shape::List(&Shape::Object(&GRAPH_NODE_HINT))), loose("gap", Shape::Object(&GAP))],
    ),
    event(
        "node.started",
        &[
            required("nodeId", Shape::Text),
            optional("parentId", Shape::Text),
            required("kind", Shape::Word(&NODE_KIND)),
            required("name", Shape::Text),
            required("instanceId", Shape::Text),
            optional("input", Shape::Any),
            optional("collapsed", Shape::Flag),
            optional("redaction", Shape::Object(&REDACTION)),
            loose("era", Shape::Text),
            loose("transport", Shape::Text),
            loose("contract", Shape::Text),
        ],
    ),
    event(
        "node.token",
        &[
            required("nodeId", Shape::Text),
            required("deltas", Shape::List(&Shape::Object(&TOKEN_DELTA))),
            optional("redaction", Shape::Object(&REDACTION)),
        ],
    ),
    event(
        "node.finished",
        &[
            required("nodeId", Shape::Text),
            optional("instanceId", Shape::Text),
            optional("output", Shape::Any),
            optional("usage", Shape::Object(&TOKEN_USAGE)),
            required("durationMs", Shape::Amount),
            optional("heldMs", Shape::Amount),
            required("status", Shape::Word(&RUN_STATUS)),
            optional("redaction", Shape::Object(&REDACTION)),
        ],
    ),
    event(
        "node.error",
        &[
            required("nodeId", Shape::Text),
            optional("instanceId", Shape::Text),
            required("error", Shape::Object(&ERROR_INFO)),
            optional("heldMs", Shape::Amount),
        ],
    ),
    event(
        "exec.paused",
        &[
            required("pauseId", Shape::Text),
            required("nodeId", Shape::Text),
            required("point", Shape::Word(&PAUSE_POINT)),
            optional("reason", Shape::Word(&PAUSE_REASON)),
            optional("loop", Shape::Object(&LOOP_INFO)),
            optional("smart", Shape::Object(&SMART)),
            optional("editable", Shape::Flag),
            optional("instanceId", Shape::Text),
            loose("hold", Shape::Object(&GUARD_HOLD)),
            loose("until", Shape::Object(&UNTIL)),
        ],
    ),
    event(
        "exec.refused",
        &[
            required("pauseId", Shape::Text),
            required("code", Shape::Word(&REFUSAL_CODE)),
            optional("message", Shape::Text),
            optional("requestId", Shape::Text),
        ],
    ),
    event(
        "exec.resumed",
        &[
            required("pauseId", Shape::Text),
            required("action", Shape::Word(&RESUME_ACTION)),
            optional("edited", Shape::Object(&EDITED)),
            optional("requestId", Shape::Text),
            optional("principal", Shape::Text),
        ],
    ),
    control(
        "exec.resume",
        &[
            required("pauseId", Shape::Text),
            required("action", Shape::Word(&RESUME_ACTION)),
            optional("output", Shape::Any),
            optional("input", Shape::Any),
            optional("requestId", Shape::Text),
            loose("pin", Shape::Text),
        ],
    ),
    control("breakpoint.set", &[required("matcher", Shape::Object(&MATCHER))]),
    control("breakpoint.clear", &[required("matcher", Shape::Object(&MATCHER))]),
    control("mode.set", &[required("mode", Shape::Word(&RUN_MODE))]),
    handshake(
        "hello",
        &[
            required("versions", Shape::Object(&CLIENT)),
            required("capabilities", Shape::List(&Shape::Text)),
            optional("app", Shape::Text),
            optional("sdk", Shape::Object(&SDK_INFO)),
            optional("resumeToken", Shape::Text),
            loose("source", Shape::Text),
        ],
    ),
    handshake(
        "hello.ack",
        &[
            required("versions", Shape::Object(&HUB)),
            required("capabilities", Shape::List(&Shape::Text)),
            required("breakpoints", Shape::List(&Shape::Object(&MATCHER))),
            required("mode", Shape::Word(&RUN_MODE)),
            optional("sessionToken", Shape::Text),
            loose("hubCapabilities", Shape::List(&Shape::Text)),
            loose("watched", Shape::Flag),
        ],
    ),
    event(
        "exec.until",
        &[
            required("pauseId", Shape::Text),
            loose("at", Shape::Int(0)),
            loose("action", Shape::Word(&RESUME_ACTION)),
            loose("why", Shape::Word(&WHY)),
        ],
    ),
    control("watch.set", &[required("watched", Shape::Flag)]),
];
