//! Holds: how they begin, what they refuse, how they end or are about to.

use std::sync::Arc;

use super::{extra, redaction};
use crate::debug::shape::{Extra, GuardHold, LoopInfo, Redaction, Smart, Until, optional};
use crate::debug::words::{PausePoint, PauseReason, RefusalCode, ResumeAction};
use crate::json::{ObjectWriter, Raw};

/// `exec.paused`
#[derive(Debug, Clone, PartialEq)]
pub struct ExecPaused {
    /// This hold.
    pub pause_id: Arc<str>,
    /// The node that is held.
    pub node_id: Arc<str>,
    /// Where it stands.
    pub point: PausePoint,
    /// Why.
    pub reason: Option<PauseReason>,
    /// Details of a loop hold.
    pub looped: Option<LoopInfo>,
    /// Details of a smart hold.
    pub smart: Option<Smart>,
    /// Whether an edited input may be sent; written only when true.
    pub editable: bool,
    /// The execution that is held, if it has a name.
    pub instance_id: Option<Arc<str>>,
    /// Details of a guard hold.
    pub hold: Option<GuardHold>,
    /// When it ends by itself.
    pub until: Option<Until>,
    /// Loose fields.
    pub extra: Extra,
}

/// `exec.refused`
#[derive(Debug, Clone, PartialEq)]
pub struct ExecRefused {
    /// The hold that goes on.
    pub pause_id: Arc<str>,
    /// Why the resume was refused.
    pub code: RefusalCode,
    /// At most 200 characters that never quote a value.
    pub message: Option<String>,
    /// Echo of the resume's.
    pub request_id: Option<String>,
    /// What was hidden.
    pub redaction: Option<Redaction>,
    /// Loose fields.
    pub extra: Extra,
}

/// `exec.resumed`
#[derive(Debug, Clone, PartialEq)]
pub struct ExecResumed {
    /// The hold that ended.
    pub pause_id: Arc<str>,
    /// How.
    pub action: ResumeAction,
    /// The edited input the call goes on with; written as `edited.after`.
    pub edited: Option<Raw>,
    /// Echo of the resume's; absent on automatic release.
    pub request_id: Option<String>,
    /// What was hidden.
    pub redaction: Option<Redaction>,
    /// Loose fields.
    pub extra: Extra,
}

/// `exec.until` (wire §10.5)
#[derive(Debug, Clone, PartialEq)]
pub struct ExecUntil {
    /// The hold.
    pub pause_id: Arc<str>,
    /// Its new end; none when it no longer ends by itself.
    pub until: Option<Until>,
    /// Loose fields.
    pub extra: Extra,
}

impl ExecPaused {
    pub(super) fn write(&self, w: &mut ObjectWriter<'_>) {
        w.str("pauseId", &self.pause_id).str("nodeId", &self.node_id).str("point", self.point.as_str());
        optional(self.reason, |reason| w.str("reason", reason.as_str()));
        optional(self.looped.as_ref(), |looped| w.object("loop", |w| looped.write(w)));
        optional(self.smart.as_ref(), |smart| w.object("smart", |w| smart.write(w)));
        if self.editable {
            w.bool("editable", true);
        }
        let named = self.instance_id.as_deref().filter(|instance| !instance.is_empty());
        optional(named, |instance| w.str("instanceId", instance));
        optional(self.hold.as_ref(), |hold| w.object("hold", |w| hold.write(w)));
        optional(self.until, |until| w.object("until", |w| until.write(w)));
        extra(&self.extra, w);
    }
}

impl ExecRefused {
    pub(super) fn write(&self, w: &mut ObjectWriter<'_>) {
        w.str("pauseId", &self.pause_id).str("code", self.code.as_str());
        optional(self.message.as_deref(), |message| w.str("message", message));
        optional(self.request_id.as_deref(), |request| w.str("requestId", request));
        extra(&self.extra, w);
        redaction(self.redaction.as_ref(), w);
    }
}

impl ExecResumed {
    pub(super) fn write(&self, w: &mut ObjectWriter<'_>) {
        w.str("pauseId", &self.pause_id).str("action", self.action.as_str());
        optional(self.edited.as_ref(), |after| {
            w.object("edited", |w| {
                w.raw("after", after);
            })
        });
        optional(self.request_id.as_deref(), |request| w.str("requestId", request));
        extra(&self.extra, w);
        redaction(self.redaction.as_ref(), w);
    }
}

impl ExecUntil {
    pub(super) fn write(&self, w: &mut ObjectWriter<'_>) {
        w.str("pauseId", &self.pause_id);
        optional(self.until, |until| until.write(w));
        extra(&self.extra, w);
    }
}
