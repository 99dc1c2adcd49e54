//! Streams of systems on which stdin can only be waited for.

use super::super::End;
use super::thread::Reader;

/// Our stdin and stdout, and nothing to put back.
pub(crate) fn own() -> (End, Restore) {
    (End::new(Reader::stdin(), tokio::io::stdout()), Restore)
}

/// Nothing was changed.
pub(crate) struct Restore;

impl Restore {
    /// Puts nothing back.
    pub(crate) fn now(self) {}
}
