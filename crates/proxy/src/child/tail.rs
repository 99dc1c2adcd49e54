//! The server's stderr: passed on as it comes, told to viewers in batches, and its end kept for the day the server fails.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::BytesMut;
use lockgate_gate::Tap;
use lockgate_protocol::debug::{Event, NodeToken, RunId, TokenChannel, TokenDelta};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::{Instant, sleep_until};

use crate::console::{Console, visible};
use crate::story::SESSION;

/// The last lines a server wrote. A clone is the same lines.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tail(Arc<Mutex<Lines>>);

#[derive(Debug, Default)]
struct Lines {
    whole: VecDeque<String>,
    bytes: usize,
    /// A line without its end yet.
    partial: Vec<u8>,
    omitted: usize,
}

impl Tail {
    fn push(&self, bytes: &[u8]) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut parts = bytes.split(|byte| *byte == b'\n').peekable();
        while let Some(part) = parts.next() {
            let room = LONGEST.saturating_sub(lines.partial.len());
            lines.partial.extend_from_slice(part.get(..room.min(part.len())).unwrap_or_default());
            if parts.peek().is_some() {
                lines.end_line();
            }
        }
    }

    /// The last lines, fit for a terminal, and how many there were before them.
    pub(crate) fn last(&self) -> (Vec<String>, usize) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !lines.partial.is_empty() {
            lines.end_line();
        }
        (lines.whole.iter().cloned().collect(), lines.omitted)
    }
}

impl Lines {
    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.partial);
        let line = visible(String::from_utf8_lossy(&line).trim_end_matches('\r'));
        self.bytes += line.len();
        self.whole.push_back(line);
        while self.whole.len() > MOST || self.bytes > MOST_BYTES {
            let Some(oldest) = self.whole.pop_front() else { return };
            self.bytes -= oldest.len();
            self.omitted += 1;
        }
    }
}

/// Reads a server's stderr to its end.
pub(crate) async fn pump(mut from: impl AsyncRead + Unpin, tail: Tail, console: Console, tap: Tap, run: RunId) {
    let mut read = BytesMut::with_capacity(READ);
    let mut batch: Vec<u8> = Vec::new();
    let mut due: Option<Instant> = None;
    loop {
        let ended = tokio::select! {
            biased;
            count = from.read_buf(&mut read) => !matches!(count, Ok(1..)),
            () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                tell(&tap, &run, &mut batch);
                due = None;
                continue;
            }
        };
        if ended {
            return tell(&tap, &run, &mut batch);
        }
        let chunk = read.split().freeze();
        read.reserve(READ);
        tail.push(&chunk);
        if !tap.is_off() {
            batch.extend_from_slice(&chunk);
            due = due.or(Some(Instant::now() + BATCH));
        }
        if batch.len() >= BATCH_BYTES {
            tell(&tap, &run, &mut batch);
            due = None;
        }
        console.mirror(chunk).await;
    }
}

fn tell(tap: &Tap, run: &RunId, batch: &mut Vec<u8>) {
    if batch.is_empty() {
        return;
    }
    let text = String::from_utf8_lossy(batch).into_owned();
    batch.clear();
    let delta = TokenDelta { channel: TokenChannel::Text, text, chars: None };
    let token = NodeToken { node_id: SESSION.into(), deltas: vec![delta], redaction: None, extra: Vec::new() };
    tap.emit(run, Event::NodeToken(token));
}

const READ: usize = 16 << 10;
/// Lines and bytes that are kept.
const MOST: usize = 200;
const MOST_BYTES: usize = 32 << 10;
const LONGEST: usize = 4 << 10;
/// How long output is gathered for viewers, and how much of it.
const BATCH: Duration = Duration::from_millis(40);
const BATCH_BYTES: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(chunks: &[&str], expected: &[&str]) {
        let tail = Tail::default();
        chunks.iter().for_each(|chunk| tail.push(chunk.as_bytes()));
        assert_eq!(tail.last(), (expected.iter().map(|line| (*line).to_owned()).collect(), 0));
    }

    #[test]
    fn the_last_lines_are_kept() {
        check(&[], &[]);
        check(&["a\nb", "c\r\n\n", "d"], &["a", "bc", "", "d"]);
        check(&["\u{1b}[31mred\n"], &["\\u001b[31mred"]);
    }

    #[test]
    fn memory_is_bounded() {
        let tail = Tail::default();
        for number in 0..1_000 {
            tail.push(format!("{number}\n").as_bytes());
        }
        let (lines, omitted) = tail.last();
        assert_eq!((lines.len(), lines[0].as_str(), omitted), (200, "800", 800));
        tail.push(&vec![b'x'; 1 << 20]);
        for _ in 0..100 {
            tail.push(&[b'y'; 1_000]);
            tail.push(b"\n");
        }
        let lines = tail.0.lock().expect("a lock");
        assert!(lines.bytes <= MOST_BYTES && lines.partial.len() <= LONGEST);
    }

    #[tokio::test(start_paused = true)]
    async fn viewers_get_batches() {
        let (tap, mut drain) = Tap::channel(lockgate_gate::TapLimits { events: 100, bytes: 1 << 20 });
        let (console, written) = Console::new(std::io::sink(), "x");
        let (to, from) = tokio::io::duplex(64);
        let run = RunId::new("run_1").expect("a name");
        let pumping = tokio::spawn(pump(from, Tail::default(), console, tap, run));
        let mut to = to;
        for word in ["one ", "two ", "three "] {
            tokio::io::AsyncWriteExt::write_all(&mut to, word.as_bytes()).await.expect("it is written");
            tokio::time::sleep(Duration::from_millis(15)).await;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        tokio::io::AsyncWriteExt::write_all(&mut to, b"four").await.expect("it is written");
        drop(to);
        pumping.await.expect("it ends");
        written.for_certain().await;
        let batch = drain.now().expect("events");
        let texts: Vec<String> = batch.events.iter().map(|queued| format!("{:?}", queued.event.payload())).collect();
        assert_eq!(
            texts,
            [
                r#"{"nodeId":"mcp:session","deltas":[{"t":"text","v":"one two three "}]}"#,
                r#"{"nodeId":"mcp:session","deltas":[{"t":"text","v":"four"}]}"#,
            ]
        );
    }
}
