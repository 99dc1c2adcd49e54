//! The frame around every message (wire §1.2).

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use super::PROTOCOL;
use crate::json::{ObjectWriter, Raw, Text};

/// Names a run; `*` is what is bound to none. Never holds U+0000, which some stores cut at.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(Arc<str>);

impl RunId {
    /// Nothing when the name holds U+0000. An empty name is one.
    pub fn new(name: &str) -> Option<RunId> {
        (!name.contains('\0')).then(|| RunId(name.into()))
    }

    /// `*`: bound to no run.
    pub fn none() -> RunId {
        static NONE: LazyLock<Arc<str>> = LazyLock::new(|| "*".into());
        RunId(NONE.clone())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for RunId {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<RunId> for Arc<str> {
    fn from(run: RunId) -> Arc<str> {
        run.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// One frame of the debug wire. `gm` is not kept: it always is [`PROTOCOL`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// Counts the frames of one sender, from 0 to 2^53 - 1.
    pub seq: u64,
    /// The sender's wall clock, epoch milliseconds up to 2^53 - 1.
    pub ts: u64,
    /// The run it belongs to.
    pub run: RunId,
    /// The message type, e.g. `node.started`.
    pub kind: Cow<'static, str>,
    /// An object for the types we know; for others any value, or none.
    pub payload: Option<Raw>,
    /// Envelope fields we do not know, in their order.
    pub extra: Vec<(Text, Raw)>,
}

impl Envelope {
    /// Appends the frame, a compact object in wire order.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut w = ObjectWriter::new(out);
        w.u64("gm", PROTOCOL).u64("seq", self.seq).u64("ts", self.ts);
        w.str("runId", &self.run).str("type", &self.kind);
        if let Some(payload) = &self.payload {
            w.raw("payload", payload);
        }
        for (name, value) in &self.extra {
            w.member(name, value);
        }
        w.end();
    }

    /// The frame as text.
    pub fn to_text(&self) -> String {
        let mut out = Vec::with_capacity(128 + self.payload.as_ref().map_or(0, Raw::len));
        self.write(&mut out);
        String::from_utf8(out).expect("only UTF-8 is written")
    }
}
