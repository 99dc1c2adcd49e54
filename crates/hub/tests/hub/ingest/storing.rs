//! What is stored of a run, once, in order, and what comes back over HTTP.

use crate::room::{BEGIN, Room, frame};
use serde_json::json;

#[tokio::test]
async fn a_run_from_start_to_end() {
    let room = Room::new().await;
    let mut app = room.app().await;
    app.start("r").await;
    app.node("r", "n").await;
    app.emit("r", "node.error", json!({"nodeId": "n", "error": {"name": "E", "message": "m"}})).await;
    app.finish("r", "error").await;
    let run = room.until_run("r", |run| run["status"] == "error" && run["eventCount"] == 4).await;
    let expected = json!({"id": "r", "app": "room", "startedAt": (BEGIN + 1), "finishedAt": (BEGIN + 4), "status": "error",
        "schemaVersion": 1, "source": "live", "eventCount": 4, "errorCount": 1, "live": true, "durationMs": 3, "held": 0});
    assert_eq!(run, expected);
    let page = room.ok("/api/runs/r/events?afterSeq=1&limit=2").await;
    assert_eq!((&page["runId"], &page["total"], &page["nextAfterSeq"]), (&json!("r"), &json!(4), &json!(3)));
    let first = json!({"gm": 1, "seq": 2, "ts": (BEGIN + 2), "runId": "r", "type": "node.started",
        "payload": {"nodeId": "n", "kind": "tool", "name": "n", "instanceId": "i1", "input": {"x": 1}}});
    assert_eq!(page["events"][0], first);
    let rest = room.ok("/api/runs/r/events?afterSeq=3").await;
    assert_eq!((rest["events"].as_array().unwrap().len(), &rest["nextAfterSeq"]), (1, &json!(null)));
}

#[tokio::test]
async fn a_page_is_asked_for_in_integers() {
    let room = Room::new().await;
    let mut app = room.app().await;
    app.start("r").await;
    room.until_run("r", |run| run["eventCount"] == 1).await;
    for query in ["afterSeq=x", "limit=1.5", "limit=", "afterSeq=1e3", "limit=99999999999999999999"] {
        let (status, body) = room.get(&format!("/api/runs/r/events?{query}")).await;
        assert_eq!((status, body["error"].is_string()), (400, true), "{query}");
    }
    for query in ["limit=0", "limit=-5", "limit=999999", "afterSeq=-9"] {
        assert_eq!(
            room.ok(&format!("/api/runs/r/events?{query}")).await["events"].as_array().unwrap().len(),
            1,
            "{query}"
        );
    }
    assert_eq!(room.get("/api/runs/unknown/events").await.0, 404);
}

#[tokio::test]
async fn replayed_and_late_frames_are_stored_once() {
    let room = Room::new().await;
    let mut app = room.app().await;
    let token = json!({"nodeId": "n", "deltas": []});
    for seq in [3, 5, 3, 4, 5, 6, 3, 2] {
        app.line.send(frame(seq, "r", "node.token", &token)).await;
    }
    room.until_run("r", |run| run["eventCount"] == 5).await;
    let expected: Vec<String> = (2..=6).map(|seq| format!("{seq} node.token")).collect();
    assert_eq!(room.stored("r").await, expected);
}

