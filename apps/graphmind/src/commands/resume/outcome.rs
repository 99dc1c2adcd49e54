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
    let said = reply.text("message").or_else(|| reply.text("error"));
    let said = said.unwrap_or_else(|| meaning(code).to_owned());
    let fault = Fault::new(code, format!("{pause} not released: {said}"));
    match hint(code) {
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

fn meaning(code: Code) -> &'static str {
    match code {
        Code::Forbidden => "the hub does not allow agents this",
        Code::EditRefused => "the hub does not allow agents to edit arguments",
        Code::Schema => "the arguments do not fit the tool's schema",
        Code::Shape => "the value has the wrong shape",
        Code::Placeholder => "the value holds a placeholder of a hidden one",
        Code::Truncated => "the value holds a shortened one",
        Code::Disabled => "the program has edits switched off",
        Code::Unsupported => "the program cannot do that here",
        Code::NotEditable => "this call takes no edited arguments",
        Code::TooLarge => "the value is too large for the program",
        Code::PauseTaken | Code::Superseded => "somebody else released it",
        Code::NoAnswer => "the program has not answered yet",
        Code::StillResolving => "an earlier release is still on its way",
        Code::AppDisconnected | Code::SendFailed => "the program's connection is gone",
        Code::ServerClosing => "the hub is stopping",
        Code::NoSuchPause => "no such call stands still",
        Code::NoOwner => "no program is connected that could release it",
        Code::RunFinished => "its run has ended",
        Code::Busy => "too many are waiting at the hub",
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
        | Code::NotAuthorised => "the hub said no more",
    }
}

fn hint(code: Code) -> Option<&'static str> {
    match code {
        Code::Forbidden => Some("the hub's user can start it with `--allow-control resume`, or `inject`"),
        Code::EditRefused => Some("the hub's user can start it with `--allow-control edit`, without `--no-edit-input`"),
        Code::NotEditable | Code::Disabled => Some("release it with `--action inject --output …`, or in a viewer"),
        Code::Placeholder | Code::Truncated => Some("write the real value in its place"),
        Code::Schema | Code::Shape => Some("`graphmind wait` shows the arguments it was called with"),
        Code::TooLarge => Some("send a smaller value"),
        Code::PauseTaken | Code::Superseded | Code::NoSuchPause | Code::NoOwner | Code::RunFinished => {
            Some("`graphmind pauses` lists what still stands")
        }
        Code::NoAnswer | Code::StillResolving | Code::Busy => Some("look at `graphmind pauses`, then try again"),
        Code::Unsupported
        | Code::AppDisconnected
        | Code::SendFailed
        | Code::ServerClosing
        | Code::Usage
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
        | Code::NotAuthorised => None,
    }
}
