//! What the handles of a session and its task share, and how it is put together from the options.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lockgate_gate::{Call, Gate, GateConfig, Policy, Presence, Tap, Warning};
use lockgate_protocol::debug::{RunId, SdkInfo};
use lockgate_protocol::json::Raw;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::config::{Enabled, SessionConfig};
use crate::context::Context;
use crate::link::Timing;
use crate::presence::Line;
use crate::redact::Hide;
use crate::repeat::LoopGuard;
use crate::ring::BufferLimits;
use crate::smart::SmartHolds;
use crate::wants::{Starter, Wants};
use crate::warn::Warnings;

/// What all handles and the task share.
pub(crate) struct Shared {
    /// Tells sessions of one process apart.
    pub(crate) id: u64,
    pub(crate) base: u64,
    pub(crate) spans: AtomicU64,
    pub(crate) enabled: Enabled,
    pub(crate) settings: Settings,
    pub(crate) gate: Gate,
    pub(crate) tap: Tap,
    pub(crate) line: Line,
    pub(crate) wants: Arc<Wants>,
    pub(crate) warnings: Warnings,
    pub(crate) presence: watch::Sender<Presence>,
    /// Fires once the session is disposed of.
    pub(crate) over: CancellationToken,
    pub(crate) aborts: Arc<Mutex<Aborts>>,
    pub(crate) implicit: Mutex<Option<Context>>,
    pub(crate) counts: Mutex<Counts>,
}

/// Options, resolved.
pub(crate) struct Settings {
    pub(crate) app: String,
    pub(crate) sdk: SdkInfo,
    pub(crate) meta: Vec<(String, Raw)>,
    pub(crate) source: Option<String>,
    pub(crate) url: String,
    pub(crate) capabilities: Vec<String>,
    pub(crate) hide: Hide,
    pub(crate) buffer: BufferLimits,
    pub(crate) timing: Timing,
    pub(crate) guarded: Guarded,
}

/// Whether there are policies besides the debugger's.
#[derive(PartialEq, Eq)]
pub(crate) enum Guarded {
    Yes,
    No,
}

/// Abort handles of the runs under way.
pub(crate) type Aborts = HashMap<RunId, CancellationToken>;

/// What the task counts.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) buffered: usize,
    pub(crate) dropped: u64,
    pub(crate) lost: u64,
    pub(crate) pending_gaps: usize,
}

impl Shared {
    pub(crate) fn new(config: SessionConfig, enabled: Enabled, tap: Tap) -> Shared {
        let warnings = Warnings::new(Arc::clone(&config.warn));
        let (line, wants, aborts) = (Line::default(), Arc::new(Wants::default()), Arc::<Mutex<Aborts>>::default());
        let own: [Arc<dyn Policy>; 3] = [
            Arc::new(Starter(Arc::clone(&wants))),
            Arc::new(LoopGuard::new(config.loops(), line.clone(), warnings.clone())),
            Arc::new(SmartHolds { options: config.smart(), line: line.clone() }),
        ];
        let own = own.into_iter().filter(|_| enabled == Enabled::Yes);
        let (hide, handles, ear) = (config.hide(), Arc::clone(&aborts), warnings.clone());
        let gate = Gate::new(GateConfig {
            policies: config.policies.iter().cloned().chain(own).collect(),
            pause_timeout: config.pause_timeout,
            patience: config.patience(),
            edit_input: config.edit_input(),
            hidden: Arc::new(move |kind| hide.sides(kind)),
            on_abort: Arc::new(move |call| abort(&handles, call)),
            warn: Arc::new(move |warning| ear.warn(key(warning), || warning.to_string())),
            ..GateConfig::new(tap.clone())
        });
        Shared {
            id: SESSIONS.fetch_add(1, Ordering::Relaxed),
            base: random(),
            spans: AtomicU64::new(0),
            enabled,
            settings: Settings::from(config),
            gate,
            tap,
            line,
            wants,
            warnings,
            presence: watch::Sender::new(Presence::Detached),
            over: CancellationToken::new(),
            aborts,
            implicit: Mutex::default(),
            counts: Mutex::default(),
        }
    }

    pub(crate) fn publish(&self, counts: Counts) {
        *lock(&self.counts) = counts;
    }
}

impl From<SessionConfig> for Settings {
    fn from(config: SessionConfig) -> Settings {
        Settings {
            url: config.url(),
            capabilities: config.capabilities(),
            hide: config.hide(),
            guarded: if config.policies.is_empty() { Guarded::No } else { Guarded::Yes },
            app: config.app,
            sdk: config.sdk,
            meta: config.meta,
            source: config.source,
            buffer: config.buffer,
            timing: config.timing,
        }
    }
}

fn abort(handles: &Mutex<Aborts>, call: &Call) {
    if let Some(handle) = lock(handles).get(&call.run) {
        handle.cancel();
    }
}

fn key(warning: &Warning) -> &'static str {
    match warning {
        Warning::BadCondition(_) => "gate:condition",
        Warning::ConditionFailed(_) => "gate:condition-failed",
        Warning::Unsupported => "gate:unsupported",
    }
}

/// `run_` and twelve hex digits (wire §2.10).
pub(crate) fn run_id() -> RunId {
    RunId::new(&format!("run_{:012x}", random() & 0xffff_ffff_ffff)).unwrap_or_else(RunId::none)
}

fn random() -> u64 {
    RandomState::new().hash_one(SESSIONS.load(Ordering::Relaxed))
}

/// What is behind these locks is whole at every step, so a panic elsewhere spoils nothing.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

static SESSIONS: AtomicU64 = AtomicU64::new(0);
