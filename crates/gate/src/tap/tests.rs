//! What the tap promises its writers and its reader.

use std::thread;
use std::time::Duration;

use lockgate_protocol::debug::{Event, ExecResumed, ExecUntil, ResumeAction, RunFinished, RunId, RunStatus};
use lockgate_protocol::json::Raw;

use super::{Batch, Loss, Tap, TapLimits};
use tokio::time::Instant;

fn run(name: &str) -> RunId {
    RunId::new(name).expect("a name without NUL")
}

fn event() -> Event {
    Event::RunFinished(RunFinished { status: RunStatus::Ok, error: None, extra: Vec::new() })
}

fn heavy(bytes: usize) -> Event {
    let text = Raw::string(&"x".repeat(bytes));
    Event::ExecUntil(ExecUntil { pause_id: "p".into(), until: None, extra: vec![("x", text)] })
}

fn resumed() -> Event {
    Event::ExecResumed(ExecResumed {
        pause_id: "p".into(),
        action: ResumeAction::Continue,
        edited: None,
        request_id: None,
        redaction: None,
        extra: Vec::new(),
    })
}

fn seqs(batch: &Batch) -> Vec<u64> {
    batch.events.iter().map(|queued| queued.seq).collect()
}

const WIDE: TapLimits = TapLimits { events: 100_000, bytes: usize::MAX };

