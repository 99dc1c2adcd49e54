//! The bounded outlet of events: numbers them, queues them, counts what it has to drop. Never waits, never serialises.
//! Who reads the other end is a [`Drain`].

mod drain;
mod weight;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use lockgate_protocol::debug::{Event, RunId};
use tokio::sync::Notify;
use tokio::time::Instant;

pub use drain::{Batch, Drain};

/// Where events leave a room. A clone is another handle on the same queue and the same numbers.
///
/// A full queue never delays a call: the event is dropped and counted, and the loss travels with the next [`Batch`].
#[derive(Clone)]
pub struct Tap(Option<Arc<Outlet>>);

/// How much may wait in a [`Tap`] before events are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TapLimits {
    /// Events.
    pub events: usize,
    /// Bytes of their strings and payloads, roughly. One event alone may be larger.
    pub bytes: usize,
}

/// An event with everything it was given on its way into the queue.
#[derive(Debug, Clone)]
pub struct Queued {
    /// Number of the envelope, one row per sender (wire §2.3).
    pub seq: u64,
    /// Wall clock, epoch milliseconds.
    pub ts_ms: u64,
    /// Monotonic clock, for durations.
    pub at: Instant,
    /// The run it belongs to.
    pub run: RunId,
    /// What happened.
    pub event: Event,
}

/// A moment on both clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct When {
    /// Wall clock, epoch milliseconds.
    pub ts_ms: u64,
    /// Monotonic clock.
    pub at: Instant,
}

impl When {
    /// Now.
    #[must_use]
    pub fn now() -> Self {
        Self { ts_ms: epoch_ms(), at: Instant::now() }
    }
}

/// What one run lost since the last [`Batch`] (wire §2.4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// The run.
    pub run: RunId,
    /// How many of its events were dropped.
    pub dropped: u64,
    /// Lowest number among them.
    pub from_seq: u64,
    /// Highest number among them.
    pub to_seq: u64,
}

impl Tap {
    /// A queue within `limits`, and the end that empties it.
    #[must_use]
    pub fn channel(limits: TapLimits) -> (Self, Drain) {
        let outlet = Arc::new(Outlet {
            queue: Mutex::new(Queue {
                seq: 0,
                events: Vec::with_capacity(limits.events.min(ROOM)),
                bytes: 0,
                losses: Vec::new(),
                unattributed: 0,
                state: State::Open,
            }),
            filled: Notify::new(),
            urgent: Notify::new(),
            limits,
        });
        (Self(Some(Arc::clone(&outlet))), Drain::new(outlet))
    }

    /// No observer at all: every event is dropped unseen and uncounted.
    #[must_use]
    pub fn off() -> Self {
        Self(None)
    }

