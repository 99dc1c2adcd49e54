//! A run as lines: the tidy tree's order (hub §15.2), from the top down. Linear, and no recursion, however deep the run.

use std::collections::HashMap;

use lockgate_protocol::debug::NodeKind;

use super::node::NodeAt;
use super::run::Run;

/// One line of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The node.
    pub node: NodeAt,
    /// How far in.
    pub depth: usize,
    /// Nodes below it that are folded away.
    pub hidden: usize,
    /// Whether there is anything below it.
    pub parent: bool,
}

/// The lines of a run. `folded` says what is folded away.
pub fn rows(run: &Run, folded: impl Fn(NodeAt) -> bool) -> Vec<Row> {
    let forest = Forest::of(run);
    let mut rows = Vec::with_capacity(run.nodes().len());
    let mut visited = vec![false; run.nodes().len()];
    for root in forest.roots.iter().copied().chain((0..run.nodes().len()).map(NodeAt)) {
        // What no root leads to stands in a ring, which is broken at its first node.
        if !visited.get(root.0).copied().unwrap_or(true) {
            forest.walk(root, &folded, &mut visited, &mut rows);
        }
    }
    rows
}

struct Forest {
    roots: Vec<NodeAt>,
    below: Vec<Vec<NodeAt>>,
    /// Steps of a model follow each other instead of nesting.
    chained: Vec<bool>,
}

impl Forest {
    fn of(run: &Run) -> Self {
        let count = run.nodes().len();
        let mut forest = Self { roots: Vec::new(), below: vec![Vec::new(); count], chained: vec![false; count] };
        let mut last_step: HashMap<NodeAt, NodeAt> = HashMap::new();
        for (at, node) in run.nodes().iter().enumerate() {
            let at = NodeAt(at);
            let parent = node.parent.as_deref().and_then(|id| run.find(id)).filter(|parent| *parent != at);
            let Some(parent) = parent else {
                forest.roots.push(at);
                continue;
            };
            let step_before = if node.kind == NodeKind::Llm { last_step.insert(parent, at) } else { None };
            if let Some(chained) = forest.chained.get_mut(at.0) {
                *chained = step_before.is_some();
            }
            if let Some(below) = forest.below.get_mut(step_before.unwrap_or(parent).0) {
                below.push(at);
            }
        }
        forest
    }

    fn walk(&self, root: NodeAt, folded: &impl Fn(NodeAt) -> bool, visited: &mut [bool], rows: &mut Vec<Row>) {
        let mut open = vec![Open { node: root, depth: 0, under: None }];
        while let Some(Open { node, depth, under }) = open.pop() {
            let Some(seen) = visited.get_mut(node.0).filter(|seen| !**seen) else { continue };
            *seen = true;
            let below = self.below.get(node.0).map(Vec::as_slice).unwrap_or_default();
            let hide = match under.and_then(|row: usize| rows.get_mut(row)) {
                Some(row) => {
                    row.hidden += 1;
                    under
                }
                None => {
                    let parent = below.iter().any(|child| !self.is_chained(*child));
                    rows.push(Row { node, depth, hidden: 0, parent });
                    (parent && folded(node)).then_some(rows.len() - 1)
                }
            };
            for child in below.iter().rev() {
                let next_step = self.is_chained(*child);
                let depth = if next_step { depth } else { depth + 1 };
                // A step that follows is no part of the step it follows, so folding that one leaves it.
                open.push(Open { node: *child, depth, under: if next_step { under } else { hide } });
            }
        }
    }

    fn is_chained(&self, node: NodeAt) -> bool {
        self.chained.get(node.0).copied().unwrap_or_default()
    }
}

struct Open {
    node: NodeAt,
    depth: usize,
    /// The line it is folded away under.
    under: Option<usize>,
}
