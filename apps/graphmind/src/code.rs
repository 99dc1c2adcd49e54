//! The names of what can go wrong: stable words for programs, each with its exit status and a page in `docs/errors`.

use crate::exit::Exit;

/// One thing that can go wrong. From `NoAnswer` on, the words are the hub's own (hub §8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Usage,
    BadFile,
    Database,
    NewerDatabase,
    PortInUse,
    Unexpected,
    Timeout,
    Busy,
    NoHub,
    OldHub,
    NoSuchRun,
    RunEnded,
    NotAuthorised,
    NoAnswer,
    StillResolving,
    AppDisconnected,
    SendFailed,
    ServerClosing,
    NoSuchPause,
    NoOwner,
    RunFinished,
    Forbidden,
    EditRefused,
    Schema,
    Shape,
    Placeholder,
    Truncated,
    Disabled,
    Unsupported,
    NotEditable,
    TooLarge,
    PauseTaken,
    Superseded,
}

impl Code {
    /// The word as it stands in JSON and in `docs/errors`.
    pub(crate) fn word(self) -> &'static str {
        self.entry().0
    }

    pub(crate) fn exit(self) -> Exit {
        self.entry().1
    }

    /// The code a hub named; hubs newer than this program may know more.
    pub(crate) fn read(word: &str) -> Option<Code> {
        ALL.into_iter().find(|code| code.word() == word)
    }

    fn entry(self) -> (&'static str, Exit) {
        match self {
            Code::Usage => ("usage", Exit::Failed),
            Code::BadFile => ("bad-file", Exit::Failed),
            Code::Database => ("database", Exit::Failed),
            Code::NewerDatabase => ("newer-database", Exit::Failed),
            Code::PortInUse => ("port-in-use", Exit::Failed),
            Code::Unexpected => ("unexpected", Exit::Failed),
            Code::Timeout => ("timeout", Exit::TimedOut),
            Code::Busy => ("busy", Exit::TimedOut),
            Code::NoHub => ("no-hub", Exit::NoHub),
            Code::OldHub => ("old-hub", Exit::NoHub),
            Code::NoSuchRun => ("no-such-run", Exit::Nothing),
            Code::RunEnded => ("run-ended", Exit::Nothing),
            Code::NotAuthorised => ("not-authorised", Exit::NotAuthorised),
            Code::NoAnswer => ("no-answer", Exit::TimedOut),
            Code::StillResolving => ("still-resolving", Exit::TimedOut),
            Code::AppDisconnected => ("app-disconnected", Exit::TimedOut),
            Code::SendFailed => ("send-failed", Exit::TimedOut),
            Code::ServerClosing => ("server-closing", Exit::TimedOut),
            Code::NoSuchPause => ("no-such-pause", Exit::Nothing),
            Code::NoOwner => ("no-owner", Exit::Nothing),
            Code::RunFinished => ("run-finished", Exit::Nothing),
            Code::Forbidden => ("forbidden", Exit::NotAuthorised),
            Code::EditRefused => ("edit-refused", Exit::NotAuthorised),
            Code::Schema => ("schema", Exit::Refused),
            Code::Shape => ("shape", Exit::Refused),
            Code::Placeholder => ("placeholder", Exit::Refused),
            Code::Truncated => ("truncated", Exit::Refused),
            Code::Disabled => ("disabled", Exit::Refused),
            Code::Unsupported => ("unsupported", Exit::Refused),
            Code::NotEditable => ("not-editable", Exit::Refused),
            Code::TooLarge => ("too-large", Exit::Refused),
            Code::PauseTaken => ("pause-taken", Exit::Taken),
            Code::Superseded => ("superseded", Exit::Taken),
        }
    }
}

const ALL: [Code; 33] = [
    Code::Usage,
    Code::BadFile,
    Code::Database,
    Code::NewerDatabase,
    Code::PortInUse,
    Code::Unexpected,
    Code::Timeout,
    Code::Busy,
    Code::NoHub,
    Code::OldHub,
    Code::NoSuchRun,
    Code::RunEnded,
    Code::NotAuthorised,
    Code::NoAnswer,
    Code::StillResolving,
    Code::AppDisconnected,
    Code::SendFailed,
    Code::ServerClosing,
    Code::NoSuchPause,
    Code::NoOwner,
    Code::RunFinished,
    Code::Forbidden,
    Code::EditRefused,
    Code::Schema,
    Code::Shape,
    Code::Placeholder,
    Code::Truncated,
    Code::Disabled,
    Code::Unsupported,
    Code::NotEditable,
    Code::TooLarge,
    Code::PauseTaken,
    Code::Superseded,
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, path::Path};

    #[test]
    fn every_code_has_its_page() {
        let errors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors");
        for code in ALL {
            let status = code.exit().status();
            let page = errors.join(format!("graphmind-{status}.md"));
            let text = fs::read_to_string(&page).unwrap_or_else(|err| panic!("page of exit code {status}: {err}"));
            assert!(text.contains(&format!("exit code {status}")), "{page:?} names its exit code");
            assert!(text.contains(&format!("`{}`", code.word())), "{page:?} names `{}`", code.word());
        }
    }

    #[test]
    fn words_are_told_apart() {
        for (at, code) in ALL.into_iter().enumerate() {
            assert_eq!(Code::read(code.word()), Some(code));
            assert!(ALL.into_iter().skip(at + 1).all(|other| other.word() != code.word()));
        }
        assert_eq!(Code::read("no-such-word"), None);
    }
}
