//! How a resume can end, in the words of hub §8.

use std::sync::Arc;

use lockgate_protocol::debug::{Principal, RefusalCode};
use lockgate_protocol::json::ObjectWriter;

use super::{Key, WaiterId};

/// What a waiter is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) waiter: WaiterId,
    pub(crate) key: Key,
    pub(crate) request: Arc<str>,
    pub(crate) outcome: Outcome,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) kind: OutcomeKind,
    pub(crate) code: Option<Code>,
    pub(crate) message: Option<String>,
    /// Who released the call; only with `Resumed`.
    pub(crate) principal: Option<Principal>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutcomeKind {
    Resumed,
    Refused,
    Taken,
    Timeout,
    NoSuchPause,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    /// The app's own, and the content guard's.
    Content(RefusalCode),
    NotEditable,
    Forbidden,
    EditRefused,
    TooLarge,
    PauseTaken,
    Superseded,
    NoAnswer,
    StillResolving,
    AppDisconnected,
    SendFailed,
    ServerClosing,
    NoSuchPause,
    NoOwner,
    RunFinished,
}

impl Outcome {
    pub(crate) fn resumed(by: Principal) -> Outcome {
        Outcome { kind: OutcomeKind::Resumed, code: None, message: None, principal: Some(by) }
    }

    /// The outcome a code belongs to, with its usual words.
    pub(crate) fn of(code: Code) -> Outcome {
        let (kind, message) = code.words();
        Outcome { kind, code: Some(code), message: Some(message.to_owned()), principal: None }
    }

    /// Writes its members, behind the ids.
    pub(crate) fn write(&self, w: &mut ObjectWriter<'_>) {
        if let Some(principal) = self.principal {
            w.str("principal", principal.as_str());
        }
        if let Some(code) = self.code {
            w.str("code", code.as_str());
        }
        if let Some(message) = &self.message {
            w.str("message", message);
        }
    }
}

impl OutcomeKind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            OutcomeKind::Resumed => "resumed",
            OutcomeKind::Refused => "refused",
            OutcomeKind::Taken => "taken",
            OutcomeKind::Timeout => "timeout",
            OutcomeKind::NoSuchPause => "no-such-pause",
        }
    }
}

impl Code {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Code::Content(code) => code.as_str(),
            Code::NotEditable => "not-editable",
            Code::Forbidden => "forbidden",
            Code::EditRefused => "edit-refused",
            Code::TooLarge => "too-large",
            Code::PauseTaken => "pause-taken",
            Code::Superseded => "superseded",
            Code::NoAnswer => "no-answer",
            Code::StillResolving => "still-resolving",
            Code::AppDisconnected => "app-disconnected",
            Code::SendFailed => "send-failed",
            Code::ServerClosing => "server-closing",
            Code::NoSuchPause => "no-such-pause",
            Code::NoOwner => "no-owner",
            Code::RunFinished => "run-finished",
        }
    }

    fn words(self) -> (OutcomeKind, &'static str) {
        match self {
            Code::Content(RefusalCode::Placeholder) => {
                (OutcomeKind::Refused, "the value holds a redaction placeholder")
            }
            Code::Content(RefusalCode::Truncated) => (OutcomeKind::Refused, "the value was cut when it was recorded"),
            Code::Content(_) => (OutcomeKind::Refused, "the value cannot be used here"),
            Code::NotEditable => (OutcomeKind::Refused, "the input of this call cannot be edited"),
            Code::Forbidden => (OutcomeKind::Refused, "your credential does not allow this"),
            Code::EditRefused => (OutcomeKind::Refused, "your credential, or this hub, does not allow edits"),
            Code::TooLarge => (OutcomeKind::Refused, "the program cannot take a frame of this size"),
            Code::PauseTaken => (OutcomeKind::Taken, "somebody else is releasing this pause"),
            Code::Superseded => (OutcomeKind::Taken, "the pause was released another way"),
            Code::NoAnswer => (OutcomeKind::Timeout, "the program has not answered yet"),
            Code::StillResolving => (OutcomeKind::Timeout, "an earlier resume is still on its way"),
            Code::AppDisconnected => (OutcomeKind::Timeout, "the program has gone"),
            Code::SendFailed => (OutcomeKind::Timeout, "the resume could not be sent"),
            Code::ServerClosing => (OutcomeKind::Timeout, "the hub is stopping"),
            Code::NoSuchPause => (OutcomeKind::NoSuchPause, "no such pause"),
            Code::NoOwner => (OutcomeKind::NoSuchPause, "no program is connected for this run"),
            Code::RunFinished => (OutcomeKind::NoSuchPause, "the run is over"),
        }
    }
}
