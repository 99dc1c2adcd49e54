//! What stands at a gate and what the gate answers. Plain data, but for [`Passed`], which only a gate can make.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use lockgate_protocol::debug::{ErrorInfo, NodeKind, PausePoint, ResumeAction, RunId, RunStatus};
use lockgate_protocol::edit::Refusal;
use lockgate_protocol::json::Raw;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::policy::Release;

/// A place in a run, shared by all calls of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// `nodeId` on the wire.
    pub id: Arc<str>,
    /// Kind of the node.
    pub kind: NodeKind,
    /// Its name; matchers ask for it.
    pub name: Arc<str>,
}

/// A call on its way through a gate.
#[derive(Debug, Clone)]
pub struct Call {
    /// The run it belongs to.
    pub run: RunId,
    /// Its node.
    pub node: Arc<Node>,
    /// Tells parallel calls of one node apart (wire §2.6, H11).
    pub instance: Option<Arc<str>>,
    /// Number of its `node.started`; a retry keeps it.
    pub started: Option<u64>,
    /// What it was called with.
    pub input: Option<Raw>,
    /// What came back, at [`Stop::After`]; a result that says it failed, at [`Stop::Error`].
    pub output: Option<Raw>,
    /// What went wrong, at [`Stop::Error`]. Boxed, as the limit is: calls are moved often and few have either.
    pub error: Option<Box<ErrorInfo>>,
    /// How an edited input is checked; `None`: this call's input cannot be edited (wire §3.1).
    pub edit: Option<Edit>,
    /// Retry and inject, where the room cannot do them (wire §2.7, H12).
    pub unsupported: Actions,
    /// The asker gave up: a hold ends with abort and there is nobody to answer (wire §10.6).
    pub cancel: Option<CancellationToken>,
    /// The room gave up on the debugger: a hold ends by itself and the call goes on (wire §2.7, H13).
    pub signal: Option<CancellationToken>,
    /// How long the asker will wait (hub §21.6).
    pub limit: Option<Box<Limit>>,
    /// Which round of its exchange it is (hub N07).
    pub round: Round,
    /// A loose field, by name and word, that every event of a hold of it carries (hub N01).
    pub mark: Option<(&'static str, &'static str)>,
}

/// Which round of an exchange a call is; only exchanges of several requests have more than one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Round {
    /// The first, or one that asks for something else than the one before it.
    #[default]
    New,
    /// The same call once more, with more answers: guards judge it again, the debugger has had its say.
    Repeated,
}

impl Call {
    /// A call of `node` in `run` that carries nothing yet.
    #[must_use]
    pub fn new(run: RunId, node: Arc<Node>) -> Self {
        Self {
            run,
            node,
            instance: None,
            started: None,
            input: None,
            output: None,
            error: None,
            edit: None,
            unsupported: Actions::NONE,
            cancel: None,
            signal: None,
            limit: None,
            round: Round::New,
            mark: None,
        }
    }
}

/// The place of standing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stop {
    /// The target has not been reached, in whole or in part.
    Before,
    /// An answer is there and has not been passed on.
    After,
    /// The attempt failed and the failure has not been passed on.
    Error,
}

impl Stop {
    /// Its word on the wire (wire §1.4).
    #[must_use]
    pub fn point(self) -> PausePoint {
        match self {
            Self::Before => PausePoint::Before,
            Self::After => PausePoint::After,
            Self::Error => PausePoint::Error,
        }
    }
}

/// What the room at the gate is given.
#[derive(Debug)]
pub enum Outcome {
    /// Go on: call the target, or pass on what came back.
    Go(Passed<Call>),
    /// Drop what came back and try again from [`Stop::Before`]; only at after and error.
    Again(Passed<Call>),
    /// Answer with this instead; `None` where a viewer injected without giving an output.
    Answer(Option<Raw>),
    /// Do not go on.
    Refuse(Refused),
}

/// Permission to go on. Only a gate can make one.
#[derive(Debug, Clone)]
#[must_use]
pub struct Passed<T> {
    what: T,
    /// Rare, so apart: permissions are moved on the way of every call.
    changes: Option<Box<Changes>>,
}

/// What was put in place of something else; the call carries it already.
#[derive(Debug, Clone, Default)]
pub(crate) struct Changes {
    pub(crate) edited: Option<Raw>,
    pub(crate) amended: Option<Raw>,
}

impl Passed<Call> {
    pub(crate) fn new(what: Call, changes: Option<Box<Changes>>) -> Self {
        Self { what, changes }
    }
}

