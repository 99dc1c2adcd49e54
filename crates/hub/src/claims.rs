//! Who may write to a run (hub §4): the session token that created it. Pure; knows nothing of sockets and stores.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::store::Status;

/// All claims of this hub's lifetime, and the runs nobody may ever write to again.
#[derive(Debug)]
pub(crate) struct Claims {
    limits: ClaimLimits,
    claims: HashMap<Arc<str>, Claim>,
    /// Claims by age, for eviction: those of ended runs, and those of running ones that their session may give up.
    finished: BTreeMap<u64, Arc<str>>,
    abandoned: BTreeMap<u64, Arc<str>>,
    yielding: HashMap<Arc<str>, BTreeMap<u64, Arc<str>>>,
    sealed: HashSet<Arc<str>>,
    sealed_order: VecDeque<Arc<str>>,
    /// How many connections speak for each token.
    connected: HashMap<Arc<str>, usize>,
    next_age: u64,
}

/// How much is remembered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClaimLimits {
    pub(crate) claims: usize,
    pub(crate) sealed: usize,
}

impl Default for ClaimLimits {
    fn default() -> ClaimLimits {
        ClaimLimits { claims: 5_000, sealed: 10_000 }
    }
}

#[derive(Debug, Clone)]
struct Claim {
    token: Arc<str>,
    bond: Bond,
    stage: Stage,
    age: u64,
}

/// Whether another session may take over once the claimant is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bond {
    /// The app announced `run-claim`: it will come back with its token.
    Strict,
    /// An old SDK; its reconnects look like strangers.
    Loose,
}

/// How far the claimed run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Running,
    Finished,
    Abandoned,
}

/// A session that wants to write.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) token: Arc<str>,
    pub(crate) bond: Bond,
}

/// What is known of the run beside its claim.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Standing {
    /// Another connection owns it now.
    pub(crate) owned_by_another: bool,
    pub(crate) status: Option<Status>,
}

/// The answer to a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Entry {
    /// It is the session's own run.
    Allowed,
    /// It is now.
    Claimed,
    /// It is now, though another session began it.
    TakenOver,
    Refused(Refusal),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("another session owns the run")]
    Owned,
    #[error("the run has ended")]
    Ended,
    #[error("the run was given up and sealed")]
    Sealed,
    #[error("too many runs are claimed")]
    Full,
}

impl Claims {
    pub(crate) fn new(limits: ClaimLimits) -> Claims {
        Claims {
            limits,
            claims: HashMap::new(),
            finished: BTreeMap::new(),
            abandoned: BTreeMap::new(),
            yielding: HashMap::new(),
            sealed: HashSet::new(),
            sealed_order: VecDeque::new(),
            connected: HashMap::new(),
            next_age: 0,
        }
    }

    pub(crate) fn connect(&mut self, token: &Arc<str>) {
        *self.connected.entry(Arc::clone(token)).or_default() += 1;
    }

    pub(crate) fn disconnect(&mut self, token: &str) {
        if let Some(count) = self.connected.get_mut(token) {
            *count -= 1;
            if *count == 0 {
                self.connected.remove(token);
            }
        }
    }

    /// Judges a write to a run. A claim that had to make room is answered beside, for its run's record may go too.
    pub(crate) fn enter(&mut self, run: &Arc<str>, session: &Session, standing: Standing) -> (Entry, Option<Arc<str>>) {
        let Some(claim) = self.claims.get(run) else { return self.claim(run, session, standing) };
        if claim.token == session.token {
            return (Entry::Allowed, None);
        }
        if self.connected.contains_key(&claim.token) || claim.bond == Bond::Strict {
            return (Entry::Refused(Refusal::Owned), None);
        }
        let stage = claim.stage;
        self.remove(run);
        self.insert(run, session, stage);
        (Entry::TakenOver, None)
    }

