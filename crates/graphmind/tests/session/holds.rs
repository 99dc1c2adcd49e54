//! Holds that need no breakpoint, and what ends a hold that nobody releases.

use std::time::Duration;

use lockgate_gate::{Presence, Watched};
use lockgate_graphmind::{Context, Session, SessionConfig, Span, Stopped};
use lockgate_protocol::debug::NodeKind;
use lockgate_protocol::json::Raw;
use lockgate_testkit::hub::{Ack, FakeHub, Manner, Seen};

use crate::kit::{App, config, raw, soon};

async fn plain() -> FakeHub {
    FakeHub::start(Manner::Acks(Ack::plain())).await
}

async fn paused(hub: &FakeHub, count: usize) -> Seen {
    hub.nth("exec.paused", count).await
}

fn held_ms(frames: &[Seen], node: &str) -> f64 {
    let mut finished = frames.iter().filter(|seen| seen.kind == "node.finished" && seen.field("nodeId") == node);
    finished.next().and_then(|seen| seen.field("heldMs").parse().ok()).expect("a finish with held time")
}

#[tokio::test]
async fn without_a_hub_nothing_can_hold_a_call_and_the_gate_says_so() {
    let (session, running) = Session::new(config("ws://127.0.0.1:9/ingest"));
    assert!(session.gate().is_open());
    drop(running);
    let hub = plain().await;
    let app = App::attached(&hub).await;
    assert!(!app.session.gate().is_open(), "a hub may arm what it likes");
}

