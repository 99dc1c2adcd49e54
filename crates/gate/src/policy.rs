//! Who decides at a stop, and in which words. The gate carries reasons, it does not understand them.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use lockgate_protocol::debug::{GuardHold, LoopInfo, PauseReason, ResumeAction, Smart};
use lockgate_protocol::edit::Refusal;
use lockgate_protocol::json::Raw;

use crate::call::{Actions, Call, End, PolicyRefusal, Refused, Stop};

/// Decides about calls.
///
/// Policies are asked in the order they were given; the gate's own breakpoints come last. Of the holds of the debugger
/// (those without [`Guard`]) one at most is made at a stop, so the first policy with a reason names it. When such a
/// hold let a call go on to its target, every policy is asked about it once more, because the world moved meanwhile.
pub trait Policy: Send + Sync {
    /// Judges at once: no I/O, no waiting.
    fn judge(&self, call: &Call, at: Stop) -> Verdict;

    /// An attempt ended.
    fn finished(&self, _call: &Call, _end: &End) {}

    /// Whether it ever objects to anything while no hub is attached. One that never does lets long frames pass before they
    /// are complete.
    fn alone(&self) -> Alone {
        Alone::MayObject
    }
}

/// What a policy does while no hub is attached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alone {
    /// It may hold, refuse or amend, as guards do.
    MayObject,
    /// It only watches, as everything of the debugger does.
    OnlyWatches,
}

/// What a policy says about a call at a stop.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a hold is rare and moved once; passing writes no more than its tag")]
pub enum Verdict {
    /// Nothing against it.
    Pass,
    /// Let it go with another input (before) or output (after, error).
    Amend(Raw),
    /// Let it stand until somebody decides.
    Hold(Hold),
    /// Do not let it go.
    Refuse(Refused),
}

/// A call that is to stand still.
#[derive(Debug, Clone)]
pub struct Hold {
    /// Shown to viewers.
    pub reason: Reason,
    /// What happens when nobody comes. A guarded hold always ends with [`Release::Abort`].
    pub unattended: Release,
    /// How long it stands while nobody watches (wire §10.3); `None`: as long as the gate's own holds. Debugger only.
    pub patience: Option<Duration>,
    /// `None`: a hold of the debugger, which fails open.
    pub guard: Option<Arc<Guard>>,
}

impl Hold {
    /// A hold of the debugger: it continues when nobody comes.
    #[must_use]
    pub fn debugger(reason: Reason) -> Self {
        Self { reason, unattended: Release::Continue, patience: None, guard: None }
    }

    /// A hold of a guard: it is refused when nobody comes (wire §10.2).
    #[must_use]
    pub fn guarded(shown: GuardHold, guard: Arc<Guard>) -> Self {
        Self {
            reason: Reason { guard: Some(shown), ..Reason::plain(PauseReason::Breakpoint) },
            unattended: Release::Abort,
            patience: None,
            guard: Some(guard),
        }
    }

    /// How it ends when nobody ends it.
    pub(crate) fn alone(&self) -> Release {
        match self.guard {
            Some(_) => Release::Abort,
            None => self.unattended.clone(),
        }
    }
}

/// Why a call stands, as viewers get to see it (wire §1.5, §10.2).
#[derive(Debug, Clone)]
pub struct Reason {
    /// `reason`. The set is closed, so smart and guard holds say breakpoint.
    pub kind: PauseReason,
    /// `loop`.
    pub looped: Option<LoopInfo>,
    /// `smart`.
    pub smart: Option<Smart>,
    /// `hold`.
    pub guard: Option<GuardHold>,
}

impl Reason {
    /// A reason that needs no details.
    #[must_use]
    pub fn plain(kind: PauseReason) -> Self {
        Self { kind, looped: None, smart: None, guard: None }
    }
}

/// How a hold ends.
#[derive(Debug, Clone, PartialEq)]
pub enum Release {
    /// Go on.
    Continue,
    /// Try again; at before the same as continue.
    Retry,
    /// Answer with this; `None`: without an output.
    Inject(Option<Raw>),
    /// Stop here.
    Abort,
}

impl Release {
    /// Its word on the wire.
    #[must_use]
    pub fn action(&self) -> ResumeAction {
        match self {
            Self::Continue => ResumeAction::Continue,
            Self::Retry => ResumeAction::Retry,
            Self::Inject(_) => ResumeAction::Inject,
            Self::Abort => ResumeAction::Abort,
        }
    }
}

/// The terms of a hold that protects something (wire §10.2). It is made only where somebody can come, and whatever
/// ends it by itself ends it with a refusal.
pub struct Guard {
    /// How long somebody may take. Runs whether or not anybody watches.
    pub review: Duration,
    /// What may be done beside abort: continue lets the call go, retry has the policy judge again. Inject never may.
    pub allow: Actions,
    /// What to do under a hub that does not say who may release guard holds.
    pub old_hub: OldHub,
    /// Asked before a continue counts; `None`: any continue counts, and a `pin` is refused.
    pub approve: Option<Approve>,
    /// The policy's own refusal, in the light of how the hold ended.
    pub refusal: Arc<dyn Fn(Ending) -> PolicyRefusal + Send + Sync>,
}

/// Asked with the `pin` of a resume, if it had one; runs where the call stands and is dropped after 4,000 ms.
pub type Approve = Arc<dyn Fn(Option<String>) -> Approving + Send + Sync>;

/// An approval on its way; an error is shown to viewers and the hold stays.
pub type Approving = Pin<Box<dyn Future<Output = Result<(), Refusal>> + Send>>;

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard")
            .field("review", &self.review)
            .field("allow", &self.allow)
            .field("old_hub", &self.old_hub)
            .finish_non_exhaustive()
    }
}

/// Whether a guard trusts a hub that has no `guard-holds` (wire §10.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OldHub {
    /// Refuse at once.
    Refuse,
    /// Take attached for watched.
    Wait,
}

/// How a guarded hold came to an end without the call going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It was never made: nobody could have come.
    NobodyThere,
    /// Somebody refused.
    Refused,
    /// The time for review was over, or the asker's.
    TimedOut,
    /// The last watcher or the link went away.
    Left,
    /// The asker gave up.
    Cancelled,
    /// What it was about has changed.
    Superseded,
}
