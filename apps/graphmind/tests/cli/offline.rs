//! Commands that need no hub, from a trace to a file, with good input and bad.

use crate::bench::Bench;

const TRACE: &str = r#"[
  {"id":"a","name":"trip","start":1700000000,"end":1700000002,"attributes":{"openinference.span.kind":"AGENT"}},
  {"id":"b","parent_id":"a","name":"rates","start":1700000001,"end":1700000001.5,
   "attributes":{"openinference.span.kind":"TOOL","input.value":"{\"apiKey\":\"k-1\",\"city\":\"Lisbon\"}"}},
  {"id":"c","name":"GET","start":1700000001,"attributes":{"http.method":"GET"}}
]"#;

/// A home with one imported run, and that run's id.
fn with_a_run() -> (Bench, String) {
    let bench = Bench::new();
    bench.write("trace.json", TRACE);
    let output = bench.command(&["import", "trace.json", "--json", "--port", "1"]).output().expect("ends");
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    (bench, told["runId"].as_str().expect("an id").to_owned())
}

#[test]
fn a_trace_becomes_a_run() {
    let bench = Bench::new();
    bench.write("trace.json", TRACE);
    insta::assert_snapshot!(bench.shown(&["import", "trace.json", "--port", "1"]), @"
    exit 0
    out imported [RUN] of trip: 6 events
    err spans left out: 1 of another kind
    err note: runs over 30 days old are removed by a hub unless GRAPHMIND_RETENTION=off is set
    err look at it: `graphmind --port 1`, then http://127.0.0.1:1/#/run/[RUN]
    ");
    insta::assert_snapshot!(bench.shown(&["import", "trace.json", "--port=1", "--app=planner", "--json"]), @r#"
    exit 0
    out {"app":"planner","events":6,"format":"spans","link":"http://127.0.0.1:1/#/run/[RUN]","runId":"[RUN]","skipped":{"other":1,"repeated":0,"undated":0},"status":"ok"}
    "#);
    let named = bench.shown(&["import", "trace.json", "--db", "an other.db"]);
    let quoted = if cfg!(windows) { "\"an other.db\"" } else { "'an other.db'" };
    let line = format!("look at it: `graphmind --db {quoted}`, then http://127.0.0.1:4747/#/run/");
    assert!(named.contains(&line), "{named}");
    let named = bench.shown(&["import", "trace.json", "--db", "other.db", "--json"]);
    assert!(named.contains(r#""link":null"#), "no hub is known to show it: {named}");
}

#[test]
fn junk_is_told_by_its_shape() {
    let bench = Bench::new();
    bench.write("note.txt", "hello");
    bench.write("har.json", r#"{"log":{"entries":[]}}"#);
    bench.write("http.json", r#"[{"id":"c","name":"GET","start":1700000001,"attributes":{"http.method":"GET"}}]"#);
    insta::assert_snapshot!(bench.shown(&["import", "none.json"]), @"
    exit 1
    err error: read none.json: no such file or directory
    err hint: check its name, and the folder you are in
    ");
    insta::assert_snapshot!(bench.shown(&["import", "note.txt"]), @"
    exit 1
    err error: import note.txt: not JSON: unexpected byte in json text at byte 0
    err hint: it must be JSON, or one JSON object a line
    ");
    insta::assert_snapshot!(bench.shown(&["import", "har.json"]), @"
    exit 1
    err error: import har.json: no trace in an object with `log`
    err hint: it must have OTLP `resourceSpans`, or be a list of spans with an id and a start time (also as `spans` or `data`)
    ");
    insta::assert_snapshot!(bench.shown(&["import", "http.json"]), @"
    exit 1
    err error: import http.json: none of 1 spans is a model, tool or agent step
    err hint: spans need `gen_ai.operation.name`, `ai.operationId` or `openinference.span.kind`
    ");
}

#[test]
fn a_run_becomes_a_file_without_its_secrets() {
    let (bench, id) = with_a_run();
    let shown = bench.shown(&["record", &id]);
    assert!(shown.contains(r#"{"apiKey":"__REDACTED__","city":"Lisbon"}"#) && !shown.contains("k-1"), "{shown}");
    insta::assert_snapshot!(bench.shown(&["record", &id, "--out", "run.ndjson"]), @"
    exit 0
    err wrote 6 events to run.ndjson; removed 1 secret (apiKey 1)
    ");
    let file = std::fs::read_to_string(bench.path("run.ndjson")).expect("written");
    assert_eq!(file.lines().count(), 6);
    assert_eq!(bench.shown(&["record", &id, "--out", "-"]), shown, "a lone - is stdout, as elsewhere");
    assert!(!bench.path("-").exists());
    insta::assert_snapshot!(bench.shown(&["record", &id, "--out", "-", "--json"]), @r#"
    exit 1
    out {"error":{"code":"usage","message":"--json tells about the file written, and there is none","hint":"name it with `--out FILE`; without --json the run itself goes to stdout"}}
    "#);
    let kept = bench.shown(&["record", &id, "--redact-secrets", "--no-redact-secrets"]);
    assert!(kept.contains("k-1"), "{kept}");
    let shown = bench.shown(&["record", &id, "--out", "none/run.ndjson", "--json"]);
    insta::assert_snapshot!(shown, @r#"
    exit 1
    out {"error":{"code":"unexpected","message":"write none/run.ndjson: no such file or directory","hint":null}}
    "#);
}

#[test]
fn unknown_runs_are_told_what_there_is() {
    let bench = Bench::new();
    insta::assert_snapshot!(bench.shown(&["record", "run_1"]), @"
    exit 4
    err error: no run run_1
    err hint: nothing was recorded yet; `graphmind demo` makes a run to look at
    ");
    let (bench, _) = with_a_run();
    insta::assert_snapshot!(bench.shown(&["record", "run_1"]), @"
    exit 4
    err error: no run run_1
    err hint: recent runs: [RUN]
    ");
    insta::assert_snapshot!(bench.shown(&["runs", "--rm", "run_1"]), @"
    exit 4
    err error: no run run_1
    err hint: `graphmind runs` lists the ids
    ");
}

#[test]
fn runs_come_and_go() {
    let bench = Bench::new();
    insta::assert_snapshot!(bench.shown(&["runs"]), @"
    exit 0
    out no runs yet
    err hint: `graphmind demo` makes one to look at
    ");
    assert!(!bench.path("graphmind.db").exists(), "looking makes no database");
    let (bench, id) = with_a_run();
    let listed = bench.shown(&["runs"]);
    assert!(listed.contains(" trip  ok      import  "), "{listed}");
    insta::assert_snapshot!(bench.shown(&["runs", "--rm", &id, "--json"]), @r#"
    exit 0
    out {"removed":["[RUN]"]}
    "#);
    insta::assert_snapshot!(bench.shown(&["runs", "--clear", "--yes"]), @"
    exit 0
    out removed 0 runs
    ");
}

#[test]
fn a_database_that_cannot_be_used() {
    let bench = Bench::new();
    bench.write("text.db", "this is no database, but it is long enough to be looked at as one, so it is refused");
    let shown = bench.shown(&["runs", "--db", "text.db"]);
    insta::assert_snapshot!(shown, @"
    exit 1
    err error: use database: it is not a database, or damaged: text.db
    err hint: move the file away; a new one is made at the next start
    ");
    insta::assert_snapshot!(bench.shown(&["runs", "--db", "postgres://u:p@db/runs"]), @"
    exit 1
    err error: runs are kept in a file, not at postgres://…
    err hint: name a file with `--db` or in GRAPHMIND_DB
    ");
    let shown = bench.shown(&["runs", "--db", "text.db", "--json"]);
    assert!(shown.contains(r#"{"error":{"code":"database","#), "{shown}");
}

#[test]
fn projects_are_told_how_to_be_watched() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("trip")).expect("made");
    let shown = bench.shown(&["init", "trip", "--host", "plain", "--", "node", "my server.js"]);
    let quoted = |text: &str| text.replace(r#""[PROGRAM]""#, "[PROGRAM]").replace('"', "'");
    insta::assert_snapshot!(if cfg!(windows) { quoted(&shown) } else { shown }, @"
    exit 0
    out No MCP or agent library found here. Any MCP server on stdio can be watched without a change to it.
    out 
    out In the place of the server's command:
    out 
    out   [PROGRAM] mcp-proxy -- node 'my server.js'
    out 
    out Then start the hub with `graphmind` and use the host as always.
    ");
    bench.write("trip/package.json", r#"{"bin":"dist/index.js","dependencies":{"@modelcontextprotocol/sdk":"1"}}"#);
    insta::assert_snapshot!(bench.shown(&["init", "trip", "--host", "cursor"]), @r#"
    exit 0
    out TypeScript MCP server, SDK 1 (@modelcontextprotocol/sdk in package.json)
    out   Nothing to install: the proxy stands between the host and the server.
    out 
    out .cursor/mcp.json:
    out 
    out   {
    out     "mcpServers": {
    out       "trip": {
    out         "command": "[PROGRAM]",
    out         "args": ["mcp-proxy","--","node","dist/index.js"]
    out       }
    out     }
    out   }
    out 
    out Then start the hub with `graphmind` and use the host as always.
    "#);
    insta::assert_snapshot!(bench.shown(&["init", "trip", "--json"]), @r#"
    exit 0
    out {"found":[{"advice":"Nothing to install: the proxy stands between the host and the server.","because":"@modelcontextprotocol/sdk in package.json","install":null,"snippet":null,"stack":"TypeScript MCP server, SDK 1"}],"host":null,"proxy":["graphmind","mcp-proxy","--","node","dist/index.js"],"written":null}
    "#);
    let nothing = bench.shown(&["init", "trip", "--install", "--write"]);
    for said in ["err nothing to install: ", "err no example to write: "] {
        assert!(nothing.contains(said), "{nothing}");
    }
    bench.write("trip/package.json", "{\n  oops");
    insta::assert_snapshot!(bench.shown(&["init", "trip"]), @"
    exit 1
    err error: read trip/package.json: key must be a string at line 2 column 3
    err hint: repair it, then run `graphmind init` again
    ");
    insta::assert_snapshot!(bench.shown(&["init", "nowhere"]), @"
    exit 1
    err error: no folder nowhere
    err hint: name the project's folder: `graphmind init path/to/project`
    ");
}

#[test]
fn rust_servers_are_known() {
    let bench = Bench::new();
    bench.write("Cargo.toml", "[package]\nname = \"trip\"\n[dependencies]\nrmcp = \"3\"\n");
    let shown = bench.shown(&["init"]);
    assert!(shown.contains("out Rust MCP server (rmcp in Cargo.toml)"), "{shown}");
    assert!(
        shown.contains("out   cargo add --git https://") && shown.contains(" lockgate-graphmind lockgate-protocol\n"),
        "{shown}"
    );
    assert!(shown.contains("out   graphmind mcp-proxy -- target/release/trip"), "{shown}");
    let written = bench.shown(&["init", "--write"]);
    assert!(written.contains("out wrote ./src/debugger.rs") && bench.path("src/debugger.rs").is_file(), "{written}");
}

#[test]
fn an_example_is_written_once() {
    let bench = Bench::new();
    bench.write("requirements.txt", "openai\n");
    let shown = bench.shown(&["init", "--write"]);
    assert!(shown.contains("wrote ./graphmind_example.py"), "{shown}");
    insta::assert_snapshot!(bench.shown(&["init", "--write"]), @"
    exit 1
    err error: ./graphmind_example.py is there already
    err hint: move it away, or leave out `--write`
    ");
}

#[test]
fn the_skill_is_installed_and_not_overwritten() {
    let bench = Bench::new();
    insta::assert_snapshot!(bench.shown(&["skill", "--install"]), @"
    exit 0
    out installed .claude/skills/graphmind/SKILL.md
    ");
    insta::assert_snapshot!(bench.shown(&["skill", "--install"]), @"
    exit 0
    out installed .claude/skills/graphmind/SKILL.md
    ");
    bench.write(".claude/skills/graphmind/SKILL.md", "mine");
    insta::assert_snapshot!(bench.shown(&["skill", "--install"]), @"
    exit 1
    err error: .claude/skills/graphmind/SKILL.md is there already and differs
    err hint: replace it with `graphmind skill --install --force`
    ");
    insta::assert_snapshot!(bench.shown(&["skill", "--install", "--force", "--json"]), @r#"
    exit 0
    out {"installed":".claude/skills/graphmind/SKILL.md"}
    "#);
    assert!(bench.shown(&["skill"]).contains("out name: graphmind"));
}

#[test]
fn mcp_speaks_nothing_but_the_protocol() {
    let bench = Bench::new();
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}"#;
    let shown = bench.shown_with(&["mcp"], &format!("{hello}\n"));
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!((lines.len(), lines.first()), (2, Some(&"exit 0")), "{shown}");
    let answer: serde_json::Value = serde_json::from_str(lines[1].trim_start_matches("out ")).expect("JSON");
    assert_eq!(answer["result"]["serverInfo"]["name"], "graphmind");
}
