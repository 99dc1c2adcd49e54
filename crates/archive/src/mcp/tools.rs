//! The four tools: what they are called, what they take, and a call read into what was asked.

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

/// A call with arguments that make sense.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    ListRuns { limit: usize },
    GetRun { run: String },
    GetNode { run: String, node: String },
    FindErrors { limit: usize },
}

impl Asked {
    /// `None`: no such tool. An error is the sentence the caller should read.
    pub(super) fn read(tool: &str, arguments: Option<&JsonObject>) -> Option<Result<Asked, String>> {
        let text = |name: &str| match arguments.and_then(|arguments| arguments.get(name)) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(_) => Err(format!("`{name}` must be a string")),
            None => Err(format!("`{name}` is missing; list_runs shows the ids of runs, get_run those of nodes")),
        };
        let limit = || match arguments.and_then(|arguments| arguments.get("limit")) {
            None => Ok(DEFAULT_LIMIT),
            Some(limit) => limit
                .as_u64()
                .and_then(|limit| usize::try_from(limit).ok())
                .filter(|limit| (1..=MOST).contains(limit))
                .ok_or_else(|| format!("`limit` must be a whole number from 1 to {MOST}")),
        };
        Some(match tool {
            "list_runs" => limit().map(|limit| Asked::ListRuns { limit }),
            "get_run" => text("runId").map(|run| Asked::GetRun { run }),
            "get_node" => text("runId").and_then(|run| Ok(Asked::GetNode { run, node: text("nodeId")? })),
            "find_errors" => limit().map(|limit| Asked::FindErrors { limit }),
            _ => return None,
        })
    }
}

pub(super) fn all() -> Vec<Tool> {
    let limit = json!({ "type": "integer", "minimum": 1, "maximum": MOST, "default": DEFAULT_LIMIT });
    let run = json!({ "type": "string", "description": "Id of a run, from list_runs" });
    let node = json!({ "type": "string", "description": "Id of a node, from get_run" });
    vec![
        tool("list_runs", "List recorded runs, newest first", &json!({ "limit": limit }), &[]),
        tool(
            "get_run",
            "One run with its nodes: what ran, how often, how long, what failed",
            &json!({ "runId": run }),
            &["runId"],
        ),
        tool(
            "get_node",
            "One node of a run with its last executions, their inputs, outputs and errors",
            &json!({ "runId": run, "nodeId": node }),
            &["runId", "nodeId"],
        ),
        tool("find_errors", "Errors in recorded runs, newest run first", &json!({ "limit": limit }), &[]),
    ]
}

fn tool(name: &'static str, description: &'static str, properties: &Value, required: &[&str]) -> Tool {
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), properties.clone());
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), json!(false));
    let annotations = ToolAnnotations::new().read_only(true).open_world(false);
    Tool::new(name, description, schema).with_annotations(annotations)
}

const DEFAULT_LIMIT: usize = 20;
const MOST: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(tool: &str, arguments: &Value, expected: Option<Result<Asked, &str>>) {
        let asked = Asked::read(tool, arguments.as_object());
        assert_eq!(asked, expected.map(|asked| asked.map_err(str::to_owned)), "{tool} {arguments}");
    }

    #[test]
    fn arguments() {
        check("list_runs", &json!(null), Some(Ok(Asked::ListRuns { limit: 20 })));
        check("list_runs", &json!({ "limit": 100 }), Some(Ok(Asked::ListRuns { limit: 100 })));
        for limit in [json!(0), json!(101), json!(1.5), json!("5"), json!(-1)] {
            let wrong = "`limit` must be a whole number from 1 to 100";
            check("find_errors", &json!({ "limit": limit }), Some(Err(wrong)));
        }
        check("get_run", &json!({ "runId": 7 }), Some(Err("`runId` must be a string")));
        let missing = "`nodeId` is missing; list_runs shows the ids of runs, get_run those of nodes";
        check("get_node", &json!({ "runId": "r" }), Some(Err(missing)));
        check("resume", &json!({}), None);
    }

    #[test]
    fn every_tool_says_that_it_only_reads() {
        for tool in all() {
            let annotations = tool.annotations.expect("annotated");
            assert_eq!((annotations.read_only_hint, annotations.open_world_hint), (Some(true), Some(false)));
            assert!(Asked::read(&tool.name, None).is_some(), "{}", tool.name);
        }
    }
}
