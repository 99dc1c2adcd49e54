//! Waiting for a pause.

use std::time::Duration;

use crate::room::{MOMENT, Room, SOON};
use lockgate_hub::HubConfig;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

fn poll(room: &Room, query: &str) -> JoinHandle<(u16, Value)> {
    let url = format!("{}/api/pauses?{query}", room.hub.url());
    tokio::spawn(async move {
        let response = reqwest::get(url).await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap())
    })
}

async fn parked(poll: &JoinHandle<(u16, Value)>) {
    tokio::time::sleep(MOMENT).await;
    assert!(!poll.is_finished());
}

#[tokio::test]
async fn what_is_open_is_told_at_once() {
    let room = Room::new().await;
    assert_eq!(room.ok("/api/pauses").await, json!({"pauses": []}));
    assert_eq!(room.ok("/api/pauses?runId=r").await, json!({"pauses": [], "run": null}));
    let mut app = room.app().await;
    app.pause("r", "p1").await;
    app.emit(
        "r",
        "exec.paused",
        json!({"pauseId": "p2", "nodeId": "n", "point": "before", "reason": "loop",
        "loop": {"repeats": 3, "firstSeq": 1, "lastSeq": 2, "fingerprint": "__REDACTED__"}}),
    )
    .await;
    room.until_run("r", |run| run["held"] == 2).await;
    let all = poll(&room, "wait=30").await.unwrap().1;
    let ids: Vec<&Value> = all["pauses"].as_array().unwrap().iter().map(|pause| &pause["pauseId"]).collect();
    assert_eq!(ids, ["p1", "p2"], "oldest first");
    assert_eq!(all["pauses"][1]["loop"]["repeats"], 3);
    let of_run = room.ok("/api/pauses?runId=r").await;
    assert_eq!(of_run["run"], json!({"id": "r", "status": "running", "live": true}));
    assert_eq!(room.ok("/api/pauses?runId=other").await["pauses"], json!([]));
}

#[tokio::test]
async fn a_poll_wakes_when_a_call_is_held() {
    let room = Room::new().await;
    let mut app = room.app().await;
    app.start("r").await;
    room.until_run("r", |run| run["eventCount"] == 1).await;
    let (any, of_run, of_other) =
        (poll(&room, "wait=30"), poll(&room, "wait=30&runId=r"), poll(&room, "wait=30&runId=s"));
    parked(&any).await;
    app.pause("r", "p").await;
    assert_eq!(any.await.unwrap().1["pauses"][0]["pauseId"], "p");
    assert_eq!(of_run.await.unwrap().1["pauses"][0]["pauseId"], "p");
    parked(&of_other).await;
    app.pause("s", "q").await;
    assert_eq!(of_other.await.unwrap().1["pauses"][0]["pauseId"], "q");
}

#[tokio::test]
async fn a_poll_on_a_run_wakes_when_it_ends() {
    let room = Room::with(|config: &mut HubConfig| config.abandon_grace = Duration::from_millis(50)).await;
    let mut app = room.app().await;
    app.start("r").await;
    app.start("s").await;
    room.until_run("s", |run| run["eventCount"] == 1).await;
    let (finished, abandoned) = (poll(&room, "wait=30&runId=r"), poll(&room, "wait=30&runId=s"));
    parked(&finished).await;
    app.finish("r", "error").await;
    assert_eq!(finished.await.unwrap().1["run"]["status"], "error");
    drop(app);
    assert_eq!(abandoned.await.unwrap().1["run"], json!({"id": "s", "status": "abandoned", "live": false}));
    assert_eq!(poll(&room, "wait=30&runId=r").await.unwrap().1["run"]["status"], "error", "already over");
}

#[tokio::test]
async fn a_poll_ends_in_time() {
    let room = Room::new().await;
    assert_eq!(poll(&room, "wait=0.2").await.unwrap(), (200, json!({"pauses": [], "timedOut": true})));
    for wait in ["x", "-1", "NaN", ""] {
        assert_eq!(poll(&room, &format!("wait={wait}")).await.unwrap().0, 400, "{wait}");
    }
}

#[tokio::test]
async fn only_so_many_may_wait() {
    let room = Room::new().await;
    let mut app = room.app().await;
    app.start("r").await;
    room.until_run("r", |run| run["eventCount"] == 1).await;
    let tokenless: Vec<_> = (0..8).map(|_| poll(&room, "wait=60")).collect();
    tokio::time::sleep(MOMENT).await;
    assert_eq!(poll(&room, "wait=60").await.unwrap().0, 429, "eight without a token");
    assert_eq!(poll(&room, "").await.unwrap().0, 200, "asking without waiting needs no place");
    let client = reqwest::Client::new();
    let with_token = || {
        let url = format!("{}/api/pauses?wait=60", room.hub.url());
        let request = client.get(url).bearer_auth(room.hub.agent_token());
        tokio::spawn(async move { request.send().await.unwrap().status().as_u16() })
    };
    let known: Vec<_> = (0..8).map(|_| with_token()).collect();
    tokio::time::sleep(MOMENT).await;
    assert_eq!(with_token().await.unwrap(), 429, "sixteen in all");
    let (status, _) = room.resume("r", "p", json!({"action": "continue"})).await;
    assert_eq!(status, 429, "and a resume is not even sent");
    app.line.silent("exec.resume").await;
    // Who hangs up makes room.
    tokenless.iter().for_each(JoinHandle::abort);
    let freed = async {
        while poll(&room, "wait=0.05").await.unwrap().0 == 429 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(SOON, freed).await.unwrap();
    known.iter().for_each(JoinHandle::abort);
}

#[tokio::test]
async fn a_refused_release_wakes_those_who_wait() {
    let room = Room::new().await;
    let mut app = room.app().await;
    app.pause("r", "p").await;
    room.until_run("r", |run| run["held"] == 1).await;
    let asked = tokio::spawn(room.resume("r", "p", json!({"action": "retry"})));
    let resume = app.line.until("exec.resume").await["payload"].take();
    let waiting = poll(&room, "wait=30");
    parked(&waiting).await;
    app.emit("r", "exec.refused", json!({"pauseId": "p", "code": "unsupported", "requestId": resume["requestId"]}))
        .await;
    assert_eq!(waiting.await.unwrap().1["pauses"][0]["state"], "open");
    assert_eq!(asked.await.unwrap().1["code"], "unsupported");
}
