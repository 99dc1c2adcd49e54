//! The shape of a session for viewers, from its first event to its last.

use super::stage::{CALL, RESULT, Stage, Waits, pass};
use crate::relay::{Outside, State, Told};
use crate::trace::Trace;

#[tokio::test(start_paused = true)]
async fn a_whole_session() {
    let mut stage = Stage::new();
    stage.up(r#"{"id":0,"method":"initialize","params":{"clientInfo":{"name":"host"}}}"#).await;
    stage.down(r#"{"id":0,"result":{}}"#).await;
    stage.up(r#"{"method":"notifications/initialized"}"#).await;
    stage.up(CALL).await;
    stage.up(&CALL.replace(r#""id":1"#, r#""id":2"#)).await;
    stage.down(RESULT).await;
    assert_eq!(stage.close().await, State::Over);
    insta::assert_snapshot!(stage.story("run.started").await, @r"
    run.started
    graph.hint
    node.started mcp:session mcp:session
    node.started mcp:protocol mcp:protocol in mcp:session
    node.started mcp:initialize mcp_1 in mcp:protocol
    node.finished mcp:initialize mcp_1 ok
    node.started mcp:notifications/initialized mcp_2 in mcp:protocol notification=true
    node.finished mcp:notifications/initialized mcp_2 ok
    node.started tool:pay mcp_3 in mcp:session
    node.started tool:pay mcp_4 in mcp:session
    node.finished tool:pay mcp_3 ok
    node.error tool:pay mcp_4 McpServerExited: the server ended without an answer
    node.finished tool:pay mcp_4 error
    node.finished mcp:protocol mcp:protocol ok
    node.finished mcp:session mcp:session ok
    run.finished ok
    ");
    insta::assert_snapshot!(stage.payload("node.finished", "mcp:protocol").await, @r#"{"nodeId":"mcp:protocol","instanceId":"mcp:protocol","durationMs":0,"status":"ok","output":{"calls":2,"errors":0,"stdoutNoise":0}}"#);
    insta::assert_snapshot!(stage.payload("node.started", "mcp:session").await, @r#"{"nodeId":"mcp:session","kind":"server","name":"server -v","instanceId":"mcp:session","input":{"command":"/bin/server","args":["-v"]},"transport":"stdio"}"#);
    assert_eq!(stage.terminal().await, "proxy: session over: 1 unanswered request\n");
}

#[tokio::test(start_paused = true)]
async fn a_run_is_of_the_app_that_its_server_makes_it() {
    let mut stage = Stage::new();
    let began = stage.events().await.first().expect("a run").payload();
    insta::assert_snapshot!(format!("{began:?}"), @r#"{"app":"mcp-proxy: server -v","sdk":{"name":"mcp-proxy","version":"0"},"meta":{"name":"mcp-proxy: server -v","transport":"stdio","command":"/bin/server","args":["-v"]}}"#);
}

#[tokio::test(start_paused = true)]
async fn a_session_without_work_has_no_protocol_group_and_says_nothing() {
    let mut stage = Stage::new();
    stage.close().await;
    insta::assert_snapshot!(stage.story("run.started").await, @r"
    run.started
    graph.hint
    node.started mcp:session mcp:session
    node.finished mcp:session mcp:session ok
    run.finished ok
    ");
    assert_eq!(stage.terminal().await, "");
}

#[tokio::test(start_paused = true)]
async fn noise_is_shown_counted_and_relayed() {
    let mut stage = Stage::new();
    for number in 0..30 {
        stage.down(&format!("\u{1b}[1mlog line {number}\u{1b}[0m {}", "x".repeat(300))).await;
    }
    stage.up("not json either").await;
    stage.close().await;
    let story = stage.story("run.started").await;
    assert_eq!(story.matches("StdoutNoise").count(), 25, "{story}");
    assert!(stage.payload("node.finished", "mcp:protocol").await.contains(r#""stdoutNoise":30"#));
    let said = stage.terminal().await;
    let first = said.lines().next().expect("a line");
    assert!(
        first.starts_with("proxy: the server wrote something that is no message to stdout: \"\\u001b[1mlog line 0"),
        "{first}"
    );
    assert!(first.len() < 320 && first.ends_with("\"…"), "{first}");
    assert!(
        said.ends_with("proxy: session over: 30 lines of stdout noise, 1 unparsable line from the client\n"),
        "{said}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_echoes_requests_counts_none_twice() {
    let mut stage = Stage::new();
    stage.up(CALL).await;
    stage.down(CALL).await;
    stage.up(RESULT).await;
    stage.down(RESULT).await;
    insta::assert_snapshot!(stage.story("node.started tool:pay").await, @r"
    node.started tool:pay mcp_1 in mcp:session
    node.started mcp:protocol mcp:protocol in mcp:session
    node.started mcp:tools/call mcp_2 in mcp:protocol
    node.finished mcp:tools/call mcp_2 ok
    node.finished tool:pay mcp_1 ok
    ");
}

#[tokio::test(start_paused = true)]
async fn with_trace_each_frame_is_a_line() {
    let mut stage = Stage::shaped(|shape| shape.trace = Trace::On);
    stage.up(CALL).await;
    stage.down(RESULT).await;
    stage.close().await;
    insta::assert_snapshot!(stage.terminal().await, @r"
    proxy: -> tools/call id 1 (94 bytes)
    proxy: <- result id 1 (49 bytes)
    ");
}

#[tokio::test(start_paused = true)]
async fn waiting_for_the_debugger_everything_is_read_and_nothing_looked_at() {
    let mut stage = Stage::shaped(|shape| {
        shape.waits = Waits::ForDebugger;
        shape.pipe = 256;
    });
    let many: String = (0..3_000).map(|number| format!("line {number}\n")).collect();
    stage.server.write(many.as_bytes()).await;
    stage.host.say(CALL).await;
    pass(500).await;
    assert!(stage.host.hears_nothing().await && stage.server.hears_nothing().await);
    stage.attach();
    stage.arm(&["{}"]);
    stage.outside(Outside::Ready).await;
    assert_eq!(stage.paused(1).await, "tool:pay before");
    for number in 0..3_000 {
        assert_eq!(stage.host.hear().await, format!("line {number}"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_dies_while_we_wait_is_not_waited_for() {
    let mut stage = Stage::shaped(|shape| shape.waits = Waits::ForDebugger);
    stage.server.write(b"last words").await;
    assert_eq!(stage.close().await, State::Over);
    assert_eq!(stage.host.hear_rest().await, b"last words");
}

#[tokio::test(start_paused = true)]
async fn a_slow_host_gets_everything_a_dead_server_had_said() {
    let mut stage = Stage::shaped(|shape| shape.pipe = 1_000);
    let many: String =
        (0..2_000).map(|number| format!("{{\"number\":{number},\"text\":\"{}\"}}\n", "x".repeat(400))).collect();
    let (said, pipe) = many.split_at(many.len() - 900);
    let Stage { host, server, .. } = &mut stage;
    let mut heard = Vec::new();
    let hearing = async {
        while heard.len() < 1_000 {
            heard.extend(host.hear_bytes().await.expect("a line"));
        }
    };
    // All that the proxy takes, while its host takes next to nothing.
    let saying = tokio::time::timeout(std::time::Duration::from_millis(50), server.write(said.as_bytes()));
    let (saying, ()) = tokio::join!(saying, hearing);
    assert!(saying.is_err() && !pipe.is_empty(), "the host is slower than its server");
    stage.outside(Outside::ServerGone).await;
    pass(5_000).await;
    assert!(stage.is_running());
    stage.server.hang_up().await;
    heard.extend(stage.host.hear_rest().await);
    assert!(heard.len() > 250_000 && many.as_bytes().starts_with(&heard), "{}", heard.len());
    assert_eq!(stage.ended().await, State::Over);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_hangs_up_is_noticed_although_the_server_takes_nothing() {
    let mut stage = Stage::shaped(|shape| shape.pipe = 1_000);
    let much = format!("{{\"text\":\"{}\"}}\n", "x".repeat(263_500));
    let said = tokio::time::timeout(std::time::Duration::from_millis(50), stage.host.write(much.as_bytes())).await;
    assert!(said.is_ok(), "the proxy took it");
    stage.host.hang_up().await;
    pass(29_000).await;
    assert_eq!(stage.told(), None);
    pass(1_001).await;
    assert_eq!(stage.told(), Some(Told::ClientGone));
}

#[tokio::test(start_paused = true)]
async fn what_a_dead_server_left_behind_may_hold_its_pipe_open() {
    let mut stage = Stage::new();
    stage.down(r#"{"method":"a"}"#).await;
    stage.outside(Outside::ServerGone).await;
    stage.server.say(r#"{"method":"b"}"#).await;
    assert_eq!(stage.ended().await, State::Over);
    assert_eq!(stage.host.hear().await, r#"{"method":"b"}"#);
}
