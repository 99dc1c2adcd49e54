//! Prints what a pass and an emit cost. Run it with `cargo run --release -p lockgate-gate --example bench`.

use std::future::Future;
use std::hint::black_box;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use lockgate_gate::{Call, Gate, GateConfig, HubCaps, Node, Outcome, Presence, Stop, Tap, TapLimits, Watched};
use lockgate_protocol::debug::{Event, Matcher, NodeKind, NodeStarted, RunId};
use lockgate_protocol::json::Raw;

fn main() {
    println!("{:<44} {:>11} {:>11}", "", "best", "median");
    let call = call();
    let (tap, _drain) = Tap::channel(LIMITS);
    let gate = Gate::new(GateConfig::new(tap));
    report("clone and drop a call (part of all below)", || drop(black_box(call.clone())));
    report("pass, detached", || drop(black_box(go(gate.pass(call.clone(), Stop::Before)))));
    gate.presence(Presence::Attached { watched: Watched::Yes, hub: HubCaps::OLD });
    report("pass, attached, nothing armed", || drop(black_box(go(gate.pass(call.clone(), Stop::Before)))));
    gate.set(matcher(r#"{"point":"error"}"#));
    report("pass at before, breakpoint at error", || drop(black_box(go(gate.pass(call.clone(), Stop::Before)))));
    gate.set(matcher(r#"{"name":"other"}"#));
    report("pass, breakpoint for another name", || drop(black_box(go(gate.pass(call.clone(), Stop::Before)))));
    gate.set(matcher(r#"{"when":{"==":[{"var":"input.city"},"Vienna"]}}"#));
    report("pass, condition that is false", || drop(black_box(go(gate.pass(call.clone(), Stop::Before)))));

    let run = RunId::none();
    let off = Tap::off();
    report("emit, tap off", || {
        black_box(off.emit(&run, event(&call)));
    });
    report("build an event (part of both below)", || drop(black_box(event(&call))));
    drained();
    crowded();
    let (full, _kept) = Tap::channel(TapLimits { events: 0, bytes: 0 });
    report("emit, full", || {
        black_box(full.emit(&run, event(&call)));
    });
}

/// One writer, emptied as fast as it fills.
fn drained() {
    let (tap, mut drain) = Tap::channel(LIMITS);
    let (call, run) = (call(), RunId::none());
    report("emit, one thread", || {
        for _ in 0..100 {
            black_box(tap.emit(&run, event(&call)));
        }
        drop(drain.now());
    });
    println!("  (a hundred of them, with the reader's turn)");
}

/// Eight writers and a reader that keeps up as well as it can.
fn crowded() {
    let (tap, mut drain) = Tap::channel(LIMITS);
    let begun = Instant::now();
    let (mut read, mut lost) = (0, 0);
    thread::scope(|scope| {
        for _ in 0..8 {
            let tap = tap.clone();
            scope.spawn(move || {
                let (call, run) = (call(), RunId::none());
                for _ in 0..EACH {
                    black_box(tap.emit(&run, event(&call)));
                }
            });
        }
        while read + lost < 8 * u64::from(EACH) {
            let Some(batch) = drain.now() else { continue };
            read += batch.events.len() as u64;
            lost += batch.losses.iter().map(|loss| loss.dropped).sum::<u64>();
        }
    });
    let each = begun.elapsed().as_nanos() / u128::from(8 * EACH);
    println!("{:<44} {each:>8} ns each on the wall, {lost} of {} lost", "emit, eight threads at once", read + lost);
}

fn go(passing: impl Future<Output = Outcome>) -> Outcome {
    match pin!(passing).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => panic!("nothing is armed that could hold"),
    }
}

/// The best and the median of many rounds, each long enough for the clock; on a busy machine the best says more.
fn report(what: &str, mut step: impl FnMut()) {
    let mut rounds = Vec::new();
    let until = Instant::now() + Duration::from_millis(400);
    while Instant::now() < until {
        let begun = Instant::now();
        for _ in 0..TURNS {
            step();
        }
        rounds.push(begun.elapsed().as_nanos() / u128::from(TURNS));
    }
    rounds.sort_unstable();
    println!("{what:<44} {:>8} ns {:>8} ns", rounds[0], rounds[rounds.len() / 2]);
}

fn call() -> Call {
    let node = Node { id: "tool:search".into(), kind: NodeKind::Tool, name: "search".into() };
    let input = Raw::parse(r#"{"city":"Wien","limit":5}"#).expect("JSON");
    Call { input: Some(input), ..Call::new(RunId::none(), Arc::new(node)) }
}

fn matcher(text: &'static str) -> Matcher {
    Matcher::read(Raw::parse(text).expect("JSON").view()).expect("a matcher")
}

fn event(call: &Call) -> Event {
    Event::NodeStarted(NodeStarted {
        node_id: Arc::clone(&call.node.id),
        parent_id: None,
        kind: call.node.kind,
        name: Arc::clone(&call.node.name),
        instance_id: Arc::clone(&call.node.id),
        input: call.input.clone(),
        collapsed: None,
        redaction: None,
        extra: Vec::new(),
    })
}

const LIMITS: TapLimits = TapLimits { events: 10_000, bytes: 64 << 20 };
const TURNS: u32 = 2_000;
const EACH: u32 = 50_000;
