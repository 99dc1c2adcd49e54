//! The hub's page in a real browser: what a person sees of a run, and what pressing a button does to a held call.

use futures_util::{SinkExt as _, StreamExt as _};
use lockgate_e2e::{ErrorHolds, Hub, Peer, Place, Server};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

#[tokio::test]
async fn a_held_call_is_answered_by_hand() {
    let mut stage = Stage::start().await;
    let mut viewer = stage.hub.viewer().await;
    viewer.arm(json!({ "kind": "tool", "name": "search_flights" })).await;
    let server = stage.hub.proxied(&stage.place.server(Server::TripPlanner));
    let mut host = stage.place.handshake_host(&server).await;
    let arguments = json!({ "from": "Vienna", "to": "Lisbon" });
    let id = host.send(json!({ "do": "call", "name": "search_flights", "arguments": arguments })).await;

    stage.open("").await;
    stage.until("#held", "search_flights stands at before (breakpoint)").await;
    stage.until("#nodes", "search_flights").await;
    let tree =
        "[...document.querySelectorAll('#nodes button')].map((one) => [one.textContent, one.style.marginInlineStart])";
    let tree = stage.look(tree).await;
    assert_eq!(tree[0][1], "0rem", "the session stands first: {tree}");
    assert!(tree.as_array().unwrap().contains(&json!(["search_flights", "1rem"])), "and the call below it: {tree}");
    let input = stage.text("#node-input").await;
    assert!(input.contains("\"Lisbon\""), "{input}");
    assert!(!host.is_answered(id).await, "it stands");
    assert!(!stage.look("location.href").await.to_string().contains("token"), "the token left the address");

    stage.click("text=inject…").await;
    let offered = stage.ask(json!({ "do": "value", "of": "#held textarea" })).await;
    let offered: Value = serde_json::from_str(offered.as_str().unwrap()).unwrap();
    assert_eq!(offered["arguments"], arguments, "the editor opens on what is recorded");
    stage.fill("#held textarea", "{\"content\":").await;
    stage.click("text=send this answer").await;
    stage.until("#notice", "this is not JSON").await;
    let answer = json!({ "content": [{ "type": "text", "text": "by hand" }] });
    stage.fill("#held textarea", &answer.to_string()).await;
    stage.click("text=send this answer").await;
    assert_eq!(host.answer(id).await["result"]["content"][0]["text"], "by hand");
    stage.until("#held", "none").await;
    stage.until("#node-output", "(injected)").await;

    let id = host.send(json!({ "do": "call", "name": "search_flights", "arguments": arguments })).await;
    stage.until("#held", "search_flights stands at before").await;
    stage.click("text=continue").await;
    let answer = host.answer(id).await;
    assert!(answer["result"]["content"].is_array() && !answer.to_string().contains("by hand"), "{answer}");
    stage.close().await;
    host.close().await;
}

#[tokio::test]
async fn what_programs_write_is_only_ever_text() {
    let mut stage = Stage::start().await;
    let image = "<img src=x onerror=\"document.title='owned'\">";
    let script = "</script><script>document.title='owned'</script>";
    let mut app = App::attach(&stage.hub, script).await;
    app.say("run.started", json!({ "app": script, "sdk": { "name": image, "version": "1" } })).await;
    app.say(
        "node.started",
        json!({ "nodeId": image, "kind": "tool", "name": image, "instanceId": "i", "input": { image: script } }),
    )
    .await;
    app.say("node.error", json!({ "nodeId": image, "instanceId": "i", "error": { "name": script, "message": image } }))
        .await;
    app.say("exec.paused", json!({ "pauseId": image, "nodeId": image, "point": "error", "reason": "error" })).await;

    stage.open("").await;
    stage.until("#held", &format!("{image} stands at error")).await;
    stage.until("#nodes", image).await;
    for (place, expected) in [
        ("#runs", script),
        ("#runs", "4 events, 1 error"),
        ("#title", RUN),
        ("#summary", "1 error"),
        ("#node-title", image),
        ("#node-error", &format!("{script}: {image}")),
    ] {
        let shown = stage.text(place).await;
        assert!(shown.contains(expected), "{place}: {shown}");
    }
    assert!(!stage.text("#summary").await.contains("errors") && !stage.text("#runs").await.contains("errors"));
    let input: Value = serde_json::from_str(&stage.text("#node-input").await).unwrap();
    assert_eq!(input, json!({ image: script }));
    let foreign = "[document.images.length, document.scripts.length, document.title]";
    assert_eq!(stage.look(foreign).await, json!([0, 1, "Runs"]));

    stage.click("#held button:has-text(\"abort\")").await;
    let resume = app.obeyed().await;
    assert_eq!((resume["pauseId"].as_str(), resume["action"].as_str()), (Some(image), Some("abort")));
    app.say("exec.resumed", json!({ "pauseId": image, "action": "abort", "requestId": resume["requestId"] })).await;
    stage.until("#held", "none").await;
    stage.close().await;
}

#[tokio::test]
async fn an_unknown_run_is_called_unknown_until_it_begins() {
    let mut stage = Stage::start().await;
    stage.open(&format!("/run/{}", RUN.replace('/', "%2F").replace('<', "%3C"))).await;
    stage.until("#summary", "This hub knows no run of this id").await;
    assert_eq!(stage.text("#title").await, RUN);
    let mut app = App::attach(&stage.hub, "late").await;
    app.say("run.started", json!({ "app": "late", "sdk": { "name": "n", "version": "1" } })).await;
    stage.until("#summary", "late: running, program connected, 0 errors").await;
    stage.close().await;
}

