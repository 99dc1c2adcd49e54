//! Which kind a node is, for events that do not say so (wire §4.3, §4.4). Bounded; the oldest is forgotten first.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::sync::Arc;

use lockgate_protocol::debug::{ExecPaused, NodeFinished, NodeKind, NodeStarted, RunId};

#[derive(Default)]
pub(super) struct Kinds {
    open: Recent<(RunId, Arc<str>, Arc<str>), NodeKind>,
    nodes: Recent<(RunId, Arc<str>), NodeKind>,
    pauses: Recent<Arc<str>, Option<NodeKind>>,
}

impl Kinds {
    pub(super) fn started(&mut self, run: &RunId, started: &NodeStarted) {
        let node = || Arc::clone(&started.node_id);
        self.open.put((run.clone(), node(), Arc::clone(&started.instance_id)), started.kind);
        self.nodes.put((run.clone(), node()), started.kind);
    }

    /// The kind of what ended: of the execution, else of the node, else what its id says.
    pub(super) fn finished(&mut self, run: &RunId, finished: &NodeFinished) -> Option<NodeKind> {
        let node = &finished.node_id;
        let instance = finished.instance_id.as_ref();
        let open = instance.and_then(|instance| self.open.take(&(run.clone(), Arc::clone(node), Arc::clone(instance))));
        open.or_else(|| self.of_node(run, node))
    }

    pub(super) fn of_node(&self, run: &RunId, node: &Arc<str>) -> Option<NodeKind> {
        let known = self.nodes.get(&(run.clone(), Arc::clone(node))).copied();
        known.or_else(|| node.starts_with("tool:").then_some(NodeKind::Tool))
    }

    pub(super) fn paused(&mut self, run: &RunId, paused: &ExecPaused) -> Option<NodeKind> {
        let kind = self.of_node(run, &paused.node_id);
        self.pauses.put(Arc::clone(&paused.pause_id), kind);
        kind
    }

    pub(super) fn of_pause(&self, pause: &Arc<str>) -> Option<NodeKind> {
        self.pauses.get(pause).copied().flatten()
    }

    pub(super) fn resumed(&mut self, pause: &Arc<str>) -> Option<NodeKind> {
        self.pauses.take(pause).flatten()
    }
}

/// The values put in last, each under its key.
struct Recent<K, V> {
    values: HashMap<K, (u64, V)>,
    ages: BTreeMap<u64, K>,
    next: u64,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Recent { values: HashMap::new(), ages: BTreeMap::new(), next: 0 }
    }
}

impl<K: Clone + Eq + Hash, V> Recent<K, V> {
    fn put(&mut self, key: K, value: V) {
        let age = self.next;
        self.next += 1;
        if let Some((before, _)) = self.values.insert(key.clone(), (age, value)) {
            self.ages.remove(&before);
        }
        self.ages.insert(age, key);
        if self.ages.len() > KEPT
            && let Some((_, oldest)) = self.ages.pop_first()
        {
            self.values.remove(&oldest);
        }
    }

    fn get(&self, key: &K) -> Option<&V> {
        self.values.get(key).map(|(_, value)| value)
    }

    fn take(&mut self, key: &K) -> Option<V> {
        let (age, value) = self.values.remove(key)?;
        self.ages.remove(&age);
        Some(value)
    }
}

const KEPT: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::{KEPT, Recent};

    #[test]
    fn p01_the_oldest_of_ten_thousand_kinds_is_forgotten() {
        let mut recent = Recent::default();
        for key in 0..KEPT {
            recent.put(key, key);
        }
        recent.put(0, 7);
        recent.put(KEPT, KEPT);
        assert_eq!((recent.get(&0), recent.get(&1), recent.get(&2)), (Some(&7), None, Some(&2)));
        assert_eq!(recent.take(&0), Some(7));
        assert_eq!((recent.values.len(), recent.ages.len()), (KEPT - 1, KEPT - 1));
    }
}
