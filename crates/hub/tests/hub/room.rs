//! A real hub on a port of its own, and clients that speak to it over real sockets.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use lockgate_hub::{Hub, HubConfig, HubHandle};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, client_async, connect_async};

/// Longer than anything takes that is going to happen.
pub(crate) const SOON: Duration = Duration::from_secs(30);
/// Clocks of programs begin here; no retention reaches that far.
pub(crate) const BEGIN: u64 = 4_000_000_000_000;
/// Long enough for what must not happen to have happened.
pub(crate) const MOMENT: Duration = Duration::from_millis(150);

pub(crate) struct Room {
    pub(crate) folder: TempDir,
    pub(crate) hub: HubHandle,
    running: JoinHandle<()>,
    change: fn(&mut HubConfig),
}

impl Room {
    pub(crate) async fn new() -> Room {
        Room::with(|_| {}).await
    }

    pub(crate) async fn with(change: fn(&mut HubConfig)) -> Room {
        let folder = TempDir::new().unwrap();
        let (hub, running) = start(&folder, change).await;
        Room { folder, hub, running, change }
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.folder.path().join("runs.db")
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.hub.address()
    }

    /// Stops the hub and starts another on the same files.
    pub(crate) async fn restart(self) -> Room {
        let Room { folder, hub, running, change } = self;
        hub.stop();
        timeout(SOON, running).await.unwrap().unwrap();
        let (hub, running) = start(&folder, change).await;
        Room { folder, hub, running, change }
    }

    pub(crate) async fn stop(self) -> TempDir {
        self.hub.stop();
        timeout(SOON, self.running).await.unwrap().unwrap();
        self.folder
    }

    /// A program with everything ours can do.
    pub(crate) async fn app(&self) -> App {
        App::attach(self.address(), hello()).await
    }

    /// A program that announces what the published Python SDK does.
    pub(crate) async fn python(&self) -> App {
        App::attach(self.address(), python_hello()).await
    }

    pub(crate) async fn viewer(&self) -> Viewer {
        let token = format!("gm.auth.{}", self.hub.viewer_token());
        Viewer::open(self.address(), &["graphmind.v1", &token]).await.unwrap()
    }

    /// A viewer whose socket takes in little before it is read.
    pub(crate) async fn narrow_viewer(&self) -> Viewer {
        let token = format!("gm.auth.{}", self.hub.viewer_token());
        let mut line = Line::narrow(self.address(), "/ws/ui", &["graphmind.v1", &token]).await;
        let welcome = line.until("welcome").await;
        Viewer { line, welcome }
    }

    pub(crate) async fn stranger(&self) -> Viewer {
        Viewer::open(self.address(), &[]).await.unwrap()
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        let response = reqwest::get(format!("{}{path}", self.hub.url())).await.unwrap();
        (response.status().as_u16(), response.json().await.unwrap_or(Value::Null))
    }

