//! One logical node of a run: all executions under one id.

use std::sync::Arc;

use lockgate_protocol::debug::NodeKind;

use super::execution::{Execution, State};
use super::hold::Release;

/// Where a node stands in its run's list; nodes never move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeAt(pub(crate) usize);

/// One place in a run.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its id.
    pub id: Arc<str>,
    /// The id of the node it runs in.
    pub parent: Option<Arc<str>>,
    /// What it is.
    pub kind: NodeKind,
    /// Its name.
    pub name: String,
    /// Executions in the order in which they started; none for a node that is only announced.
    pub executions: Vec<Execution>,
    /// The sender wants it drawn folded.
    pub collapsed: bool,
    /// Gates do not hold it.
    pub ungated: bool,
    /// The newest releases of its holds, oldest first.
    pub releases: Vec<Release>,
    /// Holds that are open now.
    pub holds: u32,
}

impl Node {
    pub(crate) fn new(id: Arc<str>, kind: NodeKind, name: String) -> Self {
        Self {
            id,
            parent: None,
            kind,
            name,
            executions: Vec::new(),
            collapsed: false,
            ungated: false,
            releases: Vec::new(),
            holds: 0,
        }
    }

    /// How it stands: held if anything is held, running if anything is open, else as its last execution ended.
    pub fn state(&self) -> State {
        if self.holds > 0 {
            return State::Paused;
        }
        let going_on = self.executions.iter().rev().find(|execution| execution.is_open());
        let shown = going_on.or(self.executions.last());
        shown.map_or(State::Ghost, |execution| execution.state)
    }

    /// Milliseconds that all executions ran together.
    pub fn ran_ms(&self, now: u64) -> f64 {
        self.executions.iter().map(|execution| execution.ran_ms(now)).sum()
    }

    /// Failed attempts of all executions.
    pub fn failures(&self) -> u32 {
        self.executions.iter().map(|execution| execution.failures).sum()
    }

    /// The execution an event means: the named one, else the newest open one, else the last.
    pub(crate) fn meant(&self, instance: Option<&str>) -> Option<usize> {
        let named = instance.and_then(|instance| self.named(instance));
        named.or_else(|| self.newest_open()).or_else(|| self.executions.len().checked_sub(1))
    }

    pub(crate) fn named(&self, instance: &str) -> Option<usize> {
        self.executions.iter().rposition(|execution| &*execution.instance == instance)
    }

    pub(crate) fn newest_open(&self) -> Option<usize> {
        self.executions.iter().rposition(Execution::is_open)
    }

    pub(crate) fn oldest_open(&self) -> Option<usize> {
        self.executions.iter().position(Execution::is_open)
    }
}
