//! A connection to a hub's ingest socket: says hello, sends events, hears what viewers want (wire §1.7).

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use lockgate_protocol::debug::{Control, Envelope, Hello, HelloAck, PROTOCOL, Parsed, RunId, SdkInfo, parse};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

use crate::clock;
use crate::code::Code;
use crate::fault::Fault;

/// An accepted connection.
pub(crate) struct Ingest {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    pub(crate) ack: HelloAck,
    port: u16,
}

/// Who is talking.
pub(crate) struct Introduction<'a> {
    pub(crate) app: &'a str,
    pub(crate) sdk: &'a str,
    pub(crate) source: &'a str,
    pub(crate) capabilities: &'a [&'a str],
}

impl Ingest {
    pub(crate) async fn dial(port: u16, who: &Introduction<'_>) -> Result<Ingest, Fault> {
        let unanswered = || {
            let fault = Fault::new(Code::NoHub, format!("the hub on port {port} did not answer in time"));
            fault.hint("stop it and start it again: `graphmind`")
        };
        timeout(PATIENCE, Ingest::shake_hands(port, who)).await.unwrap_or_else(|_| Err(unanswered()))
    }

    async fn shake_hands(port: u16, who: &Introduction<'_>) -> Result<Ingest, Fault> {
        let config = WebSocketConfig::default().max_message_size(Some(LARGEST)).max_frame_size(Some(LARGEST));
        let url = format!("ws://127.0.0.1:{port}/ingest");
        let (mut socket, _) =
            connect_async_with_config(url, Some(config), true).await.map_err(|err| lost(port, &err.to_string()))?;
        let hello = Envelope {
            seq: 0,
            ts: clock::now_ms(),
            run: RunId::none(),
            kind: "hello".into(),
            payload: Some(hello(who).payload()),
            extra: Vec::new(),
        };
        socket.send(Message::text(hello.to_text())).await.map_err(|err| lost(port, &err.to_string()))?;
        loop {
            let envelope = received(&mut socket).await.ok_or_else(|| lost(port, "closed during the handshake"))?;
            let Some(ack) = HelloAck::read(&envelope) else { continue };
            if u64::try_from(ack.protocol) != Ok(PROTOCOL) {
                let message = format!("the hub on port {port} speaks protocol {}, not {PROTOCOL}", ack.protocol);
                return Err(Fault::new(Code::OldHub, message).hint("stop it and start this one: `graphmind`"));
            }
            return Ok(Ingest { socket, ack, port });
        }
    }

    pub(crate) async fn send(&mut self, envelope: &Envelope) -> Result<(), Fault> {
        let sent = self.socket.send(Message::text(envelope.to_text())).await;
        sent.map_err(|err| lost(self.port, &err.to_string()))
    }

    /// The next wish of a viewer; frames that are none are passed over. Nothing once the hub is gone.
    pub(crate) async fn control(&mut self) -> Option<Control> {
        loop {
            let envelope = received(&mut self.socket).await?;
            if let Ok(control) = Control::read(&envelope) {
                return Some(control);
            }
        }
    }

    /// Says goodbye and waits until the hub has, so that all that was sent has been read.
    pub(crate) async fn close(mut self) {
        let _ = self.socket.close(None).await;
        let drain = async { while let Some(Ok(_)) = self.socket.next().await {} };
        let _ = timeout(PATIENCE, drain).await;
    }

    /// What to say when the hub went away in the middle.
    pub(crate) fn gone(&self) -> Fault {
        lost(self.port, "it hung up")
    }
}

fn hello(who: &Introduction<'_>) -> Hello {
    Hello {
        protocol: i64::try_from(PROTOCOL).unwrap_or(1),
        client: env!("CARGO_PKG_VERSION").to_owned(),
        capabilities: who.capabilities.iter().map(ToString::to_string).collect(),
        app: Some(who.app.to_owned()),
        sdk: Some(SdkInfo { name: who.sdk.to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }),
        resume_token: None,
        source: Some(who.source.to_owned()),
    }
}

async fn received(socket: &mut WebSocketStream<MaybeTlsStream<TcpStream>>) -> Option<Envelope> {
    loop {
        let text = match socket.next().await? {
            Ok(Message::Text(text)) => text.as_str().to_owned(),
            Ok(Message::Close(_)) | Err(_) => return None,
            Ok(Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_)) => continue,
        };
        if let Parsed::Ok(envelope) = parse(text.into()) {
            return Some(envelope);
        }
    }
}

fn lost(port: u16, why: &str) -> Fault {
    let fault = Fault::new(Code::NoHub, format!("lost the hub on port {port}: {why}"));
    fault.hint("look at what it printed, or start it again: `graphmind`")
}

/// The hub closes a connection that sends more (hub §4).
const LARGEST: usize = 16 << 20;
const PATIENCE: Duration = Duration::from_secs(3);
