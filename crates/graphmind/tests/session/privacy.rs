//! P05, P06, L14: what is hidden is hidden in every frame, and the program never notices.

use lockgate_graphmind::{Hide, Ready, SessionConfig};
use lockgate_testkit::hub::{Ack, FakeHub, Manner};

use crate::kit::{App, config, environment, soon};

#[tokio::test]
async fn p05_frames_are_hidden_before_they_are_kept() {
    let hub = FakeHub::start(Manner::Acks(Ack::plain())).await;
    let hide = Hide { outputs: true, ..Hide::NOTHING };
    let environment = environment(&[("GRAPHMIND_HIDE_INPUTS", "yes")]);
    let app = App::attached_with(SessionConfig { hide, environment, ..config(&hub.url()) }).await;
    assert_eq!(app.echo("t", r#"{"key":"s3cret"}"#).await.unwrap().as_bytes(), br#"{"key":"s3cret"}"#);
    hub.nth("node.finished", 1).await;
    hub.cut().await;
    app.attachment(Ready::No).await;
    app.attachment(Ready::Yes).await;
    hub.nth("node.finished", 2).await;
    let frames = hub.frames();
    assert!(frames.iter().all(|seen| !seen.text.contains("s3cret")));
    assert_eq!(frames.iter().filter(|seen| seen.text.contains("__REDACTED__")).count(), 4);
}

#[tokio::test]
async fn p06_the_program_runs_with_the_real_and_with_the_edited_value() {
    let hub = FakeHub::start(Manner::Acks(Ack::arming("[{}]"))).await;
    let hide = Hide { inputs: true, outputs: true, ..Hide::NOTHING };
    let app = App::attached_with(SessionConfig { hide, ..config(&hub.url()) }).await;
    let span = lockgate_graphmind::Span {
        edit: Some(lockgate_gate::Edit::any()),
        ..lockgate_graphmind::Span::new(lockgate_protocol::debug::NodeKind::Tool, "t")
            .input(crate::kit::raw(r#"{"key":"s3cret"}"#))
    };
    let work = app.session.span(span, async |input| Ok::<_, lockgate_graphmind::Stopped>(input.unwrap()));
    let viewer = async {
        let pause = hub.nth("exec.paused", 1).await.field("pauseId");
        hub.control(
            "exec.resume",
            &format!(r#"{{"pauseId":"{pause}","action":"continue","input":{{"key":"0ther"}}}}"#),
        )
        .await;
    };
    let (result, ()) = soon("the call", async { tokio::join!(work, viewer) }).await;
    assert_eq!(result.unwrap().as_bytes(), br#"{"key":"0ther"}"#);
    let resumed = hub.nth("exec.resumed", 1).await;
    assert_eq!(resumed.field("edited"), r#"{"after":"__REDACTED__"}"#);
    assert_eq!(resumed.field("redaction"), r#"{"count":1,"keys":["edited"]}"#);
    hub.nth("node.finished", 1).await;
    assert!(hub.frames().iter().all(|seen| !seen.text.contains("s3cret") && !seen.text.contains("0ther")));
}

#[tokio::test]
async fn l14_a_hidden_input_has_no_fingerprint() {
    let hub = FakeHub::start(Manner::Acks(Ack::plain())).await;
    let hide = Hide { tool_args: true, ..Hide::NOTHING };
    let app = App::attached_with(SessionConfig { hide, ..config(&hub.url()) }).await;
    for _ in 0..2 {
        app.echo("t", r#"{"x":7}"#).await.unwrap();
    }
    let third = app.echoing("t", r#"{"x":7}"#);
    let hold = hub.nth("exec.paused", 1).await;
    assert!(hold.field("loop").ends_with(r#""fingerprint":"__REDACTED__"}"#), "{}", hold.payload);
    hub.resume(&hold.field("pauseId"), "continue").await;
    soon("the third", third).await.unwrap().unwrap();
}
