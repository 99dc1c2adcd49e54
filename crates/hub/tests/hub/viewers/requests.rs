//! What viewers may ask, and what they hear when it makes no sense.

use crate::room::{Room, Viewer};
use lockgate_hub::level::Level;
use serde_json::{Value, json};

#[tokio::test]
async fn the_welcome_says_where_one_is() {
    let room = Room::with(|config| config.agents = Level::Inject).await;
    // It watches, so the default breakpoint is armed before it hears anything.
    let mut viewer = room.viewer().await;
    assert_eq!(viewer.welcome["versions"], json!({"protocol": 1, "server": "0.6.0"}));
    assert_eq!(
        (&viewer.welcome["breakpoints"], &viewer.welcome["mode"]),
        (&json!([{"point": "error"}]), &json!("run"))
    );
    let capabilities = json!(["pause-registry", "edit-input", "guard-holds", "watch", "conditions"]);
    let control =
        json!({"principal": "viewer", "agentLevel": "inject", "editInput": true, "hubCapabilities": capabilities});
    assert_eq!(viewer.welcome["control"], control);
    assert_eq!(room.stranger().await.welcome["control"]["principal"], "anonymous");
    let (_ours, _python) = (room.app().await, room.python().await);
    viewer.line.silent("state").await;
}

#[tokio::test]
async fn nonsense_is_answered_once_and_the_socket_lives() {
    let room = Room::new().await;
    let mut viewer = room.viewer().await;
    let nonsense = [
        "",
        "{",
        "[]",
        "null",
        "7",
        "{}",
        r#"{"type":7}"#,
        r#"{"type":"dance"}"#,
        r#"{"type":"constructor"}"#,
        r#"{"type":"subscribe"}"#,
        r#"{"type":"subscribe","runId":7}"#,
        r#"{"type":"subscribe","runId":"a\u0000"}"#,
        r#"{"type":"subscribe","runId":"\ud800"}"#,
        r#"{"type":"subscribe","runId":"r","after":"x"}"#,
        r#"{"type":"unsubscribe"}"#,
        r#"{"type":"control"}"#,
        r#"{"type":"control","envelope":7}"#,
        r#"{"type":"control","envelope":{"gm":2,"seq":0,"ts":0,"runId":"r","type":"mode.set","payload":{"mode":"run"}}}"#,
        r#"{"type":"control","envelope":{"gm":1,"seq":0,"ts":0,"runId":"r","type":"mode.set","payload":{"mode":"fly"}}}"#,
        r#"{"type":"control","envelope":{"gm":1,"seq":0,"ts":0,"runId":"r","type":"run.finished","payload":{"status":"ok"}}}"#,
        r#"{"type":"control","envelope":{"gm":1,"seq":0,"ts":0,"runId":"r","type":"watch.set","payload":{"watched":false}}}"#,
        r#"{"type":"control","envelope":{"gm":1,"seq":0,"ts":0,"runId":"r","type":"acme","payload":{}}}"#,
        r#"{"type":"control","envelope":{"gm":1,"seq":0,"ts":0,"runId":"r","type":"exec.resume","payload":{"pauseId":"p","action":"jump"}}}"#,
        r#"{"type":"control","envelope":{"gm":1,"seq":0,"ts":0,"runId":"r","type":"breakpoint.set","payload":{"matcher":{"kind":"car"}}}}"#,
    ];
    for text in nonsense {
        viewer.line.send(text).await;
        let answer = viewer.line.next().await.unwrap();
        assert_eq!((&answer["type"], answer["message"].is_string()), (&json!("error"), true), "{text}: {answer}");
    }
    viewer.line.send("[".repeat(100_000)).await;
    viewer.line.until("error").await;
    viewer.subscribe("r").await;
    viewer.replay().await;
}

#[tokio::test]
async fn resumes_that_lead_nowhere_say_so() {
    let room = Room::new().await;
    let mut viewer = room.viewer().await;
    viewer.resume("r", "p", "continue", "req-1").await;
    let error = viewer.line.until("error").await;
    let expected = json!({"type": "error", "message": "no program is connected for this run", "runId": "r", "pauseId": "p",
        "requestId": "req-1", "outcome": "no-such-pause", "code": "no-owner"});
    assert_eq!(error, expected);
    viewer.resume("r", "p", "continue", "not plain").await;
    assert!(viewer.line.until("error").await.get("requestId").is_none(), "ids minted here are not shown");
}

#[tokio::test]
async fn a_resume_is_answered_by_the_program() {
    let room = Room::new().await;
    let (mut app, mut viewer) = (room.app().await, room.viewer().await);
    app.start("r").await;
    app.pause("r", "p").await;
    room.until_run("r", |run| run["held"] == 1).await;
    viewer.resume("r", "p", "retry", "req-1").await;
    let resume = app.obey("r").await;
    assert_eq!(resume, json!({"pauseId": "p", "action": "retry", "requestId": "req-1"}));
    let expected = json!({"type": "resume.result", "runId": "r", "pauseId": "p", "requestId": "req-1", "outcome": "resumed",
        "principal": "viewer"});
    assert_eq!(viewer.line.until("resume.result").await, expected);
    let stored = room.ok("/api/runs/r/events").await["events"][2]["payload"].clone();
    let stamped = json!({"pauseId": "p", "action": "retry", "requestId": "req-1", "principal": "viewer"});
    assert_eq!(stored, stamped);
}

