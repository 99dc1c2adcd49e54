//! The published Python SDK, unchanged, against our hub: held, injected, retried, aborted, cut off, replayed.

use std::time::{Duration, Instant};

use lockgate_e2e::{ErrorHolds, Hub, Peer, Place, Viewer};
use serde_json::{Value, json};

#[tokio::test]
async fn a_plain_run_is_kept() {
    let mut stage = Stage::start(&[]).await;
    let answer = stage.app.ask(call("search")).await;
    assert_eq!(answer["result"]["value"], json!({ "city": "Lisbon", "price": 218 }));
    check(&stage.kinds(&run_of(&answer)).await, PLAIN);
    stage.app.close().await;
}

#[tokio::test]
async fn a_held_call_is_answered_in_its_place() {
    let mut stage = Stage::start(&[json!({ "kind": "tool", "name": "search" })]).await;
    let id = stage.app.send(call("search")).await;
    let pause = stage.viewer.held().await;
    assert_eq!((pause.point.as_str(), pause.node.as_str()), ("before", "tool:search"));
    assert!(!stage.app.is_answered(id).await);
    stage.viewer.release(&pause, json!({ "action": "inject", "output": { "city": "Porto", "price": 1 } })).await;
    let answer = stage.app.answer(id).await;
    assert_eq!(answer["result"]["value"], json!({ "city": "Porto", "price": 1 }));
    assert_eq!(stage.app.ask(json!({ "do": "tries" })).await["result"], json!({}), "the tool never ran");
    check(&stage.kinds(&pause.run).await, HELD);
    stage.app.close().await;
}

#[tokio::test]
async fn a_failed_call_is_tried_again() {
    let mut stage = Stage::start(&[json!({ "kind": "tool", "point": "error" })]).await;
    let id = stage.app.send(call("flaky")).await;
    let pause = stage.viewer.held().await;
    assert_eq!(pause.point, "error");
    stage.viewer.release(&pause, json!({ "action": "retry" })).await;
    let answer = stage.app.answer(id).await;
    assert_eq!(answer["result"]["value"], json!({ "city": "Lisbon", "tries": 2 }));
    check(
        &stage.kinds(&pause.run).await,
        "run.started node.started node.started node.error exec.paused exec.resumed node.finished node.finished run.finished",
    );
    stage.app.close().await;
}

#[tokio::test]
async fn an_aborted_call_ends_its_run() {
    let mut stage = Stage::start(&[json!({ "kind": "tool" })]).await;
    let id = stage.app.send(call("search")).await;
    let pause = stage.viewer.held().await;
    stage.viewer.release(&pause, json!({ "action": "abort" })).await;
    let answer = stage.app.answer(id).await;
    assert_eq!(answer["error"]["name"], json!("GraphMindAbortError"), "{answer}");
    let events = stage.hub.events_until(&pause.run, finished).await;
    assert_eq!(events.last().map(|event| &event["payload"]["status"]), Some(&json!("aborted")));
    stage.app.close().await;
}

#[tokio::test]
async fn a_hub_that_dies_lets_the_call_through_and_gets_all_events_later() {
    let mut stage = Stage::start(&[json!({ "kind": "tool", "name": "search" })]).await;
    let id = stage.app.send(call("search")).await;
    let pause = stage.viewer.held().await;
    let port = stage.hub.port();
    drop(stage.viewer);
    let killed = Instant::now();
    stage.hub.kill().await;
    let answer = stage.app.answer(id).await;
    let waited = killed.elapsed();
    assert_eq!(answer["result"]["value"], json!({ "city": "Lisbon", "price": 218 }), "the tool ran");
    assert!(waited < Duration::from_secs(1), "the call waited for {waited:?} after its hub died");
    // one more run while nobody listens
    let dark = stage.app.ask(call("search")).await;
    let hub = Hub::start_at(&stage.place, ErrorHolds::Never, port).await;
    for (run, expected) in [(pause.run.clone(), HELD), (run_of(&dark), PLAIN)] {
        let events = hub.events_until(&run, finished).await;
        check(&kinds(&events), expected);
        let mut seen: Vec<u64> = events.iter().filter_map(|event| event["seq"].as_u64()).collect();
        let all = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), all, "none twice: {events:#?}");
    }
    assert_eq!(hub.runs().await.len(), 2);
    stage.app.close().await;
}

/// A hub that is watched, breakpoints armed, and a program attached to it.
struct Stage {
    place: Place,
    hub: Hub,
    viewer: Viewer,
    app: Peer,
}

impl Stage {
    async fn start(breakpoints: &[Value]) -> Self {
        let place = Place::new();
        let hub = Hub::start(&place, ErrorHolds::Never).await;
        let mut viewer = hub.viewer().await;
        for matcher in breakpoints {
            viewer.arm(matcher.clone()).await;
        }
        let mut app = place.python_app(&hub.ingest()).await;
        assert_eq!(app.ask(json!({ "do": "ready" })).await["result"], json!(true), "the program attaches");
        Self { place, hub, viewer, app }
    }

    async fn kinds(&self, run: &str) -> String {
        kinds(&self.hub.events_until(run, finished).await)
    }
}

fn call(tool: &str) -> Value {
    json!({ "do": "call", "run": "trip", "tool": tool, "arguments": { "city": "Lisbon" } })
}

fn run_of(answer: &Value) -> String {
    answer["result"]["run"].as_str().unwrap_or_else(|| panic!("no run in {answer}")).to_owned()
}

fn finished(events: &[Value]) -> bool {
    events.iter().any(|event| event["type"] == "run.finished")
}

fn kinds(events: &[Value]) -> String {
    events.iter().filter_map(|event| event["type"].as_str()).collect::<Vec<_>>().join(" ")
}

fn check(seen: &str, expected: &str) {
    assert_eq!(seen, expected);
}

const PLAIN: &str = "run.started node.started node.started node.finished node.finished run.finished";
const HELD: &str =
    "run.started node.started node.started exec.paused exec.resumed node.finished node.finished run.finished";
