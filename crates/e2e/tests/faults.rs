//! What goes wrong around a held call: the hub dies, two people release it, the host loses patience, the proxy is killed.

use std::{
    process::Stdio,
    time::{Duration, Instant},
};

use lockgate_e2e::{ErrorHolds, Hub, Pause, Peer, Place, Server, Viewer};
use serde_json::{Value, json};

#[tokio::test]
async fn a_hub_that_is_killed_lets_the_held_call_go_and_gets_every_event_once() {
    let mut stage = Stage::start().await;
    let (id, pause) = stage.held().await;
    let port = stage.hub.port();
    drop(stage.viewer);
    let killed = Instant::now();
    stage.hub.kill().await;
    says(&stage.host.answer(id).await, "AF1239 to Paris");
    let waited = killed.elapsed();
    assert!(waited < Duration::from_secs(1), "the call waited for {waited:?} after its hub died");
    let hub = Hub::start_at(&stage.place, ErrorHolds::Never, port).await;
    let dark = stage.host.ask(search()).await;
    says(&dark, "AF1239 to Paris");
    let calls = |events: &[Value]| finished_tools(events).count();
    let events = hub.events_until(&pause.run, |events| calls(events) == 2).await;
    let released = events.iter().find(|event| event["type"] == "exec.resumed").expect("the hold ended on record");
    assert_eq!(released["payload"]["action"], json!("continue"));
    let mut seen: Vec<u64> = events.iter().filter_map(|event| event["seq"].as_u64()).collect();
    let all = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), all, "none twice: {events:#?}");
    stage.host.close().await;
}

#[tokio::test]
async fn the_first_of_two_releases_wins() {
    let mut stage = Stage::start().await;
    let mut second = stage.hub.viewer().await;
    let (id, pause) = stage.held().await;
    stage.viewer.release(&pause, json!({ "action": "continue" })).await;
    let (status, answer) = second.try_release(&pause, json!({ "action": "abort" })).await;
    assert!(matches!(status, 404 | 409), "{status} {answer}");
    says(&stage.host.answer(id).await, "AF1239 to Paris");
    stage.host.close().await;
}

#[tokio::test]
async fn changed_arguments_reach_the_server() {
    let mut stage = Stage::start().await;
    let (id, pause) = stage.held().await;
    assert_eq!(pause.item["editable"], json!(true), "{}", pause.item);
    let input = json!({ "name": "search_flights", "arguments": { "to": "London" } });
    let (status, answer) = stage.viewer.try_release(&pause, json!({ "action": "continue", "input": input })).await;
    assert_eq!(status, 200, "{answer}");
    says(&stage.host.answer(id).await, "BA697 to London");
    stage.host.close().await;
}

#[tokio::test]
async fn a_wrong_change_is_refused_and_the_call_stays_held() {
    let mut stage = Stage::start().await;
    let (id, pause) = stage.held().await;
    let input = json!({ "name": "book_trip", "arguments": { "to": "London" } });
    let (status, answer) = stage.viewer.try_release(&pause, json!({ "action": "continue", "input": input })).await;
    assert_eq!((status, &answer["code"]), (422, &json!("shape")), "{answer}");
    assert!(!stage.host.is_answered(id).await);
    stage.viewer.release(&pause, json!({ "action": "continue" })).await;
    says(&stage.host.answer(id).await, "AF1239 to Paris");
    stage.host.close().await;
}

#[tokio::test]
async fn progress_keeps_a_host_waiting() {
    let mut stage = Stage::start().await;
    // gives up after 6.5 s without progress, which comes after one second and then every five
    let command = json!({ "do": "call", "name": "search_flights", "arguments": { "to": "Paris" }, "timeout": 6_500, "progress": true });
    let id = stage.host.send(command).await;
    let pause = stage.viewer.held().await;
    // what is waited for is time itself: longer than the host's patience
    tokio::time::sleep(Duration::from_secs(8)).await;
    assert!(!stage.host.is_answered(id).await, "the host still waits");
    assert!(stage.host.progress(id) >= 2, "progress came while the call was held");
    stage.viewer.release(&pause, json!({ "action": "continue" })).await;
    says(&stage.host.answer(id).await, "AF1239 to Paris");
    stage.host.close().await;
}

