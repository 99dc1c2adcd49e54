//! A viewer: its socket makes the hub watched and arms breakpoints, its token releases what is held.

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::{net::TcpStream, time::timeout};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{Message, client::IntoClientRequest as _},
};

#[derive(Debug)]
pub struct Viewer {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    http: reqwest::Client,
    port: u16,
    token: String,
}

/// A call that stands still.
#[derive(Clone, Debug)]
pub struct Pause {
    pub run: String,
    pub id: String,
    pub point: String,
    pub node: String,
    /// as the hub listed it
    pub item: Value,
}

impl Viewer {
    pub(crate) async fn connect(port: u16, token: String, http: reqwest::Client) -> Self {
        let mut request = format!("ws://127.0.0.1:{port}/ws/ui").into_client_request().expect("an address");
        let offer = format!("graphmind.v1, gm.auth.{token}");
        request.headers_mut().insert("Sec-WebSocket-Protocol", offer.parse().expect("a header"));
        let (socket, _) = connect_async(request).await.expect("the hub takes a viewer");
        let mut viewer = Self { socket, http, port, token };
        viewer.until(|frame| frame["type"] == "welcome").await;
        viewer
    }

    /// Sets a breakpoint and waits until the hub says that it stands.
    pub async fn arm(&mut self, matcher: Value) {
        self.control("breakpoint.set", json!({ "matcher": matcher })).await;
        self.until(|frame| frame["type"] == "state" && has(frame, &matcher)).await;
    }

    pub async fn disarm(&mut self, matcher: Value) {
        self.control("breakpoint.clear", json!({ "matcher": matcher })).await;
        self.until(|frame| frame["type"] == "state" && !has(frame, &matcher)).await;
    }

    /// The oldest call that stands still, waiting for one.
    pub async fn held(&mut self) -> Pause {
        for _ in 0..TRIES {
            let url = format!("http://127.0.0.1:{}/api/pauses?wait=10", self.port);
            let answer = self.http.get(url).bearer_auth(&self.token).send().await.expect("the hub answers");
            let answer: Value = answer.json().await.expect("the hub answers in JSON");
            if let Some(item) = answer["pauses"].as_array().and_then(|pauses| pauses.first()) {
                return Pause::read(item);
            }
        }
        panic!("no call was held")
    }

    /// Releases a held call; the answer must be that it was.
    pub async fn release(&mut self, pause: &Pause, body: Value) {
        let (status, answer) = self.try_release(pause, body).await;
        assert_eq!((status, &answer["outcome"]), (200, &json!("resumed")), "{answer}");
    }

    /// Asks for a release and returns what the hub says to it.
    pub async fn try_release(&mut self, pause: &Pause, body: Value) -> (u16, Value) {
        let url = format!("http://127.0.0.1:{}/api/runs/{}/pauses/{}/resume", self.port, pause.run, pause.id);
        let request = self.http.post(url).bearer_auth(&self.token).json(&body);
        let answer = request.send().await.expect("the hub answers");
        (answer.status().as_u16(), answer.json().await.expect("the hub answers in JSON"))
    }

    async fn control(&mut self, kind: &str, payload: Value) {
        let envelope = json!({ "gm": 1, "seq": 0, "ts": 0, "runId": "*", "type": kind, "payload": payload });
        let frame = json!({ "type": "control", "envelope": envelope }).to_string();
        self.socket.send(Message::text(frame)).await.expect("the hub reads its viewers");
    }

    async fn until(&mut self, mut wanted: impl FnMut(&Value) -> bool) -> Value {
        loop {
            let frame = timeout(PATIENCE, self.socket.next()).await.expect("the hub says it in time");
            let frame = frame.expect("the socket stays open").expect("the socket works");
            let Message::Text(text) = frame else { continue };
            let frame: Value = serde_json::from_str(&text).expect("the hub speaks JSON");
            if wanted(&frame) {
                return frame;
            }
        }
    }
}

impl Pause {
    fn read(item: &Value) -> Self {
        let text = |name: &str| item[name].as_str().unwrap_or_else(|| panic!("no {name} in {item}")).to_owned();
        Self { run: text("runId"), id: text("pauseId"), point: text("point"), node: text("nodeId"), item: item.clone() }
    }
}

fn has(frame: &Value, matcher: &Value) -> bool {
    frame["breakpoints"].as_array().is_some_and(|all| all.contains(matcher))
}

const PATIENCE: Duration = Duration::from_secs(20);
const TRIES: usize = 3;
