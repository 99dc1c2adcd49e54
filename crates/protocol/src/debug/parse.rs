//! Reads a frame in the order the wire prescribes (wire §1.9): JSON, raw envelope, major, type, payload. Never fails hard.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;

use super::PROTOCOL;
use super::envelope::{Envelope, RunId};
use super::messages::message;
use super::validate::{self, SAFE, integer};
use crate::json::{Kind, Limits, Raw, Text, View};

/// What a frame turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parsed {
    /// A known message with a sound payload.
    Ok(Envelope),
    /// A sound envelope around a type we do not know; the payload is kept, opaque.
    UnknownType(Envelope),
    /// A sound envelope of another protocol major.
    VersionMismatch {
        /// Its `gm`.
        received: i64,
    },
    /// Not a frame.
    Invalid {
        /// The type, if it was known and only the payload is wrong.
        kind: Option<String>,
        /// At least one; at most 16 are listed.
        issues: Vec<Issue>,
    },
}

/// One thing that is wrong with a frame. Never quotes a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// Where, as names and positions joined by points; empty for the whole.
    pub path: String,
    /// What.
    pub message: Cow<'static, str>,
}

impl Issue {
    /// An issue at a path.
    pub fn new(path: &str, message: impl Into<Cow<'static, str>>) -> Issue {
        Issue { path: path.to_owned(), message: message.into() }
    }

    /// The same issue seen from further up.
    pub(super) fn below(self, path: &str) -> Issue {
        let joined = if self.path.is_empty() { path.to_owned() } else { format!("{path}.{}", self.path) };
        Issue { path: joined, message: self.message }
    }
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            return f.write_str(&self.message);
        }
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// Reads one frame. Any bytes give one of the four kinds; a frame of 64 MiB is still read, and a value of 4,096 levels in
/// one; more is invalid.
pub fn parse(text: Bytes) -> Parsed {
    let whole = match Raw::check(text, Limits::FRAME) {
        Ok(checked) => checked.raw,
        Err(error) => return invalid(None, vec![Issue::new("", format!("not json: {error}"))]),
    };
    let head = match Head::read(&whole) {
        Ok(head) => head,
        Err(issues) => return invalid(None, issues),
    };
    if u64::try_from(head.gm) != Ok(PROTOCOL) {
        return Parsed::VersionMismatch { received: head.gm };
    }
    let payload = head.payload.map(|payload| whole.part(payload));
    let extra = head.extra.into_iter().map(|(name, value)| (name, whole.part(value))).collect();
    let envelope = Envelope { seq: head.seq, ts: head.ts, run: head.run, kind: Cow::Borrowed(""), payload, extra };
    let Some(message) = message(&head.kind) else {
        return Parsed::UnknownType(Envelope { kind: Cow::Owned(head.kind.into_owned()), ..envelope });
    };
    let issues = validate::payload(message, envelope.payload.as_ref().map(Raw::view));
    if !issues.is_empty() {
        return invalid(Some(message.kind.to_owned()), issues);
    }
    Parsed::Ok(Envelope { kind: Cow::Borrowed(message.kind), ..envelope })
}

/// The envelope before anything is known about its type.
struct Head<'a> {
    gm: i64,
    seq: u64,
    ts: u64,
    run: RunId,
    kind: Cow<'a, str>,
    payload: Option<View<'a>>,
    extra: Vec<(Text, View<'a>)>,
}

impl<'a> Head<'a> {
    fn read(whole: &'a Raw) -> Result<Head<'a>, Vec<Issue>> {
        let view = whole.view();
        if view.kind() != Kind::Object {
            return Err(vec![Issue::new("", "expected object")]);
        }
        let (mut gm, mut seq, mut ts, mut run, mut kind, mut payload) = (None, None, None, None, None, None);
        let mut extra = Vec::new();
        // Assigning lets the last of repeated fields win.
        for (name, value) in view.pairs() {
            let known = match name.raw() {
                b"\"gm\"" => &mut gm,
                b"\"seq\"" => &mut seq,
                b"\"ts\"" => &mut ts,
                b"\"runId\"" => &mut run,
                b"\"type\"" => &mut kind,
                b"\"payload\"" => &mut payload,
                _ if name.is("gm") => &mut gm,
                _ if name.is("seq") => &mut seq,
                _ if name.is("ts") => &mut ts,
                _ if name.is("runId") => &mut run,
                _ if name.is("type") => &mut kind,
                _ if name.is("payload") => &mut payload,
                _ => {
                    extra.extend(name.text().map(|name| (name, value)));
                    continue;
                }
            };
            *known = Some(value);
        }
        let mut issues = Vec::new();
        let gm = need(&mut issues, "gm", gm, signed);
        let seq = need(&mut issues, "seq", seq, unsigned);
        let ts = need(&mut issues, "ts", ts, unsigned);
        let run = need(&mut issues, "runId", run, run_id);
        let kind = need(&mut issues, "type", kind, word);
        match (gm, seq, ts, run, kind) {
            (Some(gm), Some(seq), Some(ts), Some(run), Some(kind)) => {
                Ok(Head { gm, seq, ts, run, kind, payload, extra })
            }
            _ => Err(issues),
        }
    }
}

type Reader<'a, T> = fn(View<'a>) -> Result<T, &'static str>;

fn need<'a, T>(issues: &mut Vec<Issue>, name: &str, value: Option<View<'a>>, read: Reader<'a, T>) -> Option<T> {
    match value.ok_or("required").and_then(read) {
        Ok(value) => Some(value),
        Err(message) => {
            issues.push(Issue::new(name, message));
            None
        }
    }
}

fn signed(view: View<'_>) -> Result<i64, &'static str> {
    integer(view, i64::MIN).ok_or("expected integer")
}

fn unsigned(view: View<'_>) -> Result<u64, &'static str> {
    view.u64().filter(|value| *value <= SAFE).ok_or("expected integer from 0 to 2^53 - 1")
}

fn run_id(view: View<'_>) -> Result<RunId, &'static str> {
    RunId::new(&word(view)?).ok_or("expected string without U+0000")
}

fn word(view: View<'_>) -> Result<Cow<'_, str>, &'static str> {
    match view.kind() {
        Kind::String => view.str().ok_or("expected string without lone surrogates"),
        Kind::Null | Kind::Bool | Kind::Number | Kind::Array | Kind::Object => Err("expected string"),
    }
}

fn invalid(kind: Option<String>, issues: Vec<Issue>) -> Parsed {
    Parsed::Invalid { kind, issues }
}
