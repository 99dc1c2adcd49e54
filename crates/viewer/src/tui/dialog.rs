//! What stands over the panes: a word being typed, or a release that waits for a last yes.

use ratatui::Frame;
use ratatui::layout::{Constraint, Flex, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Paragraph};

use super::json;
use super::state::{Prompt, Proposal, State};
use super::words::{fit, visible, width, wrap};

pub(super) fn prompt(state: &State, prompt: &Prompt, frame: &mut Frame<'_>) {
    let target = prompt.pause.as_ref().and_then(|pause| {
        let run = state.run()?;
        Some(visible(&run.node(run.hold(pause)?.node)?.name).into_owned())
    });
    let about = match target {
        Some(name) => format!("abort ends the held call of {name}; esc closes this"),
        None => "no call is held; quit leaves, esc closes this".to_owned(),
    };
    let room = room(frame.area());
    let typed = Line::styled(format!(":{}▏", visible(&prompt.text)), state.colour.strong());
    let about = wrap(&about, room).into_iter().map(|line| Line::styled(line, state.colour.faint()));
    popup(state, "type a word", std::iter::once(typed).chain(about).collect(), frame);
}

pub(super) fn confirm(state: &State, proposal: &Proposal, frame: &mut Frame<'_>) {
    let room = room(frame.area());
    let height = usize::from(frame.area().height.saturating_sub(6));
    let mut lines: Vec<Line<'static>> = Vec::new();
    for line in json::lines(&proposal.value, height) {
        lines.extend(wrap(&line, room).into_iter().map(Line::from));
    }
    let cut = (lines.len() + 1).saturating_sub(height);
    if cut > 1 {
        lines.truncate(height.saturating_sub(1));
        lines.push(Line::styled(format!("… {cut} more lines, not shown"), state.colour.faint()));
    }
    lines.push(Line::styled("enter sends it · esc keeps the draft", state.colour.faint()));
    popup(state, &proposal.title, lines, frame);
}

/// A box in the middle, as large as its lines need.
pub(super) fn popup(state: &State, title: &str, lines: Vec<Line<'static>>, frame: &mut Frame<'_>) {
    let longest = lines.iter().map(Line::width).chain([width(title)]).max().unwrap_or(0).min(WIDEST);
    let area = middle(frame.area(), longest + 4, lines.len() + 2);
    let title = fit(title, usize::from(area.width.saturating_sub(4))).into_owned();
    let block = Block::bordered().title(format!(" {title} ")).title_style(state.colour.strong());
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// Columns inside a box.
pub(super) fn room(screen: Rect) -> usize {
    usize::from(screen.width.saturating_sub(4)).min(WIDEST)
}

fn middle(screen: Rect, columns: usize, rows: usize) -> Rect {
    let size = |wanted: usize| Constraint::Length(u16::try_from(wanted).unwrap_or(u16::MAX));
    let [line] = Layout::vertical([size(rows)]).flex(Flex::Center).areas(screen);
    let [area] = Layout::horizontal([size(columns)]).flex(Flex::Center).areas(line);
    area
}

const WIDEST: usize = 100;
