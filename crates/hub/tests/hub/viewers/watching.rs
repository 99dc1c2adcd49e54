//! Whether anybody watches, and what that arms.

use crate::room::{App, Room, python_hello};
use lockgate_hub::ErrorStop;
use serde_json::json;

#[tokio::test]
async fn b06_b07_programs_hear_who_comes_and_goes_and_the_default_comes_and_goes_with_them() {
    let room = Room::new().await;
    let (mut app, mut python) = (room.app().await, room.python().await);
    assert_eq!(app.ack["watched"], false);
    let viewer = room.viewer().await;
    assert_eq!(app.line.until("watch.set").await["payload"]["watched"], true);
    assert_eq!(app.line.until("breakpoint.set").await["payload"]["matcher"], json!({"point": "error"}));
    assert_eq!(python.line.next().await.unwrap()["type"], "breakpoint.set", "an old program profits too");
    let late = App::attach(room.address(), python_hello()).await;
    assert_eq!((&late.ack["watched"], &late.ack["breakpoints"]), (&json!(true), &json!([{"point": "error"}])));
    drop(viewer);
    assert_eq!(app.line.until("watch.set").await["payload"]["watched"], false);
    assert_eq!(app.line.until("breakpoint.clear").await["payload"]["matcher"], json!({"point": "error"}));
    assert_eq!(python.line.next().await.unwrap()["type"], "breakpoint.clear");
}

#[tokio::test]
async fn who_comes_back_at_once_was_never_gone() {
    let room = Room::new().await;
    let mut app = room.app().await;
    let viewer = room.viewer().await;
    assert_eq!(app.line.until("watch.set").await["payload"]["watched"], true);
    drop(viewer);
    let _viewer = room.viewer().await;
    app.line.silent("watch.set").await;
}

#[tokio::test]
async fn a_parked_poll_watches() {
    let room = Room::new().await;
    let mut app = room.app().await;
    let url = format!("{}/api/pauses?wait=60", room.hub.url());
    let poll = tokio::spawn(reqwest::get(url));
    assert_eq!(app.line.until("watch.set").await["payload"]["watched"], true);
    poll.abort();
    app.line.silent("watch.set").await;
}

#[tokio::test]
async fn b07_the_default_stands_where_it_was_asked_for() {
    let armed = async |config: fn(&mut lockgate_hub::HubConfig)| {
        let room = Room::with(config).await;
        room.app().await.ack["breakpoints"].clone()
    };
    assert_eq!(armed(|config| config.error_stop = ErrorStop::Always).await, json!([{"point": "error"}]));
    assert_eq!(armed(|config| config.error_stop = ErrorStop::Never).await, json!([]));
    let prompt = armed(|config| config.error_stop = ErrorStop::parse("prompt").unwrap()).await;
    assert_eq!(prompt, json!([{"kind": "prompt", "point": "error"}]));
}
