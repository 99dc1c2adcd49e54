//! Reads one frame from a program: what to keep of it, and what it means for the live state. Pure.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use lockgate_protocol::debug::{self, Class, Envelope, Hello, Parsed, RefusalCode, RunStatus};
use lockgate_protocol::json::{Kind, ObjectWriter, Raw, View};
use lockgate_protocol::shrink::{Shrunk, shrink};

use crate::pauses::{Item, Winner, small};
use crate::store::{Head, Mark, NewEvent, Status};

/// A frame, as far as the hub is concerned.
#[derive(Debug)]
pub(crate) enum Frame {
    Hello(Hello),
    Event(Incoming),
    /// Another protocol major.
    Mismatch,
    Dropped(Dropped),
}

/// Why a frame is passed over. Nothing of it is quoted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Dropped {
    /// Not valid; the first issue says where.
    Invalid(String),
    /// Bound to no run, or not a program's to say.
    Misplaced,
    /// An id or a type longer than any sane one.
    Long,
}

/// An event and what it does to the live state once it is stored.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) event: NewEvent,
    pub(crate) note: Note,
}

/// What the live state learns from an event, beside its [`Mark`].
#[derive(Debug)]
pub(crate) enum Note {
    Nothing,
    Paused {
        pause: Arc<str>,
        item: Box<Item>,
    },
    /// `winner` is found out before the frame is stored, and stamped into it.
    Resumed {
        pause: Arc<str>,
        action: String,
        request: Option<String>,
        winner: Option<Winner>,
    },
    Refused {
        pause: Arc<str>,
        code: RefusalCode,
        message: Option<String>,
        request: Option<String>,
    },
    Until {
        pause: Arc<str>,
        until: Option<Raw>,
    },
}

/// Names that came last on a connection. Most frames bear the same, and share them.
#[derive(Debug, Default)]
pub(crate) struct Names {
    run: Option<Arc<str>>,
    node: Option<Arc<str>>,
}

/// Reads a frame.
pub(crate) fn read(text: Bytes, names: &mut Names) -> Frame {
    match debug::parse(text) {
        Parsed::Ok(envelope) if envelope.kind == "hello" => match Hello::read(&envelope) {
            Some(hello) => Frame::Hello(hello),
            None => Frame::Dropped(Dropped::Invalid("payload: no hello".to_owned())),
        },
        Parsed::Ok(envelope) if debug::class(&envelope.kind) != Some(Class::Event) => {
            Frame::Dropped(Dropped::Misplaced)
        }
        Parsed::Ok(envelope) | Parsed::UnknownType(envelope) => event(envelope, names),
        Parsed::VersionMismatch { .. } => Frame::Mismatch,
        Parsed::Invalid { issues, .. } => {
            Frame::Dropped(Dropped::Invalid(issues.first().map(ToString::to_string).unwrap_or_default()))
        }
    }
}

fn event(mut envelope: Envelope, names: &mut Names) -> Frame {
    if &*envelope.run == "*" {
        return Frame::Dropped(Dropped::Misplaced);
    }
    if envelope.run.len() > LONGEST_ID || envelope.kind.len() > LONGEST_ID {
        return Frame::Dropped(Dropped::Long);
    }
    let node = envelope.payload.as_ref().and_then(|payload| payload.view().get("nodeId")?.str());
    let node = node.filter(|node| node.len() <= LONGEST_ID).map(|node| shared(&mut names.node, &node));
    if envelope.kind.starts_with("exec.") {
        envelope.payload = envelope.payload.map(without_audit);
    }
    if let Some(cut) = cut(&envelope) {
        // The last tier of shrinking leaves no valid event.
        if debug::class(&envelope.kind).is_some() && !is_valid(&envelope, &cut) {
            return Frame::Dropped(Dropped::Invalid("payload: too large to keep anything of it".to_owned()));
        }
        envelope.payload = Some(cut);
    }
    let (mark, note) = meaning(&envelope);
    let Envelope { seq, ts, run, kind, payload, extra } = envelope;
    let extra = (!extra.is_empty()).then(|| extras(&extra)).filter(|extra| extra.len() <= LONGEST_EXTRA);
    let event = NewEvent { run: shared(&mut names.run, &run), seq, ts, kind, node, payload, extra, mark };
    Frame::Event(Incoming { event, note })
}

/// The name that came last, if it is this one.
fn shared(last: &mut Option<Arc<str>>, name: &str) -> Arc<str> {
    match last {
        Some(last) if **last == *name => Arc::clone(last),
        last => Arc::clone(last.insert(name.into())),
    }
}

fn cut(envelope: &Envelope) -> Option<Raw> {
    match shrink(Some(&envelope.kind), envelope.payload.as_ref()?, BUDGET) {
        Shrunk::Same => None,
        Shrunk::Cut(cut) => Some(cut),
    }
}

