//! The one who stands: waits for its end, keeps the clocks going and runs the checks of its hold.

use std::future;

use tokio::sync::watch;
use tokio::time::{self, Instant};
use tokio_util::sync::CancellationToken;

use super::check::{self, Running};
use super::room::Room;
use crate::call::Call;
use crate::hold::{Cause, Ended, Input, Seat};
use crate::policy::Hold;

/// Holds the place of one call in the room.
pub(super) struct Waiter {
    room: Room,
    hold: u64,
    seat: watch::Receiver<Seat>,
    standing: Standing,
}

#[derive(PartialEq, Eq)]
enum Standing {
    Yes,
    Over,
}

impl Waiter {
    pub(super) fn new(room: Room, hold: u64, seat: watch::Receiver<Seat>) -> Self {
        Self { room, hold, seat, standing: Standing::Yes }
    }

    pub(super) async fn wait(mut self, call: &Call, hold: &Hold) -> Ended {
        let mut limit = call.limit.as_ref().map(|limit| limit.deadline.clone());
        let mut checking: Option<(u64, Running)> = None;
        loop {
            let seat = self.seat.borrow_and_update().clone();
            if let Some(ended) = seat.end {
                self.standing = Standing::Over;
                return ended;
            }
            checking = match (seat.job, checking.take()) {
                (None, _) => None,
                (Some(job), Some((ticket, running))) if ticket == job.ticket => Some((ticket, running)),
                (Some(job), _) => Some((job.ticket, check::start(&job.work, call, hold))),
            };
            let input = tokio::select! {
                biased;
                told = self.seat.changed() => match told {
                    Ok(()) => continue,
                    Err(_) => return self.lost(hold),
                },
                () = cancelled(call.cancel.as_ref()) => Input::Gone(self.hold, Cause::Asker),
                () = cancelled(call.signal.as_ref()) => Input::Gone(self.hold, Cause::Signal),
                input = verdict(self.hold, checking.as_mut()) => input,
                () = alarm(seat.wake) => Input::Tick(self.hold),
                at = moved(limit.as_mut()) => Input::Limit(self.hold, at),
            };
            self.room.step(input);
        }
    }

    /// Its place is gone without a word: nobody could end it any more.
    fn lost(mut self, hold: &Hold) -> Ended {
        self.standing = Standing::Over;
        Ended::plain(hold.alone(), Cause::Left)
    }
}

impl Drop for Waiter {
    /// The one piece of work done on drop here: whoever stops waiting has no other way to say so, and the hold would
    /// stay open on every screen.
    fn drop(&mut self) {
        if self.standing == Standing::Yes {
            self.room.step(Input::Gone(self.hold, Cause::Waiter));
        }
    }
}

async fn cancelled(token: Option<&CancellationToken>) {
    match token {
        Some(token) => token.cancelled().await,
        None => future::pending().await,
    }
}

async fn verdict(hold: u64, checking: Option<&mut (u64, Running)>) -> Input {
    match checking {
        Some((ticket, running)) => Input::Checked { hold, ticket: *ticket, verdict: running.await },
        None => future::pending().await,
    }
}

async fn alarm(at: Option<Instant>) {
    match at {
        Some(at) => time::sleep_until(at).await,
        None => future::pending().await,
    }
}

/// Where the asker's limit moved to. Whoever moved it may be gone: then it stays.
async fn moved(limit: Option<&mut watch::Receiver<Option<Instant>>>) -> Option<Instant> {
    if let Some(limit) = limit
        && limit.changed().await.is_ok()
    {
        return *limit.borrow_and_update();
    }
    future::pending().await
}
