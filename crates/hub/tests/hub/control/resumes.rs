//! One resume over HTTP, check by check.

use std::time::Duration;

use crate::room::{App, Room};
use serde_json::{Value, json};

/// A room with a call held in run `r`.
async fn held() -> (Room, App) {
    let room = Room::new().await;
    let mut app = room.app().await;
    app.start("r").await;
    app.pause("r", "p").await;
    room.until_run("r", |run| run["held"] == 1).await;
    (room, app)
}

#[tokio::test]
async fn a_call_is_released() {
    let (room, mut app) = held().await;
    let body = json!({"action": "continue", "requestId": "req-1", "operator": " Ada\u{202e} L. ", "timeoutMs": 5000});
    let asked = tokio::spawn(room.resume("r", "p", body));
    assert_eq!(app.obey("r").await, json!({"pauseId": "p", "action": "continue", "requestId": "req-1"}));
    let expected =
        json!({"outcome": "resumed", "runId": "r", "pauseId": "p", "requestId": "req-1", "principal": "viewer"});
    assert_eq!(asked.await.unwrap(), (200, expected));
    let detail = room.ok("/api/runs/r/pauses/p").await;
    assert_eq!(detail["state"], "closed");
    let resumed = &detail["resumed"];
    assert_eq!(
        (&resumed["action"], &resumed["principal"], &resumed["operator"]),
        (&json!("continue"), &json!("viewer"), &json!("Ada L."))
    );
    assert_eq!(room.resume("r", "p", json!({"action": "continue"})).await.0, 404);
}

#[tokio::test]
async fn an_edit_goes_through_and_a_refusal_leaves_the_call_held() {
    let (room, mut app) = held().await;
    let asked = tokio::spawn(room.resume("r", "p", json!({"action": "continue", "input": {"x": 2}})));
    let resume = app.line.until("exec.resume").await["payload"].take();
    assert_eq!(resume["input"], json!({"x": 2}));
    let refusal = json!({"pauseId": "p", "code": "schema", "message": "x\u{7}: expected\nstring", "requestId": resume["requestId"]});
    app.emit("r", "exec.refused", refusal).await;
    let (status, body) = asked.await.unwrap();
    assert_eq!((status, &body["outcome"], &body["code"]), (422, &json!("refused"), &json!("schema")));
    assert_eq!(body["message"], "x : expected string");
    assert_eq!(room.ok("/api/pauses").await["pauses"][0]["state"], "open");
    let asked = tokio::spawn(room.resume("r", "p", json!({"action": "inject", "output": [1.50, null]})));
    assert_eq!(app.obey("r").await["output"], json!([1.5, null]));
    assert_eq!(asked.await.unwrap().0, 200);
}

#[tokio::test]
async fn the_first_wins_and_a_slow_answer_is_waited_for() {
    let (room, mut app) = held().await;
    let first = tokio::spawn(room.resume("r", "p", json!({"action": "continue"})));
    let resume = app.line.until("exec.resume").await["payload"].take();
    let (status, body) = room.resume("r", "p", json!({"action": "abort"})).await;
    assert_eq!((status, &body["outcome"], &body["code"]), (409, &json!("taken"), &json!("pause-taken")));
    assert_eq!(room.ok("/api/pauses").await["pauses"][0]["state"], "resolving");
    assert_eq!(room.ok("/api/runs/r/pauses/p").await["state"], "resolving");
    app.emit("r", "exec.resumed", json!({"pauseId": "p", "action": "continue", "requestId": resume["requestId"]}))
        .await;
    assert_eq!(first.await.unwrap().0, 200);
}

#[tokio::test]
async fn who_does_not_wait_is_told_so() {
    let (room, mut app) = held().await;
    let (status, body) = room.resume("r", "p", json!({"action": "continue", "timeoutMs": 1000})).await;
    assert_eq!((status, &body["outcome"], &body["code"]), (202, &json!("timeout"), &json!("no-answer")));
    let (status, body) = room.resume("r", "p", json!({"action": "continue"})).await;
    assert_eq!((status, &body["code"]), (202, &json!("still-resolving")));
    // A late answer is still credited.
    let resume = app.obey("r").await;
    room.until_run("r", |run| run["held"] == 0).await;
    let stored = room.ok("/api/runs/r/events?afterSeq=2").await["events"][0]["payload"].clone();
    assert_eq!((&stored["requestId"], &stored["principal"]), (&resume["requestId"], &json!("viewer")));
}

