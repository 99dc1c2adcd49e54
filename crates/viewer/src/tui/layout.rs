//! Where the panes are. The same answer for drawing and for keys that page.

use ratatui::layout::{Constraint, Layout, Rect};

use super::state::{Focus, Rail, State};

/// The rectangles of the screen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Areas {
    pub(crate) title: Rect,
    pub(crate) rail: Rect,
    pub(crate) tree: Rect,
    pub(crate) inspector: Rect,
    pub(crate) holds: Rect,
    pub(crate) footer: Rect,
}

impl Areas {
    pub(crate) fn of(state: &State) -> Self {
        let (columns, rows) = state.size;
        let held = state.run().map_or(0, |run| run.holds.len()).min(MOST_HOLDS);
        // A line above the held calls, only if there are any.
        let held = u16::try_from(if held > 0 { held + 1 } else { 0 }).unwrap_or(0);
        let screen = Rect::new(0, 0, columns, rows);
        let [title, body, holds, footer] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Min(3),
            Constraint::Length(held),
            Constraint::Length(1),
        ])
        .areas(screen);
        let wanted = match state.rail {
            Rail::Hidden => 0,
            // No room for both; where the cursor is must be seen.
            Rail::Shown if columns < 60 && state.focus != Focus::Rail => 0,
            Rail::Shown if columns < 100 => 21,
            Rail::Shown => 26,
        };
        let [rail, rest] = Layout::horizontal([Constraint::Length(wanted), Constraint::Min(20)]).areas(body);
        let halves = [Constraint::Percentage(48), Constraint::Percentage(52)];
        let [tree, inspector] = if rest.width >= BESIDE {
            Layout::horizontal(halves).areas(rest)
        } else {
            Layout::vertical(halves).areas(rest)
        };
        Self { title, rail, tree, inspector, holds, footer }
    }

    /// The lines of the inspector below its heading.
    pub(crate) fn inspector_inside(&self) -> Rect {
        inside(self.inspector)
    }
}

/// A pane without its heading and its left edge.
pub(crate) fn inside(pane: Rect) -> Rect {
    Rect {
        x: pane.x.saturating_add(1),
        y: pane.y.saturating_add(1),
        width: pane.width.saturating_sub(1),
        height: pane.height.saturating_sub(1),
    }
    .intersection(pane)
}

/// Width from which the inspector stands beside the tree instead of below it.
const BESIDE: u16 = 150;

/// Held calls that are listed at once.
pub(crate) const MOST_HOLDS: usize = 4;
