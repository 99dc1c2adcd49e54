//! Between the live actor and the store: events gather into batches, one batch is written at a time, and a store that fails
//! stops nobody.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, mpsc};
use tokio::time::{Instant, timeout_at};

use crate::ingest::frame::{Incoming, Note};
use crate::pauses::AppId;
use crate::store::error::StoreError;
use crate::store::sqlite::{Patience, Store, Tx};
use crate::store::{Batch, Committed, NewEvent, NewRun, Run, Turn};

/// What waits to be written, and what is being written.
#[derive(Debug)]
pub(crate) struct Pending {
    rows: Vec<Run>,
    runs: Vec<NewRun>,
    events: VecDeque<(NewEvent, From)>,
    turns: Vec<Turn>,
    bytes: usize,
    in_flight: Option<Vec<From>>,
    flushed: Instant,
    /// Holds one batch; another is only sent when its answer is here.
    writer: mpsc::Sender<Batch>,
}

/// Where an event came from and what it means.
#[derive(Debug)]
pub(crate) struct From {
    pub(crate) app: AppId,
    pub(crate) note: Note,
}

/// What became of batches.
#[derive(Debug)]
pub(crate) enum Done {
    /// It is in the open transaction: its new events may be shown.
    Put { batch: Batch, committed: Committed },
    /// It could not be put there; its events have numbers all the same.
    Unsaved { batch: Batch, committed: Committed, failure: Arc<StoreError> },
    /// Everything that was put is on disk.
    Kept,
    /// Everything that was put since the last word is lost.
    Lost(Arc<StoreError>),
}

impl Pending {
    pub(crate) fn new(writer: mpsc::Sender<Batch>) -> Pending {
        Pending {
            rows: Vec::new(),
            runs: Vec::new(),
            events: VecDeque::new(),
            turns: Vec::new(),
            bytes: 0,
            in_flight: None,
            flushed: Instant::now(),
            writer,
        }
    }

    /// Whether more may be taken in; otherwise programs wait at their sockets.
    pub(crate) fn has_room(&self) -> bool {
        self.events.len() < MOST && self.bytes < MOST_BYTES
    }

    pub(crate) fn row(&mut self, row: Run) {
        self.rows.push(row);
    }

    pub(crate) fn run(&mut self, run: NewRun) {
        self.runs.push(run);
    }

    pub(crate) fn event(&mut self, incoming: Incoming, app: AppId) {
        let Incoming { event, note } = incoming;
        self.bytes += weight(&event);
        self.events.push_back((event, From { app, note }));
    }

    pub(crate) fn turn(&mut self, turn: Turn) {
        self.turns.push(turn);
    }

    pub(crate) fn in_flight(&self) -> bool {
        self.in_flight.is_some()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty() && self.rows.is_empty() && self.runs.is_empty() && self.turns.is_empty()
    }

    /// When the next batch should leave: at once after a quiet moment, else a little later, so that it is worth a transaction.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        (!self.is_empty() && self.in_flight.is_none()).then(|| self.flushed + LINGER)
    }

    pub(crate) fn flush(&mut self, now: Instant) {
        if self.next_deadline().is_some_and(|deadline| deadline <= now) || self.events.len() >= BATCH {
            self.hurry();
            self.flushed = now;
        }
    }

    /// Sends what there is, if nothing is under way; whether it did.
    pub(crate) fn hurry(&mut self) -> bool {
        if self.is_empty() || self.in_flight.is_some() {
            return false;
        }
        let count = self.events.len().min(BATCH);
        let (events, origins): (Vec<_>, Vec<_>) = self.events.drain(..count).unzip();
        self.bytes -= events.iter().map(weight).sum::<usize>();
        let rows = std::mem::take(&mut self.rows);
        let (runs, turns) = (std::mem::take(&mut self.runs), std::mem::take(&mut self.turns));
        // There is room: the last batch was answered. A writer that is gone means that the hub has stopped.
        let sent = self.writer.try_send(Batch { rows, runs, events, turns }).is_ok();
        self.in_flight = sent.then_some(origins);
        sent
    }

    /// The batch under way is done; answers where its events came from.
    pub(crate) fn landed(&mut self) -> Vec<From> {
        self.in_flight.take().unwrap_or_default()
    }
}

/// Writes one batch after the other until the actor is gone. A transaction takes in several, for a few milliseconds.
pub(crate) async fn write(
    store: Arc<Store>,
    mut batches: mpsc::Receiver<Batch>,
    done: mpsc::Sender<Done>,
    due: Arc<Notify>,
) {
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
    /// When it last failed, and how.
    failed: Option<(Instant, Arc<StoreError>)>,
    patience: Patience,
}

/// A transaction under way.
struct Open<'s> {
    tx: Tx<'s>,
    until: Instant,
    events: usize,
}

impl Writing<'_> {
    async fn put(&mut self, batch: Batch) -> Vec<Done> {
        let attempt = match &self.failed {
            // It failed a moment ago: do not let everybody wait for it to fail again.
            Some((at, error)) if at.elapsed() < AGAIN => Err(Arc::clone(error)),
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
                        Some(Done::Lost(Arc::clone(&failure)))
                    }
                    None => None,
                };
                let committed = self.store.number(&batch).await;
                lost.into_iter().chain([Done::Unsaved { batch, committed, failure }]).collect()
            }
        }
    }

    async fn try_put(&mut self, batch: &Batch) -> Result<Committed, Arc<StoreError>> {
        let attempt = self.put_into(batch).await.map_err(Arc::new);
        self.failed = attempt.as_ref().err().map(|error| (Instant::now(), Arc::clone(error)));
        attempt
    }

    async fn put_into(&mut self, batch: &Batch) -> Result<Committed, StoreError> {
        let open = match &mut self.open {
            Some(open) => open,
            closed => {
                let wanted = if self.failed.is_some() { Patience::Short } else { Patience::Usual };
                if std::mem::replace(&mut self.patience, wanted) != wanted {
                    self.store.be(wanted).await?;
                }
                closed.insert(Open { tx: self.store.begin().await?, until: Instant::now() + OPEN, events: 0 })
            }
        };
        open.events += batch.events.len();
        open.tx.put(batch).await
    }

    async fn commit(&mut self) -> Option<Done> {
        let open = self.open.take()?;
        Some(match open.tx.commit().await {
            Ok(()) => Done::Kept,
            Err(error) => {
                let error = Arc::new(error);
                self.failed = Some((Instant::now(), Arc::clone(&error)));
                Done::Lost(error)
            }
        })
    }
}

/// Carries the log over whenever enough was written.
pub(crate) async fn checkpoint(store: Arc<Store>, due: Arc<Notify>) {
    loop {
        due.notified().await;
        if let Err(error) = store.checkpoint().await {
            tracing::debug!(%error, "checkpoint put off");
        }
        tokio::time::sleep(BETWEEN_CHECKPOINTS).await;
    }
}

fn weight(event: &NewEvent) -> usize {
    256 + event.payload.as_ref().map_or(0, lockgate_protocol::json::Raw::len)
}

const BATCH: usize = 512;
const MOST: usize = 2 * BATCH;
const MOST_BYTES: usize = 8 << 20;
const LINGER: Duration = Duration::from_millis(1);
/// How long a transaction takes batches in.
const OPEN: Duration = Duration::from_millis(5);
const AGAIN: Duration = Duration::from_secs(2);
const BETWEEN_CHECKPOINTS: Duration = Duration::from_millis(500);
