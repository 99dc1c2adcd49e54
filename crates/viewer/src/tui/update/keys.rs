//! What keys mean (hub §15.5). Letters act on the held call whatever pane has the cursor; abort has no key, on purpose.

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use lockgate_protocol::debug::{Matcher, PausePoint, ResumeAction};

use super::frames::{settle_cursor, show};
use super::{Action, edit, find, release};
use crate::model::NodeAt;
use crate::tui::layout::Areas;
use crate::tui::state::{Focus, Fold, Follow, Overlay, Prompt, Rail, State};
use crate::tui::words::visible;
use crate::tui::{help, inspector};

pub(super) fn key(state: &mut State, key: KeyEvent) -> Vec<Action> {
    if key.kind == KeyEventKind::Release {
        return Vec::new();
    }
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            KeyCode::Char('c') => vec![Action::Quit],
            _ => Vec::new(),
        };
    }
    match std::mem::replace(&mut state.overlay, Overlay::None) {
        Overlay::None => plain(state, key),
        Overlay::Help(top) => help(state, top, key.code),
        Overlay::Filter => find::filter_key(state, key.code),
        Overlay::Prompt(typed) => prompt(state, typed, key.code),
        Overlay::Confirm(proposal) => match key.code {
            KeyCode::Enter => release::confirmed(state, proposal),
            KeyCode::Esc => {
                state.say("not sent; your draft is kept");
                Vec::new()
            }
            _ => {
                state.overlay = Overlay::Confirm(proposal);
                Vec::new()
            }
        },
    }
}

/// Text where text is typed; nowhere else does any of it count as a key.
pub(super) fn pasted(state: &mut State, text: &str) {
    let letters = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    match &mut state.overlay {
        // Never the end of the line: only a person says that a word is whole.
        Overlay::Prompt(prompt) => prompt.text.extend(letters.take(LONGEST_WORD.saturating_sub(prompt.text.len()))),
        Overlay::Filter => find::longer(state, letters.collect::<String>().trim()),
        Overlay::None | Overlay::Help(_) | Overlay::Confirm(_) => {
            state.say("pasted text is not taken as keys: nothing was done");
        }
    }
}

fn help(state: &mut State, top: usize, key: KeyCode) -> Vec<Action> {
    let lowest = help::lowest(state.size);
    let top = match key {
        KeyCode::Down | KeyCode::PageDown | KeyCode::Char('j' | ' ') if lowest > 0 => top + 1,
        KeyCode::Up | KeyCode::PageUp | KeyCode::Char('k') if lowest > 0 => top.saturating_sub(1),
        _ => return Vec::new(),
    };
    state.overlay = Overlay::Help(top.min(lowest));
    Vec::new()
}

fn plain(state: &mut State, key: KeyEvent) -> Vec<Action> {
    match key.code {
        KeyCode::Char(letter) => letter_key(state, letter),
        KeyCode::Tab => focus(state, 1),
        KeyCode::BackTab => focus(state, -1),
        KeyCode::Up => go(state, -1),
        KeyCode::Down => go(state, 1),
        KeyCode::PageUp => go(state, -page(state)),
        KeyCode::PageDown => go(state, page(state)),
        KeyCode::Home => go(state, isize::MIN),
        KeyCode::End => go(state, isize::MAX),
        KeyCode::Left => fold(state, Fold::Closed),
        KeyCode::Right => fold(state, Fold::Open),
        KeyCode::Enter => enter(state),
        KeyCode::Esc => {
            (state.notice, state.chosen) = (None, None);
            find::all(state);
            Vec::new()
        }
        _ => Vec::new(),
    }
}