#[tokio::test]
async fn a_host_that_gives_up_ends_the_hold_and_the_server_never_hears_of_it() {
    let mut stage = Stage::start().await;
    let command = json!({ "do": "call", "name": "search_flights", "arguments": { "to": "Paris" }, "timeout": 1_000 });
    let id = stage.host.send(command).await;
    let pause = stage.viewer.held().await;
    let answer = stage.host.answer(id).await;
    assert!(answer.get("error").is_some(), "{answer}");
    let ended = |events: &[Value]| finished_tools(events).count() == 1;
    let events = stage.hub.events_until(&pause.run, ended).await;
    let end = finished_tools(&events).next().expect("one call ended");
    assert_eq!((&end["payload"]["status"], &end["payload"]["cancelled"]), (&json!("aborted"), &json!(true)));
    let itinerary = stage.host.ask(json!({ "do": "read", "uri": "trip://itinerary" })).await;
    let text = itinerary.pointer("/result/contents/0/text").and_then(Value::as_str).unwrap_or_default();
    assert!(text.ends_with("calls: 0"), "{itinerary}");
    stage.host.close().await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_killed_proxy_leaves_no_server_behind() {
    let place = Place::new();
    let hub = Hub::start(&place, ErrorHolds::Never).await;
    let noted = place.path("server.pid");
    let server = place.server(Server::TripPlanner).join(" ");
    let script = format!("echo $$ > {}; exec {server}", noted.display());
    let command = hub.proxied(&["sh".to_owned(), "-c".to_owned(), script]);
    let mut proxy = tokio::process::Command::new(&command[0]);
    proxy.args(&command[1..]).envs(place.environment()).kill_on_drop(true);
    proxy.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut proxy = proxy.spawn().expect("the proxy starts");
    let id: u32 = until("the server's id", || std::fs::read_to_string(&noted).ok()?.trim().parse().ok()).await;
    let alive = format!("/proc/{id}/stat");
    assert!(std::fs::exists(&alive).expect("processes can be seen"));
    proxy.kill().await.expect("the proxy can be killed");
    let gone = || {
        // a process that has ended but was not collected yet is gone too
        let stat = std::fs::read_to_string(&alive).unwrap_or_default();
        (stat.is_empty() || stat.contains(") Z ")).then_some(())
    };
    until("the end of the server", gone).await;
}

/// A watched hub with a breakpoint on one tool, and a handshake host that reaches the trip planner through the proxy.
struct Stage {
    place: Place,
    hub: Hub,
    viewer: Viewer,
    host: Peer,
}

impl Stage {
    async fn start() -> Self {
        let place = Place::new();
        let hub = Hub::start(&place, ErrorHolds::Never).await;
        let mut viewer = hub.viewer().await;
        viewer.arm(json!({ "kind": "tool", "name": "search_flights" })).await;
        let host = place.handshake_host(&hub.proxied(&place.server(Server::TripPlanner))).await;
        Self { place, hub, viewer, host }
    }

    async fn held(&mut self) -> (u64, Pause) {
        // an edit is checked against the tool's schema, which the proxy learns from a listing
        self.host.ask(json!({ "do": "tools" })).await;
        let id = self.host.send(search()).await;
        (id, self.viewer.held().await)
    }
}

fn search() -> Value {
    json!({ "do": "call", "name": "search_flights", "arguments": { "to": "Paris" } })
}

fn says(answer: &Value, expected: &str) {
    let text = answer.pointer("/result/content/0/text").and_then(Value::as_str).unwrap_or_default();
    assert!(text.contains(expected), "{answer} does not say: {expected}");
}

fn finished_tools(events: &[Value]) -> impl Iterator<Item = &Value> {
    let is_tool = |event: &&Value| event["payload"]["nodeId"].as_str().is_some_and(|node| node.starts_with("tool:"));
    events.iter().filter(|event| event["type"] == "node.finished").filter(is_tool)
}

#[cfg(target_os = "linux")]
async fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    for _ in 0..400 {
        if let Some(answer) = ask() {
            return answer;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("{what} did not come")
}
