//! Viewers: what they follow, and how they are told (hub §5). A viewer that cannot keep up loses its place, not its picture.

use std::collections::HashMap;
use std::sync::Arc;

use lockgate_protocol::debug::{Matcher, PROTOCOL, Principal};
use lockgate_protocol::json::ObjectWriter;
use tokio::sync::oneshot;

use super::records::{Introduction, Record};
use super::{Clock, State};
use crate::feed::frames::{self, Complaint};
use crate::feed::{Feed, Job, ViewerId};
use crate::level::Edits;
use crate::outbox::Text;
use crate::store::NewEvent;
use crate::watch::Looker;

/// All viewers.
#[derive(Debug, Default)]
pub(crate) struct Viewers {
    viewers: HashMap<ViewerId, Viewer>,
    /// Counts subscriptions, so that work for an old one is known as such.
    turns: u64,
}

#[derive(Debug)]
struct Viewer {
    feed: Arc<Feed>,
    principal: Principal,
    /// Follows the list of runs.
    runs: bool,
    follows: HashMap<Arc<str>, Follow>,
}

#[derive(Debug)]
struct Follow {
    turn: u64,
    place: Place,
    /// Events that found no room in its queue, so far.
    missed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Reads what is stored, a page at a time.
    Paging,
    /// Gets events as they come.
    Tail,
    /// Was cut off; everything after the last one sent is missing.
    Lost,
}

/// Where a viewer stands that wants to follow a run live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joined {
    /// From now on events after `head` are queued; those up to it are to be read first.
    Tail { head: u64, stored: u64, missed: Option<u64> },
    /// Too far back: read up to `head` and ask again.
    Far { head: u64, missed: Option<u64> },
    /// It does not follow the run any more.
    Gone,
}

impl Viewers {
    pub(crate) fn principal(&self, viewer: ViewerId) -> Option<Principal> {
        self.viewers.get(&viewer).map(|viewer| viewer.principal)
    }

    pub(crate) fn complain(&self, viewer: ViewerId, complaint: &Complaint) {
        self.answer(viewer, complaint.frame());
    }

    pub(crate) fn answer(&self, viewer: ViewerId, text: Text) {
        if let Some(viewer) = self.viewers.get(&viewer) {
            viewer.feed.answer(text);
        }
    }

    /// What can be lost without harm: the next one says more.
    pub(crate) fn tell_tails(&self, tails: &[ViewerId], text: &Text) {
        tails.iter().for_each(|viewer| self.answer(*viewer, text.clone()));
    }

    fn follow(&mut self, viewer: ViewerId, run: &str) -> Option<(&Arc<Feed>, &mut Follow)> {
        let viewer = self.viewers.get_mut(&viewer)?;
        Some((&viewer.feed, viewer.follows.get_mut(run)?))
    }
}

impl State {
    pub(super) fn viewer_came(
        &mut self,
        principal: Principal,
        feed: Arc<Feed>,
        reply: oneshot::Sender<ViewerId>,
        clock: Clock,
    ) {
        let id = ViewerId(self.number());
        self.watch.came(Looker::Viewer);
        // What its coming arms stands in its welcome already.
        self.hear_watchers(clock);
        feed.answer(self.welcome(principal));
        let viewer = Viewer { feed, principal, runs: false, follows: HashMap::new() };
        self.viewers.viewers.insert(id, viewer);
        if reply.send(id).is_err() {
            self.viewer_left(id, clock);
        }
    }

    pub(super) fn viewer_left(&mut self, id: ViewerId, clock: Clock) {
        let Some(viewer) = self.viewers.viewers.remove(&id) else { return };
        for run in viewer.follows.keys() {
            self.unfollow(id, run);
        }
        self.askers.retain(|_, (asker, _)| !asker.is(id));
        self.watch.left(Looker::Viewer, clock.now);
    }

    pub(super) fn subscribe(
        &mut self,
        id: ViewerId,
        run: Option<Arc<str>>,
        after: Option<u64>,
        known: Option<Box<Introduction>>,
    ) {
        let Some(viewer) = self.viewers.viewers.get_mut(&id) else { return };
        let Some(run) = run else {
            viewer.runs = true;
            return viewer.feed.give(Job::Runs);
        };
        if viewer.follows.contains_key(&run) {
            return viewer.feed.give(Job::Empty { run });
        }
        if viewer.follows.len() >= MOST_FOLLOWED {
            let complaint = Complaint { run: Some(run), ..Complaint::new("too many subscriptions") };
            return viewer.feed.answer(complaint.frame());
        }
        match known {
            Some(known) if self.records.get(&run).is_none_or(Record::is_awaited) => {
                self.records.begin(Record::stored(*known));
            }
            _ => self.records.expect(&run),
        }
        self.viewers.turns += 1;
        let turn = self.viewers.turns;
        let Some(record) = self.records.get_mut(&run) else { return };
        record.followers += 1;
        viewer.follows.insert(Arc::clone(&run), Follow { turn, place: Place::Paging, missed: 0 });
        let feed = Arc::clone(&viewer.feed);
        let head = self.readable(&run);
        feed.give(Job::Replay { run, turn, after: after.unwrap_or(0).min(head), head });
    }

    pub(super) fn unsubscribe(&mut self, id: ViewerId, run: Option<Arc<str>>) {
        let Some(viewer) = self.viewers.viewers.get_mut(&id) else { return };
        match run {
            None => viewer.runs = false,
            Some(run) => {
                if viewer.follows.remove(&run).is_some() {
                    viewer.feed.give(Job::Left { run: Arc::clone(&run) });
                    self.unfollow(id, &run);
                }
            }
        }
    }