#[tokio::test]
async fn unknown_types_and_unknown_fields_are_kept_as_they_came() {
    let room = Room::new().await;
    let mut app = room.app().await;
    let custom = r#"{"gm":1,"seq":7,"ts":5,"runId":"r","type":"acme.metric","payload":{"nodeId":"n","v":1e400,"big":123456789012345678901234567890,"lone":"\ud800"},"traceparent":"00-ab-cd-01"}"#;
    app.line.send(custom).await;
    app.line.send(r#"{"gm":1,"seq":8,"ts":5,"runId":"r","type":"acme.bare"}"#).await;
    app.line.send(r#"{"gm":1,"seq":9,"ts":5,"runId":"r","type":"constructor","payload":[1]}"#).await;
    app.line.send(r#"{"gm":1,"seq":10,"ts":5,"runId":"r","type":"node.token","payload":{"nodeId":"n","deltas":[],"mood":{"a":[1.50]}}}"#).await;
    room.until_run("r", |run| run["eventCount"] == 4).await;
    let text = reqwest::get(format!("{}/api/runs/r/events", room.hub.url())).await.unwrap().text().await.unwrap();
    for kept in [custom, r#""type":"acme.bare"}"#, r#""type":"constructor","payload":[1]"#, r#""mood":{"a":[1.50]}"#] {
        assert!(text.contains(kept), "{kept} in {text}");
    }
}

#[tokio::test]
async fn b01_what_a_call_carries_is_kept_byte_for_byte() {
    let room = Room::new().await;
    let (mut app, mut viewer) = (room.app().await, room.viewer().await);
    viewer.subscribe("r").await;
    viewer.replay().await;
    let started =
        r#"{ "app":"a","sdk":{"name":"n","version":"1"}, "meta":{"era" : "stateless","transport":"h\u0074tp"} }"#;
    let node = r#"{"contract":"sha256:ab\u0063" , "era":"handshake", "transport" :"memory","nodeId":"n","kind":"tool","name":"n","instanceId":"i","input":1.50}"#;
    for (seq, kind, payload) in [(1, "run.started", started), (2, "node.started", node)] {
        let text = format!(r#"{{"gm":1,"seq":{seq},"ts":5,"runId":"r","type":"{kind}","payload":{payload}}}"#);
        app.line.send(text).await;
    }
    room.until_stored("r", 2).await;
    let url = format!("{}/api/runs/r/events", room.hub.url());
    let read = reqwest::get(url).await.unwrap().text().await.unwrap();
    for payload in [started, node] {
        assert!(read.contains(payload), "{payload} in {read}");
        while !viewer.line.next_text().await.unwrap().contains(payload) {}
    }
}

#[tokio::test]
async fn a_value_of_four_thousand_levels_is_kept() {
    let room = Room::new().await;
    let (mut app, mut viewer) = (room.app().await, room.viewer().await);
    viewer.subscribe("r").await;
    viewer.replay().await;
    let deep = format!("{}{}", "[".repeat(4_096), "]".repeat(4_096));
    let node = format!(r#"{{"nodeId":"n","kind":"tool","name":"n","instanceId":"i","input":{deep}}}"#);
    app.line.send(format!(r#"{{"gm":1,"seq":1,"ts":5,"runId":"r","type":"node.started","payload":{node}}}"#)).await;
    room.until_run("r", |run| run["eventCount"] == 1).await;
    let url = format!("{}/api/runs/r/events", room.hub.url());
    assert!(reqwest::get(url).await.unwrap().text().await.unwrap().contains(&deep));
    while !viewer.line.next_text().await.unwrap().contains(&deep) {}
}

#[tokio::test]
async fn bad_frames_harm_neither_their_neighbours_nor_another_run() {
    let room = Room::new().await;
    let (mut app, mut other) = (room.app().await, room.app().await);
    let bad = [
        "",
        "null",
        "[]",
        "7",
        "{",
        "{}",
        "\u{1}",
        r#""x""#,
        r#"{"gm":1}"#,
        r#"{"gm":1,"seq":-1,"ts":1,"runId":"other","type":"node.token","payload":{"nodeId":"n","deltas":[]}}"#,
        r#"{"gm":1,"seq":1.5,"ts":1,"runId":"other","type":"node.token","payload":{"nodeId":"n","deltas":[]}}"#,
        r#"{"gm":1,"seq":1,"ts":1e300,"runId":"other","type":"node.token","payload":{"nodeId":"n","deltas":[]}}"#,
        r#"{"gm":1,"seq":1,"ts":1,"runId":"other\u0000","type":"node.token","payload":{"nodeId":"n","deltas":[]}}"#,
        r#"{"gm":1,"seq":1,"ts":1,"runId":"\ud800","type":"node.token","payload":{"nodeId":"n","deltas":[]}}"#,
        r#"{"gm":1,"seq":1,"ts":1,"runId":7,"type":"node.token","payload":{"nodeId":"n","deltas":[]}}"#,
        r#"{"gm":1,"seq":1,"ts":1,"runId":"other","type":"node.token","payload":[]}"#,
        r#"{"gm":1,"seq":1,"ts":1,"runId":"other","type":"node.token","payload":{"deltas":"x"}}"#,
        r#"{"gm":1,"seq":1,"ts":1,"runId":"other","type":"exec.paused","payload":{"pauseId":1,"nodeId":"n","point":"later"}}"#,
    ];
    other.start("other").await;
    for good in 0..100 {
        app.line.send(bad[good % bad.len()]).await;
        app.emit("r", "node.token", json!({"nodeId": "n", "deltas": []})).await;
    }
    let deep = format!(
        r#"{{"gm":1,"seq":900,"ts":1,"runId":"r","type":"x","payload":{}1{}}}"#,
        "[".repeat(200_000),
        "]".repeat(200_000)
    );
    app.line.send(deep).await;
    app.finish("r", "ok").await;
    room.until_run("r", |run| run["status"] == "ok" && run["eventCount"] == 101).await;
    assert_eq!(room.stored("other").await, ["1 run.started"]);
}

#[tokio::test]
async fn a_giant_payload_is_kept_as_a_preview_of_itself() {
    let room = Room::new().await;
    let mut viewer = room.viewer().await;
    viewer.subscribe("r").await;
    viewer.replay().await;
    let mut app = room.app().await;
    app.start("r").await;
    let payload = json!({"nodeId": "n", "kind": "tool", "name": "n", "instanceId": "i", "input": {"text": "x".repeat(8_000_000)}});
    app.emit("r", "node.started", payload).await;
    app.finish("r", "ok").await;
    room.until_run("r", |run| run["eventCount"] == 3).await;
    let page = room.ok("/api/runs/r/events").await;
    let kept = &page["events"][1]["payload"];
    assert_eq!((&kept["nodeId"], &kept["__graphmindTruncated"]), (&json!("n"), &json!(true)));
    assert!(kept.to_string().len() < 20_000);
    viewer.line.until("event").await;
    assert_eq!(&viewer.line.until("event").await["envelope"]["payload"], kept, "shown as it is stored");
}

#[tokio::test]
async fn a_payload_of_which_nothing_can_be_kept_is_dropped() {
    let room = Room::new().await;
    let mut app = room.app().await;
    let ids: Vec<String> = (0..40).map(|id| format!("{id:04}{}", "x".repeat(30_000))).collect();
    let nodes: Vec<_> = ids.iter().map(|id| json!({"nodeId": id, "kind": "tool", "name": "n"})).collect();
    app.emit("r", "graph.hint", json!({"nodes": nodes})).await;
    app.start("r").await;
    room.until_run("r", |run| run["eventCount"].as_u64() >= Some(1)).await;
    for event in room.ok("/api/runs/r/events").await["events"].as_array().unwrap() {
        assert!(event["payload"].get("nodes").is_some_and(|nodes| nodes.is_array()) || event["type"] == "run.started");
    }
}

#[tokio::test]
async fn two_runs_of_one_program_stay_apart() {
    let room = Room::new().await;
    let mut app = room.app().await;
    for run in ["a", "b", "a", "b", "a"] {
        app.emit(run, "node.token", json!({"nodeId": "n", "deltas": []})).await;
    }
    room.until_run("a", |run| run["eventCount"] == 3).await;
    assert_eq!(room.stored("a").await, ["1 node.token", "3 node.token", "5 node.token"]);
    assert_eq!(room.stored("b").await, ["2 node.token", "4 node.token"]);
}

#[tokio::test]
async fn who_released_a_call_is_not_the_programs_to_say() {
    let room = Room::new().await;
    let mut app = room.app().await;
    app.pause("r", "p").await;
    let forged = json!({"pauseId": "p", "action": "continue", "principal": "viewer", "operator": "Mallory", "note": 1});
    app.emit("r", "exec.resumed", forged.clone()).await;
    app.emit("r", "exec.other", forged.clone()).await;
    app.emit("r", "acme.other", forged.clone()).await;
    room.until_run("r", |run| run["eventCount"] == 4).await;
    let page = room.ok("/api/runs/r/events").await;
    let stored = |at: usize| page["events"][at]["payload"].clone();
    assert_eq!(stored(1), json!({"pauseId": "p", "action": "continue", "note": 1}));
    assert_eq!(stored(2), json!({"pauseId": "p", "action": "continue", "note": 1}));
    assert_eq!(stored(3), forged);
}

#[tokio::test]
async fn demos_and_imports_are_marked() {
    let room = Room::new().await;
    for source in ["demo", "import", "else"] {
        let mut hello = crate::room::hello();
        hello["source"] = json!(source);
        let mut app = crate::room::App::attach(room.address(), hello).await;
        app.start(&format!("of-{source}")).await;
        let expected = if source == "else" { "live" } else { source };
        room.until_run(&format!("of-{source}"), |run| run["source"] == expected).await;
    }
}

#[tokio::test]
async fn everything_survives_a_restart() {
    let room = Room::new().await;
    let mut app = room.app().await;
    app.start("r").await;
    app.token_frames("r", 2_000).await;
    app.finish("r", "ok").await;
    room.until_run("r", |run| run["eventCount"] == 2_002).await;
    let before = room.stored("r").await;
    let room = room.restart().await;
    assert_eq!(room.stored("r").await, before);
    room.until_run("r", |run| run["status"] == "ok" && run["live"] == false).await;
}
