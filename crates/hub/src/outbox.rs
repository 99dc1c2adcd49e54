//! What waits to be written to one socket: bounded in frames and bytes, filled by the live actor, which never waits.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio_tungstenite::tungstenite::Utf8Bytes;
use tokio_util::sync::CancellationToken;

/// The queue. Full: the newcomer is turned away and whoever pushed it decides what that means.
#[derive(Debug)]
pub(crate) struct Outbox<T> {
    state: Mutex<State<T>>,
    ready: Notify,
    closed: CancellationToken,
    limits: OutboxLimits,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct OutboxLimits {
    pub(crate) frames: usize,
    pub(crate) bytes: usize,
}

#[derive(Debug)]
struct State<T> {
    frames: VecDeque<T>,
    bytes: usize,
    nudged: bool,
    ping: bool,
    closing: Option<Closing>,
}

/// How the socket is to be closed, ahead of whatever still waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Closing {
    pub(crate) code: u16,
    pub(crate) reason: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PushError {
    Full,
    Closing,
}

/// Something that takes room in an outbox.
pub(crate) trait Weigh {
    fn weight(&self) -> usize;
}

/// What is to be written next.
#[derive(Debug)]
pub(crate) enum Next<T> {
    /// A few frames, at least one.
    Frames(VecDeque<T>),
    Ping,
    /// Nothing to write, but something beside the queue wants to be looked at.
    Nudge,
}

impl<T: Weigh> Outbox<T> {
    pub(crate) fn new(limits: OutboxLimits) -> Outbox<T> {
        let state = State { frames: VecDeque::new(), bytes: 0, nudged: false, ping: false, closing: None };
        Outbox { state: Mutex::new(state), ready: Notify::new(), closed: CancellationToken::new(), limits }
    }

    pub(crate) fn push(&self, frame: T) -> Result<(), PushError> {
        let mut state = self.state();
        if state.closing.is_some() {
            return Err(PushError::Closing);
        }
        let bytes = state.bytes.saturating_add(frame.weight());
        // One frame larger than the whole budget may pass when it is alone.
        if state.frames.len() >= self.limits.frames || (bytes > self.limits.bytes && !state.frames.is_empty()) {
            return Err(PushError::Full);
        }
        state.bytes = bytes;
        state.frames.push_back(frame);
        drop(state);
        self.ready.notify_one();
        Ok(())
    }

    pub(crate) fn ping(&self) {
        self.state().ping = true;
        self.ready.notify_one();
    }

    /// Wakes the writer for what lies beside the queue.
    pub(crate) fn nudge(&self) {
        self.state().nudged = true;
        self.ready.notify_one();
    }

    pub(crate) fn close(&self, closing: Closing) {
        self.state().closing.get_or_insert(closing);
        self.closed.cancel();
    }

    /// Waits until somebody wants the socket closed. A write that is stuck must not keep it open.
    pub(crate) async fn closed(&self) -> Closing {
        self.closed.cancelled().await;
        self.state().closing.unwrap_or(Closing { code: 1000, reason: "" })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.state().frames.is_empty()
    }

    /// Waits for something to do.
    pub(crate) async fn next(&self) -> Next<T> {
        loop {
            if let Some(next) = self.try_next() {
                return next;
            }
            self.ready.notified().await;
        }
    }

    /// Something to do, if there is.
    pub(crate) fn try_next(&self) -> Option<Next<T>> {
        let mut state = self.state();
        if std::mem::take(&mut state.ping) {
            return Some(Next::Ping);
        }
        let mut frames = VecDeque::new();
        let mut bytes = 0;
        while frames.len() < AT_ONCE && bytes < BYTES_AT_ONCE {
            let Some(frame) = state.frames.pop_front() else { break };
            bytes += frame.weight();
            frames.push_back(frame);
        }
        state.bytes -= bytes;
        if frames.is_empty() {
            return std::mem::take(&mut state.nudged).then_some(Next::Nudge);
        }
        Some(Next::Frames(frames))
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Text for a socket, checked once and shared by all who get it.
pub(crate) type Text = Utf8Bytes;

/// JSON we wrote is UTF-8.
pub(crate) fn text(written: Vec<u8>) -> Text {
    Text::from(String::from_utf8(written).unwrap_or_default())
}

impl Weigh for Text {
    fn weight(&self) -> usize {
        self.len()
    }
}

/// Taken out at once; until they are written they count no more.
const AT_ONCE: usize = 64;
const BYTES_AT_ONCE: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use super::{Closing, Next, Outbox, OutboxLimits, PushError, Text};

    fn outbox() -> Outbox<Text> {
        Outbox::new(OutboxLimits { frames: 100, bytes: 1_000 })
    }

    fn frame(bytes: usize) -> Text {
        Text::from("x".repeat(bytes))
    }

    fn taken(outbox: &Outbox<Text>) -> usize {
        match outbox.try_next() {
            Some(Next::Frames(frames)) => frames.len(),
            other => panic!("no frames: {other:?}"),
        }
    }

    #[test]
    fn bounded_in_frames_and_bytes() {
        let outbox = outbox();
        for _ in 0..100 {
            outbox.push(frame(1)).unwrap();
        }
        assert_eq!(outbox.push(frame(1)), Err(PushError::Full));
        assert_eq!(taken(&outbox), 64);
        outbox.push(frame(900)).unwrap();
        assert_eq!(outbox.push(frame(100)), Err(PushError::Full), "36 bytes wait in other frames");
        assert_eq!(taken(&outbox), 37);
        assert!(outbox.try_next().is_none());
        outbox.push(frame(5_000)).unwrap();
        assert_eq!(outbox.push(frame(1)), Err(PushError::Full), "a giant passes alone");
    }

    #[tokio::test]
    async fn pings_come_first_and_closing_ends_it() {
        let outbox = outbox();
        outbox.push(frame(1)).unwrap();
        outbox.nudge();
        outbox.ping();
        assert!(matches!(outbox.next().await, Next::Ping));
        assert_eq!(taken(&outbox), 1);
        assert!(matches!(outbox.next().await, Next::Nudge));
        outbox.close(Closing { code: 1001, reason: "bye" });
        outbox.close(Closing { code: 1002, reason: "too late" });
        assert_eq!(outbox.closed().await.code, 1001);
        assert_eq!(outbox.push(frame(1)), Err(PushError::Closing));
    }
}
