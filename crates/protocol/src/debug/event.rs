//! What a program under debug reports (wire §1.5, §10), as senders build it. Fields are written in the order the wire knows;
//! loose ones follow the known ones, `redaction` and `heldMs` of a finished node come last because they are added last.

use std::sync::Arc;

use super::shape::{
    ErrorInfo, Extra, Gap, GraphNodeHint, GuardHold, LoopInfo, Redaction, SdkInfo, Smart, TokenDelta, TokenUsage,
    Until, optional,
};
use super::words::{NodeKind, PausePoint, PauseReason, RefusalCode, ResumeAction, RunStatus};
use crate::json::{ObjectWriter, Raw};

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A run began.
    RunStarted(RunStarted),
    /// A run ended.
    RunFinished(RunFinished),
    /// Nodes to come, or frames lost.
    GraphHint(GraphHint),
    /// A node began.
    NodeStarted(NodeStarted),
    /// A model wrote.
    NodeToken(NodeToken),
    /// A node ended.
    NodeFinished(NodeFinished),
    /// An attempt of a node failed.
    NodeError(NodeError),
    /// A call is held.
    ExecPaused(ExecPaused),
    /// A resume was refused; the call is still held.
    ExecRefused(ExecRefused),
    /// A call was let go.
    ExecResumed(ExecResumed),
    /// The end of a hold moved.
    ExecUntil(ExecUntil),
}

impl Event {
    /// Its `type` on the wire.
    pub const fn kind(&self) -> &'static str {
        match self {
            Event::RunStarted(_) => "run.started",
            Event::RunFinished(_) => "run.finished",
            Event::GraphHint(_) => "graph.hint",
            Event::NodeStarted(_) => "node.started",
            Event::NodeToken(_) => "node.token",
            Event::NodeFinished(_) => "node.finished",
            Event::NodeError(_) => "node.error",
            Event::ExecPaused(_) => "exec.paused",
            Event::ExecRefused(_) => "exec.refused",
            Event::ExecResumed(_) => "exec.resumed",
            Event::ExecUntil(_) => "exec.until",
        }
    }

    /// Appends its payload, a compact object in wire order.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut writer = ObjectWriter::new(out);
        let w = &mut writer;
        match self {
            Event::RunStarted(event) => event.write(w),
            Event::RunFinished(event) => event.write(w),
            Event::GraphHint(event) => event.write(w),
            Event::NodeStarted(event) => event.write(w),
            Event::NodeToken(event) => event.write(w),
            Event::NodeFinished(event) => event.write(w),
            Event::NodeError(event) => event.write(w),
            Event::ExecPaused(event) => event.write(w),
            Event::ExecRefused(event) => event.write(w),
            Event::ExecResumed(event) => event.write(w),
            Event::ExecUntil(event) => event.write(w),
        }
        writer.end();
    }

    /// Its payload.
    pub fn payload(&self) -> Raw {
        let mut out = Vec::with_capacity(256);
        self.write(&mut out);
        Raw::trusted(out)
    }
}

/// `run.started`
#[derive(Debug, Clone, PartialEq)]
pub struct RunStarted {
    /// The program.
    pub app: String,
    /// The library that reports.
    pub sdk: SdkInfo,
    /// An object: `name`, `implicit` and what the user adds.
    pub meta: Option<Raw>,
    /// Loose fields.
    pub extra: Extra,
}

/// `run.finished`
#[derive(Debug, Clone, PartialEq)]
pub struct RunFinished {
    /// How it ended.
    pub status: RunStatus,
    /// Present whenever the run's function failed.
    pub error: Option<ErrorInfo>,
    /// Loose fields.
    pub extra: Extra,
}

/// `graph.hint`
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GraphHint {
    /// Nodes to come.
    pub nodes: Vec<GraphNodeHint>,
    /// Frames of this run that were lost.
    pub gap: Option<Gap>,
    /// Loose fields.
    pub extra: Extra,
}

/// `node.started`
#[derive(Debug, Clone, PartialEq)]
pub struct NodeStarted {
    /// The node.
    pub node_id: Arc<str>,
    /// The node it runs in.
    pub parent_id: Option<Arc<str>>,
    /// What it is.
    pub kind: NodeKind,
    /// Its name.
    pub name: Arc<str>,
    /// This one execution of the node.
    pub instance_id: Arc<str>,
    /// What it was given.
    pub input: Option<Raw>,
    /// A hint to draw it folded.
    pub collapsed: Option<bool>,
    /// What was hidden.
    pub redaction: Option<Redaction>,
    /// Loose fields.
    pub extra: Extra,
}

/// `node.token`
#[derive(Debug, Clone, PartialEq)]
pub struct NodeToken {
    /// The node.
    pub node_id: Arc<str>,
    /// What it wrote.
    pub deltas: Vec<TokenDelta>,
    /// What was hidden.
    pub redaction: Option<Redaction>,
    /// Loose fields.
    pub extra: Extra,
}

