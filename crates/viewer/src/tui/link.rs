//! The socket to the hub: dials, reads, writes, and dials again. Knows frames, not what they mean.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::{HeaderValue, StatusCode, header};
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

use crate::feed::Frame;

/// Gives the token to present, read anew for every attempt: a hub that starts again mints a new one.
pub type Token = Arc<dyn Fn() -> Option<String> + Send + Sync>;

/// What the link tells.
#[derive(Debug)]
pub(crate) enum FromHub {
    /// Connected, for the so-many-th time.
    Opened(u64),
    Frame(Frame),
    /// The connection ended or could not be made; the next attempt follows by itself.
    Closed(String),
}

/// A text for the hub, meant for the connection of that number and no later one.
pub(crate) type ToHub = (u64, String);

/// The two ends of a link.
pub(crate) struct Handle {
    /// Full: the caller waits; a hub that does not read is not worth asking more.
    pub(crate) to: mpsc::Sender<ToHub>,
    /// Full: the link stops reading, and the hub pages instead of sending.
    pub(crate) from: mpsc::Receiver<FromHub>,
}

/// A link to the hub's viewer socket at `url`. The future ends when the handle is dropped.
pub(crate) fn link(url: String, token: Token) -> (Handle, impl Future<Output = ()>) {
    let (to, wanted) = mpsc::channel(64);
    let (tell, from) = mpsc::channel(1_024);
    (Handle { to, from }, Link { url, token, refused: None, wanted, tell, opened: 0 }.keep())
}

struct Link {
    url: String,
    token: Token,
    /// What this hub does not know: without it one may still look.
    refused: Option<String>,
    wanted: mpsc::Receiver<ToHub>,
    tell: mpsc::Sender<FromHub>,
    opened: u64,
}

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

impl Link {
    async fn keep(mut self) {
        let mut wait = FIRST_WAIT;
        loop {
            let why = match timeout(DIAL, self.dial()).await {
                Ok(Ok(socket)) => {
                    wait = FIRST_WAIT;
                    self.opened += 1;
                    if self.tell.send(FromHub::Opened(self.opened)).await.is_err() {
                        return;
                    }
                    let Some(why) = self.talk(socket).await else { return };
                    why
                }
                Ok(Err(trouble)) => trouble,
                Err(_) => "no answer".to_owned(),
            };
            if self.tell.send(FromHub::Closed(why)).await.is_err() {
                return;
            }
            tokio::select! {
                () = sleep(wait) => {}
                () = self.tell.closed() => return,
            }
            wait = (wait * 2).min(LAST_WAIT);
        }
    }

    async fn dial(&mut self) -> Result<Socket, String> {
        let mut request = self.url.as_str().into_client_request().map_err(|error| reason(&error))?;
        let headers = request.headers_mut();
        headers.insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static("graphmind.v1"));
        let token = (self.token)().filter(|token| self.refused.as_ref() != Some(token));
        if let Some(token) = &token {
            let mut bearer = HeaderValue::try_from(format!("Bearer {token}"))
                .map_err(|_| "the token has characters no header can hold".to_owned())?;
            bearer.set_sensitive(true);
            headers.insert(header::AUTHORIZATION, bearer);
        }
        let limits = WebSocketConfig::default().max_message_size(Some(LARGEST)).max_frame_size(Some(LARGEST));
        let connected = connect_async_with_config(request, Some(limits), true).await;
        match connected {
            Ok((socket, _)) => Ok(socket),
            Err(error) => {
                let unknown = matches!(&error, Error::Http(response) if response.status() == StatusCode::UNAUTHORIZED);
                self.refused = token.filter(|_| unknown).or(self.refused.take());
                Err(reason(&error))
            }
        }
    }

    /// Until the connection ends, and why it did; nothing when nobody listens any more.
    async fn talk(&mut self, socket: Socket) -> Option<String> {
        let (mut write, mut read) = socket.split();
        loop {
            tokio::select! {
                wanted = self.wanted.recv() => {
                    let (connection, text) = wanted?;
                    // What was wanted of an earlier connection was meant for another picture.
                    if connection == self.opened && write.send(Message::text(text)).await.is_err() {
                        return Some("connection broken".to_owned());
                    }
                }
                came = timeout(SILENCE, read.next()) => {
                    let frame = match came {
                        Err(_) => return Some("nothing heard for a while".to_owned()),
                        Ok(None) => return Some("connection closed".to_owned()),
                        Ok(Some(Err(error))) => return Some(reason(&error)),
                        Ok(Some(Ok(Message::Text(text)))) => Frame::read(Bytes::from(text)),
                        Ok(Some(Ok(_))) => None,
                    };
                    if let Some(frame) = frame {
                        self.tell.send(FromHub::Frame(frame)).await.ok()?;
                    }
                }
            }
        }
    }
}

/// Why a connection could not be made, in a few words.
fn reason(error: &Error) -> String {
    match error {
        Error::Http(response) if response.status() == StatusCode::UNAUTHORIZED => "the token is refused".to_owned(),
        Error::Http(response) => format!("refused with {}", response.status().as_u16()),
        Error::Io(error) => error.kind().to_string(),
        Error::ConnectionClosed | Error::AlreadyClosed => "connection closed".to_owned(),
        Error::Protocol(_) => "connection reset".to_owned(),
        other => other.to_string(),
    }
}

const FIRST_WAIT: Duration = Duration::from_millis(200);
const LAST_WAIT: Duration = Duration::from_secs(5);
const DIAL: Duration = Duration::from_secs(5);

/// A hub pings every 30 seconds, so this long a silence is a dead connection.
const SILENCE: Duration = Duration::from_secs(75);

/// The hub takes in frames of 16 MiB; around one stands an envelope.
const LARGEST: usize = 24 << 20;