fn letter_key(state: &mut State, letter: char) -> Vec<Action> {
    if letter == 'E' {
        find::next_error(state);
        return Vec::new();
    }
    match letter.to_ascii_lowercase() {
        'c' => release::release(state, ResumeAction::Continue),
        'r' => release::release(state, ResumeAction::Retry),
        's' => release::step(state),
        'i' => edit::inject(state),
        'e' => edit::arguments(state),
        'n' => next_hold(state, if letter == 'N' { -1 } else { 1 }),
        'm' => release::toggle_mode(state),
        'p' => breakpoint_here(state),
        'x' => {
            let matcher = Matcher { kind: None, name: None, point: Some(PausePoint::Error), when: None, after: None };
            release::toggle_breakpoint(state, matcher)
        }
        'f' => follow(state),
        'b' => rail(state),
        'j' => go(state, 1),
        'k' => go(state, -1),
        'g' => go(state, if letter == 'G' { isize::MAX } else { isize::MIN }),
        '[' => execution(state, -1),
        ']' => execution(state, 1),
        ' ' => toggle_fold(state),
        '/' => find::filter(state),
        ':' => begin(state, ""),
        // Whoever types the word without a colon first must not hit other keys on the way.
        'a' => begin(state, "a"),
        '?' => {
            state.overlay = Overlay::Help(0);
            Vec::new()
        }
        'q' => vec![Action::Quit],
        _ => Vec::new(),
    }
}

fn begin(state: &mut State, text: &str) -> Vec<Action> {
    let pause = state.hold().map(|hold| Arc::clone(&hold.pause));
    state.overlay = Overlay::Prompt(Prompt { text: text.to_owned(), pause });
    Vec::new()
}

/// A line is being typed; only whole words count.
fn prompt(state: &mut State, mut prompt: Prompt, key: KeyCode) -> Vec<Action> {
    match key {
        KeyCode::Esc => return Vec::new(),
        KeyCode::Enter => return command(state, &prompt),
        KeyCode::Backspace if prompt.text.pop().is_none() => return Vec::new(),
        KeyCode::Char(letter) if prompt.text.len() < LONGEST_WORD && !letter.is_control() => prompt.text.push(letter),
        _ => {}
    }
    state.overlay = Overlay::Prompt(prompt);
    Vec::new()
}

fn command(state: &mut State, prompt: &Prompt) -> Vec<Action> {
    match prompt.text.trim() {
        "abort" => {
            let current = state.hold().map(|hold| Arc::clone(&hold.pause));
            if prompt.pause.is_some() && current != prompt.pause {
                return release::refuse(state, "the call this was meant for is no longer the held one".to_owned());
            }
            release::release(state, ResumeAction::Abort)
        }
        "quit" | "q" => vec![Action::Quit],
        "" => Vec::new(),
        other => {
            let said = format!("unknown word: {} (there are abort and quit)", visible(other));
            release::refuse(state, said)
        }
    }
}

fn focus(state: &mut State, by: isize) -> Vec<Action> {
    let panes: &[Focus] = match state.rail {
        Rail::Shown => &[Focus::Rail, Focus::Tree, Focus::Inspector],
        Rail::Hidden => &[Focus::Tree, Focus::Inspector],
    };
    let at = panes.iter().position(|pane| *pane == state.focus).unwrap_or(0);
    let next = if by > 0 { (at + 1) % panes.len() } else { (at + panes.len() - 1) % panes.len() };
    state.focus = panes.get(next).copied().unwrap_or(Focus::Tree);
    Vec::new()
}

/// Up and down in the pane that has the cursor.
fn go(state: &mut State, by: isize) -> Vec<Action> {
    match state.focus {
        Focus::Rail => state.list_at = moved(state.list_at, by, state.listed().len()),
        Focus::Inspector => {
            let area = Areas::of(state).inspector_inside();
            let lines = inspector::lines(state, area.width.into()).len();
            state.scroll = moved(state.scroll, by, (lines + 1).saturating_sub(area.height.into()));
        }
        Focus::Tree => {
            let rows = state.rows();
            let Some(run) = state.run() else { return Vec::new() };
            let at = state.row_at(&rows).unwrap_or(0);
            let target = rows.get(moved(at, by, rows.len())).and_then(|row| run.node(row.node));
            if let Some(id) = target.map(|node| Arc::clone(&node.id)) {
                (state.node, state.execution, state.scroll) = (Some(id), None, 0);
                (state.follow, state.chosen) = (Follow::Off, None);
            }
        }
    }
    Vec::new()
}

