//! A session: one program's connection to a hub, whether or not there is one. The handle is cheap; the future beside it does
//! all the work and must be spawned or polled by whoever made the session.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use lockgate_gate::{Gate, Presence, Tap};
use lockgate_protocol::debug::{Event, RunId, RunStatus};
use lockgate_protocol::json::Raw;
use tokio::sync::watch;

use crate::config::{Enabled, SessionConfig};
use crate::context::Context;
use crate::drive::Driver;
use crate::shared::{Guarded, Settings, Shared, lock, run_id};

/// Handle on a session; clones are the same session.
#[derive(Clone)]
pub struct Session(Arc<Shared>);

/// Whether a hub is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    Yes,
    /// Not in time, or never.
    No,
}

/// What a session has done so far. Counts of frames are those of its last turn of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stats {
    /// Whether it does anything at all.
    pub enabled: Enabled,
    /// Whether a hub is attached, and whether somebody watches there.
    pub presence: Presence,
    /// Frames kept for the next attachment.
    pub buffered: usize,
    /// Frames that are no longer kept, seen by a hub or not.
    pub dropped: u64,
    /// Those of them no hub has seen.
    pub lost: u64,
    /// Runs with losses no hub has been told of.
    pub pending_gaps: usize,
    /// Calls that stand at the gate.
    pub held_gates: usize,
    /// Number the next frame will have.
    pub seq: u64,
}

impl Session {
    /// A session, and the future that does its work. It ends some moments after [`Session::dispose`]; while nobody polls
    /// it, events are kept within the limits of the tap, and nothing is ever held.
    pub fn new(config: SessionConfig) -> (Session, impl Future<Output = ()> + Send + 'static) {
        let enabled = config.enabled();
        let (tap, drain) = match enabled {
            Enabled::Yes => {
                let (tap, drain) = Tap::channel(config.tap);
                (tap, Some(drain))
            }
            Enabled::No => (Tap::off(), None),
        };
        let shared = Arc::new(Shared::new(config, enabled, tap));
        let driver = drain.map(|drain| Driver::new(Arc::clone(&shared), drain));
        let session = Session(Arc::clone(&shared));
        let running = async move {
            match driver {
                Some(driver) => driver.run().await,
                None => shared.over.cancelled().await,
            }
        };
        (session, running)
    }

    /// Where calls stand; for rooms that report their own events.
    pub fn gate(&self) -> Gate {
        self.0.gate.clone()
    }

    /// Where events go; numbers and order are this session's.
    pub fn tap(&self) -> &Tap {
        &self.0.tap
    }

    /// Connects if need be and waits for a hub, at most `within`; [`READY`] is a good value. Never fails, and returns only
    /// after the hub's breakpoints are armed.
    pub async fn ready(&self, within: Duration) -> Ready {
        let over = &self.0.over;
        if self.0.enabled == Enabled::No || over.is_cancelled() {
            return Ready::No;
        }
        let mut presence = self.0.presence.subscribe();
        if presence.borrow_and_update().is_attached() {
            return Ready::Yes;
        }
        self.0.wants.kick();
        let attached = async { presence.wait_for(|presence| presence.is_attached()).await.is_ok() };
        tokio::select! {
            true = attached => Ready::Yes,
            () = over.cancelled() => Ready::No,
            () = tokio::time::sleep(within) => Ready::No,
        }
    }

    /// Attached or not, watched or not, and every change of it.
    pub fn presence(&self) -> watch::Receiver<Presence> {
        self.0.presence.subscribe()
    }

    /// Reports an event of the current run, or of the implicit one outside of any run. Gives its number, or `None` when
    /// nobody will see it.
    pub fn emit(&self, event: Event) -> Option<u64> {
        self.tap().emit(self.here().run(), event)
    }

    /// The current run. Outside of any run it is the implicit one, which begins with the first that asks for it.
    pub fn here(&self) -> Context {
        Context::current_of(self.0.id).unwrap_or_else(|| self.implicit())
    }

    /// What it has done so far.
    pub fn stats(&self) -> Stats {
        let counts = *lock(&self.0.counts);
        Stats {
            enabled: self.0.enabled,
            presence: *self.0.presence.borrow(),
            buffered: counts.buffered,
            dropped: counts.dropped,
            lost: counts.lost,
            pending_gaps: counts.pending_gaps,
            held_gates: self.0.gate.held(),
            seq: self.tap().next_seq(),
        }
    }

    /// Ends the session: what is held goes on, the implicit run ends, later events and holds come to nothing. The future
    /// still sends what is left, for at most half a second. Doing it again does nothing.
    pub fn dispose(&self) {
        let mut implicit = lock(&self.0.implicit);
        if self.0.over.is_cancelled() {
            return;
        }
        self.0.gate.dispose();
        if let Some(context) = implicit.take() {
            self.ended(&context, RunStatus::Ok, None);
        }
        self.tap().close();
        self.0.over.cancel();
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// A new run that can be aborted at the gate.
    pub(crate) fn enter(&self, name: &str) -> Context {
        let context = Context::new(self.0.id, run_id(), name);
        lock(&self.0.aborts).insert(context.run().clone(), context.abort().clone());
        context
    }

    pub(crate) fn forget(&self, run: &RunId) {
        lock(&self.0.aborts).remove(run);
    }

    /// Whether neither a hub nor a policy will ever look at a call.
    pub(crate) fn is_idle(&self) -> bool {
        self.0.enabled == Enabled::No && self.0.settings.guarded == Guarded::No
    }

    /// `span_<6 hex>_<n>`, unique in this process.
    pub(crate) fn instance(&self) -> Arc<str> {
        let number = self.0.spans.fetch_add(1, Ordering::Relaxed) + 1;
        format!("span_{:06x}_{number}", self.0.base & 0x00ff_ffff).into()
    }

    fn implicit(&self) -> Context {
        let mut implicit = lock(&self.0.implicit);
        if let Some(context) = &*implicit {
            return context.clone();
        }
        // Not to be aborted at the gate: it stands for everything outside of runs.
        let context = Context::new(self.0.id, run_id(), "implicit");
        if self.0.over.is_cancelled() {
            return context;
        }
        self.started(&context, &[("implicit".to_owned(), Raw::bool(true))]);
        implicit.insert(context).clone()
    }
}

/// How long to wait for a hub before going on without (wire §2.2).
pub const READY: Duration = Duration::from_millis(2_000);