#[tokio::test]
async fn numbers_are_one_row_whoever_takes_them() {
    let (tap, mut drain) = Tap::channel(WIDE);
    assert_eq!(tap.take_seq(), 0);
    assert_eq!(tap.emit(&run("a"), event()), Some(1));
    assert_eq!(tap.clone().emit(&run("b"), event()), Some(2));
    assert_eq!(tap.take_seq(), 3);
    assert_eq!(tap.next_seq(), 4);
    let batch = drain.next().await.expect("two events");
    assert_eq!(seqs(&batch), [1, 2]);
    assert_eq!(batch.events.iter().map(|queued| queued.run.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert!(batch.losses.is_empty());
}

#[test]
fn order_of_the_queue_is_the_order_of_the_numbers_from_eight_threads() {
    let (tap, mut drain) = Tap::channel(WIDE);
    thread::scope(|scope| {
        for name in 0..8 {
            let tap = tap.clone();
            scope.spawn(move || {
                let run = run(&format!("run-{name}"));
                for _ in 0..1_000 {
                    tap.emit(&run, event()).expect("room for all");
                }
            });
        }
    });
    let batch = drain.now().expect("all of them");
    assert_eq!(seqs(&batch), (0..8_000).collect::<Vec<_>>());
    assert!(batch.events.is_sorted_by_key(|queued| queued.at));
}

#[test]
fn a_full_queue_drops_counts_and_tells_per_run() {
    let (tap, mut drain) = Tap::channel(TapLimits { events: 2, bytes: usize::MAX });
    let emitted: Vec<_> = ["a", "a", "b", "a", "b", "b"].iter().map(|name| tap.emit(&run(name), event())).collect();
    assert_eq!(emitted, [Some(0), Some(1), None, None, None, None]);
    let batch = drain.now().expect("two events and two losses");
    assert_eq!(seqs(&batch), [0, 1]);
    assert_eq!(
        batch.losses,
        [
            Loss { run: run("b"), dropped: 3, from_seq: 2, to_seq: 5 },
            Loss { run: run("a"), dropped: 1, from_seq: 3, to_seq: 3 },
        ]
    );
    assert_eq!(tap.emit(&run("a"), event()), Some(6), "room again");
    assert!(drain.now().expect("one event").losses.is_empty(), "a loss is told once");
}

#[test]
fn bytes_are_bounded_too() {
    let (tap, mut drain) = Tap::channel(TapLimits { events: 100, bytes: 10_000 });
    assert_eq!(tap.emit(&run("a"), heavy(9_000)), Some(0));
    assert_eq!(tap.emit(&run("a"), heavy(9_000)), None);
    assert_eq!(tap.emit(&run("a"), heavy(100)), Some(2), "a small one still fits");
    drain.now().expect("two events");
    assert_eq!(tap.emit(&run("a"), heavy(9_000)), Some(3), "room again");
    assert_eq!(tap.emit(&run("a"), heavy(20_000)), None, "larger than everything, and not alone");
    drain.now().expect("one event");
    assert_eq!(tap.emit(&run("a"), heavy(20_000)), Some(5), "alone, whatever its size");
}

#[tokio::test]
async fn a_loss_alone_wakes_the_reader() {
    let (tap, mut drain) = Tap::channel(TapLimits { events: 0, bytes: 100 });
    let reader = tokio::spawn(async move { drain.next().await });
    tokio::task::yield_now().await;
    tap.emit(&run("a"), heavy(1_000));
    let batch = reader.await.expect("reader ends").expect("a loss");
    assert!(batch.events.is_empty());
    assert_eq!(batch.losses.len(), 1);
}

#[test]
fn losses_of_more_than_64_runs_are_counted_together() {
    let (tap, mut drain) = Tap::channel(TapLimits { events: 0, bytes: 0 });
    for name in 0..70 {
        for _ in 0..2 {
            assert_eq!(tap.emit(&run(&format!("run-{name}")), event()), None);
        }
    }
    let batch = drain.now().expect("losses");
    assert_eq!((batch.losses.len(), batch.unattributed), (64, 12));
    assert_eq!(batch.losses.iter().map(|loss| loss.dropped).sum::<u64>(), 128);
}

#[test]
fn the_end_of_a_hold_is_never_dropped() {
    let (tap, mut drain) = Tap::channel(TapLimits { events: 1, bytes: 300 });
    assert_eq!(tap.emit(&run("a"), event()), Some(0));
    assert_eq!(tap.emit(&run("a"), event()), None);
    assert_eq!(tap.emit(&run("a"), resumed()), Some(2));
    assert_eq!(seqs(&drain.now().expect("both")), [0, 2]);
}

#[tokio::test]
async fn a_closed_tap_hands_over_what_it_has_and_ends() {
    let (tap, mut drain) = Tap::channel(WIDE);
    tap.emit(&run("a"), event());
    tap.close();
    assert_eq!(tap.emit(&run("a"), event()), None);
    assert_eq!(seqs(&drain.next().await.expect("the rest")), [0]);
    assert!(drain.next().await.is_none());
    assert!(drain.next().await.is_none(), "and stays at its end");
}

#[tokio::test]
async fn closing_wakes_a_waiting_reader() {
    let (tap, mut drain) = Tap::channel(WIDE);
    let reader = tokio::spawn(async move { drain.next().await.is_none() });
    tokio::task::yield_now().await;
    tap.close();
    assert!(reader.await.expect("reader ends"));
}

#[test]
fn nobody_reads_nothing_is_kept() {
    let (tap, drain) = Tap::channel(WIDE);
    drop(drain);
    assert_eq!(tap.emit(&run("a"), event()), None);
    let off = Tap::off();
    assert!(off.is_off());
    assert_eq!((off.emit(&run("a"), event()), off.take_seq(), off.next_seq()), (None, 0, 0));
    off.close();
}

#[tokio::test(start_paused = true)]
async fn events_gather_between_batches_unless_somebody_waits_for_one() {
    let (tap, mut drain) = Tap::channel(TapLimits { events: 8, bytes: usize::MAX });
    let pause = Duration::from_millis(20);
    drain.gather(pause);
    let began = Instant::now();
    tap.emit(&run("a"), event());
    assert_eq!(seqs(&drain.next().await.expect("the first")), [0]);
    assert_eq!(began.elapsed(), Duration::ZERO, "after a quiet time nothing is waited for");
    tap.emit(&run("a"), event());
    tap.emit(&run("a"), event());
    assert_eq!(seqs(&drain.next().await.expect("two more")), [1, 2]);
    assert_eq!(began.elapsed(), pause);
    tap.emit(&run("a"), resumed());
    assert_eq!(seqs(&drain.next().await.expect("the end of a hold")), [3]);
    assert_eq!(began.elapsed(), pause, "a hold does not wait");
    for _ in 0..4 {
        tap.emit(&run("a"), event());
    }
    assert_eq!(drain.next().await.expect("half a queue").events.len(), 4);
    assert_eq!(began.elapsed(), pause, "a queue that fills up does not wait");
    tap.emit(&run("a"), event());
    tap.close();
    assert_eq!(drain.next().await.expect("the rest").events.len(), 1);
    assert!(drain.next().await.is_none());
    assert_eq!(began.elapsed(), pause, "the end does not wait");
}
