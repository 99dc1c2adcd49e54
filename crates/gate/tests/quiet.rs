//! What an unheld call costs in memory: nothing. A binary of its own, because it counts allocations.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use allocation_counter::measure;
use lockgate_gate::{
    Call, Gate, GateConfig, HubCaps, Node, Outcome, Policy, Presence, Stop, Tap, TapLimits, Verdict, Watched,
};
use lockgate_protocol::debug::{Matcher, NodeKind, RunId, RunMode};
use lockgate_protocol::json::Raw;

struct Nothing;

impl Policy for Nothing {
    fn judge(&self, _: &Call, _: Stop) -> Verdict {
        Verdict::Pass
    }
}

/// Polls once: a call that nothing holds has to be ready by then.
fn at_once(passing: impl Future<Output = Outcome>) -> Outcome {
    match pin!(passing).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => panic!("held"),
    }
}

#[track_caller]
fn check(arm: impl FnOnce(&Gate)) {
    let (tap, _drain) = Tap::channel(TapLimits { events: 100, bytes: 1 << 20 });
    let mut config = GateConfig::new(tap);
    config.policies = vec![Arc::new(Nothing), Arc::new(Nothing)];
    let gate = Gate::new(config);
    arm(&gate);
    let node = Node { id: "tool:t".into(), kind: NodeKind::Tool, name: "t".into() };
    let call = Call { input: Some(Raw::null()), ..Call::new(RunId::none(), Arc::new(node)) };
    for at in [Stop::Before, Stop::After, Stop::Error] {
        let call = call.clone();
        let mut went = None;
        let counted = measure(|| went = Some(at_once(gate.pass(call, at))));
        assert!(matches!(went, Some(Outcome::Go(_))), "{at:?}");
        assert_eq!(counted.count_total, 0, "{at:?}: {counted:?}");
    }
}

fn attached(gate: &Gate) {
    gate.presence(Presence::Attached { watched: Watched::Yes, hub: HubCaps::OLD });
}

#[test]
fn a_detached_gate_allocates_nothing() {
    check(|_| {});
    check(|gate| {
        attached(gate);
        gate.mode(RunMode::Step);
        gate.presence(Presence::Detached);
    });
}

#[test]
fn an_attached_gate_with_nothing_armed_allocates_nothing() {
    check(attached);
}

#[test]
fn breakpoints_for_others_allocate_nothing() {
    check(|gate| {
        attached(gate);
        for point in ["before", "after", "error"] {
            let text = format!(r#"{{"name":"other","point":"{point}"}}"#);
            gate.set(Matcher::read(Raw::parse(text).expect("JSON").view()).expect("a matcher"));
        }
    });
}

#[test]
fn the_counter_counts() {
    assert_ne!(measure(|| drop(Box::new(1))).count_total, 0);
}
