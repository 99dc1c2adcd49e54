//! The first line (which run, how it stands, how fresh the picture is) and the last (what keys do, or what just happened).

use lockgate_protocol::debug::RunMode;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::draw::span;
use super::state::{Link, Overlay, State};
use super::theme::run_sign;
use super::words::{age, counted, fit, pad, visible, width};
use crate::model::{Run, elapsed, print};

pub(super) fn title(state: &State, frame: &mut Frame<'_>, area: Rect) {
    let room = usize::from(area.width);
    let right = format!(" {} ", [debug_words(state), health(state)].concat());
    let left = match state.run() {
        Some(run) => run_words(state, run),
        None => " graphmind".to_owned(),
    };
    let left = pad(&left, room.saturating_sub(width(&right)));
    let style = if state.is_stale() { state.colour.warning() } else { state.colour.strong() };
    frame.render_widget(Line::from(span(fit(&format!("{left}{right}"), room), style)), area);
}

pub(super) fn footer(state: &State, frame: &mut Frame<'_>, area: Rect) {
    let room = usize::from(area.width);
    let line = match (&state.overlay, &state.notice) {
        (Overlay::Filter, _) => {
            let text = format!(" /{}▏ enter shows the run · esc lists all", visible(&state.filter));
            span(fit(&text, room).into_owned(), state.colour.strong())
        }
        (_, Some(notice)) => span(fit(&format!(" {}", notice.text), room).into_owned(), state.colour.warning()),
        (_, None) => span(keys(state, room), state.colour.faint()),
    };
    frame.render_widget(Line::from(line), area);
}

/// How fresh the picture is (hub §15.4).
pub(super) fn health(state: &State) -> String {
    match &state.link {
        Link::Connecting { trouble: None } => return "connecting".to_owned(),
        Link::Connecting { trouble: Some(why) } => return format!("no hub: {}", visible(why)),
        Link::Lost { since, why } => {
            return format!("STALE: hub lost {} ago, {}", age(state.now, *since), visible(why));
        }
        Link::Open => {}
    }
    let Some(tracked) = state.tracked() else { return "live".to_owned() };
    if let Some(replay) = tracked.replay {
        return format!("catching up {}/{}", replay.seen.min(replay.count), replay.count);
    }
    let live = state.info().is_some_and(|info| info.live);
    if live && tracked.lag >= OLD_MS {
        return format!("behind {}s", tracked.lag / 1_000);
    }
    let unsaved = tracked.stored.zip(tracked.ord).map_or(0, |(stored, ord)| ord.saturating_sub(stored));
    let for_a_while = state.now.saturating_sub(tracked.saved_at) > UNSAVED_MS;
    if unsaved > 0 && for_a_while { format!("live, {unsaved} unsaved") } else { "live".to_owned() }
}

fn run_words(state: &State, run: &Run) -> String {
    if state.is_missing() {
        return format!(" {} · not there", visible(&run.id));
    }
    let app = if run.app.is_empty() { &*run.id } else { &*run.app };
    let name = run.name.as_deref().filter(|name| *name != app);
    let name = name.map(|name| format!(" {}", visible(name))).unwrap_or_default();
    let took = print(elapsed(run.started.unwrap_or(state.now), run.clock(state.now)));
    let mut facts =
        vec![format!(" {} {}{name}", run_sign(run.status), visible(app)), run.status.as_str().to_owned(), took];
    let failed: u32 = run.nodes().iter().map(|node| node.failures()).sum();
    facts.extend((failed > 0).then(|| counted(usize::try_from(failed).unwrap_or(usize::MAX), "error")));
    facts.extend((run.lost > 0).then(|| format!("{} events lost", run.lost)));
    if let Some(error) = &run.error {
        facts.push(visible(&format!("{}: {}", error.name, error.message)).into_owned());
    }
    facts.join(" · ")
}

/// What is armed, and what this viewer may do.
fn debug_words(state: &State) -> String {
    let mut words = String::new();
    if state.mode == RunMode::Step {
        words.push_str("step mode · ");
    }
    if !state.breakpoints.is_empty() {
        words.push_str(&format!("{} · ", counted(state.breakpoints.len(), "breakpoint")));
    }
    match state.hub.as_ref().map(|hub| hub.principal.as_str()) {
        Some("viewer") | None => {}
        Some("anonymous") => words.push_str("no token · "),
        Some(other) => words.push_str(&format!("as {} · ", visible(other))),
    }
    words
}

/// As many keys as there is room for; where all of them stand is always among them.
fn keys(state: &State, room: usize) -> String {
    let keys = match (&state.link, state.hold()) {
        (Link::Open, Some(_)) => RELEASES,
        (Link::Open | Link::Connecting { .. } | Link::Lost { .. }, _) => MOVES,
    };
    let mut text = String::new();
    for key in keys {
        let longer = format!("{text} {key} ");
        if width(&longer) + width(HELP) > room {
            break;
        }
        text = longer;
    }
    text + HELP
}

const RELEASES: &[&str] = &["c continue", "s step", "r retry", "i inject", "e edit", ":abort", "n next"];

const MOVES: &[&str] = &["↑↓ move", "tab pane", "enter open", "space fold", "f follow", "b runs", "q quit"];

const HELP: &str = " ? help";

/// A commit takes milliseconds; only one that takes longer than this is worth a word.
const UNSAVED_MS: u64 = 1_000;

/// An event older than this when it comes means that we lag.
const OLD_MS: u64 = 2_000;
