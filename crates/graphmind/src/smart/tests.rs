//! Tables of results and what the detectors make of them.

use std::sync::Arc;

use lockgate_gate::{Call, Node, Policy, Stop, Verdict};
use lockgate_protocol::debug::{NodeKind, RunId};
use lockgate_protocol::json::Raw;

use super::{Detector, SmartHolds, SmartOptions};
use crate::presence::Line;

const BOTH: SmartOptions = SmartOptions { error_result: Detector::On, truncated: Detector::On };

fn judge(options: SmartOptions, kind: NodeKind, at: Stop, output: Option<&str>) -> String {
    let line = Line::default();
    line.attach();
    let holds = SmartHolds { options, line };
    let node = Node { id: "n".into(), kind, name: "n".into() };
    let mut call = Call::new(RunId::new("r").unwrap(), Arc::new(node));
    call.output = output.map(|text| Raw::parse(text.to_owned()).unwrap());
    match holds.judge(&call, at) {
        Verdict::Pass => "pass".to_owned(),
        Verdict::Hold(hold) => {
            let smart = hold.reason.smart.unwrap();
            format!("{}: {}", smart.rule.as_str(), smart.detail.unwrap_or_default())
        }
        other => format!("{other:?}"),
    }
}

fn tool(output: &str) -> String {
    judge(BOTH, NodeKind::Tool, Stop::After, Some(output))
}

fn llm(output: &str) -> String {
    judge(BOTH, NodeKind::Llm, Stop::After, Some(output))
}

#[test]
fn s01_no_result_however_hostile_does_more_than_pass() {
    let deep = format!("{}{}", "[".repeat(4000), "]".repeat(4000));
    let wide = format!("{{{}\"x\":1}}", "\"k\":{},".repeat(50_000));
    for hostile in [
        "null",
        "true",
        "7",
        "\"isError\"",
        "[]",
        "{}",
        "[{\"isError\":true}]",
        "\"\\ud800\"",
        "{\"\\ud800\":1}",
        "{\"isError\":\"true\"}",
        "{\"isError\":1}",
        "{\"isError\":{\"isError\":true}}",
        "{\"__proto__\":{\"isError\":true}}",
        "{\"isError\":true,\"isError\":false}",
        "{\"text\":\"isError: true, exit_code 1, failed\"}",
        &deep,
        &wide,
    ] {
        assert_eq!(tool(hostile), "pass", "{}", &hostile[..hostile.len().min(60)]);
        assert_eq!(llm(hostile), "pass");
    }
}

