//! U01 to U06: runs, the implicit one, and the kill switches.

use std::io;

use lockgate_graphmind::{Context, Enabled, Ready, RunStart, SessionConfig, Span, Stopped};
use lockgate_protocol::debug::NodeKind;
use lockgate_protocol::json::Raw;
use lockgate_testkit::hub::{Ack, FakeHub, Manner, Seen};

use crate::kit::{App, config, environment, raw, soon, story};

fn plain() -> Manner {
    Manner::Acks(Ack::plain())
}

async fn finished(hub: &FakeHub, runs: usize) -> Vec<Seen> {
    hub.nth("run.finished", runs).await;
    hub.frames()
}

#[tokio::test]
async fn u01_a_run_is_started_and_finished_around_what_happens_in_it() {
    let hub = FakeHub::start(plain()).await;
    let own = SessionConfig { meta: vec![("env".to_owned(), raw("\"test\""))], ..config(&hub.url()) };
    let app = App::attached_with(own).await;
    let start = RunStart {
        meta: vec![("env".to_owned(), raw("\"own\"")), ("n".to_owned(), raw("1"))],
        ..RunStart::named("book-trip")
    };
    let work = async {
        app.echo("t", "1").await?;
        Ok::<_, Stopped>(Context::current().unwrap().run().to_string())
    };
    let run = app.session.run_as(start, lockgate_graphmind::Failure::of, work).await.unwrap();
    let frames = finished(&hub, 1).await;
    assert!(frames[1..].iter().all(|seen| seen.run == run));
    assert!(run.len() == 16 && run.starts_with("run_"), "{run}");
    insta::assert_snapshot!(story(&frames), @r#"
    run.started {"app":"probe-app","sdk":{"name":"rust","version":"1.2.3"},"meta":{"name":"book-trip","env":"own","n":1}}
    node.started {"nodeId":"tool:t","kind":"tool","name":"t","instanceId":"[I]","input":1}
    node.finished {"nodeId":"tool:t","instanceId":"[I]","durationMs":[MS],"status":"ok","output":1,"heldMs":0}
    run.finished {"status":"ok"}
    "#);
}

#[tokio::test]
async fn u02_a_run_that_fails_says_so_and_passes_the_error_on() {
    let hub = FakeHub::start(plain()).await;
    let app = App::attached(&hub).await;
    let failed = app.session.run("fails", async { Err::<(), _>(io::Error::other("no route")) }).await;
    assert_eq!(failed.unwrap_err().to_string(), "no route");
    let aborted = app.session.run("aborted", async { Err::<(), _>(Stopped::Aborted) }).await;
    assert_eq!(aborted.unwrap_err(), Stopped::Aborted);
    let fired = async {
        Context::current().unwrap().abort().cancel();
        Ok::<_, io::Error>(7)
    };
    assert_eq!(app.session.run("fired", fired).await.unwrap(), 7);
    let both = async {
        Context::current().unwrap().abort().cancel();
        Err::<(), _>(io::Error::other("torn off"))
    };
    app.session.run("both", both).await.unwrap_err();
    let ends: Vec<String> = finished(&hub, 4)
        .await
        .into_iter()
        .filter(|seen| seen.kind == "run.finished")
        .map(|seen| seen.payload)
        .collect();
    insta::assert_snapshot!(ends.join("\n"), @r#"
    {"status":"error","error":{"name":"Error","message":"no route"}}
    {"status":"aborted","error":{"name":"AbortError","message":"aborted in the debugger"}}
    {"status":"aborted"}
    {"status":"aborted","error":{"name":"Error","message":"torn off"}}
    "#);
}

#[tokio::test]
async fn u02_a_run_whose_future_is_dropped_is_aborted() {
    let hub = FakeHub::start(plain()).await;
    let app = App::attached(&hub).await;
    let session = app.session.clone();
    let running =
        tokio::spawn(async move { session.run("torn", std::future::pending::<Result<(), io::Error>>()).await });
    hub.nth("run.started", 1).await;
    running.abort();
    assert_eq!(hub.nth("run.finished", 1).await.payload, r#"{"status":"aborted"}"#);
}

#[tokio::test]
async fn u03_everything_outside_of_runs_shares_one_that_ends_with_the_session() {
    let hub = FakeHub::start(plain()).await;
    let app = App::attached(&hub).await;
    app.echo("a", "1").await.unwrap();
    let elsewhere = app.echoing("b", "1");
    elsewhere.await.unwrap().unwrap();
    app.session.dispose();
    soon("the end", app.running).await.unwrap();
    let frames = finished(&hub, 1).await;
    assert_eq!(frames[1].field("meta"), r#"{"name":"implicit","implicit":true}"#);
    assert!(frames[1..].iter().all(|seen| seen.run == frames[1].run));
    insta::assert_snapshot!(crate::kit::kinds(&frames, 1), @"run.started node.started node.finished node.started node.finished run.finished");
    assert_eq!(frames.last().unwrap().payload, r#"{"status":"ok"}"#);
}

#[tokio::test]
async fn u04_nested_runs_have_ids_of_their_own_and_the_outer_one_comes_back() {
    let hub = FakeHub::start(plain()).await;
    let app = App::attached(&hub).await;
    app.session
        .run("outer", async {
            app.echo("first", "1").await?;
            app.session.run("inner", app.echo("second", "1")).await?;
            app.echo("third", "1").await
        })
        .await
        .unwrap();
    let frames = finished(&hub, 2).await;
    let run = |name: &str| frames.iter().find(|seen| seen.field("meta").contains(name)).unwrap().run.clone();
    let (outer, inner) = (run("outer"), run("inner"));
    assert_ne!(outer, inner);
    let of = |node: &str| frames.iter().find(|seen| seen.field("nodeId") == node).unwrap().run.clone();
    assert_eq!([of("tool:first"), of("tool:second"), of("tool:third")], [outer.clone(), inner, outer]);
}

#[tokio::test]
async fn u04_a_run_follows_into_a_task_that_takes_it_along_and_two_sessions_stay_apart() {
    let hub = FakeHub::start(plain()).await;
    let (app, other) = (App::attached(&hub).await, App::new(&hub));
    app.session
        .run("own", async {
            let (here, session) = (Context::current().unwrap(), app.session.clone());
            let id = here.run().clone();
            let task = tokio::spawn(here.scope(async move { session.here().run().clone() }));
            assert_eq!(task.await.unwrap(), id);
            let lost = app.session.clone();
            assert_ne!(tokio::spawn(async move { lost.here().run().clone() }).await.unwrap(), id);
            assert_ne!(*other.session.here().run(), id);
            Ok::<_, io::Error>(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn u06_disabled_runs_what_it_is_given_and_nothing_else() {
    let hub = FakeHub::start(plain()).await;
    for (enabled, set) in [
        (Some(Enabled::No), None),
        (Some(Enabled::Yes), Some(("GRAPHMIND_DISABLED", "true"))),
        (None, Some(("APP_ENV", "prod"))),
    ] {
        let environment = environment(set.as_slice());
        let app = App::with(SessionConfig { enabled, environment, ..config(&hub.url()) });
        let inside = app
            .session
            .run("r", async {
                let context = Context::current().unwrap();
                assert_eq!((context.name(), context.abort().is_cancelled()), ("r", false));
                app.echo("t", "[1]").await
            })
            .await;
        assert_eq!(inside.unwrap().as_bytes(), b"[1]");
        let failed = app.session.run("f", async { Err::<(), _>(io::Error::other("as it was")) }).await;
        assert_eq!(failed.unwrap_err().to_string(), "as it was");
        let span = Span::new(NodeKind::Tool, "t");
        let thrown = app.session.span(span, async |_| Err::<Raw, _>(Stopped::Unfit("own".to_owned()))).await;
        assert_eq!(thrown.unwrap_err(), Stopped::Unfit("own".to_owned()));
        assert_eq!(app.session.ready(std::time::Duration::from_secs(60)).await, Ready::No);
        let stats = app.session.stats();
        assert_eq!((stats.enabled, stats.buffered, stats.seq, stats.lost), (Enabled::No, 0, 0, 0));
        app.session.dispose();
        soon("the end", app.running).await.unwrap();
    }
    assert_eq!(hub.dials(), 0);
}
