//! Runs whose program is gone.

use crate::room::{App, BEGIN, Room, hello};
use lockgate_hub::HubConfig;
use lockgate_hub::retention::Retention;
use serde_json::json;
use std::time::Duration;

fn quick(config: &mut HubConfig) {
    config.abandon_grace = Duration::from_millis(50);
}

#[tokio::test]
async fn abandoned_after_the_grace_and_back_again() {
    let room = Room::with(quick).await;
    let mut viewer = room.viewer().await;
    viewer.subscribe("*").await;
    let mut app = room.app().await;
    app.start("r").await;
    app.start("done").await;
    app.finish("done", "ok").await;
    room.until_run("done", |run| run["status"] == "ok").await;
    let (token, seq) = (app.token(), app.seq);
    drop(app);
    let abandoned = room.until_run("r", |run| run["status"] == "abandoned").await;
    assert_eq!(abandoned["finishedAt"], (BEGIN + 1), "its last event says when");
    assert_eq!(room.until_run("done", |_| true).await["status"], "ok");
    let pushed = async {
        loop {
            let update = viewer.line.until("run.update").await;
            if update["run"]["id"] == "r" && update["run"]["status"] == "abandoned" {
                return;
            }
        }
    };
    tokio::time::timeout(crate::room::SOON, pushed).await.unwrap();

    let mut back = hello();
    back["resumeToken"] = json!(token);
    let mut app = App::attach(room.address(), back).await;
    app.seq = seq;
    app.node("r", "n").await;
    let alive = room.until_run("r", |run| run["status"] == "running").await;
    assert_eq!((&alive["finishedAt"], &alive["live"]), (&json!(null), &json!(true)));
    drop(app);
    room.until_run("r", |run| run["status"] == "abandoned").await;
}

#[tokio::test]
async fn who_was_told_finds_it_in_the_list() {
    let room = Room::with(quick).await;
    for round in 0..5 {
        let run = format!("r{round}");
        let mut app = room.app().await;
        app.start(&run).await;
        room.until_stored(&run, 1).await;
        drop(app);
        let told = room.ok(&format!("/api/pauses?runId={run}&wait=30")).await;
        let runs = room.ok("/api/runs").await;
        let listed = runs["runs"].as_array().unwrap().iter().find(|listed| listed["id"] == *run).unwrap();
        assert_eq!((&told["run"]["status"], &listed["status"]), (&json!("abandoned"), &json!("abandoned")));
    }
}

#[tokio::test]
async fn within_the_grace_nothing_is_said() {
    let room = Room::with(|config| config.abandon_grace = Duration::from_secs(60)).await;
    let mut app = room.app().await;
    app.start("r").await;
    room.until_run("r", |run| run["live"] == true).await;
    drop(app);
    let run = room.until_run("r", |run| run["live"] == false).await;
    assert_eq!(run["status"], "running");
    // A hub that stops decides nothing either.
    let room = room.restart().await;
    room.hub.retention_done().await;
    room.until_run("r", |run| run["status"] == "abandoned" && run["finishedAt"] == (BEGIN + 1)).await;
}

#[tokio::test]
async fn no_grace_at_all() {
    let room = Room::with(|config| config.abandon_grace = Duration::ZERO).await;
    let mut app = room.app().await;
    app.start("r").await;
    room.until_run("r", |run| run["live"] == true).await;
    drop(app);
    room.until_run("r", |run| run["status"] == "abandoned").await;
}

#[tokio::test]
async fn a_program_that_dies_held_leaves_no_pause_behind() {
    let room = Room::with(quick).await;
    let mut app = room.app().await;
    app.start("r").await;
    app.pause("r", "p").await;
    room.until_run("r", |run| run["held"] == 1).await;
    drop(app);
    room.until_run("r", |run| run["held"] == 0 && run["status"] == "abandoned").await;
    assert_eq!(room.ok("/api/pauses").await["pauses"], json!([]));
    let (status, body) = room.resume("r", "p", json!({"action": "continue"})).await;
    assert_eq!((status, &body["code"]), (404, &json!("no-such-pause")));
}

#[tokio::test]
async fn reconciled_runs_can_be_pruned_and_wake_polls() {
    let room =
        Room::with(|config| config.retention = Retention::Keep { runs: 1, age: Duration::from_secs(1 << 40) }).await;
    let mut app = room.app().await;
    for run in ["a", "b", "c"] {
        app.start(run).await;
    }
    room.until_run("c", |run| run["eventCount"] == 1).await;
    let room = room.restart().await;
    let poll = room.ok("/api/pauses?runId=c&wait=10").await;
    assert_eq!(poll["run"], json!({"id": "c", "status": "abandoned", "live": false}));
    room.hub.retention_done().await;
    let left = room.ok("/api/runs").await;
    assert_eq!(left["runs"].as_array().unwrap().len(), 1, "{left}");
    assert_eq!(left["runs"][0]["id"], "c");
}

#[tokio::test]
async fn streaming_runs_are_spared() {
    let room =
        Room::with(|config| config.retention = Retention::Keep { runs: 0, age: Duration::from_secs(1 << 40) }).await;
    let mut app = room.app().await;
    app.start("r").await;
    room.until_run("r", |run| run["eventCount"] == 1).await;
    room.hub.retention_done().await;
    app.finish("r", "ok").await;
    room.until_run("r", |run| run["status"] == "ok" && run["eventCount"] == 2).await;
}
