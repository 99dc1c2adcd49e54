//! Everything the terminal viewer knows and shows. Changed by `update`, read by `draw`; holds no socket and no terminal.

use std::collections::HashMap;
use std::sync::Arc;

use lockgate_protocol::debug::{Matcher, RunMode};
use lockgate_protocol::json::Raw;

use super::theme::Colour;
use crate::feed::Welcome;
use crate::model::{Hold, Node, NodeAt, Row, Run, RunInfo, rows};

/// The whole state of the viewer.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) colour: Colour,
    /// Where the hub is, for people.
    pub(crate) address: String,
    /// The wall clock, epoch milliseconds, as of the last event.
    pub(crate) now: u64,
    /// Columns and rows of the terminal.
    pub(crate) size: (u16, u16),
    pub(crate) link: Link,
    pub(crate) hub: Option<Welcome>,
    pub(crate) mode: RunMode,
    pub(crate) breakpoints: Vec<Matcher>,
    /// Newest start first.
    pub(crate) list: Vec<RunInfo>,
    pub(crate) runs: HashMap<Arc<str>, Tracked>,
    pub(crate) shown: Option<Arc<str>>,
    pub(crate) follow: Follow,
    pub(crate) rail: Rail,
    pub(crate) focus: Focus,
    /// The line of the run list the cursor is on.
    pub(crate) list_at: usize,
    /// The node the tree's cursor is on.
    pub(crate) node: Option<Arc<str>>,
    /// The execution shown of it; none for the newest.
    pub(crate) execution: Option<usize>,
    /// Lines the inspector is scrolled down.
    pub(crate) scroll: usize,
    /// The hold that keys act on, if it was chosen.
    pub(crate) chosen: Option<Arc<str>>,
    /// The hold that keys acted on after the last event, and until when keys are not taken because it changed by itself.
    pub(crate) aim: Option<Arc<str>>,
    pub(crate) steady_at: u64,
    pub(crate) overlay: Overlay,
    /// What runs are looked for by; empty lists all.
    pub(crate) filter: String,
    pub(crate) notice: Option<Notice>,
    pub(crate) drafts: HashMap<Ticket, String>,
    pub(crate) asked: HashMap<String, Asked>,
    /// Starts every request id of this viewer.
    pub(crate) session: String,
    pub(crate) requests: u64,
}

/// How it stands with the hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Link {
    /// Never connected yet.
    Connecting {
        trouble: Option<String>,
    },
    Open,
    /// Was connected; what is shown is old.
    Lost {
        since: u64,
        why: String,
    },
}

/// A run that was shown, with how far its events have come.
#[derive(Debug, Clone)]
pub(crate) struct Tracked {
    pub(crate) run: Run,
    /// The highest arrival number seen.
    pub(crate) ord: Option<u64>,
    /// The highest arrival number known to be on disk.
    pub(crate) stored: Option<u64>,
    /// When everything seen was last known to be on disk.
    pub(crate) saved_at: u64,
    pub(crate) replay: Option<Replay>,
    /// Whether the hub said all it has kept of it.
    pub(crate) replayed: bool,
    /// Whether it was decided how it opens.
    pub(crate) opened: bool,
    /// How old the newest live event was when it came.
    pub(crate) lag: u64,
    /// What was folded or unfolded by hand.
    pub(crate) folds: HashMap<Arc<str>, Fold>,
    /// When it was last shown, as a count; the oldest is forgotten first.
    pub(crate) used: u64,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Replay {
    pub(crate) count: u64,
    pub(crate) seen: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fold {
    Open,
    Closed,
}

/// Whether the cursor goes where things happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Follow {
    On,
    Off,
}

/// Whether the run list is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rail {
    Shown,
    Hidden,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Focus {
    Rail,
    Tree,
    Inspector,
}

#[derive(Debug, Clone)]
pub(crate) enum Overlay {
    None,
    /// Scrolled down by so many lines.
    Help(usize),
    /// A filter of the run list is being typed.
    Filter,
    /// A word is being typed.
    Prompt(Prompt),
    /// A release with a value stands ready.
    Confirm(Proposal),
}

/// A word being typed, and the hold it was begun for.
#[derive(Debug, Clone)]
pub(crate) struct Prompt {
    pub(crate) text: String,
    pub(crate) pause: Option<Arc<str>>,
}

/// A release that waits for a last yes.
#[derive(Debug, Clone)]
pub(crate) struct Proposal {
    pub(crate) ticket: Ticket,
    pub(crate) value: Raw,
    /// What is about to happen.
    pub(crate) title: String,
}

/// What a text in the editor is for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Ticket {
    pub(crate) run: Arc<str>,
    pub(crate) pause: Arc<str>,
    pub(crate) purpose: Purpose,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Purpose {
    Inject,
    Edit,
}

#[derive(Debug, Clone)]
pub(crate) struct Notice {
    pub(crate) text: String,
    pub(crate) until: u64,
}

/// A release on its way.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) pause: Arc<str>,
    pub(crate) action: &'static str,
    pub(crate) at: u64,
}

