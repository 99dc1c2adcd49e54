//! A stream that can only be read by waiting for it. The thread that does so ends with the process, and never keeps it.

use std::io::Read;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::{io, thread};

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc;

/// Reads ahead by one chunk.
pub(crate) struct Reader {
    chunks: mpsc::Receiver<io::Result<Bytes>>,
    current: Bytes,
}

impl Reader {
    /// Our stdin.
    pub(crate) fn stdin() -> Reader {
        Reader::new(io::stdin())
    }

    fn new(mut from: impl Read + Send + 'static) -> Reader {
        let (filled, chunks) = mpsc::channel(1);
        thread::spawn(move || {
            let mut buffer = vec![0; CHUNK];
            loop {
                let chunk = match from.read(&mut buffer) {
                    Ok(0) => return,
                    Ok(count) => Ok(Bytes::copy_from_slice(buffer.get(..count).unwrap_or_default())),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => Err(error),
                };
                let failed = chunk.is_err();
                if filled.blocking_send(chunk).is_err() || failed {
                    return;
                }
            }
        });
        Reader { chunks, current: Bytes::new() }
    }
}

impl AsyncRead for Reader {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.current.is_empty() {
            match ready!(self.chunks.poll_recv(context)) {
                Some(chunk) => self.current = chunk?,
                None => return Poll::Ready(Ok(())),
            }
        }
        let count = self.current.len().min(to.remaining());
        to.put_slice(self.current.get(..count).unwrap_or_default());
        self.current.advance(count);
        Poll::Ready(Ok(()))
    }
}

const CHUNK: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;

    #[tokio::test]
    async fn a_blocking_stream_is_read_to_its_end() {
        let text: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
        let mut reader = Reader::new(io::Cursor::new(text.clone()));
        let mut found = Vec::new();
        reader.read_to_end(&mut found).await.expect("it is read");
        assert_eq!(found, text);
    }
}