    /// Whether nobody can ever see what is emitted here, so that building an event is wasted.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.0.is_none()
    }

    /// Takes the next number and queues the event under one lock, so the order of the queue is the order of the numbers.
    ///
    /// Answers the number, or `None` when nobody will see the event: tap off or closed, or full (then it is counted).
    /// `exec.resumed` is queued even when full: it ends a hold that viewers know of, and there is one per such hold.
    pub fn emit(&self, run: &RunId, event: Event) -> Option<u64> {
        self.put(run, event, None)
    }

    /// As [`Tap::emit`], for something that happened a moment ago.
    pub fn emit_at(&self, run: &RunId, event: Event, when: When) -> Option<u64> {
        self.put(run, event, Some(when))
    }

    fn put(&self, run: &RunId, event: Event, when: Option<When>) -> Option<u64> {
        let outlet = self.0.as_ref()?;
        let weight = weight::of(&event);
        let must = matches!(event, Event::ExecResumed(_));
        let awaited = is_awaited(&event);
        let mut queue = outlet.lock();
        if queue.state == State::Closed {
            return None;
        }
        let idle = queue.events.is_empty() && queue.losses.is_empty();
        let seq = queue.take_seq();
        let room = weight <= outlet.limits.bytes.saturating_sub(queue.bytes);
        let fits = queue.events.len() < outlet.limits.events && (room || queue.events.is_empty());
        let taken = if fits || must {
            queue.bytes += weight;
            // Read under the lock, so that later numbers have later times.
            let When { ts_ms, at } = when.unwrap_or_else(When::now);
            queue.events.push(Queued { seq, ts_ms, at, run: run.clone(), event });
            Some(seq)
        } else {
            queue.lose(run, seq);
            None
        };
        let half = queue.events.len() == outlet.limits.events / 2 || queue.bytes > outlet.limits.bytes / 2;
        drop(queue);
        if idle {
            outlet.filled.notify_one();
        }
        if awaited || half {
            outlet.urgent.notify_one();
        }
        taken
    }

    /// Takes a number for what does not go through the queue: a hello, a gap marker (wire §2.3). 0 when the tap is off.
    #[must_use]
    pub fn take_seq(&self) -> u64 {
        self.0.as_ref().map_or(0, |outlet| outlet.lock().take_seq())
    }

    /// The number that will be taken next. 0 when the tap is off.
    #[must_use]
    pub fn next_seq(&self) -> u64 {
        self.0.as_ref().map_or(0, |outlet| outlet.lock().seq)
    }

    /// Ends the outlet: later events are no-ops, and the [`Drain`] ends once it has handed over what is queued.
    pub fn close(&self) {
        if let Some(outlet) = &self.0 {
            outlet.close();
        }
    }
}

/// Epoch milliseconds now; 0 when the clock stands before the epoch.
pub(crate) fn epoch_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Whether somebody looks out for this event, so that it must not wait for others.
fn is_awaited(event: &Event) -> bool {
    match event {
        Event::ExecPaused(_) | Event::ExecRefused(_) | Event::ExecResumed(_) | Event::ExecUntil(_) => true,
        Event::RunStarted(_)
        | Event::RunFinished(_)
        | Event::GraphHint(_)
        | Event::NodeStarted(_)
        | Event::NodeToken(_)
        | Event::NodeFinished(_)
        | Event::NodeError(_) => false,
    }
}

struct Outlet {
    queue: Mutex<Queue>,
    /// Told when the queue stops being empty, and when it is closed.
    filled: Notify,
    /// Told what ends a pause of the reader.
    urgent: Notify,
    limits: TapLimits,
}

struct Queue {
    seq: u64,
    events: Vec<Queued>,
    bytes: usize,
    losses: Vec<Loss>,
    /// Losses of runs beyond the [`RUNS`] that are told apart.
    unattributed: u64,
    state: State,
}

#[derive(PartialEq, Eq)]
enum State {
    Open,
    Closed,
}

impl Outlet {
    /// A panic elsewhere leaves the queue whole: every change below is complete before anything can panic.
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_open(&self) -> bool {
        self.lock().state == State::Open
    }

    fn close(&self) {
        self.lock().state = State::Closed;
        self.filled.notify_one();
        self.urgent.notify_one();
    }
}

impl Queue {
    fn take_seq(&mut self) -> u64 {
        let seq = self.seq;
        self.seq += 1;
        seq
    }

    fn lose(&mut self, run: &RunId, seq: u64) {
        if let Some(loss) = self.losses.iter_mut().find(|loss| loss.run == *run) {
            loss.dropped += 1;
            loss.to_seq = seq;
        } else if self.losses.len() < RUNS {
            self.losses.push(Loss { run: run.clone(), dropped: 1, from_seq: seq, to_seq: seq });
        } else {
            self.unattributed += 1;
        }
    }
}

/// Runs whose losses are told apart between two batches.
const RUNS: usize = 64;

/// Slots set aside for the queue, so that an emit seldom has to grow it.
const ROOM: usize = 1024;

#[cfg(test)]
mod tests;
