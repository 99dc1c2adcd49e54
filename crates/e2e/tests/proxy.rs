//! Real servers behind the proxy, real hosts in front of it: one call held, injected, aborted, retried on each.

use lockgate_e2e::{ErrorHolds, Hub, Pause, Peer, Place, Server, Viewer};
use serde_json::{Value, json};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Host {
    /// the official client 1.x
    Handshake,
    /// the official client 2.x, which asks for the stateless era first
    Probing,
}

/// What is asked of one server.
struct Script {
    server: Server,
    /// the era a probing host ends up in
    probed: &'static str,
    works: Work,
    fails: Work,
    second: Second,
    /// how to ask how many calls reached the server, and where the answer says it
    reached: Option<(Value, &'static str)>,
}

/// A tool call, and what its first text contains.
struct Work {
    tool: &'static str,
    arguments: Value,
    says: &'static str,
}

/// What the call that failed does when it is sent again.
enum Second {
    /// works, with this in its first text
    Works(&'static str),
    /// works once this file exists with this content
    WorksWithFile(&'static str, &'static str),
    /// fails in the same way, and is answered by us
    FailsAgain,
}

#[tokio::test]
async fn everything_server_and_a_handshake_host() {
    check(everything, Host::Handshake).await;
}

#[tokio::test]
async fn everything_server_and_a_probing_host() {
    check(everything, Host::Probing).await;
}

#[tokio::test]
async fn filesystem_server_and_a_handshake_host() {
    check(filesystem, Host::Handshake).await;
}

#[tokio::test]
async fn filesystem_server_and_a_probing_host() {
    check(filesystem, Host::Probing).await;
}

#[tokio::test]
async fn fastmcp_server_and_a_handshake_host() {
    check(fastmcp, Host::Handshake).await;
}

#[tokio::test]
async fn fastmcp_server_and_a_stateless_host() {
    check(fastmcp, Host::Probing).await;
}

#[tokio::test]
async fn trip_planner_and_a_handshake_host() {
    check(trip_planner, Host::Handshake).await;
}

#[tokio::test]
async fn trip_planner_and_a_stateless_host() {
    check(trip_planner, Host::Probing).await;
}

fn everything(_: &Place) -> Script {
    Script {
        server: Server::Everything,
        probed: "handshake",
        works: Work { tool: "echo", arguments: json!({ "message": "hi" }), says: "Echo: hi" },
        fails: Work { tool: "echo", arguments: json!({}), says: "Input validation error" },
        second: Second::FailsAgain,
        reached: None,
    }
}

fn filesystem(place: &Place) -> Script {
    std::fs::write(place.path("here.txt"), "found").expect("a file to read");
    let path = |name: &str| json!({ "path": place.path(name) });
    Script {
        server: Server::Filesystem,
        probed: "handshake",
        works: Work { tool: "read_text_file", arguments: path("here.txt"), says: "found" },
        fails: Work { tool: "read_text_file", arguments: path("late.txt"), says: "ENOENT" },
        second: Second::WorksWithFile("late.txt", "came late"),
        reached: None,
    }
}

fn fastmcp(_: &Place) -> Script {
    Script {
        server: Server::FastMcp,
        probed: "stateless",
        works: Work { tool: "add", arguments: json!({ "a": 2, "b": 3 }), says: "5" },
        fails: Work { tool: "flaky", arguments: json!({}), says: "not yet" },
        second: Second::Works("now"),
        reached: Some((json!({ "do": "call", "name": "count" }), "/content/0/text")),
    }
}

fn trip_planner(_: &Place) -> Script {
    Script {
        server: Server::TripPlanner,
        probed: "stateless",
        works: Work { tool: "search_flights", arguments: json!({ "to": "Paris" }), says: "AF1239 to Paris" },
        fails: Work { tool: "check_seats", arguments: json!({ "flight": "OS367" }), says: "still loading" },
        second: Second::Works("14C and 22A are free"),
        reached: Some((json!({ "do": "read", "uri": "trip://itinerary" }), "/contents/0/text")),
    }
}

async fn check(script: fn(&Place) -> Script, host: Host) {
    let place = Place::new();
    let script = script(&place);
    let hub = Hub::start(&place, ErrorHolds::Never).await;
    let mut viewer = hub.viewer().await;
    // armed before the proxy attaches, so that no call can slip by
    viewer.arm(json!({ "kind": "tool", "point": "before" })).await;
    let command = hub.proxied(&place.server(script.server));
    let (peer, era) = match host {
        Host::Handshake => (place.handshake_host(&command).await, "handshake"),
        Host::Probing => (place.probing_host(&command).await, script.probed),
    };
    assert_eq!(peer.about["era"], json!(era), "the host's own view of the era");
    let mut stage = Stage { viewer, peer, place };
    let run = stage.continued(&script.works).await;
    stage.injected(&script.works).await;
    stage.aborted(&script.works, era).await;
    stage.retried(&script).await;
    stage.counted(&script).await;
    stage.peer.close().await;
    recorded(&hub, &run, era).await;
}

struct Stage {
    viewer: Viewer,
    peer: Peer,
    place: Place,
}

impl Stage {
    /// Held before the server runs it, then let go: the host gets the server's own answer.
    async fn continued(&mut self, work: &Work) -> String {
        let (id, pause) = self.held(work).await;
        self.viewer.release(&pause, json!({ "action": "continue" })).await;
        says(&self.peer.answer(id).await, work.says);
        pause.run
    }