fn moved(at: usize, by: isize, count: usize) -> usize {
    at.saturating_add_signed(by).min(count.saturating_sub(1))
}

fn page(state: &State) -> isize {
    let height = match state.focus {
        Focus::Rail | Focus::Tree => Areas::of(state).tree.height,
        Focus::Inspector => Areas::of(state).inspector.height,
    };
    isize::try_from(height).unwrap_or(1).saturating_sub(3).max(1)
}

fn enter(state: &mut State) -> Vec<Action> {
    match state.focus {
        Focus::Rail => {
            let chosen = state.listed().get(state.list_at).map(|info| Arc::clone(&info.id));
            state.focus = Focus::Tree;
            chosen.map(|chosen| show(state, &chosen)).unwrap_or_default()
        }
        Focus::Tree => {
            state.focus = Focus::Inspector;
            Vec::new()
        }
        Focus::Inspector => {
            state.focus = Focus::Tree;
            Vec::new()
        }
    }
}

fn fold(state: &mut State, fold: Fold) -> Vec<Action> {
    let id = at_cursor(state).and_then(|at| state.run()?.node(at)).map(|node| Arc::clone(&node.id));
    if let (Some(id), Some(tracked)) = (id, state.tracked_mut()) {
        tracked.folds.insert(id, fold);
    }
    Vec::new()
}

/// The node whose line the cursor is on.
fn at_cursor(state: &State) -> Option<NodeAt> {
    let rows = state.rows();
    rows.get(state.row_at(&rows)?).map(|row| row.node)
}

fn toggle_fold(state: &mut State) -> Vec<Action> {
    let at = at_cursor(state);
    let folded = at.zip(state.tracked()).is_some_and(|(at, tracked)| tracked.is_folded(at));
    fold(state, if folded { Fold::Open } else { Fold::Closed })
}

fn execution(state: &mut State, by: isize) -> Vec<Action> {
    let count = state.selected().map_or(0, |node| node.executions.len());
    if count > 0 {
        let at = state.execution.unwrap_or(count - 1);
        state.execution = Some(moved(at, by, count));
        state.scroll = 0;
    }
    Vec::new()
}

fn next_hold(state: &mut State, by: isize) -> Vec<Action> {
    let Some(run) = state.run() else { return Vec::new() };
    let count = run.holds.len();
    let current = state.hold().and_then(|hold| run.holds.iter().position(|other| other.pause == hold.pause));
    let Some(current) = current else { return Vec::new() };
    let at = if by > 0 { (current + 1) % count } else { (current + count - 1) % count };
    let Some(hold) = run.holds.get(at) else { return Vec::new() };
    let (pause, node) = (Arc::clone(&hold.pause), run.node(hold.node).map(|node| Arc::clone(&node.id)));
    let execution = hold.execution;
    (state.chosen, state.node, state.execution, state.scroll) = (Some(pause), node, execution, 0);
    state.follow = Follow::Off;
    find::uncover(state);
    Vec::new()
}

fn breakpoint_here(state: &mut State) -> Vec<Action> {
    let Some(node) = state.selected() else { return Vec::new() };
    let (kind, name) = (Some(node.kind), Some(node.name.clone()));
    release::toggle_breakpoint(state, Matcher { kind, name, point: None, when: None, after: None })
}

fn follow(state: &mut State) -> Vec<Action> {
    state.follow = match state.follow {
        Follow::On => Follow::Off,
        Follow::Off => Follow::On,
    };
    settle_cursor(state);
    Vec::new()
}

fn rail(state: &mut State) -> Vec<Action> {
    state.rail = match state.rail {
        Rail::Shown => Rail::Hidden,
        Rail::Hidden => Rail::Shown,
    };
    if state.focus == Focus::Rail {
        state.focus = Focus::Tree;
    }
    Vec::new()
}

/// Longer than any word there is.
pub(super) const LONGEST_WORD: usize = 32;
