//! Where words go: results to stdout, all else to stderr. A reader that hung up is no failure.

use std::io::{self, IsTerminal, Write};

use crate::fault::Fault;
use crate::text::visible_json;

/// A result line on stdout.
pub(crate) fn line(text: &str) -> Result<(), Fault> {
    bytes(format!("{text}\n").as_bytes())
}

/// A JSON result on stdout, safe to look at in a terminal.
pub(crate) fn json(text: &str) -> Result<(), Fault> {
    line(&visible_json(text))
}

/// Result bytes on stdout.
pub(crate) fn bytes(bytes: &[u8]) -> Result<(), Fault> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(err) if err.kind() != io::ErrorKind::BrokenPipe => Err(Fault::io("write to stdout", &err)),
        _ => Ok(()),
    }
}

/// A line for the person at the terminal.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Is a person looking at our remarks?
pub(crate) fn person_watches() -> bool {
    io::stderr().is_terminal()
}
