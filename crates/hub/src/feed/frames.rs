//! The frames a viewer gets (hub §5), as text.

use std::sync::Arc;

use lockgate_protocol::debug::PROTOCOL;
use lockgate_protocol::json::{ObjectWriter, Raw};

use crate::outbox::{Text, text};
use crate::pauses::{Key, Outcome};
use crate::store::{Head, Liveness, NewEvent, Run, StoredEvent};

/// A frame of the given type.
pub(crate) fn frame(kind: &str, fill: impl FnOnce(&mut ObjectWriter<'_>)) -> Text {
    let mut out = Vec::with_capacity(256);
    let mut writer = ObjectWriter::new(&mut out);
    writer.str("type", kind);
    fill(&mut writer);
    writer.end();
    text(out)
}

pub(crate) fn runs(runs: &[(Run, Liveness)]) -> Text {
    frame("runs", |w| {
        w.array("runs", runs, |out, (run, now)| run.write(*now, out));
    })
}

pub(crate) fn run_update(run: &Run, now: Liveness) -> Text {
    frame("run.update", |w| {
        w.with("run", |out| run.write(now, out));
    })
}

pub(crate) fn replay_start(run: &str, count: u64) -> Text {
    frame("replay.start", |w| {
        w.str("runId", run).u64("count", count);
    })
}

pub(crate) fn replay_end(run: &str) -> Text {
    frame("replay.end", |w| {
        w.str("runId", run);
    })
}

pub(crate) fn behind(run: &str, missed: u64) -> Text {
    frame("behind", |w| {
        w.str("runId", run).u64("missed", missed);
    })
}

/// Everything of the run up to here is on disk.
pub(crate) fn stored(run: &str, ord: u64) -> Text {
    frame("stored", |w| {
        w.str("runId", run).u64("ord", ord);
    })
}

pub(crate) fn fresh_event(event: &NewEvent, ord: u64) -> Text {
    let head = Head { gm: PROTOCOL, seq: event.seq, ts: event.ts, run: &event.run, kind: &event.kind };
    event_frame(head, ord, event.payload.as_ref(), event.extra.as_ref())
}

pub(crate) fn stored_event(run: &str, event: &StoredEvent) -> Text {
    let head = Head { gm: PROTOCOL, seq: event.seq, ts: event.ts, run, kind: &event.kind };
    event_frame(head, event.ord, event.payload.as_ref(), event.extra.as_ref())
}

fn event_frame(head: Head<'_>, ord: u64, payload: Option<&Raw>, extra: Option<&Raw>) -> Text {
    let mut out = Vec::with_capacity(192 + payload.map_or(0, Raw::len));
    let mut writer = ObjectWriter::new(&mut out);
    writer.str("type", "event").str("runId", head.run).u64("ord", ord);
    writer.with("envelope", |out| head.write(payload, extra, out));
    writer.end();
    text(out)
}

/// What was wrong with something a viewer sent.
#[derive(Debug, Default)]
pub(crate) struct Complaint {
    pub(crate) message: String,
    pub(crate) key: Option<Key>,
    pub(crate) run: Option<Arc<str>>,
    pub(crate) outcome: Option<Outcome>,
    /// The viewer's own; ids minted here are not shown.
    pub(crate) request: Option<Arc<str>>,
}

impl Complaint {
    pub(crate) fn new(message: impl Into<String>) -> Complaint {
        Complaint { message: message.into(), ..Complaint::default() }
    }

    pub(crate) fn frame(&self) -> Text {
        frame("error", |w| {
            w.str("message", &self.message);
            let run = self.key.as_ref().map(|key| &key.run).or(self.run.as_ref());
            for (name, value) in [
                ("runId", run),
                ("pauseId", self.key.as_ref().map(|key| &key.pause)),
                ("requestId", self.request.as_ref()),
            ] {
                if let Some(value) = value {
                    w.str(name, value);
                }
            }
            if let Some(outcome) = &self.outcome {
                w.str("outcome", outcome.kind.as_str());
                if let Some(code) = outcome.code {
                    w.str("code", code.as_str());
                }
            }
        })
    }
}

/// How a resume that was forwarded ended.
pub(crate) fn resume_result(key: &Key, request: &str, outcome: &Outcome) -> Text {
    frame("resume.result", |w| {
        w.str("runId", &key.run).str("pauseId", &key.pause).str("requestId", request);
        w.str("outcome", outcome.kind.as_str());
        outcome.write(w);
    })
}
