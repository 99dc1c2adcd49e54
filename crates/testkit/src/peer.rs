//! A host or a server that says exactly what a test tells it to, over any pair of streams, and hears every byte.

use std::time::Duration;

use tokio::io::{
    AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf,
    duplex, split,
};
use tokio::time::timeout;

/// One end of a conversation in lines.
pub struct Peer {
    reader: BufReader<Box<dyn AsyncRead + Send + Unpin>>,
    writer: Option<Box<dyn AsyncWrite + Send + Unpin>>,
}

/// The other end: its reading and its writing half.
pub type Other = (ReadHalf<DuplexStream>, WriteHalf<DuplexStream>);

impl Peer {
    /// Talks over streams that exist.
    pub fn new(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Peer {
        Peer { reader: BufReader::new(Box::new(reader)), writer: Some(Box::new(writer)) }
    }

    /// A pipe of so many bytes in memory: one end for the test, one for what is tested.
    pub fn pair(room: usize) -> (Peer, Other) {
        let (ours, theirs) = duplex(room);
        let (reader, writer) = split(ours);
        (Peer::new(reader, writer), split(theirs))
    }

    /// Says one line.
    ///
    /// # Panics
    /// When nobody takes it.
    pub async fn say(&mut self, line: &str) {
        self.write(line.as_bytes()).await;
        self.write(b"\n").await;
    }

    /// Writes bytes as they are.
    ///
    /// # Panics
    /// When nobody takes them.
    pub async fn write(&mut self, bytes: &[u8]) {
        let writer = self.writer.as_mut().expect("not hung up yet");
        writer.write_all(bytes).await.expect("somebody reads");
        writer.flush().await.expect("somebody reads");
    }

    /// Hears one line, without what ends it.
    ///
    /// # Panics
    /// When the other end hung up, or says nothing for a minute.
    pub async fn hear(&mut self) -> String {
        let line = self.hear_bytes().await.expect("the other end hung up");
        String::from_utf8(line).expect("UTF-8").trim_end_matches('\n').to_owned()
    }

    /// Hears one line with what ends it; nothing when the other end hung up.
    ///
    /// # Panics
    /// When the other end says nothing for a minute.
    pub async fn hear_bytes(&mut self) -> Option<Vec<u8>> {
        let mut line = Vec::new();
        let read = timeout(PATIENCE, self.reader.read_until(b'\n', &mut line)).await;
        read.expect("something is said within a minute").ok().filter(|count| *count > 0).map(|_| line)
    }

    /// Hears bytes until there are at least half as many as this.
    ///
    /// # Panics
    /// When the other end says nothing for a minute.
    pub async fn hear_some(&mut self, all: usize) -> Vec<u8> {
        let mut heard = Vec::new();
        while heard.len() < all / 2 {
            let read = timeout(PATIENCE, self.reader.read_buf(&mut heard)).await;
            read.expect("something is said within a minute").expect("it is read");
        }
        heard
    }

    /// Hears everything until the other end hangs up.
    ///
    /// # Panics
    /// When that takes more than a minute.
    pub async fn hear_rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        timeout(PATIENCE, self.reader.read_to_end(&mut rest)).await.expect("an end within a minute").ok();
        rest
    }

    /// Writes everything and hangs up, and hears everything meanwhile, so that no pipe can fill up.
    ///
    /// # Panics
    /// When that takes more than a minute.
    pub async fn say_and_hear(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut heard = Vec::new();
        let mut writer = self.writer.take().expect("not hung up yet");
        let speaking = async move {
            writer.write_all(bytes).await.ok();
            writer.shutdown().await.ok();
        };
        let both = async { tokio::join!(speaking, self.reader.read_to_end(&mut heard)) };
        timeout(PATIENCE, both).await.expect("an end within a minute").1.ok();
        heard
    }

    /// Whether nothing can be heard right now. Lets everybody else run first, but no time pass.
    pub async fn hears_nothing(&mut self) -> bool {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        let mut filled = std::pin::pin!(self.reader.fill_buf());
        let polled = std::future::poll_fn(|context| std::task::Poll::Ready(filled.as_mut().poll(context))).await;
        polled.is_pending()
    }

    /// Says no more.
    pub async fn hang_up(&mut self) {
        if let Some(mut writer) = self.writer.take() {
            writer.shutdown().await.ok();
        }
    }
}

const PATIENCE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn two_peers_talk() {
        let (mut left, other) = Peer::pair(64);
        let mut right = Peer::new(other.0, other.1);
        assert!(right.hears_nothing().await);
        left.say("a").await;
        left.write(b"\xff\r\nrest").await;
        assert_eq!(right.hear().await, "a");
        assert_eq!(right.hear_bytes().await.as_deref(), Some(&b"\xff\r\n"[..]));
        left.hang_up().await;
        assert_eq!(right.hear_rest().await, b"rest");
        assert_eq!(right.hear_bytes().await, None);
    }
}
