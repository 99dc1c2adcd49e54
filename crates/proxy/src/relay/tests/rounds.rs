//! Exchanges of several rounds: one node, children in between, gates at every door.

use super::stage::{Stage, pass};

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

fn first() -> String {
    format!(r#"{{"id":1,"method":"tools/call","params":{{"name":"pay","arguments":{{"n":1}},{META}}}}}"#)
}

fn next(id: u32, answers: &str) -> String {
    format!(
        r#"{{"id":{id},"method":"tools/call","params":{{"name":"pay","arguments":{{"n":1}},"inputResponses":{answers},"requestState":"opaque",{META}}}}}"#
    )
}

const ASKS: &str = r#"{"id":1,"result":{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"who?"}},"say":{"method":"sampling/createMessage","params":{}}},"requestState":"opaque"}}"#;
const DONE: &str = r#"{"id":2,"result":{"resultType":"complete","content":[]}}"#;
const ANSWERS: &str = r#"{"who":{"action":"accept"},"say":{"role":"assistant"}}"#;

#[tokio::test(start_paused = true)]
async fn n05_n06_two_rounds_are_one_execution() {
    let mut stage = Stage::new();
    stage.up(&first()).await;
    stage.down(ASKS).await;
    stage.up(&next(2, ANSWERS)).await;
    stage.down(DONE).await;
    insta::assert_snapshot!(stage.story("node.started tool:pay").await, @r"
    node.started tool:pay mcp_1 in mcp:session
    node.started mcp:elicitation/create mcp_2 in tool:pay
    node.started llm:sampling mcp_3 in tool:pay
    node.finished mcp:elicitation/create mcp_2 ok
    node.finished llm:sampling mcp_3 ok
    node.finished tool:pay mcp_1 ok rounds=2
    ");
}

#[tokio::test(start_paused = true)]
async fn n05_a_request_that_continues_nothing_is_an_exchange_of_its_own() {
    let mut stage = Stage::new();
    stage.up(&first()).await;
    stage.down(ASKS).await;
    stage.up(&next(2, ANSWERS).replace("opaque", "other")).await;
    stage.down(DONE).await;
    let story = stage.story("node.started tool:pay mcp_4").await;
    assert_eq!(story, "node.started tool:pay mcp_4 in mcp:session\nnode.finished tool:pay mcp_4 ok");
    pass(15 * 60_000 + 10).await;
    let story = stage.story("McpRoundAbandoned").await;
    insta::assert_snapshot!(story, @r"
    node.error tool:pay mcp_1 McpRoundAbandoned: the client did not come back
    node.finished tool:pay mcp_1 aborted
    ");
}

#[tokio::test(start_paused = true)]
async fn n07_a_breakpoint_holds_the_exchange_once_unless_the_arguments_change() {
    let mut stage = Stage::armed(&[r#"{"kind":"tool"}"#]);
    stage.host.say(&first()).await;
    assert_eq!(stage.paused(1).await, "tool:pay before");
    stage.resume(1, r#""action":"continue""#);
    stage.server.hear().await;
    stage.down(ASKS).await;
    stage.up(&next(2, ANSWERS)).await;
    stage.down(&ASKS.replace(r#""id":1"#, r#""id":2"#)).await;
    stage.host.say(&next(3, ANSWERS).replace(r#""n":1}"#, r#""n":1.0 }"#)).await;
    stage.server.hear().await;
    stage.down(&ASKS.replace(r#""id":1"#, r#""id":3"#)).await;
    let changed = next(4, ANSWERS).replace(r#""n":1}"#, r#""n":2}"#);
    stage.host.say(&changed).await;
    assert_eq!(stage.paused(2).await, "tool:pay before");
    stage.resume(2, r#""action":"continue""#);
    assert_eq!(stage.server.hear().await, changed);
}

#[tokio::test(start_paused = true)]
async fn n07_the_after_gate_stands_at_the_final_answer() {
    let mut stage = Stage::armed(&[r#"{"kind":"tool","point":"after"}"#]);
    stage.up(&first()).await;
    stage.down(ASKS).await;
    stage.up(&next(2, ANSWERS)).await;
    stage.server.say(DONE).await;
    assert_eq!(stage.paused(1).await, "tool:pay after");
    stage.resume(1, r#""action":"inject","output":"x""#);
    assert_eq!(
        stage.host.hear().await,
        r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"x"}],"resultType":"complete"}}"#
    );
}

#[tokio::test(start_paused = true)]
async fn n06_questions_inside_an_answer_stand_before_they_reach_the_client() {
    let mut stage = Stage::armed(&[r#"{"name":"elicitation/create"}"#]);
    stage.up(&first()).await;
    stage.server.say(ASKS).await;
    assert_eq!(stage.paused(1).await, "mcp:elicitation/create before");
    assert!(stage.host.hears_nothing().await);
    stage.resume(1, r#""action":"inject","output":{"action":"decline"}"#);
    let heard = stage.host.hear().await;
    assert!(!heard.contains("who") && heard.contains(r#""say":{"method""#), "{heard}");
    stage.host.say(&next(2, r#"{"say":{"role":"assistant"}}"#)).await;
    let heard = stage.server.hear().await;
    assert!(
        heard.contains(
            r#""inputResponses":{"say":{"role":"assistant"},"who":{"action":"decline"}},"requestState":"opaque""#
        ),
        "{heard}"
    );
    stage.down(DONE).await;
    let story = stage.story("node.started tool:pay").await;
    assert!(story.ends_with("node.finished tool:pay mcp_1 ok rounds=2"), "{story}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_given_by_hand_reaches_the_server_also_when_the_hub_is_gone() {
    let mut stage = Stage::armed(&[r#"{"name":"elicitation/create"}"#]);
    stage.up(&first()).await;
    stage.server.say(ASKS).await;
    stage.paused(1).await;
    stage.resume(1, r#""action":"inject","output":{"action":"decline"}"#);
    stage.host.hear().await;
    stage.gate.presence(lockgate_gate::Presence::Detached);
    // Long enough to pass before it is complete, were it not for the answer that has to go with it.
    let text = "x".repeat(1 << 18);
    stage.host.say(&next(2, &format!(r#"{{"say":{{"role":"assistant","text":"{text}"}}}}"#))).await;
    let heard = stage.server.hear().await;
    assert!(heard.contains(r#""who":{"action":"decline"}},"requestState":"opaque""#), "{}", heard.len());
}

#[tokio::test(start_paused = true)]
async fn when_every_question_is_answered_by_hand_the_client_is_not_asked() {
    let mut stage = Stage::armed(&[r#"{"name":"elicitation/create"}"#, r#"{"kind":"llm"}"#]);
    stage.up(&first()).await;
    stage.server.say(ASKS).await;
    for number in 1..=2 {
        stage.paused(number).await;
        stage.resume(number, r#""action":"inject","output":{"content":1}"#);
    }
    let again = stage.server.hear().await;
    assert!(
        again.contains(r#""id":1,"#)
            && again.contains(r#""inputResponses":{"who":{"content":1},"say":{"content":1}},"requestState":"opaque""#),
        "{again}"
    );
    assert!(stage.host.hears_nothing().await);
    stage.down(r#"{"id":1,"result":{"content":[]}}"#).await;
    assert!(stage.story("node.started tool:pay").await.ends_with("node.finished tool:pay mcp_1 ok rounds=2"));
}

#[tokio::test(start_paused = true)]
async fn n06_the_clients_answers_stand_before_they_reach_the_server() {
    let mut stage = Stage::armed(&[r#"{"name":"elicitation/create","point":"after"}"#]);
    stage.up(&first()).await;
    stage.down(ASKS).await;
    stage.host.say(&next(2, ANSWERS)).await;
    assert_eq!(stage.paused(1).await, "mcp:elicitation/create after");
    assert!(stage.server.hears_nothing().await);
    stage.resume(1, r#""action":"inject","output":{"action":"cancel"}"#);
    assert_eq!(stage.server.hear().await, next(2, ANSWERS).replace(r#"{"action":"accept"}"#, r#"{"action":"cancel"}"#));
}

#[tokio::test(start_paused = true)]
async fn abort_at_a_question_or_at_its_answer_aborts_the_exchange() {
    let aborted = |id: u32| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-31099,"message":"aborted in the debugger","data":{{"cause":"aborted"}}}}}}"#
        )
    };
    let mut stage = Stage::armed(&[r#"{"kind":"llm"}"#]);
    stage.up(&first()).await;
    stage.server.say(ASKS).await;
    stage.paused(1).await;
    stage.resume(1, r#""action":"abort""#);
    assert_eq!(stage.host.hear().await, aborted(1));

    let mut stage = Stage::armed(&[r#"{"kind":"llm","point":"after"}"#]);
    stage.up(&first()).await;
    stage.down(ASKS).await;
    stage.host.say(&next(2, ANSWERS)).await;
    stage.paused(1).await;
    stage.resume(1, r#""action":"abort""#);
    assert_eq!(stage.host.hear().await, aborted(2));
    assert!(stage.server.hears_nothing().await);
    insta::assert_snapshot!(stage.story("exec.resumed").await, @r"
    exec.resumed abort
    node.finished llm:sampling mcp_3 aborted
    node.finished tool:pay mcp_1 aborted rounds=2
    ");
}

#[tokio::test(start_paused = true)]
async fn states_are_recorded_short_and_sent_whole() {
    let long = "s".repeat(500);
    let mut stage = Stage::new();
    stage.up(&first()).await;
    stage.down(&ASKS.replace("opaque", &long)).await;
    stage.up(&next(2, ANSWERS).replace("opaque", &long)).await;
    let elsewhere = format!(r#"{{"id":9,"method":"tools/call","params":{{"name":"x","requestState":"{long}"}}}}"#);
    stage.up(&elsewhere).await;
    let started = stage.payload("node.started", "tool:x").await;
    assert!(started.contains(r#""requestState":"ssssssssssssssss…""#), "{started}");
}

#[tokio::test(start_paused = true)]
async fn an_exchange_that_makes_room_for_newer_ones_is_told_so() {
    let mut stage = Stage::new();
    for id in 1..=1_001 {
        stage.up(&first().replace(r#""id":1"#, &format!(r#""id":{id}"#))).await;
        let asks = ASKS.replace(r#""id":1"#, &format!(r#""id":{id}"#));
        stage.down(&asks.replace("opaque", &format!("state {id}"))).await;
    }
    let story = stage.story("node.error").await;
    insta::assert_snapshot!(story, @r"
    node.error tool:pay mcp_1 McpEvicted: too many exchanges wait for their next round
    node.finished tool:pay mcp_1 aborted
    ");
}

/// Whether anything that was told has this text in it.
async fn told(stage: &mut Stage, text: &str) -> bool {
    stage.events().await.iter().any(|event| format!("{:?}", event.payload()).contains(text))
}

#[tokio::test(start_paused = true)]
async fn n08_what_a_person_answered_in_a_round_is_sent_whole_and_recorded_short() {
    let answers = r#"{"who":{"action":"accept","content":{"name":"Alexandria","pin":123456}},"say":{"role":"assistant","content":"the model"}}"#;
    let mut stage = Stage::new();
    stage.up(&first()).await;
    stage.down(ASKS).await;
    stage.up(&next(2, answers)).await;
    stage.up(&next(3, answers).replace("opaque", "of another")).await;
    let elsewhere =
        format!(r#"{{"id":9,"method":"tasks/update","params":{{"taskId":"t","inputResponses":{answers}}}}}"#);
    stage.up(&elsewhere).await;
    insta::assert_snapshot!(stage.payload("node.finished", "mcp:elicitation/create").await, @r#"{"nodeId":"mcp:elicitation/create","instanceId":"mcp_2","durationMs":0,"status":"ok","output":{"action":"accept","content":{"name":"Alex…","pin":"123…"}},"era":"stateless"}"#);
    for secret in ["Alexandria", "123456"] {
        assert!(!told(&mut stage, secret).await, "{secret}");
    }
    assert!(stage.payload("node.finished", "llm:sampling").await.contains("the model"));
}

#[tokio::test(start_paused = true)]
async fn n08_what_a_person_answered_to_a_server_that_asked_is_recorded_short() {
    let mut stage = Stage::armed(&[r#"{"name":"elicitation/create"}"#]);
    let ask = r#"{"id":5,"method":"elicitation/create","params":{"message":"who?"}}"#;
    let answer = r#"{"id":5,"result":{"action":"accept","content":{"name":"Alexandria"}}}"#;
    stage.server.say(ask).await;
    stage.paused(1).await;
    stage.resume(1, r#""action":"continue""#);
    stage.host.hear().await;
    stage.up(answer).await;
    stage.server.say(ask).await;
    stage.paused(2).await;
    stage.resume(2, r#""action":"inject","output":{"action":"accept","content":{"name":"Bartholomew"}}"#);
    assert!(stage.server.hear().await.contains("Bartholomew"));
    for secret in ["Alexandria", "Bartholomew"] {
        assert!(!told(&mut stage, secret).await, "{secret}");
    }
}

#[tokio::test(start_paused = true)]
async fn n08_an_edited_round_goes_on_with_its_state_and_is_recorded_without() {
    let long = "s".repeat(500);
    let answers = r#"{"who":{"action":"accept","content":{"name":"Alexandria"}},"say":{"role":"assistant"}}"#;
    let mut stage = Stage::armed(&[r#"{"kind":"tool"}"#]);
    stage.host.say(&first()).await;
    stage.paused(1).await;
    stage.resume(1, r#""action":"continue""#);
    stage.server.hear().await;
    stage.down(&ASKS.replace("opaque", &long)).await;
    let changed = next(2, answers).replace(r#""n":1}"#, r#""n":2}"#).replace("opaque", &long);
    stage.host.say(&changed).await;
    stage.paused(2).await;
    stage.resume(2, r#""action":"continue","input":{"arguments":{"n":3}}"#);
    assert_eq!(stage.server.hear().await, changed.replace(r#""n":2}"#, r#""n":3}"#));
    assert!(told(&mut stage, r#""edited":{"after":{"name":"pay","arguments":{"n":3},"inputResponses""#).await);
    for secret in ["Alexandria", &long] {
        assert!(!told(&mut stage, secret).await, "{secret}");
    }
}

#[tokio::test(start_paused = true)]
async fn n08_a_state_in_an_answer_that_ends_its_call_is_recorded_short() {
    let long = "s".repeat(500);
    let mut stage = Stage::new();
    stage.up(r#"{"id":1,"method":"tools/list"}"#).await;
    stage.down(&ASKS.replace("opaque", &long)).await;
    assert!(told(&mut stage, r#""requestState":"ssssssssssssssss…""#).await && !told(&mut stage, &long).await);
}
