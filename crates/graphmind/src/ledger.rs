//! How long each call stood still: a pure step over the events of a session (wire §5.3).
//! It reads ids and moments only; what it adds is exact, rounding is done where it is written.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use foldhash::fast::RandomState;
use lockgate_protocol::debug::{Event, PausePoint, RunId};
use tokio::time::Instant;

/// Asked several times for every event of a program, with names that the program itself made.
type Map<K, V> = HashMap<K, V, RandomState>;

/// Open instances, and the holds they stand under.
#[derive(Default)]
pub(crate) struct Ledger {
    /// By age, so that the oldest can be found when there are too many.
    open: BTreeMap<u64, Instance>,
    next: u64,
    by_name: Map<Name, u64>,
    by_node: Map<Place, Vec<u64>>,
    /// The instance that is the run itself.
    roots: Map<RunId, u64>,
    parents: Map<Place, Arc<str>>,
    holds: Map<Arc<str>, Vec<u64>>,
}

impl Ledger {
    /// Takes note of an event that happened at `at`, and adds `heldMs` where it belongs and is not given.
    pub(crate) fn step(&mut self, run: &RunId, event: &mut Event, at: Instant) {
        match event {
            Event::NodeStarted(started) => {
                self.start(Place::of(run, &started.node_id), &started.instance_id, started.parent_id.as_ref());
            }
            Event::NodeFinished(finished) => {
                let held = self.finish(&Place::of(run, &finished.node_id), finished.instance_id.as_ref(), at);
                finished.held_ms = finished.held_ms.or(held.map(millis));
            }
            Event::NodeError(failed) => {
                let held = self.fail(&Place::of(run, &failed.node_id), failed.instance_id.as_ref(), at);
                failed.held_ms = failed.held_ms.or(held.map(millis));
            }
            Event::ExecPaused(paused) => {
                let place = Place::of(run, &paused.node_id);
                let target = match &paused.instance_id {
                    Some(instance) => self.by_name.get(&place.named(instance)).copied(),
                    None => self.guess(&place, paused.point),
                };
                if let (Some(open), PausePoint::Error) = (target.and_then(|id| self.open.get_mut(&id)), paused.point) {
                    // One hold per failure: the next one is somebody else's.
                    open.failed = Failed::No;
                }
                self.hold(&paused.pause_id, (&place, target), at);
            }
            Event::ExecResumed(resumed) => self.release(&resumed.pause_id, at),
            Event::RunStarted(_)
            | Event::RunFinished(_)
            | Event::GraphHint(_)
            | Event::NodeToken(_)
            | Event::ExecRefused(_)
            | Event::ExecUntil(_) => {}
        }
    }

    fn start(&mut self, place: Place, instance: &Arc<str>, parent: Option<&Arc<str>>) {
        let name = place.named(instance);
        if let Some(before) = self.by_name.get(&name).copied() {
            self.close(before);
        }
        if self.open.len() >= OPEN
            && let Some((oldest, _)) = self.open.first_key_value()
        {
            self.close(*oldest);
        }
        if self.parents.len() >= PARENTS {
            self.parents.clear();
        }
        if let Some(parent) = parent.filter(|parent| ***parent != *place.node) {
            self.parents.insert(place.clone(), Arc::clone(parent));
        }
        let id = self.next;
        self.next += 1;
        if **instance == *place.run.as_str() {
            self.roots.insert(place.run.clone(), id);
        }
        self.by_node.entry(place).or_default().push(id);
        self.by_name.insert(name.clone(), id);
        self.open.insert(id, Instance { name, failed: Failed::No, holds: 0, since: None, held: Duration::ZERO });
    }

    /// `None`: it was never seen to start.
    fn finish(&mut self, place: &Place, instance: Option<&Arc<str>>, at: Instant) -> Option<Duration> {
        let id = match instance {
            Some(instance) => self.by_name.get(&place.named(instance)).copied(),
            None => self.newest(place),
        }?;
        let held = self.open.get(&id).map(|open| open.held_until(at));
        self.close(id);
        held
    }

    fn fail(&mut self, place: &Place, instance: Option<&Arc<str>>, at: Instant) -> Option<Duration> {
        let id = match instance {
            Some(instance) => self.by_name.get(&place.named(instance)).copied(),
            None => self.newest(place),
        }?;
        let open = self.open.get_mut(&id)?;
        open.failed = Failed::Yes;
        Some(open.held_until(at))
    }

