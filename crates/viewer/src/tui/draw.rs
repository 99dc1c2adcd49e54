//! The whole screen out of a state; changes nothing.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::layout::Areas;
use super::state::{Focus, Overlay, State};
use super::{dialog, help, holds, inspector, rail, status, tree, words};

/// Draws a state.
pub(crate) fn draw(state: &State, frame: &mut Frame<'_>) {
    let areas = Areas::of(state);
    status::title(state, frame, areas.title);
    if areas.rail.width > 0 {
        rail::draw(state, frame, areas.rail);
    }
    tree::draw(state, frame, areas.tree);
    inspector::draw(state, frame, areas.inspector);
    if areas.holds.height > 0 {
        holds::draw(state, frame, areas.holds);
    }
    status::footer(state, frame, areas.footer);
    match &state.overlay {
        Overlay::None | Overlay::Filter => {}
        Overlay::Help(top) => help::draw(state, *top, frame),
        Overlay::Prompt(prompt) => dialog::prompt(state, prompt, frame),
        Overlay::Confirm(proposal) => dialog::confirm(state, proposal, frame),
    }
}

/// What stands above a pane.
#[derive(Clone, Copy)]
pub(super) struct Heading<'h> {
    /// The pane, if the cursor can be there.
    pub(super) focus: Option<Focus>,
    pub(super) text: &'h str,
}

/// The line above a pane: its name, marked where the cursor is, and what is to be known about all of it.
pub(super) fn heading(state: &State, pane: Heading<'_>, frame: &mut Frame<'_>, area: Rect) {
    let Heading { focus, text } = pane;
    let has_cursor = focus == Some(state.focus);
    let mark = if has_cursor { "▌" } else { "─" };
    let stale = if state.is_stale() { " (stale)" } else { "" };
    let text = words::fit(&format!("{text}{stale}"), usize::from(area.width).saturating_sub(3)).into_owned();
    let rest = usize::from(area.width).saturating_sub(words::width(&text) + 3);
    let style = if has_cursor { state.colour.strong() } else { state.colour.faint() };
    let line = format!("{mark} {text} {}", "─".repeat(rest));
    frame.render_widget(Line::styled(line, style), Rect { height: 1.min(area.height), ..area });
}

/// Lines into a pane, the rest left out.
pub(super) fn body(lines: Vec<Line<'static>>, frame: &mut Frame<'_>, area: Rect) {
    frame.render_widget(Paragraph::new(lines), area);
}

pub(super) fn span(text: impl Into<String>, style: Style) -> Span<'static> {
    Span::styled(text.into(), style)
}

/// The first line to show of a list so that line `at` is on the screen.
pub(super) fn first_line(at: usize, height: usize) -> usize {
    (at + 1).saturating_sub(height)
}
