//! R01 to R09: waiting for a hub, and the end.

use std::time::Duration;

use lockgate_gate::Outcome;
use lockgate_graphmind::{Enabled, Ready, Session, SessionConfig, Timing};
use lockgate_protocol::debug::{Event, GraphHint};
use lockgate_testkit::hub::{Ack, FakeHub, Manner};
use tokio::time::Instant;

use crate::kit::{App, HASTY, config, environment, kinds, soon};

const LONG: Duration = Duration::from_secs(60);

fn plain() -> Manner {
    Manner::Acks(Ack::plain())
}

/// A URL where nobody listens.
async fn nowhere() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    format!("ws://{}/ingest", listener.local_addr().expect("bound"))
}

#[tokio::test]
async fn r01_ready_connects_before_any_event_and_only_once() {
    let hub = FakeHub::start(plain()).await;
    let app = App::new(&hub);
    assert_eq!(app.session.ready(LONG).await, Ready::Yes);
    assert_eq!((hub.dials(), hub.upgraded()), (1, 1));
    assert!(app.session.stats().presence.is_attached());
}

#[tokio::test]
async fn r02_unreachable_costs_the_timeout_and_not_the_interval() {
    let app = App::with(config(&nowhere().await));
    let began = Instant::now();
    assert_eq!(app.session.ready(Duration::from_millis(120)).await, Ready::No);
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(120) && took < Duration::from_secs(5), "{took:?}");
}

#[tokio::test]
async fn r03_disabled_or_disposed_is_no_at_once_without_a_connection() {
    let hub = FakeHub::start(plain()).await;
    let by_code = SessionConfig { enabled: Some(Enabled::No), ..config(&hub.url()) };
    let by_environment = SessionConfig {
        environment: environment(&[("GRAPHMIND_DISABLED", "1")]),
        enabled: Some(Enabled::Yes),
        ..config(&hub.url())
    };
    for disabled in [by_code, by_environment] {
        let app = App::with(disabled);
        assert_eq!(soon("no", app.session.ready(LONG)).await, Ready::No);
    }
    let disposed = App::new(&hub);
    disposed.session.dispose();
    assert_eq!(soon("no", disposed.session.ready(LONG)).await, Ready::No);
    soon("the end", disposed.running).await.unwrap();
    assert_eq!(hub.dials(), 0);
}

#[tokio::test]
async fn r04_calls_at_the_same_time_share_one_attempt() {
    let hub = FakeHub::start(plain()).await;
    let app = App::new(&hub);
    let [one, two, three] = [(); 3].map(|()| {
        let session = app.session.clone();
        tokio::spawn(async move { session.ready(LONG).await })
    });
    for waiter in [one, two, three] {
        assert_eq!(soon("yes", waiter).await.unwrap(), Ready::Yes);
    }
    assert_eq!(hub.dials(), 1);
}

#[tokio::test]
async fn r05_attached_is_yes_at_once() {
    let hub = FakeHub::start(plain()).await;
    let app = App::attached(&hub).await;
    assert_eq!(app.session.ready(Duration::from_millis(1)).await, Ready::Yes);
    assert_eq!(app.session.ready(Duration::ZERO).await, Ready::Yes);
}

#[tokio::test]
async fn r06_after_a_disconnect_it_reconnects_at_once() {
    let hub = FakeHub::start(plain()).await;
    let hour = Duration::from_secs(3600);
    let app = App::attached_with(SessionConfig { timing: Timing { retry: hour, ..HASTY }, ..config(&hub.url()) }).await;
    hub.turn(Manner::HangsUp);
    hub.cut().await;
    // All three quick attempts fail, so only the hourly one is left.
    app.counts(|_| hub.dials() == 4).await;
    hub.turn(plain());
    // The fourth attempt may still be failing; a wait that begins after it did dials at once.
    let again = async { while app.session.ready(Duration::from_millis(50)).await == Ready::No {} };
    soon("an attachment", again).await;
}

#[tokio::test]
async fn r07_dispose_settles_whoever_waits() {
    let hub = FakeHub::start(Manner::NeverAcks).await;
    let app = App::new(&hub);
    let session = app.session.clone();
    let waiter = tokio::spawn(async move { session.ready(LONG).await });
    hub.nth("hello", 1).await;
    app.session.dispose();
    assert_eq!(soon("no", waiter).await.unwrap(), Ready::No);
    soon("the end", app.running).await.unwrap();
}

#[test]
fn r08_a_program_waits_for_ready_and_for_nothing_else() {
    let (took, ended) = std::thread::spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let began = Instant::now();
        runtime.block_on(async {
            // A name server that does not answer must not keep the program either.
            let (session, running) = Session::new(config("ws://slow.invalid:1/"));
            tokio::spawn(running);
            assert_eq!(session.ready(Duration::from_millis(150)).await, Ready::No);
        });
        let took = began.elapsed();
        drop(runtime);
        (took, began.elapsed() - took)
    })
    .join()
    .unwrap();
    assert!(took >= Duration::from_millis(150), "it did not end early: {took:?}");
    assert!(ended < Duration::from_millis(500), "nothing kept it: {ended:?}");
}

#[tokio::test]
async fn r09_dispose_lets_everything_go_and_is_the_end() {
    let hub = FakeHub::start(Manner::Acks(Ack::arming("[{}]"))).await;
    let app = App::attached(&hub).await;
    let held = app.echoing("t", "1");
    hub.nth("exec.paused", 1).await;
    app.session.dispose();
    app.session.dispose();
    assert_eq!(soon("the call", held).await.unwrap().unwrap().as_bytes(), b"1");
    assert_eq!(app.session.emit(Event::GraphHint(GraphHint::default())), None);
    assert!(matches!(soon("a gate", app.pass("t")).await, Outcome::Go(_)));
    soon("the end", app.running).await.unwrap();
    let last = hub.nth("run.finished", 1).await;
    assert_eq!(last.payload, r#"{"status":"ok"}"#);
    insta::assert_snapshot!(kinds(&hub.frames(), 1), @"run.started node.started exec.paused exec.resumed run.finished");
    assert_eq!(hub.upgraded(), 1, "and no new connection");
}

#[tokio::test]
async fn r09_what_was_said_before_the_end_still_leaves() {
    let hub = FakeHub::start(plain()).await;
    let app = App::attached(&hub).await;
    for n in 0..1_000 {
        app.echo("t", &n.to_string()).await.unwrap();
    }
    app.session.dispose();
    soon("the end", app.running).await.unwrap();
    hub.nth("run.finished", 1).await;
    assert_eq!(hub.frames().iter().filter(|seen| seen.kind == "node.finished").count(), 1_000);
}
