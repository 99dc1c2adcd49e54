//! Whole files in, whole runs out.

use super::*;
use lockgate_protocol::debug::RunId;

fn origin() -> Origin {
    let run = RunId::new("imp_000000000000").expect("a good id");
    Origin { run, file: "trace.json".to_owned(), app: None, version: "0.0.0".to_owned() }
}

fn run(text: &str) -> Result<Imported, ImportError> {
    import(&text.to_owned().into(), &origin())
}

/// The run as one line an event: seq, ts, type, payload.
fn shown(imported: &Imported) -> String {
    let line = |event: &lockgate_protocol::debug::Envelope| {
        format!("{} {} {} {:?}\n", event.seq, event.ts, event.kind, event.payload.clone().expect("a payload"))
    };
    imported.events.iter().map(line).collect()
}

const OTLP: &str = r#"{"resourceSpans":[{
  "resource":{"attributes":[{"key":"service.name","value":{"stringValue":"trip"}}]},
  "scopeSpans":[{"spans":[
    {"spanId":"a","name":"root","startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000002500000000",
     "status":{"code":2,"message":"gave up"},
     "attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"invoke_agent"}},
                   {"key":"gen_ai.agent.name","value":{"stringValue":"planner"}}]},
    {"spanId":"h","parentSpanId":"a","name":"GET","startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000000000000",
     "attributes":[{"key":"http.method","value":{"stringValue":"GET"}}]},
    {"spanId":"b","parentSpanId":"h","name":"chat","startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000001000000000",
     "attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},
                   {"key":"gen_ai.request.model","value":{"stringValue":"m-1"}},
                   {"key":"gen_ai.usage.input_tokens","value":{"intValue":"12"}},
                   {"key":"gen_ai.input.messages","value":{"stringValue":"[{\"role\":\"user\",\"content\":\"hi\"}]"}}]},
    {"spanId":"c","parentSpanId":"a","name":"tool","startTimeUnixNano":"1700000001000000000","endTimeUnixNano":"1700000002500000000",
     "status":{"code":"STATUS_CODE_ERROR"},
     "events":[{"name":"log"},{"name":"exception","attributes":[
        {"key":"exception.type","value":{"stringValue":"Timeout"}},{"key":"exception.message","value":{"stringValue":"too slow"}}]}],
     "attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},
                   {"key":"gen_ai.tool.name","value":{"stringValue":"search"}},
                   {"key":"gen_ai.tool.call.id","value":{"stringValue":"call_1"}},
                   {"key":"gen_ai.tool.call.arguments","value":{"kvlistValue":{"values":[{"key":"big","value":{"intValue":"9007199254740993"}}]}}}]},
    {"spanId":"c","name":"again","startTimeUnixNano":"1"},
    {"spanId":"d","name":"no time"}
  ]}]}]}"#;

#[test]
fn otlp() {
    let imported = run(OTLP).expect("a trace");
    assert_eq!((imported.app.as_str(), imported.format), ("trip", Format::Otlp));
    assert_eq!(imported.skipped, Skipped { other: 1, repeated: 1, undated: 1 });
    insta::assert_snapshot!(shown(&imported), @r#"
    0 1700000000000 run.started {"app":"trip","sdk":{"name":"graphmind-import","version":"0.0.0"},"meta":{"name":"trace.json","source":"import","format":"otlp","file":"trace.json"}}
    1 1700000000000 node.started {"nodeId":"agent:planner","kind":"agent","name":"planner","instanceId":"a"}
    2 1700000000000 node.started {"nodeId":"llm:step","parentId":"agent:planner","kind":"llm","name":"step","instanceId":"b","input":[{"role":"user","content":"hi"}],"model":"m-1"}
    3 1700000001000 node.started {"nodeId":"tool:search","parentId":"agent:planner","kind":"tool","name":"search","instanceId":"call_1","input":{"big":9007199254740993}}
    4 1700000001000 node.finished {"nodeId":"llm:step","instanceId":"b","durationMs":1000,"status":"ok","usage":{"inputTokens":12,"outputTokens":0}}
    5 1700000002500 node.error {"nodeId":"tool:search","instanceId":"call_1","error":{"name":"Timeout","message":"too slow"}}
    6 1700000002500 node.finished {"nodeId":"tool:search","instanceId":"call_1","durationMs":1500,"status":"error"}
    7 1700000002500 node.error {"nodeId":"agent:planner","instanceId":"a","error":{"name":"Error","message":"gave up"}}
    8 1700000002500 node.finished {"nodeId":"agent:planner","instanceId":"a","durationMs":2500,"status":"error"}
    9 1700000002500 run.finished {"status":"error","error":{"name":"Error","message":"gave up"}}
    "#);
}

#[test]
fn flat_in_three_spellings() {
    let nested = r#"[{"context":{"span_id":"a"},"name":"trip","start_time":"2023-11-14T22:13:20Z","end_time":"2023-11-14T22:13:21Z",
        "attributes":{"openinference":{"span":{"kind":"AGENT"}},"input":{"value":"{\"q\":1}"}}}]"#;
    let columns = r#"{"data":[{"context.span_id":"a","name":"trip","start_time":1700000000,"end_time":1700000001,
        "attributes.openinference.span.kind":"AGENT","attributes.input.value":"{\"q\":1}"}]}"#;
    let lines = "{\"span_id\":\"a\",\"name\":\"trip\",\"start_time\":1700000000000,\"end_time\":1700000001000,\
        \"attributes\":{\"openinference.span.kind\":\"agent\",\"input.value\":\"{\\\"q\\\":1}\"}}\n\n";
    let expected = shown(&run(nested).expect("nested"));
    insta::assert_snapshot!(expected, @r#"
    0 1700000000000 run.started {"app":"trip","sdk":{"name":"graphmind-import","version":"0.0.0"},"meta":{"name":"trace.json","source":"import","format":"spans","file":"trace.json"}}
    1 1700000000000 node.started {"nodeId":"agent:trip","kind":"agent","name":"trip","instanceId":"a","input":{"q":1}}
    2 1700000001000 node.finished {"nodeId":"agent:trip","instanceId":"a","durationMs":1000,"status":"ok"}
    3 1700000001000 run.finished {"status":"ok"}
    "#);
    assert_eq!(shown(&run(columns).expect("columns")), expected);
    assert_eq!(shown(&run(lines).expect("lines")), expected);
}

