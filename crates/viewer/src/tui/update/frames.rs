//! What a frame from the hub changes.

use std::sync::Arc;

use super::{Action, find};
use crate::feed::{self, Frame, Outcome};
use crate::model::{RunInfo, Status, Taken};
use crate::tui::state::{Follow, Link, Replay, State, Tracked};
use crate::tui::words::visible;

pub(super) fn frame(state: &mut State, frame: Frame) -> Vec<Action> {
    match frame {
        Frame::Welcome(welcome) => {
            state.breakpoints.clone_from(&welcome.breakpoints);
            state.mode = welcome.mode;
            state.hub = Some(welcome);
        }
        Frame::State { breakpoints, mode } => (state.breakpoints, state.mode) = (breakpoints, mode),
        Frame::Runs(list) => return listed(state, list),
        Frame::RunUpdate(info) => return updated(state, info),
        Frame::ReplayStart { run, count } => {
            if let Some(tracked) = state.runs.get_mut(&run) {
                tracked.replay = (count > 0).then_some(Replay { count, seen: 0 });
            }
        }
        Frame::ReplayEnd { run } => {
            let status = state.list.iter().find(|info| info.id == run).map(|info| info.status);
            if let Some(tracked) = state.runs.get_mut(&run) {
                (tracked.replay, tracked.replayed) = (None, true);
                status.into_iter().for_each(|status| tracked.run.stands(status));
                // It was read from there.
                (tracked.stored, tracked.saved_at) = (tracked.stored.max(tracked.ord), state.now);
            }
            find::fold_large(state, &run);
        }
        Frame::Event { run, ord, envelope } => {
            let now = state.now;
            let Some(tracked) = state.runs.get_mut(&run) else { return Vec::new() };
            tracked.ord = tracked.ord.max(ord);
            match &mut tracked.replay {
                Some(replay) => replay.seen += 1,
                None => tracked.lag = now.saturating_sub(envelope.ts),
            }
            let taken = tracked.run.take(&envelope);
            find::fold_large(state, &run);
            if taken == Taken::New && state.shown.as_ref() == Some(&run) {
                follow(state, &envelope.kind);
            }
        }
        Frame::Stored { run, ord } => {
            if let Some(tracked) = state.runs.get_mut(&run) {
                tracked.stored = tracked.stored.max(Some(ord));
                if tracked.stored >= tracked.ord {
                    tracked.saved_at = state.now;
                }
            }
        }
        Frame::Behind { run, missed } => {
            if state.shown.as_ref() == Some(&run) {
                state.say(format!("{missed} events came too fast for this viewer; the hub sends them again"));
            }
        }
        Frame::Outcome(outcome) => outcome_of(state, &outcome),
    }
    Vec::new()
}

/// Shows a run, keeping what is known of it.
pub(in crate::tui) fn show(state: &mut State, run: &Arc<str>) -> Vec<Action> {
    let mut actions = Vec::new();
    if state.shown.as_ref() == Some(run) {
        return actions;
    }
    let connected = state.link == Link::Open;
    if let Some(before) = state.shown.replace(Arc::clone(run)).filter(|_| connected) {
        actions.push(Action::Send(feed::unsubscribe(&before)));
    }
    let newest = state.runs.values().map(|tracked| tracked.used).max().unwrap_or(0);
    let tracked = state.runs.entry(Arc::clone(run)).or_insert_with(|| Tracked::new(Arc::clone(run)));
    tracked.used = newest + 1;
    if connected {
        actions.push(Action::Send(feed::subscribe(run, tracked.ord)));
    }
    if state.runs.len() > MOST_KEPT {
        let oldest = state.runs.iter().min_by_key(|(_, tracked)| tracked.used).map(|(id, _)| Arc::clone(id));
        oldest.and_then(|oldest| state.runs.remove(&oldest));
    }
    (state.node, state.execution, state.chosen, state.scroll) = (None, None, None, 0);
    settle_cursor(state);
    actions
}

