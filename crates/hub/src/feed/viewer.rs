//! A viewer's connection (hub §5): hears what it wants, reads stored runs for it a page at a time, writes what waits for it.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use lockgate_protocol::debug::Principal;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::frames;
use super::request;
use super::{Feed, Job, Out, ViewerId};
use crate::live::{Command, Joined};
use crate::metered::Meter;
use crate::outbox::{Closing, Next, Text};
use crate::site::Site;
use crate::socket::{self, End, Sink, Socket, Stream};
use crate::store::{OrdRange, PageSize};

/// Serves one viewer until one side has enough.
pub(crate) async fn serve(site: Arc<Site>, socket: Socket, meter: Meter, principal: Principal) {
    let feed = Arc::new(Feed::new());
    let came = site.live.ask(|reply| Command::ViewerCame { principal, feed: Arc::clone(&feed), reply }).await;
    let Some(viewer) = came else { return };
    let (mut sink, mut stream) = futures_util::StreamExt::split(socket);
    let mut writer = Writer { site: &site, viewer, feed: &feed, sink: &mut sink, sent: HashMap::new(), since_job: 0 };
    let end = tokio::select! {
        end = read(&site, viewer, principal, &feed, &mut stream) => end,
        end = writer.write() => end,
        closing = feed.out.closed() => End::Ours(closing),
        end = socket::stay_alive(&meter, site.ping, &feed.out) => end,
        () = site.stop.cancelled() => End::Ours(Closing { code: socket::GOING_AWAY, reason: "hub is stopping" }),
    };
    feed.close(Closing { code: 1000, reason: "" });
    if site.live.commands.send(Command::ViewerLeft(viewer)).await.is_err() {
        tracing::trace!("the hub has stopped");
    }
    socket::finish(sink, stream, end).await;
}

async fn read(site: &Site, viewer: ViewerId, principal: Principal, feed: &Feed, stream: &mut Stream) -> End {
    loop {
        let text = match socket::next(stream).await {
            Ok(Message::Text(text)) => text,
            Ok(_) => continue,
            Err(end) => return end,
        };
        match request::command(site, (viewer, principal), text.into()).await {
            Ok(command) => {
                if site.live.commands.send(command).await.is_err() {
                    return End::Gone;
                }
            }
            Err(complaint) => feed.answer(complaint.frame()),
        }
    }
}

struct Writer<'a> {
    site: &'a Site,
    viewer: ViewerId,
    feed: &'a Feed,
    sink: &'a mut Sink,
    /// The last event sent of each run it follows live.
    sent: HashMap<Arc<str>, u64>,
    /// Frames written since work was seen to wait.
    since_job: usize,
}

/// Whether the queue may go out between pages: not while it holds what comes after them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Between {
    Spill,
    Wait,
}

type Written = Result<(), Error>;

