//! Whoever gives up: holds end, targets are not called, and late or early words are understood.

use std::time::Duration;

use super::stage::{CALL, RESULT, Stage, pass};
use crate::relay::{State, Told};

const BEFORE: &str = r#"{"kind":"tool"}"#;
const AFTER: &str = r#"{"kind":"tool","point":"after"}"#;
const CANCEL: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"timed out"}}"#;

#[tokio::test(start_paused = true)]
async fn b14_a_cancel_behind_a_held_call_ends_the_hold_and_reaches_nobody() {
    let mut stage = Stage::armed(&[BEFORE]);
    stage.host.say(CALL).await;
    stage.paused(1).await;
    pass(7_000).await;
    stage.host.say(r#"{"method":"notifications/other"}"#).await;
    stage.host.say(CANCEL).await;
    assert_eq!(stage.server.hear().await, r#"{"method":"notifications/other"}"#);
    assert!(stage.server.hears_nothing().await);
    assert!(stage.host.hears_nothing().await);
    insta::assert_snapshot!(stage.story("exec.resumed").await, @r"
    exec.resumed abort
    node.finished tool:pay mcp_1 aborted cancelled=true
    node.started mcp:protocol mcp:protocol in mcp:session
    node.started mcp:notifications/other mcp_2 in mcp:protocol notification=true
    node.finished mcp:notifications/other mcp_2 ok
    node.started mcp:notifications/cancelled mcp_3 in mcp:protocol notification=true
    node.finished mcp:notifications/cancelled mcp_3 ok
    ");
    assert!(stage.payload("node.finished", "tool:pay").await.contains(r#""cancelledAfterMs":7000"#));
}

#[tokio::test(start_paused = true)]
async fn a_cancel_seen_behind_a_hold_counts_for_a_call_that_comes_to_the_gate_later() {
    let mut stage = Stage::armed(&[BEFORE]);
    let call = |id: u32| CALL.replace(r#""id":1"#, &format!(r#""id":{id}"#));
    let cancel = CANCEL.replace(r#""requestId":1"#, r#""requestId":2"#);
    for line in [&call(1), &call(2), &cancel, &call(3)] {
        stage.host.say(line).await;
    }
    stage.paused(1).await;
    pass(7_000).await;
    stage.resume(1, r#""action":"continue""#);
    assert_eq!(stage.server.hear().await, call(1));
    assert_eq!(stage.paused(2).await, "tool:pay before");
    assert!(stage.server.hears_nothing().await);
    stage.resume(2, r#""action":"continue""#);
    assert_eq!(stage.server.hear().await, call(3));
    // The id may be used again.
    stage.host.say(&call(2)).await;
    stage.paused(3).await;
}

#[tokio::test(start_paused = true)]
async fn nothing_that_a_host_left_behind_stands() {
    let mut stage = Stage::armed(&[BEFORE, r#"{"name":"notifications/x"}"#]);
    let call = |id: u32| CALL.replace(r#""id":1"#, &format!(r#""id":{id}"#));
    for line in [&call(1), &call(2), r#"{"method":"notifications/x"}"#, &call(3)] {
        stage.host.say(line).await;
    }
    stage.paused(1).await;
    stage.host.hang_up().await;
    let heard = stage.server.hear_rest().await;
    assert_eq!(String::from_utf8_lossy(&heard), "{\"method\":\"notifications/x\"}\n");
    assert_eq!((stage.gate.held(), stage.told()), (0, Some(Told::ClientGone)));
    stage.close().await;
    let story = stage.story("node.started tool:pay mcp_1").await;
    for call in ["mcp_1", "mcp_2", "mcp_4"] {
        assert!(story.contains(&format!("node.finished tool:pay {call} aborted cancelled=true")), "{story}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_that_only_says_no_more_still_gets_its_answers() {
    let mut stage = Stage::armed(&[AFTER]);
    stage.up(CALL).await;
    stage.host.hang_up().await;
    pass(1).await;
    stage.down(RESULT).await;
    assert!(stage.story("node.started tool:pay").await.ends_with("node.finished tool:pay mcp_1 ok"));
}

#[tokio::test(start_paused = true)]
async fn a_cancel_in_a_batch_or_of_another_type_of_id() {
    let mut stage = Stage::armed(&[BEFORE]);
    stage.host.say(CALL).await;
    stage.paused(1).await;
    stage.host.say(r#"{"method":"notifications/cancelled","params":{"requestId":"1"}}"#).await;
    pass(1).await;
    assert_eq!(stage.gate.held(), 1);
    stage.host.say(&format!("[{CANCEL}]")).await;
    pass(1).await;
    assert_eq!(stage.gate.held(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_further_on_in_an_array_ends_what_stands_from_it_and_what_comes_to_the_gate_later() {
    let mut stage = Stage::armed(&[BEFORE]);
    let call = |id: u32| CALL.replace(r#""id":1"#, &format!(r#""id":{id}"#));
    let cancel = |id: u32| CANCEL.replace(r#""requestId":1"#, &format!(r#""requestId":{id}"#));
    stage.host.say(&format!("[{},{},{},[{}],{}]", call(1), call(2), cancel(1), cancel(3), call(3))).await;
    assert_eq!(stage.paused(1).await, "tool:pay before");
    stage.resume(1, r#""action":"continue""#);
    assert_eq!(stage.server.hear().await, format!("[{},[{}]]", call(2), cancel(3)));
    assert_eq!(stage.gate.held(), 0);
    let story = stage.story("node.started tool:pay mcp_1").await;
    assert_eq!(story.matches("exec.paused").count(), 1, "{story}");
    assert_eq!(story.matches("aborted cancelled=true").count(), 2, "{story}");
    // The ids may be used again.
    stage.host.say(&call(1)).await;
    assert_eq!(stage.paused(2).await, "tool:pay before");
}

#[tokio::test(start_paused = true)]
async fn an_array_nothing_holds_passes_with_its_cancels() {
    let mut stage = Stage::armed(&[]);
    stage.up(&format!("[{CALL},{CANCEL}]")).await;
}

#[tokio::test(start_paused = true)]
async fn cancels_of_many_calls_behind_a_held_one_all_count() {
    let mut stage = Stage::armed(&[BEFORE]);
    let call = |id: u32| CALL.replace(r#""id":1"#, &format!(r#""id":{id}"#));
    for id in 1..=400 {
        stage.host.say(&call(id)).await;
    }
    for id in 1..=400 {
        stage.host.say(&CANCEL.replace(r#""requestId":1"#, &format!(r#""requestId":{id}"#))).await;
    }
    assert!(stage.server.hears_nothing().await);
    assert_eq!(stage.gate.held(), 0);
    let ended = stage.story("node.started tool:pay mcp_1").await.matches("aborted cancelled=true").count();
    assert_eq!(ended, 400);
}

#[tokio::test(start_paused = true)]
async fn answers_to_many_calls_that_were_given_up_are_late_and_not_strange() {
    let mut stage = Stage::new();
    stage.up(r#"{"id":0,"method":"server/discover"}"#).await;
    stage.down(r#"{"id":0,"result":{"supportedVersions":["2026-07-28"]}}"#).await;
    let answered = |id: u32| RESULT.replace(r#""id":1"#, &format!(r#""id":{id}"#));
    for id in 1..=400 {
        stage.up(&CALL.replace(r#""id":1"#, &format!(r#""id":{id}"#))).await;
        stage.up(&CANCEL.replace(r#""requestId":1"#, &format!(r#""requestId":{id}"#))).await;
    }
    for id in 1..=400 {
        stage.down(&answered(id)).await;
    }
    stage.close().await;
    let said = stage.terminal().await;
    assert!(said.contains("400 late answers") && !said.contains("without a request"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_of_an_answer_that_stands_drops_it() {
    let mut stage = Stage::armed(&[AFTER]);
    stage.up(CALL).await;
    stage.server.say(RESULT).await;
    stage.paused(1).await;
    stage.up(CANCEL).await;
    assert!(stage.host.hears_nothing().await);
    let story = stage.story("exec.paused").await;
    assert!(story.contains("node.finished tool:pay mcp_1 aborted cancelled=true"), "{story}");
    stage.up(r#"{"id":2,"method":"ping"}"#).await;
}

#[tokio::test(start_paused = true)]
async fn n11_a_cancel_that_passes_closes_the_call_and_its_late_answer_is_only_relayed() {
    let mut stage = Stage::new();
    stage.up(CALL).await;
    stage.up(CANCEL).await;
    stage.down(RESULT).await;
    stage.down(r#"{"id":99,"result":"to nothing"}"#).await;
    let story = stage.story("notifications/cancelled").await;
    assert!(story.ends_with("node.finished tool:pay mcp_1 aborted cancelled=true"), "{story}");
    stage.close().await;
    assert_eq!(stage.terminal().await, "proxy: session over: 1 answer without a request, 1 late answer\n");
}

#[tokio::test(start_paused = true)]
async fn a_cancel_may_come_before_its_request() {
    let mut stage = Stage::armed(&[BEFORE]);
    stage.up(CANCEL).await;
    stage.host.say(CALL).await;
    assert!(stage.server.hears_nothing().await && stage.host.hears_nothing().await);
    let story = stage.story("node.started tool:pay").await;
    assert_eq!(
        story,
        "node.started tool:pay mcp_2 in mcp:session\nnode.finished tool:pay mcp_2 aborted cancelled=true"
    );

    // Nobody holds anything: both pass as they came.
    let mut stage = Stage::new();
    stage.up(CANCEL).await;
    stage.up(CALL).await;
    stage.down(RESULT).await;

    // An id that comes back a while later is another request.
    let mut stage = Stage::armed(&[BEFORE]);
    stage.up(CANCEL).await;
    pass(1_500).await;
    stage.host.say(CALL).await;
    stage.paused(1).await;
}

#[tokio::test(start_paused = true)]
async fn a_cancel_of_what_was_answered_is_late_not_early() {
    let mut stage = Stage::armed(&[BEFORE]);
    for number in 1..=2 {
        stage.host.say(CALL).await;
        stage.paused(number).await;
        stage.resume(number, r#""action":"continue""#);
        assert_eq!(stage.server.hear().await, CALL);
        stage.down(RESULT).await;
        stage.up(CANCEL).await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_server_gives_up_its_own_question() {
    let ask = r#"{"id":1,"method":"sampling/createMessage","params":{}}"#;
    let mut stage = Stage::armed(&[r#"{"kind":"llm"}"#]);
    stage.server.say(ask).await;
    stage.paused(1).await;
    stage.server.say(CANCEL).await;
    pass(1).await;
    assert!(stage.host.hears_nothing().await);
    assert_eq!(stage.gate.held(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_hangs_up_ends_its_holds() {
    let mut stage = Stage::armed(&[BEFORE]);
    stage.host.say(CALL).await;
    stage.paused(1).await;
    stage.host.say(r#"{"id":2,"method":"ping"}"#).await;
    stage.host.hang_up().await;
    assert_eq!(stage.server.hear().await, r#"{"id":2,"method":"ping"}"#);
    assert_eq!(stage.server.hear_bytes().await, None);
    assert_eq!(stage.told(), Some(Told::ClientGone));
    assert!(stage.story("exec.resumed").await.contains("aborted cancelled=true"));
    assert_eq!(stage.close().await, State::Over);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_gone_lets_calls_go_and_answers_stay() {
    let mut stage = Stage::armed(&[BEFORE, AFTER]);
    stage.host.say(CALL).await;
    stage.paused(1).await;
    stage.resume(1, r#""action":"continue""#);
    stage.server.hear().await;
    stage.server.say(RESULT).await;
    stage.paused(2).await;
    stage.host.say(&CALL.replace(r#""id":1"#, r#""id":2"#)).await;
    stage.paused(3).await;
    stage.server.hang_up().await;
    pass(60_000).await;
    assert!(stage.is_running(), "an answer stands and may still be released");
    assert_eq!(stage.gate.held(), 1);
    stage.resume(2, r#""action":"continue""#);
    assert_eq!(stage.host.hear().await, RESULT);
    assert_eq!(stage.ended().await, State::Over);
}

#[tokio::test(start_paused = true)]
async fn hosts_are_learned_from_when_they_give_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("hosts.json");
    for _ in 0..2 {
        let mut stage = Stage::shaped(|shape| shape.hosts = crate::alive::Hosts::load(Some(&path)));
        stage.up(r#"{"id":0,"method":"initialize","params":{"clientInfo":{"name":"host","version":"9"}}}"#).await;
        stage.up(CALL).await;
        pass(30_000).await;
        stage.up(CANCEL).await;
        stage.close().await;
        stage.terminal().await;
        // Written by a thread of its own.
        let before = std::time::Instant::now();
        while !path.exists() && before.elapsed() < Duration::from_secs(10) {
            std::thread::yield_now();
        }
    }
    let limit = || crate::alive::Hosts::load(Some(&path)).limit("host", "9").patience;
    let before = std::time::Instant::now();
    while limit() != Duration::from_secs(30) && before.elapsed() < Duration::from_secs(10) {
        std::thread::yield_now();
    }
    assert_eq!(limit(), Duration::from_secs(30));
}