    pub(crate) async fn ok(&self, path: &str) -> Value {
        let (status, body) = self.get(path).await;
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    #[expect(clippy::needless_pass_by_value, reason = "every caller writes the body in place")]
    pub(crate) fn resume(
        &self,
        run: &str,
        pause: &str,
        body: Value,
    ) -> impl Future<Output = (u16, Value)> + Send + use<> {
        let url = format!("{}/api/runs/{run}/pauses/{pause}/resume", self.hub.url());
        let request = reqwest::Client::new().post(url).bearer_auth(self.hub.viewer_token()).json(&body);
        async move {
            let response = request.send().await.unwrap();
            (response.status().as_u16(), response.json().await.unwrap())
        }
    }

    /// All stored events of a run as `seq type`.
    pub(crate) async fn stored(&self, run: &str) -> Vec<String> {
        let (status, page) = self.get(&format!("/api/runs/{run}/events?limit=5000")).await;
        if status == 404 {
            return Vec::new();
        }
        let events = page["events"].as_array().unwrap();
        events.iter().map(|event| format!("{} {}", event["seq"], event["type"].as_str().unwrap())).collect()
    }

    /// Waits until a run shows what is expected.
    pub(crate) async fn until_run(&self, run: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let look = async {
            loop {
                let runs = self.ok("/api/runs").await;
                let found = runs["runs"].as_array().unwrap().iter().find(|found| found["id"] == run && wanted(found));
                if let Some(found) = found {
                    return found.clone();
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        match timeout(SOON, look).await {
            Ok(found) => found,
            Err(_) => panic!("run {run} never came to that: {}", self.ok("/api/runs").await),
        }
    }

    /// Waits until so many events of a run are stored; cheaper than [`Room::until_run`] among thousands of runs.
    pub(crate) async fn until_stored(&self, run: &str, count: u64) {
        let look = async {
            while self.get(&format!("/api/runs/{run}/events?limit=1")).await.1["total"] != count {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(SOON, look).await.unwrap_or_else(|_| panic!("{run} never had {count} events"));
    }

    pub(crate) async fn until_open(&self, run: &str, pause: &str) {
        let look = async {
            while self.get(&format!("/api/runs/{run}/pauses/{pause}")).await.1["state"] != "open" {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(SOON, look).await.unwrap_or_else(|_| panic!("{pause} was never open"));
    }

    /// One request by hand; the whole answer as text.
    pub(crate) async fn raw(&self, request: &str) -> String {
        raw(self.address(), request).await
    }
}

pub(crate) async fn raw(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.replace('\n', "\r\n").as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // Upgraded connections stay open: their head is all there is to see.
    let read = async {
        let mut chunk = [0; 4096];
        while let Ok(bytes) = stream.read(&mut chunk).await {
            answer.extend_from_slice(&chunk[..bytes]);
            if bytes == 0 || answer.starts_with(b"HTTP/1.1 101") {
                break;
            }
        }
    };
    timeout(SOON, read).await.unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

async fn start(folder: &TempDir, change: fn(&mut HubConfig)) -> (HubHandle, JoinHandle<()>) {
    let mut config = HubConfig::new(folder.path().join("runs.db"));
    config.listen = "127.0.0.1:0".parse().unwrap();
    config.home = Some(folder.path().join("home"));
    change(&mut config);
    let (hub, running) = Hub::start(config).await.unwrap();
    (hub, tokio::spawn(running))
}

pub(crate) fn hello() -> Value {
    let capabilities =
        ["pause", "step", "inject", "retry", "abort", "run-claim", "edit-input", "request-id", "watch", "conditions"];
    json!({"versions": {"protocol": 1, "client": "0.1.0"}, "capabilities": capabilities, "app": "room",
        "sdk": {"name": "rust", "version": "0.1.0"}})
}

pub(crate) fn python_hello() -> Value {
    json!({"versions": {"protocol": 1, "client": "0.5.1"},
        "capabilities": ["pause", "step", "inject", "retry", "abort", "run-claim"], "app": "probe-app",
        "sdk": {"name": "python", "version": "0.5.1"}})
}

type Ws = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Either end of the debug wire, as a client.
pub(crate) struct Line {
    ws: Ws,
}

impl Line {
    pub(crate) async fn open(address: SocketAddr, path: &str, subprotocols: &[&str]) -> Result<Line, Error> {
        let mut request = format!("ws://{address}{path}").into_client_request()?;
        if !subprotocols.is_empty() {
            request.headers_mut().insert("sec-websocket-protocol", subprotocols.join(", ").parse().unwrap());
        }
        Ok(Line { ws: connect_async(request).await?.0 })
    }

    /// A connection that takes in little before it is read, so that not reading shows soon.
    pub(crate) async fn narrow(address: SocketAddr, path: &str, subprotocols: &[&str]) -> Line {
        let mut request = format!("ws://{address}{path}").into_client_request().unwrap();
        if !subprotocols.is_empty() {
            request.headers_mut().insert("sec-websocket-protocol", subprotocols.join(", ").parse().unwrap());
        }
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4_096).unwrap();
        let stream = MaybeTlsStream::Plain(socket.connect(address).await.unwrap());
        Line { ws: client_async(request, stream).await.unwrap().0 }
    }

    pub(crate) async fn send(&mut self, text: impl Into<Utf8Bytes>) {
        self.ws.send(Message::Text(text.into())).await.unwrap();
    }

    pub(crate) async fn try_send(&mut self, message: Message) -> Result<(), Error> {
        self.ws.send(message).await
    }

    /// Puts many frames on the wire at once.
    pub(crate) async fn send_all(&mut self, texts: impl IntoIterator<Item = String>) {
        for text in texts {
            self.ws.feed(Message::Text(text.into())).await.unwrap();
        }
        self.ws.flush().await.unwrap();
    }

    /// The next frame, or how the socket ended.
    pub(crate) async fn next(&mut self) -> Result<Value, Option<CloseFrame>> {
        self.next_text().await.map(|text| serde_json::from_str(&text).unwrap())
    }

    /// The same as it came.
    pub(crate) async fn next_text(&mut self) -> Result<Utf8Bytes, Option<CloseFrame>> {
        loop {
            let next = timeout(SOON, self.ws.next()).await.expect("nothing came");
            match next {
                Some(Ok(Message::Text(text))) => return Ok(text),
                Some(Ok(Message::Close(frame))) => return Err(frame),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Err(None),
            }
        }
    }

    /// The next frame of a type; others are passed over.
    pub(crate) async fn until(&mut self, kind: &str) -> Value {
        loop {
            let frame = self.next().await.unwrap_or_else(|end| panic!("ended before {kind}: {end:?}"));
            if frame["type"] == kind {
                return frame;
            }
        }
    }

    /// That nothing of a type comes for a moment.
    pub(crate) async fn silent(&mut self, kind: &str) {
        let heard = timeout(MOMENT, self.until(kind)).await;
        assert!(heard.is_err(), "unexpected: {heard:?}");
    }

    pub(crate) async fn ended(&mut self) -> Option<u16> {
        loop {
            match self.next().await {
                Ok(_) => {}
                Err(end) => return end.map(|frame| frame.code.into()),
            }
        }
    }
}

/// A program under debug.
pub(crate) struct App {
    pub(crate) line: Line,
    pub(crate) ack: Value,
    pub(crate) seq: u64,
}

impl App {
    pub(crate) async fn attach(address: SocketAddr, hello: Value) -> App {
        App::greet(Line::open(address, "/ingest", &[]).await.unwrap(), hello).await
    }

    pub(crate) async fn greet(line: Line, hello: Value) -> App {
        let mut app = App { line, ack: Value::Null, seq: 0 };
        app.emit("*", "hello", hello).await;
        app.ack = app.line.until("hello.ack").await["payload"].take();
        app
    }

    pub(crate) fn token(&self) -> String {
        self.ack["sessionToken"].as_str().unwrap().to_owned()
    }

    pub(crate) fn frame(&mut self, run: &str, kind: &str, payload: &Value) -> String {
        let seq = self.seq;
        self.seq += 1;
        frame(seq, run, kind, payload)
    }

    pub(crate) async fn emit(&mut self, run: &str, kind: &str, payload: Value) {
        let frame = self.frame(run, kind, &payload);
        self.line.send(frame).await;
    }

    pub(crate) async fn start(&mut self, run: &str) {
        let payload = json!({"app": "room", "sdk": {"name": "rust", "version": "0.1.0"}});
        self.emit(run, "run.started", payload).await;
    }

    pub(crate) async fn finish(&mut self, run: &str, status: &str) {
        self.emit(run, "run.finished", json!({"status": status})).await;
    }

    pub(crate) async fn node(&mut self, run: &str, node: &str) {
        let payload = json!({"nodeId": node, "kind": "tool", "name": node, "instanceId": "i1", "input": {"x": 1}});
        self.emit(run, "node.started", payload).await;
    }

    pub(crate) async fn pause(&mut self, run: &str, pause: &str) {
        self.emit(run, "exec.paused", json!({"pauseId": pause, "nodeId": "n", "point": "before", "editable": true}))
            .await;
    }

    pub(crate) async fn token_frames(&mut self, run: &str, count: u64) {
        let payload = json!({"nodeId": "n", "deltas": [{"t": "text", "v": "x"}]});
        let frames: Vec<String> = (0..count).map(|_| self.frame(run, "node.token", &payload)).collect();
        self.line.send_all(frames).await;
    }

    /// Answers a resume as a program of ours does.
    pub(crate) async fn obey(&mut self, run: &str) -> Value {
        let resume = self.line.until("exec.resume").await["payload"].take();
        let answer =
            json!({"pauseId": resume["pauseId"], "action": resume["action"], "requestId": resume["requestId"]});
        self.emit(run, "exec.resumed", answer).await;
        resume
    }
}

pub(crate) fn frame(seq: u64, run: &str, kind: &str, payload: &Value) -> String {
    json!({"gm": 1, "seq": seq, "ts": BEGIN + seq, "runId": run, "type": kind, "payload": payload}).to_string()
}

/// A viewer.
pub(crate) struct Viewer {
    pub(crate) line: Line,
    pub(crate) welcome: Value,
}

impl Viewer {
    pub(crate) async fn open(address: SocketAddr, subprotocols: &[&str]) -> Result<Viewer, Error> {
        let mut line = Line::open(address, "/ws/ui", subprotocols).await?;
        let welcome = line.until("welcome").await;
        Ok(Viewer { line, welcome })
    }

    pub(crate) async fn say(&mut self, frame: Value) {
        self.line.send(frame.to_string()).await;
    }

    pub(crate) async fn subscribe(&mut self, run: &str) {
        self.say(json!({"type": "subscribe", "runId": run})).await;
    }

    pub(crate) async fn control(&mut self, run: &str, kind: &str, payload: Value) {
        let envelope = json!({"gm": 1, "seq": 0, "ts": 0, "runId": run, "type": kind, "payload": payload});
        self.say(json!({"type": "control", "envelope": envelope})).await;
    }

    pub(crate) async fn resume(&mut self, run: &str, pause: &str, action: &str, request: &str) {
        self.control(run, "exec.resume", json!({"pauseId": pause, "action": action, "requestId": request})).await;
    }

    /// The replay of a run: its count, and its events as `ord seq`.
    pub(crate) async fn replay(&mut self) -> (u64, Vec<String>) {
        let count = self.line.until("replay.start").await["count"].as_u64().unwrap();
        let mut events = Vec::new();
        loop {
            let frame = self.line.next().await.unwrap();
            match frame["type"].as_str() {
                Some("event") => events.push(format!("{} {}", frame["ord"], frame["envelope"]["seq"])),
                Some("replay.end") => return (count, events),
                _ => {}
            }
        }
    }

    /// The next events, as their `seq`.
    pub(crate) async fn seqs(&mut self, count: usize) -> Vec<u64> {
        let mut seqs = Vec::with_capacity(count);
        while seqs.len() < count {
            seqs.push(self.line.until("event").await["envelope"]["seq"].as_u64().unwrap());
        }
        seqs
    }
}
