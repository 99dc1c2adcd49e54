//! A frame as the fake hub got it.

use lockgate_protocol::json::Raw;
use tokio::time::Instant;

/// A frame and when it came.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Number of the connection, the first being 1.
    pub connection: usize,
    /// When.
    pub at: Instant,
    /// Its text.
    pub text: String,
    /// `seq`; 0 if there is none.
    pub seq: u64,
    /// `ts`; 0 if there is none.
    pub ts: u64,
    /// `runId`; empty if there is none.
    pub run: String,
    /// `type`; empty if there is none.
    pub kind: String,
    /// Text of `payload`; empty if there is none.
    pub payload: String,
}

impl Seen {
    pub(super) fn new(connection: usize, text: &str) -> Seen {
        let raw = Raw::parse(text.to_owned()).unwrap_or_else(|_| Raw::null());
        let field = |name: &str| raw.view().get(name);
        let string = |name: &str| field(name).and_then(|value| value.str()).map(|value| value.into_owned());
        let payload = field("payload").map(|payload| String::from_utf8_lossy(payload.raw()).into_owned());
        Seen {
            connection,
            at: Instant::now(),
            seq: field("seq").and_then(|value| value.u64()).unwrap_or_default(),
            ts: field("ts").and_then(|value| value.u64()).unwrap_or_default(),
            run: string("runId").unwrap_or_default(),
            kind: string("type").unwrap_or_default(),
            payload: payload.unwrap_or_default(),
            text: text.to_owned(),
        }
    }

    /// The text of a field of the payload, quotes taken off a string; empty if there is none.
    pub fn field(&self, name: &str) -> String {
        let Ok(raw) = Raw::parse(self.payload.clone()) else { return String::new() };
        let Some(value) = raw.view().get(name) else { return String::new() };
        value.str().map_or_else(|| String::from_utf8_lossy(value.raw()).into_owned(), |text| text.into_owned())
    }

    /// `seq type payload`, for people who read a failed test; long payloads are cut.
    pub fn line(&self) -> String {
        let payload: String = self.payload.chars().take(SHOWN).collect();
        format!("{} {} {payload}", self.seq, self.kind)
    }
}

const SHOWN: usize = 400;
