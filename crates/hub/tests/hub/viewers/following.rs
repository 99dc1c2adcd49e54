//! Replay, then tail: no gap, nothing twice.

use crate::room::{BEGIN, Room, Viewer};
use serde_json::{Value, json};

#[tokio::test]
async fn a_run_is_replayed_and_then_followed() {
    let room = Room::new().await;
    let mut app = room.app().await;
    app.start("r").await;
    app.node("r", "n").await;
    room.until_run("r", |run| run["eventCount"] == 2).await;
    let mut viewer = room.viewer().await;
    viewer.subscribe("r").await;
    assert_eq!(viewer.replay().await, (2, vec!["1 1".to_owned(), "2 2".to_owned()]));
    assert_eq!(viewer.line.until("stored").await, json!({"type": "stored", "runId": "r", "ord": 2}));
    app.finish("r", "ok").await;
    let event = viewer.line.until("event").await;
    let envelope =
        json!({"gm": 1, "seq": 3, "ts": BEGIN + 3, "runId": "r", "type": "run.finished", "payload": {"status": "ok"}});
    assert_eq!(event, json!({"type": "event", "runId": "r", "ord": 3, "envelope": envelope}));
    assert_eq!(viewer.line.until("stored").await["ord"], 3);
}

#[tokio::test]
async fn no_gap_and_nothing_twice_while_events_pour_in() {
    let room = Room::new().await;
    let mut app = room.app().await;
    app.token_frames("r", 3_000).await;
    room.until_run("r", |run| run["eventCount"] == 3_000).await;
    let pouring = tokio::spawn(async move {
        app.token_frames("r", 5_000).await;
        app
    });
    let mut viewers = Vec::new();
    for _ in 0..3 {
        let mut viewer = room.viewer().await;
        viewer.subscribe("r").await;
        viewers.push(tokio::spawn(async move { (viewer.seqs(8_000).await, viewer) }));
    }
    for viewer in viewers {
        let (seqs, _viewer) = viewer.await.unwrap();
        assert!(seqs.iter().copied().eq(1..=8_000), "from {:?} to {:?}", seqs.first(), seqs.last());
    }
    let _app = pouring.await.unwrap();
}

#[tokio::test]
async fn a_viewer_that_comes_back_goes_on_where_it_was() {
    let room = Room::new().await;
    let mut app = room.app().await;
    app.token_frames("r", 10).await;
    room.until_run("r", |run| run["eventCount"] == 10).await;
    let mut viewer = room.viewer().await;
    viewer.say(json!({"type": "subscribe", "runId": "r", "after": 7})).await;
    let (count, events) = viewer.replay().await;
    assert_eq!((count, events), (3, vec!["8 8".to_owned(), "9 9".to_owned(), "10 10".to_owned()]));
    let mut ahead = room.viewer().await;
    ahead.say(json!({"type": "subscribe", "runId": "r", "after": 99})).await;
    assert_eq!(ahead.replay().await.0, 0);
}

#[tokio::test]
async fn late_frames_are_shown_in_the_order_they_came() {
    let room = Room::new().await;
    let mut app = room.app().await;
    for seq in [5, 9, 7] {
        app.seq = seq;
        app.node("r", "n").await;
    }
    room.until_run("r", |run| run["eventCount"] == 3).await;
    let mut viewer = room.viewer().await;
    viewer.subscribe("r").await;
    assert_eq!(viewer.replay().await.1, ["1 5", "2 9", "3 7"]);
}

#[tokio::test]
async fn a_run_that_is_yet_to_come_may_be_followed() {
    let room = Room::new().await;
    let mut viewer = room.viewer().await;
    viewer.subscribe("later").await;
    assert_eq!(viewer.replay().await, (0, vec![]));
    assert_eq!(room.ok("/api/runs").await["runs"], json!([]), "following makes no run");
    let mut app = room.app().await;
    app.start("later").await;
    assert_eq!(viewer.seqs(1).await, [1]);
}

#[tokio::test]
async fn twenty_subscriptions_are_one_replay() {
    let room = Room::new().await;
    let mut app = room.app().await;
    app.token_frames("r", 2_000).await;
    room.until_run("r", |run| run["eventCount"] == 2_000).await;
    let mut viewer = room.viewer().await;
    for _ in 0..20 {
        viewer.subscribe("r").await;
    }
    let (mut events, mut empty, mut full) = (0, 0, 0);
    for _ in 0..20 {
        let (count, seen) = viewer.replay().await;
        events += seen.len();
        if count == 0 {
            empty += 1;
        } else {
            full += 1;
        }
    }
    assert_eq!((events, empty, full), (2_000, 19, 1));
}

#[tokio::test]
async fn what_is_no_longer_followed_is_no_longer_shown() {
    let room = Room::new().await;
    let mut app = room.app().await;
    let mut viewer = room.viewer().await;
    viewer.subscribe("r").await;
    viewer.replay().await;
    app.start("r").await;
    viewer.line.until("event").await;
    viewer.say(json!({"type": "unsubscribe", "runId": "r"})).await;
    viewer.subscribe("mark").await;
    viewer.replay().await;
    app.node("r", "n").await;
    viewer.line.silent("event").await;
    viewer.subscribe("r").await;
    assert_eq!(viewer.replay().await.0, 2);
    app.node("r", "n").await;
    assert_eq!(viewer.seqs(1).await, [3]);
}

#[tokio::test]
async fn the_list_of_runs_and_its_changes() {
    let room = Room::new().await;
    let mut app = room.app().await;
    app.start("a").await;
    app.start("b").await;
    room.until_run("b", |run| run["eventCount"] == 1).await;
    let mut viewer = room.viewer().await;
    viewer.subscribe("*").await;
    let runs = viewer.line.until("runs").await;
    let ids: Vec<&Value> = runs["runs"].as_array().unwrap().iter().map(|run| &run["id"]).collect();
    assert_eq!(ids, ["b", "a"], "newest first");
    app.finish("a", "error").await;
    let told = async |viewer: &mut Viewer, wanted: fn(&Value) -> bool| {
        loop {
            let update = viewer.line.until("run.update").await;
            if wanted(&update["run"]) {
                return update["run"].clone();
            }
        }
    };
    let run = told(&mut viewer, |run| run["id"] == "a" && run["status"] == "error" && run["eventCount"] == 2).await;
    assert_eq!(run["durationMs"], 2);
    app.pause("b", "p").await;
    told(&mut viewer, |run| run["id"] == "b" && run["held"] == 1).await;
    drop(app);
    told(&mut viewer, |run| run["id"] == "b" && run["live"] == false && run["held"] == 0).await;
    viewer.say(json!({"type": "unsubscribe", "runId": "*"})).await;
    let mut app = room.app().await;
    viewer.subscribe("mark").await;
    viewer.replay().await;
    app.start("c").await;
    viewer.line.silent("run.update").await;
}

#[tokio::test]
async fn every_viewer_sees_the_same() {
    let room = Room::new().await;
    let mut app = room.app().await;
    let mut viewers = [room.viewer().await, room.viewer().await, room.stranger().await];
    for viewer in &mut viewers {
        viewer.subscribe("r").await;
        viewer.replay().await;
    }
    app.token_frames("r", 300).await;
    for viewer in &mut viewers {
        assert!(viewer.seqs(300).await.into_iter().eq(1..=300));
    }
}
