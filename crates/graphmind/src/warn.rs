//! Complaints about our own troubles: one per key and minute, through a sink that may itself fail.
//! Nothing said here may reach the program that is being debugged, and nothing here writes to stdout.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Where warnings go. It is called on whatever task noticed the trouble; a panic in it is swallowed.
pub type WarnSink = Arc<dyn Fn(&str) + Send + Sync>;

/// A sink that hands every warning to `tracing`.
pub fn traced() -> WarnSink {
    Arc::new(|text| tracing::warn!(target: "graphmind", "{text}"))
}

/// Cheap handle; all clones share one memory of what was said when.
#[derive(Clone)]
pub(crate) struct Warnings {
    shared: Arc<Shared>,
}

impl Warnings {
    pub(crate) fn new(sink: WarnSink) -> Warnings {
        Warnings { shared: Arc::new(Shared { sink, said: Mutex::new(HashMap::new()) }) }
    }

    /// Says `text` unless something was said under `key` within the last minute. `text` is only built when used.
    pub(crate) fn warn(&self, key: &'static str, text: impl FnOnce() -> String) {
        self.warn_about(key, 0, text);
    }

    /// The same for each `subject` of a key by itself, as long as there are not too many of them.
    pub(crate) fn warn_about(&self, key: &'static str, subject: u64, text: impl FnOnce() -> String) {
        let Some(kept_back) = self.admit(key, subject) else { return };
        let mut line = text();
        if kept_back > 0 {
            line = format!("{line} ({kept_back} more like it were kept back)");
        }
        // The sink is foreign code: whatever it does, the caller goes on.
        let _ = catch_unwind(AssertUnwindSafe(|| (self.shared.sink)(&line)));
    }

    fn admit(&self, key: &'static str, subject: u64) -> Option<u64> {
        let now = Instant::now();
        let mut said = self.shared.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.len() >= REMEMBERED && !said.contains_key(&(key, subject)) {
            said.retain(|_, last| now.duration_since(last.at) < WINDOW || last.kept_back > 0);
        }
        let key = (key, if said.len() < REMEMBERED { subject } else { 0 });
        let last = said.get_mut(&key);
        if let Some(last) = last {
            if now.duration_since(last.at) < WINDOW {
                last.kept_back += 1;
                return None;
            }
            let kept_back = last.kept_back;
            *last = Said { at: now, kept_back: 0 };
            return Some(kept_back);
        }
        said.insert(key, Said { at: now, kept_back: 0 });
        Some(0)
    }
}

struct Shared {
    sink: WarnSink,
    /// By key and subject.
    said: Mutex<HashMap<(&'static str, u64), Said>>,
}

struct Said {
    at: Instant,
    kept_back: u64,
}

const WINDOW: Duration = Duration::from_secs(60);

/// Keys and subjects told apart at once; of more, the subjects of a key are taken for one.
const REMEMBERED: usize = 256;

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use super::Warnings;

    #[tokio::test(start_paused = true)]
    async fn t13_one_warning_per_key_and_minute_through_a_sink_that_panics() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ear = Arc::clone(&heard);
        let warnings = Warnings::new(Arc::new(move |text| {
            ear.lock().unwrap().push(text.to_owned());
            assert!(!text.starts_with("bad"), "sinks may fail");
        }));
        for n in 0..50 {
            warnings.warn("a", || format!("bad {n}"));
        }
        warnings.warn("b", || "other key".to_owned());
        tokio::time::advance(Duration::from_secs(61)).await;
        warnings.warn("a", || "again".to_owned());
        assert_eq!(
            *heard.lock().unwrap_or_else(|e| panic!("{e}")),
            ["bad 0", "other key", "again (49 more like it were kept back)"]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn subjects_have_their_own_minute_until_there_are_too_many() {
        let heard = Arc::new(Mutex::new(0));
        let ear = Arc::clone(&heard);
        let warnings = Warnings::new(Arc::new(move |_| *ear.lock().unwrap() += 1));
        let said = |from: u64, to: u64| {
            let before = *heard.lock().unwrap();
            (from..to).for_each(|subject| warnings.warn_about("a", subject, String::new));
            *heard.lock().unwrap() - before
        };
        assert_eq!(said(1, 3), 2);
        assert_eq!(said(1, 3), 0);
        assert_eq!(said(3, 10_000), 255, "the rest is taken for one");
        tokio::time::advance(Duration::from_secs(61)).await;
        assert_eq!(said(10_000, 10_010), 10, "room is made");
    }
}
