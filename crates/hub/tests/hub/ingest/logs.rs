//! What others can make the hub write into its log.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::room::{Room, frame};
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Counts lines at `info` and above that are the hub's, and keeps their text.
#[derive(Clone, Default)]
struct Log {
    lines: Arc<Mutex<Vec<String>>>,
    spans: Arc<AtomicUsize>,
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0.push_str(&format!("{field}={value:?} "));
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::INFO && metadata.target().starts_with("lockgate")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(u64::try_from(self.spans.fetch_add(1, Ordering::Relaxed)).unwrap() + 1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.lines.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn two_thousand_bad_frames_are_a_few_lines() {
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    let room = Room::new().await;
    let (mut owner, mut other) = (room.app().await, room.app().await);
    owner.start("r").await;
    room.until_run("r", |run| run["eventCount"] == 1).await;
    for number in 0..2_000_u64 {
        let bad = match number % 4 {
            0 => "garbage \u{1b}[31m".to_owned(),
            1 => frame(number, "r\u{1b}[31m", "run.finished", &json!({"status": "\u{1b}[31m"})),
            2 => frame(number, "*", "node.token", &json!({"nodeId": "n", "deltas": []})),
            _ => frame(number, "r", "node.token", &json!({"nodeId": "n", "deltas": []})),
        };
        other.line.send(bad).await;
    }
    other.seq = 9_000;
    other.start("mark").await;
    room.until_run("mark", |run| run["eventCount"] == 1).await;
    let lines = log.lines.lock().unwrap().clone();
    assert!((2..50).contains(&lines.len()), "{} lines: {lines:?}", lines.len());
    assert!(lines.iter().any(|line| line.contains("a frame is not valid")), "{lines:?}");
    assert!(
        lines.iter().any(|line| line.contains("may not write to this run") && line.contains("app=room")),
        "{lines:?}"
    );
    assert!(!lines.iter().any(|line| line.contains('\u{1b}')), "nothing of it reaches a terminal raw");
}

#[tokio::test]
async fn an_edit_is_one_line_without_its_values_and_tokens_are_none() {
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    let room = Room::new().await;
    let mut app = room.app().await;
    app.pause("r", "p").await;
    room.until_open("r", "p").await;
    let asked = tokio::spawn(room.resume("r", "p", json!({"action": "continue", "input": {"card": "4242"}})));
    app.obey("r").await;
    assert_eq!(asked.await.unwrap().0, 200);
    let lines = log.lines.lock().unwrap().clone();
    let edits = lines.iter().filter(|line| line.contains("edited input")).count();
    assert_eq!(edits, 1, "{lines:?}");
    for secret in ["4242", room.hub.viewer_token(), room.hub.agent_token()] {
        assert!(!lines.iter().any(|line| line.contains(secret)), "{lines:?}");
    }
}

#[tokio::test]
async fn a_store_that_cannot_be_read_is_a_few_lines_however_often_it_is_asked() {
    use sqlx::ConnectOptions as _;
    let log = Log::default();
    let _guard = tracing::subscriber::set_default(log.clone());
    let room = Room::new().await;
    let path = room.database();
    let mut other = sqlx::sqlite::SqliteConnectOptions::new().filename(path).connect().await.unwrap();
    sqlx::query("ALTER TABLE runs RENAME TO elsewhere").execute(&mut other).await.unwrap();
    for _ in 0..300 {
        assert_eq!(room.ok("/api/runs").await, json!({"runs": []}));
    }
    let lines = log.lines.lock().unwrap().clone();
    assert!((1..50).contains(&lines.len()), "{} lines: {lines:?}", lines.len());
    assert!(lines.iter().any(|line| line.contains("the runs could not be listed")), "{lines:?}");
}
