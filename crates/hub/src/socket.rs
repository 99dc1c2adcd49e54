//! A WebSocket of ours: caps on frames, liveness by bytes, and an end with a reason (hub §3, §4).

use std::io;
use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::CapacityError;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::metered::{Meter, Metered};
use crate::outbox::{Closing, Outbox, Weigh};

pub(crate) type Socket = WebSocketStream<Metered>;
pub(crate) type Sink = SplitSink<Socket, Message>;
pub(crate) type Stream = SplitStream<Socket>;

/// Why a socket ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The other side said goodbye.
    Closed,
    /// The connection broke, or nothing came over it for too long.
    Gone,
    /// We end it, and say why.
    Ours(Closing),
}

impl End {
    /// From what reading or writing ran into.
    pub(crate) fn of(error: &Error) -> End {
        let (code, reason) = match error {
            Error::Capacity(CapacityError::MessageTooLong { .. }) => (1009, "frame too large"),
            Error::Protocol(_) => (1002, "protocol error"),
            Error::Utf8(_) => (1007, "not UTF-8"),
            _ => return End::Gone,
        };
        End::Ours(Closing { code, reason })
    }
}

/// Takes over an upgraded connection.
pub(crate) async fn open(upgraded: Upgraded) -> io::Result<Socket> {
    let parts = upgraded.downcast::<TokioIo<Metered>>().map_err(|_| io::Error::other("foreign connection"))?;
    let config = WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(4 * READ_BUFFER)
        .max_write_buffer_size(2 * LONGEST)
        .max_message_size(Some(LONGEST))
        .max_frame_size(Some(LONGEST));
    let (io, read) = (parts.io.into_inner(), parts.read_buf.to_vec());
    Ok(WebSocketStream::from_partially_read(io, read, Role::Server, Some(config)).await)
}

/// Pings now and then; ends when nothing at all has come in since the last ping. Pongs prove no more than any other byte,
/// and wait behind whatever the other side is busy sending.
pub(crate) async fn stay_alive<T: Weigh>(meter: &Meter, every: Duration, outbox: &Outbox<T>) -> End {
    let mut seen = None;
    loop {
        tokio::time::sleep(every).await;
        let read = meter.read();
        if seen.replace(read) == Some(read) {
            return End::Gone;
        }
        outbox.ping();
    }
}

/// Ends a socket.
pub(crate) async fn finish(sink: Sink, stream: Stream, end: End) {
    let Ok(mut socket) = sink.reunite(stream) else { return };
    match end {
        End::Gone => {}
        End::Closed => drop(timeout(GOODBYE, socket.flush()).await),
        End::Ours(closing) => part(&mut socket, closing).await,
    }
}

/// Says why it ends, and waits a while until the other side has heard it: it says goodbye too, then waits for us to hang up.
/// A reason is only heard if whoever sends can finish: what still comes is read and dropped.
async fn part<S: AsyncRead + AsyncWrite + Unpin>(socket: &mut WebSocketStream<S>, closing: Closing) {
    let heard = async {
        socket.close(Some(CloseFrame { code: closing.code.into(), reason: closing.reason.into() })).await.ok()?;
        while let Some(Ok(message)) = socket.next().await {
            if message.is_close() {
                return None;
            }
        }
        // After a frame that could not be read no other can be told apart.
        tokio::io::copy(socket.get_mut(), &mut tokio::io::sink()).await.ok()
    };
    drop(timeout(if closing.code == GOING_AWAY { GOODBYE } else { DRAIN }, heard).await);
}

/// Feeds frames and lets them go out together.
pub(crate) async fn write_all(sink: &mut Sink, messages: impl IntoIterator<Item = Message>) -> Result<(), Error> {
    for message in messages {
        sink.feed(message).await?;
    }
    sink.flush().await
}

/// The next message.
pub(crate) async fn next(stream: &mut Stream) -> Result<Message, End> {
    match stream.next().await {
        Some(Ok(Message::Close(_))) | None => Err(End::Closed),
        Some(Ok(message)) => Ok(message),
        Some(Err(error)) => Err(End::of(&error)),
    }
}

/// Longest frame, and longest message of several, either way.
pub(crate) const LONGEST: usize = 16 << 20;
/// Every connection has one; busy ones read further ahead below it.
const READ_BUFFER: usize = 4 << 10;
/// The hub stops.
pub(crate) const GOING_AWAY: u16 = 1001;
const GOODBYE: Duration = Duration::from_millis(500);
const DRAIN: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use tokio::time::Instant;

    use super::*;

    /// How long a peer that says goodbye in turn waits for the end, and the code it hears. `said` is what it sends before.
    async fn parted(said: &[Message]) -> (Option<u16>, Duration) {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let mut ours = WebSocketStream::from_raw_socket(ours, Role::Server, None).await;
        let mut peer = WebSocketStream::from_raw_socket(theirs, Role::Client, None).await;
        for message in said {
            peer.send(message.clone()).await.expect("room");
        }
        let began = Instant::now();
        let ending = tokio::spawn(async move { part(&mut ours, Closing { code: 1002, reason: "why" }).await });
        let mut code = None;
        while let Some(Ok(message)) = peer.next().await {
            if let Message::Close(Some(frame)) = message {
                code = Some(frame.code.into());
            }
        }
        ending.await.expect("ends");
        (code, began.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn who_says_goodbye_too_waits_for_nothing() {
        assert_eq!(parted(&[]).await, (Some(1002), Duration::ZERO));
        let busy = [Message::Text("x".into()), Message::Ping(Bytes::new())];
        assert_eq!(parted(&busy).await, (Some(1002), Duration::ZERO));
    }

    #[tokio::test(start_paused = true)]
    async fn who_says_nothing_is_waited_for_a_while() {
        let (ours, _theirs) = tokio::io::duplex(1 << 20);
        let mut ours = WebSocketStream::from_raw_socket(ours, Role::Server, None).await;
        let began = Instant::now();
        part(&mut ours, Closing { code: GOING_AWAY, reason: "bye" }).await;
        assert_eq!(began.elapsed(), GOODBYE);
    }
}
