//! The server over an in-memory pipe, spoken to in both eras.

use std::path::Path;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};

use super::RunsServer;
use crate::import::{Origin, import};
use lockgate_protocol::debug::RunId;
use lockgate_runs::store::sqlite::Store;

/// A client at the other end of the pipe.
struct Client {
    lines: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    input: WriteHalf<DuplexStream>,
    asked: u64,
}

impl Client {
    fn of(database: &Path) -> Client {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (output, input) = tokio::io::split(theirs);
        let server = RunsServer::new(database.to_owned(), 4747, "0.0.0");
        tokio::spawn(server.serve(output, input));
        let (output, input) = tokio::io::split(ours);
        Client { lines: BufReader::new(output).lines(), input, asked: 0 }
    }

    async fn greeted(database: &Path) -> Client {
        let mut client = Client::of(database);
        let about = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "0" } });
        let answer = client.ask("initialize", &about).await;
        assert_eq!(answer.pointer("/result/serverInfo/name"), Some(&json!("graphmind")));
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        client
    }

    async fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params })).await;
        let line = self.lines.next_line().await.expect("readable").expect("an answer");
        let answer: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(answer.get("id"), Some(&json!(self.asked)), "{answer}");
        answer
    }

    async fn send(&mut self, frame: &Value) {
        self.input.write_all(format!("{frame}\n").as_bytes()).await.expect("writable");
    }

    /// The text of a tool's answer, and whether it is an error.
    async fn call(&mut self, tool: &str, arguments: Value) -> (String, bool) {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments })).await;
        let text = answer.pointer("/result/content/0/text").and_then(Value::as_str).unwrap_or_default().to_owned();
        (text, answer.pointer("/result/isError") == Some(&json!(true)))
    }
}

