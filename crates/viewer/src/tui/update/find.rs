//! Finding things: runs by a filter, nodes that failed, and what is folded away; large runs open folded (hub §15.2).

use std::sync::Arc;

use crossterm::event::KeyCode;

use super::Action;
use super::frames::show;
use super::keys::LONGEST_WORD;
use crate::model::{Node, Row, State as NodeState, rows};
use crate::tui::rail::MANY;
use crate::tui::state::{Focus, Fold, Follow, Overlay, Rail, State};

/// Begins to filter the run list.
pub(super) fn filter(state: &mut State) -> Vec<Action> {
    if state.list.len() <= MANY && state.filter.is_empty() {
        state.say(format!("the run list is filtered from {} runs on", MANY + 1));
        return Vec::new();
    }
    (state.rail, state.focus, state.overlay) = (Rail::Shown, Focus::Rail, Overlay::Filter);
    Vec::new()
}

/// A key while the filter is typed.
pub(super) fn filter_key(state: &mut State, key: KeyCode) -> Vec<Action> {
    let last = state.listed().len().saturating_sub(1);
    state.overlay = Overlay::Filter;
    match key {
        KeyCode::Esc => {
            state.overlay = Overlay::None;
            all(state);
        }
        KeyCode::Enter => {
            (state.overlay, state.focus) = (Overlay::None, Focus::Tree);
            return under_cursor(state).map(|run| show(state, &run)).unwrap_or_default();
        }
        KeyCode::Backspace => {
            state.filter.pop();
            state.list_at = 0;
        }
        KeyCode::Up => state.list_at = state.list_at.saturating_sub(1),
        KeyCode::Down => state.list_at = (state.list_at + 1).min(last),
        KeyCode::Char(letter) if !letter.is_control() => longer(state, letter.encode_utf8(&mut [0; 4])),
        _ => {}
    }
    Vec::new()
}

/// More of the filter.
pub(super) fn longer(state: &mut State, text: &str) {
    let room = LONGEST_WORD.saturating_sub(state.filter.chars().count());
    state.filter.extend(text.chars().take(room));
    state.list_at = 0;
}

/// Every run is listed again.
pub(super) fn all(state: &mut State) {
    let under = under_cursor(state);
    state.filter.clear();
    keep_cursor(state, under);
}

/// The run the list's cursor is on.
pub(super) fn under_cursor(state: &State) -> Option<Arc<str>> {
    state.listed().get(state.list_at).map(|info| Arc::clone(&info.id))
}

/// Puts the list's cursor on a run again, wherever it stands now.
pub(super) fn keep_cursor(state: &mut State, under: Option<Arc<str>>) {
    let listed = state.listed();
    let at = under.and_then(|run| listed.iter().position(|info| info.id == run));
    state.list_at = at.unwrap_or(state.list_at.min(listed.len().saturating_sub(1)));
}

/// The next node that failed, in the tree's order and round again, with what it is folded away under unfolded.
pub(super) fn next_error(state: &mut State) {
    let Some(run) = state.run() else { return };
    let whole = rows(run, |_| false);
    let is_failed = |row: &Row| run.node(row.node).is_some_and(has_failed);
    let failed: Vec<usize> = whole.iter().enumerate().filter(|(_, row)| is_failed(row)).map(|(at, _)| at).collect();
    let cursor = state.node.as_ref().and_then(|id| run.find(id));
    let at = whole.iter().position(|row| Some(row.node) == cursor);
    let next = failed.iter().position(|place| Some(*place) > at).unwrap_or(0);
    let node = failed.get(next).and_then(|place| run.node(whole.get(*place)?.node));
    let Some(node) = node else { return state.say("nothing failed in this run") };
    let execution = node.executions.iter().rposition(|execution| execution.failures > 0);
    let (node, said) = (Arc::clone(&node.id), format!("failed node {} of {}", next + 1, failed.len()));
    (state.node, state.execution, state.scroll) = (Some(node), execution, 0);
    (state.follow, state.chosen) = (Follow::Off, None);
    state.say(said);
    uncover(state);
}

/// Unfolds what the selected node is folded away under.
pub(super) fn uncover(state: &mut State) {
    let Some(run) = state.run() else { return };
    let cursor = state.node.as_ref().and_then(|id| run.find(id));
    let whole = rows(run, |_| false);
    let Some(at) = whole.iter().position(|row| Some(row.node) == cursor) else { return };
    let mut depth = whole.get(at).map_or(0, |row| row.depth);
    let mut above = Vec::new();
    for row in whole.iter().take(at).rev() {
        let is_above = row.depth < depth;
        depth = depth.min(row.depth);
        if is_above && state.tracked().is_some_and(|tracked| tracked.is_folded(row.node)) {
            above.extend(run.node(row.node).map(|node| Arc::clone(&node.id)));
        }
    }
    if let Some(tracked) = state.tracked_mut() {
        tracked.folds.extend(above.into_iter().map(|id| (id, Fold::Open)));
    }
}

/// Folds a large run, once, unless somebody folded something: at the deepest level that leaves few enough lines.
pub(super) fn fold_large(state: &mut State, run: &str) {
    let Some(tracked) = state.runs.get_mut(run) else { return };
    if tracked.opened || tracked.replay.is_some() || tracked.run.nodes().len() <= LARGE {
        return;
    }
    tracked.opened = true;
    let rows = rows(&tracked.run, |at| tracked.is_folded(at));
    if !tracked.folds.is_empty() || rows.len() <= FEW {
        return;
    }
    let lines = |level: usize| rows.iter().filter(|row| row.depth <= level).count();
    let level = (0..FEW).take_while(|level| lines(*level) <= FEW).last().unwrap_or(0);
    let ends = rows.iter().filter(|row| row.depth == level && row.parent);
    let ends = ends.filter_map(|row| tracked.run.node(row.node)).map(|node| (Arc::clone(&node.id), Fold::Closed));
    tracked.folds = ends.collect();
    if state.shown.as_deref() == Some(run) && state.hold().is_some() {
        uncover(state);
    }
}

fn has_failed(node: &Node) -> bool {
    node.failures() > 0 || node.state() == NodeState::Error
}

/// Nodes above which a run is large, and the lines it opens with at most.
const LARGE: usize = 70;
const FEW: usize = 60;
