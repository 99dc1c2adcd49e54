//! The debug wire, protocol 1: envelopes, events, controls and the handshake between a program under debug and a hub.
//! Writing is strict and ordered, reading is tolerant: what we do not know is kept, what is broken is named.

mod control;
mod envelope;
mod event;
mod fingerprint;
mod handshake;
mod messages;
mod parse;
mod schema;
mod shape;
mod validate;
mod words;

pub use self::control::{Control, ExecResume, Watched};
pub use self::envelope::{Envelope, RunId};
pub use self::event::{
    Event, ExecPaused, ExecRefused, ExecResumed, ExecUntil, GraphHint, NodeError, NodeFinished, NodeStarted, NodeToken,
    RunFinished, RunStarted,
};
pub use self::fingerprint::fingerprint;
pub use self::handshake::{Hello, HelloAck};
pub use self::messages::{Class, class};
pub use self::parse::{Issue, Parsed, parse};
pub use self::schema::schema;
pub use self::shape::{
    ErrorInfo, Extra, Gap, GraphNodeHint, GuardHold, LoopInfo, Matcher, Redaction, SdkInfo, Smart, TokenDelta,
    TokenUsage, Until,
};
pub use self::words::{
    LoopKind, NodeKind, PausePoint, PauseReason, Principal, RefusalCode, ResumeAction, RunMode, RunStatus, SmartRule,
    TokenChannel, Why,
};

pub(crate) use self::messages::{Field, Need, Shape, event_fields};
pub(crate) use self::validate::payload_is_valid;

/// The protocol major we speak (wire §1.2).
pub const PROTOCOL: u64 = 1;

/// What an app announces, in wire order (wire §1.8); `edit-input` stands at index 6 and is left out when switched off.
pub const APP_CAPABILITIES: [&str; 10] =
    ["pause", "step", "inject", "retry", "abort", "run-claim", "edit-input", "request-id", "watch", "conditions"];

/// What a hub announces in `hubCapabilities` (wire §1.8, §10); `edit-input` is left out when switched off.
pub const HUB_CAPABILITIES: [&str; 5] = ["pause-registry", "edit-input", "guard-holds", "watch", "conditions"];

#[cfg(test)]
mod tests;