#[tokio::test]
async fn endings_are_told() {
    let (room, mut app) = held().await;
    let asked = tokio::spawn(room.resume("r", "p", json!({"action": "continue"})));
    app.line.until("exec.resume").await;
    app.finish("r", "ok").await;
    let (status, body) = asked.await.unwrap();
    assert_eq!((status, &body["code"]), (404, &json!("run-finished")));

    app.pause("s", "p").await;
    room.until_run("s", |run| run["held"] == 1).await;
    let asked = tokio::spawn(room.resume("s", "p", json!({"action": "continue"})));
    app.line.until("exec.resume").await;
    drop(app);
    let (status, body) = asked.await.unwrap();
    assert_eq!((status, &body["outcome"], &body["code"]), (202, &json!("timeout"), &json!("app-disconnected")));
}

#[tokio::test]
async fn a_stopping_hub_answers_first() {
    let (room, mut app) = held().await;
    let asked = tokio::spawn(room.resume("r", "p", json!({"action": "continue"})));
    app.line.until("exec.resume").await;
    let polled = tokio::spawn(reqwest::get(format!("{}/api/pauses?wait=60&runId=r", room.hub.url())));
    app.line.until("watch.set").await;
    let stopping = tokio::spawn(room.stop());
    let (status, body) = asked.await.unwrap();
    assert_eq!((status, &body["code"]), (202, &json!("server-closing")));
    let poll: Value = polled.await.unwrap().unwrap().json().await.unwrap();
    assert_eq!(poll["run"]["id"], "r");
    assert_eq!(app.line.ended().await, Some(1001));
    stopping.await.unwrap();
}

#[tokio::test]
async fn what_the_program_cannot_do_is_not_asked_of_it() {
    let room = Room::new().await;
    let mut python = room.python().await;
    python.pause("r", "p").await;
    room.until_run("r", |run| run["held"] == 1).await;
    let (status, body) = room.resume("r", "p", json!({"action": "continue", "input": {}})).await;
    assert_eq!((status, &body["code"]), (422, &json!("not-editable")));
    let (status, body) = room.resume("r", "p", json!({"action": "inject", "output": "x".repeat(1_000_000)})).await;
    assert_eq!((status, &body["code"]), (422, &json!("too-large")));
    python.line.silent("exec.resume").await;
    let asked = tokio::spawn(room.resume("r", "p", json!({"action": "inject", "output": "x".repeat(999_000)})));
    python.line.until("exec.resume").await;
    python.emit("r", "exec.resumed", json!({"pauseId": "p", "action": "inject"})).await;
    let (status, body) = asked.await.unwrap();
    assert_eq!((status, &body["principal"]), (200, &json!("viewer")), "credited by its action");
}

#[tokio::test]
async fn lost_values_are_not_sent_back() {
    let (room, mut app) = held().await;
    for (value, code) in [
        (json!({"key": "__REDACTED__"}), "placeholder"),
        (json!("x…[graphmind: truncated]"), "truncated"),
        (json!(["<12 bytes>"]), "truncated"),
    ] {
        let (status, body) = room.resume("r", "p", json!({"action": "continue", "input": value})).await;
        assert_eq!((status, &body["code"]), (422, &json!(code)));
        let (status, body) = room.resume("r", "p", json!({"action": "inject", "output": value})).await;
        assert_eq!((status, &body["code"]), (422, &json!(code)));
    }
    app.line.silent("exec.resume").await;
}

