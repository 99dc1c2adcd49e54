//! Which node of a run a span is: the first vocabulary that knows it decides (hub §14.4).

use lockgate_protocol::debug::NodeKind;

use super::span::Span;

/// A span's place in the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) kind: NodeKind,
    pub(super) node: String,
    pub(super) name: String,
    /// What tells executions apart, if the span says; else its own id does.
    pub(super) instance: Option<String>,
}

/// `None`: no vocabulary we know, so it is not part of the run.
pub(super) fn place(span: &Span) -> Option<Place> {
    ai_sdk(span).or_else(|| gen_ai(span)).or_else(|| open_inference(span))
}

fn ai_sdk(span: &Span) -> Option<Place> {
    let attributes = &span.attributes;
    let operation = attributes.text(&["operation.name"]);
    let token = operation.as_deref().and_then(|name| name.split_whitespace().next());
    let token = token.filter(|token| token.starts_with("ai.")).map(str::to_owned);
    let id = attributes.text(&["ai.operationId"]).or(token)?;
    let operation = id.strip_prefix("ai.").unwrap_or(&id);
    if operation.ends_with(".doGenerate") || operation.ends_with(".doStream") {
        return Some(step());
    }
    Some(match operation {
        "generateText" | "streamText" | "generateObject" | "streamObject" => {
            let name = attributes.text(&["ai.telemetry.functionId", "resource.name"]);
            named(NodeKind::Agent, name.unwrap_or_else(|| operation.to_owned()))
        }
        "toolCall" => {
            let name = attributes.text(&["ai.toolCall.name"]).unwrap_or_else(|| span.name.clone());
            Place { instance: attributes.text(&["ai.toolCall.id"]), ..named(NodeKind::Tool, name) }
        }
        other => named(NodeKind::Custom, other.to_owned()),
    })
}

fn gen_ai(span: &Span) -> Option<Place> {
    let attributes = &span.attributes;
    let operation = attributes.text(&["gen_ai.operation.name"])?;
    Some(match operation.as_str() {
        "invoke_agent" => {
            let name = attributes.text(&["gen_ai.agent.name"]).unwrap_or_else(|| span.name.clone());
            named(NodeKind::Agent, name)
        }
        "chat" | "generate_content" | "text_completion" => step(),
        "execute_tool" => {
            let name = attributes.text(&["gen_ai.tool.name"]).unwrap_or_else(|| span.name.clone());
            Place { instance: attributes.text(&["gen_ai.tool.call.id"]), ..named(NodeKind::Tool, name) }
        }
        other => named(NodeKind::Custom, other.to_owned()),
    })
}

fn open_inference(span: &Span) -> Option<Place> {
    let kind = span.attributes.text(&["openinference.span.kind"])?;
    Some(match kind.to_ascii_uppercase().as_str() {
        "LLM" => step(),
        "TOOL" => {
            let name = span.attributes.text(&["tool.name"]).unwrap_or_else(|| span.name.clone());
            let instance = span.attributes.text(&["tool_call.id"]);
            Place { instance, ..named(NodeKind::Tool, name) }
        }
        "AGENT" => named(NodeKind::Agent, span.name.clone()),
        _ => named(NodeKind::Custom, span.name.clone()),
    })
}

fn step() -> Place {
    Place { kind: NodeKind::Llm, node: "llm:step".to_owned(), name: "step".to_owned(), instance: None }
}

fn named(kind: NodeKind, name: String) -> Place {
    let name = if name.is_empty() { "unnamed".to_owned() } else { name };
    Place { kind, node: format!("{}:{name}", kind.as_str()), name, instance: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::span::Attributes;
    use lockgate_protocol::json::Value;

    fn check(name: &str, attributes: &[(&str, &str)], expected: Option<&str>) {
        let mut found = Attributes::default();
        for (key, value) in attributes {
            found.insert((*key).to_owned(), Value::from(*value));
        }
        let span = Span { name: name.to_owned(), attributes: found, ..Span::default() };
        let place = place(&span).map(|place| {
            let instance = place.instance.map(|instance| format!(" #{instance}")).unwrap_or_default();
            format!("{} {}{instance}", place.kind.as_str(), place.node)
        });
        assert_eq!(place.as_deref(), expected, "{name} {attributes:?}");
    }

    #[test]
    fn ai_sdk_spans() {
        let id = "ai.operationId";
        check("s", &[(id, "ai.generateText"), ("ai.telemetry.functionId", "plan")], Some("agent agent:plan"));
        check("s", &[(id, "ai.streamText"), ("resource.name", "res")], Some("agent agent:res"));
        check("s", &[(id, "ai.generateObject")], Some("agent agent:generateObject"));
        check("s", &[("operation.name", "ai.streamObject my-fn")], Some("agent agent:streamObject"));
        check("s", &[(id, "ai.generateText.doGenerate")], Some("llm llm:step"));
        check("s", &[(id, "ai.streamText.doStream")], Some("llm llm:step"));
        check(
            "s",
            &[(id, "ai.toolCall"), ("ai.toolCall.name", "find"), ("ai.toolCall.id", "c1")],
            Some("tool tool:find #c1"),
        );
        check("s", &[(id, "ai.embed")], Some("custom custom:embed"));
        check("s", &[("operation.name", "http.request")], None);
    }

    #[test]
    fn gen_ai_spans() {
        let op = "gen_ai.operation.name";
        check("s", &[(op, "invoke_agent"), ("gen_ai.agent.name", "trip")], Some("agent agent:trip"));
        check("s", &[(op, "chat")], Some("llm llm:step"));
        check("s", &[(op, "text_completion")], Some("llm llm:step"));
        check(
            "s",
            &[(op, "execute_tool"), ("gen_ai.tool.name", "find"), ("gen_ai.tool.call.id", "c")],
            Some("tool tool:find #c"),
        );
        check("s", &[(op, "embeddings")], Some("custom custom:embeddings"));
    }

    #[test]
    fn open_inference_spans() {
        let kind = "openinference.span.kind";
        check("s", &[(kind, "llm")], Some("llm llm:step"));
        check("find", &[(kind, "TOOL")], Some("tool tool:find"));
        check("s", &[(kind, "tool"), ("tool.name", "find")], Some("tool tool:find"));
        check("trip", &[(kind, "Agent")], Some("agent agent:trip"));
        check("docs", &[(kind, "RETRIEVER")], Some("custom custom:docs"));
        check("", &[(kind, "CHAIN")], Some("custom custom:unnamed"));
    }

    #[test]
    fn the_first_vocabulary_decides() {
        check("s", &[("ai.operationId", "ai.toolCall"), ("gen_ai.operation.name", "chat")], Some("tool tool:s"));
        check("s", &[("gen_ai.operation.name", "chat"), ("openinference.span.kind", "TOOL")], Some("llm llm:step"));
        check("s", &[("http.method", "GET")], None);
    }
}
