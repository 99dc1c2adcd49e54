//! Who is credited with a release, whatever the program says.

use crate::room::{App, Room};
use serde_json::{Value, json};

async fn last(room: &Room, run: &str) -> Value {
    let page = room.ok(&format!("/api/runs/{run}/events?limit=5000")).await;
    page["events"].as_array().unwrap().last().unwrap()["payload"].clone()
}

async fn held(app: &mut App, room: &Room) {
    app.pause("r", "p").await;
    room.until_run("r", |run| run["held"] == 1).await;
}

#[tokio::test]
async fn an_automatic_release_is_nobodys() {
    let room = Room::new().await;
    let mut app = room.app().await;
    held(&mut app, &room).await;
    let asked = tokio::spawn(room.resume("r", "p", json!({"action": "continue"})));
    app.line.until("exec.resume").await;
    app.emit("r", "exec.resumed", json!({"pauseId": "p", "action": "continue"})).await;
    let (status, body) = asked.await.unwrap();
    assert_eq!((status, &body["code"], body.get("principal")), (409, &json!("superseded"), None));
    assert_eq!(last(&room, "r").await, json!({"pauseId": "p", "action": "continue"}));
}

#[tokio::test]
async fn an_old_program_is_credited_by_its_action() {
    let room = Room::new().await;
    let mut app = room.python().await;
    held(&mut app, &room).await;
    let asked = tokio::spawn(room.resume("r", "p", json!({"action": "abort"})));
    app.line.until("exec.resume").await;
    app.emit("r", "exec.resumed", json!({"pauseId": "p", "action": "continue"})).await;
    assert_eq!(asked.await.unwrap().1["code"], "superseded", "it did something else");
    held_again(&mut app, &room).await;
    let asked = tokio::spawn(room.resume("r", "p", json!({"action": "abort", "operator": "Ada"})));
    app.line.until("exec.resume").await;
    app.emit("r", "exec.resumed", json!({"pauseId": "p", "action": "abort"})).await;
    assert_eq!(asked.await.unwrap().1["principal"], "viewer");
    assert_eq!(
        last(&room, "r").await,
        json!({"pauseId": "p", "action": "abort", "principal": "viewer", "operator": "Ada"})
    );
}

async fn held_again(app: &mut App, room: &Room) {
    room.until_run("r", |run| run["held"] == 0).await;
    held(app, room).await;
}

#[tokio::test]
async fn a_replayed_answer_is_history() {
    let room = Room::new().await;
    let mut app = room.app().await;
    held(&mut app, &room).await;
    app.emit("r", "exec.resumed", json!({"pauseId": "p", "action": "continue"})).await;
    room.until_run("r", |run| run["held"] == 0).await;
    app.seq = 1;
    app.pause("r", "p").await;
    app.emit("r", "exec.resumed", json!({"pauseId": "p", "action": "continue"})).await;
    app.seq = 10;
    app.node("r", "n").await;
    let run = room.until_run("r", |run| run["eventCount"] == 3).await;
    assert_eq!(run["held"], 0);
}