#[tokio::test]
async fn l01_the_third_identical_call_is_held_with_the_numbers_of_the_real_starts() {
    let hub = plain().await;
    let app = App::attached(&hub).await;
    for n in 1..=2 {
        app.echo("t", r#"{"x":7}"#).await.unwrap();
        hub.nth("node.finished", n).await;
    }
    let third = app.echoing("t", r#"{"x":7}"#);
    let hold = paused(&hub, 1).await;
    let starts: Vec<u64> =
        hub.frames().iter().filter(|seen| seen.kind == "node.started").map(|seen| seen.seq).collect();
    assert_eq!(hold.field("reason"), "loop");
    assert_eq!(
        hold.field("loop"),
        format!(
            r#"{{"repeats":3,"firstSeq":{},"lastSeq":{},"fingerprint":"cd0aa2d2f130f1a224cc2e72cc3fbf9b"}}"#,
            starts[0], starts[2]
        )
    );
    hub.resume(&hold.field("pauseId"), "continue").await;
    soon("the third", third).await.unwrap().unwrap();
    let fourth = app.echoing("t", r#"{"x":7}"#);
    let again = paused(&hub, 2).await;
    assert!(
        again.field("loop").starts_with(&format!(r#"{{"repeats":4,"firstSeq":{},"#, starts[0])),
        "{}",
        again.payload
    );
    hub.resume(&again.field("pauseId"), "continue").await;
    soon("the fourth", fourth).await.unwrap().unwrap();
}

#[tokio::test]
async fn l15_the_published_fingerprints_hold_end_to_end() {
    let hub = plain().await;
    let app = App::attached(&hub).await;
    let vectors = [
        (
            "search",
            r#"{"b":1.0,"a":[true,null,"é\n"],"_meta":{"progressToken":3}}"#,
            "32de3199ef7655886cb32e96c2f7876e",
        ),
        ("n", r#"{"big":1e21,"small":1e-7,"neg":-0.0,"f":0.1}"#, "e4cbcb78253032b3d462d8d33783fa79"),
        ("x", "null", "524006f677f54d54ba64a37f079819c0"),
        ("x", "{}", "24cb86d4b055fd4cc8354369d41118f1"),
        ("u", "{\"\u{ffff}\":1,\"😀\":2,\"z\":3}", "bed8472a77f0dccf57ac14db57644e76"),
    ];
    for (n, (name, input, expected)) in vectors.into_iter().enumerate() {
        app.echo(name, input).await.unwrap();
        app.echo(name, input).await.unwrap();
        let third = app.echoing(name, input);
        let hold = paused(&hub, n + 1).await;
        assert!(hold.field("loop").contains(expected), "{name} {input}: {}", hold.payload);
        hub.resume(&hold.field("pauseId"), "continue").await;
        soon("the call", third).await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn l05_abort_at_a_loop_aborts_the_run() {
    let hub = plain().await;
    let app = App::attached(&hub).await;
    let work = app.session.run("loops", async {
        let abort = Context::current().unwrap().abort().clone();
        for _ in 0..2 {
            app.echo("t", "1").await?;
        }
        let third = app.echo("t", "1").await;
        assert!(abort.is_cancelled());
        third
    });
    let viewer = async { hub.resume(&paused(&hub, 1).await.field("pauseId"), "abort").await };
    let (result, ()) = soon("the run", async { tokio::join!(work, viewer) }).await;
    assert_eq!(result.unwrap_err(), Stopped::Aborted);
    assert_eq!(hub.nth("run.finished", 1).await.field("status"), "aborted");
}

#[tokio::test]
async fn l07_the_pause_timeout_and_a_disconnect_release_a_loop() {
    let hub = plain().await;
    let pause_timeout = Some(Duration::from_millis(50));
    let app = App::attached_with(SessionConfig { pause_timeout, ..config(&hub.url()) }).await;
    for _ in 0..3 {
        soon("the call", app.echo("t", "1")).await.unwrap();
    }
    assert_eq!(hub.nth("exec.resumed", 1).await.field("action"), "continue");

    let app = App::attached(&hub).await;
    for _ in 0..2 {
        app.echo("t", "1").await.unwrap();
    }
    let third = app.echoing("t", "1");
    paused(&hub, 2).await;
    hub.cut().await;
    soon("the call", third).await.unwrap().unwrap();
}

#[tokio::test]
async fn h08_the_pause_timeout_ends_a_hold_and_says_so() {
    let hub = FakeHub::start(Manner::Acks(Ack::arming("[{}]"))).await;
    let pause_timeout = Some(Duration::from_millis(80));
    let app = App::attached_with(SessionConfig { pause_timeout, ..config(&hub.url()) }).await;
    soon("the call", app.echo("t", "1")).await.unwrap();
    let (hold, resumed) = (paused(&hub, 1).await, hub.nth("exec.resumed", 1).await);
    assert!(hold.field("until").ends_with(r#""action":"continue","why":"timeout"}"#), "{}", hold.payload);
    assert_eq!(resumed.payload, format!(r#"{{"pauseId":"{}","action":"continue"}}"#, hold.field("pauseId")));
    hub.nth("node.finished", 1).await;
    let held = held_ms(&hub.frames(), "tool:t");
    assert!((80.0..1_000.0).contains(&held), "{held}");
}

#[tokio::test]
async fn d01_d09_held_time_is_on_the_call_and_on_the_node_around_it() {
    let hub = FakeHub::start(Manner::Acks(Ack::arming(r#"[{"kind":"tool"}]"#))).await;
    let app = App::attached(&hub).await;
    let work = app.session.span(Span::new(NodeKind::Agent, "around"), |_| app.echo("t", "1"));
    let viewer = async {
        let hold = paused(&hub, 1).await;
        tokio::time::sleep(Duration::from_millis(60)).await;
        hub.resume(&hold.field("pauseId"), "continue").await;
    };
    soon("the call", async { tokio::join!(work, viewer) }).await.0.unwrap();
    hub.nth("node.finished", 2).await;
    let frames = hub.frames();
    let (call, around) = (held_ms(&frames, "tool:t"), held_ms(&frames, "agent:around"));
    assert!(call >= 60.0 && (call - around).abs() < 0.011, "{call} and {around}");
    let finished = hub.nth("node.finished", 1).await;
    let duration: f64 = finished.field("durationMs").parse().unwrap();
    assert!(duration >= call, "wall clock, holds included: {duration} and {call}");
}

#[tokio::test]
async fn d07_a_hold_that_ended_with_the_link_counts() {
    let hub = FakeHub::start(Manner::Acks(Ack::arming("[{}]"))).await;
    let app = App::attached(&hub).await;
    let call = app.echoing("t", "1");
    paused(&hub, 1).await;
    tokio::time::sleep(Duration::from_millis(40)).await;
    hub.cut().await;
    soon("the call", call).await.unwrap().unwrap();
    hub.nth("node.finished", 1).await;
    let held = held_ms(&hub.frames(), "tool:t");
    assert!((40.0..1_000.0).contains(&held), "{held}");
}

#[tokio::test]
async fn s05_a_result_that_says_it_failed_is_held_and_can_be_replaced_or_tried_again() {
    let hub = plain().await;
    let app = App::attached(&hub).await;
    let mut results = [r#"{"isError":true}"#, r#"{"success":false}"#].into_iter();
    let work = app.session.span(Span::new(NodeKind::Tool, "t"), |_| {
        let result = raw(results.next().unwrap());
        async move { Ok::<Raw, Stopped>(result) }
    });
    let viewer = async {
        let first = paused(&hub, 1).await;
        assert_eq!((first.field("reason"), first.field("point")), ("breakpoint".to_owned(), "after".to_owned()));
        assert_eq!(first.field("smart"), r#"{"rule":"error-result","detail":"isError is true"}"#);
        hub.resume(&first.field("pauseId"), "retry").await;
        let second = paused(&hub, 2).await;
        assert_eq!(second.field("smart"), r#"{"rule":"error-result","detail":"success is false"}"#);
        let pause = second.field("pauseId");
        hub.control("exec.resume", &format!(r#"{{"pauseId":"{pause}","action":"inject","output":{{"ok":1}}}}"#)).await;
    };
    let (result, ()) = soon("the call", async { tokio::join!(work, viewer) }).await;
    assert_eq!(result.unwrap().as_bytes(), br#"{"ok":1}"#);
}

#[tokio::test]
async fn b06_attached_and_watched_are_told_apart() {
    let watched = |app: &App| match app.session.stats().presence {
        Presence::Attached { watched, .. } => watched,
        Presence::Detached => panic!("attached"),
    };
    for (watched_in_ack, capabilities, expected) in [
        (Some(true), Some(r#"["watch"]"#), Watched::Yes),
        (Some(false), Some(r#"["watch"]"#), Watched::No),
        (None, Some(r#"["watch"]"#), Watched::Unknown),
        (Some(false), Some(r#"["edit-input"]"#), Watched::Unknown),
        (Some(false), None, Watched::Unknown),
    ] {
        let hub_capabilities = capabilities.map(str::to_owned);
        let hub = FakeHub::start(Manner::Acks(Ack { watched: watched_in_ack, hub_capabilities, ..Ack::plain() })).await;
        let app = App::attached(&hub).await;
        assert_eq!(watched(&app), expected, "{watched_in_ack:?} {capabilities:?}");
        let mut presence = app.session.presence();
        presence.borrow_and_update();
        hub.control("watch.set", r#"{"watched":true}"#).await;
        hub.control("breakpoint.set", r#"{"matcher":{"name":"t"}}"#).await;
        let call = app.session.clone();
        let held = tokio::spawn(async move {
            for n in 0.. {
                let span = Span::new(NodeKind::Tool, "t").input(raw(&n.to_string()));
                call.span(span, async |_| Ok::<_, Stopped>(Raw::null())).await.unwrap();
                tokio::task::yield_now().await;
            }
        });
        paused(&hub, 1).await;
        let says = capabilities.is_some_and(|list| list.contains("watch"));
        assert_eq!(watched(&app), if says { Watched::Yes } else { Watched::Unknown });
        held.abort();
    }
}

#[tokio::test]
async fn b08_while_nobody_watches_patience_ends_a_hold() {
    let unwatched = Ack { watched: Some(false), ..Ack::arming("[{}]") };
    let hub = FakeHub::start(Manner::Acks(unwatched.clone())).await;
    let patience = Duration::from_millis(60);
    let app = App::attached_with(SessionConfig { patience, ..config(&hub.url()) }).await;
    soon("the call", app.echo("t", "1")).await.unwrap();
    assert!(paused(&hub, 1).await.field("until").ends_with(r#""why":"patience"}"#));
    assert_eq!(hub.nth("exec.resumed", 1).await.field("action"), "continue");
    hub.nth("node.finished", 1).await;
    assert!(held_ms(&hub.frames(), "tool:t") >= 60.0);

    // A watcher stops the clock, his leaving starts it again.
    let patience = Duration::from_millis(300);
    let app = App::attached_with(SessionConfig { patience, ..config(&hub.url()) }).await;
    let call = app.echoing("t", "1");
    paused(&hub, 2).await;
    hub.control("watch.set", r#"{"watched":true}"#).await;
    let moved = hub.nth("exec.until", 1).await;
    assert_eq!((moved.field("at"), moved.field("pauseId").is_empty()), (String::new(), false));
    tokio::time::sleep(patience + Duration::from_millis(50)).await;
    assert!(!call.is_finished(), "{}", crate::kit::story(&hub.frames()));
    hub.control("watch.set", r#"{"watched":false}"#).await;
    assert_eq!(hub.nth("exec.until", 2).await.field("why"), "patience");
    soon("the call", call).await.unwrap().unwrap();

    // No patience at all is no limit.
    let app = App::attached_with(SessionConfig { patience: Duration::ZERO, ..config(&hub.url()) }).await;
    let call = app.echoing("t", "1");
    let hold = paused(&hub, 3).await;
    assert_eq!(hold.field("until"), "");
    hub.resume(&hold.field("pauseId"), "continue").await;
    soon("the call", call).await.unwrap().unwrap();
}
