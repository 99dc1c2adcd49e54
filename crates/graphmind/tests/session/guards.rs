//! B03: whatever ends a guard's hold by itself refuses, where a debugger's hold would go on.

use std::sync::Arc;
use std::time::Duration;

use lockgate_gate::{Actions, Call, Guard, Hold, OldHub, Policy, PolicyRefusal, Stop, Verdict};
use lockgate_graphmind::{Enabled, SessionConfig, Stopped};
use lockgate_protocol::debug::{GuardHold, ResumeAction};
use lockgate_testkit::hub::{Ack, FakeHub, Manner};

use crate::kit::{App, config, soon};

/// Holds every call of `guarded` for as long as it is told.
struct Lock(Duration);

impl Policy for Lock {
    fn judge(&self, call: &Call, at: Stop) -> Verdict {
        if at != Stop::Before || &*call.node.name != "guarded" {
            return Verdict::Pass;
        }
        let shown = GuardHold { policy: "lock".into(), cause: "changed".into(), detail: None };
        let guard = Guard {
            review: self.0,
            allow: Actions::NONE.with(ResumeAction::Continue),
            old_hub: OldHub::Refuse,
            approve: None,
            refusal: Arc::new(|ending| PolicyRefusal {
                code: -32_001,
                message: format!("locked: {ending:?}"),
                data: None,
            }),
        };
        Verdict::Hold(Hold::guarded(shown, Arc::new(guard)))
    }
}

fn guarded(url: &str, review: Duration) -> SessionConfig {
    SessionConfig { policies: vec![Arc::new(Lock(review))], ..config(url) }
}

const LONG: Duration = Duration::from_secs(60);

async fn refused(call: tokio::task::JoinHandle<Result<lockgate_protocol::json::Raw, Stopped>>) -> String {
    soon("the call", call).await.expect("no panic").expect_err("a refusal").to_string()
}

#[tokio::test]
async fn b03_a_lost_link_aborts_a_guards_hold_and_continues_a_debuggers() {
    let hub = FakeHub::start(Manner::Acks(Ack::arming(r#"[{"name":"plain"}]"#))).await;
    let app = App::attached_with(guarded(&hub.url(), LONG)).await;
    let (guarded, plain) = (app.echoing("guarded", "1"), app.echoing("plain", "1"));
    hub.nth("exec.paused", 2).await;
    hub.cut().await;
    assert_eq!(refused(guarded).await, "locked: Left");
    soon("the other", plain).await.unwrap().unwrap();
    hub.nth("exec.resumed", 2).await;
    let frames = hub.frames();
    let ended = |node: &str| {
        let paused = frames.iter().find(|seen| seen.kind == "exec.paused" && seen.field("nodeId") == node).unwrap();
        let pause = paused.field("pauseId");
        frames
            .iter()
            .find(|seen| seen.kind == "exec.resumed" && seen.field("pauseId") == pause)
            .unwrap()
            .field("action")
    };
    assert_eq!([ended("tool:guarded"), ended("tool:plain")], ["abort", "continue"]);
}

#[tokio::test]
async fn b03_time_the_last_watcher_and_the_end_of_the_session_abort_it_too() {
    let hub = FakeHub::start(Manner::Acks(Ack::plain())).await;
    let app = App::attached_with(guarded(&hub.url(), Duration::from_millis(50))).await;
    assert_eq!(refused(app.echoing("guarded", "1")).await, "locked: TimedOut");

    let app = App::attached_with(guarded(&hub.url(), LONG)).await;
    let call = app.echoing("guarded", "1");
    let hold = hub.nth("exec.paused", 2).await;
    assert_eq!(hold.field("hold"), r#"{"policy":"lock","cause":"changed"}"#);
    assert_eq!(hold.field("reason"), "breakpoint");
    hub.control("watch.set", r#"{"watched":false}"#).await;
    assert_eq!(refused(call).await, "locked: Left");

    let app = App::attached_with(guarded(&hub.url(), LONG)).await;
    let call = app.echoing("guarded", "1");
    hub.nth("exec.paused", 3).await;
    app.session.dispose();
    assert_eq!(refused(call).await, "locked: Left");
    hub.nth("exec.resumed", 3).await;
    assert!(hub.frames().iter().filter(|seen| seen.kind == "exec.resumed").all(|seen| seen.field("action") == "abort"));
}

#[tokio::test]
async fn b04_where_nobody_can_come_it_is_refused_at_once() {
    let hub = FakeHub::start(Manner::HangsUp).await;
    let app = App::with(guarded(&hub.url(), LONG));
    assert_eq!(refused(app.echoing("guarded", "1")).await, "locked: NobodyThere");
    let disabled = App::with(SessionConfig { enabled: Some(Enabled::No), ..guarded(&hub.url(), LONG) });
    assert_eq!(refused(disabled.echoing("guarded", "1")).await, "locked: NobodyThere");
    soon("what is not guarded", disabled.echo("plain", "1")).await.unwrap();
}

#[tokio::test]
async fn a_guard_that_refuses_is_an_error_of_the_call() {
    let hub = FakeHub::start(Manner::Acks(Ack { watched: Some(false), ..Ack::plain() })).await;
    let app = App::attached_with(guarded(&hub.url(), LONG)).await;
    assert_eq!(refused(app.echoing("guarded", "1")).await, "locked: NobodyThere");
    let failed = hub.nth("node.error", 1).await;
    assert_eq!(failed.field("error"), r#"{"name":"Refused","message":"locked: NobodyThere"}"#);
    assert_eq!(hub.nth("node.finished", 1).await.field("status"), "error");
}
