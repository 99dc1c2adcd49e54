//! What is kept of runs: the rows as the rest of the hub sees them. SQL stays below `store/`.

pub mod error;
pub mod sqlite;

use std::borrow::Cow;
use std::sync::Arc;

use lockgate_protocol::json::{ObjectWriter, Raw};

/// Where a run stands (hub §4). `Abandoned` is the hub's own word: the app died in the middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Running,
    Ok,
    Error,
    Aborted,
    Abandoned,
}

impl Status {
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Running => "running",
            Status::Ok => "ok",
            Status::Error => "error",
            Status::Aborted => "aborted",
            Status::Abandoned => "abandoned",
        }
    }

    /// Unknown words, which only a foreign writer leaves behind, read as over.
    pub fn parse(text: &str) -> Status {
        match text {
            "running" => Status::Running,
            "ok" => Status::Ok,
            "error" => Status::Error,
            "aborted" => Status::Aborted,
            _ => Status::Abandoned,
        }
    }

    /// Said by the app itself, so never relabelled.
    pub fn is_final(self) -> bool {
        matches!(self, Status::Ok | Status::Error | Status::Aborted)
    }
}

/// How a run came here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Live,
    Import,
    Demo,
}

impl Source {
    pub fn as_str(self) -> &'static str {
        match self {
            Source::Live => "live",
            Source::Import => "import",
            Source::Demo => "demo",
        }
    }

    pub fn parse(text: &str) -> Source {
        match text {
            "import" => Source::Import,
            "demo" => Source::Demo,
            _ => Source::Live,
        }
    }
}

/// One stored run. Times are epoch milliseconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    pub id: Arc<str>,
    pub app: Arc<str>,
    pub started_at: f64,
    pub finished_at: Option<f64>,
    pub status: Status,
    pub schema_version: u64,
    pub source: Source,
    pub events: u64,
    pub errors: u64,
    /// Highest arrival number given out; 0 before the first event.
    pub last_ord: u64,
}

/// What only the running hub knows about a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Liveness {
    pub live: bool,
    /// Open pauses.
    pub held: usize,
}

impl Run {
    /// Writes the `RunInfo` of hub §2.
    pub fn write(&self, now: Liveness, out: &mut Vec<u8>) {
        let mut run = ObjectWriter::new(out);
        run.str("id", &self.id).str("app", &self.app).f64("startedAt", self.started_at);
        match self.finished_at {
            Some(at) => run.f64("finishedAt", at),
            None => run.null("finishedAt"),
        };
        run.str("status", self.status.as_str());
        run.u64("schemaVersion", self.schema_version).str("source", self.source.as_str());
        run.u64("eventCount", self.events).u64("errorCount", self.errors).bool("live", now.live);
        match self.finished_at.filter(|_| self.status != Status::Running) {
            Some(at) => run.f64("durationMs", (at - self.started_at).max(0.0)),
            None => run.null("durationMs"),
        };
        run.u64("held", u64::try_from(now.held).unwrap_or(u64::MAX));
        run.end();
    }
}

/// A run as its first frame introduces it; an existing one of that id is left alone.
#[derive(Debug, Clone)]
pub struct NewRun {
    pub id: Arc<str>,
    pub app: Arc<str>,
    pub started_at: u64,
    pub source: Source,
}

/// An event on its way in.
#[derive(Debug, Clone)]
pub struct NewEvent {
    pub run: Arc<str>,
    pub seq: u64,
    pub ts: u64,
    pub kind: Cow<'static, str>,
    pub node: Option<Arc<str>>,
    /// Absent only in frames of types nobody here knows.
    pub payload: Option<Raw>,
    /// Envelope members the protocol does not name, as one object.
    pub extra: Option<Raw>,
    pub mark: Mark,
}

impl NewEvent {
    /// Bytes it takes in memory, about.
    pub fn weight(&self) -> usize {
        256 + self.payload.as_ref().map_or(0, Raw::len)
    }
}

/// What an event changes on its run's row, in the transaction that keeps the event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mark {
    None,
    Started { app: Arc<str> },
    Finished { status: Status },
    Error,
}

/// What one transaction keeps, in this order.
#[derive(Debug, Default)]
pub struct Batch {
    /// Rows that a failing store has missed, as they should stand.
    pub rows: Vec<Run>,
    /// Events that it has missed, with the numbers they were shown under; their runs are among `rows`. Present in the batch
    /// that is to find out whether the store works again.
    pub missed: Option<Vec<(NewEvent, u64)>>,
    pub runs: Vec<NewRun>,
    pub events: Vec<NewEvent>,
    pub turns: Vec<Turn>,
}

impl Batch {
    pub fn is_empty(&self) -> bool {
        let Batch { rows, missed, runs, events, turns } = self;
        missed.is_none() && rows.is_empty() && runs.is_empty() && events.is_empty() && turns.is_empty()
    }
}

/// A status the hub itself decides.
#[derive(Debug, Clone)]
pub enum Turn {
    /// Only a running run; it ends when its last event came, else `now` (ms).
    Abandoned { run: Arc<str>, now: u64 },
    /// Only an abandoned run; it is running again.
    Resumed { run: Arc<str> },
}

impl Turn {
    pub fn run(&self) -> &Arc<str> {
        match self {
            Turn::Abandoned { run, .. } | Turn::Resumed { run } => run,
        }
    }
}

