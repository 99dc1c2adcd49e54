//! The socket to a hub, or the attempt to open one: writes what waits in the outbox, gives what comes in. Never waits for
//! anything but the socket itself, so that a hub that does not read delays nothing else.

use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use futures_util::{Sink, Stream};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};

use crate::dial::dial;
use crate::link::{Failure, Input};
use crate::outbox::Outbox;

type Socket = WebSocketStream<TcpStream>;

pub(crate) enum Wire {
    Down,
    Dialling(Pin<Box<dyn Future<Output = Result<Socket, Failure>> + Send>>),
    Up(Box<Socket>),
}

/// What comes from the wire.
pub(crate) enum Heard {
    Link(Input),
    /// The hub caught up, and has not been told yet what it missed.
    Room,
}

impl Wire {
    pub(crate) fn dial(&mut self, url: String) {
        *self = Wire::Dialling(Box::pin(dial(url)));
    }

    /// Writes a frame ahead of everything that waits.
    pub(crate) fn say(&mut self, text: Utf8Bytes) {
        if let Wire::Up(socket) = self {
            // A broken socket says so when it is read next.
            let _ = Pin::new(&mut **socket).start_send(Message::Text(text));
        }
    }

    /// Gives the socket up, with a goodbye if it can be said without waiting.
    pub(crate) fn hang_up(&mut self) {
        if let Wire::Up(mut socket) = std::mem::replace(self, Wire::Down) {
            let mut context = Context::from_waker(Waker::noop());
            let _ = Pin::new(&mut *socket).start_send(goodbye("giving up"));
            let _ = Pin::new(&mut *socket).poll_flush(&mut context);
        }
    }

    /// Writes everything that waits, says goodbye and hears the other side do so; or gives up after a moment.
    pub(crate) async fn farewell(&mut self, outbox: &mut Outbox) {
        let Wire::Up(mut socket) = std::mem::replace(self, Wire::Down) else { return };
        let socket = &mut *socket;
        let leave = async {
            std::future::poll_fn(|context| write(socket, outbox, context)).await?;
            socket.close(Some(CloseFrame { code: CloseCode::Normal, reason: "disposed".into() })).await?;
            // Closing with something unread would make the system throw away what was just written.
            while let Some(Ok(_)) = std::future::poll_fn(|context| Pin::new(&mut *socket).poll_next(context)).await {}
            Ok::<(), Error>(())
        };
        // Nobody waits for a hub that does not listen.
        let _ = tokio::time::timeout(GRACE, leave).await;
    }

    /// The next thing that happens on the wire. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self, outbox: &mut Outbox) -> Heard {
        std::future::poll_fn(|context| self.poll(outbox, context)).await
    }

    fn poll(&mut self, outbox: &mut Outbox, context: &mut Context<'_>) -> Poll<Heard> {
        match self {
            Wire::Down => Poll::Pending,
            Wire::Dialling(attempt) => match ready!(attempt.as_mut().poll(context)) {
                Ok(socket) => {
                    *self = Wire::Up(Box::new(socket));
                    Poll::Ready(Heard::Link(Input::Opened))
                }
                Err(failure) => {
                    *self = Wire::Down;
                    Poll::Ready(Heard::Link(Input::Failed(failure)))
                }
            },
            Wire::Up(socket) => {
                // Reading first: what is read may have to be answered, and that goes out with the rest.
                if let Poll::Ready(heard) = read(socket, context) {
                    return Poll::Ready(Heard::Link(heard));
                }
                match write(socket, outbox, context) {
                    Poll::Ready(Err(error)) => Poll::Ready(Heard::Link(lost(&error))),
                    Poll::Ready(Ok(())) if outbox.owes_markers() => Poll::Ready(Heard::Room),
                    Poll::Ready(Ok(())) | Poll::Pending => Poll::Pending,
                }
            }
        }
    }
}

fn read(socket: &mut Socket, context: &mut Context<'_>) -> Poll<Input> {
    loop {
        return Poll::Ready(match ready!(Pin::new(&mut *socket).poll_next(context)) {
            Some(Ok(Message::Text(text))) => Input::Text(text.into()),
            Some(Ok(Message::Binary(bytes))) => Input::Text(bytes),
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => continue,
            Some(Ok(Message::Close(_))) | None => Input::Gone("the hub closed the connection".to_owned()),
            Some(Err(error)) => lost(&error),
        });
    }
}

/// Hands frames over for as long as the socket takes them, then has it send them all.
fn write(socket: &mut Socket, outbox: &mut Outbox, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
    loop {
        ready!(Pin::new(&mut *socket).poll_ready(context))?;
        let Some(text) = outbox.pop() else { break };
        Pin::new(&mut *socket).start_send(Message::Text(text))?;
    }
    Pin::new(socket).poll_flush(context)
}

fn lost(error: &Error) -> Input {
    Input::Gone(format!("the connection to the hub broke: {error}"))
}

fn goodbye(reason: &'static str) -> Message {
    Message::Close(Some(CloseFrame { code: CloseCode::Normal, reason: reason.into() }))
}

/// How long a session that ends waits for its last frames to leave.
const GRACE: Duration = Duration::from_millis(500);
