//! Nodes: how they begin, write, fail and end. `redaction` and `heldMs` come last because they are added last.

use std::sync::Arc;

use super::{extra, redaction};
use crate::debug::shape::{ErrorInfo, Extra, Redaction, TokenDelta, TokenUsage, optional};
use crate::debug::words::{NodeKind, RunStatus};
use crate::json::{ObjectWriter, Raw};

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

impl NodeStarted {
    pub(super) fn write(&self, w: &mut ObjectWriter<'_>) {
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
    pub(super) fn write(&self, w: &mut ObjectWriter<'_>) {
        w.str("nodeId", &self.node_id).objects("deltas", &self.deltas, |w, delta| delta.write(w));
        extra(&self.extra, w);
        redaction(self.redaction.as_ref(), w);
    }
}

impl NodeFinished {
    pub(super) fn write(&self, w: &mut ObjectWriter<'_>) {
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
    pub(super) fn write(&self, w: &mut ObjectWriter<'_>) {
        w.str("nodeId", &self.node_id);
        optional(self.instance_id.as_deref(), |instance| w.str("instanceId", instance));
        w.object("error", |w| self.error.write(w));
        extra(&self.extra, w);
        optional(self.held_ms, |held| w.f64("heldMs", duration(held)));
    }
}

/// Milliseconds rounded to 0.01, never negative; what is no number counts as none (wire §5.2).
fn duration(ms: f64) -> f64 {
    if ms.is_finite() { ((ms * 100.0).round() / 100.0).max(0.0) } else { 0.0 }
}
