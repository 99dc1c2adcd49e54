//! At a pace, with a viewer in the same process, so that both ends read one clock: from sending to the viewer's socket.

use std::time::{Duration, Instant};

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::{task::JoinHandle, time::timeout};
use tokio_tungstenite::{connect_async, tungstenite::Message};

use crate::{Fallible, app::App, frames::Frames};

pub(crate) async fn run(port: u16, time: Duration, rate: u32) -> Fallible<Value> {
    let origin = Instant::now();
    let mut app = App::attach(port).await?;
    let mut frames = Frames::new(app.next_seq());
    app.feed(frames.next()).await?;
    app.flush().await?;
    let viewer = watch(port, &frames.run_id(), origin).await?;
    let total = u64::from(rate) * time.as_secs();
    let gap = Duration::from_secs(1) / rate;
    let began = Instant::now();
    for at in 0..u32::try_from(total)? {
        // timers are coarser than the gap: send what is due, then sleep until something is
        let due = began + gap * at;
        let now = Instant::now();
        if due > now {
            tokio::time::sleep(due - now).await;
        }
        app.feed(frames.stamped(origin.elapsed().as_nanos())).await?;
        app.flush().await?;
    }
    app.feed(frames.end()).await?;
    app.flush().await?;
    let mut times = timeout(PATIENCE, viewer).await???;
    app.close().await?;
    times.sort_unstable();
    let place = |percent: usize| times.get((times.len() * percent / 100).min(times.len().saturating_sub(1)));
    Ok(json!({
        "sent": total, "seen": times.len(), "rate": rate,
        "p50": place(50), "p90": place(90), "p99": place(99), "max": times.last(),
    }))
}

type Seen = Result<Vec<u64>, String>;

/// A viewer that tails the run; ends with it and returns how old each event was, in nanoseconds.
async fn watch(port: u16, run: &str, origin: Instant) -> Fallible<JoinHandle<Seen>> {
    let (mut socket, _) = connect_async(format!("ws://127.0.0.1:{port}/ws/ui")).await?;
    let ask = json!({ "type": "subscribe", "runId": run }).to_string();
    socket.send(Message::text(ask)).await?;
    loop {
        let frame = socket.next().await.ok_or("the hub hung up")??;
        if frame.to_text().is_ok_and(|text| text.contains("replay.end")) {
            break;
        }
    }
    Ok(tokio::spawn(async move {
        let mut times = Vec::new();
        while let Some(frame) = socket.next().await {
            let now = origin.elapsed().as_nanos();
            let frame = frame.map_err(|error| error.to_string())?;
            let Ok(text) = frame.to_text() else { continue };
            if text.contains("\"run.finished\"") {
                return Ok(times);
            }
            if let Some(made) = made(text) {
                times.push(u64::try_from(now.saturating_sub(made)).unwrap_or(u64::MAX));
            }
        }
        Err("the hub hung up".to_owned())
    }))
}

fn made(text: &str) -> Option<u128> {
    let (_, rest) = text.split_once("\"made\":")?;
    rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

const PATIENCE: Duration = Duration::from_secs(20);
