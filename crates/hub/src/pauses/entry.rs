//! What is remembered of one pause.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use lockgate_protocol::debug::{Principal, ResumeAction};
use lockgate_protocol::json::{ObjectWriter, Raw, View};

use super::{AppId, Key, WaiterId, When};

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) owner: AppId,
    pub(super) age: u64,
    /// Nothing: a resume for a pause that is not known here.
    pub(super) hold: Option<Hold>,
    /// Oldest first.
    pub(super) attempts: Vec<Attempt>,
}

/// A call that stands still, as far as the hub knows.
#[derive(Debug)]
pub(crate) struct Hold {
    pub(crate) item: Item,
    pub(super) phase: Phase,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Phase {
    Open,
    /// The attempt of this request was forwarded and not answered.
    Resolving(Arc<str>),
}

/// One resume that was forwarded.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) request: Arc<str>,
    pub(super) action: ResumeAction,
    pub(super) by: Principal,
    pub(super) operator: Option<Arc<str>>,
    /// Whoever still waits for its end.
    pub(super) waiter: Option<WaiterId>,
    /// When it stops keeping others out.
    pub(super) expiry: Option<When>,
}

/// What `exec.paused` said (hub §8).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Item {
    pub(crate) node: String,
    pub(crate) point: String,
    pub(crate) since: u64,
    pub(crate) reason: Option<String>,
    pub(crate) smart: Option<Raw>,
    pub(crate) looped: Option<Raw>,
    pub(crate) editable: bool,
    /// The guard holds it (wire §10.2).
    pub(crate) guard: Option<Raw>,
    pub(crate) until: Option<Raw>,
}

impl Item {
    /// Reads the payload of an `exec.paused` that parsed.
    pub(crate) fn read(payload: View<'_>, since: u64) -> Item {
        let text = |name| payload.get(name).and_then(View::str).map(|text| text.into_owned());
        let object = |name| payload.get(name).and_then(small);
        Item {
            node: text("nodeId").unwrap_or_default(),
            point: text("point").unwrap_or_default(),
            since,
            reason: text("reason"),
            smart: object("smart"),
            looped: object("loop"),
            editable: payload.get("editable").and_then(View::bool) == Some(true),
            guard: payload.get("hold").map(|hold| small(hold).unwrap_or_else(Raw::null)),
            until: object("until"),
        }
    }
}

impl Hold {
    pub(crate) fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    pub(crate) fn state(&self) -> &'static str {
        match self.phase {
            Phase::Open => "open",
            Phase::Resolving(_) => "resolving",
        }
    }
}

impl Item {
    /// Writes its members; `app` is the run's.
    pub(crate) fn write(&self, key: &Key, app: Option<&str>, w: &mut ObjectWriter<'_>) {
        let Item { node, point, since, reason, smart, looped, editable, guard, until } = self;
        w.str("runId", &key.run).str("pauseId", &key.pause).str("nodeId", node).str("point", point);
        w.u64("since", *since);
        if let Some(reason) = reason {
            w.str("reason", reason);
        }
        for (name, value) in [("smart", smart), ("loop", looped)] {
            if let Some(value) = value {
                w.raw(name, value);
            }
        }
        if *editable {
            w.bool("editable", true);
        }
        for (name, value) in [("hold", guard), ("until", until)] {
            if let Some(value) = value {
                w.raw(name, value);
            }
        }
        if let Some(app) = app {
            w.str("app", app);
        }
    }
}

/// A copy, so that the frame it came in need not be kept; values too long to be what they claim are left out.
pub(crate) fn small(view: View<'_>) -> Option<Raw> {
    (view.raw().len() <= SMALL).then(|| Raw::from(view))
}

#[derive(Debug)]
pub(super) enum Deadline {
    /// An attempt that was not answered no longer keeps others out.
    Attempt {
        key: Key,
        request: Arc<str>,
    },
    Waiter(WaiterId),
}

/// Pauses that are over. The oldest are forgotten first.
#[derive(Debug, Default)]
pub(super) struct Closed {
    keys: HashMap<Key, u64>,
    order: VecDeque<(u64, Key)>,
    next: u64,
}

impl Closed {
    pub(super) fn insert(&mut self, key: Key) {
        self.next += 1;
        self.keys.insert(key.clone(), self.next);
        self.order.push_back((self.next, key));
        if self.order.len() > REMEMBERED
            && let Some((number, oldest)) = self.order.pop_front()
            && self.keys.get(&oldest) == Some(&number)
        {
            self.keys.remove(&oldest);
        }
    }

    pub(super) fn remove(&mut self, key: &Key) {
        self.keys.remove(key);
    }

    pub(super) fn has(&self, key: &Key) -> bool {
        self.keys.contains_key(key)
    }
}

const REMEMBERED: usize = 10_000;
const SMALL: usize = 4_096;
