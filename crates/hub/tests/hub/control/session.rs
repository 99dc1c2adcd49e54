//! Who a token is.

use crate::room::{Line, Room, Viewer};
use lockgate_hub::level::{Level, Reads};
use serde_json::{Value, json};

async fn session(room: &Room, authorization: Option<&str>) -> (u16, Option<String>, Value) {
    let mut request = reqwest::Client::new().get(format!("{}/api/session", room.hub.url()));
    if let Some(authorization) = authorization {
        request = request.header("authorization", authorization);
    }
    let response = request.send().await.unwrap();
    let challenge = response.headers().get("www-authenticate").map(|value| value.to_str().unwrap().to_owned());
    (response.status().as_u16(), challenge, response.json().await.unwrap())
}

#[tokio::test]
async fn principals() {
    let room = Room::with(|config| config.agents = Level::Edit).await;
    let (viewer, agent) = (room.hub.viewer_token(), room.hub.agent_token());
    let capabilities = json!(["pause-registry", "edit-input", "guard-holds", "watch", "conditions"]);
    for (authorization, principal) in
        [(None, "anonymous"), (Some(format!("Bearer {viewer}")), "viewer"), (Some(format!("bearer {agent}")), "agent")]
    {
        let (status, _, body) = session(&room, authorization.as_deref()).await;
        let expected = json!({"principal": principal, "agentLevel": "edit", "editInput": true,
            "hubCapabilities": capabilities, "version": "0.6.0"});
        assert_eq!((status, body), (200, expected));
    }
    for wrong in ["Bearer gmv_0", "Bearer", "Basic eA==", &format!("Bearer {viewer}x")] {
        let (status, challenge, _) = session(&room, Some(wrong)).await;
        assert_eq!((status, challenge.as_deref()), (401, Some("Bearer")), "{wrong}");
    }
}

#[tokio::test]
async fn tokens_do_not_outlive_the_hub() {
    let room = Room::new().await;
    let old = format!("Bearer {}", room.hub.viewer_token());
    let room = room.restart().await;
    assert_eq!(session(&room, Some(&old)).await.0, 401);
}

#[tokio::test]
async fn neither_urls_nor_cookies_are_read() {
    let room = Room::new().await;
    let token = room.hub.viewer_token();
    assert_eq!(room.ok(&format!("/api/session?token={token}")).await["principal"], "anonymous");
    let request = format!("GET /api/session HTTP/1.1\nHost: localhost\nCookie: token={token}\nConnection: close\n\n");
    assert!(room.raw(&request).await.contains(r#""principal":"anonymous""#));
}

#[tokio::test]
async fn a_wrong_token_opens_no_viewer_socket() {
    let room = Room::new().await;
    for entry in ["gm.auth.gmv_0123456789abcdef0123456789abcdef", "gm.auth.", "gm.auth.x"] {
        let refused = Viewer::open(room.address(), &["graphmind.v1", entry]).await.err().unwrap();
        assert!(refused.to_string().contains("401"), "{refused}");
    }
    let token = room.hub.viewer_token();
    let request = format!(
        "GET /ws/ui HTTP/1.1\nHost: localhost\nUpgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Version: 13\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\nSec-WebSocket-Protocol: graphmind.v1, gm.auth.{token}\n\n"
    );
    let answer = room.raw(&request).await;
    assert!(answer.contains("101 Switching Protocols") && answer.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "{answer}");
    assert!(answer.to_lowercase().contains("sec-websocket-protocol: graphmind.v1\r\n"), "{answer}");
    assert!(!answer.contains(token), "the token is never echoed");
}

#[tokio::test]
async fn reading_may_need_a_token_too() {
    let room = Room::with(|config| config.reads = Reads::TokenOnly).await;
    for path in ["/api/runs", "/api/session", "/api/pauses", "/api/runs/r/events", "/api/runs/r/pauses/p"] {
        assert_eq!(room.get(path).await.0, 401, "{path}");
    }
    assert_eq!(room.ok("/health").await["ok"], true);
    assert!(Viewer::open(room.address(), &[]).await.err().unwrap().to_string().contains("401"));
    let mut viewer = room.viewer().await;
    viewer.subscribe("*").await;
    viewer.line.until("runs").await;
    Line::open(room.address(), "/ingest", &[]).await.unwrap();
    let response =
        reqwest::Client::new().get(format!("{}/api/runs", room.hub.url())).bearer_auth(room.hub.agent_token());
    assert_eq!(response.send().await.unwrap().status(), 200);
}
