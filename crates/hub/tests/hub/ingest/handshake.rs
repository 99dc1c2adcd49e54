//! `hello` and what comes before and after it.

use crate::room::{App, Line, Room, frame, hello, python_hello};
use serde_json::json;

#[tokio::test]
async fn the_answer_carries_the_whole_debug_state() {
    let room = Room::with(|config| config.error_stop = lockgate_hub::ErrorStop::Always).await;
    let app = room.app().await;
    let ack = &app.ack;
    assert_eq!(ack["versions"], json!({"protocol": 1, "viewer": "lockgate/0.1.0"}));
    assert_eq!(ack["capabilities"], hello()["capabilities"]);
    assert_eq!(ack["breakpoints"], json!([{"point": "error"}]));
    assert_eq!((&ack["mode"], &ack["watched"]), (&json!("run"), &json!(false)));
    assert_eq!(ack["hubCapabilities"], json!(["pause-registry", "edit-input", "guard-holds", "watch", "conditions"]));
    assert!(app.token().len() == 32 && app.token().bytes().all(|byte| byte.is_ascii_hexdigit()));
}

#[tokio::test]
async fn a_token_is_kept_and_a_strange_one_is_not() {
    let room = Room::new().await;
    let token_for = async |token: &str| {
        let mut hello = hello();
        hello["resumeToken"] = json!(token);
        App::attach(room.address(), hello).await.token()
    };
    assert_eq!(token_for("tok-probe-1").await, "tok-probe-1");
    assert_eq!(token_for(&"x".repeat(128)).await, "x".repeat(128));
    assert_eq!(token_for(&"x".repeat(129)).await.len(), 32);
    assert_eq!(token_for("").await.len(), 32);
}

#[tokio::test]
async fn without_edits_the_hub_does_not_offer_them() {
    let room = Room::with(|config| config.edits = lockgate_hub::level::Edits::Refused).await;
    let offered = room.app().await.ack["hubCapabilities"].clone();
    assert_eq!(offered, json!(["pause-registry", "guard-holds", "watch", "conditions"]));
}

#[tokio::test]
async fn nothing_counts_before_hello() {
    let room = Room::new().await;
    let mut line = Line::open(room.address(), "/ingest", &[]).await.unwrap();
    line.send(frame(0, "early", "run.started", &json!({"app": "a", "sdk": {"name": "s", "version": "1"}}))).await;
    line.send(frame(1, "*", "hello", &hello())).await;
    line.until("hello.ack").await;
    line.send(frame(2, "late", "run.started", &json!({"app": "a", "sdk": {"name": "s", "version": "1"}}))).await;
    room.until_run("late", |run| run["eventCount"] == 1).await;
    assert!(room.stored("early").await.is_empty());
}

#[tokio::test]
async fn five_hundred_hellos_get_one_answer() {
    let room = Room::new().await;
    let mut app = room.app().await;
    let hellos: Vec<String> = (0..500).map(|_| app.frame("*", "hello", &hello())).collect();
    app.line.send_all(hellos).await;
    app.start("r").await;
    room.until_run("r", |run| run["eventCount"] == 1).await;
    app.line.silent("hello.ack").await;
}