impl Writer<'_> {
    async fn write(&mut self) -> End {
        loop {
            let written = match self.due() {
                Some(job) => self.perform(job).await,
                None => match self.feed.out.next().await {
                    Next::Frames(frames) => self.frames(frames).await,
                    Next::Ping => self.send([Message::Ping(Bytes::new())]).await,
                    Next::Nudge => Ok(()),
                },
            };
            if let Err(error) = written {
                return End::of(&error);
            }
        }
    }

    /// Work that may begin, because everything that was queued before it has gone out.
    fn due(&mut self) -> Option<Job> {
        if !self.feed.has_job() {
            self.since_job = 0;
            return None;
        }
        if !self.feed.out.is_empty() && self.since_job <= QUEUE {
            return None;
        }
        self.since_job = 0;
        self.feed.next_job()
    }

    async fn perform(&mut self, job: Job) -> Written {
        match job {
            Job::Runs => {
                let text = frames::runs(&self.site.runs().await);
                self.say([text]).await
            }
            Job::State => {
                if self.site.live.commands.send(Command::State(self.viewer)).await.is_err() {
                    tracing::trace!("the hub has stopped");
                }
                Ok(())
            }
            Job::Empty { run } => self.say([frames::replay_start(&run, 0), frames::replay_end(&run)]).await,
            Job::Replay { run, turn, after, head } => self.replay(run, turn, OrdRange { after, up_to: head }).await,
            Job::Left { run } => {
                self.sent.remove(&run);
                Ok(())
            }
            Job::CatchUp { run, turn } => {
                let after = self.sent.remove(&run).unwrap_or(0);
                self.catch_up(run, turn, after).await
            }
        }
    }

    async fn replay(&mut self, run: Arc<str>, turn: u64, range: OrdRange) -> Written {
        let count = self.site.store.count_events(&run, range).await.unwrap_or(0);
        self.say([frames::replay_start(&run, count)]).await?;
        self.pages(&run, range, Between::Spill).await?;
        self.say([frames::replay_end(&run)]).await?;
        self.catch_up(run, turn, range.up_to.max(range.after)).await
    }

    /// Reads on until the live state is so close that what is left fits one page; from there on events are queued.
    async fn catch_up(&mut self, run: Arc<str>, turn: u64, mut after: u64) -> Written {
        loop {
            let (viewer, asked) = (self.viewer, Arc::clone(&run));
            let joined = self.site.live.ask(|reply| Command::Join { viewer, run: asked, turn, after, reply }).await;
            match joined {
                Some(Joined::Tail { head, stored, missed }) => {
                    self.tell_missed(&run, missed).await?;
                    self.pages(&run, OrdRange { after, up_to: head }, Between::Wait).await?;
                    self.sent.insert(Arc::clone(&run), head.max(after));
                    let kept = (stored > 0).then(|| frames::stored(&run, stored));
                    return self.say(kept).await;
                }
                Some(Joined::Far { head, missed }) => {
                    self.tell_missed(&run, missed).await?;
                    self.pages(&run, OrdRange { after, up_to: head }, Between::Spill).await?;
                    after = head;
                }
                Some(Joined::Gone) | None => return Ok(()),
            }
        }
    }

    async fn tell_missed(&mut self, run: &str, missed: Option<u64>) -> Written {
        match missed {
            Some(missed) => self.say([frames::behind(run, missed)]).await,
            None => Ok(()),
        }
    }

    /// Sends stored events. Between pages the queue goes out, so that a long run holds up nothing else.
    async fn pages(&mut self, run: &str, mut range: OrdRange, between: Between) -> Written {
        while range.after < range.up_to {
            let page = match self.site.store.events_by_ord(run, range, PAGE).await {
                Ok(page) => page,
                Err(error) => {
                    if let Some(swallowed) = self.site.throttle.pass("unreadable", Instant::now()) {
                        tracing::warn!(%error, swallowed, "a run could not be read for a viewer");
                    }
                    return Ok(());
                }
            };
            let Some(last) = page.events.last().map(|event| event.ord) else { return Ok(()) };
            for event in &page.events {
                self.sink_feed(frames::stored_event(run, event)).await?;
            }
            range.after = last;
            if page.more && between == Between::Spill {
                self.spill().await?;
            }
        }
        Ok(())
    }

    async fn spill(&mut self) -> Written {
        for _ in 0..QUEUE {
            let Some(next) = self.feed.out.try_next() else { return Ok(()) };
            match next {
                Next::Frames(frames) => self.frames(frames).await?,
                Next::Ping => self.send([Message::Ping(Bytes::new())]).await?,
                Next::Nudge => {}
            }
        }
        Ok(())
    }

    async fn frames(&mut self, frames: impl IntoIterator<Item = Out>) -> Written {
        let mut texts = Vec::new();
        for frame in frames {
            self.since_job += 1;
            texts.push(match frame {
                Out::Text(text) => text,
                Out::Event { run, ord, text } => {
                    if let Some(sent) = self.sent.get_mut(&run) {
                        *sent = ord;
                    }
                    text
                }
            });
        }
        self.say(texts).await
    }

    async fn say(&mut self, texts: impl IntoIterator<Item = Text>) -> Written {
        self.send(texts.into_iter().map(Message::Text)).await
    }

    async fn send(&mut self, messages: impl IntoIterator<Item = Message>) -> Written {
        socket::write_all(self.sink, messages).await
    }

    async fn sink_feed(&mut self, text: Text) -> Written {
        futures_util::SinkExt::feed(self.sink, Message::Text(text)).await
    }
}

/// Longer than any queue.
const QUEUE: usize = 4_096;
/// One page is all of a stored run that a viewer keeps in memory.
const PAGE: PageSize = PageSize { rows: 1_000, bytes: 4 << 20 };