impl State {
    pub(crate) fn new(colour: Colour, address: String, session: String) -> Self {
        Self {
            colour,
            address,
            now: 0,
            size: (80, 24),
            link: Link::Connecting { trouble: None },
            hub: None,
            mode: RunMode::Run,
            breakpoints: Vec::new(),
            list: Vec::new(),
            runs: HashMap::new(),
            shown: None,
            follow: Follow::On,
            rail: Rail::Shown,
            focus: Focus::Tree,
            list_at: 0,
            node: None,
            execution: None,
            scroll: 0,
            chosen: None,
            aim: None,
            steady_at: 0,
            overlay: Overlay::None,
            filter: String::new(),
            notice: None,
            drafts: HashMap::new(),
            asked: HashMap::new(),
            session,
            requests: 0,
        }
    }

    pub(crate) fn tracked(&self) -> Option<&Tracked> {
        self.runs.get(self.shown.as_ref()?)
    }

    pub(crate) fn tracked_mut(&mut self) -> Option<&mut Tracked> {
        self.runs.get_mut(self.shown.as_ref()?)
    }

    pub(crate) fn run(&self) -> Option<&Run> {
        self.tracked().map(|tracked| &tracked.run)
    }

    pub(crate) fn info(&self) -> Option<&RunInfo> {
        let shown = self.shown.as_ref()?;
        self.list.iter().find(|info| info.id == *shown)
    }

    /// The run list as it is shown: runs whose app or id has what is looked for, whatever its case.
    pub(crate) fn listed(&self) -> Vec<&RunInfo> {
        let wanted = self.filter.to_lowercase();
        let fits = |info: &&RunInfo| [&*info.app, &*info.id].iter().any(|text| text.to_lowercase().contains(&wanted));
        self.list.iter().filter(|info| wanted.is_empty() || fits(info)).collect()
    }

    /// Whether the hub has nothing of the run that was asked for.
    pub(crate) fn is_missing(&self) -> bool {
        let silent = |tracked: &Tracked| tracked.replayed && tracked.ord.is_none() && tracked.run.nodes().is_empty();
        self.tracked().is_some_and(silent) && self.info().is_none()
    }

    /// The line of the tree the cursor is on: the node's own, else the one it is folded away under.
    pub(crate) fn row_at(&self, shown: &[Row]) -> Option<usize> {
        let run = self.run()?;
        let at = run.find(self.node.as_ref()?)?;
        let place = |wanted: NodeAt| shown.iter().position(|row| row.node == wanted);
        place(at).or_else(|| {
            let whole = rows(run, |_| false);
            let before = whole.iter().take_while(|row| row.node != at);
            before.filter_map(|row| place(row.node)).last()
        })
    }

    /// The tree as it is shown.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let Some(tracked) = self.tracked() else { return Vec::new() };
        rows(&tracked.run, |at| tracked.is_folded(at))
    }

    /// The node the cursor is on.
    pub(crate) fn selected(&self) -> Option<&Node> {
        let run = self.run()?;
        run.node(run.find(self.node.as_ref()?)?)
    }

    /// The hold that keys act on: the chosen one, else one of the selected node, else the oldest.
    pub(crate) fn hold(&self) -> Option<&Hold> {
        let run = self.run()?;
        let chosen = self.chosen.as_ref().and_then(|pause| run.hold(pause));
        let at = self.node.as_ref().and_then(|id| run.find(id));
        chosen.or_else(|| run.holds.iter().find(|hold| Some(hold.node) == at)).or(run.holds.first())
    }

    /// Whether what is shown may be out of date.
    pub(crate) fn is_stale(&self) -> bool {
        matches!(self.link, Link::Lost { .. })
    }

    /// When something on the screen changes without an event.
    pub(crate) fn ticks(&self) -> bool {
        let run_goes_on = self.run().is_some_and(|run| run.clock(self.now.max(run.newest) + 1) > run.newest);
        run_goes_on || self.is_stale() || self.notice.is_some() || !self.asked.is_empty()
    }

    pub(crate) fn say(&mut self, text: impl Into<String>) {
        self.notice = Some(Notice { text: text.into(), until: self.now + NOTICE_MS });
    }
}

impl Tracked {
    pub(crate) fn new(id: Arc<str>) -> Self {
        Self {
            run: Run::new(id),
            ord: None,
            stored: None,
            saved_at: 0,
            replay: None,
            replayed: false,
            opened: false,
            lag: 0,
            folds: HashMap::new(),
            used: 0,
        }
    }

    pub(crate) fn is_folded(&self, at: NodeAt) -> bool {
        let Some(node) = self.run.node(at) else { return false };
        match self.folds.get(&node.id) {
            Some(Fold::Closed) => true,
            Some(Fold::Open) => false,
            None => node.collapsed,
        }
    }
}

/// How long a notice stays.
const NOTICE_MS: u64 = 8_000;
