//! How far a long piece of work has come: a bar where a person looks, a line now and then elsewhere, nothing for short work.

use std::pin::pin;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::time::sleep;

use crate::out;

/// Work that may take a while.
pub(crate) struct Progress {
    what: &'static str,
    total: u64,
    started: Instant,
    shown: Shown,
}

enum Shown {
    Bar(ProgressBar),
    Lines { last: Mutex<Instant> },
}

impl Progress {
    pub(crate) fn of(what: &'static str, total: u64) -> Progress {
        let started = Instant::now();
        let shown = if out::person_watches() {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
            let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_message(what);
            Shown::Bar(bar)
        } else {
            Shown::Lines { last: Mutex::new(started) }
        };
        Progress { what, total, started, shown }
    }

    pub(crate) fn at(&self, done: u64) {
        match &self.shown {
            Shown::Bar(bar) => {
                if bar.is_hidden() && self.started.elapsed() > SHORT {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                }
                bar.set_position(done);
            }
            Shown::Lines { last } => {
                let Ok(mut last) = last.lock() else { return };
                if last.elapsed() > BETWEEN_LINES {
                    *last = Instant::now();
                    out::note(&format!("{}: {done} of {}", self.what, self.total));
                }
            }
        }
    }

    pub(crate) fn done(self) {
        if let Shown::Bar(bar) = self.shown {
            bar.finish_and_clear();
        }
    }
}

/// Does `work`, and says what it is about once it takes long.
pub(crate) async fn patiently<T>(what: &'static str, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    tokio::select! {
        done = &mut work => return done,
        () = sleep(SHORT) => {}
    }
    if !out::person_watches() {
        out::note(what);
        return work.await;
    }
    let spinner = ProgressBar::new_spinner().with_message(what);
    spinner.enable_steady_tick(TICK);
    let done = work.await;
    spinner.finish_and_clear();
    done
}

/// Work that is over by then needs no bar.
const SHORT: Duration = Duration::from_secs(1);
const BETWEEN_LINES: Duration = Duration::from_secs(5);
const TICK: Duration = Duration::from_millis(120);
