//! What every key does.

use ratatui::Frame;
use ratatui::text::Line;

use super::dialog::popup;
use super::state::State;

pub(super) fn draw(state: &State, frame: &mut Frame<'_>) {
    let lines = HELP.iter().map(|line| Line::from(*line)).collect();
    popup(state, "help: any key closes it", lines, frame);
}

const HELP: &[&str] = &[
    "c  continue the held call        ↑ ↓ j k  move",
    "s  step: stop at the next call   g G      first, last",
    "r  retry it                      tab      next pane",
    "i  inject an answer ($EDITOR)    enter    show run, inspect",
    "e  edit arguments ($EDITOR)      ← → spc  fold, unfold",
    "n N  next, previous held call    [ ]      executions",
    ":abort  end the held call        f        follow what happens",
    "                                 b        run list",
    "p  breakpoint at this node       esc      forget the choice",
    "x  breakpoint at every error     q ^c     quit",
    "m  step mode on, off",
    "",
    "› marks the held call that keys act on.",
    "· ahead  ▸ running  ‖ held  ✓ ok  ✗ error  ■ aborted",
];
