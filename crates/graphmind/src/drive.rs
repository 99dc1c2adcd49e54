//! The one task of a session: waits for the link, the tap, the clock and the handles, and does what the link's step says.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use lockgate_gate::{Batch, Drain, HubCaps, Presence, Queued, Watched};
use lockgate_protocol::debug::{Control, Hello, HelloAck, PROTOCOL, Watched as Watching};
use tokio::time::{Instant, sleep_until};

use crate::link::{Action, Input, Link};
use crate::outbox::{Outbox, Pushed};
use crate::press::{Press, hello};
use crate::redact::Redacted;
use crate::shared::{Counts, Shared};
use crate::wire::{Heard, Wire};

pub(crate) struct Driver {
    shared: Arc<Shared>,
    drain: Drain,
    link: Link,
    wire: Wire,
    outbox: Outbox,
    press: Press,
    /// Events taken from the tap and not yet written: a burst is worked off in pieces, so that controls come through.
    backlog: VecDeque<Queued>,
    wake: Option<Instant>,
    hub: HubCaps,
    says_watched: Says,
    unattributed: u64,
}

/// Whether this hub tells if somebody watches.
enum Says {
    Yes,
    Never,
}

enum Happened {
    Link(Input),
    Batch(Batch),
    /// There is a backlog, or room for markers.
    Nothing,
    Over,
}

impl Driver {
    pub(crate) fn new(shared: Arc<Shared>, drain: Drain) -> Driver {
        let settings = &shared.settings;
        Driver {
            link: Link::new(settings.timing),
            wire: Wire::Down,
            outbox: Outbox::new(settings.buffer),
            press: Press::new(settings.hide),
            backlog: VecDeque::new(),
            wake: None,
            hub: HubCaps::OLD,
            says_watched: Says::Never,
            unattributed: 0,
            drain,
            shared,
        }
    }

    /// Ends some moments after the session is disposed of. Dropped before that, it lets go whatever is held.
    pub(crate) async fn run(mut self) {
        self.drain.gather(DETACHED);
        loop {
            match self.next().await {
                Happened::Link(input) => self.step(input),
                Happened::Batch(batch) => self.take(batch),
                Happened::Nothing => {}
                Happened::Over => break,
            }
            self.press_some(CHUNK);
            self.publish();
        }
        self.finish().await;
    }

