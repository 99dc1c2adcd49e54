//! The one writer of a store that is fed while it is read: batches gather in transactions, and a store that fails is not
//! asked again before somebody brings what it has missed.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, timeout_at};

use crate::store::error::StoreError;
use crate::store::sqlite::{Patience, Store, Tx};
use crate::store::{Batch, Committed};

/// What became of batches.
#[derive(Debug)]
pub enum Done {
    /// It is in the open transaction: its new events may be shown.
    Put { batch: Arc<Batch>, committed: Committed },
    /// It could not be put there; its events have numbers all the same.
    Unsaved { batch: Arc<Batch>, committed: Committed, failure: Arc<StoreError> },
    /// Everything that was put is on disk.
    Kept,
    /// Everything that was put since the last word is lost.
    Lost(Arc<StoreError>),
}

/// Writes one batch after the other until the actor is gone. A transaction takes in several, for a few milliseconds.
pub async fn write(store: Arc<Store>, mut batches: mpsc::Receiver<Batch>, done: mpsc::Sender<Done>, due: Arc<Notify>) {
    let mut writing = Writing { store: &store, open: None, failed: None, patience: Patience::Usual };
    loop {
        let answers = match &writing.open {
            None => match batches.recv().await {
                Some(batch) => writing.put(batch).await,
                None => return,
            },
            Some(open) => match timeout_at(open.until, batches.recv()).await {
                Ok(Some(batch)) => writing.put(batch).await,
                Ok(None) => {
                    writing.commit().await;
                    return;
                }
                Err(_) => writing.commit().await.into_iter().collect(),
            },
        };
        for answer in answers {
            if done.send(answer).await.is_err() {
                return;
            }
        }
        if store.checkpoint_due() {
            due.notify_one();
        }
    }
}

struct Writing<'s> {
    store: &'s Store,
    open: Option<Open<'s>>,
    /// How it failed the last time.
    failed: Option<Arc<StoreError>>,
    patience: Patience,
}

/// A transaction under way.
struct Open<'s> {
    tx: Tx<'s>,
    until: Instant,
    events: usize,
    /// What was put into it.
    batches: Vec<Arc<Batch>>,
}

impl Writing<'_> {
    async fn put(&mut self, batch: Batch) -> Vec<Done> {
        let batch = Arc::new(batch);
        let attempt = match &self.failed {
            // Nobody is to wait for it to fail again, and nothing new is to be kept before what was missed.
            Some(error) if batch.missed.is_none() => Err(Arc::clone(error)),
            _ => self.try_put(&batch).await,
        };
        match attempt {
            Ok(committed) => {
                let full = self.open.as_ref().is_some_and(|open| open.events >= BATCH);
                let mut answers = vec![Done::Put { batch, committed }];
                if full {
                    answers.extend(self.commit().await);
                }
                answers
            }
            Err(failure) => {
                let lost = match self.open.take() {
                    Some(open) => {
                        open.tx.rollback().await;
                        self.store.adrift(&open.batches).await;
                        Some(Done::Lost(Arc::clone(&failure)))
                    }
                    None => None,
                };
                let committed = self.store.number(&batch).await;
                lost.into_iter().chain([Done::Unsaved { batch, committed, failure }]).collect()
            }
        }
    }

    async fn try_put(&mut self, batch: &Arc<Batch>) -> Result<Committed, Arc<StoreError>> {
        let attempt = self.put_into(batch).await.map_err(Arc::new);
        self.failed = attempt.as_ref().err().cloned();
        attempt
    }

    async fn put_into(&mut self, batch: &Arc<Batch>) -> Result<Committed, StoreError> {
        let open = match &mut self.open {
            Some(open) => open,
            closed => {
                let wanted = if self.failed.is_some() { Patience::Short } else { Patience::Usual };
                if std::mem::replace(&mut self.patience, wanted) != wanted {
                    self.store.be(wanted).await?;
                }
                closed.insert(Open {
                    tx: self.store.begin().await?,
                    until: Instant::now() + OPEN,
                    events: 0,
                    batches: Vec::new(),
                })
            }
        };
        open.events += batch.events.len();
        let committed = open.tx.put(batch).await?;
        open.batches.push(Arc::clone(batch));
        Ok(committed)
    }

    async fn commit(&mut self) -> Option<Done> {
        let open = self.open.take()?;
        Some(match open.tx.commit().await {
            Ok(()) => Done::Kept,
            Err(error) => {
                self.store.adrift(&open.batches).await;
                let error = Arc::new(error);
                self.failed = Some(Arc::clone(&error));
                Done::Lost(error)
            }
        })
    }
}

/// Carries the log over whenever enough was written.
pub async fn checkpoint(store: Arc<Store>, due: Arc<Notify>) {
    loop {
        due.notified().await;
        if let Err(error) = store.checkpoint().await {
            tracing::debug!(%error, "checkpoint put off");
        }
        tokio::time::sleep(BETWEEN_CHECKPOINTS).await;
    }
}

/// Events that are worth a transaction of their own.
pub const BATCH: usize = 512;
/// How long a transaction takes batches in.
const OPEN: Duration = Duration::from_millis(5);
const BETWEEN_CHECKPOINTS: Duration = Duration::from_millis(500);