    fn unfollow(&mut self, id: ViewerId, run: &str) {
        if let Some(record) = self.records.get_mut(run) {
            record.followers = record.followers.saturating_sub(1);
            record.tails.retain(|tail| *tail != id);
        }
        self.forget_idle(run);
    }

    /// A viewer has read up to `after`. If that is close to the present, it is queued for from here on: what it still has to
    /// read and what is queued meet without a gap, because nothing else happens in between.
    pub(super) fn join(&mut self, id: ViewerId, run: &Arc<str>, turn: u64, after: u64) -> Joined {
        let head = self.readable(run);
        let Some((feed, follow)) = self.viewers.follow(id, run).filter(|(_, follow)| follow.turn == turn) else {
            return Joined::Gone;
        };
        let Some(record) = self.records.get_mut(run) else { return Joined::Gone };
        let missed = (follow.place == Place::Lost).then(|| {
            follow.missed += record.shown.saturating_sub(after);
            follow.missed
        });
        if head.saturating_sub(after) > CLOSE {
            follow.place = Place::Paging;
            return Joined::Far { head, missed };
        }
        follow.place = Place::Tail;
        // What the store does not show to readers yet is still here.
        for (event, ord) in self.owed.of(run).chain(self.unkept.of(run)).filter(|(_, ord)| *ord > after) {
            if !feed.event(run, ord, &frames::fresh_event(event, ord)) {
                follow.place = Place::Lost;
                feed.give(Job::CatchUp { run: Arc::clone(run), turn });
                break;
            }
        }
        if follow.place == Place::Tail && !record.tails.contains(&id) {
            record.tails.push(id);
        }
        Joined::Tail { head, stored: record.stored, missed }
    }

    /// The number up to which a run can be read from the store, if it was kept.
    fn readable(&self, run: &str) -> u64 {
        let first = self.owed.of(run).chain(self.unkept.of(run)).next().map(|(_, ord)| ord - 1);
        first.or_else(|| self.records.get(run).map(|record| record.shown)).unwrap_or(0)
    }

    /// Shows an event to those who follow its run live. Whoever has no room for it is cut off.
    pub(super) fn show(&mut self, event: &NewEvent, ord: u64) {
        let Some(record) = self.records.get_mut(&event.run).filter(|record| !record.tails.is_empty()) else { return };
        let text = frames::fresh_event(event, ord);
        let viewers = &mut self.viewers;
        record.tails.retain(|id| {
            let Some((feed, follow)) = viewers.follow(*id, &event.run) else { return false };
            if feed.event(&event.run, ord, &text) {
                return true;
            }
            follow.place = Place::Lost;
            feed.give(Job::CatchUp { run: Arc::clone(&event.run), turn: follow.turn });
            false
        });
    }

    /// Tells those who follow the list of runs how a run stands.
    pub(super) fn update(&mut self, run: &str) {
        let Some(record) = self.records.get(run).filter(|record| !record.is_awaited()) else { return };
        let mut followers = self.viewers.viewers.values().filter(|viewer| viewer.runs).peekable();
        if followers.peek().is_none() {
            return;
        }
        let text = frames::run_update(&record.run, self.liveness(run, record.owner));
        followers.for_each(|viewer| viewer.feed.text_or(&text, Job::Runs));
    }

    pub(super) fn pruned(&mut self, runs: &[Arc<str>]) {
        for run in runs {
            self.owed.runs.remove(run);
            let Some(record) = self.records.get_mut(run) else { continue };
            // Should it be written to again after all, it needs a row again.
            record.ensured = false;
            if record.owner.is_none() && record.abandon_at.is_none() {
                self.setup.claims.forget(run);
                self.forget_idle(run);
            }
        }
        let followers = self.viewers.viewers.values().filter(|viewer| viewer.runs);
        followers.for_each(|viewer| viewer.feed.give(Job::Runs));
    }

    pub(super) fn show_state(&self, id: ViewerId) {
        self.viewers.answer(id, self.state_frame());
    }

    pub(super) fn broadcast_state(&self) {
        if self.viewers.viewers.is_empty() {
            return;
        }
        let text = self.state_frame();
        self.viewers.viewers.values().for_each(|viewer| viewer.feed.text_or(&text, Job::State));
    }

    fn state_frame(&self) -> Text {
        frames::frame("state", |w| self.write_state(w))
    }

    fn welcome(&self, principal: Principal) -> Text {
        let setup = &self.setup;
        frames::frame("welcome", |w| {
            w.object("versions", |w| {
                w.u64("protocol", PROTOCOL).str("server", &setup.version);
            });
            self.write_state(w);
            w.object("control", |w| {
                w.str("principal", principal.as_str()).str("agentLevel", setup.house.agents.as_str());
                w.bool("editInput", setup.house.edits == Edits::Allowed);
                w.strs("hubCapabilities", &setup.hub_capabilities);
            });
        })
    }

    fn write_state(&self, w: &mut ObjectWriter<'_>) {
        let breakpoints = &self.setup.breakpoints;
        w.array("breakpoints", breakpoints.matchers().map(Matcher::to_raw), |out, matcher| {
            out.extend_from_slice(matcher.as_bytes());
        });
        w.str("mode", breakpoints.mode().as_str());
        let lacking = self.apps.values().filter(|app| !app.can("conditions")).count();
        w.u64("appsWithoutConditions", u64::try_from(lacking).unwrap_or(u64::MAX));
        if let Some(failure) = &self.storage {
            w.str("storage", failure);
        }
    }
}

/// Runs one viewer may follow at once.
const MOST_FOLLOWED: usize = 1_024;
/// So few events behind, a viewer reads the rest in one page.
const CLOSE: u64 = 1_000;