#[test]
fn messages_are_put_together_again() {
    let text = r#"{"spans":[{"id":"a","start":1,"attributes":{"openinference.span.kind":"LLM",
        "llm.input_messages.0.message.role":"user","llm.input_messages.1.message.role":"tool",
        "llm.token_count.completion":"7","llm.model_name":"m"}}]}"#;
    let imported = run(text).expect("a trace");
    let text = shown(&imported);
    assert!(text.contains(r#""input":[{"message":{"role":"user"}},{"message":{"role":"tool"}}]"#), "{text}");
    assert!(text.contains(r#""usage":{"inputTokens":0,"outputTokens":7}"#), "{text}");
    assert!(text.contains(r#""model":"m""#), "{text}");
}

#[test]
fn parents_in_a_circle_are_roots() {
    let span = |id: &str, parent: &str| {
        format!(
            r#"{{"id":"{id}","parent_id":"{parent}","name":"{id}","start":1,"attributes":{{"openinference.span.kind":"CHAIN"}}}}"#
        )
    };
    let text = format!("[{},{},{},{}]", span("a", "b"), span("b", "a"), span("c", "c"), span("d", "a"));
    let imported = run(&text).expect("a trace");
    assert_eq!(imported.events.len(), 10);
    assert_eq!(shown(&imported).matches("parentId").count(), 2);
}

#[test]
fn a_long_chain_is_walked_in_one_go() {
    let spans: Vec<String> = (0..20_000_u32)
        .map(|at| format!(r#"{{"id":"s{at}","parent_id":"s{}","name":"n","start":{at},"attributes":{{"openinference.span.kind":"CHAIN"}}}}"#, at + 1))
        .collect();
    let imported = run(&format!("[{}]", spans.join(","))).expect("a trace");
    assert_eq!(imported.events.len(), 40_002);
}

#[test]
fn junk_is_named() {
    let check = |text: &str, expected: &str| assert_eq!(run(text).expect_err("junk").to_string(), expected);
    check(" \n", "no trace in an empty file");
    check("not json", "not JSON: unexpected byte in json text at byte 1");
    check("7", "no trace in a number");
    check("[]", "no trace in an array with nothing in it");
    check("[1,2]", "no trace in an array of a number");
    check("{}", "no trace in an object with no keys");
    check(r#"{"log":{"entries":[]}}"#, "no trace in an object with `log`");
    check(r#"{"data":[{"traceID":"x","spans":[]}]}"#, "no trace in the list `data` of objects with `traceID`, `spans`");
    check("{\"a\":1}\n{\"b\":2}", "no trace in lines of JSON of objects with `a`");
    check("{\"a\":1}\n{b}", "line 2 is not JSON: unexpected byte in json text at byte 1");
    check(
        r#"[{"id":"a","start":1,"attributes":{"http.method":"GET"}}]"#,
        "none of 1 spans is a model, tool or agent step",
    );
}

#[test]
fn a_file_cut_anywhere_is_an_error_and_no_more() {
    for end in 0..OTLP.len() {
        let cut = OTLP.get(..end).unwrap_or_default();
        assert!(run(cut).is_err(), "{cut}");
    }
}
