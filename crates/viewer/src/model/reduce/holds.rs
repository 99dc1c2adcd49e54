//! The part of the reducer that opens and closes holds.

use lockgate_protocol::debug::{PausePoint, PauseReason, ResumeAction};

use crate::model::execution::State;
use crate::model::hold::{Hold, Refusal, Release, Until, Why};
use crate::model::info::Status;
use crate::model::read::Fields;
use crate::model::run::Run;

impl Run {
    pub(super) fn paused(&mut self, payload: Fields<'_>, ts: u64) {
        let (Some(pause), Some(id)) = (payload.id("pauseId"), payload.text("nodeId")) else { return };
        let (Some(node), Some(point)) = (self.find(&id), payload.word("point", PausePoint::parse)) else { return };
        self.close(&pause, ts);
        let instance = payload.text("instanceId");
        let (execution, ambiguous) = self.held_at(node, instance.as_deref(), point);
        let mut hold = Hold {
            pause,
            node,
            execution,
            ambiguous,
            point,
            reason: payload.word("reason", PauseReason::parse),
            why: None,
            editable: payload.is_true("editable"),
            until: payload.below("until").and_then(Until::read),
            since: ts,
            refusals: Vec::new(),
            credited: self.stands_with(node, execution),
        };
        hold.why = Why::read(payload, hold.reason);
        if point == PausePoint::Error {
            self.move_failure(&hold);
        }
        for (node, execution) in hold.credited.clone() {
            if let Some(execution) = self.execution_mut(node, execution) {
                execution.hold(ts);
            }
        }
        if let Some(node) = self.node_mut(node) {
            node.holds += 1;
        }
        self.holds.push(hold);
    }

    pub(super) fn refused(&mut self, payload: Fields<'_>) {
        let Some(pause) = payload.text("pauseId") else { return };
        if let Some(hold) = self.holds.iter_mut().find(|hold| *hold.pause == *pause) {
            hold.refusals.push(Refusal::read(payload));
            if hold.refusals.len() > MOST_KEPT {
                hold.refusals.remove(0);
            }
        }
    }

    pub(super) fn resumed(&mut self, payload: Fields<'_>, ts: u64) {
        let (Some(pause), Some(action)) = (payload.text("pauseId"), payload.word("action", ResumeAction::parse)) else {
            return;
        };
        let Some(hold) = self.close(&pause, ts) else { return };
        let edited = payload.below("edited").and_then(|edited| edited.part("after"));
        let release = Release {
            point: hold.point,
            action,
            edited: edited.is_some(),
            principal: payload.text("principal"),
            operator: payload.text("operator"),
            ts,
        };
        if let Some(execution) = hold.execution.and_then(|execution| self.execution_mut(hold.node, execution)) {
            execution.edited = edited.or(execution.edited.take());
            if action == ResumeAction::Retry && execution.is_open() {
                execution.state = State::Running;
            }
        }
        if let Some(node) = self.node_mut(hold.node) {
            node.releases.push(release);
            if node.releases.len() > MOST_KEPT {
                node.releases.remove(0);
            }
        }
    }

    pub(super) fn until(&mut self, payload: Fields<'_>) {
        let Some(pause) = payload.text("pauseId") else { return };
        if let Some(hold) = self.holds.iter_mut().find(|hold| *hold.pause == *pause) {
            let moved = Until::read(payload);
            hold.until = match (moved, payload.count("at"), hold.until.take()) {
                (Some(moved), _, _) => Some(moved),
                (None, Some(at), Some(before)) => Some(Until { at: Some(at), ..before }),
                (None, _, _) => None,
            };
        }
    }

    /// Takes over how the hub says it stands: the hub knows of runs that ended without saying so. When a program vanished,
    /// whatever it held went on.
    pub fn stands(&mut self, status: Status) {
        if self.status == Status::Running || status == Status::Running {
            self.status = status;
        }
        if self.status == Status::Abandoned {
            self.release_all(self.newest);
        }
    }

    pub(super) fn release_all(&mut self, ts: u64) {
        while let Some(pause) = self.holds.last().map(|hold| hold.pause.clone()) {
            self.close(&pause, ts);
        }
    }

    /// Ends a hold and the held time that ran with it.
    fn close(&mut self, pause: &str, ts: u64) -> Option<Hold> {
        let at = self.holds.iter().position(|hold| &*hold.pause == pause)?;
        let hold = self.holds.remove(at);
        for (node, execution) in &hold.credited {
            if let Some(execution) = self.execution_mut(*node, *execution) {
                execution.release(ts);
            }
        }
        if let Some(node) = self.node_mut(hold.node) {
            node.holds = node.holds.saturating_sub(1);
        }
        Some(hold)
    }

    /// A failure that named no execution was put on the newest; the hold knows better.
    fn move_failure(&mut self, hold: &Hold) {
        let Some(held) = hold.execution.filter(|_| !hold.ambiguous) else { return };
        let Some(node) = self.node_mut(hold.node) else { return };
        let Some(execution) = node.executions.get(held) else { return };
        if execution.error.is_some() {
            return;
        }
        let pinned = node.executions.iter_mut().rev().find(|other| other.is_open() && other.error.is_some());
        let failure = pinned.and_then(|pinned| pinned.unfail());
        if let (Some(failure), Some(execution)) = (failure, node.executions.get_mut(held)) {
            execution.fail(failure);
        }
    }
}

/// Refusals of a hold and releases of a node that are kept.
const MOST_KEPT: usize = 16;
