//! What cannot be judged: the debugger lets it pass, the guard does not.

use std::sync::Arc;

use lockgate_gate::{Call, Policy, PolicyRefusal, Refused, Stop, Verdict};
use lockgate_protocol::debug::Event;
use lockgate_protocol::mcp::method;

use super::stage::{CALL, RESULT, Stage, pass, raw};
use crate::relay::State;
use crate::rules::{Duplicates, FrameCap, Trouble};

struct Panics;

impl Policy for Panics {
    fn judge(&self, _: &Call, _: Stop) -> Verdict {
        panic!("a policy that fails")
    }
}

#[tokio::test(start_paused = true)]
async fn a_gate_that_fails_lets_everything_pass_and_says_so_once() {
    let mut stage = Stage::shaped(|shape| shape.gate = Box::new(|config| config.policies.push(Arc::new(Panics))));
    stage.up(CALL).await;
    stage.down(RESULT).await;
    stage.up(r#"{"method":"notifications/x"}"#).await;
    stage.close().await;
    assert_eq!(stage.terminal().await, "proxy: watching a frame failed, it passes unchanged\n");
}

#[tokio::test(start_paused = true)]
async fn a_guard_that_fails_ends_the_session() {
    let mut stage = Stage::shaped(|shape| {
        shape.rules.trouble = Trouble::Refuse;
        shape.gate = Box::new(|config| config.policies.push(Arc::new(Panics)));
    });
    stage.host.say(CALL).await;
    assert_eq!(stage.ended().await, State::Stopped("a frame could not be judged"));
    assert_eq!(stage.server.hear_bytes().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_guard_ends_the_session_rather_than_pass_what_is_too_long_or_too_deep() {
    let check = async |line: String, why: &'static str| {
        let mut stage = Stage::shaped(|shape| {
            shape.rules.trouble = Trouble::Refuse;
            shape.cap = FrameCap::new(200_000).expect("large enough");
        });
        stage.host.say(&line).await;
        assert_eq!(stage.ended().await, State::Stopped(why));
        assert!(stage.story("GuardOverflow").await.contains(why));
        assert_eq!(stage.server.hear_bytes().await, None);
    };
    check("x".repeat(300_000), "a frame is too long to be judged").await;
    check(format!("{}{}", "[".repeat(70_000), "]".repeat(70_000)), "a frame is too deep to be judged").await;
}

#[tokio::test(start_paused = true)]
async fn a_refused_request_whose_id_is_doubtful_is_answered_as_its_era_has_it() {
    let mut stage = Stage::shaped(|shape| shape.rules.duplicates = Duplicates::Refuse);
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
    for (line, start) in [
        (r#"{"id":1,"id":2,"method":"a"}"#.to_owned(), r#"{"jsonrpc":"2.0","id":null,"error""#),
        (format!(r#"{{"id":1,"id":2,"method":"a","params":{{{meta}}}}}"#), r#"{"jsonrpc":"2.0","error""#),
    ] {
        stage.host.say(&line).await;
        let heard = stage.host.hear().await;
        assert!(heard.starts_with(start), "{heard}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_answer_of_an_array_keeps_none_of_ours_back() {
    let mut stage = Stage::shaped(|shape| shape.rules.duplicates = Duplicates::Refuse);
    stage.attach();
    stage.arm(&[r#"{"name":"b"}"#]);
    let call = |id: u32, name: &str| format!(r#"{{"id":{id},"method":"tools/call","params":{{"name":"{name}"}}}}"#);
    stage.host.say(&format!("[{},{}]", call(1, "a"), call(2, "b"))).await;
    stage.paused(1).await;
    stage.resume(1, r#""action":"inject","output":"x""#);
    stage.server.hear().await;
    stage.server.say(r#"{"id":1,"result":{"a":1,"a":2}}"#).await;
    assert!(stage.host.hear().await.contains("duplicate-member"));
    assert!(stage.host.hear().await.starts_with(r#"{"jsonrpc":"2.0","id":2,"result""#));
}

#[tokio::test(start_paused = true)]
async fn n17_strict_readers_refuse_frames_that_others_read_differently() {
    let mut stage = Stage::shaped(|shape| shape.rules.duplicates = Duplicates::Refuse);
    stage.host.say(r#"{"id":1,"method":"tools/call","params":{"name":"a","n\u0061me":"b"}}"#).await;
    assert_eq!(
        stage.host.hear().await,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"frame not relayed, duplicate member: /params/name","data":{"cause":"duplicate-member","at":"/params/name"}}}"#
    );
    stage.host.say(r#"{"id":1,"id":2,"method":"a"}"#).await;
    assert!(stage.host.hear().await.contains(r#""id":null"#));
    stage.host.say(r#"{"method":"a","method":"b"}"#).await;
    stage.up(CALL).await;
    stage.server.say(r#"{"id":1,"result":{"a":1,"a":2}}"#).await;
    let heard = stage.host.hear().await;
    assert!(heard.contains(r#""id":1,"error":{"code":-32600"#), "{heard}");
    let story = stage.story("node.error tool:pay").await;
    assert!(story.ends_with("node.finished tool:pay mcp_1 error"), "{story}");
    stage.up(r#"{"id":5,"method":"ping"}"#).await;
}

/// Refuses tools, shortens lists.
struct Guard;

impl Policy for Guard {
    fn judge(&self, call: &Call, at: Stop) -> Verdict {
        match (&*call.node.id, at) {
            ("tool:pay", Stop::Before) => Verdict::Refuse(Refused::Policy(Box::new(PolicyRefusal {
                code: -32_010,
                message: "held: drifted".to_owned(),
                data: Some(raw(r#"{"cause":"drift"}"#)),
            }))),
            ("mcp:tools/list", Stop::After) => Verdict::Amend(raw(r#"{"tools":[]}"#)),
            ("tool:other", Stop::Before) => Verdict::Amend(raw(r#"{"name":"other","arguments":{"safe":true}}"#)),
            _ => Verdict::Pass,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn policies_refuse_and_amend_in_their_own_words() {
    let mut stage = Stage::shaped(|shape| shape.gate = Box::new(|config| config.policies.push(Arc::new(Guard))));
    stage.host.say(CALL).await;
    assert_eq!(
        stage.host.hear().await,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32010,"message":"held: drifted","data":{"cause":"drift"}}}"#
    );
    stage.up(r#"{"id":2,"method":"tools/list"}"#).await;
    stage.server.say(r#"{"id":2 , "result":{"tools":[{"name":"pay"}]},"x":1.50}"#).await;
    assert_eq!(stage.host.hear().await, r#"{"id":2 , "result":{"tools":[]},"x":1.50}"#);
    stage.host.say(r#"{"id":3, "method":"tools/call","params":{"name":"other"}}"#).await;
    assert_eq!(
        stage.server.hear().await,
        r#"{"id":3, "method":"tools/call","params":{"name":"other","arguments":{"safe":true}}}"#
    );
    insta::assert_snapshot!(stage.story("node.started tool:pay").await, @r"
    node.started tool:pay mcp_1 in mcp:session
    node.error tool:pay mcp_1 Refused(-32010): held: drifted
    node.finished tool:pay mcp_1 error
    node.started mcp:protocol mcp:protocol in mcp:session
    node.started mcp:tools/list mcp_2 in mcp:protocol
    node.finished mcp:tools/list mcp_2 ok
    node.started tool:other mcp_3 in mcp:session
    ");
}

#[tokio::test(start_paused = true)]
async fn a_host_that_takes_nothing_more_is_mentioned_once() {
    let mut stage = Stage::new();
    stage.down(r#"{"method":"a"}"#).await;
    drop(std::mem::replace(&mut stage.host, lockgate_testkit::peer::Peer::pair(1).0));
    for _ in 0..3 {
        stage.server.say(r#"{"method":"b"}"#).await;
        pass(1).await;
    }
    stage.close().await;
    let said = stage.terminal().await;
    assert_eq!(said.matches("the host takes no more input").count(), 1, "{said}");
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_questions_and_one_more() {
    let mut stage = Stage::shaped(|shape| shape.pipe = 4 << 20);
    for id in 0..=10_000 {
        stage.host.say(&format!(r#"{{"id":{id},"method":"{}"}}"#, method::TOOLS_LIST)).await;
    }
    for _ in 0..=10_000 {
        stage.server.hear().await;
    }
    let story = stage.story("McpEvicted").await;
    assert!(story.starts_with("node.error mcp:tools/list mcp_1 McpEvicted"), "{story}");
    let evicted = stage.events().await.iter().filter(|event| matches!(event, Event::NodeError(_))).count();
    assert_eq!(evicted, 1);
    stage.down(r#"{"id":0,"result":{}}"#).await;
    stage.close().await;
    let said = stage.terminal().await;
    assert_eq!(said, "proxy: session over: 10000 unanswered requests, 1 late answer, 1 request no longer watched\n");

    let mut stage = Stage::shaped(|shape| {
        shape.pipe = 4 << 20;
        shape.rules.trouble = Trouble::Refuse;
    });
    for id in 0..=10_000 {
        stage.host.say(&format!(r#"{{"id":{id},"method":"x"}}"#)).await;
    }
    let heard = stage.host.hear().await;
    assert!(heard.contains(r#""id":10000,"error":{"code":-32603"#) && heard.contains("too-many-open"), "{heard}");
}
