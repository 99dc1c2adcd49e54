//! Takes out of events what must not leave the process: a pure step before the ledger, the buffer and the wire (wire §4).
//! Whole fields are replaced; what cannot be told apart is replaced too.

mod kinds;

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use lockgate_gate::HiddenSides;
use lockgate_protocol::debug::{
    Event, ExecPaused, ExecRefused, ExecResumed, Extra, LoopInfo, LoopKind, NodeFinished, NodeKind, NodeStarted,
    NodeToken, Redaction, RunId, TokenChannel,
};
use lockgate_protocol::edit::Hidden;
use lockgate_protocol::json::{Kind, Raw};

use kinds::Kinds;

/// Which sides of a call stay in the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hide {
    /// Inputs of every node, and the arguments models write for tools.
    pub inputs: bool,
    /// Outputs of every node, and everything models write.
    pub outputs: bool,
    /// Inputs of tools, and the arguments models write for them.
    pub tool_args: bool,
    /// Outputs of tools, and what they stream.
    pub tool_results: bool,
}

impl Hide {
    /// Everything is shown.
    pub const NOTHING: Hide = Hide { inputs: false, outputs: false, tool_args: false, tool_results: false };

    /// What either of the two hides.
    #[must_use]
    pub fn or(self, other: Hide) -> Hide {
        Hide {
            inputs: self.inputs || other.inputs,
            outputs: self.outputs || other.outputs,
            tool_args: self.tool_args || other.tool_args,
            tool_results: self.tool_results || other.tool_results,
        }
    }

    /// Which sides of a node of this kind are hidden, from conditions of breakpoints too.
    #[must_use]
    pub fn sides(self, kind: NodeKind) -> HiddenSides {
        let side = |covered| if covered { Hidden::Yes } else { Hidden::No };
        let covered = self.of(kind);
        HiddenSides { input: side(covered.input), output: side(covered.output) }
    }

    fn of(self, kind: NodeKind) -> Covered {
        let tool = kind == NodeKind::Tool;
        Covered { input: self.inputs || (self.tool_args && tool), output: self.outputs || (self.tool_results && tool) }
    }

    /// The same for a node whose kind may not be known: it may be a tool.
    fn of_maybe(self, kind: Option<NodeKind>) -> Covered {
        self.of(kind.unwrap_or(NodeKind::Tool))
    }
}

struct Covered {
    input: bool,
    output: bool,
}

/// How an event fared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Redacted {
    Done,
    /// It could not be told what is in it, so only its bones are left.
    Failed,
}

/// The switches, and the kinds of nodes seen so far.
pub(crate) struct Redactor {
    hide: Hide,
    kinds: Kinds,
}

impl Redactor {
    pub(crate) fn new(hide: Hide) -> Redactor {
        Redactor { hide, kinds: Kinds::default() }
    }

    /// Replaces in `event` what is hidden. Without any switch it costs nothing.
    pub(crate) fn step(&mut self, run: &RunId, event: &mut Event) -> Redacted {
        if self.hide == Hide::NOTHING {
            return Redacted::Done;
        }
        match event {
            Event::NodeStarted(started) => {
                self.kinds.started(run, started);
                self.started(started)
            }
            Event::NodeToken(token) => {
                let kind = self.kinds.of_node(run, &token.node_id);
                self.token(token, kind)
            }
            Event::NodeFinished(finished) => {
                let kind = self.kinds.finished(run, finished);
                self.finished(finished, kind)
            }
            Event::ExecPaused(paused) => {
                let kind = self.kinds.paused(run, paused);
                self.paused(paused, kind);
                Redacted::Done
            }
            Event::ExecRefused(refused) => {
                let kind = self.kinds.of_pause(&refused.pause_id);
                self.refused(refused, kind)
            }
            Event::ExecResumed(resumed) => {
                let kind = self.kinds.resumed(&resumed.pause_id);
                self.resumed(resumed, kind)
            }
            Event::RunStarted(_)
            | Event::RunFinished(_)
            | Event::GraphHint(_)
            | Event::NodeError(_)
            | Event::ExecUntil(_) => Redacted::Done,
        }
    }

    fn started(&self, started: &mut NodeStarted) -> Redacted {
        if shadowed(&started.extra, &NODE_STARTED) {
            *started = NodeStarted {
                node_id: Arc::clone(&started.node_id),
                parent_id: started.parent_id.take(),
                kind: started.kind,
                name: Arc::clone(&started.name),
                instance_id: Arc::clone(&started.instance_id),
                input: Some(placeholder()),
                collapsed: None,
                redaction: failed(&NODE_FIELDS),
                extra: Vec::new(),
            };
            return Redacted::Failed;
        }
        if self.hide.of(started.kind).input {
            hide(&mut started.input, &mut started.redaction, "input");
        }
        Redacted::Done
    }

    fn finished(&self, finished: &mut NodeFinished, kind: Option<NodeKind>) -> Redacted {
        if shadowed(&finished.extra, &NODE_FINISHED) {
            *finished = NodeFinished {
                node_id: Arc::clone(&finished.node_id),
                instance_id: finished.instance_id.take(),
                output: Some(placeholder()),
                usage: finished.usage.take(),
                duration_ms: finished.duration_ms,
                held_ms: finished.held_ms,
                status: finished.status,
                redaction: failed(&NODE_FIELDS),
                extra: Vec::new(),
            };
            return Redacted::Failed;
        }
        if self.hide.of(kind.unwrap_or(NodeKind::Custom)).output {
            hide(&mut finished.output, &mut finished.redaction, "output");
        }
        Redacted::Done
    }

