//! Between the live actor and the store: events gather into batches, one batch is written at a time, and a store that fails
//! stops nobody.

use std::collections::VecDeque;
use std::time::Duration;

use lockgate_runs::writer::BATCH;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::ingest::frame::{Incoming, Note};
use crate::pauses::AppId;
use crate::store::{Batch, NewEvent, NewRun, Run, Turn};

/// What waits to be written, and what is being written.
#[derive(Debug)]
pub(crate) struct Pending {
    rows: Vec<Run>,
    missed: Option<Vec<(NewEvent, u64)>>,
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

impl Pending {
    pub(crate) fn new(writer: mpsc::Sender<Batch>) -> Pending {
        Pending {
            rows: Vec::new(),
            missed: None,
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

    /// With the rows of their runs; the next batch finds out whether the store works again.
    pub(crate) fn missed(&mut self, events: Vec<(NewEvent, u64)>) {
        self.missed = Some(events);
    }

    pub(crate) fn run(&mut self, run: NewRun) {
        self.runs.push(run);
    }

    pub(crate) fn event(&mut self, incoming: Incoming, app: AppId) {
        let Incoming { event, note } = incoming;
        self.bytes += event.weight();
        self.events.push_back((event, From { app, note }));
    }

    pub(crate) fn turn(&mut self, turn: Turn) {
        self.turns.push(turn);
    }

    pub(crate) fn in_flight(&self) -> bool {
        self.in_flight.is_some()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty()
            && self.missed.is_none()
            && self.rows.is_empty()
            && self.runs.is_empty()
            && self.turns.is_empty()
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
        self.bytes -= events.iter().map(NewEvent::weight).sum::<usize>();
        let (rows, missed) = (std::mem::take(&mut self.rows), self.missed.take());
        let (runs, turns) = (std::mem::take(&mut self.runs), std::mem::take(&mut self.turns));
        // There is room: the last batch was answered. A writer that is gone means that the hub has stopped.
        let sent = self.writer.try_send(Batch { rows, missed, runs, events, turns }).is_ok();
        self.in_flight = sent.then_some(origins);
        sent
    }

    /// The batch under way is done; answers where its events came from.
    pub(crate) fn landed(&mut self) -> Vec<From> {
        self.in_flight.take().unwrap_or_default()
    }
}

const MOST: usize = 2 * BATCH;
const MOST_BYTES: usize = 8 << 20;
const LINGER: Duration = Duration::from_micros(500);