#[tokio::test]
async fn two_viewers_release_one_hold() {
    let room = Room::new().await;
    let mut app = room.app().await;
    let (mut one, mut other) = (room.viewer().await, room.viewer().await);
    app.start("r").await;
    app.pause("r", "p").await;
    room.until_run("r", |run| run["held"] == 1).await;
    one.resume("r", "p", "continue", "one").await;
    app.line.until("exec.resume").await;
    other.resume("r", "p", "abort", "other").await;
    let taken = other.line.until("error").await;
    assert_eq!(
        (&taken["outcome"], &taken["code"], &taken["requestId"]),
        (&json!("taken"), &json!("pause-taken"), &json!("other"))
    );
    app.line.silent("exec.resume").await;
    app.emit("r", "exec.resumed", json!({"pauseId": "p", "action": "continue", "requestId": "one"})).await;
    assert_eq!(one.line.until("resume.result").await["outcome"], "resumed");
    other.resume("r", "p", "abort", "late").await;
    assert_eq!(other.line.until("error").await["code"], "no-such-pause");
}

#[tokio::test]
async fn debug_state_is_shared_and_only_real_changes_are_told() {
    let room = Room::new().await;
    let mut app = room.app().await;
    let (mut one, mut other) = (room.viewer().await, room.viewer().await);
    app.line.until("breakpoint.set").await;
    one.control("*", "breakpoint.set", json!({"matcher": {"kind": "tool", "name": "x"}})).await;
    let armed = json!([{"point": "error"}, {"kind": "tool", "name": "x"}]);
    until_state(&mut other, "breakpoints", &armed).await;
    assert_eq!(app.line.until("breakpoint.set").await["payload"]["matcher"], json!({"kind": "tool", "name": "x"}));
    one.control("*", "breakpoint.set", json!({"matcher": {"name": "x", "kind": "tool"}})).await;
    until_state(&mut one, "breakpoints", &armed).await;
    app.line.silent("breakpoint.set").await;
    one.control("*", "breakpoint.clear", json!({"matcher": {"kind": "tool"}})).await;
    until_state(&mut one, "breakpoints", &armed).await;
    one.control("*", "breakpoint.clear", json!({"matcher": {"kind": "tool", "name": "x"}})).await;
    app.line.until("breakpoint.clear").await;
    other.control("*", "mode.set", json!({"mode": "step"})).await;
    until_state(&mut one, "mode", &json!("step")).await;
    assert_eq!(app.line.until("mode.set").await["payload"]["mode"], "step");
}

#[tokio::test]
async fn b11_b12_a_condition_that_cannot_be_had_is_refused_and_viewers_hear_how_many_lack_them() {
    let room = Room::new().await;
    let (python, mut viewer) = (room.python().await, room.viewer().await);
    viewer.control("*", "breakpoint.set", json!({"matcher": {"when": {"launch": ["missiles"]}}})).await;
    assert!(viewer.line.until("error").await["message"].as_str().unwrap().contains("condition"));
    let state = viewer.line.until("state").await;
    assert_eq!(state["breakpoints"], json!([{"point": "error"}]), "rolled back");
    viewer.control("*", "breakpoint.set", json!({"matcher": {"after": -1}})).await;
    assert!(viewer.line.until("error").await["message"].as_str().unwrap().contains("after"));
    assert_eq!(state["appsWithoutConditions"], 1);
    // Who comes and goes is told while some breakpoint cannot be sent to everybody.
    viewer.control("*", "breakpoint.set", json!({"matcher": {"name": "x", "after": 1}})).await;
    until_state(&mut viewer, "appsWithoutConditions", &json!(1)).await;
    let other = room.python().await;
    until_state(&mut viewer, "appsWithoutConditions", &json!(2)).await;
    drop((python, other));
    until_state(&mut viewer, "appsWithoutConditions", &json!(0)).await;
}

#[tokio::test]
async fn who_may_not_arm_is_told_and_shown_the_state() {
    let room = Room::new().await;
    let mut stranger = room.stranger().await;
    stranger.control("*", "mode.set", json!({"mode": "step"})).await;
    let error = stranger.line.until("error").await;
    assert_eq!((&error["outcome"], &error["code"]), (&json!("refused"), &json!("forbidden")));
    assert_eq!(stranger.line.until("state").await["mode"], "run");
}

#[tokio::test]
async fn subscriptions_are_bounded() {
    let room = Room::new().await;
    let mut viewer = room.viewer().await;
    for run in 0..1_025 {
        viewer.subscribe(&format!("r{run}")).await;
    }
    assert_eq!(viewer.line.until("error").await["message"], "too many subscriptions");
}

async fn until_state(viewer: &mut Viewer, name: &str, expected: &Value) {
    let told = async { while viewer.line.until("state").await[name] != *expected {} };
    tokio::time::timeout(crate::room::SOON, told).await.unwrap_or_else(|_| panic!("{name} never became {expected}"));
}