/// Puts the cursor where following wants it, or on the first line if it is nowhere.
pub(super) fn settle_cursor(state: &mut State) {
    let held = state.hold().map(|hold| hold.node);
    let Some(run) = state.run() else { return };
    let target = match (state.follow, held) {
        (Follow::On, Some(held)) => run.node(held),
        (Follow::On, None) => run.latest().or(run.nodes().first()),
        (Follow::Off, _) if state.selected().is_some() => return,
        (Follow::Off, _) => run.nodes().first(),
    };
    let target = target.map(|node| Arc::clone(&node.id));
    if target.is_some() && target != state.node {
        (state.node, state.execution, state.scroll) = (target, None, 0);
        if held.is_some() {
            find::uncover(state);
        }
    }
}

fn listed(state: &mut State, mut list: Vec<RunInfo>) -> Vec<Action> {
    list.sort_by(|left, right| right.started.cmp(&left.started).then_with(|| right.id.cmp(&left.id)));
    for info in &list {
        if let Some(tracked) = state.runs.get_mut(&info.id) {
            tracked.run.stands(info.status);
        }
    }
    let under = find::under_cursor(state);
    state.list = list;
    find::keep_cursor(state, under);
    match (&state.shown, state.list.first()) {
        (None, Some(newest)) => {
            let newest = Arc::clone(&newest.id);
            show(state, &newest)
        }
        _ => Vec::new(),
    }
}

fn updated(state: &mut State, info: RunInfo) -> Vec<Action> {
    if let Some(tracked) = state.runs.get_mut(&info.id) {
        tracked.run.stands(info.status);
    }
    let idle = state.info().is_none_or(|shown| shown.status != Status::Running);
    match state.list.iter_mut().find(|known| known.id == info.id) {
        Some(known) => {
            *known = info;
            Vec::new()
        }
        None => {
            let id = Arc::clone(&info.id);
            let at = state.list.partition_point(|known| known.started > info.started);
            let under = find::under_cursor(state);
            state.list.insert(at, info);
            find::keep_cursor(state, under);
            if state.shown.is_none() || (idle && state.follow == Follow::On) { show(state, &id) } else { Vec::new() }
        }
    }
}

fn follow(state: &mut State, kind: &str) {
    if state.follow == Follow::On || state.node.is_none() {
        match kind {
            "node.started" | "exec.paused" | "exec.resumed" | "graph.hint" => settle_cursor(state),
            _ => {}
        }
    }
    if kind == "exec.refused" {
        refused(state);
    }
}

/// The newest refusal, if it answers something this viewer asked.
fn refused(state: &mut State) {
    let refusals = state.run().into_iter().flat_map(|run| &run.holds).filter_map(|hold| hold.refusals.last());
    let ours = refusals
        .into_iter()
        .find(|refusal| refusal.request.as_ref().is_some_and(|request| state.asked.contains_key(request)));
    if let Some(refusal) = ours.cloned() {
        refusal.request.and_then(|request| state.asked.remove(&request));
        let message = refusal.message.unwrap_or_default();
        state.say(format!("still held: refused as {} {message}", refusal.code));
    }
}

fn outcome_of(state: &mut State, outcome: &Outcome) {
    let asked = outcome.request.as_ref().and_then(|request| state.asked.remove(request));
    let what = asked.map_or("hub", |asked| asked.action);
    let code = outcome.code.as_deref().unwrap_or_default();
    let message = visible(outcome.message.as_deref().unwrap_or_default()).into_owned();
    let text = match outcome.outcome.as_str() {
        "resumed" => format!("{what}: done"),
        "refused" => format!("{what}: refused as {} {message}", visible(code)),
        "taken" => format!("{what}: somebody else was first"),
        "timeout" => format!("{what}: no answer yet ({})", visible(code)),
        "no-such-pause" => format!("{what}: the call is no longer held"),
        other => format!("{what}: {} {message}", visible(other)),
    };
    state.say(text);
}

/// Runs that are kept in memory.
const MOST_KEPT: usize = 8;
