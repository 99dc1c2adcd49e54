//! What each principal may do, over the wire: 4 levels × 4 actions, plain and edited.

use crate::room::Room;
use lockgate_hub::HubConfig;
use lockgate_hub::level::{Edits, Level};
use serde_json::{Value, json};

const ACTIONS: [&str; 4] = ["continue", "retry", "inject", "abort"];

/// How far an agent gets with each action: `y` sent, `n` forbidden, `e` edit refused.
async fn agent(change: fn(&mut HubConfig), edit: bool, hold: Option<Value>) -> String {
    let room = Room::with(change).await;
    let mut app = room.app().await;
    let client = reqwest::Client::new();
    let mut row = String::new();
    for (number, action) in ACTIONS.iter().enumerate() {
        let pause = format!("p{number}");
        let mut paused = json!({"pauseId": pause, "nodeId": "n", "point": "before", "editable": true});
        if let Some(hold) = &hold {
            paused["hold"] = hold.clone();
        }
        app.emit("r", "exec.paused", paused).await;
        room.until_open("r", &pause).await;
        let mut body = json!({"action": action, "output": 1});
        if edit {
            body["input"] = json!({});
        }
        let url = format!("{}/api/runs/r/pauses/{pause}/resume", room.hub.url());
        let request = client.post(url).bearer_auth(room.hub.agent_token()).json(&body);
        let mut asked = tokio::spawn(async move { request.send().await.unwrap().json::<Value>().await.unwrap() });
        let body = tokio::select! {
            body = &mut asked => body.unwrap(),
            _ = app.obey("r") => asked.await.unwrap(),
        };
        row.push(match (body["outcome"].as_str(), body["code"].as_str()) {
            (Some("resumed"), None) => 'y',
            (Some("refused"), Some("forbidden")) => 'n',
            (Some("refused"), Some("edit-refused")) => 'e',
            other => panic!("{action}: {other:?}"),
        });
    }
    row
}

#[tokio::test]
async fn agents_reach_as_far_as_their_level() {
    assert_eq!(agent(|config| config.agents = Level::Off, false, None).await, "nnnn");
    assert_eq!(agent(|config| config.agents = Level::Resume, false, None).await, "yyny");
    assert_eq!(agent(|config| config.agents = Level::Inject, false, None).await, "yyyy");
    assert_eq!(agent(|config| config.agents = Level::Inject, true, None).await, "eeee");
    assert_eq!(agent(|config| config.agents = Level::Edit, true, None).await, "yyyy");
}

#[tokio::test]
async fn nobody_edits_where_edits_are_off() {
    let off = |config: &mut HubConfig| (config.agents, config.edits) = (Level::Edit, Edits::Refused);
    assert_eq!(agent(off, true, None).await, "eeee");
    assert_eq!(agent(off, false, None).await, "yyyy");
}

#[tokio::test]
async fn guarded_calls_are_for_people() {
    let hold = json!({"policy": "drift", "cause": "schema"});
    assert_eq!(agent(|config| config.agents = Level::Edit, false, Some(hold)).await, "nnny");
}

#[tokio::test]
async fn strangers_may_let_go_and_nothing_more() {
    let room = Room::new().await;
    let mut app = room.app().await;
    let mut stranger = room.stranger().await;
    app.pause("r", "p").await;
    app.emit("r", "exec.paused", json!({"pauseId": "g", "nodeId": "n", "point": "before", "hold": {"policy": "lock"}}))
        .await;
    room.until_run("r", |run| run["held"] == 2).await;
    for (pause, action, code) in
        [("p", "inject", "forbidden"), ("g", "continue", "forbidden"), ("g", "abort", "forbidden")]
    {
        stranger.resume("r", pause, action, "x").await;
        assert_eq!(stranger.line.until("error").await["code"], code, "{pause} {action}");
    }
    let edit = json!({"pauseId": "p", "action": "continue", "input": {}});
    stranger.control("r", "exec.resume", edit).await;
    assert_eq!(stranger.line.until("error").await["code"], "edit-refused");
    app.line.silent("exec.resume").await;
    stranger.resume("r", "p", "abort", "x").await;
    app.obey("r").await;
    assert_eq!(stranger.line.until("resume.result").await["principal"], "anonymous");
    let mut viewer = room.viewer().await;
    let pin = json!({"pauseId": "g", "action": "continue", "pin": "sha256:1", "requestId": "x"});
    viewer.control("r", "exec.resume", pin.clone()).await;
    assert_eq!(app.obey("r").await, pin, "a viewer may approve, and pin");
}
