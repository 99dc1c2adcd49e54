//! The reducer: one envelope in, the run changed in place. Never fails; what makes no sense changes nothing.

mod holds;

use std::sync::Arc;

use lockgate_protocol::debug::{Envelope, NodeKind, PausePoint, RunStatus};

use super::execution::{Execution, Failure, State};
use super::info::Status;
use super::node::NodeAt;
use super::read::Fields;
use super::run::Run;

/// Whether an envelope changed anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// It was new.
    New,
    /// It was there already.
    Duplicate,
}

impl Run {
    /// Takes in one envelope of this run, in any order and as often as it comes.
    pub fn take(&mut self, envelope: &Envelope) -> Taken {
        if !self.seen.insert(envelope.seq) {
            return Taken::Duplicate;
        }
        let ts = envelope.ts;
        self.started = Some(self.started.map_or(ts, |started| started.min(ts)));
        self.newest = self.newest.max(ts);
        if let Some(payload) = &envelope.payload {
            self.event(&envelope.kind, Fields::of(payload), ts);
        }
        Taken::New
    }

    fn event(&mut self, kind: &str, payload: Fields<'_>, ts: u64) {
        match kind {
            "run.started" => self.run_started(payload),
            "run.finished" => self.run_finished(payload, ts),
            "graph.hint" => self.graph_hint(payload),
            "node.started" => self.node_started(payload, ts),
            "node.token" => self.node_token(payload, ts),
            "node.finished" => self.node_finished(payload, ts),
            "node.error" => self.node_error(payload),
            "exec.paused" => self.paused(payload, ts),
            "exec.refused" => self.refused(payload),
            "exec.resumed" => self.resumed(payload, ts),
            "exec.until" => self.until(payload),
            _ => {}
        }
    }

    fn run_started(&mut self, payload: Fields<'_>) {
        self.app = payload.text("app").unwrap_or_default();
        self.name = payload.below("meta").and_then(|meta| meta.text("name")).or(self.name.take());
        self.status = Status::Running;
    }

    fn run_finished(&mut self, payload: Fields<'_>, ts: u64) {
        self.status = match payload.word("status", RunStatus::parse) {
            Some(RunStatus::Error) => Status::Error,
            Some(RunStatus::Aborted) => Status::Aborted,
            Some(RunStatus::Ok) | None => Status::Ok,
        };
        self.error = payload.below("error").map(Failure::read);
        self.release_all(ts);
    }

    /// Never takes anything away from a node that ran; may tell its parent.
    fn graph_hint(&mut self, payload: Fields<'_>) {
        if let Some(gap) = payload.below("gap") {
            self.lost = self.lost.saturating_add(gap.count("droppedCount").unwrap_or_default());
        }
        for hint in payload.each("nodes") {
            let Some(id) = hint.id("nodeId") else { continue };
            let kind = hint.word("kind", NodeKind::parse).unwrap_or(NodeKind::Custom);
            self.entry(Arc::clone(&id), kind, hint.text("name").unwrap_or_default());
            self.adopt(&id, hint.id("parentId"));
        }
    }

    fn node_started(&mut self, payload: Fields<'_>, ts: u64) {
        let (Some(id), Some(instance)) = (payload.id("nodeId"), payload.id("instanceId")) else { return };
        let kind = payload.word("kind", NodeKind::parse).unwrap_or(NodeKind::Custom);
        let name = payload.text("name").unwrap_or_default();
        let node = self.entry(Arc::clone(&id), kind, name.clone());
        (node.kind, node.name) = (kind, name);
        node.collapsed |= payload.is_true("collapsed");
        node.ungated |= payload.is_true("ungated") || payload.is_true("providerExecuted");
        node.executions.push(Execution::new(instance, ts, payload.part("input")));
        self.latest = self.find(&id);
        self.adopt(&id, payload.id("parentId"));
    }

    fn node_token(&mut self, payload: Fields<'_>, ts: u64) {
        if let Some(execution) = self.meant(payload) {
            execution.stream.push(payload, ts);
        }
    }

    fn node_finished(&mut self, payload: Fields<'_>, ts: u64) {
        let state = match payload.word("status", RunStatus::parse) {
            Some(RunStatus::Error) => State::Error,
            Some(RunStatus::Aborted) => State::Aborted,
            Some(RunStatus::Ok) | None => State::Ok,
        };
        if let Some(execution) = self.meant(payload) {
            execution.finish(payload, state, ts);
        }
    }

    fn node_error(&mut self, payload: Fields<'_>) {
        let Some(failure) = payload.below("error").map(Failure::read) else { return };
        if let Some(execution) = self.meant(payload) {
            execution.fail(failure);
        }
    }

    /// The execution an event means; none of an unknown node.
    fn meant(&mut self, payload: Fields<'_>) -> Option<&mut Execution> {
        let at = self.find(&payload.text("nodeId")?)?;
        let node = self.node_mut(at)?;
        let execution = node.meant(payload.text("instanceId").as_deref())?;
        node.executions.get_mut(execution)
    }

    /// Fills in a parent that was not known.
    fn adopt(&mut self, id: &str, parent: Option<Arc<str>>) {
        let Some(at) = self.find(id) else { return };
        let Some(node) = self.node_mut(at) else { return };
        if node.parent.is_none() && parent.is_some() {
            node.parent = parent;
        }
    }

    /// The executions that stand still with one of `node`: its own, the newest open one of each node above, the run's root.
    fn stands_with(&self, node: NodeAt, execution: Option<usize>) -> Vec<(NodeAt, usize)> {
        let mut still: Vec<(NodeAt, usize)> = execution.map(|execution| (node, execution)).into_iter().collect();
        let mut below = node;
        for _ in 0..MOST_HOPS {
            let parent = self.node(below).and_then(|node| node.parent.as_deref()).and_then(|id| self.find(id));
            let Some(above) = parent.filter(|above| still.iter().all(|(at, _)| at != above)) else { break };
            if let Some(open) = self.node(above).and_then(|node| node.newest_open()) {
                still.push((above, open));
            }
            below = above;
        }
        let root = self.nodes.iter().position(|node| node.named(&self.id).is_some()).map(NodeAt);
        if let Some(root) = root.filter(|root| still.iter().all(|(at, _)| at != root)) {
            still.extend(self.node(root).and_then(|node| node.named(&self.id)).map(|execution| (root, execution)));
        }
        still
    }

    /// Which execution of a node a hold is about, and whether that is a guess.
    fn held_at(&self, node: NodeAt, instance: Option<&str>, point: PausePoint) -> (Option<usize>, bool) {
        let Some(node) = self.node(node) else { return (None, false) };
        if let Some(named) = instance.and_then(|instance| node.named(instance)) {
            return (Some(named), false);
        }
        let open = node.executions.iter().filter(|execution| execution.is_open()).count();
        let held = match point {
            PausePoint::After => node.oldest_open(),
            PausePoint::Before | PausePoint::Error => node.newest_open(),
        };
        (held, open > 1)
    }
}

/// Parents looked at above a held node; enough for any real nesting, and an end for a ring.
const MOST_HOPS: usize = 64;