    async fn next(&mut self) -> Happened {
        let Driver { shared, drain, wire, outbox, backlog, wake, .. } = self;
        let clock = async {
            match *wake {
                Some(at) => sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = shared.over.cancelled() => Happened::Over,
            input = shared.wants.next() => Happened::Link(input),
            heard = wire.next(outbox) => match heard {
                Heard::Link(input) => Happened::Link(input),
                Heard::Room => Happened::Nothing,
            },
            () = clock => {
                *wake = None;
                Happened::Link(Input::Timeout)
            }
            () = std::future::ready(()), if !backlog.is_empty() => Happened::Nothing,
            batch = drain.next(), if backlog.is_empty() => batch.map_or(Happened::Over, Happened::Batch),
        }
    }

    /// Last events, last frames, goodbye.
    async fn finish(&mut self) {
        while let Some(batch) = self.drain.now() {
            self.take(batch);
        }
        self.press_some(usize::MAX);
        self.wire.farewell(&mut self.outbox).await;
        self.step(Input::Dispose);
        self.publish();
    }

    fn take(&mut self, batch: Batch) {
        self.shared.wants.start();
        self.unattributed += batch.unattributed;
        for loss in batch.losses {
            self.outbox.ring.dropped += loss.dropped;
            self.outbox.ring.losses.note(&loss.run, loss.dropped, (loss.from_seq, loss.to_seq));
        }
        self.backlog.extend(batch.events);
    }

    fn press_some(&mut self, most: usize) {
        let lost = self.lost();
        for queued in self.backlog.drain(..most.min(self.backlog.len())) {
            let (frame, redacted) = self.press.frame(queued);
            let size = frame.text.len();
            if redacted == Redacted::Failed {
                self.shared.warnings.warn("redaction:failed", || {
                    "an event could not be inspected for what to hide; only its outline was sent".to_owned()
                });
            }
            if self.outbox.push(frame) != Pushed::Kept {
                self.shared
                    .warnings
                    .warn("too-large", || format!("an event of {size} bytes is larger than the whole buffer"));
            }
        }
        self.fill();
        let now = self.lost();
        if now > lost {
            self.shared.warnings.warn("lost", || format!("no hub has seen {now} events of this session"));
        }
    }

    /// Markers go out before anything that is pressed later, and before the replay (wire §2.4, G03).
    fn fill(&mut self) {
        let Driver { outbox, press, shared, .. } = self;
        outbox.fill(|loss| press.marker(shared.tap.take_seq(), loss));
    }

    fn lost(&self) -> u64 {
        self.outbox.ring.losses.total + self.unattributed
    }

    fn step(&mut self, input: Input) {
        for action in self.link.step(input) {
            self.perform(action);
        }
    }

    fn perform(&mut self, action: Action) {
        match action {
            Action::Dial => self.wire.dial(self.shared.settings.url.clone()),
            Action::Hang => self.wire.hang_up(),
            Action::Greet { resume } => self.greet(resume),
            Action::Attach(ack) => self.attach(*ack),
            Action::Detach => self.detach(),
            Action::Obey(control) => self.obey(control),
            Action::Wake(after) => self.wake = Some(Instant::now() + after),
            Action::Sleep => self.wake = None,
            Action::Warn { key, text } => self.shared.warnings.warn(key, || text),
        }
    }

    fn greet(&mut self, resume: Option<String>) {
        let settings = &self.shared.settings;
        let greeting = Hello {
            protocol: i64::try_from(PROTOCOL).unwrap_or(1),
            client: settings.sdk.version.clone(),
            capabilities: settings.capabilities.clone(),
            app: Some(settings.app.clone()),
            sdk: Some(settings.sdk.clone()),
            resume_token: resume,
            source: settings.source.clone(),
        };
        self.wire.say(hello(self.shared.tap.take_seq(), &greeting));
    }

    fn attach(&mut self, ack: HelloAck) {
        let names = ack.hub_capabilities;
        self.hub = names.as_ref().map_or(HubCaps::OLD, |names| HubCaps::listed(names.iter().map(String::as_str)));
        let says = names.is_some_and(|names| names.iter().any(|name| name == "watch"));
        self.says_watched = if says { Says::Yes } else { Says::Never };
        let watched = match (says, ack.watched) {
            (true, Some(true)) => Watched::Yes,
            (true, Some(false)) => Watched::No,
            (true, None) | (false, _) => Watched::Unknown,
        };
        // Armed first: whoever sees the attachment finds its breakpoints.
        self.shared.gate.arm(ack.breakpoints, ack.mode);
        self.present(Presence::Attached { watched, hub: self.hub });
        self.drain.gather(ATTACHED);
        self.outbox.attach();
        self.fill();
    }

    fn detach(&mut self) {
        self.present(Presence::Detached);
        self.drain.gather(DETACHED);
        self.outbox.detach();
    }

    fn obey(&mut self, control: Control) {
        let gate = &self.shared.gate;
        match control {
            Control::Resume(resume) => gate.resume(resume),
            Control::BreakpointSet(matcher) => gate.set(matcher),
            Control::BreakpointClear(matcher) => gate.clear(&matcher),
            Control::ModeSet(mode) => gate.mode(mode),
            Control::WatchSet(watching) => {
                let watched = match (&self.says_watched, watching) {
                    (Says::Never, _) => return,
                    (Says::Yes, Watching::Yes) => Watched::Yes,
                    (Says::Yes, Watching::No) => Watched::No,
                };
                self.present(Presence::Attached { watched, hub: self.hub });
            }
        }
    }

    fn present(&self, presence: Presence) {
        // Policies are told last of a hub that came and first of one that went: they never hold where the gate would not.
        if !presence.is_attached() {
            self.shared.line.detach();
        }
        self.shared.gate.presence(presence);
        if presence.is_attached() {
            self.shared.line.attach();
        }
        self.shared.presence.send_replace(presence);
    }

    fn publish(&self) {
        let ring = &self.outbox.ring;
        self.shared.publish(Counts {
            buffered: ring.len(),
            dropped: ring.dropped + self.unattributed,
            lost: self.lost(),
            pending_gaps: ring.losses.pending(),
        });
    }
}

impl Drop for Driver {
    /// A task that was dropped, or that panicked, must not leave anybody waiting for a hub it can no longer hear.
    fn drop(&mut self) {
        self.present(Presence::Detached);
    }
}

/// How long events gather while somebody reads them, and while nobody does: a program that emits at every call must not
/// wake this task as often.
const ATTACHED: Duration = Duration::from_micros(500);
const DETACHED: Duration = Duration::from_millis(20);
/// Events written in one go.
const CHUNK: usize = 512;
