//! The answers of the four tools, as JSON. An error is a sentence the asking agent can act on.

use std::fmt::Display;

use jiff::Timestamp;
use lockgate_protocol::json::{Number, Object, Raw, Value};

use super::nodes::{Execution, Node, Nodes, RECENT};
use super::shelf::Shelf;
use super::tools::Asked;
use lockgate_runs::store::sqlite::Store;
use lockgate_runs::store::{OrdRange, PageSize, Run, StoredEvent};

pub(super) async fn answer(shelf: &Shelf, port: u16, asked: Asked) -> Result<Value, String> {
    let Some(store) = shelf.store().await? else {
        return match asked {
            Asked::ListRuns { .. } => Ok(nothing_yet("runs", "total")),
            Asked::FindErrors { .. } => Ok(nothing_yet("errors", "scannedRuns")),
            Asked::GetRun { run } | Asked::GetNode { run, .. } => Err(unknown_run(&run)),
        };
    };
    let desk = Desk { store, port };
    match asked {
        Asked::ListRuns { limit } => desk.list_runs(limit).await,
        Asked::GetRun { run } => desk.get_run(&run).await,
        Asked::GetNode { run, node } => desk.get_node(&run, &node).await,
        Asked::FindErrors { limit } => desk.find_errors(limit).await,
    }
}

/// Where questions are answered: a database, and the port that links lead to.
struct Desk<'a> {
    store: &'a Store,
    port: u16,
}

impl Desk<'_> {
    async fn list_runs(&self, limit: usize) -> Result<Value, String> {
        let total = self.store.count_runs().await.map_err(said)?;
        let runs = self.store.runs(limit).await.map_err(said)?;
        let mut answer = Object::new();
        answer.insert("total", total);
        answer.insert("runs", runs.iter().map(|run| self.run_row(run).into()).collect::<Vec<Value>>());
        if runs.is_empty() {
            answer.insert("note", NOTHING);
        }
        Ok(answer.into())
    }

    async fn get_run(&self, id: &str) -> Result<Value, String> {
        let run = self.run(id).await?;
        let nodes = self.nodes(id, None).await?;
        let row = |node: &Node| {
            let mut row = node_row(node);
            if let Some(total) = node.total_ms {
                row.insert("durationMs", number(total));
            }
            if let Some((_, message)) = &node.error {
                row.insert("errorMessage", message.as_str());
            }
            self.link(&mut row, id, Some(&node.id));
            Value::from(row)
        };
        let mut answer = Object::new();
        answer.insert("run", self.run_row(&run));
        answer.insert("nodes", nodes.list.iter().map(row).collect::<Vec<Value>>());
        Ok(answer.into())
    }

    async fn get_node(&self, id: &str, node: &str) -> Result<Value, String> {
        let run = self.run(id).await?;
        let nodes = self.nodes(id, Some(node)).await?;
        let Some(node) = nodes.get(node) else {
            let known: Vec<&str> = nodes.list.iter().map(|node| node.id.as_str()).take(MOST_NAMED).collect();
            let known =
                if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
            return Err(format!("run {id} has no node {node}; {known}"));
        };
        let mut answer = Object::new();
        answer.insert("runId", id);
        answer.insert("runStatus", run.status.as_str());
        answer.insert("app", &*run.app);
        for (name, value) in node_row(node) {
            answer.insert(name, value);
        }
        if let Some(total) = node.total_ms {
            answer.insert("totalDurationMs", number(total));
        }
        if let Some((name, message)) = &node.error {
            let error = [("name", name), ("message", message)];
            answer.insert(
                "error",
                error.into_iter().map(|(key, text)| (key.into(), text.as_str().into())).collect::<Object>(),
            );
        }
        answer.insert("instances", node.recent.iter().map(instance).collect::<Vec<Value>>());
        let omitted = node.executions.saturating_sub(u64::try_from(RECENT).unwrap_or(u64::MAX));
        if omitted > 0 {
            answer.insert("instancesOmitted", omitted);
        }
        self.link(&mut answer, id, Some(&node.id));
        Ok(answer.into())
    }

    async fn find_errors(&self, limit: usize) -> Result<Value, String> {
        let mut errors: Vec<Value> = Vec::new();
        let mut scanned = 0_u64;
        for run in self.store.runs(MOST_SCANNED).await.map_err(said)? {
            scanned += 1;
            if run.errors == 0 {
                continue;
            }
            let left = PageSize { rows: limit.saturating_sub(errors.len()), bytes: PAGE.bytes };
            let page = self.store.latest_of(&run.id, "node.error", left).await.map_err(said)?;
            let nodes = self.nodes(&run.id, None).await?;
            errors.extend(page.events.iter().map(|event| self.error_row(&run, &nodes, event).into()));
            if errors.len() >= limit {
                break;
            }
        }
        let mut answer = Object::new();
        let none = errors.is_empty();
        answer.insert("errors", errors);
        answer.insert("scannedRuns", scanned);
        if none {
            answer.insert("note", "no error was recorded in these runs");
        }
        Ok(answer.into())
    }

    async fn run(&self, id: &str) -> Result<Run, String> {
        self.store.run(id).await.map_err(said)?.ok_or_else(|| unknown_run(id))
    }

    async fn nodes(&self, run: &str, focus: Option<&str>) -> Result<Nodes, String> {
        let mut nodes = Nodes::focused_on(focus);
        let mut range = OrdRange::ALL;
        loop {
            let page = self.store.events_by_ord(run, range, PAGE).await.map_err(said)?;
            for event in &page.events {
                nodes.take(event);
                range.after = event.ord;
            }
            if !page.more {
                return Ok(nodes);
            }
        }
    }

    fn run_row(&self, run: &Run) -> Object {
        let mut row = Object::new();
        row.insert("id", &*run.id);
        row.insert("app", &*run.app);
        row.insert("status", run.status.as_str());
        row.insert("source", run.source.as_str());
        row.insert("startedAt", iso(run.started_at));
        row.insert("finishedAt", run.finished_at.map_or(Value::Null, iso));
        row.insert("eventCount", run.events);
        row.insert("errorCount", run.errors);
        self.link(&mut row, &run.id, None);
        row
    }

    fn error_row(&self, run: &Run, nodes: &Nodes, event: &StoredEvent) -> Object {
        let payload = event.payload.as_ref();
        let error = payload.and_then(|payload| payload.view().get("error"));
        let word = |name: &str| {
            let text = error.and_then(|error| error.get(name)).and_then(|word| word.text());
            text.map(|text| text.to_lossy().into_owned()).unwrap_or_default()
        };
        let id = event.node.as_deref().unwrap_or_default();
        let mut row = Object::new();
        row.insert("runId", &*run.id);
        row.insert("app", &*run.app);
        row.insert("runStatus", run.status.as_str());
        row.insert("nodeId", id);
        if let Some(node) = nodes.get(id).filter(|node| !node.kind.is_empty()) {
            row.insert("nodeKind", node.kind.as_str());
            row.insert("nodeName", node.name.as_str());
        }
        row.insert("message", word("message"));
        row.insert("errorName", word("name"));
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of any date fit")]
        row.insert("at", iso(event.ts as f64));
        self.link(&mut row, &run.id, Some(id));
        row
    }

    fn link(&self, row: &mut Object, run: &str, node: Option<&str>) {
        let node = node.map(|node| format!("/node/{}", encoded(node))).unwrap_or_default();
        row.insert("link", format!("http://127.0.0.1:{}/#/run/{}{node}", self.port, encoded(run)));
    }
}

