//! Prints what a session costs. Run it with `cargo run --release -p lockgate-graphmind --example bench`.
//! The hub is a socket that answers the hello and then only swallows bytes.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use futures_util::{SinkExt, StreamExt};
use lockgate_graphmind::{Environment, READY, Ready, Session, SessionConfig, Span, Stopped};
use lockgate_protocol::debug::{Event, NodeFinished, NodeKind, NodeStarted, RunId, RunStatus, SdkInfo};
use lockgate_protocol::json::Raw;
use lockgate_testkit::hub::{Ack, frame};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio_tungstenite::tungstenite::Message;

fn main() {
    let url = hub();
    println!("{:<34} {:>12} {:>10} {:>9} {:>8}", "", "events/s", "core", "dropped", "lost");
    for (what, size, rate) in [
        ("100,000/s, 60 byte payloads", 60, Some(100_000)),
        ("100,000/s, 1 KiB payloads", 1 << 10, Some(100_000)),
        ("as fast as it goes, 60 bytes", 60, None),
        ("as fast as it goes, 1 KiB", 1 << 10, None),
    ] {
        flood(&url, what, &Load { size, rate });
    }
    calls(&url);
}

struct Load {
    /// Bytes of each input and output.
    size: usize,
    /// Events a second; `None`: no pause at all.
    rate: Option<u32>,
}

/// One thread reports, the session's own thread does the work; what is measured is the latter's time on a core.
fn flood(url: &str, what: &str, load: &Load) {
    let (session, running) = session(url);
    let over = Arc::new(AtomicBool::new(false));
    let worker = {
        let over = Arc::clone(&over);
        thread::spawn(move || {
            runtime().block_on(async {
                let running = tokio::spawn(running);
                while !over.load(Ordering::Relaxed) {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                running.abort();
                on_core()
            })
        })
    };
    assert_eq!(runtime().block_on(session.ready(READY)), Ready::Yes);
    let run = RunId::new("run_bench").expect("no U+0000");
    let payload = Raw::string(&"x".repeat(load.size));
    let began = Instant::now();
    let mut sent = 0_u32;
    while began.elapsed() < Duration::from_secs(3) {
        let due = load.rate.map_or(u32::MAX, |rate| (began.elapsed().as_secs_f64() * f64::from(rate)) as u32);
        for _ in 0..500 {
            if sent >= due {
                break;
            }
            let instance: Arc<str> = format!("i{sent}").into();
            session.tap().emit(&run, started(&instance, &payload));
            session.tap().emit(&run, finished(&instance, &payload));
            sent += 2;
        }
        if sent >= due {
            thread::sleep(Duration::from_micros(200));
        }
    }
    let took = began.elapsed();
    thread::sleep(Duration::from_millis(200));
    let stats = session.stats();
    over.store(true, Ordering::Relaxed);
    let busy = worker.join().expect("the worker ends");
    println!(
        "{what:<34} {:>12.0} {:>9.0}% {:>9} {:>8}",
        f64::from(sent) / took.as_secs_f64(),
        busy.as_secs_f64() / took.as_secs_f64() * 100.0,
        stats.dropped,
        stats.lost,
    );
}

/// What a call pays: two events, two looks at the gate, the loop guard.
fn calls(url: &str) {
    runtime().block_on(async {
        let (session, running) = session(url);
        tokio::spawn(running);
        assert_eq!(session.ready(READY).await, Ready::Yes);
        for size in [20, 1 << 10, 100 << 10] {
            let count = (64 << 20) / (size + 4096);
            let inputs: Vec<Raw> = (0..count).map(|n| Raw::string(&format!("{n}{}", "x".repeat(size)))).collect();
            let mut took = Duration::ZERO;
            for chunk in inputs.chunks(50) {
                let began = Instant::now();
                for input in chunk {
                    let span = Span::new(NodeKind::Tool, "t").input(input.clone());
                    session
                        .span(span, async |input| Ok::<_, Stopped>(input.unwrap_or_else(Raw::null)))
                        .await
                        .expect("ok");
                }
                took += began.elapsed();
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            println!(
                "a span around nothing, attached, {size:>6} bytes: {:>8.2} µs",
                took.as_secs_f64() * 1e6 / count as f64
            );
        }
    });
}

fn session(url: &str) -> (Session, impl Future<Output = ()> + Send + 'static) {
    let sdk = SdkInfo { name: "bench".to_owned(), version: "0".to_owned() };
    let config = SessionConfig::new("bench", sdk, Environment::empty());
    Session::new(SessionConfig { url: Some(url.to_owned()), ..config })
}

fn started(instance: &Arc<str>, payload: &Raw) -> Event {
    Event::NodeStarted(NodeStarted {
        node_id: "tool:bench".into(),
        parent_id: None,
        kind: NodeKind::Tool,
        name: "bench".into(),
        instance_id: Arc::clone(instance),
        input: Some(payload.clone()),
        collapsed: None,
        redaction: None,
        extra: Vec::new(),
    })
}

fn finished(instance: &Arc<str>, payload: &Raw) -> Event {
    Event::NodeFinished(NodeFinished {
        node_id: "tool:bench".into(),
        instance_id: Some(Arc::clone(instance)),
        output: Some(payload.clone()),
        usage: None,
        duration_ms: 1.25,
        held_ms: None,
        status: RunStatus::Ok,
        redaction: None,
        extra: Vec::new(),
    })
}

fn hub() -> String {
    let (address, known) = std::sync::mpsc::sync_channel(1);
    thread::spawn(move || {
        runtime().block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
            address.send(listener.local_addr().expect("bound")).expect("somebody asks");
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(swallow(socket));
            }
        });
    });
    format!("ws://{}/ingest", known.recv().expect("it listens"))
}

async fn swallow(socket: tokio::net::TcpStream) {
    let mut socket = tokio_tungstenite::accept_async(socket).await.expect("an upgrade");
    socket.next().await;
    socket.send(Message::text(frame(0, "hello.ack", &Ack::plain().payload()))).await.expect("somebody listens");
    let mut buffer = vec![0; 1 << 20];
    while socket.get_mut().read(&mut buffer).await.is_ok_and(|read| read > 0) {}
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// Time this thread has spent on a core.
fn on_core() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split_whitespace().next().and_then(|nanos| nanos.parse().ok()).unwrap_or_default())
}
