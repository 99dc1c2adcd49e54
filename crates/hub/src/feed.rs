//! One viewer's socket, seen from the live actor: what waits for it, and the work its writer still has to do (hub §5).

pub(crate) mod frames;
mod request;
pub(crate) mod viewer;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::outbox::{Closing, Outbox, OutboxLimits, PushError, Text, Weigh};

/// A viewer's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ViewerId(pub(crate) u64);

/// Filled by the live actor, emptied by the viewer's own task.
#[derive(Debug)]
pub(crate) struct Feed {
    pub(crate) out: Outbox<Out>,
    side: Mutex<Side>,
}

/// A frame for a viewer.
#[derive(Debug, Clone)]
pub(crate) enum Out {
    Text(Text),
    Event { run: Arc<str>, ord: u64, text: Text },
}

/// Work that needs the store, and so is the viewer's own: at most one per subscription waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Job {
    /// The list of runs.
    Runs,
    /// Everything of a run above `after`, up to `head`, then its tail.
    Replay { run: Arc<str>, turn: u64, after: u64, head: u64 },
    /// It already follows this run.
    Empty { run: Arc<str> },
    /// The queue was full: from the last one sent, then the tail again.
    CatchUp { run: Arc<str>, turn: u64 },
    /// It does not follow this run any more.
    Left { run: Arc<str> },
    /// A `state` frame found no room.
    State,
}

#[derive(Debug, Default)]
struct Side {
    jobs: VecDeque<Job>,
}

impl Feed {
    pub(crate) fn new() -> Feed {
        Feed { out: Outbox::new(LIMITS), side: Mutex::default() }
    }

    /// Queues an event; false when there is no room for it.
    pub(crate) fn event(&self, run: &Arc<str>, ord: u64, text: &Text) -> bool {
        let out = Out::Event { run: Arc::clone(run), ord, text: text.clone() };
        self.out.push(out) != Err(PushError::Full)
    }

    /// Queues a frame that some job can make up for.
    pub(crate) fn text_or(&self, text: &Text, job: Job) {
        if self.out.push(Out::Text(text.clone())) == Err(PushError::Full) {
            self.give(job);
        }
    }

    /// Queues an answer. Full: it is lost, for who does not read answers cannot be waiting for them.
    pub(crate) fn answer(&self, text: Text) {
        if self.out.push(Out::Text(text)) == Err(PushError::Full) {
            tracing::debug!("a viewer that does not read has missed an answer");
        }
    }

    /// Adds work, unless the same waits already. Who subscribes twice is answered twice, within reason; who asks for ever
    /// more and reads nothing is hung up on.
    pub(crate) fn give(&self, job: Job) {
        let mut side = self.side();
        let room = side.jobs.len() < MOST_JOBS;
        let is_new = (room && matches!(job, Job::Empty { .. })) || !side.jobs.contains(&job);
        match (is_new, room) {
            (true, true) => side.jobs.push_back(job),
            (true, false) => self.close(Closing { code: 1008, reason: "too much asked for and not read" }),
            (false, _) => {}
        }
        drop(side);
        self.out.nudge();
    }

    pub(crate) fn has_job(&self) -> bool {
        !self.side().jobs.is_empty()
    }

    pub(crate) fn next_job(&self) -> Option<Job> {
        self.side().jobs.pop_front()
    }

    pub(crate) fn close(&self, closing: Closing) {
        self.out.close(closing);
    }

    fn side(&self) -> MutexGuard<'_, Side> {
        self.side.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Weigh for Out {
    fn weight(&self) -> usize {
        match self {
            Out::Text(text) | Out::Event { text, .. } => text.len(),
        }
    }
}

const MOST_JOBS: usize = 4_096;
const LIMITS: OutboxLimits = OutboxLimits { frames: 4_096, bytes: 8 << 20 };

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_asks_for_ever_more_and_reads_nothing_is_hung_up_on() {
        let feed = Feed::new();
        let run = |number: usize| -> Arc<str> { format!("run_{number}").into() };
        for number in 0..MOST_JOBS {
            feed.give(Job::Left { run: run(number) });
        }
        feed.give(Job::Left { run: run(0) });
        feed.give(Job::Empty { run: run(0) });
        assert!(feed.side().jobs.len() <= MOST_JOBS);
        for number in 0..100 {
            feed.give(Job::Left { run: run(MOST_JOBS + number) });
        }
        assert_eq!(feed.side().jobs.len(), MOST_JOBS);
        assert_eq!(feed.out.closed().await.code, 1008);
    }
}
