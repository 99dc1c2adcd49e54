//! One run: its nodes in the order in which they were first seen, and the calls that are held in it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use lockgate_protocol::debug::NodeKind;

use super::execution::{Execution, Failure, State};
use super::hold::Hold;
use super::info::Status;
use super::node::{Node, NodeAt};

/// A run as far as it is known.
#[derive(Debug, Clone)]
pub struct Run {
    /// Its id.
    pub id: Arc<str>,
    /// The program.
    pub app: String,
    /// What its sender calls it.
    pub name: Option<String>,
    /// How it stands.
    pub status: Status,
    /// Why it failed.
    pub error: Option<Failure>,
    /// Epoch milliseconds of the first event.
    pub started: Option<u64>,
    /// Epoch milliseconds of the newest event.
    pub newest: u64,
    /// Events the sender lost.
    pub lost: u64,
    /// Calls that are held, oldest first.
    pub holds: Vec<Hold>,
    pub(super) nodes: Vec<Node>,
    pub(super) ids: HashMap<Arc<str>, NodeAt>,
    pub(super) seen: HashSet<u64>,
    pub(super) latest: Option<NodeAt>,
}

impl Run {
    /// A run of which nothing is known yet.
    pub fn new(id: Arc<str>) -> Self {
        Self {
            id,
            app: String::new(),
            name: None,
            status: Status::Running,
            error: None,
            started: None,
            newest: 0,
            lost: 0,
            holds: Vec::new(),
            nodes: Vec::new(),
            ids: HashMap::new(),
            seen: HashSet::new(),
            latest: None,
        }
    }

    /// Its nodes, in the order in which they were first seen.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node at a place.
    pub fn node(&self, at: NodeAt) -> Option<&Node> {
        self.nodes.get(at.0)
    }

    /// The place of the node with this id.
    pub fn find(&self, id: &str) -> Option<NodeAt> {
        self.ids.get(id).copied()
    }

    /// The node that started last.
    pub fn latest(&self) -> Option<&Node> {
        self.node(self.latest?)
    }

    /// The hold with this id.
    pub fn hold(&self, pause: &str) -> Option<&Hold> {
        self.holds.iter().find(|hold| &*hold.pause == pause)
    }

    /// The clock of this run: the given moment while it goes on, else its newest event.
    pub fn clock(&self, now: u64) -> u64 {
        match self.status {
            Status::Running => now.max(self.newest),
            Status::Ok | Status::Error | Status::Aborted | Status::Abandoned => self.newest,
        }
    }

    /// How something in this run stands: in a run that is over nothing goes on any more.
    pub fn outcome(&self, state: State) -> State {
        match (self.status, state) {
            (Status::Running, _) | (_, State::Ghost | State::Ok | State::Error | State::Aborted | State::CutOff) => {
                state
            }
            (_, State::Running | State::Paused) => State::CutOff,
        }
    }

    /// The execution that is held.
    pub fn held(&self, hold: &Hold) -> Option<&Execution> {
        self.node(hold.node)?.executions.get(hold.execution?)
    }

    /// The node with this id, made if need be.
    pub(super) fn entry(&mut self, id: Arc<str>, kind: NodeKind, name: String) -> &mut Node {
        let at = *self.ids.entry(Arc::clone(&id)).or_insert_with(|| {
            self.nodes.push(Node::new(id, kind, name));
            NodeAt(self.nodes.len() - 1)
        });
        self.nodes.get_mut(at.0).expect("ids point at nodes, which are never removed")
    }

    pub(super) fn node_mut(&mut self, at: NodeAt) -> Option<&mut Node> {
        self.nodes.get_mut(at.0)
    }

    pub(super) fn execution_mut(&mut self, at: NodeAt, execution: usize) -> Option<&mut Execution> {
        self.node_mut(at)?.executions.get_mut(execution)
    }
}
