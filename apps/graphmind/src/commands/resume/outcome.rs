//! The hub's answer to a release that did not happen, in our words: what it means, and what can still be done.

use crate::client::{Hub, Reply};
use crate::code::Code;
use crate::fault::Fault;

pub(super) fn fault(hub: &Hub, reply: &Reply, pause: &str) -> Fault {
    let status = reply.status.as_u16();
    let named = reply.text("code").as_deref().and_then(Code::read);
    let code = match (status, named) {
        (401, _) => return hub.turned_away(reply),
        (429, _) => Code::Busy,
        (413, None) => Code::TooLarge,
        (_, Some(code)) => code,
        _ => reply.text("outcome").map_or(Code::Unexpected, |outcome| by_outcome(&outcome)),
    };
    let (meaning, hint) = words(code);
    let said = reply.text("message").or_else(|| reply.text("error"));
    let fault = Fault::new(code, format!("{pause} not released: {}", said.as_deref().unwrap_or(meaning)));
    match hint {
        Some(hint) => fault.hint(hint),
        None => fault,
    }
}

/// A code we do not know still comes under an outcome we do.
fn by_outcome(outcome: &str) -> Code {
    match outcome {
        "refused" => Code::Unsupported,
        "taken" => Code::PauseTaken,
        "timeout" => Code::NoAnswer,
        "no-such-pause" => Code::NoSuchPause,
        _ => Code::Unexpected,
    }
}

/// What a code means where the hub gave it no words, and what can be done.
fn words(code: Code) -> (&'static str, Option<&'static str>) {
    match code {
        Code::Forbidden => (
            "the hub does not allow programs this",
            Some("the hub's user can start it with `--allow-control resume`, or `inject`"),
        ),
        Code::EditRefused => (
            "the hub does not allow programs to edit arguments",
            Some("the hub's user can start it with `--allow-control edit`, without `--no-edit-input`"),
        ),
        Code::Schema => ("the arguments do not fit the tool's schema", Some(LOOK)),
        Code::Shape => ("the value has the wrong shape", Some(LOOK)),
        Code::Placeholder => ("the value holds a placeholder of a hidden one", Some(REAL)),
        Code::Truncated => ("the value holds a shortened one", Some(REAL)),
        Code::Disabled => ("the program has edits switched off", Some(INJECT)),
        Code::NotEditable => ("this call takes no edited arguments", Some(INJECT)),
        Code::Unsupported => ("the program cannot do that here", None),
        Code::TooLarge => ("the value is too large for the program", Some("send a smaller value")),
        Code::PauseTaken | Code::Superseded => ("somebody else released it", Some(LIST)),
        Code::NoSuchPause => ("no such call stands still", Some(LIST)),
        Code::NoOwner => ("no program is connected that could release it", Some(LIST)),
        Code::RunFinished => ("its run has ended", Some(LIST)),
        Code::NoAnswer => ("the program has not answered yet", Some(AGAIN)),
        Code::StillResolving => ("an earlier release is still on its way", Some(AGAIN)),
        Code::Busy => ("too many are waiting at the hub", Some(AGAIN)),
        Code::AppDisconnected | Code::SendFailed => ("the program's connection is gone", None),
        Code::ServerClosing => ("the hub is stopping", None),
        Code::Usage
        | Code::BadFile
        | Code::Database
        | Code::NewerDatabase
        | Code::PortInUse
        | Code::Unexpected
        | Code::Timeout
        | Code::NoHub
        | Code::OldHub
        | Code::NoSuchRun
        | Code::RunEnded
        | Code::NotAuthorised => ("the hub said no more", None),
    }
}

const LOOK: &str = "`graphmind wait` shows the arguments it was called with";
const REAL: &str = "write the real value in its place";
const INJECT: &str = "release it with `--action inject --output …`, or in a viewer";
const LIST: &str = "`graphmind pauses` lists what still stands";
const AGAIN: &str = "look at `graphmind pauses`, then try again";
