//! Ends the server with everything it started: end of input, a wait, a signal, a wait, the kill (hub §12.8).

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::exit::Status;
use super::keeper::{self, Keeper};
use super::process::Process;

/// What the watcher of the child is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Its input has ended: it should end by itself.
    InputEnded,
    /// A signal came to us and is meant for it.
    Interrupt,
    /// The same, and there is no more time.
    Terminate,
    /// It must not go on.
    Stop,
}

/// What is done when a wait is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rung {
    Terminate,
    Kill,
}

/// Waits for the child to end, and sees to it that it does once that is due. Then ends whatever it left behind.
pub(crate) async fn supervise(
    mut child: Process,
    mut orders: mpsc::Receiver<Order>,
    mut keeper: Option<&Keeper>,
) -> Status {
    let group = Group::of(&child);
    let mut due: Option<(Instant, Rung)> = None;
    let mut kept = None;
    let keep_at = Instant::now() + keeper::AFTER_START;
    let status = loop {
        tokio::select! {
            biased;
            status = child.wait() => break status,
            () = sleep_until(keep_at), if keeper.is_some() => kept = keeper.take().and_then(|keeper| keeper.start(&group)),
            Some(order) = orders.recv() => due = obey(&group, order, due),
            () = sleep_until(due.map_or_else(Instant::now, |(at, _)| at)), if due.is_some() => {
                due = match due {
                    Some((_, Rung::Terminate)) => {
                        group.terminate();
                        Some((Instant::now() + AFTER_TERMINATE, Rung::Kill))
                    }
                    Some((_, Rung::Kill)) | None => {
                        group.kill();
                        child.start_kill().ok();
                        None
                    }
                };
            }
        }
    };
    group.sweep().await;
    if let Some(kept) = kept {
        kept.release().await;
    }
    status.map_or(Status { code: Some(1), signal: None }, Status::of)
}

/// The earlier end of two stands.
fn obey(group: &Group, order: Order, due: Option<(Instant, Rung)>) -> Option<(Instant, Rung)> {
    let next = match order {
        Order::InputEnded => (Instant::now() + AFTER_INPUT, Rung::Terminate),
        Order::Interrupt => {
            group.interrupt();
            (Instant::now() + AFTER_INPUT, Rung::Terminate)
        }
        Order::Terminate | Order::Stop => {
            group.terminate();
            (Instant::now() + AFTER_TERMINATE, Rung::Kill)
        }
    };
    match due {
        Some(due) if due.0 <= next.0 => Some(due),
        Some(_) | None => Some(next),
    }
}

/// The process group of the child.
#[cfg(unix)]
pub(super) struct Group(Option<rustix::process::Pid>);

#[cfg(unix)]
impl Group {
    fn of(child: &Process) -> Group {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Group(id.and_then(rustix::process::Pid::from_raw))
    }

    /// Its number, where groups have one.
    pub(super) fn id(&self) -> Option<i32> {
        self.0.map(|group| group.as_raw_nonzero().get())
    }

    fn interrupt(&self) {
        self.signal(rustix::process::Signal::INT);
    }

    fn terminate(&self) {
        self.signal(rustix::process::Signal::TERM);
    }

    fn kill(&self) {
        self.signal(rustix::process::Signal::KILL);
    }

    fn signal(&self, signal: rustix::process::Signal) {
        if let Some(group) = self.0 {
            // Whoever is gone already needs no signal.
            rustix::process::kill_process_group(group, signal).ok();
        }
    }

    fn is_empty(&self) -> bool {
        self.0.is_none_or(|group| rustix::process::test_kill_process_group(group).is_err())
    }

    /// The child is gone; what it started may not be.
    async fn sweep(&self) {
        if self.is_empty() {
            return;
        }
        self.terminate();
        self.emptied(AFTER_TERMINATE).await;
        self.kill();
        // Dying takes a moment. A zombie that nobody reaps counts as there: then not for ever.
        self.emptied(AFTER_KILL).await;
    }

    async fn emptied(&self, limit: Duration) {
        let until = Instant::now() + limit;
        while !self.is_empty() && Instant::now() < until {
            tokio::time::sleep(POLL).await;
        }
    }
}

/// Where there are no groups, a job object ends the children with us.
#[cfg(windows)]
pub(super) struct Group;

#[cfg(windows)]
impl Group {
    fn of(_: &Process) -> Group {
        Group
    }

    pub(super) fn id(&self) -> Option<i32> {
        None
    }

    fn interrupt(&self) {}

    fn terminate(&self) {}

    fn kill(&self) {}

    async fn sweep(&self) {}
}

const AFTER_INPUT: Duration = Duration::from_millis(5_000);
const AFTER_TERMINATE: Duration = Duration::from_millis(2_000);
#[cfg(unix)]
const AFTER_KILL: Duration = Duration::from_millis(500);
#[cfg(unix)]
const POLL: Duration = Duration::from_millis(20);
