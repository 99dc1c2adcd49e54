//! What the run list says about a run.

use std::sync::Arc;

use super::read::Fields;

/// One line of the run list, as the hub counts it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunInfo {
    /// The run.
    pub id: Arc<str>,
    /// The program.
    pub app: String,
    /// How it stands.
    pub status: Status,
    /// `live`, `import` or `demo`.
    pub source: String,
    /// Epoch milliseconds.
    pub started: u64,
    /// Epoch milliseconds; none while it runs.
    pub finished: Option<u64>,
    /// Events stored.
    pub events: u64,
    /// Failed attempts.
    pub errors: u64,
    /// Calls held now.
    pub held: u64,
    /// Whether its program is connected.
    pub live: bool,
}

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Still going.
    Running,
    /// Ended well.
    Ok,
    /// Ended with an error.
    Error,
    /// Was ended.
    Aborted,
    /// Its program vanished.
    Abandoned,
}

impl Status {
    /// The hub's word.
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "running" => Self::Running,
            "ok" => Self::Ok,
            "error" => Self::Error,
            "aborted" => Self::Aborted,
            "abandoned" => Self::Abandoned,
            _ => return None,
        })
    }

    /// The hub's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Aborted => "aborted",
            Self::Abandoned => "abandoned",
        }
    }
}

impl RunInfo {
    /// Nothing without an id.
    pub(crate) fn read(fields: Fields<'_>) -> Option<Self> {
        Some(Self {
            id: fields.id("id")?,
            app: fields.text("app").unwrap_or_default(),
            status: fields.word("status", Status::parse).unwrap_or(Status::Running),
            source: fields.text("source").unwrap_or_default(),
            started: fields.count("startedAt").unwrap_or_default(),
            finished: fields.count("finishedAt"),
            events: fields.count("eventCount").unwrap_or_default(),
            errors: fields.count("errorCount").unwrap_or_default(),
            held: fields.count("held").unwrap_or_default(),
            live: fields.is_true("live"),
        })
    }
}
