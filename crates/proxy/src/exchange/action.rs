//! What goes into the step and what comes out of it.

use std::time::Duration;

use bytes::Bytes;
use lockgate_gate::{Call, End, Outcome, Stop};
use lockgate_protocol::debug::Event;
use lockgate_protocol::json::Raw;
use lockgate_protocol::rpc::Id;

use crate::side::Side;
use crate::story::SessionEnd;

/// Something happened.
#[derive(Debug)]
pub(crate) enum Input {
    /// A line came, or the unfinished rest of a stream. Only while nothing from that side stands at the gate.
    Frame { from: Side, line: Bytes },
    /// A frame that is on its way to the other side already, because nothing could have held it.
    Passed { from: Side, left: Left },
    /// The gate decided about what stands from that side.
    Decided { from: Side, decided: Decided },
    /// A line behind the one that stands at the gate. It will come as a `Frame` later; it is only looked at for a cancel.
    Ahead { from: Side, line: Bytes },
    /// Whoever was at that side hung up.
    Gone(Side),
    /// Time went by.
    Tick,
    /// Something came that cannot be judged, for this reason, and must not pass.
    Unjudged(&'static str),
    /// Both streams are over.
    Ended(SessionEnd),
}

/// When it happened, and whether anybody could hold anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Since the session began.
    pub(crate) at: Duration,
    pub(crate) debugger: Debugger,
}

/// Whether a hub answered. If none did, what only a debugger needs is not prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Debugger {
    Away,
    There,
}

/// What the gate said.
#[derive(Debug)]
pub(crate) struct Decided {
    /// Nothing when the gate itself failed: then the call goes on, unjudged.
    pub(crate) outcome: Option<Outcome>,
    /// Number of the `node.started` that was emitted with the question.
    pub(crate) started: Option<u64>,
    /// The progress we reported while it stood.
    pub(crate) beat: Option<f64>,
}

/// Something is to be done, in this order.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "moved once and never stored; a box would be an allocation for every frame"
)]
pub(crate) enum Action {
    /// Bytes for a peer, newline included.
    Send { to: Side, bytes: Bytes },
    /// A call comes to the gate; nothing further from this side until it is decided.
    Ask(Box<Ask>),
    /// Viewers are told.
    Emit(Event),
    /// Policies are told how an attempt ended.
    Finished(Box<(Call, End)>),
    /// Whoever asked what stands from this side has given up.
    GaveUp(Side),
    /// A request was given up after so long.
    Patience(Duration),
    /// The client said who it is.
    Client { name: String, version: String },
    /// The person at the terminal is told.
    Say(Say),
    /// The session has to end, for this reason.
    Stop(&'static str),
}

/// A call that comes to the gate.
#[derive(Debug)]
pub(crate) struct Ask {
    /// The side whose frame it is about.
    pub(crate) from: Side,
    pub(crate) call: Call,
    pub(crate) at: Stop,
    /// Who waits for an answer, when somebody does.
    pub(crate) asker: Option<Asker>,
    /// Method and id, for people.
    pub(crate) title: String,
    pub(crate) passage: Passage,
}

/// What is left of a frame that has passed.
#[derive(Debug)]
pub(crate) enum Left {
    /// All of it.
    Whole(Bytes),
    /// A short copy.
    Short(Bytes),
    /// Nothing: it could not be made short.
    Nothing,
}

/// Whether a frame is still here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passage {
    /// It waits for what the gate says.
    Waits,
    /// It has passed: whatever the gate says comes too late.
    Over,
    /// It has passed, and is no longer whole.
    OverShort,
}

/// Who waits while a call stands.
#[derive(Debug, Clone)]
pub(crate) struct Asker {
    pub(crate) side: Side,
    pub(crate) id: Id,
    /// Where progress goes, when the asker wants any.
    pub(crate) token: Option<Raw>,
    pub(crate) progress: Progress,
    /// Since when the asker has waited.
    pub(crate) since: Duration,
    /// Whether the cancel came before the request.
    pub(crate) patience: Patience,
}

/// How far the progress of a request has come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Progress {
    pub(crate) target: Target,
    /// The highest value the asker was sent.
    pub(crate) highest: Option<f64>,
}

/// Whether a request has reached its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Untouched,
    Reached,
}

/// Whether the asker still waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    Waiting,
    /// It had given up before its request came: some hosts write the two in the wrong order.
    Over,
}

/// What the person at the terminal is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Say {
    /// The server wrote a line that is no message.
    Noise(Bytes),
    /// A line is too deep or too long to be read; it went on unread.
    Unread(Side),
    /// A frame was refused.
    Refused(Side, String),
    /// What was typed in place of a notification is no object.
    NotAnObject(String),
    /// How it all went, if there is anything to say.
    Summary(String),
}
