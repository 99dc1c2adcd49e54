//! The run list: newest first, with what is held and what failed.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::draw::{Heading, body, first_line, heading, span};
use super::layout::inside;
use super::state::{Focus, State};
use super::theme::run_sign;
use super::words::{age, pad, visible};
use crate::model::{RunInfo, Status};

pub(super) fn draw(state: &State, frame: &mut Frame<'_>, area: Rect) {
    let listed = state.listed();
    let text = match (state.filter.is_empty(), state.list.len()) {
        (true, all) if all > MANY => format!("runs {all} · / filter"),
        (true, all) => format!("runs {all}"),
        (false, all) => format!("runs {}/{all} · /{}", listed.len(), visible(&state.filter)),
    };
    heading(state, Heading { focus: Some(Focus::Rail), text: &text }, frame, area);
    let area = inside(area);
    if listed.is_empty() {
        let text = if state.list.is_empty() { "none yet" } else { "none like that" };
        return body(vec![Line::styled(text, state.colour.faint())], frame, area);
    }
    let height = usize::from(area.height);
    let first = first_line(state.list_at, height);
    let lines = listed.into_iter().enumerate().skip(first).take(height);
    body(lines.map(|(at, info)| line(state, info, at, area.width.into())).collect(), frame, area);
}

fn line(state: &State, info: &RunInfo, at: usize, width: usize) -> Line<'static> {
    let shown = if state.shown.as_ref() == Some(&info.id) { "›" } else { " " };
    let alarm = match (info.held, info.errors) {
        (0, 0) => String::new(),
        (0, errors) => format!("✗{errors}"),
        (held, _) => format!("‖{held}"),
    };
    let when = match info.status {
        Status::Running => "now".to_owned(),
        Status::Ok | Status::Error | Status::Aborted | Status::Abandoned => {
            age(state.now, info.finished.unwrap_or(info.started))
        }
    };
    let right = format!("{alarm} {when:>3} ");
    let app = if info.app.is_empty() { visible(&info.id) } else { visible(&info.app) };
    let room = width.saturating_sub(3 + right.chars().count());
    let style =
        if state.focus == Focus::Rail && at == state.list_at { state.colour.selected() } else { Default::default() };
    Line::from(vec![
        span(shown, state.colour.strong()),
        span(run_sign(info.status), state.colour.status(info.status)),
        span(format!(" {}", pad(&app, room)), style),
        span(right, if info.held > 0 { state.colour.warning() } else { state.colour.faint() }),
    ])
}

/// Runs above which the list offers its filter (hub §15.4).
pub(super) const MANY: usize = 6;
