//! What every key does and every sign means, in two columns where there is room, and no further than the screen goes.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::dialog::{popup, room};
use super::state::State;
use super::words::{pad, width, wrap};

pub(super) fn draw(state: &State, top: usize, frame: &mut Frame<'_>) {
    let lines = lines(frame.area());
    let height = height(frame.area());
    let title = if lines.len() > height { "help: ↓ goes on, esc closes it" } else { "help: any key closes it" };
    let shown = lines.into_iter().skip(top).take(height).map(Line::from);
    popup(state, title, shown.collect(), frame);
}

/// How far down the help can be scrolled on a screen of this size.
pub(super) fn lowest((columns, rows): (u16, u16)) -> usize {
    let screen = Rect::new(0, 0, columns, rows);
    lines(screen).len().saturating_sub(height(screen))
}

fn height(screen: Rect) -> usize {
    usize::from(screen.height.saturating_sub(2)).max(1)
}

fn lines(screen: Rect) -> Vec<String> {
    let room = room(screen);
    let beside = LEFT.len().max(RIGHT.len());
    let cell = |column: &[&str], at: usize| column.get(at).copied().unwrap_or_default().to_owned();
    let wide = LEFT_WIDTH + RIGHT.iter().map(|line| width(line)).max().unwrap_or(0);
    let mut lines: Vec<String> = if room >= wide {
        (0..beside).map(|at| pad(&cell(LEFT, at), LEFT_WIDTH) + &cell(RIGHT, at)).collect()
    } else {
        LEFT.iter().chain(RIGHT).map(|line| (*line).to_owned()).collect()
    };
    lines.push(String::new());
    lines.extend(SIGNS.iter().flat_map(|line| wrap(line, room)));
    lines
}

const LEFT: &[&str] = &[
    "c  continue the held call",
    "s  step: stop at the next call",
    "r  retry it",
    "i  inject an answer ($EDITOR)",
    "e  edit arguments ($EDITOR)",
    "n N  next, previous held call",
    ":abort  end the held call",
    "",
    "p  breakpoint at this node",
    "x  breakpoint at every error",
    "m  step mode on, off",
];

const RIGHT: &[&str] = &[
    "↑ ↓ j k  move",
    "g G      first, last",
    "tab      next pane",
    "enter    show run, inspect",
    "← → spc  fold, unfold",
    "[ ]      executions",
    "E        next error",
    "f        follow what happens",
    "b /      run list, filter it",
    "esc      forget the choice",
    "? q ^c   this help, quit",
];

const LEFT_WIDTH: usize = 33;

const SIGNS: &[&str] = &[
    "› marks the held call that keys act on; • a breakpoint.",
    "· ahead  ▸ running  ‖ held  ✓ ok  ✗ error  ■ aborted  ? abandoned",
];
