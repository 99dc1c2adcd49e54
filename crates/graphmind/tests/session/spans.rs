//! The exact sequences around a function: before, run, after or error, and what viewers do there (wire §6.4).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lockgate_gate::Edit;
use lockgate_graphmind::{Failure, SessionConfig, Shape, Span, Stopped};
use lockgate_protocol::debug::{NodeKind, RefusalCode};
use lockgate_protocol::edit::Refusal;
use lockgate_protocol::json::Raw;
use lockgate_testkit::hub::{Ack, FakeHub, Manner, Seen};

use crate::kit::{App, config, raw, soon, story};

#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error("HTTP 500 from rates")]
    Rates,
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// A tool that fails as often as it is told, in a run, and what came of it.
struct Stage {
    hub: FakeHub,
    app: App,
    calls: Arc<AtomicUsize>,
}

impl Stage {
    async fn new(breakpoints: &str) -> Stage {
        let hub = FakeHub::start(Manner::Acks(Ack::arming(breakpoints))).await;
        let app = App::attached(&hub).await;
        Stage { hub, app, calls: Arc::default() }
    }

    /// Plays `resumes` (`action` and what goes with it) against the holds as they come.
    async fn play(&self, failures: usize, resumes: &[(&str, &str)]) -> (Result<Raw, Trouble>, String) {
        let work = self.app.session.run("trip", async {
            let span = Span { edit: Some(Edit::any()), ..Span::new(NodeKind::Tool, "flaky").input(raw(r#"{"x":21}"#)) };
            self.app
                .session
                .span(span, |input| {
                    let fails = self.calls.fetch_add(1, Ordering::Relaxed) < failures;
                    let result = if fails { Err(Trouble::Rates) } else { Ok(input.unwrap_or_else(Raw::null)) };
                    async move { result }
                })
                .await
        });
        let viewer = async {
            for (n, (action, rest)) in resumes.iter().enumerate() {
                let pause = self.hub.nth("exec.paused", n + 1).await.field("pauseId");
                self.hub.control("exec.resume", &format!(r#"{{"pauseId":"{pause}","action":"{action}"{rest}}}"#)).await;
            }
        };
        let (result, ()) = soon("the call", async { tokio::join!(work, viewer) }).await;
        self.hub.nth("run.finished", 1).await;
        let frames: Vec<Seen> = self.hub.frames().into_iter().filter(|seen| seen.kind != "run.started").collect();
        (result, story(&frames))
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }
}

const BEFORE: &str = r#"[{"name":"flaky"}]"#;
const AFTER: &str = r#"[{"name":"flaky","point":"after"}]"#;
const ERROR: &str = r#"[{"point":"error"}]"#;

#[tokio::test]
async fn before_inject_never_calls_the_function() {
    let stage = Stage::new(BEFORE).await;
    let (result, story) = stage.play(0, &[("inject", r#","output":{"fake":true},"requestId":"req-1""#)]).await;
    assert_eq!((result.unwrap().as_bytes(), stage.calls()), (&br#"{"fake":true}"#[..], 0));
    insta::assert_snapshot!(story, @r#"
    node.started {"nodeId":"tool:flaky","kind":"tool","name":"flaky","instanceId":"[I]","input":{"x":21}}
    exec.paused {"pauseId":"[P]","nodeId":"tool:flaky","point":"before","reason":"breakpoint","editable":true,"instanceId":"[I]"}
    exec.resumed {"pauseId":"[P]","action":"inject","requestId":"req-1"}
    node.finished {"nodeId":"tool:flaky","instanceId":"[I]","durationMs":[MS],"status":"ok","output":{"fake":true},"injected":true,"injectedAt":"before","heldMs":[MS]}
    run.finished {"status":"ok"}
    "#);
}

#[tokio::test]
async fn after_inject_replaces_the_answer() {
    let stage = Stage::new(AFTER).await;
    let (result, story) = stage.play(0, &[("inject", r#","output":42"#)]).await;
    assert_eq!((result.unwrap().as_bytes(), stage.calls()), (&b"42"[..], 1));
    assert!(story.contains(r#""output":42,"injected":true,"injectedAt":"after""#), "{story}");
}

#[tokio::test]
async fn error_retry_success_is_one_start_one_error_and_one_end() {
    let stage = Stage::new(ERROR).await;
    let (result, story) = stage.play(1, &[("retry", "")]).await;
    assert_eq!((result.unwrap().as_bytes(), stage.calls()), (&br#"{"x":21}"#[..], 2));
    insta::assert_snapshot!(story, @r#"
    node.started {"nodeId":"tool:flaky","kind":"tool","name":"flaky","instanceId":"[I]","input":{"x":21}}
    node.error {"nodeId":"tool:flaky","instanceId":"[I]","error":{"name":"Trouble","message":"HTTP 500 from rates"},"heldMs":0}
    exec.paused {"pauseId":"[P]","nodeId":"tool:flaky","point":"error","reason":"error","editable":true,"instanceId":"[I]"}
    exec.resumed {"pauseId":"[P]","action":"retry"}
    node.finished {"nodeId":"tool:flaky","instanceId":"[I]","durationMs":[MS],"status":"ok","output":{"x":21},"heldMs":[MS]}
    run.finished {"status":"ok"}
    "#);
}

#[tokio::test]
async fn a_retry_passes_the_before_gate_again_and_keeps_an_edit() {
    let stage = Stage::new(r#"[{"name":"flaky"},{"point":"error"}]"#).await;
    let edit = ("continue", r#","input":{"x":22}"#);
    let (result, story) = stage.play(1, &[edit, ("retry", ""), ("continue", "")]).await;
    assert_eq!((result.unwrap().as_bytes(), stage.calls()), (&br#"{"x":22}"#[..], 2));
    insta::assert_snapshot!(story, @r#"
    node.started {"nodeId":"tool:flaky","kind":"tool","name":"flaky","instanceId":"[I]","input":{"x":21}}
    exec.paused {"pauseId":"[P]","nodeId":"tool:flaky","point":"before","reason":"breakpoint","editable":true,"instanceId":"[I]"}
    exec.resumed {"pauseId":"[P]","action":"continue","edited":{"after":{"x":22}}}
    node.error {"nodeId":"tool:flaky","instanceId":"[I]","error":{"name":"Trouble","message":"HTTP 500 from rates"},"heldMs":[MS]}
    exec.paused {"pauseId":"[P]","nodeId":"tool:flaky","point":"error","reason":"error","editable":true,"instanceId":"[I]"}
    exec.resumed {"pauseId":"[P]","action":"retry"}
    exec.paused {"pauseId":"[P]","nodeId":"tool:flaky","point":"before","reason":"breakpoint","editable":true,"instanceId":"[I]"}
    exec.resumed {"pauseId":"[P]","action":"continue"}
    node.finished {"nodeId":"tool:flaky","instanceId":"[I]","durationMs":[MS],"status":"ok","output":{"x":22},"heldMs":[MS]}
    run.finished {"status":"ok"}
    "#);
}

#[tokio::test]
async fn error_inject_rescues_the_call() {
    let stage = Stage::new(ERROR).await;
    let (result, story) = stage.play(1, &[("inject", r#","output":"rescued""#)]).await;
    assert_eq!(result.unwrap().as_bytes(), br#""rescued""#);
    assert!(story.contains(r#""status":"ok","output":"rescued","injected":true,"injectedAt":"error""#), "{story}");
}

#[tokio::test]
async fn error_continue_passes_the_error_on() {
    let stage = Stage::new(ERROR).await;
    let (result, story) = stage.play(1, &[("continue", "")]).await;
    assert!(matches!(result, Err(Trouble::Rates)));
    insta::assert_snapshot!(story, @r#"
    node.started {"nodeId":"tool:flaky","kind":"tool","name":"flaky","instanceId":"[I]","input":{"x":21}}
    node.error {"nodeId":"tool:flaky","instanceId":"[I]","error":{"name":"Trouble","message":"HTTP 500 from rates"},"heldMs":0}
    exec.paused {"pauseId":"[P]","nodeId":"tool:flaky","point":"error","reason":"error","editable":true,"instanceId":"[I]"}
    exec.resumed {"pauseId":"[P]","action":"continue"}
    node.finished {"nodeId":"tool:flaky","instanceId":"[I]","durationMs":[MS],"status":"error","heldMs":[MS]}
    run.finished {"status":"error","error":{"name":"Trouble","message":"HTTP 500 from rates"}}
    "#);
}

#[tokio::test]
async fn without_a_breakpoint_a_failure_is_reported_and_not_held() {
    let stage = Stage::new("[]").await;
    let (result, story) = stage.play(1, &[]).await;
    assert!(matches!(result, Err(Trouble::Rates)));
    assert!(
        story.contains("node.error") && story.contains(r#""status":"error""#) && !story.contains("exec."),
        "{story}"
    );
}

#[tokio::test]
async fn abort_before_never_calls_the_function_and_aborts_the_run() {
    let stage = Stage::new(BEFORE).await;
    let (result, story) = stage.play(0, &[("abort", "")]).await;
    assert!(matches!(result, Err(Trouble::Stopped(Stopped::Aborted))));
    assert_eq!(stage.calls(), 0);
    insta::assert_snapshot!(story, @r#"
    node.started {"nodeId":"tool:flaky","kind":"tool","name":"flaky","instanceId":"[I]","input":{"x":21}}
    exec.paused {"pauseId":"[P]","nodeId":"tool:flaky","point":"before","reason":"breakpoint","editable":true,"instanceId":"[I]"}
    exec.resumed {"pauseId":"[P]","action":"abort"}
    node.finished {"nodeId":"tool:flaky","instanceId":"[I]","durationMs":[MS],"status":"aborted","heldMs":[MS]}
    run.finished {"status":"aborted","error":{"name":"AbortError","message":"aborted in the debugger"}}
    "#);
}

#[tokio::test]
async fn abort_after_keeps_the_output_on_record() {
    let stage = Stage::new(AFTER).await;
    let (result, story) = stage.play(0, &[("abort", "")]).await;
    assert!(matches!(result, Err(Trouble::Stopped(Stopped::Aborted))));
    assert!(story.contains(r#""status":"aborted","output":{"x":21},"heldMs""#), "{story}");
}

#[tokio::test]
async fn abort_at_an_error_ends_the_node_aborted() {
    let stage = Stage::new(ERROR).await;
    let (result, story) = stage.play(1, &[("abort", "")]).await;
    assert!(matches!(result, Err(Trouble::Stopped(Stopped::Aborted))));
    assert!(story.contains(r#""status":"aborted","heldMs""#), "{story}");
}

#[tokio::test]
async fn an_abort_inside_another_node_is_no_error_of_that_node() {
    let hub = FakeHub::start(Manner::Acks(Ack::arming(r#"[{"name":"inner"},{"point":"error"}]"#))).await;
    let app = App::attached(&hub).await;
    let work = app.session.run("nested", async {
        let inner = Span::new(NodeKind::Tool, "inner");
        app.session
            .span(Span::new(NodeKind::Agent, "outer"), |_| {
                app.session.span(inner.clone(), async |_| Ok::<_, Trouble>(Raw::null()))
            })
            .await
    });
    let viewer = async {
        let pause = hub.nth("exec.paused", 1).await.field("pauseId");
        hub.resume(&pause, "abort").await;
    };
    let (result, ()) = soon("the call", async { tokio::join!(work, viewer) }).await;
    assert!(matches!(result, Err(Trouble::Stopped(Stopped::Aborted))));
    hub.nth("run.finished", 1).await;
    let frames: Vec<Seen> = hub.frames().into_iter().filter(|seen| seen.kind != "run.started").collect();
    insta::assert_snapshot!(story(&frames), @r#"
    node.started {"nodeId":"agent:outer","kind":"agent","name":"outer","instanceId":"[I]"}
    node.started {"nodeId":"tool:inner","parentId":"agent:outer","kind":"tool","name":"inner","instanceId":"[I]"}
    exec.paused {"pauseId":"[P]","nodeId":"tool:inner","point":"before","reason":"breakpoint","instanceId":"[I]"}
    exec.resumed {"pauseId":"[P]","action":"abort"}
    node.finished {"nodeId":"tool:inner","instanceId":"[I]","durationMs":[MS],"status":"aborted","heldMs":[MS]}
    node.finished {"nodeId":"agent:outer","instanceId":"[I]","durationMs":[MS],"status":"aborted","heldMs":[MS]}
    run.finished {"status":"aborted","error":{"name":"AbortError","message":"aborted in the debugger"}}
    "#);
}

#[tokio::test]
async fn a_call_whose_future_is_dropped_is_reported_aborted() {
    let hub = FakeHub::start(Manner::Acks(Ack::plain())).await;
    let app = App::attached(&hub).await;
    let session = app.session.clone();
    let call = tokio::spawn(async move {
        session.span(Span::new(NodeKind::Tool, "t"), |_| std::future::pending::<Result<Raw, Stopped>>()).await
    });
    hub.nth("node.started", 1).await;
    call.abort();
    assert_eq!(hub.nth("node.finished", 1).await.field("status"), "aborted");
}

#[tokio::test]
async fn an_edit_is_checked_where_the_call_stands() {
    let hub = FakeHub::start(Manner::Acks(Ack::arming(BEFORE))).await;
    let app = App::attached(&hub).await;
    let here = Arc::new(std::sync::Mutex::new(None));
    let seen = Arc::clone(&here);
    let edit = Edit::new(move |proposed| {
        *seen.lock().unwrap() = lockgate_graphmind::Context::current().map(|context| context.run().to_string());
        let whole = proposed.view().get("x").is_some();
        whole.then_some(proposed).ok_or_else(|| Refusal::new(RefusalCode::Schema, "x is missing"))
    });
    let work = app.session.run("edits", async {
        let span = Span { edit: Some(edit), ..Span::new(NodeKind::Tool, "flaky").input(raw("{}")) };
        app.session.span(span, async |input| Ok::<_, Trouble>(input.unwrap())).await
    });
    let viewer = async {
        let pause = hub.nth("exec.paused", 1).await.field("pauseId");
        hub.control("exec.resume", &format!(r#"{{"pauseId":"{pause}","action":"continue","input":{{"y":1}}}}"#)).await;
        let refused = hub.nth("exec.refused", 1).await;
        assert_eq!((refused.field("code"), refused.field("message")), ("schema".to_owned(), "x is missing".to_owned()));
        hub.control("exec.resume", &format!(r#"{{"pauseId":"{pause}","action":"continue","input":{{"x":1}}}}"#)).await;
    };
    let (result, ()) = soon("the call", async { tokio::join!(work, viewer) }).await;
    assert_eq!(result.unwrap().as_bytes(), br#"{"x":1}"#);
    let run = hub.nth("run.started", 1).await.run;
    assert_eq!(here.lock().unwrap().clone(), Some(run));
}

#[tokio::test]
async fn any_type_of_result_can_stand_at_the_gate() {
    let hub = FakeHub::start(Manner::Acks(Ack::arming(r#"[{"point":"after"}]"#))).await;
    let app = App::attached_with(SessionConfig { ..config(&hub.url()) }).await;
    let shape = || Shape::<u32, Trouble> {
        write: |count| Some(raw(&count.to_string())),
        read: |value| {
            let count = value.and_then(|value| value.view().u64()).and_then(|count| u32::try_from(count).ok());
            count.ok_or_else(|| "not a count".to_owned())
        },
        describe: Failure::of,
    };
    let count = |output: &'static str, hold: usize| {
        let (app, hub) = (&app, &hub);
        async move {
            let work = app.session.span_as(Span::new(NodeKind::Custom, "count"), shape(), async |_| Ok(3));
            let viewer = async {
                let pause = hub.nth("exec.paused", hold).await.field("pauseId");
                hub.control("exec.resume", &format!(r#"{{"pauseId":"{pause}","action":"inject","output":{output}}}"#))
                    .await;
            };
            soon("the call", async { tokio::join!(work, viewer) }).await.0
        }
    };
    assert_eq!(count("41", 1).await.unwrap(), 41);
    let unfit = count("\"many\"", 2).await.unwrap_err();
    assert_eq!(unfit.to_string(), "injected value does not fit: not a count");
    let last = hub.nth("node.finished", 2).await;
    assert_eq!((last.field("status"), last.field("output")), ("error".to_owned(), String::new()));
    assert_eq!(
        hub.nth("node.error", 1).await.field("error"),
        r#"{"name":"Unfit","message":"injected value does not fit: not a count"}"#
    );
}
