//! A connection that counts what comes in, and reads far ahead while it is busy. An idle one costs no buffer.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::server::ARMOUR;

#[derive(Debug)]
pub(crate) struct Metered<S = TcpStream> {
    stream: S,
    meter: Meter,
    ahead: Ahead,
    /// An answer that goes out in the place of the one that was given, and how much of it has.
    instead: Option<(Vec<u8>, usize)>,
}

/// Bytes read so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meter(Arc<AtomicU64>);

/// What was read before it was asked for.
#[derive(Debug, Default)]
struct Ahead {
    buffer: Vec<u8>,
    from: usize,
    to: usize,
    /// Reads in a row that would not have needed the buffer.
    small: usize,
}

impl<S> Metered<S> {
    pub(crate) fn new(stream: S, meter: Meter) -> Metered<S> {
        Metered { stream, meter, ahead: Ahead::default(), instead: None }
    }
}

impl Meter {
    pub(crate) fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn add(&self, bytes: usize) {
        self.0.fetch_add(u64::try_from(bytes).unwrap_or(0), Ordering::Relaxed);
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let Metered { stream, meter, ahead, .. } = self.get_mut();
        if ahead.give(buf) {
            return Poll::Ready(Ok(()));
        }
        if ahead.buffer.is_empty() {
            let (room, before) = (buf.remaining(), buf.filled().len());
            ready!(Pin::new(stream).poll_read(cx, buf))?;
            let bytes = buf.filled().len() - before;
            meter.add(bytes);
            // It brought all that was asked for: there is more.
            if bytes == room && bytes > 0 {
                ahead.buffer = vec![0; AHEAD];
            }
            return Poll::Ready(Ok(()));
        }
        let mut filled = ReadBuf::new(&mut ahead.buffer);
        ready!(Pin::new(stream).poll_read(cx, &mut filled))?;
        let bytes = filled.filled().len();
        meter.add(bytes);
        (ahead.from, ahead.to) = (0, bytes);
        ahead.small = if bytes < SMALL { ahead.small + 1 } else { 0 };
        ahead.give(buf);
        if ahead.small > PATIENCE && ahead.from == ahead.to {
            *ahead = Ahead::default();
        }
        Poll::Ready(Ok(()))
    }
}

impl Ahead {
    /// Hands out what is there; whether anything was.
    fn give(&mut self, buf: &mut ReadBuf<'_>) -> bool {
        let end = self.to.min(self.from + buf.remaining());
        let Some(bytes) = self.buffer.get(self.from..end).filter(|bytes| !bytes.is_empty()) else { return false };
        buf.put_slice(bytes);
        self.from = end;
        true
    }
}

/// A refusal that hyper gives by itself to what it cannot read, with what every answer must carry (hub §3). It has neither a
/// body nor any header of ours; nothing else that is written looks like that.
fn armoured(answer: &[u8]) -> Option<Vec<u8>> {
    if !answer.starts_with(b"HTTP/1.1 4") || !answer.ends_with(b"\r\n\r\n") {
        return None;
    }
    let (line, rest) = str::from_utf8(answer).ok()?.split_once("\r\n")?;
    if rest.contains(ARMOUR[0].0) {
        return None;
    }
    let mut armoured = format!("{line}\r\ncache-control: no-store\r\n");
    for (name, value) in ARMOUR {
        armoured.extend([name, ": ", value, "\r\n"]);
    }
    Some((armoured + rest).into_bytes())
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let Metered { stream, instead, .. } = self.get_mut();
        if instead.is_none() {
            *instead = armoured(buf).map(|answer| (answer, 0));
        }
        let Some((answer, sent)) = instead else { return Pin::new(stream).poll_write(cx, buf) };
        while let Some(rest) = answer.get(*sent..).filter(|rest| !rest.is_empty()) {
            match ready!(Pin::new(&mut *stream).poll_write(cx, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                bytes => *sent += bytes,
            }
        }
        *instead = None;
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let [only] = bufs {
            return self.poll_write(cx, only);
        }
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

const AHEAD: usize = 64 << 10;
const SMALL: usize = 4 << 10;
const PATIENCE: usize = 16;

#[cfg(test)]
mod tests {
    use super::{AHEAD, Meter, Metered};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    #[tokio::test]
    async fn everything_comes_through_in_order_and_is_counted() {
        let (mut far, near) = duplex(200_000);
        let meter = Meter::default();
        let mut metered = Metered::new(near, meter.clone());
        let sent: Vec<u8> = (0..150_000_u32).map(|number| number.to_le_bytes()[0]).collect();
        far.write_all(&sent).await.unwrap();
        drop(far);
        let (mut read, mut piece) = (Vec::new(), [0; 1_000]);
        loop {
            let bytes = metered.read(&mut piece).await.unwrap();
            read.extend_from_slice(&piece[..bytes]);
            if bytes == 0 {
                break;
            }
        }
        assert!(read == sent);
        assert_eq!(meter.read(), 150_000);
    }

    #[tokio::test]
    async fn the_buffer_comes_with_a_rush_and_goes_with_quiet() {
        let (mut far, near) = duplex(200_000);
        let mut metered = Metered::new(near, Meter::default());
        let mut piece = vec![0; 4_096];
        far.write_all(&[1; 100]).await.unwrap();
        assert_eq!(metered.read(&mut piece).await.unwrap(), 100);
        assert_eq!(metered.ahead.buffer.len(), 0, "a trickle needs none");
        far.write_all(&[2; 20_000]).await.unwrap();
        for _ in 0..5 {
            assert!(metered.read(&mut piece).await.unwrap() > 0);
        }
        assert_eq!(metered.ahead.buffer.len(), AHEAD);
        for _ in 0..20 {
            far.write_all(&[3; 10]).await.unwrap();
            assert_eq!(metered.read(&mut piece).await.unwrap(), 10);
        }
        assert_eq!(metered.ahead.buffer.len(), 0);
        far.write_all(&[4; 10]).await.unwrap();
        assert_eq!(metered.read(&mut piece).await.unwrap(), 10);
    }
}
