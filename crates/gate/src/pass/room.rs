//! The hold table with its lock, its clocks and its waiters: performs what a step says before anybody else steps.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio::time::Instant;

use super::waiter::Waiter;
use crate::call::{Call, Stop};
use crate::config::GateConfig;
use crate::hold::{Action, EditInput, Held, HostLimit, Input, Now, Revisit, Rules, Seat, Table, Terms};
use crate::policy::Hold;
use crate::tap::{Tap, epoch_ms};
use crate::warning::Warning;

/// A cheap handle on the one table of a gate.
#[derive(Clone)]
pub(super) struct Room(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    tap: Tap,
    warn: Arc<dyn Fn(&Warning) + Send + Sync>,
}

struct State {
    table: Table,
    /// One for each hold in the table. A slow waiter finds only the newest.
    seats: HashMap<u64, watch::Sender<Seat>>,
}

impl Room {
    pub(super) fn new(config: &GateConfig) -> Self {
        let base = config.pause_base.unwrap_or_else(|| {
            let random = RandomState::new().hash_one(0_u8).to_le_bytes();
            let [one, two, three, ..] = random;
            u32::from_le_bytes([one, two, three, 0])
        });
        let table = Table::new(Rules {
            base: format!("{:06x}", base & 0x00ff_ffff),
            pause_timeout: config.pause_timeout,
            patience: config.patience,
            edit_input: config.edit_input,
        });
        Self(Arc::new(Shared {
            state: Mutex::new(State { table, seats: HashMap::new() }),
            tap: config.tap.clone(),
            warn: Arc::clone(&config.warn),
        }))
    }

    /// Registers a hold, then announces it, so that a racing resume finds it. `None`: nobody could come, or nobody
    /// would hear of it.
    pub(super) fn open(&self, call: &Call, at: Stop, hold: &Hold) -> Option<Waiter> {
        let terms = Terms {
            run: call.run.clone(),
            node: Arc::clone(&call.node),
            instance: call.instance.clone(),
            at,
            hold: hold.clone(),
            edit: if call.edit.is_some() { EditInput::On } else { EditInput::Off },
            unsupported: call.unsupported,
            mark: call.mark,
            limit: call
                .limit
                .as_ref()
                .map(|limit| HostLimit { at: *limit.deadline.borrow(), action: limit.action.clone() }),
        };
        let mut state = self.lock();
        let (hold, paused, seat) = state.table.open(terms, now())?;
        let (told, seat) = watch::channel(seat);
        if self.0.tap.emit(&call.run, paused).is_none() {
            state.table.forget(hold);
            return None;
        }
        state.seats.insert(hold, told);
        Some(Waiter::new(self.clone(), hold, seat))
    }

    pub(super) fn step(&self, input: Input) {
        let mut state = self.lock();
        let actions = state.table.step(input, now());
        let warnings = self.perform(&mut state, actions);
        drop(state);
        for warning in &warnings {
            (self.0.warn)(warning);
        }
    }

    pub(super) fn revisit(&self, look: impl Fn(&Held<'_>) -> Revisit) {
        let mut state = self.lock();
        let seen: Vec<_> = state.table.guarded().map(|(hold, held)| (hold, look(&held))).collect();
        for (hold, revisit) in seen {
            let actions = state.table.step(Input::Revisit(hold, revisit), now());
            self.perform(&mut state, actions);
        }
    }

    pub(super) fn held(&self) -> usize {
        self.lock().table.held()
    }

    /// Emitting and telling are plain pushes, so nothing here waits, and no order is lost by leaving the lock between.
    fn perform(&self, state: &mut State, actions: Vec<Action>) -> Vec<Warning> {
        let mut warnings = Vec::new();
        for action in actions {
            match action {
                Action::Emit(run, event) => {
                    self.0.tap.emit(&run, event);
                }
                Action::Tell(hold, seat) => {
                    let over = seat.end.is_some();
                    if let Some(told) = state.seats.get(&hold) {
                        told.send_replace(seat);
                    }
                    if over {
                        state.seats.remove(&hold);
                    }
                }
                Action::Warn(warning) => warnings.push(warning),
            }
        }
        warnings
    }

    /// A panic elsewhere must not keep any call held.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn now() -> Now {
    Now { at: Instant::now(), epoch_ms: epoch_ms() }
}
