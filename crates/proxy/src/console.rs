//! Our stderr: diagnostics of our own and the child's stderr, written by one thread, so that a host that never reads it can
//! stop neither the relay nor the child.

use std::fmt::Write as _;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// Writes to stderr. A clone writes to the same place, in turn.
///
/// Full: a diagnostic is dropped and counted; the child's output waits a moment, then it is dropped and counted too.
#[derive(Debug, Clone)]
pub(crate) struct Console {
    lines: mpsc::Sender<Bytes>,
    dropped: Arc<AtomicU64>,
    prefix: Arc<str>,
}

/// Tells when everything is written.
pub(crate) struct Written(oneshot::Receiver<()>);

impl Console {
    /// `prefix` stands before every diagnostic.
    pub(crate) fn new(mut to: impl Write + Send + 'static, prefix: &str) -> (Console, Written) {
        let (lines, mut waiting) = mpsc::channel::<Bytes>(CHUNKS);
        let dropped = Arc::new(AtomicU64::new(0));
        let (done, written) = oneshot::channel();
        let (counted, named) = (Arc::clone(&dropped), prefix.to_owned());
        thread::spawn(move || {
            while let Some(chunk) = waiting.blocking_recv() {
                // Whoever closed stderr does not want to know.
                let gone = to.write_all(&chunk).is_err();
                let lost = counted.swap(0, Ordering::Relaxed);
                if lost > 0 && !gone {
                    to.write_all(format!("{named}: {lost} bytes of stderr dropped, nobody read them\n").as_bytes())
                        .ok();
                }
            }
            to.flush().ok();
            done.send(()).ok();
        });
        (Console { lines, dropped, prefix: prefix.into() }, Written(written))
    }

    /// A line of our own. `text` must be fit for a terminal.
    pub(crate) fn say(&self, text: &str) {
        let mut line = String::with_capacity(self.prefix.len() + text.len() + 3);
        for part in text.lines() {
            writeln!(line, "{}: {part}", self.prefix).ok();
        }
        self.write(line.into());
    }

    fn write(&self, bytes: Bytes) {
        let length = bytes.len();
        if self.lines.try_send(bytes).is_err() {
            self.lost(length);
        }
    }

    /// Something the child wrote, as it is. Waits for a host that reads slowly, but not for one that does not read.
    pub(crate) async fn mirror(&self, bytes: Bytes) {
        let length = bytes.len();
        let patience = if self.dropped.load(Ordering::Relaxed) > 0 { Duration::ZERO } else { PATIENCE };
        match timeout(patience, self.lines.reserve()).await {
            Ok(Ok(place)) => place.send(bytes),
            Ok(Err(_)) | Err(_) => self.lost(length),
        }
    }

    fn lost(&self, bytes: usize) {
        self.dropped.fetch_add(u64::try_from(bytes).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

impl Written {
    /// Waits until everything is written; a paused clock would end the other wait at once.
    #[cfg(test)]
    pub(crate) async fn for_certain(self) {
        self.0.await.expect("the thread ends");
    }

    /// Waits until everything is written, as long as that is worth it. All consoles must be gone.
    pub(crate) async fn finish(self) {
        timeout(PATIENCE, self.0).await.ok();
    }
}

/// Writes what is no UTF-8 as a mark: a console of Windows takes nothing else, and what follows would be lost with it.
#[cfg(any(windows, test))]
pub(crate) struct Legible<W>(pub(crate) W);

#[cfg(any(windows, test))]
impl<W: Write> Write for Legible<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write_all(String::from_utf8_lossy(bytes).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

/// A text without anything a terminal would act on.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for one in text.chars() {
        let acts = one.is_control()
            || matches!(one, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
        match one {
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            '\n' => shown.push_str("\\n"),
            _ if acts => {
                write!(shown, "\\u{:04x}", u32::from(one)).ok();
            }
            _ => shown.push(one),
        }
    }
    shown
}

/// A text as a JSON string, with nothing in it a terminal would act on.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", visible(&text.replace('\\', "\\\\").replace('"', "\\\"")))
}

/// How long a host may take to make room in its end of stderr.
const PATIENCE: Duration = Duration::from_secs(1);
/// Chunks that may wait to be written.
const CHUNKS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Condvar, Mutex};

    #[test]
    fn terminals_are_not_told_what_to_do() {
        let check = |text: &str, expected: &str| assert_eq!(visible(text), expected);
        check("plain ü 😀", "plain ü 😀");
        check("\u{1b}[31mred\r\n\t\u{7}", "\\u001b[31mred\\r\\n\\t\\u0007");
        check("a\u{202e}b\u{85}", "a\\u202eb\\u0085");
    }

    #[test]
    fn what_is_quoted_is_a_json_string() {
        for text in ["", "plain ü 😀", "a \"b\" \\n c\\", "\u{1b}[31m\r\n\t\u{7}\u{202e}\u{85}"] {
            let shown = quoted(text);
            let raw = lockgate_protocol::json::Raw::parse(shown.clone()).expect("a JSON text");
            assert_eq!(raw.view().str().as_deref(), Some(text), "{shown}");
            assert_eq!(visible(&shown), shown);
        }
    }

    #[test]
    fn what_is_no_utf_8_costs_nothing_behind_it() {
        let mut legible = Legible(Vec::new());
        legible.write_all(b"ung\xFCltig, and more\n").expect("it is written");
        assert_eq!(String::from_utf8_lossy(&legible.0), "ung\u{FFFD}ltig, and more\n");
        assert!(std::str::from_utf8(&legible.0).is_ok());
    }

    /// Writes nothing until it is opened.
    #[derive(Clone, Default)]
    struct Stuck(Arc<(Mutex<Written>, Condvar)>);

    #[derive(Default)]
    struct Written {
        open: bool,
        bytes: Vec<u8>,
    }

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let (state, opened) = &*self.0;
            let mut state = opened.wait_while(state.lock().expect("a lock"), |state| !state.open).expect("a lock");
            state.bytes.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_reads_and_nothing_waits_for_ever() {
        let stuck = Stuck::default();
        let (console, written) = Console::new(stuck.clone(), "x");
        for _ in 0..200 {
            console.mirror(Bytes::from_static(b"0123456789")).await;
            console.say("said");
        }
        {
            let (state, opened) = &*stuck.0;
            state.lock().expect("a lock").open = true;
            opened.notify_all();
        }
        drop(console);
        written.for_certain().await;
        let text = String::from_utf8(stuck.0.0.lock().expect("a lock").bytes.clone()).expect("UTF-8");
        assert!(text.contains("x: said\n") && text.contains("bytes of stderr dropped, nobody read them"), "{text}");
    }
}
