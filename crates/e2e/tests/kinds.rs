//! Everything that can be held beside a tool call before it runs: answers, resources, prompts, sampling; and plain words as
//! answers.

use lockgate_e2e::{ErrorHolds, Hub, Peer, Place, Server, Viewer};
use serde_json::{Value, json};

#[tokio::test]
async fn an_answer_is_rewritten_after_the_call() {
    let mut stage =
        Stage::start(json!({ "kind": "tool", "point": "after" }), Host::Handshake, Server::TripPlanner).await;
    let id = stage.host.send(json!({ "do": "call", "name": "search_flights", "arguments": { "to": "Paris" } })).await;
    let answer = stage.inject(id, "tool:search_flights", json!("no flights today")).await;
    assert_eq!(answer["result"]["content"], json!([{ "type": "text", "text": "no flights today" }]), "{answer}");
    stage.host.close().await;
}

#[tokio::test]
async fn a_resource_is_held_in_the_handshake_era() {
    resource(Host::Handshake).await;
}

#[tokio::test]
async fn a_resource_is_held_in_the_stateless_era() {
    resource(Host::Stateless).await;
}

async fn resource(host: Host) {
    let mut stage = Stage::start(json!({ "kind": "resource" }), host, Server::TripPlanner).await;
    let id = stage.host.send(json!({ "do": "read", "uri": "trip://itinerary" })).await;
    let contents = json!({ "contents": [{ "uri": "trip://itinerary", "text": "a week in Lisbon" }] });
    let answer = stage.inject(id, "resource:trip://itinerary", contents).await;
    assert_eq!(answer["result"]["contents"][0]["text"], json!("a week in Lisbon"), "{answer}");
    stage.host.close().await;
}

#[tokio::test]
async fn a_prompt_is_held() {
    let mut stage = Stage::start(json!({ "kind": "prompt" }), Host::Stateless, Server::TripPlanner).await;
    let id = stage.host.send(json!({ "do": "prompt", "name": "plan_trip", "arguments": { "city": "Lisbon" } })).await;
    let answer = stage.inject(id, "prompt:plan_trip", json!("stay at home")).await;
    assert_eq!(answer["result"]["messages"][0]["content"]["text"], json!("stay at home"), "{answer}");
    stage.host.close().await;
}

#[tokio::test]
async fn a_servers_own_question_is_held_on_its_way_to_the_host() {
    let mut stage = Stage::start(json!({ "kind": "llm" }), Host::Handshake, Server::Everything).await;
    let arguments = json!({ "prompt": "hello", "maxTokens": 5 });
    let id = stage.host.send(json!({ "do": "call", "name": "trigger-sampling-request", "arguments": arguments })).await;
    let answer = stage.inject(id, "llm:sampling", json!("answered by a person")).await;
    let text = answer.pointer("/result/content/0/text").and_then(Value::as_str).unwrap_or_default();
    assert!(text.contains("answered by a person"), "{answer}");
    stage.host.close().await;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Host {
    Handshake,
    Stateless,
}

struct Stage {
    _place: Place,
    _hub: Hub,
    viewer: Viewer,
    host: Peer,
}

impl Stage {
    async fn start(matcher: Value, host: Host, server: Server) -> Self {
        let place = Place::new();
        let hub = Hub::start(&place, ErrorHolds::Never).await;
        let mut viewer = hub.viewer().await;
        viewer.arm(matcher).await;
        let command = hub.proxied(&place.server(server));
        let host = match host {
            Host::Handshake => place.handshake_host(&command).await,
            Host::Stateless => place.probing_host(&command).await,
        };
        Self { _place: place, _hub: hub, viewer, host }
    }

    /// The held call of a node is answered by us; returns what the host got.
    async fn inject(&mut self, id: u64, node: &str, output: Value) -> Value {
        let pause = self.viewer.held().await;
        assert_eq!(pause.node, node, "{}", pause.item);
        assert!(!self.host.is_answered(id).await, "a held call has no answer");
        self.viewer.release(&pause, json!({ "action": "inject", "output": output })).await;
        self.host.answer(id).await
    }
}
