//! Nothing that nobody asked about is changed: every line arrives as it left, whatever it is.

use super::stage::{CALL, RESULT, Shape, Stage, pass};
use crate::relay::State;
use crate::rules::{Duplicates, FrameCap, Trouble};
use crate::side::Side;

/// Bytes that must come out as they went in, from either side.
const HOSTILE: &[&[u8]] = &[
    b"{\"jsonrpc\": \"2.0\",\"id\":1 ,\"method\":\"ping\"}\n",
    b"{\"id\":\"1\",\"method\":\"tools/call\",\"params\":{\"name\":\"a\",\"arguments\":{\"x\":1.50,\"y\":\"\\u00e9\\/\"}}}\r\n",
    b"\n",
    b"\r\n",
    b"  \t \n",
    b"\xef\xbb\xbf{\"method\":\"x\"}\n",
    b"{\"method\":\"x\",\"params\":{\"a\":\"\xff\xfe\xe4\"}}\n",
    b"\xff\xfe\x00\n",
    b"{\"method\":\"x\"}\x00\n",
    b"{\"a\":1\r}\r\r\n",
    b"{\"id\":1}{\"id\":2}\n",
    b"{\"id\":null,\"method\":\"a\"}\n",
    b"{\"id\":1.5,\"method\":\"a\"}\n",
    b"{\"id\":true,\"method\":\"a\"}\n",
    b"{\"id\":0,\"result\":1,\"error\":2}\n",
    b"{\"id\":9007199254740993,\"method\":\"a\"}\n",
    b"{\"id\":18446744073709551616,\"method\":\"a\"}\n",
    b"{\"id\":1e999,\"method\":\"a\"}\n",
    b"{\"id\":-0,\"method\":\"a\"}\n",
    b"{\"id\":{},\"method\":\"a\"}\n",
    b"{\"id\":1,\"id\":2,\"method\":\"a\",\"method\":\"b\"}\n",
    b"{\"__proto__\":{},\"constructor\":{\"prototype\":1},\"method\":\"__proto__\",\"id\":\"__proto__\"}\n",
    b"{\"method\":\"\\ud800\",\"params\":{\"name\":\"\\ud800\"},\"id\":\"\\ud800\"}\n",
    b"{\"id\":7,\"result\":{}}\n",
    b"{\"id\":null,\"error\":{\"code\":-32700}}\n",
    b"{\"error\":{}}\n",
    b"{\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":99}}\n",
    b"{\"method\":\"notifications/cancelled\"}\n",
    b"{\"method\":\"notifications/progress\",\"params\":[]}\n",
    b"{\"method\":\"notifications/progress\",\"params\":{\"progressToken\":{},\"progress\":\"x\"}}\n",
    b"{\"method\":\"tools/call\",\"id\":3,\"params\":7}\n",
    b"{\"method\":\"tools/call\",\"id\":4}\n",
    b"{\"method\":\"resources/read\",\"id\":5,\"params\":{\"uri\":{}}}\n",
    b"{\"method\":\"\",\"id\":6}\n",
    b"[]\n",
    b"[[],[[]]]\n",
    b"[1,\"x\",null,{\"method\":\"a\"},[{\"id\":1,\"result\":1}]]\n",
    b"[ {\"method\":\"tools/call\",\"id\":1 ,\"params\":{\"name\":\"a\"}} , {\"method\":\"n\"} ]\r\n",
    b"7\n",
    b"null\n",
    b"\"text\"\n",
    b"just words, \x1b[31mred\x1b[0m\n",
    b"{\"unfinished\": \n",
];

fn hostile() -> Vec<u8> {
    let deep = format!("{{\"method\":\"x\",\"params\":{}{}}}\n", "[".repeat(10_000), "]".repeat(10_000));
    let deeper = format!("{}{}\n", "[".repeat(70_000), "]".repeat(70_000));
    let wide = format!("[{}]\n", vec!["1"; 200_000].join(","));
    let mut all = HOSTILE.concat();
    for text in [deep, deeper, wide] {
        all.extend_from_slice(text.as_bytes());
    }
    all.extend_from_slice(b"{\"the\":\"rest");
    all
}