    fn token(&self, token: &mut NodeToken, kind: Option<NodeKind>) -> Redacted {
        let is_instance = |(name, _): &(&str, Raw)| *name == "instanceId";
        let readable = |(_, id): &(&str, Raw)| matches!(id.view().kind(), Kind::String | Kind::Null);
        if shadowed(&token.extra, &NODE_TOKEN) || token.extra.iter().any(|each| is_instance(each) && !readable(each)) {
            token.deltas.clear();
            // Its id is all that tells it from others; of two, readers take the later.
            let loose = std::mem::take(&mut token.extra);
            token.extra.extend(loose.into_iter().rfind(is_instance));
            token.extra.retain(|(_, id)| id.view().kind() == Kind::String);
            token.redaction = failed(&NODE_FIELDS);
            return Redacted::Failed;
        }
        let all = self.hide.of(kind.unwrap_or(NodeKind::Custom)).output;
        let arguments = self.hide.inputs || self.hide.tool_args;
        let mut count = 0;
        for delta in &mut token.deltas {
            let covered = all || (arguments && delta.channel == TokenChannel::ToolArgs);
            if covered && !delta.text.is_empty() {
                delta.chars = Some(delta.text.encode_utf16().fold(0, |count, _| count + 1));
                delta.text.clear();
                count += 1;
            }
        }
        if count > 0 {
            note(&mut token.redaction, count, "deltas");
        }
        Redacted::Done
    }

    fn paused(&self, paused: &mut ExecPaused, kind: Option<NodeKind>) {
        let hidden = self.hide.of_maybe(kind);
        if let Some(LoopInfo { fingerprint, kind, .. }) = &mut paused.looped {
            // The digest of a plain repeat is that of the input; the others know outputs and errors too.
            let covered = match kind {
                None | Some(LoopKind::Repeat) => hidden.input,
                Some(LoopKind::Cycle | LoopKind::ErrorRepeat) => hidden.input || hidden.output,
            };
            if covered {
                PLACEHOLDER.clone_into(fingerprint);
            }
        }
        if let Some(smart) = paused.smart.as_mut().filter(|_| hidden.input || hidden.output) {
            smart.detail = None;
        }
    }

    fn resumed(&self, resumed: &mut ExecResumed, kind: Option<NodeKind>) -> Redacted {
        if shadowed(&resumed.extra, &EXEC_RESUMED) {
            resumed.edited = Some(placeholder());
            resumed.extra.clear();
            resumed.redaction = failed(&["edited"]);
            return Redacted::Failed;
        }
        if self.hide.of_maybe(kind).input {
            hide(&mut resumed.edited, &mut resumed.redaction, "edited");
        }
        Redacted::Done
    }

    fn refused(&self, refused: &mut ExecRefused, kind: Option<NodeKind>) -> Redacted {
        if shadowed(&refused.extra, &EXEC_REFUSED) {
            refused.message = None;
            refused.extra.clear();
            refused.redaction = failed(&["message"]);
            return Redacted::Failed;
        }
        if self.hide.of_maybe(kind).input && refused.message.take().is_some() {
            note(&mut refused.redaction, 1, "message");
        }
        Redacted::Done
    }
}

/// Whether a loose field bears the name of a known one. Readers take the later of two, so it would slip past.
fn shadowed(extra: &Extra, known: &[&str]) -> bool {
    extra.iter().any(|(name, _)| known.contains(name))
}

fn hide(field: &mut Option<Raw>, summary: &mut Option<Redaction>, key: &'static str) {
    if field.as_ref().is_some_and(|value| !value.view().is(PLACEHOLDER)) {
        *field = Some(placeholder());
        note(summary, 1, key);
    }
}

fn note(summary: &mut Option<Redaction>, count: u64, key: &'static str) {
    let summary = summary.get_or_insert_with(Redaction::default);
    // A hub drops an event whose count is beyond what JavaScript can count.
    summary.count = summary.count.checked_add(count).filter(|sum| *sum <= SAFE).unwrap_or(count);
    if !summary.keys.iter().any(|known| known == key) {
        summary.keys.push(Cow::Borrowed(key));
    }
}

fn failed(keys: &[&'static str]) -> Option<Redaction> {
    Some(Redaction { count: 0, keys: keys.iter().copied().map(Cow::Borrowed).collect(), failed: true })
}

fn placeholder() -> Raw {
    Raw::parse(Bytes::from_static(b"\"__REDACTED__\"")).unwrap_or_else(|_| Raw::null())
}

/// Stands where something was taken out (wire §4.1).
const PLACEHOLDER: &str = "__REDACTED__";

/// 2^53 - 1
const SAFE: u64 = (1 << 53) - 1;

const NODE_FIELDS: [&str; 3] = ["input", "output", "deltas"];
const NODE_STARTED: [&str; 9] =
    ["nodeId", "parentId", "kind", "name", "instanceId", "input", "collapsed", "redaction", "output"];
const NODE_FINISHED: [&str; 9] =
    ["nodeId", "instanceId", "output", "usage", "durationMs", "heldMs", "status", "redaction", "input"];
const NODE_TOKEN: [&str; 3] = ["nodeId", "deltas", "redaction"];
const EXEC_RESUMED: [&str; 5] = ["pauseId", "action", "edited", "requestId", "redaction"];
const EXEC_REFUSED: [&str; 5] = ["pauseId", "code", "message", "requestId", "redaction"];

#[cfg(test)]
mod tests;
