//! A program's connection (hub §4): reads its frames as fast as the hub takes them, and writes what the hub wants of it.

pub(crate) mod frame;

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message;

use self::frame::{Dropped, Frame, Names};
use crate::credentials::random_hex;
use crate::live::{Arrival, First, FromApp, Greeting, Introduction};
use crate::metered::Meter;
use crate::outbox::{Closing, Next, Outbox, OutboxLimits, Text};
use crate::pauses::AppId;
use crate::site::Site;
use crate::socket::{self, End, Sink, Socket, Stream};

/// Serves one program until one side has enough.
pub(crate) async fn serve(site: Arc<Site>, socket: Socket, meter: Meter) {
    let app = AppId(site.number());
    let outbox = Arc::new(Outbox::new(LIMITS));
    let (mut sink, mut stream) = futures_util::StreamExt::split(socket);
    let mut reader = Reader { site: &site, app, outbox: &outbox, greeted: false, repeated: 0, names: Names::default() };
    let end = tokio::select! {
        end = reader.read(&mut stream) => end,
        end = write(&mut sink, &outbox) => end,
        closing = outbox.closed() => End::Ours(closing),
        end = socket::stay_alive(&meter, site.ping, &outbox) => end,
        () = site.stop.cancelled() => End::Ours(Closing { code: socket::GOING_AWAY, reason: "hub is stopping" }),
    };
    let greeted = reader.greeted;
    // Nothing more is accepted for it, so that a resume in this moment is told so.
    outbox.close(Closing { code: 1000, reason: "" });
    if greeted && site.live.apps.send(FromApp::Gone { app }).await.is_err() {
        tracing::trace!("the hub has stopped");
    }
    socket::finish(sink, stream, end).await;
}

struct Reader<'a> {
    site: &'a Site,
    app: AppId,
    outbox: &'a Arc<Outbox<Text>>,
    greeted: bool,
    /// Further hellos, which are passed over.
    repeated: u64,
    names: Names,
}

/// Frames read in one go.
#[derive(Default)]
struct Batch {
    arrivals: Vec<Arrival>,
    bytes: usize,
    /// Runs of this batch that the store was asked for already.
    asked: Vec<Arc<str>>,
}

impl Reader<'_> {
    async fn read(&mut self, stream: &mut Stream) -> End {
        loop {
            let mut batch = Batch::default();
            let ended = self.fill(stream, &mut batch).await.err();
            if !batch.arrivals.is_empty()
                && !self.deliver(FromApp::Frames { app: self.app, arrivals: batch.arrivals }).await
            {
                return End::Gone;
            }
            if let Some(end) = ended {
                return end;
            }
        }
    }

    /// Waits for one frame and takes what is there behind it.
    async fn fill(&mut self, stream: &mut Stream, batch: &mut Batch) -> Result<(), End> {
        let mut message = socket::next(stream).await?;
        loop {
            if let Message::Text(text) = message {
                self.take(text.into(), batch).await?;
            }
            if batch.arrivals.len() >= BATCH || batch.bytes >= BATCH_BYTES {
                return Ok(());
            }
            message = match stream.next().now_or_never() {
                None => return Ok(()),
                Some(Some(Ok(Message::Close(_))) | None) => return Err(End::Closed),
                Some(Some(Ok(message))) => message,
                Some(Some(Err(error))) => return Err(End::of(&error)),
            };
        }
    }

    async fn take(&mut self, text: Bytes, batch: &mut Batch) -> Result<(), End> {
        let bytes = text.len();
        match frame::read(text, &mut self.names) {
            Frame::Event(incoming) if self.greeted => {
                let first = self.first(&incoming.event.run, batch).await;
                batch.bytes += bytes;
                batch.arrivals.push(Arrival { incoming, first });
            }
            // Before the handshake nothing counts.
            Frame::Event(_) => {}
            Frame::Hello(_) if self.greeted => self.repeated += 1,
            Frame::Hello(hello) => {
                self.greeted = true;
                let fresh = random_hex().unwrap_or_default();
                let outbox = Arc::clone(self.outbox);
                let greeting = Box::new(Greeting { hello, fresh, outbox });
                if !self.deliver(FromApp::Hello { app: self.app, greeting }).await {
                    return Err(End::Gone);
                }
            }
            Frame::Mismatch => {
                return Err(End::Ours(Closing { code: 1002, reason: "another major version of the protocol" }));
            }
            Frame::Dropped(dropped) => self.dropped(&dropped),
        }
        Ok(())
    }

    /// The store is asked once for a run that the live state does not know.
    async fn first(&self, run: &Arc<str>, batch: &mut Batch) -> First {
        if batch.arrivals.last().is_some_and(|last| last.incoming.event.run == *run)
            || batch.asked.contains(run)
            || self.site.live.names.has(run)
        {
            return First::No;
        }
        batch.asked.push(Arc::clone(run));
        match self.site.store.introduce(run).await {
            Ok(Some((run, last_ts))) => First::Stored(Box::new(Introduction { run, last_ts })),
            Ok(None) => First::New,
            Err(error) => {
                tracing::debug!(%error, "a run could not be looked up");
                First::New
            }
        }
    }

    async fn deliver(&self, from: FromApp) -> bool {
        self.site.live.apps.send(from).await.is_ok()
    }

    fn dropped(&self, dropped: &Dropped) {
        let Some(swallowed) = self.site.throttle.pass("dropped", Instant::now()) else { return };
        match dropped {
            Dropped::Invalid(issue) => tracing::warn!(issue = %issue.escape_debug(), swallowed, "a frame is not valid"),
            Dropped::Misplaced => tracing::warn!(swallowed, "a frame is bound to no run, or not a program's to send"),
            Dropped::Long => tracing::warn!(swallowed, "a run id or a type is too long"),
        }
    }
}

async fn write(sink: &mut Sink, outbox: &Outbox<Text>) -> End {
    loop {
        let written = match outbox.next().await {
            Next::Frames(frames) => socket::write_all(sink, frames.into_iter().map(Message::Text)).await,
            Next::Ping => socket::write_all(sink, [Message::Ping(Bytes::new())]).await,
            Next::Nudge => Ok(()),
        };
        if let Err(error) = written {
            return End::of(&error);
        }
    }
}

/// A program that does not read its controls is sent no more of them.
const LIMITS: OutboxLimits = OutboxLimits { frames: 256, bytes: 32 << 20 };
const BATCH: usize = 64;
const BATCH_BYTES: usize = 256 << 10;
