//! The inspector: why a call is held, why it failed, and what one execution was given, gave and cost.

use lockgate_protocol::json::Raw;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

use super::draw::{Heading, body, heading};
use super::holds::{ends, reason, stop};
use super::json;
use super::layout::inside;
use super::state::{Focus, State};
use super::words::{age, visible, wrap};
use crate::model::{Execution, Failure, Node, State as NodeState, elapsed, print};

pub(super) fn draw(state: &State, frame: &mut Frame<'_>, area: Rect) {
    let text = state.selected().map_or_else(|| "nothing selected".to_owned(), |node| title(state, node));
    heading(state, Heading { focus: Some(Focus::Inspector), text: &text }, frame, area);
    let area = inside(area);
    let lines = lines(state, area.width.into()).into_iter().skip(state.scroll).take(area.height.into());
    body(lines.collect(), frame, area);
}

/// Everything there is to say about the selected node, as lines of so many columns.
pub(super) fn lines(state: &State, width: usize) -> Vec<Line<'static>> {
    let Some(node) = state.selected() else { return Vec::new() };
    let mut page = Page { state, width, lines: Vec::new() };
    page.holds(node);
    page.releases(node);
    match shown(state, node) {
        Some(execution) => page.execution(node, execution),
        None => page.text("not started: only announced", state.colour.faint()),
    }
    page.lines
}

/// The execution that is shown: the chosen one, else the one that is held, else the newest.
fn shown<'n>(state: &State, node: &'n Node) -> Option<&'n Execution> {
    let held = state
        .hold()
        .filter(|hold| state.run().and_then(|run| run.node(hold.node)).map(|node| &node.id) == Some(&node.id));
    let at = state.execution.or_else(|| held.and_then(|hold| hold.execution));
    at.and_then(|at| node.executions.get(at)).or(node.executions.last())
}

fn title(state: &State, node: &Node) -> String {
    let count = node.executions.len();
    let at = shown(state, node).and_then(|shown| node.executions.iter().position(|other| std::ptr::eq(other, shown)));
    let place = match at {
        Some(at) if count > 1 => format!(" · {} of {count} [ ]", at + 1),
        Some(_) | None => String::new(),
    };
    format!("{} {}{place}", node.kind, visible(&node.name))
}

struct Page<'s> {
    state: &'s State,
    width: usize,
    lines: Vec<Line<'static>>,
}

impl Page<'_> {
    fn holds(&mut self, node: &Node) {
        let Some(run) = self.state.run() else { return };
        let held = run.holds.iter().filter(|hold| run.node(hold.node).map(|node| &node.id) == Some(&node.id));
        for hold in held {
            let guess = if hold.ambiguous { " (which execution is a guess)" } else { "" };
            self.text(&format!("held {}: {}{guess}", stop(hold.point), reason(hold)), self.state.colour.warning());
            if let Some(ends) = ends(hold, self.state.now) {
                self.text(&ends, self.state.colour.warning());
            }
            for refusal in hold.refusals.iter().rev().take(NEWEST) {
                let message = refusal.message.as_deref().unwrap_or_default();
                self.text(&format!("refused as {}: {message}", refusal.code), self.state.colour.warning());
            }
        }
    }

    fn releases(&mut self, node: &Node) {
        for release in node.releases.iter().rev().take(NEWEST) {
            let edited = if release.edited { " with edited arguments" } else { "" };
            let by = match (&release.principal, &release.operator) {
                (Some(principal), Some(operator)) => format!("by {principal} for {operator}"),
                (Some(principal), None) => format!("by {principal}"),
                (None, _) => "by itself".to_owned(),
            };
            let when = age(self.state.now, release.ts);
            let text = format!("released {}: {}{edited} {by}, {when} ago", stop(release.point), release.action);
            self.text(&text, self.state.colour.faint());
        }
    }

    fn execution(&mut self, node: &Node, execution: &Execution) {
        let Some(run) = self.state.run() else { return };
        let now = run.clock(self.state.now);
        let stands = run.holds.iter().any(|hold| run.held(hold).is_some_and(|held| std::ptr::eq(held, execution)));
        let state = run.outcome(if stands { NodeState::Paused } else { execution.state });
        let mut facts = vec![state.as_str().to_owned(), format!("ran {}", print(execution.ran_ms(now)))];
        let held = execution.held_ms(now);
        facts.extend((held > 0.0).then(|| format!("held {}", print(held))));
        facts.extend(execution.usage.map(|usage| format!("tokens {}→{}", usage.input, usage.output)));
        let stream = &execution.stream;
        facts.extend(stream.first.map(|first| {
            format!("first of {} chunks after {}", stream.chunks, print(elapsed(execution.started, first)))
        }));
        facts.extend(node.ungated.then(|| "no gate".to_owned()));
        facts.extend((execution.failures > 0).then(|| format!("failed {}×", execution.failures)));
        facts.extend(execution.injected.then(|| "injected".to_owned()));
        facts.extend(execution.cancelled.then(|| "the asker gave up".to_owned()));
        self.text(&facts.join(" · "), self.state.colour.state(state));
        self.text(&execution.instance, self.state.colour.faint());
        if let Some(failure) = &execution.error {
            self.failure(failure, execution);
        }
        self.value("input", execution.input.as_ref());
        self.value("ran with (edited)", execution.edited.as_ref());
        self.value("output", execution.output.as_ref());
        self.stream("text", &execution.stream.text);
        self.stream("reasoning", &execution.stream.reasoning);
        self.stream("tool arguments", &execution.stream.arguments);
    }

    fn failure(&mut self, failure: &Failure, execution: &Execution) {
        let recovered = execution.finished.is_some() && execution.state == NodeState::Ok;
        let heading = if recovered { "an earlier attempt failed" } else { "error" };
        self.heading(heading);
        let style = self.state.colour.state(NodeState::Error);
        self.text(&format!("{}: {}", failure.name, failure.message), style);
        if let Some(stack) = &failure.stack {
            for line in stack.lines().take(MOST_STACK) {
                self.text(line, self.state.colour.faint());
            }
            self.missing(stack.lines().count().saturating_sub(MOST_STACK), "more");
        }
    }

    fn value(&mut self, name: &str, value: Option<&Raw>) {
        let Some(value) = value else { return };
        self.heading(name);
        for line in json::lines(value, MOST_LINES) {
            self.safe(&line, Style::new());
        }
    }

    fn stream(&mut self, name: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        self.heading(name);
        self.missing(text.lines().count().saturating_sub(MOST_LINES), "earlier");
        let lines: Vec<&str> = text.lines().rev().take(MOST_LINES).collect();
        for line in lines.into_iter().rev() {
            self.text(line, Style::new());
        }
    }

    fn missing(&mut self, lines: usize, which: &str) {
        if lines > 0 {
            self.text(&format!("… {lines} {which} lines, not shown"), self.state.colour.faint());
        }
    }

    fn heading(&mut self, name: &str) {
        self.lines.push(Line::styled(name.to_owned(), self.state.colour.heading()));
    }

    /// A text of the program's own, made safe.
    fn text(&mut self, text: &str, style: Style) {
        self.safe(&visible(text), style);
    }

    fn safe(&mut self, text: &str, style: Style) {
        self.lines.extend(wrap(text, self.width).into_iter().map(|line| Line::styled(line, style)));
    }
}

/// Releases and refusals that are shown.
const NEWEST: usize = 3;

/// Lines of one value.
const MOST_LINES: usize = 500;

/// Lines of a stack.
const MOST_STACK: usize = 40;