    /// Follows the run's status.
    pub(crate) fn turn(&mut self, run: &Arc<str>, stage: Stage) {
        if self.claims.get(run).is_none_or(|claim| claim.stage == stage) {
            return;
        }
        let Some(claim) = self.remove(run) else { return };
        self.place(run, Claim { stage, ..claim });
    }

    pub(crate) fn has(&self, run: &str) -> bool {
        self.claims.contains_key(run)
    }

    /// The run is gone from the store.
    pub(crate) fn forget(&mut self, run: &str) {
        self.remove(run);
    }

    fn claim(&mut self, run: &Arc<str>, session: &Session, standing: Standing) -> (Entry, Option<Arc<str>>) {
        let refusal = if standing.owned_by_another {
            Some(Refusal::Owned)
        } else if self.sealed.contains(run) {
            Some(Refusal::Sealed)
        } else if standing.status.is_some_and(Status::is_final) {
            Some(Refusal::Ended)
        } else {
            None
        };
        if let Some(refusal) = refusal {
            return (Entry::Refused(refusal), None);
        }
        let mut evicted = None;
        if self.claims.len() >= self.limits.claims {
            evicted = self.make_room(session);
            if evicted.is_none() {
                return (Entry::Refused(Refusal::Full), None);
            }
        }
        self.insert(run, session, Stage::Running);
        (Entry::Claimed, evicted)
    }

    fn make_room(&mut self, newcomer: &Session) -> Option<Arc<str>> {
        if let Some((_, run)) = self.finished.first_key_value() {
            let run = Arc::clone(run);
            self.remove(&run);
            return Some(run);
        }
        if let Some((_, run)) = self.abandoned.first_key_value() {
            let run = Arc::clone(run);
            self.remove(&run);
            self.seal(&run);
            return Some(run);
        }
        let (_, run) = self.yielding.get(&newcomer.token)?.first_key_value()?;
        let run = Arc::clone(run);
        self.remove(&run);
        Some(run)
    }

    fn seal(&mut self, run: &Arc<str>) {
        if self.sealed.len() >= self.limits.sealed
            && let Some(oldest) = self.sealed_order.pop_front()
        {
            self.sealed.remove(&oldest);
        }
        if self.sealed.insert(Arc::clone(run)) {
            self.sealed_order.push_back(Arc::clone(run));
        }
    }

    fn insert(&mut self, run: &Arc<str>, session: &Session, stage: Stage) {
        let age = self.next_age;
        self.next_age += 1;
        self.place(run, Claim { token: Arc::clone(&session.token), bond: session.bond, stage, age });
    }

    fn place(&mut self, run: &Arc<str>, claim: Claim) {
        let by_age = match (claim.stage, claim.bond) {
            (Stage::Finished, _) => Some(&mut self.finished),
            (Stage::Abandoned, _) => Some(&mut self.abandoned),
            (Stage::Running, Bond::Loose) => Some(self.yielding.entry(Arc::clone(&claim.token)).or_default()),
            (Stage::Running, Bond::Strict) => None,
        };
        if let Some(by_age) = by_age {
            by_age.insert(claim.age, Arc::clone(run));
        }
        self.claims.insert(Arc::clone(run), claim);
    }

    fn remove(&mut self, run: &str) -> Option<Claim> {
        let claim = self.claims.remove(run)?;
        match (claim.stage, claim.bond) {
            (Stage::Finished, _) => drop(self.finished.remove(&claim.age)),
            (Stage::Abandoned, _) => drop(self.abandoned.remove(&claim.age)),
            (Stage::Running, Bond::Loose) => {
                if let Some(by_age) = self.yielding.get_mut(&claim.token) {
                    by_age.remove(&claim.age);
                    if by_age.is_empty() {
                        self.yielding.remove(&claim.token);
                    }
                }
            }
            (Stage::Running, Bond::Strict) => {}
        }
        Some(claim)
    }
}

#[cfg(test)]
mod tests;