fn is_valid(envelope: &Envelope, payload: &Raw) -> bool {
    let mut text = Vec::new();
    let head = Head { gm: 1, seq: envelope.seq, ts: envelope.ts, run: &envelope.run, kind: &envelope.kind };
    head.write(Some(payload), None, &mut text);
    matches!(debug::parse(text.into()), Parsed::Ok(_))
}

fn meaning(envelope: &Envelope) -> (Mark, Note) {
    let Some(payload) = envelope.payload.as_ref().map(Raw::view) else { return (Mark::None, Note::Nothing) };
    let text = |name| payload.get(name).and_then(View::str).map(Cow::into_owned);
    match envelope.kind.as_ref() {
        "run.started" => (Mark::Started { app: name(text("app").as_deref()) }, Note::Nothing),
        "run.finished" => (finished(text("status").as_deref()), Note::Nothing),
        "node.error" => (Mark::Error, Note::Nothing),
        "exec.paused" | "exec.resumed" | "exec.refused" | "exec.until" => {
            let Some(pause) = payload.get("pauseId").and_then(id) else { return (Mark::None, Note::Nothing) };
            (Mark::None, exec(envelope, payload, pause))
        }
        _ => (Mark::None, Note::Nothing),
    }
}

fn exec(envelope: &Envelope, payload: View<'_>, pause: Arc<str>) -> Note {
    let text = |name| payload.get(name).and_then(View::str).map(Cow::into_owned);
    match envelope.kind.as_ref() {
        "exec.paused" => Note::Paused { pause, item: Box::new(Item::read(payload, envelope.ts)) },
        "exec.resumed" => {
            let action = text("action").unwrap_or_default();
            Note::Resumed { pause, action, request: text("requestId"), winner: None }
        }
        "exec.refused" => {
            let code = text("code").as_deref().and_then(RefusalCode::parse).unwrap_or(RefusalCode::Unsupported);
            Note::Refused { pause, code, message: text("message"), request: text("requestId") }
        }
        // `exec.until` has the members of `until` beside the id of the pause.
        _ => {
            let until = payload.get("at").map(|_| Raw::object(|w| members(w, payload, &["pauseId"])));
            Note::Until { pause, until: until.as_ref().map(Raw::view).and_then(small) }
        }
    }
}

fn finished(status: Option<&str>) -> Mark {
    let status = match status.and_then(RunStatus::parse) {
        Some(RunStatus::Ok) => Status::Ok,
        Some(RunStatus::Error) => Status::Error,
        Some(RunStatus::Aborted) => Status::Aborted,
        None => return Mark::None,
    };
    Mark::Finished { status }
}

/// Who released a call is for the hub to say.
fn without_audit(payload: Raw) -> Raw {
    let stamped = AUDIT.iter().any(|name| payload.view().get(name).is_some());
    if !stamped || payload.view().kind() != Kind::Object {
        return payload;
    }
    Raw::object(|w| members(w, payload.view(), &AUDIT))
}

/// Says in an `exec.resumed` who released the call.
pub(crate) fn with_audit(payload: &Raw, principal: &str, operator: Option<&str>) -> Raw {
    Raw::object(|w| {
        members(w, payload.view(), &AUDIT);
        w.str("principal", principal);
        if let Some(operator) = operator {
            w.str("operator", operator);
        }
    })
}

/// Copies the members of an object, some left out.
fn members(w: &mut ObjectWriter<'_>, object: View<'_>, without: &[&str]) {
    for (name, value) in object.members() {
        if name.as_str().is_none_or(|name| !without.contains(&name)) {
            w.member(&name, &Raw::from(value));
        }
    }
}

fn extras(extra: &[(lockgate_protocol::json::Text, Raw)]) -> Raw {
    Raw::object(|w| {
        for (name, value) in extra {
            w.member(name, value);
        }
    })
}

/// The name of a program, cut to what can be shown.
pub(crate) fn name(text: Option<&str>) -> Arc<str> {
    let text = text.filter(|text| !text.trim().is_empty()).unwrap_or("unknown");
    text.chars().take(LONGEST_NAME).collect::<String>().into()
}

/// An id that is a whole string of sane length.
fn id(view: View<'_>) -> Option<Arc<str>> {
    view.str().filter(|text| text.len() <= LONGEST_ID).map(Arc::from)
}

const AUDIT: [&str; 2] = ["principal", "operator"];
/// Bytes of payload that are kept of an event.
const BUDGET: usize = 512 << 10;
const LONGEST_ID: usize = 4_096;
const LONGEST_NAME: usize = 256;
const LONGEST_EXTRA: usize = 16 << 10;

#[cfg(test)]
mod tests;