/// Whether bytes written in chunks from one side come out at the other as they went in.
async fn check(from: Side, chunk: usize, shape: impl FnOnce(&mut Shape), attached: bool) {
    let mut stage = Stage::shaped(shape);
    if attached {
        stage.attach();
    }
    let bytes = hostile();
    let Stage { host, server, .. } = &mut stage;
    let (speaker, listener) = match from {
        Side::Client => (host, server),
        Side::Server => (server, host),
    };
    let speaking = async {
        for part in bytes.chunks(chunk) {
            speaker.write(part).await;
        }
        speaker.hang_up().await;
    };
    let ((), heard) = tokio::join!(speaking, listener.hear_rest());
    let differs = heard.iter().zip(&bytes).position(|(heard, said)| heard != said);
    assert_eq!((heard.len(), differs), (bytes.len(), None), "from {from:?} in chunks of {chunk}");
    assert_eq!(stage.close().await, State::Over);
}

#[tokio::test]
async fn n16_hostile_lines_pass_unchanged_in_any_chunks() {
    for from in Side::BOTH {
        for chunk in [usize::MAX / 2, 4_096, 61] {
            check(from, chunk.min(1 << 20), |_| {}, false).await;
            check(from, chunk.min(1 << 20), |_| {}, true).await;
        }
    }
}

#[tokio::test]
async fn hostile_lines_pass_through_narrow_pipes() {
    for from in Side::BOTH {
        check(from, 10_000, |shape| shape.pipe = 512, true).await;
    }
}

#[tokio::test]
async fn a_conversation_one_byte_at_a_time() {
    let mut stage = Stage::new();
    for byte in CALL.as_bytes().iter().chain(b"\n") {
        stage.host.write(&[*byte]).await;
    }
    assert_eq!(stage.server.hear().await, CALL);
    for byte in RESULT.as_bytes().iter().chain(b"\n") {
        stage.server.write(&[*byte]).await;
    }
    assert_eq!(stage.host.hear().await, RESULT);
}

