//! The word sets and object shapes that fields refer to (wire §1.4, §10).

use super::{Object, Shape, Words, loose, optional, required};
use crate::debug::words::{
    LoopKind, NodeKind, PausePoint, PauseReason, RefusalCode, ResumeAction, RunMode, RunStatus, SmartRule,
    TokenChannel, Why,
};

/// The word sets and shapes with a definition of their own, in the order of the schema.
pub(in crate::debug) static SHARED_WORDS: [&Words; 5] =
    [&NODE_KIND, &RUN_STATUS, &PAUSE_POINT, &RESUME_ACTION, &RUN_MODE];
pub(in crate::debug) static SHARED_OBJECTS: [&Object; 6] =
    [&ERROR_INFO, &TOKEN_USAGE, &TOKEN_DELTA, &MATCHER, &GRAPH_NODE_HINT, &SDK_INFO];

pub(super) static NODE_KIND: Words = named("NodeKind", NodeKind::WORDS);
pub(super) static RUN_STATUS: Words = named("RunStatus", RunStatus::WORDS);
pub(super) static PAUSE_POINT: Words = named("PausePoint", PausePoint::WORDS);
pub(super) static RESUME_ACTION: Words = named("ResumeAction", ResumeAction::WORDS);
pub(super) static RUN_MODE: Words = named("RunMode", RunMode::WORDS);
pub(super) static PAUSE_REASON: Words = inline(PauseReason::WORDS);
pub(super) static TOKEN_CHANNEL: Words = inline(TokenChannel::WORDS);
pub(super) static REFUSAL_CODE: Words = inline(RefusalCode::WORDS);
pub(super) static LOOP_KIND: Words = inline(LoopKind::WORDS);
pub(super) static SMART_RULE: Words = inline(SmartRule::WORDS);
pub(super) static WHY: Words = inline(Why::WORDS);

pub(super) static SDK_INFO: Object =
    Object { id: Some("SdkInfo"), fields: &[required("name", Shape::Text), required("version", Shape::Text)] };
pub(super) static ERROR_INFO: Object = Object {
    id: Some("ErrorInfo"),
    fields: &[required("name", Shape::Text), required("message", Shape::Text), optional("stack", Shape::Text)],
};
pub(super) static TOKEN_USAGE: Object = Object {
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
pub(super) static TOKEN_DELTA: Object = Object {
    id: Some("TokenDelta"),
    fields: &[required("t", Shape::Word(&TOKEN_CHANNEL)), required("v", Shape::Text), loose("chars", Shape::Int(0))],
};
pub(super) static MATCHER: Object = Object {
    id: Some("BreakpointMatcher"),
    fields: &[
        optional("kind", Shape::Word(&NODE_KIND)),
        optional("name", Shape::Text),
        optional("point", Shape::Word(&PAUSE_POINT)),
        loose("when", Shape::Any),
        loose("after", Shape::Int(0)),
    ],
};
pub(super) static GRAPH_NODE_HINT: Object = Object {
    id: Some("GraphNodeHint"),
    fields: &[
        required("nodeId", Shape::Text),
        required("kind", Shape::Word(&NODE_KIND)),
        required("name", Shape::Text),
        optional("parentId", Shape::Text),
    ],
};
pub(super) static REDACTION: Object = Object {
    id: None,
    fields: &[
        required("count", Shape::Int(0)),
        required("keys", Shape::List(&Shape::Text)),
        loose("failed", Shape::Flag),
    ],
};
pub(super) static LOOP_INFO: Object = Object {
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
pub(super) static SMART: Object =
    Object { id: None, fields: &[loose("rule", Shape::Word(&SMART_RULE)), optional("detail", Shape::Text)] };
pub(super) static GUARD_HOLD: Object = Object {
    id: None,
    fields: &[required("policy", Shape::Text), required("cause", Shape::Text), optional("detail", Shape::Text)],
};
pub(super) static UNTIL: Object = Object {
    id: None,
    fields: &[
        optional("at", Shape::Int(0)),
        required("action", Shape::Word(&RESUME_ACTION)),
        required("why", Shape::Word(&WHY)),
    ],
};
pub(super) static GAP: Object = Object {
    id: None,
    fields: &[
        required("droppedCount", Shape::Int(0)),
        required("fromSeq", Shape::Int(0)),
        required("toSeq", Shape::Int(0)),
        required("reason", Shape::Text),
    ],
};
pub(super) static EDITED: Object = Object { id: None, fields: &[required("after", Shape::Any)] };
pub(super) static CLIENT: Object =
    Object { id: None, fields: &[required("protocol", Shape::Int(i64::MIN)), required("client", Shape::Text)] };
pub(super) static HUB: Object =
    Object { id: None, fields: &[required("protocol", Shape::Int(i64::MIN)), required("viewer", Shape::Text)] };

const fn named(id: &'static str, words: &'static [&'static str]) -> Words {
    Words { id: Some(id), words }
}

const fn inline(words: &'static [&'static str]) -> Words {
    Words { id: None, words }
}
