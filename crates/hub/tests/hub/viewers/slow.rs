//! Viewers that do not keep up: they cost their queue, and get the whole picture in the end.

use std::time::Duration;

use crate::room::{Room, SOON};
use serde_json::json;

#[tokio::test]
async fn a_viewer_that_never_reads_slows_nobody_and_catches_up() {
    let room = Room::new().await;
    let mut app = room.app().await;
    let mut stalled = room.narrow_viewer().await;
    stalled.subscribe("r").await;
    stalled.replay().await;
    let mut quick = room.viewer().await;
    quick.subscribe("r").await;
    quick.replay().await;
    let text = "x".repeat(1_000);
    let payload = json!({"nodeId": "n", "deltas": [{"t": "text", "v": text}]});
    let count = 14_000_u64;
    let sending = tokio::spawn(async move {
        for _ in 0..14 {
            let frames: Vec<String> = (0..1_000).map(|_| app.frame("r", "node.token", &payload)).collect();
            app.line.send_all(frames).await;
        }
        app
    });
    let all: usize = usize::try_from(count).unwrap();
    let seqs = tokio::time::timeout(4 * SOON, quick.seqs(all)).await.unwrap();
    assert!(seqs.into_iter().eq(1..=count), "the quick one has everything, in order");
    let _app = sending.await.unwrap();
    // 14 MB are far more than its queue and the sockets hold. Now it reads.
    let (mut next, mut behind) = (1, 0);
    while next <= count {
        let frame = stalled.line.next().await.unwrap();
        match frame["type"].as_str() {
            Some("event") => {
                assert_eq!(frame["envelope"]["seq"], next, "no gap, nothing twice");
                next += 1;
            }
            Some("behind") => behind = frame["missed"].as_u64().unwrap(),
            _ => {}
        }
    }
    assert!(behind > 1_000, "it was told how much found no room: {behind}");
    stalled.line.until("stored").await;
}

#[tokio::test]
async fn who_never_reads_at_all_is_let_go_in_the_end() {
    let room = Room::with(|config| config.ping = Duration::from_millis(150)).await;
    let mut app = room.app().await;
    let mut stalled = room.narrow_viewer().await;
    stalled.subscribe("r").await;
    stalled.replay().await;
    let watched = app.line.until("watch.set").await;
    assert_eq!(watched["payload"]["watched"], true);
    // Its own silence is what ends it: five seconds after, nobody watches.
    loop {
        if app.line.until("watch.set").await["payload"]["watched"] == false {
            break;
        }
    }
    drop(stalled);
}

#[tokio::test]
async fn a_long_replay_does_not_hold_up_the_rest() {
    let room = Room::new().await;
    let mut app = room.app().await;
    app.token_frames("long", 20_000).await;
    room.until_run("long", |run| run["eventCount"] == 20_000).await;
    let mut viewer = room.viewer().await;
    viewer.subscribe("short").await;
    viewer.replay().await;
    viewer.subscribe("long").await;
    viewer.line.until("replay.start").await;
    app.start("short").await;
    let mut before_end = false;
    loop {
        let frame = viewer.line.next().await.unwrap();
        match frame["type"].as_str() {
            Some("event") if frame["runId"] == "short" => before_end = true,
            Some("replay.end") => break,
            _ => {}
        }
    }
    if !before_end {
        // The replay may have been over before the event was stored; it must come all the same.
        while viewer.line.until("event").await["runId"] != "short" {}
    }
}

#[tokio::test]
async fn a_list_that_found_no_room_comes_again() {
    let room = Room::new().await;
    let mut viewer = room.narrow_viewer().await;
    viewer.subscribe("*").await;
    viewer.line.until("runs").await;
    let mut app = room.app().await;
    // Each pause is one update of 4 kB; together they are more than its queue and the sockets hold.
    let run = "r".repeat(4_000);
    let mut frames = Vec::new();
    for pause in 0..2_500 {
        let pause = format!("p{pause}");
        frames.push(app.frame(&run, "exec.paused", &json!({"pauseId": pause, "nodeId": "n", "point": "before"})));
        frames.push(app.frame(&run, "exec.resumed", &json!({"pauseId": pause, "action": "continue"})));
    }
    app.line.send_all(frames).await;
    app.finish(&run, "ok").await;
    room.until_run(&run, |run| run["status"] == "ok").await;
    let fresh = async { while viewer.line.until("runs").await["runs"][0]["status"] != "ok" {} };
    tokio::time::timeout(SOON, fresh).await.unwrap();
}