fn node_row(node: &Node) -> Object {
    let mut row = Object::new();
    row.insert("nodeId", node.id.as_str());
    row.insert("kind", node.kind.as_str());
    row.insert("name", node.name.as_str());
    if let Some(parent) = &node.parent {
        row.insert("parentId", parent.as_str());
    }
    row.insert("status", node.status());
    row.insert("executions", node.executions);
    row
}

fn instance(execution: &Execution) -> Value {
    let mut row = Object::new();
    if let Some(instance) = &execution.instance {
        row.insert("instanceId", instance.as_str());
    }
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of any date fit")]
    row.insert("startedAt", iso(execution.started_at as f64));
    row.insert("status", execution.status.as_deref().unwrap_or("running"));
    let times = [("durationMs", execution.duration_ms), ("heldMs", execution.held_ms)];
    for (name, ms) in times {
        ms.into_iter().for_each(|ms| {
            row.insert(name, number(ms));
        });
    }
    let values = [
        ("input", &execution.input),
        ("output", &execution.output),
        ("error", &execution.error),
        ("usage", &execution.usage),
    ];
    for (name, value) in values {
        value.iter().for_each(|value| {
            row.insert(name, preview(value));
        });
    }
    row.into()
}

/// The value, or the beginning of it. The note's wording is known to the guard that keeps previews out of injected values.
fn preview(value: &Raw) -> Value {
    let text = String::from_utf8_lossy(value.as_bytes());
    let characters = text.chars().count();
    if characters <= PREVIEW
        && let Ok(whole) = value.to_value()
    {
        return whole;
    }
    let mut cut = Object::new();
    cut.insert("note", format!("payload truncated: showing first {PREVIEW} of {characters} characters"));
    cut.insert("preview", text.chars().take(PREVIEW).collect::<String>());
    cut.into()
}

fn nothing_yet(list: &'static str, count: &'static str) -> Value {
    let mut answer = Object::new();
    answer.insert(count, 0_u64);
    answer.insert(list, Vec::new());
    answer.insert("note", NOTHING);
    answer.into()
}

fn unknown_run(id: &str) -> String {
    format!("no run {id}; list_runs shows the ids there are")
}

fn said(err: impl Display) -> String {
    err.to_string()
}

fn number(value: f64) -> Value {
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

fn iso(ms: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates, and what is no date becomes null")]
    let stamp = Timestamp::from_millisecond(ms as i64);
    stamp.map_or(Value::Null, |stamp| Value::from(format!("{stamp:.3}")))
}

/// One segment of the page's own address.
fn encoded(id: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    id.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

const NOTHING: &str = "nothing was recorded yet; `graphmind demo` makes a run to look at";
const PREVIEW: usize = 4_000;
const MOST_NAMED: usize = 50;
const MOST_SCANNED: usize = 200;
const PAGE: PageSize = PageSize { rows: 1_000, bytes: 8 << 20 };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_values_show_their_beginning() {
        let whole = Raw::string(&"x".repeat(PREVIEW - 2));
        assert_eq!(preview(&whole), Value::from("x".repeat(PREVIEW - 2)));
        let long = Raw::string(&"é".repeat(PREVIEW));
        let Value::Object(cut) = preview(&long) else { panic!("a note") };
        assert_eq!(cut.get("note"), Some(&Value::from("payload truncated: showing first 4000 of 4002 characters")));
        assert_eq!(cut.get("preview"), Some(&Value::from(format!("\"{}", "é".repeat(PREVIEW - 1)))));
        let deep = Raw::parse(format!("{}1{}", "[".repeat(600), "]".repeat(600))).expect("JSON");
        assert!(matches!(preview(&deep), Value::Object(_)));
    }

    #[test]
    fn times() {
        assert_eq!(iso(1_700_000_000_123.4), Value::from("2023-11-14T22:13:20.123Z"));
        assert_eq!(iso(f64::MAX), Value::Null);
    }
}