impl<T> Passed<T> {
    /// What may go on.
    pub fn get(&self) -> &T {
        &self.what
    }

    /// What may go on, with the permission used up.
    pub fn into_inner(self) -> T {
        self.what
    }

    /// The input a person put in place of the original; the call carries it already.
    #[must_use]
    pub fn edited(&self) -> Option<&Raw> {
        self.changes.as_ref()?.edited.as_ref()
    }

    /// What a policy put in place of the input (before) or of the output (after, error); the call carries it already.
    #[must_use]
    pub fn amended(&self) -> Option<&Raw> {
        self.changes.as_ref()?.amended.as_ref()
    }
}

/// Why a call may not go on.
#[derive(Debug, Clone, PartialEq)]
pub enum Refused {
    /// Somebody pressed abort in the debugger (wire §6.6).
    Aborted,
    /// The asker gave up; nobody waits for an answer (wire §10.6).
    Cancelled,
    /// A policy said no, in its own words.
    Policy(Box<PolicyRefusal>),
}

/// The answer of a policy that refuses, ready to become a JSON-RPC error.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyRefusal {
    /// JSON-RPC error code (gate §8.4).
    pub code: i64,
    /// Message for the asker.
    pub message: String,
    /// `data` of the error.
    pub data: Option<Raw>,
}

/// How an attempt ended, for policies that learn from it.
#[derive(Debug, Clone)]
pub struct End {
    /// As in its `node.finished`.
    pub status: RunStatus,
    /// What it returned.
    pub output: Option<Raw>,
    /// What went wrong.
    pub error: Option<ErrorInfo>,
}

/// A set of [`ResumeAction`]s.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Actions(u8);

impl Actions {
    /// The empty set.
    pub const NONE: Self = Self(0);

    /// Every one of them, in the order they are offered.
    pub const EACH: [ResumeAction; 4] =
        [ResumeAction::Continue, ResumeAction::Retry, ResumeAction::Inject, ResumeAction::Abort];

    /// This set with `action` in it.
    #[must_use]
    pub const fn with(self, action: ResumeAction) -> Self {
        Self(self.0 | Self::bit(action))
    }

    /// Whether `action` is in it.
    #[must_use]
    pub const fn has(self, action: ResumeAction) -> bool {
        self.0 & Self::bit(action) != 0
    }

    const fn bit(action: ResumeAction) -> u8 {
        match action {
            ResumeAction::Continue => 1,
            ResumeAction::Retry => 2,
            ResumeAction::Inject => 4,
            ResumeAction::Abort => 8,
        }
    }
}

impl fmt::Debug for Actions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(Self::EACH.iter().filter(|action| self.has(**action))).finish()
    }
}

/// A moment at which the asker will have given up (hub §21.6).
#[derive(Debug, Clone)]
pub struct Limit {
    /// When; it moves when a heartbeat resets the asker's clock. `None`: not known.
    pub deadline: watch::Receiver<Option<Instant>>,
    /// How a hold of the debugger ends there. `None`: with its unattended release if nobody watches, else not at all.
    pub action: Option<Release>,
}

/// Checks an edited input and answers what the call will carry. Runs where the call stands: in its task, in its run.
#[derive(Clone)]
pub struct Edit(Arc<dyn Fn(Raw) -> Checking + Send + Sync>);

/// A check on its way (wire §3.2): the accepted input, or why not.
pub type Checking = Pin<Box<dyn Future<Output = Result<Raw, Refusal>> + Send>>;

impl fmt::Debug for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Edit")
    }
}

impl Edit {
    /// Whatever is proposed is taken as it is.
    #[must_use]
    pub fn any() -> Self {
        Self::new(Ok)
    }

    /// Checked at once.
    pub fn new(check: impl Fn(Raw) -> Result<Raw, Refusal> + Send + Sync + 'static) -> Self {
        Self(Arc::new(move |proposed| {
            let verdict = check(proposed);
            Box::pin(std::future::ready(verdict))
        }))
    }

    pub(crate) fn check(&self, proposed: Raw) -> Checking {
        (self.0)(proposed)
    }

    /// Checked by something that has to wait; it is dropped after 4,000 ms (wire §3.2).
    pub fn later<F>(check: impl Fn(Raw) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Raw, Refusal>> + Send + 'static,
    {
        Self(Arc::new(move |proposed| Box::pin(check(proposed))))
    }
}
