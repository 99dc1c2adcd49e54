//! Events of a run, folded into its nodes: how often each ran, how long, what came of it.

use std::collections::{HashMap, VecDeque};

use lockgate_protocol::json::{Raw, View};

use lockgate_runs::store::StoredEvent;

/// The nodes of one run in the order they were first seen.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    pub(super) list: Vec<Node>,
    places: HashMap<String, usize>,
    pauses: HashMap<String, usize>,
    /// The node whose payloads are wanted; those of others are not kept in memory.
    focus: Option<String>,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) parent: Option<String>,
    pub(super) executions: u64,
    pub(super) total_ms: Option<f64>,
    pub(super) error: Option<(String, String)>,
    pub(super) recent: VecDeque<Execution>,
    held: usize,
}

#[derive(Debug, Default)]
pub(super) struct Execution {
    pub(super) instance: Option<String>,
    pub(super) started_at: u64,
    pub(super) status: Option<String>,
    pub(super) duration_ms: Option<f64>,
    pub(super) held_ms: Option<f64>,
    pub(super) input: Option<Raw>,
    pub(super) output: Option<Raw>,
    pub(super) error: Option<Raw>,
    pub(super) usage: Option<Raw>,
}

impl Nodes {
    pub(super) fn focused_on(node: Option<&str>) -> Nodes {
        Nodes { focus: node.map(str::to_owned), ..Nodes::default() }
    }

    pub(super) fn get(&self, id: &str) -> Option<&Node> {
        self.list.get(*self.places.get(id)?)
    }

    pub(super) fn take(&mut self, event: &StoredEvent) {
        let Some(raw) = &event.payload else { return };
        let payload = raw.view();
        match event.kind.as_str() {
            "graph.hint" => payload.get("nodes").into_iter().flat_map(View::items).for_each(|hint| {
                self.place(hint);
            }),
            "node.started" => self.started(raw, event.ts),
            "node.error" => self.failed(raw),
            "node.finished" => self.finished(raw),
            "exec.paused" => self.paused(payload),
            "exec.resumed" => self.resumed(payload),
            _ => {}
        }
    }

    /// The node an event is about; a later event may fill in what an earlier one left out.
    fn place(&mut self, payload: View<'_>) -> Option<usize> {
        let id = text(payload, "nodeId")?;
        let place = *self.places.entry(id.clone()).or_insert_with(|| {
            let node = Node {
                kind: String::new(),
                name: String::new(),
                parent: None,
                executions: 0,
                total_ms: None,
                error: None,
                recent: VecDeque::new(),
                held: 0,
                id,
            };
            self.list.push(node);
            self.list.len() - 1
        });
        let node = self.list.get_mut(place)?;
        if let Some(kind) = text(payload, "kind") {
            node.kind = kind;
        }
        if let Some(name) = text(payload, "name") {
            node.name = name;
        }
        node.parent = node.parent.take().or_else(|| text(payload, "parentId"));
        Some(place)
    }

    fn started(&mut self, raw: &Raw, ts: u64) {
        let payload = raw.view();
        let Some(place) = self.place(payload) else { return };
        let wanted = self.wanted(place);
        let Some(node) = self.list.get_mut(place) else { return };
        node.executions += 1;
        node.recent.push_back(Execution {
            instance: text(payload, "instanceId"),
            started_at: ts,
            input: part(raw, "input", wanted),
            ..Execution::default()
        });
        if node.recent.len() > RECENT {
            node.recent.pop_front();
        }
    }

    fn failed(&mut self, raw: &Raw) {
        let payload = raw.view();
        let Some(place) = self.place(payload) else { return };
        let Some(node) = self.list.get_mut(place) else { return };
        let error = payload.get("error");
        let word = |name: &str| error.and_then(|error| text(error, name)).unwrap_or_default();
        node.error = Some((word("name"), word("message")));
        if let Some(execution) = node.execution(payload) {
            execution.error = error.map(|error| raw.part(error));
        }
    }

    fn finished(&mut self, raw: &Raw) {
        let payload = raw.view();
        let Some(place) = self.place(payload) else { return };
        let wanted = self.wanted(place);
        let Some(node) = self.list.get_mut(place) else { return };
        let number = |name: &str| payload.get(name).and_then(View::f64);
        let duration = number("durationMs");
        if let Some(duration) = duration {
            node.total_ms = Some(node.total_ms.unwrap_or(0.0) + duration);
        }
        if let Some(execution) = node.execution(payload) {
            execution.status = text(payload, "status");
            execution.duration_ms = duration;
            execution.held_ms = number("heldMs");
            execution.output = part(raw, "output", wanted);
            execution.usage = part(raw, "usage", wanted);
        }
    }

    fn paused(&mut self, payload: View<'_>) {
        let Some(place) = self.place(payload) else { return };
        let Some(pause) = text(payload, "pauseId") else { return };
        if self.pauses.insert(pause, place).is_none() {
            self.list.get_mut(place).into_iter().for_each(|node| node.held += 1);
        }
    }

