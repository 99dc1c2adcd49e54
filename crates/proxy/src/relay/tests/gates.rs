//! Calls that stand: what each release does to the frame, at each stop.

use super::stage::{CALL, RESULT, Stage, pass};
use crate::relay::State;

const BEFORE: &str = r#"{"kind":"tool"}"#;
const AFTER: &str = r#"{"kind":"tool","point":"after"}"#;
const ERROR: &str = r#"{"kind":"tool","point":"error"}"#;
const FAILURE: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}"#;
const FAILED: &str =
    r#"{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":[{"type":"text","text":"it broke"}]}}"#;

#[tokio::test(start_paused = true)]
async fn a_call_held_before_has_not_reached_its_target() {
    let mut stage = Stage::armed(&[BEFORE]);
    stage.host.say(CALL).await;
    assert_eq!(stage.paused(1).await, "tool:pay before");
    pass(10_000).await;
    assert!(stage.server.hears_nothing().await);
    stage.resume(1, r#""action":"continue""#);
    assert_eq!(stage.server.hear().await, CALL);
    stage.down(RESULT).await;
    insta::assert_snapshot!(stage.story("node.started tool:pay").await, @r"
    node.started tool:pay mcp_1 in mcp:session
    exec.paused tool:pay mcp_1 before
    exec.resumed continue
    node.finished tool:pay mcp_1 ok
    ");
}

#[tokio::test(start_paused = true)]
async fn what_comes_behind_a_held_frame_waits_and_the_other_direction_flows() {
    let mut stage = Stage::armed(&[BEFORE]);
    stage.host.say(CALL).await;
    stage.paused(1).await;
    stage.host.say(r#"{"method":"notifications/a"}"#).await;
    stage.host.say(r#"{"id":2,"method":"ping"}"#).await;
    stage.down(r#"{"method":"notifications/b"}"#).await;
    assert!(stage.server.hears_nothing().await);
    stage.resume(1, r#""action":"retry""#);
    assert_eq!(stage.server.hear().await, CALL);
    assert_eq!(stage.server.hear().await, r#"{"method":"notifications/a"}"#);
    assert_eq!(stage.server.hear().await, r#"{"id":2,"method":"ping"}"#);
}

#[tokio::test(start_paused = true)]
async fn inject_before_answers_in_place_of_the_server() {
    let mut stage = Stage::armed(&[BEFORE]);
    stage.host.say(CALL).await;
    stage.paused(1).await;
    stage.resume(1, r#""action":"inject","output":"made up""#);
    assert_eq!(
        stage.host.hear().await,
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"made up"}]}}"#
    );
    assert!(stage.server.hears_nothing().await);
    insta::assert_snapshot!(stage.payload("node.finished", "tool:pay").await, @r#"{"nodeId":"tool:pay","instanceId":"mcp_1","durationMs":0,"status":"ok","output":{"content":[{"type":"text","text":"made up"}]},"injected":true,"gatedAt":"before","era":"handshake"}"#);
}

#[tokio::test(start_paused = true)]
async fn inject_takes_a_whole_frame_too() {
    let mut stage = Stage::armed(&[BEFORE]);
    stage.host.say(CALL).await;
    stage.paused(1).await;
    stage.resume(1, r#""action":"inject","output":{"jsonrpc":"2.0","id":77,"error":{"code":1,"message":"m"}}"#);
    assert_eq!(stage.host.hear().await, r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#);
}

#[tokio::test(start_paused = true)]
async fn abort_before_answers_with_the_abort_error() {
    let mut stage = Stage::armed(&[BEFORE]);
    stage.host.say(CALL).await;
    stage.paused(1).await;
    stage.resume(1, r#""action":"abort""#);
    assert_eq!(
        stage.host.hear().await,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32099,"message":"aborted in the debugger","data":{"cause":"aborted"}}}"#
    );
    assert!(stage.server.hears_nothing().await);
    insta::assert_snapshot!(stage.story("exec.resumed").await, @r"
    exec.resumed abort
    node.finished tool:pay mcp_1 aborted
    ");
}

#[tokio::test(start_paused = true)]
async fn an_answer_held_after_can_be_passed_replaced_or_aborted() {
    let check = async |resume: &str, heard: &str, finished: &str| {
        let mut stage = Stage::armed(&[AFTER]);
        stage.up(CALL).await;
        stage.server.say(RESULT).await;
        assert_eq!(stage.paused(1).await, "tool:pay after");
        assert!(stage.host.hears_nothing().await);
        stage.resume(1, resume);
        assert_eq!(stage.host.hear().await, heard);
        assert!(stage.story("exec.resumed").await.ends_with(finished));
    };
    check(r#""action":"continue""#, RESULT, "node.finished tool:pay mcp_1 ok").await;
    check(
        r#""action":"inject","output":{"content":[],"n":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"n":1}}"#,
        r#"node.finished tool:pay mcp_1 ok injected=true gatedAt="after""#,
    )
    .await;
    check(
        r#""action":"abort""#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32099,"message":"aborted in the debugger","data":{"cause":"aborted"}}}"#,
        "node.finished tool:pay mcp_1 aborted",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn retry_asks_again_with_the_same_bytes_and_keeps_the_node_open() {
    let mut stage = Stage::armed(&[AFTER, ERROR]);
    let odd = r#" {"id":1 , "method":"tools/call","params":{"name":"pay","arguments":{"n":1.50}}}"#;
    stage.up(odd).await;
    stage.server.say(FAILURE).await;
    assert_eq!(stage.paused(1).await, "tool:pay error");
    stage.resume(1, r#""action":"retry""#);
    assert_eq!(stage.server.hear().await, odd);
    assert!(stage.host.hears_nothing().await);
    stage.server.say(RESULT).await;
    assert_eq!(stage.paused(2).await, "tool:pay after");
    stage.resume(2, r#""action":"continue""#);
    assert_eq!(stage.host.hear().await, RESULT);
    insta::assert_snapshot!(stage.story("node.started tool:pay").await, @r"
    node.started tool:pay mcp_1 in mcp:session
    node.error tool:pay mcp_1 JsonRpcError(-32602): no
    exec.paused tool:pay mcp_1 error
    exec.resumed retry
    exec.paused tool:pay mcp_1 after
    exec.resumed continue
    node.finished tool:pay mcp_1 ok retries=1
    ");
}

#[tokio::test(start_paused = true)]
async fn a_result_that_says_error_stands_at_error() {
    let mut stage = Stage::armed(&[ERROR]);
    stage.up(CALL).await;
    stage.server.say(FAILED).await;
    assert_eq!(stage.paused(1).await, "tool:pay error");
    stage.resume(1, r#""action":"continue""#);
    assert_eq!(stage.host.hear().await, FAILED);
    insta::assert_snapshot!(stage.story("node.error").await, @r"
    node.error tool:pay mcp_1 McpToolError: it broke
    exec.paused tool:pay mcp_1 error
    exec.resumed continue
    node.finished tool:pay mcp_1 error
    ");
}

#[tokio::test(start_paused = true)]
async fn failures_are_told_whether_or_not_they_stand() {
    let check = async |answer: &str, error: &str| {
        let mut stage = Stage::new();
        stage.up(CALL).await;
        stage.down(answer).await;
        let story = stage.story("node.error").await;
        assert_eq!(story, format!("node.error tool:pay mcp_1 {error}\nnode.finished tool:pay mcp_1 error"));
    };
    check(FAILURE, "JsonRpcError(-32602): no").await;
    check(r#"{"id":1,"error":7}"#, "JsonRpcError(0): no message").await;
    check(r#"{"id":1,"error":{"code":1e3,"message":{}}}"#, "JsonRpcError(1000): no message").await;
    check(r#"{"id":1,"result":{"isError":true}}"#, "McpToolError: the tool failed").await;
    let long = format!(r#"{{"id":1,"result":{{"isError":true,"content":[{{"text":"{}"}}]}}}}"#, "é".repeat(600));
    check(&long, &format!("McpToolError: {}", "é".repeat(500))).await;
}

#[tokio::test(start_paused = true)]
async fn notifications_can_be_replaced_swallowed_or_left() {
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/x","params":{"a":1}}"#;
    let check = async |resume: &str, heard: Option<&str>, finished: &str| {
        let mut stage = Stage::armed(&[r#"{"name":"notifications/x"}"#]);
        stage.server.say(notification).await;
        assert_eq!(stage.paused(1).await, "mcp:notifications/x before");
        stage.resume(1, resume);
        match heard {
            Some(heard) => assert_eq!(stage.host.hear().await, heard),
            None => assert!(stage.host.hears_nothing().await),
        }
        assert!(stage.story("exec.resumed").await.ends_with(finished));
    };
    check(r#""action":"continue""#, Some(notification), "mcp_1 ok").await;
    check(r#""action":"retry""#, Some(notification), "mcp_1 ok").await;
    check(r#""action":"abort""#, None, "mcp_1 aborted").await;
    check(
        r#""action":"inject","output":{"other":1}"#,
        Some(r#"{"other":1}"#),
        r#"mcp_1 ok injected=true gatedAt="before""#,
    )
    .await;
    check(r#""action":"inject","output":"text""#, Some(notification), "mcp_1 ok").await;
}

#[tokio::test(start_paused = true)]
async fn the_first_frames_can_be_held_although_they_are_folded() {
    let mut stage = Stage::armed(&[r#"{"name":"initialize"}"#, r#"{"name":"ping"}"#]);
    stage.host.say(r#"{"id":0,"method":"initialize","params":{}}"#).await;
    assert_eq!(stage.paused(1).await, "mcp:initialize before");
    stage.resume(1, r#""action":"continue""#);
    stage.server.hear().await;
    stage.host.say(r#"{"id":1,"method":"ping"}"#).await;
    assert_eq!(stage.paused(2).await, "mcp:ping before");
    stage.resume(2, r#""action":"inject""#);
    assert_eq!(stage.host.hear().await, r#"{"jsonrpc":"2.0","id":1,"result":null}"#);
}

#[tokio::test(start_paused = true)]
async fn sampling_is_gated_with_the_roles_swapped() {
    let ask = r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[]}}"#;
    let mut stage = Stage::armed(&[r#"{"kind":"llm"}"#]);
    stage.server.say(ask).await;
    assert_eq!(stage.paused(1).await, "llm:sampling before");
    assert!(stage.host.hears_nothing().await);
    stage.resume(1, r#""action":"inject","output":"hello""#);
    assert_eq!(
        stage.server.hear().await,
        r#"{"jsonrpc":"2.0","id":1,"result":{"model":"graphmind-injected","role":"assistant","content":{"type":"text","text":"hello"},"stopReason":"endTurn"}}"#
    );
}

#[tokio::test(start_paused = true)]
async fn the_same_id_in_both_directions_is_two_questions() {
    let mut stage = Stage::new();
    stage.up(CALL).await;
    stage.down(r#"{"id":1,"method":"sampling/createMessage","params":{}}"#).await;
    stage.up(r#"{"id":1,"result":{"role":"assistant"}}"#).await;
    stage.down(RESULT).await;
    insta::assert_snapshot!(stage.story("node.started tool:pay").await, @r"
    node.started tool:pay mcp_1 in mcp:session
    node.started llm:sampling mcp_2 in mcp:session
    node.finished llm:sampling mcp_2 ok
    node.finished tool:pay mcp_1 ok
    ");
}

#[tokio::test(start_paused = true)]
async fn arguments_can_be_edited_and_nothing_else_changes() {
    let line = r#" {"id":18446744073709551616, "method":"tools/call","params":{"arguments" : {"a":1,"b":2.0} ,"name":"pay","_meta":{"n":1e400}}} "#;
    let mut stage = Stage::armed(&[BEFORE, ERROR]);
    stage.host.say(line).await;
    stage.paused(1).await;
    stage.resume(1, r#""action":"continue","input":{"arguments":{"a":7}}"#);
    let edited = line.replace(r#"{"a":1,"b":2.0}"#, r#"{"a":7,"b":2.0}"#);
    assert_eq!(stage.server.hear().await, edited);
    stage.server.say(r#"{"id":18446744073709551616,"error":{"code":1,"message":"m"}}"#).await;
    stage.paused(2).await;
    stage.resume(2, r#""action":"retry","input":{"arguments":{"b":3}}"#);
    assert_eq!(stage.server.hear().await, edited.replace("2.0", "3"));
    let resumed: Vec<String> =
        stage.story("exec.paused").await.lines().filter(|line| line.contains("resumed")).map(str::to_owned).collect();
    assert_eq!(resumed, ["exec.resumed continue", "exec.resumed retry"]);
}

#[tokio::test(start_paused = true)]
async fn edits_are_checked_against_the_listed_schema() {
    let list = r#"{"id":5,"result":{"tools":[{"name":"pay","inputSchema":{"type":"object","properties":{"n":{"type":"number"}}}}]}}"#;
    let mut stage = Stage::armed(&[BEFORE]);
    stage.up(r#"{"id":5,"method":"tools/list"}"#).await;
    stage.down(list).await;
    stage.host.say(CALL).await;
    stage.paused(1).await;
    stage.resume(1, r#""action":"continue","input":{"arguments":{"n":"secret"}}"#);
    pass(1).await;
    let refused = stage.events().await.last().expect("an event").payload();
    insta::assert_snapshot!(format!("{refused:?}"), @r#"{"pauseId":"pause_abcdef_1","code":"schema","message":"type not allowed: /n","era":"handshake"}"#);
    assert!(stage.server.hears_nothing().await);
    stage.server.say(r#"{"method":"notifications/tools/list_changed"}"#).await;
    stage.host.hear().await;
    stage.resume(1, r#""action":"abort""#);
    stage.host.hear().await;
    stage.host.say(CALL).await;
    stage.paused(2).await;
    stage.resume(2, r#""action":"continue","input":{"arguments":{"n":"judged by the server"}}"#);
    assert!(stage.server.hear().await.contains("judged by the server"));
}

#[tokio::test(start_paused = true)]
async fn a_hold_and_its_end_are_told_at_the_terminal_unless_it_was_short() {
    let mut stage = Stage::armed(&[BEFORE]);
    for number in 1..=2 {
        stage.host.say(CALL).await;
        stage.paused(number).await;
        pass(if number == 1 { 200 } else { 3_000 }).await;
        stage.resume(number, r#""action":"inject""#);
        stage.host.hear().await;
    }
    assert_eq!(stage.close().await, State::Over);
    insta::assert_snapshot!(stage.terminal().await, @r"
    proxy: held tools/call pay id 1 at before, release it at the viewer; hosts usually wait 60 s, 57 s left
    proxy: released tools/call pay id 1: inject after 3 s
    ");
}

#[tokio::test(start_paused = true)]
async fn losing_the_debugger_lets_every_call_go() {
    let mut stage = Stage::armed(&[BEFORE]);
    stage.host.say(CALL).await;
    stage.paused(1).await;
    stage.gate.presence(lockgate_gate::Presence::Detached);
    assert_eq!(stage.server.hear().await, CALL);
    stage.down(RESULT).await;
}
