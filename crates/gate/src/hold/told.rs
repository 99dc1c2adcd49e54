//! What the table is told and what it answers.

use lockgate_protocol::debug::{Event, ExecResume, RunId};
use lockgate_protocol::edit::Refusal;
use lockgate_protocol::json::Raw;
use tokio::time::Instant;

use crate::call::{Node, Stop};
use crate::policy::{Reason, Release};
use crate::presence::Presence;
use crate::warning::Warning;

/// What can happen to holds.
pub(crate) enum Input {
    /// A viewer's answer.
    Resume(ExecResume),
    /// The answer of a [`Job`].
    Checked { hold: u64, ticket: u64, verdict: Result<Checked, Refusal> },
    /// Time may be up for a hold.
    Tick(u64),
    /// The waiter says so.
    Gone(u64, Cause),
    /// The asker's own limit moved.
    Limit(u64, Option<Instant>),
    /// The link says so.
    Presence(Presence),
    /// Every hold, now.
    ReleaseAll,
    /// Every hold, now, and none ever again.
    Dispose,
    /// A policy has news about one of its holds.
    Revisit(u64, Revisit),
}

/// What a check let pass.
pub(crate) enum Checked {
    Edit(Raw),
    Approval,
}

/// What to do with a guarded hold when its policy learnt something new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Revisit {
    /// Nothing.
    Keep,
    /// Have the policy judge the call again.
    Again,
    /// Refuse it: what was shown is no longer so.
    Superseded,
}

/// A guarded hold, as its policy gets to see it.
#[derive(Debug, Clone, Copy)]
pub struct Held<'h> {
    /// Run of the call.
    pub run: &'h RunId,
    /// Its node.
    pub node: &'h Node,
    /// Where it stands.
    pub at: Stop,
    /// What viewers were shown.
    pub reason: &'h Reason,
}

/// What the driver is to do, in this order.
#[derive(Debug)]
pub(crate) enum Action {
    Emit(RunId, Event),
    Tell(u64, Seat),
    Warn(Warning),
}

/// Everything a waiter has to know; a newer one replaces an older one whole.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seat {
    /// When to have the table look at its clocks.
    pub(crate) wake: Option<Instant>,
    pub(crate) job: Option<Job>,
    pub(crate) end: Option<Ended>,
}

/// Something to be checked where the call stands. A verdict with an old ticket is void.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) ticket: u64,
    pub(crate) work: Work,
}

#[derive(Debug, Clone)]
pub(crate) enum Work {
    Edit(Raw),
    Approve(Option<String>),
}

/// How a hold ended.
#[derive(Debug, Clone)]
pub(crate) struct Ended {
    pub(crate) release: Release,
    pub(crate) edited: Option<Raw>,
    pub(crate) cause: Cause,
}

impl Ended {
    pub(crate) fn plain(release: Release, cause: Cause) -> Self {
        Self { release, edited: None, cause }
    }
}

/// Who ended a hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    Viewer,
    Time,
    /// Watchers, the link or the session.
    Left,
    Asker,
    Signal,
    /// Nobody waits at the gate any more.
    Waiter,
    Superseded,
    /// The policy wants to judge again.
    Policy,
}

/// Both clocks, read once per step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Now {
    pub(crate) at: Instant,
    pub(crate) epoch_ms: u64,
}