/// What became of a [`Batch`].
#[derive(Debug, Default)]
pub struct Committed {
    /// Per event of the batch its arrival number, or nothing for one that was here already.
    pub ords: Vec<Option<u64>>,
    /// Per run of the batch its counts now.
    pub totals: Vec<(Arc<str>, Totals)>,
}

/// The counts of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    pub events: u64,
    pub errors: u64,
    pub last_ord: u64,
}

/// An event as it was kept.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredEvent {
    pub ord: u64,
    pub seq: u64,
    pub ts: u64,
    pub kind: String,
    pub node: Option<String>,
    /// `null` when the stored text is damaged; nothing when the frame had none.
    pub payload: Option<Raw>,
    pub extra: Option<Raw>,
}

impl StoredEvent {
    /// As it will be read once it is kept.
    pub fn of(event: &NewEvent, ord: u64) -> StoredEvent {
        StoredEvent {
            ord,
            seq: event.seq,
            ts: event.ts,
            kind: event.kind.clone().into_owned(),
            node: event.node.as_deref().map(str::to_owned),
            payload: event.payload.clone(),
            extra: event.extra.clone(),
        }
    }

    /// Writes the whole envelope; `gm` is the protocol major to show.
    pub fn write(&self, gm: u64, run: &str, out: &mut Vec<u8>) {
        let head = Head { gm, seq: self.seq, ts: self.ts, run, kind: &self.kind };
        head.write(self.payload.as_ref(), self.extra.as_ref(), out);
    }
}

/// The fixed members of an envelope, in wire order.
#[derive(Debug, Clone, Copy)]
pub struct Head<'a> {
    pub gm: u64,
    pub seq: u64,
    pub ts: u64,
    pub run: &'a str,
    pub kind: &'a str,
}

impl Head<'_> {
    /// Writes the envelope with its payload and the members the protocol does not name.
    pub fn write(self, payload: Option<&Raw>, extra: Option<&Raw>, out: &mut Vec<u8>) {
        let mut envelope = ObjectWriter::new(out);
        envelope.u64("gm", self.gm).u64("seq", self.seq).u64("ts", self.ts);
        envelope.str("runId", self.run).str("type", self.kind);
        if let Some(payload) = payload {
            envelope.raw("payload", payload);
        }
        for (name, value) in extra.iter().flat_map(|extra| extra.view().members()) {
            if let Some(name) = name.as_str() {
                envelope.view(name, value);
            }
        }
        envelope.end();
    }
}

/// Part of a run's events, in the order asked for.
#[derive(Debug, Default)]
pub struct Page {
    pub events: Vec<StoredEvent>,
    /// Whether the run goes on behind the last of them.
    pub more: bool,
}

impl Page {
    /// A page by `seq` with those of `late` that belong on it: above `after`, and `rows` in all.
    #[must_use]
    pub fn with(self, late: Vec<StoredEvent>, (after, rows): (i64, usize)) -> Page {
        // What lies behind a page that goes on belongs to the next.
        let end = self.events.last().filter(|_| self.more).map_or(u64::MAX, |last| last.seq);
        let Page { mut events, more } = self;
        let here = |event: &StoredEvent| event.seq < end && i64::try_from(event.seq).is_ok_and(|seq| seq > after);
        events.extend(late.into_iter().filter(here));
        events.sort_by_key(|event| event.seq);
        events.dedup_by_key(|event| event.seq);
        let more = more || events.len() > rows;
        events.truncate(rows);
        Page { events, more }
    }
}

/// How much one page may hold; whichever comes first ends it, but it has at least one event.
#[derive(Debug, Clone, Copy)]
pub struct PageSize {
    pub rows: usize,
    pub bytes: usize,
}

/// Events above `after`, up to and with `up_to`.
#[derive(Debug, Clone, Copy)]
pub struct OrdRange {
    pub after: u64,
    pub up_to: u64,
}

impl OrdRange {
    pub const ALL: OrdRange = OrdRange { after: 0, up_to: u64::MAX };
}

#[cfg(test)]
mod tests {
    use super::{Page, StoredEvent};

    fn events(seqs: &[u64]) -> Vec<StoredEvent> {
        let event = |seq: &u64| StoredEvent {
            ord: *seq,
            seq: *seq,
            ts: 1,
            kind: "node.token".to_owned(),
            node: None,
            payload: None,
            extra: None,
        };
        seqs.iter().map(event).collect()
    }

    #[test]
    fn late_events_stand_where_they_belong() {
        let check = |(stored, more): (&[u64], bool), late: &[u64], asked, expected: (&[u64], bool)| {
            let page = Page { events: events(stored), more }.with(events(late), asked);
            let seqs: Vec<u64> = page.events.iter().map(|event| event.seq).collect();
            assert_eq!((seqs.as_slice(), page.more), expected, "{stored:?} and {late:?}");
        };
        check((&[1, 3], false), &[], (-1, 5), (&[1, 3], false));
        check((&[1, 3], false), &[4, 2, 3], (-1, 5), (&[1, 2, 3, 4], false));
        check((&[1, 3], false), &[2, 4], (-1, 2), (&[1, 2], true));
        check((&[1, 3], true), &[2, 4], (-1, 2), (&[1, 2], true));
        check((&[3], false), &[1, 2, 4], (2, 5), (&[3, 4], false));
        check((&[], false), &[0, 7], (-1, 1), (&[0], true));
        check((&[5, 6], true), &[7], (4, 2), (&[5, 6], true));
    }
}