#[tokio::test]
async fn an_answer_that_is_not_recorded_yet_is_not_made_up() {
    let mut stage = Stage::start().await;
    let mut app = App::attach(&stage.hub, "app").await;
    app.say("run.started", json!({ "app": "app", "sdk": { "name": "n", "version": "1" } })).await;
    app.say(
        "node.started",
        json!({ "nodeId": "n", "kind": "tool", "name": "n", "instanceId": "i", "input": { "a": 1 } }),
    )
    .await;
    app.say("exec.paused", json!({ "pauseId": "p", "nodeId": "n", "point": "after" })).await;
    stage.open("").await;
    stage.until("#held", "n stands at after").await;
    stage.click("text=inject…").await;
    assert_eq!(stage.ask(json!({ "do": "value", "of": "#held textarea" })).await, "{}");
    stage.until("#held form", "not recorded").await;
    app.say("run.finished", json!({ "status": "error" })).await;
    stage.until("#nodes", "cut off").await;
    stage.close().await;
}

/// hub §15.4: rounded before the unit is chosen.
#[tokio::test]
async fn durations_and_counts_are_spelled_as_everywhere() {
    let mut stage = Stage::start().await;
    stage.open("").await;
    let table = "import('/draw.js').then(({ counted, duration }) => \
        [0, 0.04, 0.1, 0.5, 1, 9.94, 9.96, 10.4, 999.4, 999.5, 61250].map(duration).concat(counted(0, 'error'), counted(1, 'error')))";
    let expected = ["<1ms", "<0.1ms", "0.1ms", "0.5ms", "1.0ms", "9.9ms", "10ms", "10ms", "999ms", "1.0s", "61.3s"];
    let expected: Vec<&str> = expected.into_iter().chain(["0 errors", "1 error"]).collect();
    assert_eq!(stage.look(table).await, json!(expected));
    let mut app = App::attach(&stage.hub, "app").await;
    app.say("run.started", json!({ "app": "app", "sdk": { "name": "n", "version": "1" } })).await;
    for (instance, took, held) in [("a", 100, 0), ("b", 300, 50)] {
        app.say("node.started", json!({ "nodeId": "n", "kind": "tool", "name": "n", "instanceId": instance })).await;
        let ended =
            json!({ "nodeId": "n", "instanceId": instance, "durationMs": took, "heldMs": held, "status": "ok" });
        app.say("node.finished", ended).await;
    }
    stage.until("#nodes", "350ms").await;
    stage.close().await;
}

/// A hub, and somebody at its page.
struct Stage {
    browser: Peer,
    hub: Hub,
    place: Place,
}

impl Stage {
    async fn start() -> Stage {
        let place = Place::new();
        let hub = Hub::start(&place, ErrorHolds::Never).await;
        Stage { browser: place.browser().await, hub, place }
    }

    async fn open(&mut self, at: &str) {
        let url = self.hub.page(at);
        self.ask(json!({ "do": "open", "url": url })).await;
    }

    async fn click(&mut self, on: &str) {
        self.ask(json!({ "do": "click", "on": on })).await;
    }

    async fn fill(&mut self, field: &str, with: &str) {
        self.ask(json!({ "do": "fill", "in": field, "with": with })).await;
    }

    async fn text(&mut self, of: &str) -> String {
        self.ask(json!({ "do": "text", "of": of })).await.as_str().unwrap_or_default().to_owned()
    }

    async fn until(&mut self, of: &str, has: &str) {
        self.ask(json!({ "do": "until", "of": of, "has": has })).await;
    }

    async fn look(&mut self, at: &str) -> Value {
        self.ask(json!({ "do": "look", "at": at })).await
    }

    async fn ask(&mut self, command: Value) -> Value {
        let answer = self.browser.ask(command.clone()).await;
        assert!(answer.get("error").is_none(), "{command}: {answer}");
        answer["result"].clone()
    }

    /// Whatever the browser complained about fails the test.
    async fn close(mut self) {
        assert_eq!(self.ask(json!({ "do": "troubles" })).await, json!([]));
        self.browser.close().await;
    }
}

/// A program that says what a test tells it.
struct App {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    seq: u64,
}

impl App {
    async fn attach(hub: &Hub, name: &str) -> App {
        let (socket, _) = connect_async(hub.ingest()).await.expect("the hub takes a program");
        let mut app = App { socket, seq: 0 };
        let hello = json!({
            "versions": { "protocol": 1, "client": "1" },
            "capabilities": ["pause", "step", "inject", "retry", "abort", "run-claim", "request-id"],
            "app": name,
        });
        app.send("*", "hello", hello).await;
        app
    }

    async fn say(&mut self, kind: &str, payload: Value) {
        self.send(RUN, kind, payload).await;
    }

    async fn send(&mut self, run: &str, kind: &str, payload: Value) {
        let frame = json!({ "gm": 1, "seq": self.seq, "ts": 1_900_000_000_000_u64, "runId": run, "type": kind, "payload": payload });
        self.seq += 1;
        self.socket.send(Message::text(frame.to_string())).await.expect("the hub reads its programs");
    }

    /// The next release.
    async fn obeyed(&mut self) -> Value {
        loop {
            let frame = self.socket.next().await.expect("the hub stays").expect("the socket works");
            let Message::Text(text) = frame else { continue };
            let frame: Value = serde_json::from_str(&text).expect("the hub speaks JSON");
            if frame["type"] == "exec.resume" {
                return frame["payload"].clone();
            }
        }
    }
}

const RUN: &str = "r</script><img src=x>";
