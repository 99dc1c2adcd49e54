//! The held calls of the run, one line each; the marked one is the one that keys act on.

use lockgate_protocol::debug::{LoopKind, PausePoint, PauseReason};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::draw::{Heading, body, heading, span};
use super::layout::MOST_HOLDS;
use super::state::State;
use super::words::{fit, visible, width};
use crate::model::{Hold, Run, Why, elapsed, print};

pub(super) fn draw(state: &State, frame: &mut Frame<'_>, area: Rect) {
    let Some(run) = state.run() else { return };
    let count = run.holds.len();
    let more = if count > MOST_HOLDS { format!(", {} more: n", count - MOST_HOLDS) } else { String::new() };
    heading(state, Heading { focus: None, text: &format!("held {count}{more}") }, frame, area);
    let current = state.hold().map(|hold| &hold.pause);
    let at = run.holds.iter().position(|hold| Some(&hold.pause) == current).unwrap_or(0);
    let first = (at + 1).saturating_sub(MOST_HOLDS);
    let lines = run.holds.iter().skip(first).take(MOST_HOLDS).map(|hold| {
        let marked = Some(&hold.pause) == current;
        let style = if marked { state.colour.warning() } else { state.colour.faint() };
        Line::from(span(line(state, run, hold, usize::from(area.width)), style))
    });
    let area = Rect { y: area.y.saturating_add(1), height: area.height.saturating_sub(1), ..area };
    body(lines.collect(), frame, area);
}

fn line(state: &State, run: &Run, hold: &Hold, room: usize) -> String {
    let marked = state.hold().is_some_and(|current| current.pause == hold.pause);
    let name = run.node(hold.node).map(|node| visible(&node.name).into_owned()).unwrap_or_default();
    let asked = state.asked.values().find(|asked| asked.pause == hold.pause);
    let editable = if hold.editable && !hold.ambiguous { " · editable" } else { "" };
    let end = match (asked, ends(hold, state.now)) {
        (Some(asked), _) => format!(" · {} sent…", asked.action),
        (None, Some(ends)) => format!(" · {ends}"),
        (None, None) => String::new(),
    };
    let held = print(elapsed(hold.since, state.now));
    let tail = format!(" · {held}{editable}{end}");
    let mark = if marked { "›" } else { " " };
    let head = format!("{mark}‖ {} {name} · {}", stop(hold.point), reason(hold));
    // The countdown is what must not be cut off.
    format!("{}{tail}", fit(&head, room.saturating_sub(width(&tail))))
}

/// Where a call is held.
pub(super) fn stop(point: PausePoint) -> &'static str {
    match point {
        PausePoint::Before => "before",
        PausePoint::After => "after",
        PausePoint::Error => "on error",
    }
}

/// Why a call is held, in a few words.
pub(super) fn reason(hold: &Hold) -> String {
    match &hold.why {
        Some(Why::Loop(seen)) => {
            let pattern = match seen.kind {
                LoopKind::Repeat => format!("the same call {} times", seen.repeats),
                LoopKind::Cycle => format!("{} laps of {} calls", seen.repeats, seen.period.unwrap_or(0)),
                LoopKind::ErrorRepeat => format!("the same error {} times", seen.repeats),
            };
            format!("loop: {pattern}")
        }
        Some(Why::Smart { rule, detail }) => with(rule.as_str().to_owned(), detail.as_deref()),
        Some(Why::Guard { policy, cause, detail }) => with(format!("{policy} guard: {cause}"), detail.as_deref()),
        None => match hold.reason {
            Some(PauseReason::Breakpoint) | None => "breakpoint".to_owned(),
            Some(PauseReason::Error) => "it failed".to_owned(),
            Some(PauseReason::Step) => "step mode".to_owned(),
            Some(PauseReason::Loop) => "loop".to_owned(),
        },
    }
}

/// What happens if nobody does anything.
pub(super) fn ends(hold: &Hold, now: u64) -> Option<String> {
    let until = hold.until.as_ref()?;
    let why = if until.why.is_empty() { String::new() } else { format!(" ({})", until.why) };
    Some(match until.at {
        Some(at) => format!("{} in {}s{why}", until.action, at.saturating_sub(now).div_ceil(1_000)),
        None => format!("{} by itself{why}, not counting now", until.action),
    })
}

fn with(text: String, detail: Option<&str>) -> String {
    match detail {
        Some(detail) => format!("{text}: {detail}"),
        None => text,
    }
}
