//! The load of the bench: a program that sends debug events to a hub as fast as it may, or at a pace with a viewer
//! beside it. Counts what arrived. usage: bench-load full|paced PORT SECONDS [EVENTS PER SECOND]

mod app;
mod frames;
mod paced;
mod stored;

use std::{
    env,
    error::Error,
    process::ExitCode,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::runtime::Builder;

use crate::{app::App, frames::Frames};

type Fallible<T> = Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let measured = Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(Into::into);
    let measured = measured.and_then(|runtime| runtime.block_on(measure()));
    match measured {
        Ok(figures) => {
            println!("{figures}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("bench-load: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn measure() -> Fallible<Value> {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["full", port, seconds] => full(port.parse()?, Duration::from_secs(seconds.parse()?)).await,
        ["paced", port, seconds, rate] => {
            paced::run(port.parse()?, Duration::from_secs(seconds.parse()?), rate.parse()?).await
        }
        _ => Err("wants full PORT SECONDS, or paced PORT SECONDS EVENTS-PER-SECOND".into()),
    }
}

/// One sender, run after run, until the time is over; then waits until the hub has stored all of it.
async fn full(port: u16, time: Duration) -> Fallible<Value> {
    let mut app = App::attach(port).await?;
    let mut frames = Frames::new(app.next_seq());
    let began = Instant::now();
    let mut bytes = 0;
    while began.elapsed() < time {
        for _ in 0..BURST {
            let frame = frames.next();
            bytes += frame.len();
            app.feed(frame).await?;
        }
        app.flush().await?;
    }
    let end = frames.end();
    app.feed(end).await?;
    app.flush().await?;
    let sent = frames.sent();
    let sending = began.elapsed();
    let stored = stored::all(port, sent, sending.mul_f32(PATIENCE)).await?;
    let whole = began.elapsed();
    app.close().await?;
    #[expect(clippy::cast_precision_loss, reason = "counts of a bench stay far below 2^52")]
    let rate = stored as f64 / whole.as_secs_f64();
    Ok(json!({
        "sent": sent, "stored": stored, "lost": sent - stored.min(sent), "bytes": bytes, "runs": frames.runs(),
        "sending_s": sending.as_secs_f64(), "whole_s": whole.as_secs_f64(), "events_per_s": rate,
    }))
}

const BURST: usize = 256;
/// how much longer than the sending the storing may take before it counts as lost
const PATIENCE: f32 = 1.0;
