//! G01 to G07 on the wire: what a hub is told about frames it never saw.

use lockgate_gate::TapLimits;
use lockgate_graphmind::{BufferLimits, Ready, SessionConfig};
use lockgate_protocol::debug::{Event, GraphHint};
use lockgate_testkit::hub::{Ack, FakeHub, Manner, Seen};

use crate::kit::{App, HASTY, config, raw};

fn frames(frames: usize) -> BufferLimits {
    BufferLimits { frames, ..BufferLimits::STANDARD }
}

fn padded(size: usize) -> Event {
    let extra = vec![("pad", raw(&format!("\"{}\"", "x".repeat(size))))];
    Event::GraphHint(GraphHint { extra, ..GraphHint::default() })
}

fn gaps(frames: &[Seen]) -> Vec<Seen> {
    frames.iter().filter(|seen| seen.payload.contains("buffer-overflow")).cloned().collect()
}

#[tokio::test]
async fn g01_g02_a_session_that_outruns_its_buffer_while_attached_loses_nothing() {
    let hub = FakeHub::start(Manner::Acks(Ack::plain())).await;
    let app = App::attached_with(SessionConfig { buffer: frames(5), ..config(&hub.url()) }).await;
    for _ in 0..500 {
        app.session.emit(padded(1));
    }
    hub.nth("graph.hint", 500).await;
    let stats = app.counts(|stats| stats.dropped == 496).await;
    assert_eq!((stats.lost, stats.pending_gaps, stats.buffered), (0, 0, 5));
    assert!(gaps(&hub.frames()).is_empty());
    assert!(app.warned().is_empty(), "{:?}", app.warned());
}

#[tokio::test]
async fn g03_g04_each_run_that_lost_something_gets_its_marker_before_the_replay() {
    let hub = FakeHub::start(Manner::HangsUp).await;
    let app = App::with(SessionConfig { buffer: frames(10), timing: HASTY, ..config(&hub.url()) });
    let run = |name: &'static str| {
        let session = app.session.clone();
        app.session.run(name, async move {
            for _ in 0..20 {
                session.emit(padded(1));
            }
            Ok::<(), std::io::Error>(())
        })
    };
    run("one").await.unwrap();
    run("two").await.unwrap();
    app.counts(|stats| stats.lost == 34 && stats.pending_gaps == 2).await;
    hub.turn(Manner::Acks(Ack::plain()));
    app.attachment(Ready::Yes).await;
    let seen = hub.until("markers and replay", |frames| (frames.len() == 13).then(|| frames.to_vec())).await;
    let gaps = gaps(&seen);
    assert_eq!(gaps.len(), 2);
    assert_eq!(gaps[0].field("gap"), r#"{"droppedCount":22,"fromSeq":0,"toSeq":21,"reason":"buffer-overflow"}"#);
    assert_eq!(gaps[1].field("gap"), r#"{"droppedCount":12,"fromSeq":22,"toSeq":33,"reason":"buffer-overflow"}"#);
    assert_ne!(gaps[0].run, gaps[1].run);
    assert_eq!((seen[1].seq, seen[2].seq), (gaps[0].seq, gaps[1].seq), "right after the hello");
    assert_eq!(seen[3].seq, 34, "the replay begins where the last gap ends");
    app.counts(|stats| stats.pending_gaps == 0).await;
}

#[tokio::test]
async fn g05_the_byte_bound_is_a_loss_like_any_other() {
    let hub = FakeHub::start(Manner::HangsUp).await;
    let buffer = BufferLimits { bytes: 10_000, ..BufferLimits::STANDARD };
    let app = App::with(SessionConfig { buffer, timing: HASTY, ..config(&hub.url()) });
    for _ in 0..30 {
        app.session.emit(padded(900));
    }
    let stats = app.counts(|stats| stats.buffered > 0 && stats.lost > 0).await;
    hub.turn(Manner::Acks(Ack::plain()));
    let gap = hub.until("a marker", |frames| gaps(frames).pop()).await;
    assert!(
        gap.field("gap").starts_with(&format!("{{\"droppedCount\":{},\"fromSeq\":0,", stats.lost)),
        "{}",
        gap.payload
    );
}

#[tokio::test]
async fn g06_hundreds_of_losses_are_one_warning_that_counts_them() {
    let hub = FakeHub::start(Manner::NeverAcks).await;
    let app = App::with(SessionConfig { buffer: frames(10), ..config(&hub.url()) });
    for _ in 0..400 {
        app.session.emit(padded(1));
    }
    app.counts(|stats| stats.lost == 391).await;
    assert_eq!(app.warned(), ["no hub has seen 391 events of this session"]);
}

#[tokio::test]
async fn g07_what_no_buffer_can_hold_is_sent_live_or_lost() {
    let hub = FakeHub::start(Manner::Acks(Ack::plain())).await;
    let buffer = BufferLimits { bytes: 2_000, ..BufferLimits::STANDARD };
    let app = App::attached_with(SessionConfig { buffer, ..config(&hub.url()) }).await;
    app.session.emit(padded(5_000));
    let sent = hub.nth("graph.hint", 1).await;
    assert!(sent.payload.len() > 5_000);
    let stats = app.counts(|stats| stats.buffered == 1).await;
    assert_eq!((stats.lost, stats.dropped), (0, 0));
    assert_eq!(app.warned().len(), 1);

    hub.turn(Manner::HangsUp);
    hub.cut().await;
    app.attachment(Ready::No).await;
    app.session.emit(padded(5_000));
    app.counts(|stats| stats.lost == 1 && stats.buffered == 1).await;
    hub.turn(Manner::Acks(Ack::plain()));
    let gap = hub.until("a marker", |frames| gaps(frames).pop()).await;
    assert!(gap.field("gap").contains("\"droppedCount\":1,"), "{}", gap.payload);
}

#[tokio::test]
async fn what_the_tap_had_to_drop_is_told_as_well() {
    let hub = FakeHub::start(Manner::Acks(Ack::plain())).await;
    let tap = TapLimits { events: 8, bytes: 1 << 20 };
    let app = App::attached_with(SessionConfig { tap, ..config(&hub.url()) }).await;
    for _ in 0..20 {
        app.session.emit(padded(1));
    }
    let gap = hub.until("a marker", |frames| gaps(frames).pop()).await;
    assert_eq!(gap.field("gap"), r#"{"droppedCount":13,"fromSeq":9,"toSeq":21,"reason":"buffer-overflow"}"#);
    let stats = app.counts(|stats| stats.pending_gaps == 0).await;
    assert_eq!((stats.lost, stats.dropped), (13, 13));
}