    async fn injected(&mut self, work: &Work) {
        let (id, pause) = self.held(work).await;
        let output = json!({ "content": [{ "type": "text", "text": "put in its place" }] });
        self.viewer.release(&pause, json!({ "action": "inject", "output": output })).await;
        says(&self.peer.answer(id).await, "put in its place");
    }

    async fn aborted(&mut self, work: &Work, era: &str) {
        let (id, pause) = self.held(work).await;
        self.viewer.release(&pause, json!({ "action": "abort" })).await;
        let answer = self.peer.answer(id).await;
        let code = if era == "stateless" { -31_099 } else { -32_099 };
        assert_eq!(answer["error"]["code"], json!(code), "{answer}");
    }

    /// Fails, is held with its error, and is sent again without the host knowing.
    async fn retried(&mut self, script: &Script) {
        let (id, pause) = self.held(&script.fails).await;
        self.viewer.release(&pause, json!({ "action": "continue" })).await;
        let failed = self.viewer.held().await;
        assert_eq!(failed.point, "error", "{}", failed.item);
        assert_eq!(failed.item["smart"]["rule"], json!("error-result"), "{}", failed.item);
        if let Second::WorksWithFile(name, content) = script.second {
            std::fs::write(self.place.path(name), content).expect("the late file");
        }
        self.viewer.release(&failed, json!({ "action": "retry" })).await;
        match script.second {
            Second::Works(text) | Second::WorksWithFile(_, text) => says(&self.peer.answer(id).await, text),
            Second::FailsAgain => {
                let again = self.viewer.held().await;
                assert_ne!(again.id, failed.id);
                assert_eq!(again.point, "error", "{}", again.item);
                self.viewer.release(&again, json!({ "action": "continue" })).await;
                says(&self.peer.answer(id).await, script.fails.says);
            }
        }
    }

    /// One call went through, one was sent twice; what was injected or aborted never reached the server.
    async fn counted(&mut self, script: &Script) {
        let Some((ask, pointer)) = &script.reached else { return };
        let id = self.peer.send(ask.clone()).await;
        if ask["do"] == "call" {
            let pause = self.viewer.held().await;
            self.viewer.release(&pause, json!({ "action": "continue" })).await;
        }
        let answer = self.peer.answer(id).await;
        let said = answer["result"].pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        assert!(said.ends_with('3'), "{answer}");
    }

    async fn held(&mut self, work: &Work) -> (u64, Pause) {
        let command = json!({ "do": "call", "name": work.tool, "arguments": work.arguments });
        let id = self.peer.send(command).await;
        let pause = self.viewer.held().await;
        assert_eq!((pause.point.as_str(), pause.node.as_str()), ("before", format!("tool:{}", work.tool).as_str()));
        assert!(!self.peer.is_answered(id).await, "a held call has no answer");
        (id, pause)
    }
}

fn says(answer: &Value, expected: &str) {
    let text = answer.pointer("/result/content/0/text").and_then(Value::as_str).unwrap_or_default();
    assert!(text.contains(expected), "{answer} does not say: {expected}");
}

/// The run as the hub keeps it: every call with its era, and how each one ended.
async fn recorded(hub: &Hub, run: &str, era: &str) {
    let events = hub.events_until(run, |events| events.iter().any(|event| event["type"] == "run.finished")).await;
    let of = |kind: &'static str| events.iter().filter(move |event| event["type"] == kind);
    for started in of("node.started").filter(|event| event["payload"]["kind"] == "tool") {
        assert_eq!(started["payload"]["era"], json!(era), "{started}");
    }
    let tools = of("node.finished").filter(|event| event["payload"]["nodeId"].as_str().is_some_and(is_tool));
    let ends: Vec<&str> = tools.filter_map(|event| event["payload"]["status"].as_str()).collect();
    assert_eq!(ends.iter().filter(|end| **end == "aborted").count(), 1, "{ends:?}");
    assert!(ends.len() >= 4, "{ends:?}");
    let injected = of("node.finished").filter(|event| event["payload"]["injected"] == json!(true));
    assert_eq!(injected.count(), 1);
    let retried = of("exec.resumed").filter(|event| event["payload"]["action"] == json!("retry"));
    assert_eq!(retried.count(), 1);
}

fn is_tool(node: &str) -> bool {
    node.starts_with("tool:")
}
