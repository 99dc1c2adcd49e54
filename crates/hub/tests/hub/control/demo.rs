//! The demo: started from outside, one at a time, ended with the hub.

use std::sync::Arc;

use crate::room::Room;
use lockgate_hub::{DemoRun, HubConfig};
use serde_json::{Value, json};

fn with_demo(config: &mut HubConfig) {
    config.demo = Some(Arc::new(|port| {
        Box::pin(
            async move { Ok(DemoRun { run: format!("demo-of-{port}"), playing: Box::pin(std::future::pending()) }) },
        )
    }));
}

async fn start(room: &Room, token: &str) -> (u16, Value) {
    let url = format!("{}/api/demo/start", room.hub.url());
    let response = reqwest::Client::new().post(url).bearer_auth(token).send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

#[tokio::test]
async fn one_at_a_time() {
    let room = Room::with(with_demo).await;
    let run = format!("demo-of-{}", room.address().port());
    let token = room.hub.viewer_token().to_owned();
    assert_eq!(start(&room, &token).await, (200, json!({"ok": true, "runId": run})));
    assert_eq!(start(&room, &token).await, (200, json!({"ok": true, "runId": run, "alreadyRunning": true})));
    assert_eq!(start(&room, "gmv_0").await.0, 401);
    assert_eq!(start(&room, room.hub.agent_token()).await.0, 403, "agents need a level");
    room.stop().await;
}

#[tokio::test]
async fn a_demo_that_cannot_start_says_why() {
    let room = Room::new().await;
    let token = room.hub.viewer_token().to_owned();
    assert_eq!(start(&room, &token).await, (500, json!({"ok": false, "error": "this hub has no demo"})));
    let broken = |config: &mut HubConfig| {
        config.demo = Some(Arc::new(|_| Box::pin(async { Err("no recording".to_owned()) })));
    };
    let room = Room::with(broken).await;
    let token = room.hub.viewer_token().to_owned();
    assert_eq!(start(&room, &token).await, (500, json!({"ok": false, "error": "no recording"})));
    assert_eq!(start(&room, &token).await.0, 500, "and may be tried again");
}
