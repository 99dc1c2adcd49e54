//! Every message type with its fields, in declaration order (wire §1.5–1.7, §10). Ours stand after the ones we share.

use super::shapes::{
    CLIENT, EDITED, ERROR_INFO, GAP, GRAPH_NODE_HINT, GUARD_HOLD, HUB, LOOP_INFO, MATCHER, NODE_KIND, PAUSE_POINT,
    PAUSE_REASON, REDACTION, REFUSAL_CODE, RESUME_ACTION, RUN_MODE, RUN_STATUS, SDK_INFO, SMART, TOKEN_DELTA,
    TOKEN_USAGE, UNTIL, WHY,
};
use super::{Class, Field, Message, Shape, loose, optional, required};

pub(in crate::debug) static MESSAGES: [Message; 18] = [
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

const fn event(kind: &'static str, fields: &'static [Field]) -> Message {
    Message { kind, class: Class::Event, fields }
}

const fn control(kind: &'static str, fields: &'static [Field]) -> Message {
    Message { kind, class: Class::Control, fields }
}

const fn handshake(kind: &'static str, fields: &'static [Field]) -> Message {
    Message { kind, class: Class::Handshake, fields }
}
