//! The tree: one line a node, with its state, its time and, where there is room, when it ran.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

use super::draw::{Heading, body, first_line, heading, span};
use super::layout::inside;
use super::state::{Focus, Follow, State};
use super::theme::{kind, sign};
use super::timeline;
use super::words::{counted, pad, visible, wrap};
use crate::model::{Node, Row, Run, State as NodeState, print};

pub(super) fn draw(state: &State, frame: &mut Frame<'_>, area: Rect) {
    let rows = state.rows();
    let follow = if state.follow == Follow::On { " · following" } else { "" };
    let text = format!("{}{follow}", counted(rows.iter().map(|row| row.hidden + 1).sum(), "node"));
    heading(state, Heading { focus: Some(Focus::Tree), text: &text }, frame, area);
    let area = inside(area);
    let Some(run) = state.run() else { return body(nothing(state), frame, area) };
    if state.is_missing() {
        return body(missing(state, run, area.width.into()), frame, area);
    }
    if rows.is_empty() {
        let line = Line::styled("no events of this run yet", state.colour.faint());
        return body(vec![line], frame, area);
    }
    let at = state.row_at(&rows);
    let height = usize::from(area.height);
    let shown = rows.iter().enumerate().skip(first_line(at.unwrap_or(0), height)).take(height);
    let lines = shown.filter_map(|(place, row)| {
        let node = run.node(row.node)?;
        let name_style = if Some(place) == at { state.colour.selected() } else { state.colour.strong() };
        Some(Shown { state, run, node, row, width: area.width.into() }.line(name_style))
    });
    body(lines.collect(), frame, area);
}

/// What the screen says before there is a run.
fn nothing(state: &State) -> Vec<Line<'static>> {
    let lines = [
        "no run yet".to_owned(),
        String::new(),
        format!("waiting at {}", visible(&state.address)),
        "start a program with the SDK, or put an".to_owned(),
        "MCP server behind `graphmind mcp-proxy`".to_owned(),
    ];
    lines.into_iter().map(|line| Line::styled(line, state.colour.faint())).collect()
}

/// What the screen says of a run the hub does not know.
fn missing(state: &State, run: &Run, width: usize) -> Vec<Line<'static>> {
    let what = format!("the hub has no run {}", visible(&run.id));
    let hint = "hint: choose one from the run list (tab, enter), or see `graphmind runs` for what is kept";
    let what = wrap(&what, width).into_iter().map(|line| Line::styled(line, state.colour.warning()));
    let hint = wrap(hint, width).into_iter().map(|line| Line::styled(line, state.colour.faint()));
    what.chain(hint).collect()
}

struct Shown<'s> {
    state: &'s State,
    run: &'s Run,
    node: &'s Node,
    row: &'s Row,
    width: usize,
}

impl Shown<'_> {
    fn line(&self, name_style: Style) -> Line<'static> {
        let state = self.run.outcome(self.node.state());
        let style = self.state.colour.state(state);
        let times = match state {
            NodeState::Ghost => String::new(),
            _ => print(self.node.ran_ms(self.run.clock(self.state.now))),
        };
        let figures = format!("{:>4} {:<7} {times:>7} ", self.count(), state.as_str());
        let strip = match self.width {
            0..STRIP_FROM => String::new(),
            _ => format!("{} ", timeline::strip(self.run, self.node, self.state.now, STRIP)),
        };
        let taken = 3 + 5 + figures.chars().count() + strip.chars().count();
        let room = self.width.saturating_sub(taken);
        let name = pad(&format!("{}{}", self.indent(), self.name()), room);
        Line::from(vec![
            span(self.mark(), self.state.colour.warning()),
            span(sign(state), style),
            span(format!(" {} ", kind(self.node.kind)), self.state.colour.faint()),
            span(name, name_style),
            span(format!(" {figures}"), style),
            span(strip, style),
        ])
    }

    /// A dot where calls of this node stop.
    fn mark(&self) -> &'static str {
        let stops = self.state.breakpoints.iter().any(|matcher| {
            matcher.name.as_deref().is_some_and(|name| name == self.node.name)
                && matcher.kind.is_none_or(|kind| kind == self.node.kind)
        });
        if stops { "•" } else { " " }
    }

    fn indent(&self) -> String {
        let fold = match (self.row.parent, self.row.hidden) {
            (false, _) => "  ".to_owned(),
            (true, 0) => "- ".to_owned(),
            (true, hidden) => format!("+{hidden} "),
        };
        format!("{}{fold}", "  ".repeat(self.row.depth.min(DEEPEST)))
    }

    fn name(&self) -> String {
        let name = if self.node.name.is_empty() { &*self.node.id } else { &*self.node.name };
        visible(name).into_owned()
    }

    fn count(&self) -> String {
        match self.node.executions.len() {
            0 | 1 => String::new(),
            count => format!("×{count}"),
        }
    }
}

/// Width of the pane from which there is room for the strip, and its own.
const STRIP_FROM: usize = 72;
const STRIP: usize = 20;

/// Levels that are drawn further in than the one above.
const DEEPEST: usize = 12;