/// `node.finished`
#[derive(Debug, Clone, PartialEq)]
pub struct NodeFinished {
    /// The node.
    pub node_id: Arc<str>,
    /// The execution that ended; always send it.
    pub instance_id: Option<Arc<str>>,
    /// What it gave.
    pub output: Option<Raw>,
    /// Tokens spent.
    pub usage: Option<TokenUsage>,
    /// Wall-clock milliseconds, held time included.
    pub duration_ms: f64,
    /// Milliseconds it was held.
    pub held_ms: Option<f64>,
    /// How it ended.
    pub status: RunStatus,
    /// What was hidden.
    pub redaction: Option<Redaction>,
    /// Loose fields, e.g. `injected`.
    pub extra: Extra,
}

/// `node.error`
#[derive(Debug, Clone, PartialEq)]
pub struct NodeError {
    /// The node.
    pub node_id: Arc<str>,
    /// The execution that failed.
    pub instance_id: Option<Arc<str>>,
    /// How.
    pub error: ErrorInfo,
    /// Milliseconds it was held so far.
    pub held_ms: Option<f64>,
    /// Loose fields.
    pub extra: Extra,
}

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

impl RunStarted {
    fn write(&self, w: &mut ObjectWriter<'_>) {
        w.str("app", &self.app).object("sdk", |w| self.sdk.write(w));
        optional(self.meta.as_ref(), |meta| w.raw("meta", meta));
        extra(&self.extra, w);
    }
}

impl RunFinished {
    fn write(&self, w: &mut ObjectWriter<'_>) {
        w.str("status", self.status.as_str());
        optional(self.error.as_ref(), |error| w.object("error", |w| error.write(w)));
        extra(&self.extra, w);
    }
}

impl GraphHint {
    fn write(&self, w: &mut ObjectWriter<'_>) {
        w.objects("nodes", &self.nodes, |w, node| node.write(w));
        optional(self.gap, |gap| w.object("gap", |w| gap.write(w)));
        extra(&self.extra, w);
    }
}

impl NodeStarted {
    fn write(&self, w: &mut ObjectWriter<'_>) {
        w.str("nodeId", &self.node_id);
        optional(self.parent_id.as_deref(), |parent| w.str("parentId", parent));
        w.str("kind", self.kind.as_str()).str("name", &self.name).str("instanceId", &self.instance_id);
        optional(self.input.as_ref(), |input| w.raw("input", input));
        optional(self.collapsed, |collapsed| w.bool("collapsed", collapsed));
        extra(&self.extra, w);
        redaction(self.redaction.as_ref(), w);
    }
}

impl NodeToken {
    fn write(&self, w: &mut ObjectWriter<'_>) {
        w.str("nodeId", &self.node_id).objects("deltas", &self.deltas, |w, delta| delta.write(w));
        extra(&self.extra, w);
        redaction(self.redaction.as_ref(), w);
    }
}

impl NodeFinished {
    fn write(&self, w: &mut ObjectWriter<'_>) {
        w.str("nodeId", &self.node_id);
        optional(self.instance_id.as_deref(), |instance| w.str("instanceId", instance));
        w.f64("durationMs", duration(self.duration_ms)).str("status", self.status.as_str());
        optional(self.output.as_ref(), |output| w.raw("output", output));
        optional(self.usage.as_ref(), |usage| w.object("usage", |w| usage.write(w)));
        extra(&self.extra, w);
        redaction(self.redaction.as_ref(), w);
        optional(self.held_ms, |held| w.f64("heldMs", duration(held)));
    }
}

impl NodeError {
    fn write(&self, w: &mut ObjectWriter<'_>) {
        w.str("nodeId", &self.node_id);
        optional(self.instance_id.as_deref(), |instance| w.str("instanceId", instance));
        w.object("error", |w| self.error.write(w));
        extra(&self.extra, w);
        optional(self.held_ms, |held| w.f64("heldMs", duration(held)));
    }
}

impl ExecPaused {
    fn write(&self, w: &mut ObjectWriter<'_>) {
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
    fn write(&self, w: &mut ObjectWriter<'_>) {
        w.str("pauseId", &self.pause_id).str("code", self.code.as_str());
        optional(self.message.as_deref(), |message| w.str("message", message));
        optional(self.request_id.as_deref(), |request| w.str("requestId", request));
        extra(&self.extra, w);
        redaction(self.redaction.as_ref(), w);
    }
}

impl ExecResumed {
    fn write(&self, w: &mut ObjectWriter<'_>) {
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
    fn write(&self, w: &mut ObjectWriter<'_>) {
        w.str("pauseId", &self.pause_id);
        optional(self.until, |until| until.write(w));
        extra(&self.extra, w);
    }
}

fn extra(fields: &Extra, w: &mut ObjectWriter<'_>) {
    for (name, value) in fields {
        w.raw(name, value);
    }
}

fn redaction(summary: Option<&Redaction>, w: &mut ObjectWriter<'_>) {
    optional(summary, |summary| w.object("redaction", |w| summary.write(w)));
}

/// Milliseconds rounded to 0.01, never negative; what is no number counts as none (wire §5.2).
fn duration(ms: f64) -> f64 {
    if ms.is_finite() { ((ms * 100.0).round() / 100.0).max(0.0) } else { 0.0 }
}
