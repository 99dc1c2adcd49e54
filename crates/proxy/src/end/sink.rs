//! The one writer of a destination: whatever is to be written waits here in turn, so that no two messages interleave.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use bytes::{Buf, Bytes};
use tokio::io::AsyncWrite;

/// A queue of bytes and the stream they go to.
///
/// The queue itself has no bound: the relay reads no more from the other side while it is long.
pub(crate) struct Sink {
    writer: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    queue: VecDeque<Bytes>,
    bytes: usize,
    /// What was written may still be on its way.
    unflushed: bool,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// Closes when everything is written.
    Ending,
    /// Nobody takes anything any more.
    Closed,
}

impl Sink {
    pub(crate) fn new(writer: Box<dyn AsyncWrite + Send + Unpin>) -> Sink {
        Sink { writer: Some(writer), queue: VecDeque::new(), bytes: 0, unflushed: false, state: State::Open }
    }

    /// Takes bytes to write; after the end they go nowhere.
    pub(crate) fn push(&mut self, bytes: Bytes) {
        if self.state == State::Open && !bytes.is_empty() {
            self.bytes += bytes.len();
            self.queue.push_back(bytes);
        }
    }

    /// Closes once everything is written.
    pub(crate) fn end(&mut self) {
        if self.state == State::Open {
            self.state = State::Ending;
        }
    }

    /// Bytes that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.bytes
    }

    /// Whether there is something to do.
    pub(crate) fn is_busy(&self) -> bool {
        match self.state {
            State::Open => self.bytes > 0 || self.unflushed,
            State::Ending => true,
            State::Closed => false,
        }
    }

    /// Writes until nothing waits, then closes if that is due. Dropping the future loses nothing.
    ///
    /// # Errors
    /// When the other side is gone; from then on bytes go nowhere.
    pub(crate) async fn drain(&mut self) -> io::Result<()> {
        std::future::poll_fn(|context| self.poll_drain(context)).await
    }

    /// Writes what can be written without waiting. Who is left with something has to [`Sink::drain`].
    pub(crate) fn drain_now(&mut self) -> Poll<io::Result<()>> {
        self.poll_drain(&mut Context::from_waker(Waker::noop()))
    }

    fn poll_drain(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let written = ready!(self.poll_write(context));
        if written.is_err() {
            self.close();
        }
        Poll::Ready(written)
    }

    fn poll_write(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(writer) = self.writer.as_mut() else { return Poll::Ready(Ok(())) };
        let mut writer = Pin::new(writer.as_mut());
        while let Some(first) = self.queue.front() {
            let count = if self.queue.len() == 1 || !writer.is_write_vectored() {
                ready!(writer.as_mut().poll_write(context, first))?
            } else {
                let mut slices = [IoSlice::new(&[]); SLICES];
                let used =
                    slices.iter_mut().zip(&self.queue).map(|(slice, bytes)| *slice = IoSlice::new(bytes)).count();
                ready!(writer.as_mut().poll_write_vectored(context, slices.get(..used).unwrap_or_default()))?
            };
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.bytes -= count;
            self.unflushed = true;
            let mut left = count;
            while let Some(first) = self.queue.front_mut() {
                if first.len() > left {
                    first.advance(left);
                    break;
                }
                left -= first.len();
                self.queue.pop_front();
            }
        }
        ready!(writer.as_mut().poll_flush(context))?;
        self.unflushed = false;
        if self.state == State::Ending {
            ready!(writer.as_mut().poll_shutdown(context)).ok();
            self.close();
        }
        Poll::Ready(Ok(()))
    }

    /// Writes nothing any more; what waits is lost.
    pub(crate) fn close(&mut self) {
        self.state = State::Closed;
        self.queue.clear();
        self.bytes = 0;
        self.unflushed = false;
        // Dropped, so that a child sees the end of its stdin.
        self.writer = None;
    }
}

/// Pieces handed to one write.
const SLICES: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, duplex};

    #[tokio::test]
    async fn everything_arrives_in_order_before_the_end() {
        let (writer, mut reader) = duplex(7);
        let mut sink = Sink::new(Box::new(writer));
        let mut expected = Vec::new();
        for number in 0..100 {
            let bytes = Bytes::from(format!("{number},"));
            expected.extend_from_slice(&bytes);
            sink.push(bytes);
        }
        sink.end();
        sink.push(Bytes::from_static(b"too late"));
        let mut found = Vec::new();
        let (drained, read) = tokio::join!(sink.drain(), reader.read_to_end(&mut found));
        drained.expect("it is written");
        read.expect("it is read");
        assert_eq!(found, expected);
        assert!(!sink.is_busy());
    }

    #[tokio::test]
    async fn a_reader_that_is_gone_is_reported_once() {
        let (writer, reader) = duplex(7);
        drop(reader);
        let mut sink = Sink::new(Box::new(writer));
        sink.push(Bytes::from_static(b"x"));
        assert!(sink.drain().await.is_err());
        sink.push(Bytes::from_static(b"y"));
        assert!(!sink.is_busy() && sink.waiting() == 0);
        sink.drain().await.expect("nothing is left to fail");
    }
}
