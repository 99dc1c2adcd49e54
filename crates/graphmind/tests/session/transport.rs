//! T01 to T14: handshake, transport, and everything a hub can do wrong.

use std::sync::Arc;
use std::time::Duration;

use lockgate_gate::Outcome;
use lockgate_graphmind::{BufferLimits, READY, Ready, SessionConfig, Timing};
use lockgate_protocol::debug::{Event, GraphHint};
use lockgate_testkit::hub::{Ack, FakeHub, Manner, Reading, frame};
use tokio::time::Instant;

use crate::kit::{App, HASTY, config, kinds, soon};

fn plain() -> Manner {
    Manner::Acks(Ack::plain())
}

fn hint() -> Event {
    Event::GraphHint(GraphHint::default())
}

#[tokio::test]
async fn t01_the_first_frame_is_a_hello_that_says_who_is_there() {
    let hub = FakeHub::start(plain()).await;
    let app = App::attached(&hub).await;
    let hello = hub.nth("hello", 1).await;
    insta::assert_snapshot!(hello.payload, @r#"{"versions":{"protocol":1,"client":"1.2.3"},"capabilities":["pause","step","inject","retry","abort","run-claim","edit-input","request-id","watch","conditions"],"app":"probe-app","sdk":{"name":"rust","version":"1.2.3"}}"#);
    assert_eq!((hello.seq, hello.run.as_str()), (0, "*"));
    hub.cut().await;
    let again = hub.nth("hello", 2).await;
    assert_eq!(again.field("resumeToken"), "tok-1");
    assert!(again.seq > hello.seq);
    drop(app);
}

#[tokio::test]
async fn t02_a_hub_of_another_major_is_named_once_and_gates_pass() {
    let hub = FakeHub::start(Manner::Acks(Ack { protocol: 2, ..Ack::plain() })).await;
    let app = App::with(SessionConfig { timing: HASTY, ..config(&hub.url()) });
    assert_eq!(app.session.ready(Duration::from_millis(150)).await, Ready::No);
    assert!(matches!(app.pass("t").await, Outcome::Go(_)));
    hub.nth("hello", 3).await;
    assert_eq!(app.warned(), ["the hub speaks version 2 of the protocol, this program 1"]);

    let hub = FakeHub::start(Manner::Says(frame(0, "hello.ack", "{}").replace("\"gm\":1", "\"gm\":7"))).await;
    let app = App::with(SessionConfig { timing: HASTY, ..config(&hub.url()) });
    app.session.emit(hint());
    hub.nth("hello", 2).await;
    assert_eq!(app.warned(), ["the hub speaks version 7 of the protocol, this program 1"]);
}

#[tokio::test]
async fn t03_a_hub_that_never_acks_is_left_after_the_handshake_time_and_tried_again() {
    let hub = FakeHub::start(Manner::NeverAcks).await;
    let app = App::with(SessionConfig { timing: HASTY, ..config(&hub.url()) });
    assert_eq!(app.session.ready(Duration::from_millis(100)).await, Ready::No);
    let first = hub.nth("hello", 1).await;
    let second = hub.nth("hello", 2).await;
    assert!(second.at - first.at >= HASTY.handshake + HASTY.retry);
    assert_eq!(kinds(&hub.frames(), 1), "", "nothing before the ack");
    hub.turn(plain());
    app.attachment(Ready::Yes).await;
    assert_eq!(app.warned(), ["the hub did not answer the hello within 200 ms"]);
}

#[tokio::test]
async fn t04_a_port_that_never_upgrades_costs_300_ms_and_holds_nobody() {
    let hub = FakeHub::start(Manner::NeverUpgrades).await;
    let app =
        App::with(SessionConfig { timing: Timing { retry: HASTY.retry, ..Timing::STANDARD }, ..config(&hub.url()) });
    let began = Instant::now();
    assert_eq!(app.echo("t", "1").await.unwrap().as_bytes(), b"1");
    assert!(began.elapsed() < Duration::from_millis(100));
    assert_eq!(app.session.ready(Duration::from_millis(500)).await, Ready::No);
    app.counts(|_| hub.dials() >= 2).await;
    assert_eq!(app.warned(), ["the hub did not open within 300 ms"]);
}

#[tokio::test]
async fn t05_a_session_nobody_uses_opens_no_socket() {
    let hub = FakeHub::start(plain()).await;
    let idle = App::new(&hub);
    let used = App::attached(&hub).await;
    assert_eq!(hub.dials(), 1, "only the one that was used");
    idle.pass("t").await;
    idle.attachment(Ready::Yes).await;
    assert_eq!(hub.dials(), 2, "a gate is use enough");
    drop(used);
}

#[tokio::test]
async fn t06_every_attachment_gets_the_whole_buffer_in_the_old_order() {
    let hub = FakeHub::start(plain()).await;
    let app = App::new(&hub);
    for n in 0..3 {
        app.echo("t", &n.to_string()).await.unwrap();
    }
    let first = |frames: &[lockgate_testkit::hub::Seen], connection| -> Vec<String> {
        let own = frames.iter().filter(|seen| seen.connection == connection && seen.kind != "hello");
        own.map(|seen| seen.text.clone()).collect()
    };
    let sent = hub.until("all", |frames| Some(first(frames, 1)).filter(|sent| sent.len() == 7)).await;
    assert!(kinds(&hub.frames(), 1).starts_with("run.started node.started node.finished"));
    hub.cut().await;
    let again = hub.until("all again", |frames| Some(first(frames, 2)).filter(|sent| sent.len() == 7)).await;
    assert_eq!(sent, again, "seq and ts included");
    app.echo("t", "4").await.unwrap();
    hub.until("the live ones", |frames| (first(frames, 2).len() == 9).then_some(())).await;
    let seqs: Vec<u64> = hub.frames().iter().filter(|seen| seen.connection == 2).map(|seen| seen.seq).collect();
    assert!(seqs[0] > seqs[7], "the hello before them has a higher number: {seqs:?}");
    assert!(seqs[1..].is_sorted());
}

#[tokio::test]
async fn t07_overflow_of_three_slots_is_a_marker_and_the_three_survivors() {
    let hub = FakeHub::start(plain()).await;
    let buffer = BufferLimits { frames: 3, ..BufferLimits::STANDARD };
    let app = App::with(SessionConfig { buffer, ..config(&hub.url()) });
    let run = app.session.here();
    for _ in 0..7 {
        app.session.emit(hint());
    }
    let frames = hub.until("five frames", |frames| (frames.len() == 5).then(|| frames.to_vec())).await;
    assert_eq!(
        frames[1].payload,
        r#"{"nodes":[],"gap":{"droppedCount":5,"fromSeq":0,"toSeq":4,"reason":"buffer-overflow"}}"#
    );
    assert_eq!(frames[1].run, run.run().as_str());
    assert_eq!(frames[2..].iter().map(|seen| seen.seq).collect::<Vec<_>>(), [5, 6, 7]);
    assert!(frames[1].seq > frames[0].seq, "markers take numbers");
}

#[tokio::test]
async fn t08_a_hub_that_goes_away_releases_within_100_ms() {
    let hub = FakeHub::start(Manner::Acks(Ack::arming("[{}]"))).await;
    let app = App::attached(&hub).await;
    let held = app.echoing("t", "5");
    hub.nth("exec.paused", 1).await;
    let began = Instant::now();
    hub.turn(Manner::HangsUp);
    hub.cut().await;
    assert_eq!(soon("the call", held).await.unwrap().unwrap().as_bytes(), b"5");
    assert!(began.elapsed() < Duration::from_millis(100), "{:?}", began.elapsed());
    assert!(matches!(soon("a later gate", app.pass("t")).await, Outcome::Go(_)));
    hub.turn(Manner::Acks(Ack::plain()));
    let resumed = hub.nth("exec.resumed", 1).await;
    assert_eq!(resumed.field("action"), "continue");
    assert_eq!(resumed.field("requestId"), "");
    assert!(kinds(&hub.frames(), 2).contains("exec.paused exec.resumed node.finished"));
}

#[tokio::test]
async fn t09_nonsense_is_survived_attached() {
    let hub = FakeHub::start(plain()).await;
    let app = App::attached(&hub).await;
    hub.say("junk").await;
    hub.say("{\"gm\":1}").await;
    hub.say_bytes(vec![0xff, 0xfe]).await;
    hub.control("surprise", "{}").await;
    hub.control("hello.ack", &Ack { mode: "step", ..Ack::plain() }.payload()).await;
    hub.control("exec.resume", r#"{"pauseId":"nobody","action":"abort"}"#).await;
    // A control in a binary frame is a control.
    let armed = frame(9, "breakpoint.set", r#"{"matcher":{"name":"t"}}"#);
    hub.say_bytes(armed.into_bytes()).await;
    let other = app.echo("other", "1");
    soon("what is not armed", other).await.unwrap();
    let held = soon("the breakpoint", async {
        loop {
            let call = app.echoing("t", "1");
            tokio::select! {
                _ = call => {}
                seen = hub.nth("exec.paused", 1) => return seen,
            }
        }
    })
    .await;
    assert_eq!(held.field("reason"), "breakpoint");
    assert_eq!(hub.upgraded(), 1);
    let warned = app.warned();
    assert_eq!(warned.len(), 1, "{warned:?}");
    assert!(warned[0].starts_with("the hub sent a frame that is not valid"), "{warned:?}");
}

#[tokio::test]
async fn t10_each_ack_arms_anew() {
    let hub = FakeHub::start(Manner::Acks(Ack::arming(r#"[{"name":"a"}]"#))).await;
    let app = App::attached(&hub).await;
    let held = app.echoing("a", "1");
    let paused = hub.nth("exec.paused", 1).await;
    hub.resume(&paused.field("pauseId"), "continue").await;
    held.await.unwrap().unwrap();

    hub.turn(Manner::Acks(Ack::arming(r#"[{"name":"b"}]"#)));
    hub.cut().await;
    app.attachment(Ready::No).await;
    app.attachment(Ready::Yes).await;
    soon("what was armed before", app.echo("a", "1")).await.unwrap();
    let held = app.echoing("b", "1");
    let paused = hub
        .until("a hold of b", |frames| {
            frames.iter().find(|seen| seen.kind == "exec.paused" && seen.field("nodeId") == "tool:b").cloned()
        })
        .await;
    hub.resume(&paused.field("pauseId"), "continue").await;
    held.await.unwrap().unwrap();
}

#[tokio::test]
async fn t11_a_lost_attachment_is_back_soon_and_others_wait_their_time() {
    let hub = FakeHub::start(plain()).await;
    let app = App::attached(&hub).await;
    let lost = Instant::now();
    hub.cut().await;
    let back = hub.nth("hello", 2).await;
    let away = back.at - lost;
    assert!(away >= Duration::from_millis(150) && away < Duration::from_millis(1_500), "{away:?}");

    let refusing = FakeHub::start(Manner::Refuses).await;
    let other = App::with(SessionConfig {
        timing: Timing { retry: Duration::from_secs(3600), ..HASTY },
        ..config(&refusing.url())
    });
    assert_eq!(other.session.ready(Duration::from_millis(300)).await, Ready::No);
    assert_eq!(refusing.dials(), 1);
    drop(app);
}

#[tokio::test]
async fn t12_urls_that_lead_nowhere_are_warned_about_and_survived() {
    let closed = {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap()
    };
    for (url, expected) in [
        ("".to_owned(), "failed to read the url of the hub"),
        ("not a url".to_owned(), "failed to read the url of the hub"),
        ("http://127.0.0.1:1/".to_owned(), "the url of the hub does not begin with ws://"),
        ("wss://127.0.0.1:1/".to_owned(), "reaching the hub by wss is not supported"),
        (format!("ws://{closed}/ingest"), "failed to connect to the hub"),
        ("ws://no-such-host.invalid/".to_owned(), "failed to look up the hub"),
        ("ws://127.0.0.1:0/".to_owned(), "failed to connect to the hub"),
        ("ws://[::1".to_owned(), "failed to read the url of the hub"),
    ] {
        let timing = Timing { retry: Duration::from_millis(20), connect: Duration::from_secs(5), ..HASTY };
        let app = App::with(SessionConfig { timing, ..config(&url) });
        app.echo("t", "1").await.unwrap();
        soon(&format!("a warning about {url:?}"), async {
            while app.warned().is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
        assert_eq!(app.session.ready(Duration::from_millis(60)).await, Ready::No);
        let warned = app.warned();
        assert_eq!(warned.len(), 1, "{url:?}: {warned:?}");
        assert!(warned[0].starts_with(expected), "{url:?}: {warned:?}");
        app.session.dispose();
        soon("the end", app.running).await.unwrap();
    }
}

#[tokio::test]
async fn t13_a_sink_that_panics_hurts_nobody() {
    let hub = FakeHub::start(Manner::HangsUp).await;
    let config =
        SessionConfig { timing: HASTY, warn: Arc::new(|_| panic!("no room for complaints")), ..config(&hub.url()) };
    let app = App::with(config);
    app.echo("t", "1").await.unwrap();
    app.counts(|_| hub.dials() >= 2).await;
    hub.turn(plain());
    app.attachment(Ready::Yes).await;
    hub.nth("node.finished", 1).await;
}

#[tokio::test]
async fn t14_fifty_events_over_a_broken_transport_are_three_warnings_at_most() {
    let hub = FakeHub::start(plain()).await;
    let app = App::attached_with(SessionConfig { timing: HASTY, ..config(&hub.url()) }).await;
    hub.turn(Manner::HangsUp);
    hub.cut().await;
    app.attachment(Ready::No).await;
    for _ in 0..50 {
        app.session.emit(hint());
        tokio::task::yield_now().await;
    }
    app.counts(|_| hub.dials() >= 4).await;
    let warned = app.warned();
    assert!(warned.len() <= 3, "{warned:?}");
}

#[tokio::test]
async fn a_hub_that_reads_nothing_delays_no_call_and_is_still_heard() {
    let hub = FakeHub::start(plain()).await;
    let app = App::attached(&hub).await;
    hub.read(Reading::Never);
    let text = "x".repeat(100_000);
    let began = Instant::now();
    for n in 0..400 {
        app.echo("t", &format!("[{n},\"{text}\"]")).await.unwrap();
    }
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    let stats = app.counts(|stats| stats.lost > 0).await;
    assert!(stats.buffered < 100, "{stats:?}");

    hub.control("breakpoint.set", r#"{"matcher":{"name":"held"}}"#).await;
    let held = app.counts(|stats| stats.held_gates > 0);
    let calls = async {
        for n in 0.. {
            app.echo("held", &n.to_string()).await.unwrap();
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = calls => {}
        _ = held => {}
    }
    hub.read(Reading::AtOnce);
    hub.until("a marker", |frames| frames.iter().any(|seen| seen.payload.contains("buffer-overflow")).then_some(()))
        .await;
}

#[tokio::test]
async fn a_task_that_is_dropped_lets_go_what_is_held() {
    let hub = FakeHub::start(Manner::Acks(Ack::arming("[{}]"))).await;
    let app = App::attached(&hub).await;
    let held = app.echoing("t", "1");
    hub.nth("exec.paused", 1).await;
    app.running.abort();
    soon("the call", held).await.unwrap().unwrap();
    assert_eq!(app.session.ready(Duration::from_millis(20)).await, Ready::No);
}

#[tokio::test]
async fn a_hub_that_was_restarted_is_found_again() {
    let hub = FakeHub::start(plain()).await;
    let app = App::attached(&hub).await;
    let address = hub.address();
    hub.cut().await;
    hub.stop_listening().await;
    app.attachment(Ready::No).await;
    let hub = FakeHub::restart(address, plain()).await;
    assert_eq!(app.session.ready(READY).await, Ready::Yes);
    assert_eq!(hub.nth("hello", 1).await.field("resumeToken"), "tok-1");
}
