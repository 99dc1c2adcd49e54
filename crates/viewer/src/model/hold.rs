//! A held call, and how holds ended.

use std::sync::Arc;

use lockgate_protocol::debug::{LoopKind, PausePoint, PauseReason, ResumeAction, SmartRule};

use super::node::NodeAt;
use super::read::Fields;

/// A call that is held now.
#[derive(Debug, Clone)]
pub struct Hold {
    /// Its id.
    pub pause: Arc<str>,
    /// The node that is held.
    pub node: NodeAt,
    /// Which of the node's executions; none when none was open.
    pub execution: Option<usize>,
    /// Several executions were open and the event named none: the one above is a guess.
    pub ambiguous: bool,
    /// Where it stands.
    pub point: PausePoint,
    /// Why, in the sender's word.
    pub reason: Option<PauseReason>,
    /// Why, in detail.
    pub why: Option<Why>,
    /// Whether edited arguments are taken.
    pub editable: bool,
    /// When it ends by itself.
    pub until: Option<Until>,
    /// Epoch milliseconds.
    pub since: u64,
    /// The newest refused releases.
    pub refusals: Vec<Refusal>,
    /// Executions whose held time runs on with this hold.
    pub(crate) credited: Vec<(NodeAt, usize)>,
}

/// The evidence for a hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// The same thing over and over.
    Loop(Loop),
    /// A result that looks wrong.
    Smart {
        /// The rule that noticed.
        rule: SmartRule,
        /// In its words.
        detail: Option<String>,
    },
    /// A guard stands there; only its own releases are taken.
    Guard {
        /// `drift`, `lock` or another.
        policy: String,
        /// The word of its refusal.
        cause: String,
        /// In its words.
        detail: Option<String>,
    },
}

/// What the loop guard saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loop {
    /// The pattern.
    pub kind: LoopKind,
    /// How often.
    pub repeats: u64,
    /// Calls in a lap.
    pub period: Option<u64>,
}

/// A hold that ends by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Until {
    /// Epoch milliseconds; none while the clock stands still.
    pub at: Option<u64>,
    /// What happens then.
    pub action: ResumeAction,
    /// `patience`, `timeout`, `review`, `host-limit` or another.
    pub why: String,
}

/// A release that was not taken; the call is still held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Why, in one word.
    pub code: String,
    /// In the refuser's words.
    pub message: Option<String>,
    /// The request that was refused.
    pub request: Option<String>,
}

/// How a hold ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// Where it stood.
    pub point: PausePoint,
    /// How it ended.
    pub action: ResumeAction,
    /// Whether the call went on with edited arguments.
    pub edited: bool,
    /// Who: `viewer`, `agent`, `anonymous`; none for an end by itself.
    pub principal: Option<String>,
    /// In whose name.
    pub operator: Option<String>,
    /// Epoch milliseconds.
    pub ts: u64,
}

impl Why {
    pub(crate) fn read(payload: Fields<'_>, reason: Option<PauseReason>) -> Option<Self> {
        if let Some(hold) = payload.below("hold") {
            let (policy, cause) = (hold.text("policy")?, hold.text("cause")?);
            return Some(Self::Guard { policy: clean(&policy), cause: clean(&cause), detail: detail(hold) });
        }
        if let Some(smart) = payload.below("smart") {
            let rule = smart.word("rule", SmartRule::parse)?;
            return Some(Self::Smart { rule, detail: detail(smart) });
        }
        if reason == Some(PauseReason::Loop) {
            return payload.below("loop").and_then(Loop::read).map(Self::Loop);
        }
        None
    }
}

impl Loop {
    /// Only with all four base fields; an unknown pattern is a plain repeat.
    fn read(fields: Fields<'_>) -> Option<Self> {
        fields.count("firstSeq")?;
        fields.count("lastSeq")?;
        fields.text("fingerprint")?;
        Some(Self {
            kind: fields.word("kind", LoopKind::parse).unwrap_or(LoopKind::Repeat),
            repeats: fields.count("repeats")?,
            period: fields.count("period").filter(|period| *period > 0),
        })
    }
}

impl Until {
    pub(crate) fn read(fields: Fields<'_>) -> Option<Self> {
        let action = fields.word("action", ResumeAction::parse)?;
        let why = fields.text("why").unwrap_or_default();
        Some(Self { at: fields.count("at"), action, why: clean(&why) })
    }
}

impl Refusal {
    pub(crate) fn read(fields: Fields<'_>) -> Self {
        Self {
            code: clean(&fields.text("code").unwrap_or_default()),
            message: fields.text("message").map(|message| clean(&message)),
            request: fields.text("requestId"),
        }
    }
}

fn detail(fields: Fields<'_>) -> Option<String> {
    fields.text("detail").map(|detail| clean(&detail)).filter(|detail| !detail.is_empty())
}

/// Free text for one line: no control or direction characters, at most 200 characters.
fn clean(text: &str) -> String {
    lockgate_protocol::edit::clean(text).unwrap_or_default()
}
