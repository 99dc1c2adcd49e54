//! What every connection of one hub shares: the way to the live state, the store, the rules of the house.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use lockgate_protocol::debug::Principal;
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::credentials::Tokens;
use crate::guard::AllowedOrigins;
use crate::hub::Demo;
use crate::live::{Behind, Command, Live};
use crate::page::Page;
use crate::pauses::House;
use crate::store::error::StoreError;
use crate::store::sqlite::Store;
use crate::store::{Liveness, Run};
use crate::throttle::Throttle;

pub(crate) struct Site {
    pub(crate) live: Live,
    pub(crate) store: Arc<Store>,
    pub(crate) tokens: Tokens,
    pub(crate) throttle: Throttle,
    pub(crate) house: House,
    pub(crate) allowed: AllowedOrigins,
    pub(crate) port: u16,
    pub(crate) version: Arc<str>,
    pub(crate) hub_capabilities: Vec<String>,
    pub(crate) ping: Duration,
    pub(crate) page: Page,
    pub(crate) demo: Option<Demo>,
    /// The id of the demo run that is playing.
    pub(crate) playing: Mutex<Option<String>>,
    /// Every WebSocket holds one of these.
    pub(crate) sockets: Arc<Semaphore>,
    pub(crate) slots: Slots,
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
    /// Whether a viewer without a token was seen.
    pub(crate) tokenless: AtomicBool,
    pub(crate) next: AtomicU64,
}

/// Room for requests that wait.
pub(crate) struct Slots {
    all: Arc<Semaphore>,
    tokenless: Arc<Semaphore>,
}

impl Site {
    pub(crate) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Waits until the store can be read up to what viewers were shown of a run: a few milliseconds at most. Answers what a
    /// failing store has missed.
    pub(crate) async fn readable(&self, run: &str) -> Option<Behind> {
        self.live.ask(|reply| Command::Readable(run.into(), reply)).await.flatten()
    }

    /// A run as viewers were shown it, with the events of it that are not in the store.
    pub(crate) async fn run(&self, id: &str) -> Result<Option<Behind>, StoreError> {
        match self.readable(id).await {
            Some(behind) => Ok(Some(behind)),
            None => Ok(self.store.run(id).await?.map(|run| Behind { run, missed: Vec::new() })),
        }
    }

    /// The newest runs with what only the live state knows of them.
    pub(crate) async fn runs(&self) -> Vec<(Run, Liveness)> {
        let before = self.live.ask(Command::Overlay).await.unwrap_or_default();
        let mut runs = match self.store.runs(MOST_RUNS).await {
            Ok(rows) => rows.into_iter().map(|run| (run, Liveness::default())).collect(),
            Err(error) => {
                if let Some(swallowed) = self.throttle.pass("unreadable", Instant::now()) {
                    tracing::warn!(%error, swallowed, "the runs could not be listed");
                }
                Vec::new()
            }
        };
        let now = self.live.ask(Command::Overlay).await.unwrap_or_default();
        let mut known: HashMap<Arc<str>, (Run, Liveness)> = HashMap::new();
        known.extend(now.into_iter().map(|now| (Arc::clone(&now.0.id), now)));
        for (run, _) in before {
            // What was on its way to the store may have got there behind the back of the one who read it.
            if !known.contains_key(&run.id) {
                let settled = self.store.run(&run.id).await.ok().flatten().unwrap_or(run);
                known.insert(Arc::clone(&settled.id), (settled, Liveness::default()));
            }
        }
        runs.retain(|(run, _)| !known.contains_key(&run.id));
        runs.extend(known.into_values());
        runs.sort_by(|(one, _), (other, _)| {
            other.started_at.total_cmp(&one.started_at).then_with(|| other.id.cmp(&one.id))
        });
        runs
    }
}

impl Slots {
    pub(crate) fn new() -> Slots {
        Slots { all: Arc::new(Semaphore::new(WAITING)), tokenless: Arc::new(Semaphore::new(WAITING_TOKENLESS)) }
    }

    /// A place to wait; it is free again when dropped.
    pub(crate) fn take(&self, who: Principal) -> Option<Vec<OwnedSemaphorePermit>> {
        let free = |slots: &Arc<Semaphore>| Arc::clone(slots).try_acquire_owned().ok();
        let mut taken = vec![free(&self.all)?];
        if who == Principal::Anonymous {
            taken.push(free(&self.tokenless)?);
        }
        Some(taken)
    }
}

/// WebSockets at once; a further upgrade is refused.
pub(crate) const MOST_SOCKETS: usize = 1_024;
const MOST_RUNS: usize = 10_000;
const WAITING: usize = 16;
const WAITING_TOKENLESS: usize = 8;
