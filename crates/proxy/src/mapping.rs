//! Which frames are calls, and which node of the graph each of them is (hub §12.4). Knows no session and no bytes.

use std::collections::HashMap;
use std::sync::Arc;

use lockgate_gate::Node;
use lockgate_protocol::debug::NodeKind;
use lockgate_protocol::json::View;
use lockgate_protocol::mcp::{Params, method};

use crate::side::Side;

/// What a method is in the graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Subject {
    pub(crate) node: Arc<Node>,
    pub(crate) place: Place,
}

/// Where in the graph a node hangs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Directly below the session.
    Work,
    /// In the folded group of protocol traffic.
    Protocol,
}

/// Makes nodes and remembers the usual ones, so that a call costs no allocation for its name.
#[derive(Debug, Default)]
pub(crate) struct Mapping {
    tools: HashMap<Box<str>, Arc<Node>>,
    resources: HashMap<Box<str>, Arc<Node>>,
    prompts: HashMap<Box<str>, Arc<Node>>,
    methods: HashMap<Box<str>, Arc<Node>>,
}

impl Mapping {
    /// The subject of a frame from `from`. A work method in the unnatural direction is protocol traffic, so that a server
    /// that echoes requests counts none of them twice.
    pub(crate) fn subject(&mut self, from: Side, method: &str, params: &Params<'_>) -> Subject {
        let natural = match method {
            method::TOOLS_CALL | method::RESOURCES_READ | method::PROMPTS_GET | method::COMPLETE => Some(Side::Client),
            method::SAMPLING => Some(Side::Server),
            _ if method.starts_with("elicitation/") => Some(Side::Server),
            _ => None,
        };
        if natural != Some(from) {
            return Subject { node: self.method(method), place: Place::Protocol };
        }
        let node = match method {
            method::TOOLS_CALL => named(&mut self.tools, "tool", NodeKind::Tool, params.name),
            method::RESOURCES_READ => named(&mut self.resources, "resource", NodeKind::Resource, params.uri),
            method::PROMPTS_GET => named(&mut self.prompts, "prompt", NodeKind::Prompt, params.name),
            method::SAMPLING => {
                remembered(&mut self.methods, method, |_| node("llm:sampling", NodeKind::Llm, "sampling"))
            }
            _ => self.method(method),
        };
        Subject { node, place: Place::Work }
    }

    /// The node of a method as such.
    pub(crate) fn method(&mut self, method: &str) -> Arc<Node> {
        // Sampling in the unnatural direction is another node than the natural one that is remembered under its name.
        if method == method::SAMPLING {
            return Arc::new(node("mcp:sampling/createMessage", NodeKind::Custom, method));
        }
        remembered(&mut self.methods, method, |method| node(&format!("mcp:{method}"), NodeKind::Custom, method))
    }
}

/// A node that is there once.
pub(crate) fn node(id: &str, kind: NodeKind, name: &str) -> Node {
    Node { id: id.into(), kind, name: name.into() }
}

fn named(known: &mut HashMap<Box<str>, Arc<Node>>, prefix: &str, kind: NodeKind, name: Option<View<'_>>) -> Arc<Node> {
    let text = name.and_then(View::text);
    let name = text.as_ref().map_or("unknown".into(), |text| text.to_lossy());
    remembered(known, &name, |name| node(&format!("{prefix}:{name}"), kind, name))
}

fn remembered(known: &mut HashMap<Box<str>, Arc<Node>>, key: &str, make: impl FnOnce(&str) -> Node) -> Arc<Node> {
    if let Some(node) = known.get(key) {
        return Arc::clone(node);
    }
    let node = Arc::new(make(key));
    if key.len() <= LONGEST {
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(key.into(), Arc::clone(&node));
    }
    node
}

/// Longer names are not worth remembering.
const LONGEST: usize = 256;
/// Names remembered of each sort; then it begins anew.
const MOST: usize = 4_096;

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_protocol::json::Raw;

    #[track_caller]
    fn check(from: Side, method: &str, params: &str, expected: &str) {
        let params = Raw::parse(params.to_owned()).expect("a JSON text");
        let mut mapping = Mapping::default();
        for _ in 0..2 {
            let subject = mapping.subject(from, method, &Params::read(params.view()));
            let Node { id, kind, name } = &*subject.node;
            assert_eq!(format!("{id} {kind} {name} {:?}", subject.place), expected);
        }
    }

    #[test]
    fn work_is_named_by_its_target() {
        check(Side::Client, "tools/call", r#"{"name":"search"}"#, "tool:search tool search Work");
        check(Side::Client, "tools/call", r#"{"name":7}"#, "tool:unknown tool unknown Work");
        check(Side::Client, "tools/call", "[]", "tool:unknown tool unknown Work");
        check(Side::Client, "resources/read", r#"{"uri":"file:///a"}"#, "resource:file:///a resource file:///a Work");
        check(Side::Client, "prompts/get", r#"{"name":"\u0061"}"#, "prompt:a prompt a Work");
        check(Side::Client, "completion/complete", "{}", "mcp:completion/complete custom completion/complete Work");
        check(Side::Server, "sampling/createMessage", "{}", "llm:sampling llm sampling Work");
        check(Side::Server, "elicitation/create", "{}", "mcp:elicitation/create custom elicitation/create Work");
        check(Side::Client, "tools/call", r#"{"name":"a\ud800"}"#, "tool:a\u{fffd} tool a\u{fffd} Work");
    }

    #[test]
    fn everything_else_is_protocol() {
        check(Side::Client, "initialize", "{}", "mcp:initialize custom initialize Protocol");
        check(Side::Client, "server/discover", "{}", "mcp:server/discover custom server/discover Protocol");
        check(Side::Server, "roots/list", "{}", "mcp:roots/list custom roots/list Protocol");
        check(Side::Client, "vendor/anything", "{}", "mcp:vendor/anything custom vendor/anything Protocol");
        check(
            Side::Client,
            "notifications/initialized",
            "{}",
            "mcp:notifications/initialized custom notifications/initialized Protocol",
        );
    }

    #[test]
    fn work_in_the_unnatural_direction_is_protocol() {
        check(Side::Server, "tools/call", r#"{"name":"x"}"#, "mcp:tools/call custom tools/call Protocol");
        check(
            Side::Client,
            "sampling/createMessage",
            "{}",
            "mcp:sampling/createMessage custom sampling/createMessage Protocol",
        );
    }

    #[test]
    fn hostile_names_are_not_kept() {
        let mut mapping = Mapping::default();
        for number in 0..10_000 {
            let params = Raw::object(|out| {
                out.str("name", &format!("{number}"));
            });
            mapping.subject(Side::Client, "tools/call", &Params::read(params.view()));
        }
        assert!(mapping.tools.len() <= MOST);
        let params = Raw::object(|out| {
            out.str("name", &"x".repeat(1_000));
        });
        let subject = mapping.subject(Side::Client, "tools/call", &Params::read(params.view()));
        assert_eq!(subject.node.name.len(), 1_000);
        assert!(!mapping.tools.contains_key(&*subject.node.name));
    }
}