#[tokio::test]
async fn another_major_version_is_shown_the_door() {
    let room = Room::new().await;
    let mut line = Line::open(room.address(), "/ingest", &[]).await.unwrap();
    line.send(r#"{"gm":2,"seq":0,"ts":0,"runId":"*","type":"hello","payload":{}}"#).await;
    assert_eq!(line.ended().await, Some(1002));
}

#[tokio::test]
async fn what_is_not_a_programs_to_say_is_passed_over() {
    let room = Room::new().await;
    let mut app = room.app().await;
    app.emit("*", "node.token", json!({"nodeId": "n", "deltas": []})).await;
    app.emit("r", "exec.resume", json!({"pauseId": "p", "action": "abort"})).await;
    app.emit("r", "breakpoint.set", json!({"matcher": {}})).await;
    app.emit("r", "mode.set", json!({"mode": "step"})).await;
    app.emit("r", "watch.set", json!({"watched": true})).await;
    let ack = app.ack.clone();
    app.emit("r", "hello.ack", ack).await;
    app.start("r").await;
    room.until_run("r", |run| run["eventCount"] == 1).await;
    assert_eq!(room.stored("r").await, ["7 run.started"]);
}

#[tokio::test]
async fn b12_breakpoints_reach_programs_in_a_form_they_understand() {
    let room = Room::new().await;
    let (mut ours, mut python) = (room.app().await, room.python().await);
    let mut viewer = room.viewer().await;
    ours.line.until("watch.set").await;
    let conditional = json!({"matcher": {"name": "x", "after": 2, "when": {"==": [{"var": "name"}, "x"]}}});
    viewer.control("*", "breakpoint.set", conditional.clone()).await;
    viewer.control("*", "breakpoint.set", json!({"matcher": {"kind": "tool"}})).await;
    viewer.control("*", "mode.set", json!({"mode": "step"})).await;
    assert_eq!(ours.line.until("breakpoint.set").await["payload"], json!({"matcher": {"point": "error"}}));
    assert_eq!(ours.line.until("breakpoint.set").await["payload"], conditional);
    assert_eq!(ours.line.until("breakpoint.set").await["payload"]["matcher"], json!({"kind": "tool"}));
    assert_eq!(ours.line.until("mode.set").await["payload"]["mode"], "step");
    let told = python.line.next().await.unwrap();
    assert_eq!((&told["type"], &told["payload"]["matcher"]), (&json!("breakpoint.set"), &json!({"point": "error"})));
    assert_eq!((&told["seq"], &told["runId"], &told["gm"]), (&json!(1), &json!("*"), &json!(1)));
    assert_eq!(
        python.line.next().await.unwrap()["payload"]["matcher"],
        json!({"kind": "tool"}),
        "no conditions for it"
    );
    let late = App::attach(room.address(), python_hello()).await;
    assert_eq!(late.ack["breakpoints"], json!([{"point": "error"}, {"kind": "tool"}]));
    assert_eq!(late.ack["mode"], "step");
}

#[tokio::test]
async fn the_published_sdk_is_understood_as_it_spells() {
    let room = Room::new().await;
    let mut line = Line::open(room.address(), "/ingest", &[]).await.unwrap();
    let run = "run_029ba1e01c19";
    for (seq, ms, kind, run, payload) in [
        (
            0,
            0,
            "hello",
            "*",
            r#"{"versions": {"protocol": 1, "client": "0.5.1"}, "capabilities": ["pause", "step", "inject", "retry", "abort", "run-claim"], "app": "probe-app", "sdk": {"name": "python", "version": "0.5.1"}}"#,
        ),
        (
            1,
            1,
            "run.started",
            run,
            r#"{"app": "probe-app", "sdk": {"name": "python", "version": "0.5.1"}, "meta": {"name": "book-trip", "env": "test"}}"#,
        ),
        (
            2,
            1,
            "node.started",
            run,
            r#"{"nodeId": "tool:sök", "kind": "tool", "name": "sök", "instanceId": "call_8a8a2a_1", "input": {"origin": "A", "limit": 5.0}}"#,
        ),
        (
            3,
            2,
            "node.finished",
            run,
            r#"{"nodeId": "tool:sök", "instanceId": "call_8a8a2a_1", "durationMs": 1.21, "status": "ok", "output": [1, 2], "heldMs": 0.0}"#,
        ),
        (6, 2, "run.finished", run, r#"{"status": "ok"}"#),
    ] {
        let ts = 1_796_067_744_239_u64 + ms;
        line.send(format!(
            r#"{{"gm": 1, "seq": {seq}, "ts": {ts}, "runId": "{run}", "type": "{kind}", "payload": {payload}}}"#
        ))
        .await;
    }
    let found = room.until_run(run, |run| run["status"] == "ok").await;
    assert_eq!(found["durationMs"], 1);
    assert_eq!(found["app"], "probe-app");
    let text = reqwest::get(format!("{}/api/runs/{run}/events", room.hub.url())).await.unwrap().text().await.unwrap();
    let spelled = r#""payload":{"nodeId": "tool:sök", "kind": "tool", "name": "sök", "instanceId": "call_8a8a2a_1", "input": {"origin": "A", "limit": 5.0}}"#;
    assert!(text.contains(spelled), "a payload within the budget is kept byte for byte: {text}");
}
