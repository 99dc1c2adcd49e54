//! The sending end: greets the hub, then writes frames into one socket. Reads only to keep the socket alive.

use futures_util::{SinkExt as _, StreamExt as _, stream::SplitSink};
use tokio::{net::TcpStream, task::JoinHandle};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async_with_config,
    tungstenite::{Message, protocol::WebSocketConfig},
};

use crate::Fallible;

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

pub(crate) struct App {
    socket: SplitSink<Socket, Message>,
    reading: JoinHandle<()>,
}

impl App {
    pub(crate) async fn attach(port: u16) -> Fallible<Self> {
        let config = WebSocketConfig::default().write_buffer_size(WRITE_BUFFER);
        let url = format!("ws://127.0.0.1:{port}/ingest");
        let (socket, _) = connect_async_with_config(url, Some(config), true).await?;
        let (mut socket, mut incoming) = socket.split();
        socket.send(Message::text(HELLO)).await?;
        let ack = incoming.next().await.ok_or("the hub hung up")??;
        if !ack.to_text()?.contains("hello.ack") {
            return Err(format!("the hub said: {ack}").into());
        }
        let reading = tokio::spawn(async move { while let Some(Ok(_)) = incoming.next().await {} });
        Ok(Self { socket, reading })
    }

    /// The number behind the greeting's.
    pub(crate) fn next_seq(&self) -> u64 {
        1
    }

    pub(crate) async fn feed(&mut self, frame: String) -> Fallible<()> {
        Ok(self.socket.feed(Message::text(frame)).await?)
    }

    pub(crate) async fn flush(&mut self) -> Fallible<()> {
        Ok(self.socket.flush().await?)
    }

    pub(crate) async fn close(mut self) -> Fallible<()> {
        self.socket.close().await?;
        self.reading.abort();
        Ok(())
    }
}

const WRITE_BUFFER: usize = 64 * 1024;
const HELLO: &str = r#"{"gm":1,"seq":0,"ts":0,"runId":"*","type":"hello","payload":{"versions":{"protocol":1,"client":"bench"},"capabilities":["pause","step","inject","retry","abort","run-claim"],"app":"bench","sdk":{"name":"bench","version":"1.0.0"}}}"#;
