//! Runs: how they begin, end, and what is known ahead of them or lost.

use super::extra;
use crate::debug::shape::{ErrorInfo, Extra, Gap, GraphNodeHint, SdkInfo, optional};
use crate::debug::words::RunStatus;
use crate::json::{ObjectWriter, Raw};

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

impl RunStarted {
    pub(super) fn write(&self, w: &mut ObjectWriter<'_>) {
        w.str("app", &self.app).object("sdk", |w| self.sdk.write(w));
        optional(self.meta.as_ref(), |meta| w.raw("meta", meta));
        extra(&self.extra, w);
    }
}

impl RunFinished {
    pub(super) fn write(&self, w: &mut ObjectWriter<'_>) {
        w.str("status", self.status.as_str());
        optional(self.error.as_ref(), |error| w.object("error", |w| error.write(w)));
        extra(&self.extra, w);
    }
}

impl GraphHint {
    pub(super) fn write(&self, w: &mut ObjectWriter<'_>) {
        w.objects("nodes", &self.nodes, |w, node| node.write(w));
        optional(self.gap, |gap| w.object("gap", |w| gap.write(w)));
        extra(&self.extra, w);
    }
}
