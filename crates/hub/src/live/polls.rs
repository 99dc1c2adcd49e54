//! Long-polls on open pauses (hub §8): parked until there is something to say.

use std::sync::Arc;

use bytes::Bytes;
use lockgate_protocol::json::{ObjectWriter, Raw};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::records::Record;
use super::{Clock, State, tell};
use crate::store::{Run, Status};
use crate::watch::Looker;

/// Those who wait. Their number is bounded by the slots of the HTTP surface.
#[derive(Debug, Default)]
pub(crate) struct Polls {
    parked: Vec<Poll>,
    /// Whether something happened that may wake one.
    look: bool,
    /// When to look for clients that hung up.
    sweep_at: Option<Instant>,
}

/// A question about pauses.
#[derive(Debug)]
pub(crate) struct Poll {
    pub(crate) scope: Option<Arc<str>>,
    /// The scoped run as the store had it.
    pub(crate) known: Option<Run>,
    /// How long to wait when there is nothing to say; not at all when absent.
    pub(crate) until: Option<Instant>,
    /// Is sent the body of the answer.
    pub(crate) reply: oneshot::Sender<Bytes>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    News,
    TimedOut,
}

impl Polls {
    pub(crate) fn look(&mut self) {
        self.look = true;
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.parked.iter().filter_map(|poll| poll.until).chain(self.sweep_at).min()
    }
}

impl State {
    /// Answers at once, or parks the question when it may wait and there is nothing to say.
    pub(super) fn poll(&mut self, poll: Poll, clock: Clock) {
        if poll.until.is_none() || self.has_news(&poll) {
            return self.finish_poll(poll, Ending::News);
        }
        self.watch.came(Looker::Poll);
        self.polls.parked.push(poll);
        self.polls.sweep_at.get_or_insert(clock.now + SWEEP);
    }

    /// Answers those for whom there is news, or whose time is over.
    pub(super) fn wake_polls(&mut self, clock: Clock) {
        let late = self.polls.next_deadline().is_some_and(|at| at <= clock.now);
        if !late && !std::mem::take(&mut self.polls.look) {
            return;
        }
        for poll in std::mem::take(&mut self.polls.parked) {
            let ending = if self.has_news(&poll) {
                Some(Ending::News)
            } else {
                poll.until.is_none_or(|until| until <= clock.now).then_some(Ending::TimedOut)
            };
            if ending.is_none() && !poll.reply.is_closed() {
                self.polls.parked.push(poll);
                continue;
            }
            self.watch.left(Looker::Poll, clock.now);
            if let Some(ending) = ending {
                self.finish_poll(poll, ending);
            }
        }
        self.polls.sweep_at = (!self.polls.parked.is_empty()).then(|| clock.now + SWEEP);
    }

    /// The hub stops: everybody is told what there is.
    pub(super) fn shut_polls(&mut self) {
        for poll in std::mem::take(&mut self.polls.parked) {
            self.finish_poll(poll, Ending::TimedOut);
        }
    }

    fn has_news(&self, poll: &Poll) -> bool {
        let open = self.pauses.list(poll.scope.as_deref()).any(|(_, hold)| hold.is_open());
        open || self.scoped(poll).is_some_and(|(status, _)| status != Status::Running)
    }

    fn scoped(&self, poll: &Poll) -> Option<(Status, bool)> {
        let run = poll.scope.as_deref()?;
        match self.records.get(run).filter(|record| !Record::is_awaited(record)) {
            Some(record) => Some((record.run.status, record.owner.is_some())),
            None if self.orphans.contains(run) => Some((Status::Abandoned, false)),
            None => poll.known.as_ref().map(|known| (known.status, false)),
        }
    }

    fn finish_poll(&self, poll: Poll, ending: Ending) {
        let text = Raw::object(|w| {
            w.objects("pauses", self.pauses.list(poll.scope.as_deref()), |w, (key, hold)| {
                let app = self.records.get(&key.run).map(|record| &*record.run.app);
                hold.item.write(key, app, w);
                w.str("state", hold.state());
            });
            if let Some(run) = &poll.scope {
                w.with("run", |out| match self.scoped(&poll) {
                    None => out.extend_from_slice(b"null"),
                    Some((status, live)) => {
                        let mut w = ObjectWriter::new(out);
                        w.str("id", run).str("status", status.as_str()).bool("live", live);
                        w.end();
                    }
                });
            }
            if ending == Ending::TimedOut {
                w.bool("timedOut", true);
            }
        });
        tell(poll.reply, text.bytes().clone());
    }
}

const SWEEP: std::time::Duration = std::time::Duration::from_secs(1);
