//! One connection of the fake hub: plays the manner it was opened under, then obeys orders.

use std::sync::Arc;

use futures_util::{SinkExt, StreamExt};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use super::{Manner, Order, Reading, Seen, Stage, frame};

pub(super) async fn serve(mut socket: TcpStream, manner: Manner, stage: Arc<Stage>) {
    match manner {
        Manner::HangsUp => return,
        Manner::NeverUpgrades => return hold(socket).await,
        Manner::Refuses => {
            // Whoever dialled may be gone before it hears this.
            let _ = socket.write_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n").await;
            return;
        }
        Manner::Acks(_) | Manner::Says(_) | Manner::NeverAcks => {}
    }
    let Ok(socket) = tokio_tungstenite::accept_async(socket).await else { return };
    let (line, orders) = mpsc::channel(64);
    let number = {
        let mut script = stage.lock();
        script.upgraded += 1;
        script.lines.push(line);
        script.upgraded
    };
    let reading = stage.reading.subscribe();
    Connection { socket, number, manner, stage }.run(orders, reading).await;
}

/// Keeps a socket open until the other side gives up.
async fn hold(socket: TcpStream) {
    while socket.readable().await.is_ok() {
        match socket.try_read(&mut [0; 256]) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
    }
}

struct Connection {
    socket: WebSocketStream<TcpStream>,
    number: usize,
    manner: Manner,
    stage: Arc<Stage>,
}

impl Connection {
    async fn run(mut self, mut orders: mpsc::Receiver<Order>, mut reading: watch::Receiver<Reading>) {
        loop {
            let reads = *reading.borrow_and_update() == Reading::AtOnce;
            let flow = tokio::select! {
                order = orders.recv() => match order {
                    Some(order) => self.obey(order).await,
                    None => Flow::Over,
                },
                message = self.socket.next(), if reads => match message {
                    Some(Ok(message)) => self.hear(message).await,
                    Some(Err(_)) | None => Flow::Over,
                },
                _ = reading.changed() => Flow::On,
            };
            if matches!(flow, Flow::Over) {
                return;
            }
        }
    }

    async fn obey(&mut self, order: Order) -> Flow {
        let message = match order {
            Order::Say(text) => Message::text(text),
            Order::SayBytes(bytes) => Message::binary(bytes),
            Order::Cut => return Flow::Over,
            Order::Close => Message::Close(None),
        };
        match self.socket.send(message).await {
            Ok(()) => Flow::On,
            Err(_) => Flow::Over,
        }
    }

    async fn hear(&mut self, message: Message) -> Flow {
        let Message::Text(text) = message else { return Flow::On };
        let seen = Seen::new(self.number, &text);
        let greets = seen.kind == "hello";
        self.stage.lock().frames.push(seen);
        self.stage.changed.send_modify(|count| *count += 1);
        let answer = match &self.manner {
            Manner::Acks(ack) if greets => frame(self.stage.next_reply(), "hello.ack", &ack.payload()),
            Manner::Says(text) if greets => text.clone(),
            _ => return Flow::On,
        };
        self.obey(Order::Say(answer)).await
    }
}

enum Flow {
    On,
    Over,
}
