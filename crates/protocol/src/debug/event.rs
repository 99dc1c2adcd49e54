//! What a program under debug reports (wire §1.5, §10), as senders build it. Fields are written in the order the wire knows,
//! loose ones after the known ones.

mod exec;
mod node;
mod run;

use super::shape::{Extra, Redaction, optional};
use crate::json::{ObjectWriter, Raw};

pub use self::exec::{ExecPaused, ExecRefused, ExecResumed, ExecUntil};
pub use self::node::{NodeError, NodeFinished, NodeStarted, NodeToken};
pub use self::run::{GraphHint, RunFinished, RunStarted};

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

fn extra(fields: &Extra, w: &mut ObjectWriter<'_>) {
    for (name, value) in fields {
        w.raw(name, value);
    }
}

fn redaction(summary: Option<&Redaction>, w: &mut ObjectWriter<'_>) {
    optional(summary, |summary| w.object("redaction", |w| summary.write(w)));
}
