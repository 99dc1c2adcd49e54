//! Arrays: each element stands alone, what is left stays as it came, and our answers join the server's.

use super::stage::Stage;
use crate::rules::Trouble;

const BEFORE: &str = r#"{"kind":"tool"}"#;
const AFTER: &str = r#"{"kind":"tool","point":"after"}"#;

fn call(id: u32, name: &str) -> String {
    format!(r#"{{"id":{id},"method":"tools/call","params":{{"name":"{name}"}}}}"#)
}

const ABORTED: &str = r#""error":{"code":-32099,"message":"aborted in the debugger","data":{"cause":"aborted"}}}"#;

#[tokio::test(start_paused = true)]
async fn an_array_nobody_touches_passes_as_it_came() {
    let mut stage = Stage::armed(&[BEFORE]);
    let line = format!("[ {} , [{}],7 ]", call(1, "a"), call(2, "b"));
    stage.host.say(&line).await;
    assert_eq!(stage.paused(1).await, "tool:a before");
    stage.resume(1, r#""action":"continue""#);
    assert_eq!(stage.paused(2).await, "tool:b before");
    assert!(stage.server.hears_nothing().await);
    stage.resume(2, r#""action":"continue""#);
    assert_eq!(stage.server.hear().await, line);
    insta::assert_snapshot!(stage.story("node.started tool:a").await, @r"
    node.started tool:a mcp_1 in mcp:session batched=true
    exec.paused tool:a mcp_1 before
    exec.resumed continue
    node.started tool:b mcp_2 in mcp:session batched=true
    exec.paused tool:b mcp_2 before
    exec.resumed continue
    ");
}

#[tokio::test(start_paused = true)]
async fn aborted_elements_are_cut_and_their_answers_join_the_servers() {
    let mut stage = Stage::armed(&[r#"{"name":"b"}"#]);
    stage.host.say(&format!("[ {}, {} , {}]", call(1, "a"), call(2, "b"), call(3, "c"))).await;
    stage.paused(1).await;
    stage.resume(1, r#""action":"abort""#);
    assert_eq!(stage.server.hear().await, format!("[ {} , {}]", call(1, "a"), call(3, "c")));
    assert!(stage.host.hears_nothing().await);
    stage.server.say(r#"[ {"id":3,"result":3}, {"id":1,"result":1} ]"#).await;
    let ours = format!(r#"{{"jsonrpc":"2.0","id":2,{ABORTED}"#);
    assert_eq!(stage.host.hear().await, format!(r#"[ {{"id":3,"result":3}}, {{"id":1,"result":1}} ,{ours}]"#));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_answers_singly_gets_company_singly() {
    let mut stage = Stage::armed(&[r#"{"name":"b"}"#]);
    stage.host.say(&format!("[{},{},{}]", call(1, "a"), call(2, "b"), call(3, "c"))).await;
    stage.paused(1).await;
    stage.resume(1, r#""action":"inject","output":"x""#);
    stage.server.hear().await;
    stage.down(r#"{"id":3,"result":3}"#).await;
    assert_eq!(
        stage.host.hear().await,
        r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"x"}]}}"#
    );
    stage.down(r#"{"id":1,"result":1}"#).await;
}

#[tokio::test(start_paused = true)]
async fn when_the_rest_of_an_array_is_given_up_our_answers_go_to_whoever_asked() {
    let check = async |cancel: &str| {
        let mut stage = Stage::armed(&[r#"{"name":"b"}"#]);
        stage.host.say(&format!("[{},{}]", call(1, "a"), call(2, "b"))).await;
        stage.paused(1).await;
        stage.resume(1, r#""action":"inject","output":"x""#);
        stage.server.hear().await;
        stage.up(cancel).await;
        assert!(stage.host.hear().await.starts_with(r#"{"jsonrpc":"2.0","id":2,"result""#), "{cancel}");
        assert!(stage.server.hears_nothing().await, "{cancel}");
    };
    check(r#"{"method":"notifications/cancelled","params":{"requestId":1}}"#).await;
    check(r#"[{"method":"notifications/cancelled","params":{"requestId":1}}]"#).await;
}

#[tokio::test(start_paused = true)]
async fn when_nothing_is_left_nothing_is_sent_and_the_answers_come_at_once() {
    let mut stage = Stage::armed(&[BEFORE]);
    stage.host.say(&format!("[{},[{}]]", call(1, "a"), call(2, "b"))).await;
    for number in 1..=2 {
        stage.paused(number).await;
        stage.resume(number, r#""action":"abort""#);
    }
    let answers = format!(r#"[{{"jsonrpc":"2.0","id":1,{ABORTED},{{"jsonrpc":"2.0","id":2,{ABORTED}]"#);
    assert_eq!(stage.host.hear().await, answers);
    assert!(stage.server.hears_nothing().await);
}

#[tokio::test(start_paused = true)]
async fn elements_of_an_answer_are_gated_alike_and_retried_singly() {
    let mut stage = Stage::armed(&[AFTER]);
    let odd = r#"{ "id":2 ,"method":"tools/call","params":{"name":"b"} }"#;
    stage.up(&format!("[{}, {odd}]", call(1, "a"))).await;
    stage.server.say(r#"[{"id":1,"result":1} , {"id":2,"result":2}]"#).await;
    stage.paused(1).await;
    stage.resume(1, r#""action":"inject","output":{"content":[]}"#);
    stage.paused(2).await;
    stage.resume(2, r#""action":"retry""#);
    assert_eq!(stage.server.hear().await, odd);
    assert_eq!(stage.host.hear().await, r#"[{"jsonrpc":"2.0","id":1,"result":{"content":[]}}]"#);
    stage.server.say(r#"{"id":2,"result":22}"#).await;
    stage.paused(3).await;
    stage.resume(3, r#""action":"continue""#);
    assert_eq!(stage.host.hear().await, r#"{"id":2,"result":22}"#);
}

#[tokio::test(start_paused = true)]
async fn edited_elements_are_changed_in_place() {
    let mut stage = Stage::armed(&[r#"{"name":"a"}"#]);
    stage.host.say(&format!("[ {} ,{{\"n\":1.50}}]", call(1, "a"))).await;
    stage.paused(1).await;
    stage.resume(1, r#""action":"continue","input":{"arguments":{"q":1}}"#);
    let edited = r#"[ {"id":1,"method":"tools/call","params":{"name":"a","arguments":{"q":1}}} ,{"n":1.50}]"#;
    assert_eq!(stage.server.hear().await, edited);
}

#[tokio::test(start_paused = true)]
async fn a_guard_takes_no_arrays() {
    let mut stage = Stage::shaped(|shape| shape.rules.trouble = Trouble::Refuse);
    stage.host.say(&format!("[{},{{\"method\":\"n\"}}]", call(1, "a"))).await;
    assert_eq!(
        stage.host.hear().await,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"batch not relayed, send its messages one by one","data":{"cause":"batch"}}}"#
    );
    assert!(stage.server.hears_nothing().await);
}
