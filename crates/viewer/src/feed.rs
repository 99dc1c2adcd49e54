//! What a hub says to a viewer and what a viewer asks of it (hub §5). Frames we do not know are passed over.

use std::sync::Arc;

use bytes::Bytes;
use lockgate_protocol::debug::{Control, Envelope, Matcher, Parsed, RunId, RunMode, parse};
use lockgate_protocol::json::{Limits, Raw, View};

use crate::model::{RunInfo, read::Fields};

/// A frame from the hub.
#[derive(Debug, Clone)]
pub(crate) enum Frame {
    Welcome(Welcome),
    State { breakpoints: Vec<Matcher>, mode: RunMode },
    Runs(Vec<RunInfo>),
    RunUpdate(RunInfo),
    ReplayStart { run: Arc<str>, count: u64 },
    ReplayEnd { run: Arc<str> },
    Event { run: Arc<str>, ord: Option<u64>, envelope: Box<Envelope> },
    Stored { run: Arc<str>, ord: u64 },
    Behind { run: Arc<str>, missed: u64 },
    Outcome(Outcome),
}

/// What a fresh connection is told.
#[derive(Debug, Clone)]
pub(crate) struct Welcome {
    pub(crate) breakpoints: Vec<Matcher>,
    pub(crate) mode: RunMode,
    /// Who the hub takes us for: `viewer`, `agent`, `anonymous`.
    pub(crate) principal: String,
    pub(crate) edit_input: bool,
}

/// How something we asked for ended: an answer to a release, or an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) pause: Option<String>,
    pub(crate) request: Option<String>,
    pub(crate) outcome: String,
    pub(crate) code: Option<String>,
    pub(crate) message: Option<String>,
}

impl Frame {
    /// Nothing for frames we do not know and for frames that make no sense.
    pub(crate) fn read(text: Bytes) -> Option<Self> {
        let raw = Raw::check(text, WITHIN).ok()?.raw;
        let fields = Fields::of(&raw);
        let run = || fields.id("runId");
        Some(match fields.text("type")?.as_str() {
            "welcome" => Self::Welcome(Welcome::read(&raw)),
            "state" => Self::State { breakpoints: breakpoints(raw.view()), mode: mode(fields) },
            "runs" => Self::Runs(fields.each("runs").filter_map(RunInfo::read).collect()),
            "run.update" => Self::RunUpdate(RunInfo::read(fields.below("run")?)?),
            "replay.start" => Self::ReplayStart { run: run()?, count: fields.count("count").unwrap_or_default() },
            "replay.end" => Self::ReplayEnd { run: run()? },
            "event" => {
                let envelope = Box::new(envelope(&fields.part("envelope")?)?);
                Self::Event { run: run()?, ord: fields.count("ord"), envelope }
            }
            "stored" => Self::Stored { run: run()?, ord: fields.count("ord")? },
            "behind" => Self::Behind { run: run()?, missed: fields.count("missed").unwrap_or_default() },
            "error" | "resume.result" => Self::Outcome(Outcome::read(fields)),
            _ => return None,
        })
    }
}

impl Welcome {
    fn read(raw: &Raw) -> Self {
        let fields = Fields::of(raw);
        let control = fields.below("control");
        Self {
            breakpoints: breakpoints(raw.view()),
            mode: mode(fields),
            // A hub that says nothing is of the time before tokens.
            principal: control.and_then(|control| control.text("principal")).unwrap_or_else(|| "viewer".to_owned()),
            edit_input: control.is_some_and(|control| control.is_true("editInput")),
        }
    }
}

impl Outcome {
    fn read(fields: Fields<'_>) -> Self {
        Self {
            pause: fields.text("pauseId"),
            request: fields.text("requestId"),
            outcome: fields.text("outcome").unwrap_or_else(|| "error".to_owned()),
            code: fields.text("code"),
            message: fields.text("message"),
        }
    }
}

/// Asks for the run list and its changes.
pub(crate) fn subscribe_list() -> String {
    subscribe("*", None)
}

/// Asks for a run's events after the given arrival number.
pub(crate) fn subscribe(run: &str, after: Option<u64>) -> String {
    text(&Raw::object(|w| {
        w.str("type", "subscribe").str("runId", run);
        if let Some(after) = after {
            w.u64("after", after);
        }
    }))
}

/// No more of a run's events.
pub(crate) fn unsubscribe(run: &str) -> String {
    text(&Raw::object(|w| {
        w.str("type", "unsubscribe").str("runId", run);
    }))
}

/// Asks for a change of the debug state, or for a release in `run`. The hub counts its own `seq`.
pub(crate) fn control(run: Option<&str>, control: &Control, now: u64) -> String {
    let run = run.and_then(RunId::new).unwrap_or_else(RunId::none);
    let payload = Some(control.payload());
    let envelope = Envelope { seq: 0, ts: now, run, kind: control.kind().into(), payload, extra: Vec::new() };
    let mut written = Vec::new();
    envelope.write(&mut written);
    let envelope = Raw::parse(written).unwrap_or_else(|_| Raw::null());
    text(&Raw::object(|w| {
        w.str("type", "control").raw("envelope", &envelope);
    }))
}

fn envelope(raw: &Raw) -> Option<Envelope> {
    match parse(raw.bytes().clone()) {
        Parsed::Ok(envelope) | Parsed::UnknownType(envelope) => Some(envelope),
        Parsed::VersionMismatch { .. } | Parsed::Invalid { .. } => None,
    }
}

fn breakpoints(view: View<'_>) -> Vec<Matcher> {
    let listed = view.get("breakpoints").into_iter().flat_map(View::items);
    listed.filter_map(|matcher| Matcher::read(matcher).ok()).collect()
}

fn mode(fields: Fields<'_>) -> RunMode {
    fields.word("mode", RunMode::parse).unwrap_or(RunMode::Run)
}

fn text(raw: &Raw) -> String {
    String::from_utf8_lossy(raw.as_bytes()).into_owned()
}

/// Whole frames of programs stand in those of a hub.
const WITHIN: Limits = Limits { depth: 2 * Limits::FRAME.depth, ..Limits::FRAME };

#[cfg(test)]
mod tests {
    use super::Frame;

    #[test]
    fn whatever_a_hub_takes_in_can_be_shown() {
        let deep = format!("{}{}", "[".repeat(4_096), "]".repeat(4_096));
        let envelope = format!(r#"{{"gm":1,"seq":1,"ts":1,"runId":"r","type":"x","payload":{{"input":{deep}}}}}"#);
        let frame = Frame::read(format!(r#"{{"type":"event","runId":"r","ord":1,"envelope":{envelope}}}"#).into());
        assert!(matches!(frame, Some(Frame::Event { .. })), "{frame:?}");
    }
}
