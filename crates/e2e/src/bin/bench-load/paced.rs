//! At a pace, through a session of ours, with a viewer in the same process, so that both ends read one clock: from emit to
//! the viewer's socket.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::{SinkExt as _, StreamExt as _};
use lockgate_graphmind::{Environment, READY, Ready, Session, SessionConfig};
use lockgate_protocol::{
    debug::{Event, NodeToken, RunFinished, RunId, RunStarted, RunStatus, SdkInfo, TokenChannel, TokenDelta},
    json::Raw,
};
use serde_json::{Value, json};
use tokio::{task::JoinHandle, time::timeout};
use tokio_tungstenite::{connect_async, tungstenite::Message};

use crate::Fallible;

pub(crate) async fn run(port: u16, time: Duration, rate: u32) -> Fallible<Value> {
    let origin = Instant::now();
    let mut config = SessionConfig::new("bench", sdk(), Environment::read(|_| None));
    config.url = Some(format!("ws://127.0.0.1:{port}/ingest"));
    let (session, running) = Session::new(config);
    let running = tokio::spawn(running);
    if session.ready(READY).await != Ready::Yes {
        return Err("the hub did not answer".into());
    }
    let run = RunId::new(RUN).ok_or("a run has a name")?;
    let tap = session.tap().clone();
    tap.emit(&run, started());
    let viewer = watch(port, origin).await?;
    let total = u64::from(rate) * time.as_secs();
    let gap = Duration::from_secs(1) / rate;
    let mut emits = Vec::new();
    let began = Instant::now();
    for at in 0..u32::try_from(total)? {
        // timers are coarser than the gap: emit what is due, then sleep until something is
        let due = began + gap * at;
        let now = Instant::now();
        if due > now {
            tokio::time::sleep(due - now).await;
        }
        let event = token(origin.elapsed().as_nanos());
        let before = Instant::now();
        tap.emit(&run, event);
        emits.push(u64::try_from(before.elapsed().as_nanos())?);
    }
    tap.emit(&run, Event::RunFinished(RunFinished { status: RunStatus::Ok, error: None, extra: Vec::new() }));
    let mut times = timeout(PATIENCE, viewer).await???;
    session.dispose();
    running.await?;
    times.sort_unstable();
    emits.sort_unstable();
    Ok(json!({
        "sent": total, "seen": times.len(), "rate": rate,
        "p50": place(&times, 50), "p90": place(&times, 90), "p99": place(&times, 99), "max": times.last(),
        "emit_p50": place(&emits, 50), "emit_p99": place(&emits, 99),
    }))
}

type Seen = Result<Vec<u64>, String>;

/// A viewer that tails the run; ends with it and returns how old each event was, in nanoseconds.
async fn watch(port: u16, origin: Instant) -> Fallible<JoinHandle<Seen>> {
    let (mut socket, _) = connect_async(format!("ws://127.0.0.1:{port}/ws/ui")).await?;
    let ask = json!({ "type": "subscribe", "runId": RUN }).to_string();
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

fn place(sorted: &[u64], percent: usize) -> Option<u64> {
    sorted.get((sorted.len() * percent / 100).min(sorted.len().saturating_sub(1))).copied()
}

fn started() -> Event {
    Event::RunStarted(RunStarted { app: "bench".to_owned(), sdk: sdk(), meta: None, extra: Vec::new() })
}

/// A token that carries the moment it was made.
fn token(nanos: u128) -> Event {
    let delta = TokenDelta { channel: TokenChannel::Text, text: "token".to_owned(), chars: None };
    let made = Raw::parse(nanos.to_string()).unwrap_or_else(|_| Raw::null());
    let node: Arc<str> = "llm:step".into();
    Event::NodeToken(NodeToken { node_id: node, deltas: vec![delta], redaction: None, extra: vec![("made", made)] })
}

fn sdk() -> SdkInfo {
    SdkInfo { name: "bench".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
}

const RUN: &str = "run_bench_paced";
const PATIENCE: Duration = Duration::from_secs(20);
