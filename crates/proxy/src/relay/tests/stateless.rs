//! Both eras on one pipe, and what only the newer one has.

use super::stage::{Stage, pass};
use lockgate_protocol::json::{Raw, View};

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"host","version":"9"},"traceparent":"00-1"}"#;

fn call(id: u32) -> String {
    format!(r#"{{"id":{id},"method":"tools/call","params":{{"name":"t{id}",{META}}}}}"#)
}

#[tokio::test(start_paused = true)]
async fn n03_a_stateless_request_is_recorded_with_what_it_carries() {
    let mut stage = Stage::new();
    stage.up(&call(1)).await;
    stage.down(r#"{"id":1,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s"}}}}"#).await;
    insta::assert_snapshot!(stage.payload("node.started", "tool:t1").await, @r#"{"nodeId":"tool:t1","parentId":"mcp:session","kind":"tool","name":"t1","instanceId":"mcp_1","input":{"name":"t1","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"host","version":"9"},"traceparent":"00-1"}},"method":"tools/call","direction":"client->server","jsonrpcId":1,"era":"stateless","transport":"stdio","protocolVersion":"2026-07-28","clientInfo":{"name":"host","version":"9"},"traceparent":"00-1"}"#);
    insta::assert_snapshot!(stage.payload("node.finished", "tool:t1").await, @r#"{"nodeId":"tool:t1","instanceId":"mcp_1","durationMs":0,"status":"ok","output":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s"}}},"era":"stateless"}"#);
}

#[tokio::test(start_paused = true)]
async fn n01_n13_both_eras_share_a_pipe_and_each_call_gets_its_own_error() {
    let mut stage = Stage::armed(&[r#"{"kind":"tool"}"#]);
    stage.up(r#"{"id":0,"method":"initialize","params":{}}"#).await;
    let plain = r#"{"id":2,"method":"tools/call","params":{"name":"t2"}}"#;
    for (number, line, code) in [(1, call(1), "-31099"), (2, plain.to_owned(), "-32099")] {
        stage.host.say(&line).await;
        stage.paused(number).await;
        stage.resume(number, r#""action":"abort""#);
        let heard = stage.host.hear().await;
        assert!(heard.contains(code), "{heard}");
    }
}

/// The era in the start of the n-th execution.
async fn era_of(stage: &mut Stage, number: usize) -> String {
    let instance = format!("mcp_{number}");
    let events = stage.events().await;
    let start = events.iter().filter(|event| event.kind() == "node.started").map(|event| event.payload());
    let word = |payload: &Raw, name| payload.view().get(name).and_then(View::str).map(|word| word.into_owned());
    let mut eras = start.filter(|start| word(start, "instanceId").as_ref() == Some(&instance));
    eras.next().and_then(|start| word(&start, "era")).unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn n01_a_successful_discover_settles_the_era_of_what_does_not_say() {
    let check = async |answer: &str, era: &str| {
        let mut stage = Stage::armed(&[r#"{"kind":"tool"}"#]);
        stage.up(r#"{"id":0,"method":"server/discover"}"#).await;
        stage.down(answer).await;
        stage.host.say(r#"{"id":1,"method":"tools/call","params":{"name":"t"}}"#).await;
        stage.paused(1).await;
        stage.resume(1, r#""action":"abort""#);
        let code = if era == "stateless" { "-31099" } else { "-32099" };
        let heard = stage.host.hear().await;
        assert!(heard.contains(code), "{answer}: {heard}");
        assert_eq!(era_of(&mut stage, 2).await, era, "{answer}");
    };
    check(r#"{"id":0,"result":{"supportedVersions":["2025-11-25","2026-07-28"]}}"#, "stateless").await;
    check(r#"{"id":0,"result":{"supportedVersions":["2025-11-25"]}}"#, "handshake").await;
    check(r#"{"id":0,"error":{"code":-32601,"message":"what?"}}"#, "handshake").await;
}

#[tokio::test(start_paused = true)]
async fn n01_a_handshake_that_was_refused_opened_nothing() {
    let check = async |answers: &[&str], era: &str| {
        let mut stage = Stage::new();
        for answer in answers {
            stage.up(r#"{"id":0,"method":"initialize","params":{}}"#).await;
            stage.down(answer).await;
        }
        stage.up(&call(1)).await;
        stage.down(r#"{"method":"notifications/message","params":{"data":"x"}}"#).await;
        assert_eq!(era_of(&mut stage, answers.len() + 2).await, era, "{answers:?}");
    };
    let (refused, taken) =
        (r#"{"id":0,"error":{"code":-32022,"message":"no"}}"#, r#"{"id":0,"result":{"capabilities":{}}}"#);
    check(&[refused], "stateless").await;
    check(&[taken], "handshake").await;
    check(&[taken, refused], "handshake").await;
    check(&[refused, taken], "handshake").await;
}

#[tokio::test(start_paused = true)]
async fn n01_cancels_and_progress_have_the_era_of_the_request_they_name() {
    let mut stage = Stage::new();
    stage.up(r#"{"id":0,"method":"initialize","params":{}}"#).await;
    let line = call(1).replace(r#""_meta":{"#, r#""_meta":{"progressToken":"p","#);
    stage.up(&line).await;
    stage.down(r#"{"method":"notifications/progress","params":{"progressToken":"p","progress":1}}"#).await;
    let cancel = |id: &str| format!(r#"{{"method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#);
    stage.up(&cancel("1")).await;
    stage.up(&cancel("1")).await;
    stage.up(&cancel("0")).await;
    stage.up(&cancel("77")).await;
    let mut eras = Vec::new();
    for number in 3..=7 {
        eras.push(era_of(&mut stage, number).await);
    }
    assert_eq!(eras, ["stateless", "stateless", "stateless", "handshake", "handshake"]);
}

#[tokio::test(start_paused = true)]
async fn n01_every_event_of_a_held_call_says_its_era() {
    let mut stage = Stage::armed(&[r#"{"kind":"tool"}"#]);
    stage.up(r#"{"id":0,"method":"initialize","params":{}}"#).await;
    stage.host.say(&call(1)).await;
    stage.paused(1).await;
    stage.resume(1, r#""action":"continue","input":7"#);
    pass(1).await;
    stage.host.say(r#"{"method":"notifications/cancelled","params":{"requestId":1}}"#).await;
    pass(1).await;
    let mut kinds = Vec::new();
    for event in stage.events().await {
        let payload = event.payload();
        let of_call = payload.view().get("pauseId").is_some() || format!("{payload:?}").contains("tool:t1");
        if of_call {
            assert!(format!("{payload:?}").contains(r#""era":"stateless""#), "{} {payload:?}", event.kind());
            kinds.push(event.kind());
        }
    }
    assert_eq!(kinds, ["node.started", "exec.paused", "exec.refused", "exec.resumed", "node.finished"]);
}

#[tokio::test(start_paused = true)]
async fn n02_discover_and_initialize_name_the_server() {
    let check = async |ask: &str, answer: &str| {
        let mut stage = Stage::new();
        stage.up(ask).await;
        stage.down(answer).await;
        let hints: Vec<String> = stage
            .events()
            .await
            .iter()
            .filter(|event| event.kind() == "graph.hint")
            .map(|event| format!("{:?}", event.payload()))
            .collect();
        assert_eq!(hints.len(), 2, "{hints:?}");
        assert_eq!(hints[1], r#"{"nodes":[{"nodeId":"mcp:session","kind":"server","name":"the server"}]}"#);
    };
    check(
        r#"{"id":0,"method":"initialize","params":{}}"#,
        r#"{"id":0,"result":{"serverInfo":{"name":"the server","version":"1"}}}"#,
    )
    .await;
    check(
        r#"{"id":0,"method":"server/discover"}"#,
        r#"{"id":0,"result":{"supportedVersions":[],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"the server"}}}}"#,
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn n04_what_nobody_knows_passes_untouched_held_or_not() {
    let asked = r#"{"x":[1e400],"id":1,"method":"tools/call","extensions":{"com.example/x":{"a":-0}},"params":{"name":"t","new":{"__proto__":1},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"com.example/y":{}},"later":9007199254740993},"com.example/z":1.0}}}"#;
    let answer = r#"{"id":1,"y":null,"result":{"resultType":"complete","content":[{"type":"hologram","n":1e400}],"extensions":{"q":{}},"_meta":{"com.example/z":"\ud800"}}}"#;
    let mut stage = Stage::armed(&[r#"{"kind":"tool"}"#, r#"{"kind":"tool","point":"after"}"#]);
    stage.host.say(asked).await;
    stage.paused(1).await;
    stage.resume(1, r#""action":"continue""#);
    assert_eq!(stage.server.hear().await, asked);
    stage.server.say(answer).await;
    stage.paused(2).await;
    stage.resume(2, r#""action":"continue""#);
    assert_eq!(stage.host.hear().await, answer);
    let (offer, taken) = (
        r#"{"id":2,"method":"initialize","params":{"capabilities":{"later":{"a":1.50}},"extensions":{}}}"#,
        r#"{"id":2,"result":{"capabilities":{"later":{"b":1e999}},"instructions":"\ud83d"}}"#,
    );
    stage.host.say(offer).await;
    assert_eq!(stage.server.hear().await, offer);
    stage.server.say(taken).await;
    assert_eq!(stage.host.hear().await, taken);
}

#[tokio::test(start_paused = true)]
async fn n09_a_server_that_asks_violates_the_era_and_is_relayed() {
    let mut stage = Stage::new();
    stage.up(&call(1)).await;
    stage.down(r#"{"id":5,"method":"sampling/createMessage","params":{}}"#).await;
    stage.up(r#"{"id":5,"result":{"role":"assistant"}}"#).await;
    stage.up(r#"{"id":77,"result":{}}"#).await;
    insta::assert_snapshot!(stage.story("node.started llm:sampling").await, @r"
    node.started llm:sampling mcp_2 in mcp:session
    node.error llm:sampling mcp_2 EraViolation: a server sends no requests in the stateless era
    node.finished llm:sampling mcp_2 ok
    node.started mcp:protocol mcp:protocol in mcp:session
    node.started mcp:response mcp_3 in mcp:protocol
    node.error mcp:response mcp_3 EraViolation: a client sends no answers in the stateless era
    node.finished mcp:response mcp_3 error
    ");
    stage.up(r#"{"id":0,"method":"initialize","params":{}}"#).await;
    stage.down(r#"{"id":6,"method":"roots/list"}"#).await;
    assert_eq!(stage.story("mcp:roots/list").await, "node.started mcp:roots/list mcp_5 in mcp:protocol");
}

#[tokio::test(start_paused = true)]
async fn n12_unknown_result_types_are_badged_and_relayed() {
    let mut stage = Stage::new();
    stage.up(&call(1)).await;
    stage.down(r#"{"id":1,"result":{"resultType":"later"}}"#).await;
    insta::assert_snapshot!(stage.story("node.error").await, @r"
    node.error tool:t1 mcp_1 UnknownResultType: result type: later
    node.finished tool:t1 mcp_1 ok
    ");
}

#[tokio::test(start_paused = true)]
async fn n10_subscriptions_stay_open_and_own_their_notifications() {
    let listen =
        |id: &str| format!(r#"{{"id":{id},"method":"subscriptions/listen","params":{{"notifications":{{}},{META}}}}}"#);
    let told = |id: &str| {
        format!(
            r#"{{"method":"notifications/tools/list_changed","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
        )
    };
    let mut stage = Stage::new();
    stage.up(&listen("1")).await;
    stage.up(&listen("\"1\"")).await;
    stage.down(&told("1")).await;
    stage.down(&told("7")).await;
    stage.down(r#"{"id":1,"result":{"resultType":"complete"}}"#).await;
    stage.down(r#"{"method":"notifications/cancelled","params":{"requestId":"1"}}"#).await;
    insta::assert_snapshot!(stage.story("node.started mcp:notifications/tools/list_changed mcp_3").await, @r#"
    node.started mcp:notifications/tools/list_changed mcp_3 in mcp:subscriptions/listen notification=true
    node.finished mcp:notifications/tools/list_changed mcp_3 ok
    node.started mcp:notifications/tools/list_changed mcp_4 in mcp:protocol notification=true
    node.finished mcp:notifications/tools/list_changed mcp_4 ok
    node.finished mcp:subscriptions/listen mcp_1 ok
    node.started mcp:notifications/cancelled mcp_5 in mcp:protocol notification=true
    node.finished mcp:notifications/cancelled mcp_5 ok
    node.finished mcp:subscriptions/listen mcp_2 ok
    "#);
}

#[tokio::test(start_paused = true)]
async fn n10_a_subscription_that_is_open_at_a_clean_end_has_ended_well() {
    let mut stage = Stage::new();
    stage.up(&format!(r#"{{"id":1,"method":"subscriptions/listen","params":{{"notifications":{{}},{META}}}}}"#)).await;
    stage.up(&call(2)).await;
    stage.close().await;
    let story = stage.story("node.started mcp:subscriptions/listen").await;
    assert!(story.contains("node.finished mcp:subscriptions/listen mcp_1 ok"), "{story}");
    assert!(story.contains("node.error tool:t2 mcp_2 McpServerExited"), "{story}");
    assert_eq!(stage.terminal().await, "proxy: session over: 1 unanswered request\n");
}

const HANDLE: &str = r#"{"id":1,"result":{"resultType":"task","taskId":"job","status":"working"}}"#;
const GET: &str = r#"{"id":2,"method":"tasks/get","params":{"taskId":"job"}}"#;

#[tokio::test(start_paused = true)]
async fn n12_the_handle_of_a_task_is_not_its_result() {
    let mut stage = Stage::armed(&[r#"{"kind":"tool","point":"after"}"#]);
    stage.up(&call(1)).await;
    stage.down(HANDLE).await;
    stage.up(GET).await;
    stage.down(r#"{"id":2,"result":{"taskId":"job","status":"working"}}"#).await;
    stage.up(GET).await;
    stage.server.say(r#"{"id":2,"result":{"taskId":"job","status":"completed","result":{"content":[]}}}"#).await;
    assert_eq!(stage.paused(1).await, "tool:t1 after");
    stage.resume(1, r#""action":"inject","output":"x""#);
    assert_eq!(
        stage.host.hear().await,
        r#"{"id":2,"result":{"taskId":"job","status":"completed","result":{"content":[{"type":"text","text":"x"}],"resultType":"complete"}}}"#
    );
    insta::assert_snapshot!(stage.story("exec.resumed").await, @r#"
    exec.resumed inject
    node.finished tool:t1 mcp_1 ok injected=true gatedAt="after"
    node.finished mcp:tasks/get mcp_3 ok
    "#);
}

#[tokio::test(start_paused = true)]
async fn n12_a_task_that_fails_or_is_cancelled_ends_its_call() {
    let check = async |result: &str, story: &str| {
        let mut stage = Stage::new();
        stage.up(&call(1)).await;
        stage.down(HANDLE).await;
        stage.up(GET).await;
        stage.down(&format!(r#"{{"id":2,"result":{result}}}"#)).await;
        assert!(stage.story("node.error tool:t1").await.starts_with(story));
    };
    check(
        r#"{"taskId":"job","status":"failed","error":{"code":7,"message":"m"}}"#,
        "node.error tool:t1 mcp_1 JsonRpcError(7): m\nnode.finished tool:t1 mcp_1 error",
    )
    .await;
    check(
        r#"{"taskId":"job","status":"cancelled"}"#,
        "node.error tool:t1 mcp_1 McpTaskCancelled: the task was cancelled\nnode.finished tool:t1 mcp_1 error",
    )
    .await;
}