/// A database with one imported run: an agent, and a tool that failed.
async fn database() -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("graphmind.db");
    let span = |id: &str, parent: &str, more: &str| {
        format!(r#"{{"id":"{id}","parent_id":"{parent}","name":"{id}","start":1700000000,"end":1700000001.5,{more}}}"#)
    };
    let text = format!(
        "[{},{}]",
        span("trip", "", r#""attributes":{"openinference.span.kind":"AGENT"}"#),
        span(
            "rates",
            "trip",
            r#""status":"ERROR","status_message":"no rate","attributes":{"openinference.span.kind":"TOOL","input.value":"{\"usd\":1e400}"}"#
        )
    );
    let run = RunId::new("imp_1/2").expect("good");
    let origin = Origin { run, file: "trace.json".to_owned(), app: None, version: "0".to_owned() };
    let imported = import(&text.into(), &origin).expect("a trace");
    let store = Store::open(&path).await.expect("opens");
    imported.keep(&store, &|_| {}).await.expect("kept");
    store.close().await.expect("closed");
    (dir, path)
}

/// The answers to `questions`, each below the tool's name.
async fn told(questions: &[(&str, Value)]) -> String {
    let (_dir, path) = database().await;
    let mut client = Client::greeted(&path).await;
    let mut told = String::new();
    for (tool, arguments) in questions {
        let (text, is_error) = client.call(tool, arguments.clone()).await;
        assert!(!is_error, "{text}");
        told += &format!("{tool}\n{text}\n");
    }
    told
}

#[tokio::test]
async fn runs_and_their_nodes() {
    let told = told(&[("list_runs", json!({})), ("get_run", json!({ "runId": "imp_1/2" }))]).await;
    insta::assert_snapshot!(told, @r#"
    list_runs
    {
      "total": 1,
      "runs": [
        {
          "id": "imp_1/2",
          "app": "trip",
          "status": "ok",
          "source": "import",
          "startedAt": "2023-11-14T22:13:20.000Z",
          "finishedAt": "2023-11-14T22:13:21.500Z",
          "eventCount": 7,
          "errorCount": 1,
          "link": "http://127.0.0.1:4747/#/run/imp_1%2F2"
        }
      ]
    }
    get_run
    {
      "run": {
        "id": "imp_1/2",
        "app": "trip",
        "status": "ok",
        "source": "import",
        "startedAt": "2023-11-14T22:13:20.000Z",
        "finishedAt": "2023-11-14T22:13:21.500Z",
        "eventCount": 7,
        "errorCount": 1,
        "link": "http://127.0.0.1:4747/#/run/imp_1%2F2"
      },
      "nodes": [
        {
          "nodeId": "agent:trip",
          "kind": "agent",
          "name": "trip",
          "status": "ok",
          "executions": 1,
          "durationMs": 1500,
          "link": "http://127.0.0.1:4747/#/run/imp_1%2F2/node/agent%3Atrip"
        },
        {
          "nodeId": "tool:rates",
          "kind": "tool",
          "name": "rates",
          "parentId": "agent:trip",
          "status": "error",
          "executions": 1,
          "durationMs": 1500,
          "errorMessage": "no rate",
          "link": "http://127.0.0.1:4747/#/run/imp_1%2F2/node/tool%3Arates"
        }
      ]
    }
    "#);
}

#[tokio::test]
async fn one_node_and_all_errors() {
    let node = json!({ "runId": "imp_1/2", "nodeId": "tool:rates" });
    let told = told(&[("get_node", node), ("find_errors", json!({ "limit": 1 }))]).await;
    insta::assert_snapshot!(told, @r#"
    get_node
    {
      "runId": "imp_1/2",
      "runStatus": "ok",
      "app": "trip",
      "nodeId": "tool:rates",
      "kind": "tool",
      "name": "rates",
      "parentId": "agent:trip",
      "status": "error",
      "executions": 1,
      "totalDurationMs": 1500,
      "error": {
        "name": "Error",
        "message": "no rate"
      },
      "instances": [
        {
          "instanceId": "rates",
          "startedAt": "2023-11-14T22:13:20.000Z",
          "status": "error",
          "durationMs": 1500,
          "input": {
            "usd": 1e400
          },
          "error": {
            "name": "Error",
            "message": "no rate"
          }
        }
      ],
      "link": "http://127.0.0.1:4747/#/run/imp_1%2F2/node/tool%3Arates"
    }
    find_errors
    {
      "errors": [
        {
          "runId": "imp_1/2",
          "app": "trip",
          "runStatus": "ok",
          "nodeId": "tool:rates",
          "nodeKind": "tool",
          "nodeName": "rates",
          "message": "no rate",
          "errorName": "Error",
          "at": "2023-11-14T22:13:21.500Z",
          "link": "http://127.0.0.1:4747/#/run/imp_1%2F2/node/tool%3Arates"
        }
      ],
      "scannedRuns": 1
    }
    "#);
}

#[tokio::test]
async fn wrong_questions_are_answered_with_what_to_ask() {
    let (_dir, path) = database().await;
    let mut client = Client::greeted(&path).await;
    let mut check = async |tool: &str, arguments: Value, expected: &str| {
        assert_eq!(client.call(tool, arguments).await, (expected.to_owned(), true));
    };
    check("get_run", json!({ "runId": "x" }), "no run x; list_runs shows the ids there are").await;
    check(
        "get_node",
        json!({ "runId": "imp_1/2", "nodeId": "x" }),
        "run imp_1/2 has no node x; it has agent:trip, tool:rates",
    )
    .await;
    check("list_runs", json!({ "limit": 0 }), "`limit` must be a whole number from 1 to 100").await;
    let answer = client.ask("tools/call", &json!({ "name": "resume", "arguments": {} })).await;
    assert_eq!(answer.pointer("/error/code"), Some(&json!(-32602)), "{answer}");
}

#[tokio::test]
async fn the_stateless_era() {
    let (_dir, path) = database().await;
    let mut client = Client::of(&path);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "0" },
    });
    let found = client.ask("server/discover", &json!({ "_meta": meta })).await;
    let versions = found.pointer("/result/supportedVersions").and_then(Value::as_array).expect("versions");
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")), "{found}");
    let listed = client.ask("tools/list", &json!({ "_meta": meta })).await;
    assert_eq!(listed.pointer("/result/tools").and_then(Value::as_array).map(Vec::len), Some(4), "{listed}");
    let called = client.ask("tools/call", &json!({ "name": "list_runs", "arguments": {}, "_meta": meta })).await;
    assert_eq!(called.pointer("/result/resultType"), Some(&json!("complete")), "{called}");
}

#[tokio::test]
async fn without_a_database_nothing_is_made() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("none.db");
    let mut client = Client::greeted(&path).await;
    let (text, is_error) = client.call("find_errors", json!({})).await;
    assert!(!is_error && text.contains("nothing was recorded yet"), "{text}");
    let (text, is_error) = client.call("get_run", json!({ "runId": "r" })).await;
    assert!(is_error && text.starts_with("no run r"), "{text}");
    assert!(!path.exists());
}