    fn resumed(&mut self, payload: View<'_>) {
        let place = text(payload, "pauseId").and_then(|pause| self.pauses.remove(&pause));
        let node = place.and_then(|place| self.list.get_mut(place));
        node.into_iter().for_each(|node| node.held = node.held.saturating_sub(1));
    }

    fn wanted(&self, place: usize) -> bool {
        self.focus.is_some() && self.list.get(place).map(|node| &node.id) == self.focus.as_ref()
    }
}

impl Node {
    /// `ghost` until it runs, then what its last execution came to.
    pub(super) fn status(&self) -> &str {
        if self.held > 0 {
            return "paused";
        }
        match self.recent.back() {
            None => "ghost",
            Some(last) => last.status.as_deref().unwrap_or("running"),
        }
    }

    /// The execution an event names, else the latest that is running, else the last.
    fn execution(&mut self, payload: View<'_>) -> Option<&mut Execution> {
        let named = text(payload, "instanceId");
        let by_name = named.and_then(|name| self.recent.iter().rposition(|each| each.instance.as_ref() == Some(&name)));
        let place = by_name.or_else(|| self.recent.iter().rposition(|each| each.status.is_none()));
        self.recent.get_mut(place.unwrap_or_else(|| self.recent.len().saturating_sub(1)))
    }
}

fn part(raw: &Raw, name: &str, wanted: bool) -> Option<Raw> {
    raw.view().get(name).filter(|_| wanted).map(|view| raw.part(view))
}

fn text(payload: View<'_>, name: &str) -> Option<String> {
    payload.get(name).and_then(View::text).map(|text| text.to_lossy().into_owned())
}

pub(super) const RECENT: usize = 25;

#[cfg(test)]
mod tests {
    use super::*;

    fn fold(events: &[(&str, &str)]) -> Nodes {
        let mut nodes = Nodes::focused_on(Some("tool:a"));
        for (kind, payload) in events {
            let payload = Raw::parse((*payload).to_owned()).expect("JSON");
            nodes.take(&StoredEvent {
                ord: 0,
                seq: 0,
                ts: 1,
                kind: (*kind).to_owned(),
                node: None,
                payload: Some(payload),
                extra: None,
            });
        }
        nodes
    }

    fn check(events: &[(&str, &str)], expected: &str) {
        let node = |node: &Node| format!("{} {} x{}", node.id, node.status(), node.executions);
        let nodes: Vec<String> = fold(events).list.iter().map(node).collect();
        assert_eq!(nodes.join(", "), expected);
    }

    #[test]
    fn what_a_node_is_doing() {
        let start = ("node.started", r#"{"nodeId":"tool:a","kind":"tool","name":"a","instanceId":"1"}"#);
        let again = ("node.started", r#"{"nodeId":"tool:a","kind":"tool","name":"a","instanceId":"2"}"#);
        let paused = ("exec.paused", r#"{"pauseId":"p","nodeId":"tool:a","point":"before"}"#);
        let resumed = ("exec.resumed", r#"{"pauseId":"p","action":"continue"}"#);
        let done = |id: &str| format!(r#"{{"nodeId":"tool:a","instanceId":"{id}","durationMs":1,"status":"ok"}}"#);
        let (first, second) = (done("1"), done("2"));
        check(&[("graph.hint", r#"{"nodes":[{"nodeId":"tool:a","kind":"tool","name":"a"}]}"#)], "tool:a ghost x0");
        check(&[start], "tool:a running x1");
        check(&[start, paused], "tool:a paused x1");
        check(&[start, paused, paused, resumed], "tool:a running x1");
        check(&[start, again, ("node.finished", &second)], "tool:a ok x2");
        check(&[start, again, ("node.finished", &first)], "tool:a running x2");
        check(&[start, ("node.finished", r#"{"nodeId":"tool:a","durationMs":1,"status":"error"}"#)], "tool:a error x1");
        check(&[("node.finished", &first), ("node.started", "[]"), ("node.error", "{}")], "tool:a ghost x0");
    }

    #[test]
    fn only_the_last_executions_are_kept() {
        let start = r#"{"nodeId":"tool:a","kind":"tool","name":"a","instanceId":"1","input":1}"#;
        let other = r#"{"nodeId":"tool:b","kind":"tool","name":"b","instanceId":"1","input":1}"#;
        let nodes = fold(&[[("node.started", start); 30].as_slice(), &[("node.started", other)]].concat());
        let node = nodes.get("tool:a").expect("seen");
        assert_eq!((node.executions, node.recent.len()), (30, RECENT));
        assert!(node.recent.iter().all(|execution| execution.input.is_some()));
        assert!(nodes.get("tool:b").expect("seen").recent.iter().all(|execution| execution.input.is_none()));
    }
}