#[tokio::test]
async fn answers_may_come_in_any_order_and_frames_glued() {
    let mut stage = Stage::new();
    let ask = |id: u32| format!(r#"{{"id":{id},"method":"tools/call","params":{{"name":"t{id}"}}}}"#);
    let answer = |id: u32| format!(r#"{{"id":{id},"result":{{}}}}"#);
    let questions: Vec<String> = (0..50).map(ask).collect();
    stage.host.say(&questions.join("\n")).await;
    for question in &questions {
        assert_eq!(&stage.server.hear().await, question);
    }
    let answers: Vec<String> = (0..50).rev().map(answer).collect();
    stage.server.say(&answers.join("\n")).await;
    for answer in &answers {
        assert_eq!(&stage.host.hear().await, answer);
    }
    let story = stage.story("node.started tool:t0").await;
    assert_eq!(story.matches("node.finished").count(), 50);
}

#[tokio::test]
async fn a_frame_of_twenty_megabytes() {
    let mut stage = Stage::new();
    stage.attach();
    let text = "x".repeat(20 << 20);
    let line = format!(r#"{{"id":1,"method":"tools/call","params":{{"name":"big","arguments":{{"text":"{text}"}}}}}}"#);
    let Stage { host, server, .. } = &mut stage;
    let ((), heard) = tokio::join!(host.say(&line), server.hear());
    assert!(heard == line, "{} bytes became {}", line.len(), heard.len());
}

#[tokio::test]
async fn a_long_frame_passes_before_it_is_complete_and_is_told_when_it_is() {
    let mut stage = Stage::new();
    let head = r#"{"id":1,"method":"tools/call","params":{"name":"big","arguments":{"text":""#;
    let text = "x".repeat(1 << 20);
    stage.host.write(head.as_bytes()).await;
    let Stage { host, server, .. } = &mut stage;
    let ((), heard) = tokio::join!(host.write(text.as_bytes()), server.hear_some(1 << 20));
    assert!(heard.starts_with(head.as_bytes()), "it is on its way before it is complete");
    assert!(stage.story("run.started").await.ends_with("node.started mcp:session mcp:session"));
    stage.host.write(b"\"},\"_meta\":{\"progressToken\":7}}}\n").await;
    let rest = stage.server.hear().await;
    assert!(rest.ends_with(r#""},"_meta":{"progressToken":7}}}"#));
    let started = stage.payload("node.started", "tool:big").await;
    assert!(
        started.contains(r#"xxx…[graphmind: truncated]"},"_meta":{"progressToken":7}}"#),
        "{}",
        &started[started.len() - 200..]
    );
    assert!(started.len() < 300_000);
    let answer = format!(r#"{{"id":1,"result":{{"content":[{{"type":"text","text":"{text}"}}],"isError":true}}}}"#);
    let Stage { host, server, .. } = &mut stage;
    let ((), heard) = tokio::join!(server.say(&answer), host.hear());
    assert!(heard == answer);
    let story = stage.story("node.started tool:big").await;
    assert!(
        story.contains("node.error tool:big mcp_1 McpToolError")
            && story.ends_with("node.finished tool:big mcp_1 error")
    );
}

#[tokio::test]
async fn a_long_frame_that_may_be_held_waits_until_it_is_complete() {
    let head = r#"{"id":1,"method":"tools/call","params":{"name":"big","arguments":{"text":""#;
    let check = async |shape: fn(&mut Shape), attached: bool, waits: bool| {
        let mut stage = Stage::shaped(shape);
        if attached {
            stage.attach();
        }
        stage.host.write(head.as_bytes()).await;
        stage.host.write(&[b'x'; 1 << 19]).await;
        assert_eq!(stage.server.hears_nothing().await, waits);
    };
    check(|_| {}, false, false).await;
    check(|_| {}, true, true).await;
    check(|shape| shape.rules.duplicates = Duplicates::Refuse, false, true).await;
    check(|shape| shape.rules.trouble = Trouble::Refuse, false, true).await;
    check(|shape| shape.gate = Box::new(|config| config.policies.push(std::sync::Arc::new(Minds))), false, true).await;
}

/// A policy that may object at any time.
struct Minds;

impl lockgate_gate::Policy for Minds {
    fn judge(&self, _: &lockgate_gate::Call, _: lockgate_gate::Stop) -> lockgate_gate::Verdict {
        lockgate_gate::Verdict::Pass
    }
}

#[tokio::test(start_paused = true)]
async fn a_short_frame_that_has_passed_is_still_here_to_be_asked_again() {
    let mut stage = Stage::new();
    stage.up(CALL).await;
    stage.attach();
    stage.arm(&[r#"{"point":"after"}"#]);
    stage.server.say(RESULT).await;
    stage.paused(1).await;
    stage.resume(1, r#""action":"retry""#);
    assert_eq!(stage.server.hear().await, CALL);
    stage.server.say(RESULT).await;
    stage.paused(2).await;
    stage.resume(2, r#""action":"continue""#);
    assert_eq!(stage.host.hear().await, RESULT);
    assert!(stage.story("node.started tool:pay").await.ends_with("node.finished tool:pay mcp_1 ok retries=1"));
}

#[tokio::test(start_paused = true)]
async fn what_passes_is_told_in_order_also_when_nobody_takes_it() {
    let mut stage = Stage::new();
    stage.down(r#"{"method":"notifications/message"}"#).await;
    drop(std::mem::replace(&mut stage.host, lockgate_testkit::peer::Peer::pair(1).0));
    for _ in 0..3 {
        stage.server.say(r#"{"method":"notifications/progress"}"#).await;
        pass(1).await;
    }
    let told = stage.story("mcp:notifications/progress").await;
    assert_eq!(told.matches("node.finished mcp:notifications/progress").count(), 3, "{told}");
}

#[tokio::test(start_paused = true)]
async fn what_passes_is_told_a_little_later_as_of_when_it_passed() {
    let mut stage = Stage::new();
    stage.up(CALL).await;
    assert!(!stage.so_far().any(|event| event.kind() == "node.started" && format!("{event:?}").contains("pay")));
    pass(3).await;
    stage.down(RESULT).await;
    let finished = stage.payload("node.finished", "tool:pay").await;
    assert!(finished.contains(r#""durationMs":3"#), "{finished}");
}

#[tokio::test(start_paused = true)]
async fn where_nobody_is_ever_silent_all_the_same_is_told() {
    let mut stage = Stage::new();
    for _ in 0..20 {
        stage.up(r#"{"method":"notifications/x"}"#).await;
        stage.down(r#"{"method":"notifications/message"}"#).await;
    }
    assert!(stage.so_far().filter(|event| event.kind() == "node.finished").count() >= 30);
}

#[tokio::test(start_paused = true)]
async fn what_is_on_its_way_is_told_before_it_is_taken() {
    let mut stage = Stage::shaped(|shape| shape.pipe = 16);
    let Stage { host, .. } = &mut stage;
    host.say(CALL).await;
    let started = stage.payload("node.started", "tool:pay").await;
    assert!(started.contains("1.50"), "{started}");
    assert_eq!(stage.server.hear().await, CALL);
}

#[tokio::test(start_paused = true)]
async fn what_has_passed_in_short_cannot_be_asked_again() {
    let mut stage = Stage::new();
    let text = "x".repeat(1 << 20);
    let call = format!(r#"{{"id":1,"method":"tools/call","params":{{"name":"big","arguments":{{"text":"{text}"}}}}}}"#);
    let Stage { host, server, .. } = &mut stage;
    let ((), heard) = tokio::join!(host.say(&call), server.hear());
    assert!(heard == call);
    stage.attach();
    stage.arm(&[r#"{"point":"after"}"#]);
    stage.server.say(RESULT).await;
    stage.paused(1).await;
    stage.resume(1, r#""action":"retry""#);
    pass(1).await;
    let refused = format!("{:?}", stage.events().await.last().expect("an event").payload());
    assert!(refused.contains(r#""code":"unsupported""#), "{refused}");
    stage.resume(1, r#""action":"continue""#);
    assert_eq!(stage.host.hear().await, RESULT);
}

#[tokio::test]
async fn what_is_longer_than_the_cap_arrives_all_the_same_and_so_does_everything_after_it() {
    for from in Side::BOTH {
        let mut stage = Stage::shaped(|shape| shape.cap = FrameCap::new(1_024).expect("large enough"));
        let mut bytes = Vec::new();
        bytes.extend_from_slice(format!("{CALL}\n").as_bytes());
        bytes.extend_from_slice(&[b'x'; 100_000]);
        bytes.extend_from_slice(format!("\n{CALL}\n").as_bytes());
        let Stage { host, server, .. } = &mut stage;
        let (speaker, listener) = match from {
            Side::Client => (host, server),
            Side::Server => (server, host),
        };
        let speaking = async {
            for part in bytes.chunks(700) {
                speaker.write(part).await;
            }
            speaker.hang_up().await;
        };
        let ((), heard) = tokio::join!(speaking, listener.hear_rest());
        assert!(heard == bytes, "from {from:?}: {} bytes became {}", bytes.len(), heard.len());
        stage.close().await;
        let said = stage.terminal().await;
        assert_eq!(said.matches("longer than may be held").count(), 1, "{said}");
    }
}

#[tokio::test]
async fn after_an_overflow_the_other_direction_goes_on_too() {
    let mut stage = Stage::shaped(|shape| shape.cap = FrameCap::new(1_024).expect("large enough"));
    stage.attach();
    stage.arm(&["{}"]);
    stage.server.write(&[b'x'; 5_000]).await;
    stage.server.write(b"\n").await;
    assert_eq!(stage.host.hear().await.len(), 5_000);
    stage.up(CALL).await;
    stage.down(RESULT).await;
}
