//! Who may write to a run, with real connections.

use crate::room::{App, Room, hello, python_hello};
use lockgate_hub::HubConfig;
use serde_json::{Value, json};
use std::time::Duration;

fn quick(config: &mut HubConfig) {
    config.abandon_grace = Duration::from_millis(100);
}

/// A program that comes back with its token.
async fn back(room: &Room, token: &str) -> App {
    let mut hello = hello();
    hello["resumeToken"] = json!(token);
    App::attach(room.address(), hello).await
}

#[tokio::test]
async fn another_program_can_neither_add_nor_end_nor_squat() {
    let room = Room::new().await;
    let (mut owner, mut thief) = (room.app().await, room.app().await);
    owner.start("r").await;
    owner.pause("r", "p").await;
    room.until_run("r", |run| run["held"] == 1).await;
    thief.seq = 50;
    thief.node("r", "forged").await;
    thief.emit("r", "exec.resumed", json!({"pauseId": "p", "action": "continue"})).await;
    thief.finish("r", "ok").await;
    thief.start("mine").await;
    room.until_run("mine", |run| run["eventCount"] == 1).await;
    owner.seq = 50;
    owner.node("r", "real").await;
    let run = room.until_run("r", |run| run["eventCount"] == 3).await;
    assert_eq!((&run["status"], &run["held"]), (&json!("running"), &json!(1)));
    assert_eq!(room.stored("r").await, ["1 run.started", "2 exec.paused", "50 node.started"], "its seq was not taken");
    let resumed = tokio::spawn(room.resume("r", "p", json!({"action": "inject", "output": "secret"})));
    assert_eq!(owner.obey("r").await["output"], "secret");
    assert_eq!(resumed.await.unwrap().0, 200);
    thief.line.silent("exec.resume").await;
}

#[tokio::test]
async fn the_same_session_goes_on_where_it_was() {
    let room = Room::with(quick).await;
    let mut app = room.app().await;
    app.start("r").await;
    room.until_run("r", |run| run["live"] == true).await;
    let (token, seq) = (app.token(), app.seq);
    drop(app);
    room.until_run("r", |run| run["live"] == false).await;
    let mut app = back(&room, &token).await;
    assert_eq!(app.token(), token);
    app.seq = seq;
    app.finish("r", "ok").await;
    room.until_run("r", |run| run["status"] == "ok" && run["live"] == true).await;
}

#[tokio::test]
async fn an_ended_run_stays_ended_after_a_restart_and_others_do_not() {
    let room = Room::with(quick).await;
    let mut app = room.app().await;
    for (run, end) in [("ok", Some("ok")), ("error", Some("error")), ("aborted", Some("aborted")), ("open", None)] {
        app.start(run).await;
        if let Some(end) = end {
            app.finish(run, end).await;
        }
    }
    room.until_run("aborted", |run| run["status"] == "aborted").await;
    room.until_run("open", |run| run["eventCount"] == 1).await;
    let room = room.restart().await;
    room.until_run("open", |run| run["status"] == "abandoned").await;
    let mut app = room.app().await;
    app.seq = 100;
    for run in ["ok", "error", "aborted", "open"] {
        app.node(run, "late").await;
    }
    room.until_run("open", |run| run["status"] == "running" && run["eventCount"] == 2).await;
    for run in ["ok", "error", "aborted"] {
        assert_eq!(room.stored(run).await.len(), 2, "{run}");
    }
}

#[tokio::test]
async fn an_old_sdk_is_succeeded_only_when_gone() {
    let room = Room::new().await;
    let mut old = python_hello();
    old["capabilities"] = json!(["pause", "step", "inject", "retry", "abort"]);
    let mut first = App::attach(room.address(), old.clone()).await;
    first.start("r").await;
    room.until_run("r", |run| run["eventCount"] == 1).await;
    let mut second = App::attach(room.address(), old).await;
    second.seq = 10;
    second.node("r", "too early").await;
    second.start("mark").await;
    room.until_run("mark", |run| run["eventCount"] == 1).await;
    assert_eq!(room.stored("r").await.len(), 1);
    drop(first);
    room.until_run("r", |run| run["live"] == false).await;
    second.node("r", "now").await;
    room.until_run("r", |run| run["eventCount"] == 2 && run["live"] == true).await;
}

#[tokio::test]
async fn five_thousand_run_ids_push_out_no_running_run() {
    let room = Room::with(|config| config.abandon_grace = Duration::from_secs(60)).await;
    let mut honest = room.app().await;
    honest.start("honest").await;
    let mut away = room.app().await;
    away.start("away").await;
    room.until_run("away", |run| run["eventCount"] == 1).await;
    let token = away.token();
    drop(away);
    let mut flood = room.app().await;
    let payload = json!({"nodeId": "n", "deltas": []});
    let frames: Vec<String> =
        (0..5_001).map(|run| flood.frame(&format!("flood{run}"), "node.token", &payload)).collect();
    flood.line.send_all(frames).await;
    room.until_stored("flood4997", 1).await;
    assert!(
        room.stored("flood4998").await.is_empty() && room.stored("flood5000").await.is_empty(),
        "there was no room"
    );
    honest.finish("honest", "ok").await;
    room.until_stored("honest", 2).await;
    let mut away = back(&room, &token).await;
    away.seq = 9;
    away.finish("away", "ok").await;
    room.until_stored("away", 2).await;
    // Now two have ended, so two more find room.
    flood.node("flood5000", "n").await;
    room.until_stored("flood5000", 1).await;
}

#[tokio::test]
async fn a_sealed_run_is_nobodys() {
    let room = Room::with(quick).await;
    let mut app = room.app().await;
    app.start("given-up").await;
    room.until_run("given-up", |run| run["eventCount"] == 1).await;
    let token = app.token();
    drop(app);
    room.until_run("given-up", |run| run["status"] == "abandoned").await;
    let mut flood = room.app().await;
    let payload = json!({"nodeId": "n", "deltas": []});
    let frames: Vec<String> =
        (0..5_000).map(|run| flood.frame(&format!("flood{run}"), "node.token", &payload)).collect();
    flood.line.send_all(frames).await;
    room.until_stored("flood4999", 1).await;
    for mut late in [back(&room, &token).await, room.app().await] {
        late.seq = 9;
        late.finish("given-up", "ok").await;
    }
    flood.emit("flood1", "node.token", payload).await;
    room.until_stored("flood1", 2).await;
    assert_eq!(room.stored("given-up").await.len(), 1);
    let run: Value = room.until_run("given-up", |_| true).await;
    assert_eq!(run["status"], "abandoned");
}

#[tokio::test]
async fn a_program_of_many_runs_is_not_remembered_by_all_of_them() {
    let room = Room::new().await;
    let mut old = python_hello();
    old["capabilities"] = json!(["pause"]);
    let mut app = App::attach(room.address(), old).await;
    let payload = json!({"nodeId": "n", "deltas": []});
    let frames: Vec<String> = (0..5_100).map(|run| app.frame(&format!("r{run}"), "node.token", &payload)).collect();
    app.line.send_all(frames).await;
    room.until_stored("r5099", 1).await;
    // Its own oldest runs made room for its newest; they count as given up until it writes to them again.
    let status = async |run: &str| room.until_run(run, |_| true).await["status"].clone();
    assert_eq!(
        (status("r0").await, status("r99").await, status("r100").await),
        (json!("abandoned"), json!("abandoned"), json!("running"))
    );
    app.emit("r0", "node.token", payload).await;
    room.until_run("r0", |run| run["status"] == "running" && run["live"] == true).await;
}
