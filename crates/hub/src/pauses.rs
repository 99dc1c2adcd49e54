//! Open pauses and the race to release them (hub §9): who is first, who is credited, who is told what. Pure; the program
//! that holds the call and the people who wait are numbers here.

mod entry;
mod outcome;
mod race;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use tokio::time::Instant;

use self::entry::{Closed, Deadline, Entry, Phase};
pub(crate) use self::entry::{Hold, Item, small};
pub(crate) use self::outcome::{Answer, Code, Outcome, OutcomeKind};
pub(crate) use self::race::{Ask, Echo, House, Owner, Refused, Winner};

/// A connection of a program under debug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct AppId(pub(crate) u64);

/// Somebody who wants to hear how a resume ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct WaiterId(pub(crate) u64);

/// A pause: its run and its id.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) run: Arc<str>,
    pub(crate) pause: Arc<str>,
}

/// The registry. Entries without a hold are resumes for pauses it does not know, forwarded all the same.
#[derive(Debug, Default)]
pub(crate) struct Pauses {
    entries: BTreeMap<Key, Entry>,
    by_age: BTreeMap<u64, Key>,
    ghosts: BTreeMap<u64, Key>,
    by_owner: HashMap<AppId, Owned>,
    held: HashMap<Arc<str>, usize>,
    closed: Closed,
    waiters: HashMap<WaiterId, Waiting>,
    deadlines: BTreeMap<When, Deadline>,
    next: u64,
}

/// What a connection holds, and resumes forwarded to it blindly.
#[derive(Debug, Default)]
struct Owned {
    keys: BTreeSet<Key>,
    holds: usize,
}

/// What somebody waits for.
#[derive(Debug)]
struct Waiting {
    key: Key,
    request: Arc<str>,
    deadline: When,
}

/// A point in time, and a number to tell apart what falls on the same.
type When = (Instant, u64);

impl Pauses {
    /// A newly stored `exec.paused`. Beyond the cap of its owner a pause is not tracked; false then.
    pub(crate) fn open(&mut self, key: &Key, owner: AppId, item: Item) -> bool {
        let known = self.entries.get(key);
        let again = known.is_some_and(|entry| entry.hold.is_some() && entry.owner == owner);
        let tracked = self.by_owner.get(&owner).map_or(0, |owned| owned.holds);
        if !again && tracked >= PER_OWNER {
            return false;
        }
        let attempts = self.take(key).map(|entry| entry.attempts).unwrap_or_default();
        self.closed.remove(key);
        let age = self.age();
        self.by_age.insert(age, key.clone());
        *self.held.entry(Arc::clone(&key.run)).or_default() += 1;
        self.put(key, Entry { owner, age, hold: Some(Hold { item, phase: Phase::Open }), attempts });
        true
    }

    /// The end of a hold moved (`exec.until`).
    pub(crate) fn moved(&mut self, key: &Key, until: Option<lockgate_protocol::json::Raw>) {
        if let Some(hold) = self.entries.get_mut(key).and_then(|entry| entry.hold.as_mut()) {
            hold.item.until = until;
        }
    }

    /// The run is over; so are its pauses.
    pub(crate) fn run_finished(&mut self, run: &Arc<str>) -> Vec<Answer> {
        let first = Key { run: Arc::clone(run), pause: "".into() };
        let of_run = self.entries.range(first..).take_while(|(key, _)| key.run == *run);
        let keys: Vec<Key> = of_run.map(|(key, _)| key.clone()).collect();
        self.close(keys, Code::RunFinished)
    }

    /// The connection that held these calls is gone; the program has released them itself.
    pub(crate) fn owner_gone(&mut self, owner: AppId) -> Vec<Answer> {
        let keys: Vec<Key> = self.by_owner.get(&owner).into_iter().flat_map(|owned| &owned.keys).cloned().collect();
        self.close(keys, Code::AppDisconnected)
    }

    /// The hub stops.
    pub(crate) fn shut(&mut self) -> Vec<Answer> {
        let keys: Vec<Key> = self.entries.keys().cloned().collect();
        self.close(keys, Code::ServerClosing)
    }

    /// Open and resolving pauses, oldest first, of one run or of all.
    pub(crate) fn list(&self, scope: Option<&str>) -> impl Iterator<Item = (&Key, &Hold)> {
        let all = self.by_age.values().filter_map(|key| Some((key, self.entries.get(key)?.hold.as_ref()?)));
        all.filter(move |(key, _)| scope.is_none_or(|run| *key.run == *run))
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&Hold> {
        self.entries.get(key)?.hold.as_ref()
    }

    /// How many calls of a run stand still.
    pub(crate) fn held(&self, run: &str) -> usize {
        self.held.get(run).copied().unwrap_or(0)
    }

    /// When [`Pauses::tick`] has something to do next.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.first_key_value().map(|((at, _), _)| *at)
    }

    fn close(&mut self, keys: Vec<Key>, code: Code) -> Vec<Answer> {
        let mut answers = Vec::new();
        for key in keys {
            let Some(entry) = self.take(&key) else { continue };
            if entry.hold.is_some() {
                self.closed.insert(key.clone());
            }
            for attempt in entry.attempts {
                answers.extend(self.answer(attempt.waiter, Outcome::of(code)));
            }
        }
        answers
    }

    fn answer(&mut self, waiter: Option<WaiterId>, outcome: Outcome) -> Option<Answer> {
        let waiter = waiter?;
        let Waiting { key, request, deadline } = self.waiters.remove(&waiter)?;
        self.deadlines.remove(&deadline);
        Some(Answer { waiter, key, request, outcome })
    }

    fn put(&mut self, key: &Key, entry: Entry) {
        let owned = self.by_owner.entry(entry.owner).or_default();
        owned.keys.insert(key.clone());
        owned.holds += usize::from(entry.hold.is_some());
        self.entries.insert(key.clone(), entry);
    }

    /// Takes an entry out with all that points to it, its waiters apart.
    fn take(&mut self, key: &Key) -> Option<Entry> {
        let entry = self.entries.remove(key)?;
        if let Some(owned) = self.by_owner.get_mut(&entry.owner) {
            owned.keys.remove(key);
            owned.holds -= usize::from(entry.hold.is_some());
            if owned.keys.is_empty() {
                self.by_owner.remove(&entry.owner);
            }
        }
        for attempt in &entry.attempts {
            attempt.expiry.map(|expiry| self.deadlines.remove(&expiry));
        }
        if entry.hold.is_none() {
            self.ghosts.remove(&entry.age);
            return Some(entry);
        }
        self.by_age.remove(&entry.age);
        if let Some(held) = self.held.get_mut(&key.run) {
            *held -= 1;
            if *held == 0 {
                self.held.remove(&key.run);
            }
        }
        Some(entry)
    }

    fn age(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

/// Pauses tracked per connection.
const PER_OWNER: usize = 1_000;

#[cfg(test)]
mod tests;