#[tokio::test]
async fn checks_come_in_their_order() {
    let (room, _app) = held().await;
    let client = reqwest::Client::new();
    let url = format!("{}/api/runs/r/pauses/p/resume", room.hub.url());
    let status = async |request: reqwest::RequestBuilder| request.send().await.unwrap().status().as_u16();
    let token = room.hub.viewer_token();
    for method in ["GET", "PUT", "DELETE", "PATCH"] {
        let response = client.request(method.parse().unwrap(), &url).send().await.unwrap();
        assert_eq!(
            (response.status().as_u16(), response.headers()["allow"].to_str().unwrap()),
            (405, "POST"),
            "{method}"
        );
    }
    assert_eq!(status(client.post(&url).body("x")).await, 401, "no token");
    assert_eq!(status(client.post(&url).bearer_auth("gmv_x").json(&json!({"action": "continue"}))).await, 401);
    let huge = "x".repeat((16 << 20) + 1);
    assert_eq!(status(client.post(&url).bearer_auth(token).body(huge)).await, 413);
    assert_eq!(status(client.post(&url).bearer_auth(token).body("{}")).await, 415);
    let typed = |body: &'static str| {
        client.post(&url).bearer_auth(token).header("content-type", "application/json; charset=utf-8").body(body)
    };
    assert_eq!(status(typed("[]")).await, 400);
    assert_eq!(status(typed(r#"{"timeoutMs":1}"#)).await, 400);
    assert_eq!(status(typed(r#"{"action":"jump"}"#)).await, 400);
    let json_like = client.post(&url).bearer_auth(token).header("content-type", "application/jsonp").body("{}");
    assert_eq!(status(json_like).await, 415);
    for path in ["/api", "/api/nothing", "/api/runs", "/api/demo/start", "/api/runs/r/pauses/p"] {
        let response = client.post(format!("{}{path}", room.hub.url())).send().await.unwrap();
        assert_eq!(response.status(), 401, "{path}");
        assert_eq!(response.headers()["www-authenticate"], "Bearer");
    }
}

#[tokio::test]
async fn ids_may_hold_anything() {
    let room = Room::new().await;
    let mut app = room.app().await;
    let (run, pause) = ("a/b c?d#é", "p/%2F \"q\"");
    app.pause(run, pause).await;
    room.until_run(run, |found| found["held"] == 1).await;
    let url = "/api/runs/a%2Fb%20c%3Fd%23%C3%A9/pauses/p%2F%252F%20%22q%22";
    assert_eq!(room.ok(url).await["pauseId"], pause);
    let asked =
        tokio::spawn(room.resume("a%2Fb%20c%3Fd%23%C3%A9", "p%2F%252F%20%22q%22", json!({"action": "continue"})));
    app.obey(run).await;
    assert_eq!(asked.await.unwrap().0, 200);
}

#[tokio::test]
async fn a_pause_shows_its_node() {
    let room = Room::new().await;
    let mut app = room.app().await;
    app.start("r").await;
    app.emit(
        "r",
        "node.started",
        json!({"nodeId": "n", "kind": "tool", "name": "old", "instanceId": "i0", "input": 0}),
    )
    .await;
    app.emit(
        "r",
        "node.started",
        json!({"nodeId": "n", "kind": "tool", "name": "book", "instanceId": "i1", "input": {"to": "B"}}),
    )
    .await;
    app.emit(
        "r",
        "node.started",
        json!({"nodeId": "n", "kind": "tool", "name": "twin", "instanceId": "i2", "input": 2}),
    )
    .await;
    app.emit("r", "node.error", json!({"nodeId": "n", "instanceId": "i1", "error": {"name": "E", "message": "no"}}))
        .await;
    app.emit(
        "r",
        "exec.paused",
        json!({"pauseId": "p", "nodeId": "n", "point": "error", "reason": "error", "instanceId": "i1",
        "until": {"at": 5, "action": "continue", "why": "patience"}}),
    )
    .await;
    room.until_run("r", |run| run["held"] == 1).await;
    let detail = room.ok("/api/runs/r/pauses/p").await;
    let expected = json!({"runId": "r", "pauseId": "p", "nodeId": "n", "point": "error", "since": crate::room::BEGIN + 6,
        "reason": "error", "until": {"at": 5, "action": "continue", "why": "patience"}, "app": "room",
        "node": {"kind": "tool", "name": "book", "instanceId": "i1", "input": {"to": "B"}, "error": {"name": "E", "message": "no"}},
        "state": "open"});
    assert_eq!(detail, expected);
    app.emit("r", "exec.until", json!({"pauseId": "p", "at": 9, "action": "abort", "why": "review"})).await;
    room.until_run("r", |run| run["eventCount"] == 7).await;
    assert_eq!(
        room.ok("/api/pauses").await["pauses"][0]["until"],
        json!({"at": 9, "action": "abort", "why": "review"})
    );
    assert_eq!(
        room.get("/api/runs/r/pauses/x").await,
        (404, json!({"error": "no-such-pause", "code": "no-such-pause", "message": "no such pause"}))
    );
    assert_eq!(room.get("/api/runs/x/pauses/p").await.1["code"], "no-such-run");
}

#[tokio::test]
async fn a_flood_of_invented_pauses_costs_a_real_one_nothing() {
    let (room, mut app) = held().await;
    let asked = tokio::spawn(room.resume("r", "p", json!({"action": "continue"})));
    let resume = app.line.until("exec.resume").await["payload"].take();
    let mut stranger = room.stranger().await;
    let flooding = tokio::spawn(async move {
        for ghost in 0..1_001 {
            stranger.resume("r", &format!("ghost{ghost}"), "continue", &format!("g{ghost}")).await;
        }
        stranger
    });
    for _ in 0..1_001 {
        app.line.until("exec.resume").await;
    }
    app.emit("r", "exec.resumed", json!({"pauseId": "p", "action": "continue", "requestId": resume["requestId"]}))
        .await;
    assert_eq!(asked.await.unwrap().0, 200);
    let mut stranger = flooding.await.unwrap();
    let evicted = tokio::time::timeout(Duration::from_secs(20), stranger.line.until("resume.result")).await.unwrap();
    assert_eq!((&evicted["pauseId"], &evicted["code"]), (&json!("ghost0"), &json!("no-answer")));
}