    /// Whose hold it is when the gate did not say.
    fn guess(&self, place: &Place, point: PausePoint) -> Option<u64> {
        let ids = self.by_node.get(place)?;
        let failed = |id: &&u64| self.open.get(*id).is_some_and(|open| matches!(open.failed, Failed::Yes));
        let id = match point {
            PausePoint::After => ids.first(),
            PausePoint::Error => ids.iter().rev().find(failed).or(ids.last()),
            PausePoint::Before => ids.last(),
        };
        id.copied()
    }

    fn hold(&mut self, pause: &Arc<str>, (place, target): (&Place, Option<u64>), at: Instant) {
        if self.holds.len() >= OPEN || self.holds.contains_key(pause) {
            return;
        }
        let ids = self.with_ancestors(place, target);
        for id in &ids {
            if let Some(open) = self.open.get_mut(id) {
                open.holds += 1;
                open.since.get_or_insert(at);
            }
        }
        self.holds.insert(Arc::clone(pause), ids);
    }

    fn release(&mut self, pause: &str, at: Instant) {
        for id in self.holds.remove(pause).unwrap_or_default() {
            let Some(open) = self.open.get_mut(&id) else { continue };
            open.holds = open.holds.saturating_sub(1);
            if open.holds == 0 {
                open.held = open.held_until(at);
                open.since = None;
            }
        }
    }

    /// The held instance, the newest open one of each ancestor, and the run itself: all of them stand still. Those around
    /// it do so too when the held instance is not open any more.
    fn with_ancestors(&self, place: &Place, held: Option<u64>) -> Vec<u64> {
        let mut ids: Vec<u64> = held.into_iter().collect();
        let mut seen = vec![place.clone()];
        let mut next = self.above(place);
        while let Some(place) = next.filter(|place| seen.len() <= HOPS && !seen.contains(place)) {
            ids.extend(self.newest(&place));
            next = self.above(&place);
            seen.push(place);
        }
        ids.extend(self.roots.get(&place.run));
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    fn above(&self, place: &Place) -> Option<Place> {
        self.parents.get(place).map(|parent| Place { run: place.run.clone(), node: Arc::clone(parent) })
    }

    fn newest(&self, place: &Place) -> Option<u64> {
        self.by_node.get(place).and_then(|ids| ids.last()).copied()
    }

    fn close(&mut self, id: u64) {
        let Some(closed) = self.open.remove(&id) else { return };
        let place = &closed.name.place;
        if let Some(ids) = self.by_node.get_mut(place) {
            ids.retain(|other| *other != id);
            if ids.is_empty() {
                self.by_node.remove(place);
            }
        }
        if self.roots.get(&place.run) == Some(&id) {
            self.roots.remove(&place.run);
        }
        self.by_name.remove(&closed.name);
    }
}

/// A node of a run.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Place {
    run: RunId,
    node: Arc<str>,
}

impl Place {
    fn of(run: &RunId, node: &Arc<str>) -> Place {
        Place { run: run.clone(), node: Arc::clone(node) }
    }

    fn named(&self, instance: &Arc<str>) -> Name {
        Name { place: self.clone(), instance: Arc::clone(instance) }
    }
}

/// One execution of a node.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Name {
    place: Place,
    instance: Arc<str>,
}

struct Instance {
    name: Name,
    failed: Failed,
    /// Holds it stands under now.
    holds: usize,
    /// Since when it has been standing under at least one.
    since: Option<Instant>,
    /// All earlier times together; overlapping holds count once.
    held: Duration,
}

enum Failed {
    Yes,
    No,
}

impl Instance {
    fn held_until(&self, at: Instant) -> Duration {
        self.held + self.since.map_or(Duration::ZERO, |since| at.saturating_duration_since(since))
    }
}

/// Rounding is the writer's.
fn millis(held: Duration) -> f64 {
    held.as_secs_f64() * 1_000.0
}

/// Open instances, and holds, remembered at once.
const OPEN: usize = 10_000;

/// Nodes whose parent is remembered.
const PARENTS: usize = 40_000;

/// Ancestors looked up; ends walks in circles too.
const HOPS: usize = 64;

#[cfg(test)]
mod tests;