#[test]
fn s02_each_family_is_told_apart_and_no_value_is_quoted() {
    for (output, expected) in [
        (r#"{"isError":true,"content":[{"secret":1}]}"#, "error-result: isError is true"),
        (r#"{"success":false,"why":"secret"}"#, "error-result: success is false"),
        (r#"{"exit_code":137}"#, "error-result: exit_code is not zero"),
        (r#"{"exitCode":-1,"stdout":""}"#, "error-result: exitCode is not zero"),
        (r#"{"exitStatus":1e999}"#, "error-result: exitStatus is not zero"),
        (r#"{"error":"secret"}"#, "error-result: error is the only key"),
        (r#"{"error":""}"#, "error-result: error is the only key"),
        (r#"{"error":null}"#, "pass"),
        (r#"{"error":false}"#, "pass"),
        (r#"{"error":"x","data":1}"#, "pass"),
        (r#"{"error":1,"error":2}"#, "error-result: error is the only key"),
        (r#"{"error":1,"error":null}"#, "pass"),
        (r#"{"exit_code":0,"exitCode":0.0,"exitStatus":-0}"#, "pass"),
        (r#"{"exit_code":"1"}"#, "pass"),
        (r#"{"exit_code":null}"#, "pass"),
        (r#"{"success":0}"#, "pass"),
        (r#"{"success":true}"#, "pass"),
        (r#"{"\u0069sError":true}"#, "error-result: isError is true"),
    ] {
        assert_eq!(tool(output), expected, "{output}");
    }
    for kind in [NodeKind::Llm, NodeKind::Agent, NodeKind::Resource, NodeKind::Custom] {
        assert_eq!(judge(BOTH, kind, Stop::After, Some(r#"{"isError":true}"#)), "pass", "{kind:?}");
    }
}

#[test]
fn s03_a_model_answer_cut_off_in_its_tool_calls_counts_them() {
    for (output, expected) in [
        (
            r#"{"finishReason":"length","toolCalls":[{"inputText":"{\"a"},{"input":{}}]}"#,
            "truncated-tool-call: finishReason length, 2 tool calls, 1 of them with text for input",
        ),
        (
            r#"{"finishReason":"content-filter","toolCalls":[null]}"#,
            "truncated-tool-call: finishReason content-filter, 1 tool calls, 0 of them with text for input",
        ),
        (r#"{"finishReason":"max_tokens","toolCalls":[{}]}"#, "pass"),
        (r#"{"finishReason":"LENGTH","toolCalls":[{}]}"#, "pass"),
        (r#"{"finishReason":"length","toolCalls":[]}"#, "pass"),
        (r#"{"finishReason":"length","toolCalls":{"0":{}}}"#, "pass"),
        (r#"{"finishReason":"length"}"#, "pass"),
        (r#"{"finishReason":["length"],"toolCalls":[{}]}"#, "pass"),
        (r#"{"toolCalls":[{}]}"#, "pass"),
    ] {
        assert_eq!(llm(output), expected, "{output}");
    }
    let many = format!(r#"{{"finishReason":"length","toolCalls":[{}{{}}]}}"#, r#"{"inputText":""},"#.repeat(300));
    insta::assert_snapshot!(llm(&many), @"truncated-tool-call: finishReason length, 256 or more tool calls, 256 of them with text for input");
    assert_eq!(judge(BOTH, NodeKind::Tool, Stop::After, Some(r#"{"finishReason":"length","toolCalls":[{}]}"#)), "pass");
}

#[test]
fn s04_each_detector_can_be_switched_off_alone() {
    let no_results = SmartOptions { error_result: Detector::Off, ..BOTH };
    let no_answers = SmartOptions { truncated: Detector::Off, ..BOTH };
    let failed = Some(r#"{"isError":true}"#);
    let cut = Some(r#"{"finishReason":"length","toolCalls":[{}]}"#);
    assert_eq!(judge(no_results, NodeKind::Tool, Stop::After, failed), "pass");
    assert_ne!(judge(no_results, NodeKind::Llm, Stop::After, cut), "pass");
    assert_eq!(judge(no_answers, NodeKind::Llm, Stop::After, cut), "pass");
    assert_ne!(judge(no_answers, NodeKind::Tool, Stop::After, failed), "pass");
}

#[test]
fn s05_never_before_never_without_a_result_never_while_nobody_is_attached() {
    let failed = Some(r#"{"isError":true}"#);
    assert_eq!(judge(BOTH, NodeKind::Tool, Stop::Before, failed), "pass");
    assert_eq!(judge(BOTH, NodeKind::Tool, Stop::After, None), "pass");
    let holds = SmartHolds { options: BOTH, line: Line::default() };
    let node = Node { id: "n".into(), kind: NodeKind::Tool, name: "n".into() };
    let mut call = Call::new(RunId::new("r").unwrap(), Arc::new(node));
    call.output = Some(Raw::parse(r#"{"isError":true}"#).unwrap());
    assert!(matches!(holds.judge(&call, Stop::After), Verdict::Pass));
}

#[test]
fn s06_at_a_tools_error_stop_only_the_returned_shapes_count() {
    let error = |options, output| judge(options, NodeKind::Tool, Stop::Error, Some(output));
    assert_eq!(error(BOTH, r#"{"isError":true}"#), "error-result: isError is true");
    assert_eq!(error(BOTH, r#"{"exit_code":2}"#), "error-result: exit_code is not zero");
    assert_eq!(error(BOTH, r#"{"error":"boom"}"#), "pass");
    let off = SmartOptions { error_result: Detector::Off, ..BOTH };
    assert_eq!(error(off, r#"{"isError":true}"#), "pass");
    assert_eq!(judge(BOTH, NodeKind::Llm, Stop::Error, Some(r#"{"finishReason":"length","toolCalls":[{}]}"#)), "pass");
}
