//! What a hub asks of a program under debug (wire §1.6, §10.3).

use std::sync::Arc;

use super::envelope::Envelope;
use super::parse::Issue;
use super::shape::{Matcher, optional};
use super::words::{ResumeAction, RunMode};
use crate::json::{ObjectWriter, Raw, View};

/// A wish of the hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Control {
    /// Let a held call go.
    Resume(ExecResume),
    /// Stop at these calls.
    BreakpointSet(Matcher),
    /// No longer stop at these.
    BreakpointClear(Matcher),
    /// Stop everywhere, or only at breakpoints.
    ModeSet(RunMode),
    /// Somebody looks on, or nobody does.
    WatchSet(Watched),
}

/// How to end a hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecResume {
    /// The hold.
    pub pause_id: Arc<str>,
    /// How.
    pub action: ResumeAction,
    /// The answer to inject.
    pub output: Option<Raw>,
    /// The input to go on with; being present it always means an edit.
    pub input: Option<Raw>,
    /// To be echoed.
    pub request_id: Option<String>,
    /// The digest to pin with this approval of a drift (wire §10.2).
    pub pin: Option<String>,
}

/// Whether at least one viewer or control client is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watched {
    /// Somebody is.
    Yes,
    /// Nobody is.
    No,
}

impl Control {
    /// Its `type` on the wire.
    pub const fn kind(&self) -> &'static str {
        match self {
            Control::Resume(_) => "exec.resume",
            Control::BreakpointSet(_) => "breakpoint.set",
            Control::BreakpointClear(_) => "breakpoint.clear",
            Control::ModeSet(_) => "mode.set",
            Control::WatchSet(_) => "watch.set",
        }
    }

    /// Its payload.
    pub fn payload(&self) -> Raw {
        Raw::object(|w| match self {
            Control::Resume(resume) => resume.write(w),
            Control::BreakpointSet(matcher) | Control::BreakpointClear(matcher) => {
                w.object("matcher", |w| matcher.write(w));
            }
            Control::ModeSet(mode) => {
                w.str("mode", mode.as_str());
            }
            Control::WatchSet(watched) => {
                w.bool("watched", *watched == Watched::Yes);
            }
        })
    }

    /// Reads a control out of an envelope that parsed.
    ///
    /// # Errors
    /// When the envelope is no control, or a matcher in it has a value we cannot honour.
    pub fn read(envelope: &Envelope) -> Result<Control, Issue> {
        let payload = envelope.payload.as_ref().ok_or_else(|| Issue::new("payload", "required"))?;
        let view = payload.view();
        match envelope.kind.as_ref() {
            "exec.resume" => ExecResume::read(payload).map(Control::Resume),
            "breakpoint.set" => matcher(view).map(Control::BreakpointSet),
            "breakpoint.clear" => matcher(view).map(Control::BreakpointClear),
            "mode.set" => {
                let mode = view.get("mode").and_then(View::str).and_then(|word| RunMode::parse(&word));
                mode.map(Control::ModeSet).ok_or_else(|| Issue::new("payload.mode", "unknown value"))
            }
            "watch.set" => {
                let watched = view.get("watched").and_then(View::bool);
                let watched = watched.map(|watched| if watched { Watched::Yes } else { Watched::No });
                watched.map(Control::WatchSet).ok_or_else(|| Issue::new("payload.watched", "expected boolean"))
            }
            _ => Err(Issue::new("type", "no control")),
        }
    }
}

impl ExecResume {
    fn write(&self, w: &mut ObjectWriter<'_>) {
        w.str("pauseId", &self.pause_id).str("action", self.action.as_str());
        optional(self.output.as_ref(), |output| w.raw("output", output));
        optional(self.input.as_ref(), |input| w.raw("input", input));
        optional(self.request_id.as_deref(), |request| w.str("requestId", request));
        optional(self.pin.as_deref(), |pin| w.str("pin", pin));
    }

    fn read(payload: &Raw) -> Result<ExecResume, Issue> {
        let view = payload.view();
        let text = |name| view.get(name).and_then(View::text).map(|text| text.to_lossy().into_owned());
        let part = |name| view.get(name).map(|value| payload.part(value));
        let action = view.get("action").and_then(View::str).and_then(|word| ResumeAction::parse(&word));
        Ok(ExecResume {
            pause_id: text("pauseId").ok_or_else(|| Issue::new("payload.pauseId", "expected string"))?.into(),
            action: action.ok_or_else(|| Issue::new("payload.action", "unknown value"))?,
            output: part("output"),
            input: part("input"),
            request_id: text("requestId"),
            pin: text("pin"),
        })
    }
}

fn matcher(payload: View<'_>) -> Result<Matcher, Issue> {
    let matcher = payload.get("matcher").ok_or_else(|| Issue::new("payload.matcher", "required"))?;
    Matcher::read(matcher).map_err(|issue| issue.below("payload.matcher"))
}
