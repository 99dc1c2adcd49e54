//! Holds of the debugger: made, ended, and ended by themselves (wire §2.6 - §2.8).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lockgate_gate::{
    Actions, Call, Gate, GateConfig, Hold, HubCaps, Outcome, Presence, Reason, Release, Stop, Tap, TapLimits, Verdict,
    Watched,
};
use lockgate_protocol::debug::{LoopInfo, NodeKind, PauseReason, ResumeAction, RunMode, Smart, SmartRule};
use tokio_util::sync::CancellationToken;

use crate::kit::{Desk, Says, after, node, outcome, settle, shown, tool};

#[tokio::test(start_paused = true)]
async fn h01_a_held_call_waits_for_a_decision() {
    let mut desk = Desk::new(|_| {});
    desk.set("{}");
    let passing = desk.pass(tool("t"), Stop::Before).await;
    assert_eq!(desk.log(), ["paused 1 before breakpoint"]);
    after(3_600_000).await;
    assert!(!passing.is_finished());
    assert_eq!(desk.gate.held(), 1);
    desk.answer(1, r#""action":"continue""#);
    assert_eq!(desk.gate.held(), 0);
    assert_eq!(outcome(passing).await, "go");
    assert_eq!(desk.log(), ["resumed 1 continue"]);
}

#[tokio::test(start_paused = true)]
async fn h03_inject_and_retry_reach_the_caller() {
    let check = async |at, rest: &str, expected: &str| {
        let desk = Desk::new(|_| {});
        desk.set(&format!(r#"{{"point":"{}"}}"#, at_word(at)));
        let passing = desk.pass(tool("t"), at).await;
        desk.answer(1, rest);
        assert_eq!(outcome(passing).await, expected, "{at:?} {rest}");
    };
    for at in [Stop::Before, Stop::After, Stop::Error] {
        check(at, r#""action":"inject","output":{"fake":true}"#, r#"answer {"fake":true}"#).await;
        check(at, r#""action":"inject","output":null"#, "answer null").await;
        check(at, r#""action":"inject""#, "answer nothing").await;
        check(at, r#""action":"continue""#, "go").await;
        check(at, r#""action":"abort""#, "aborted").await;
        // An output counts for inject only.
        check(at, r#""action":"continue","output":{"fake":true}"#, "go").await;
    }
    check(Stop::Before, r#""action":"retry""#, "go").await;
    check(Stop::After, r#""action":"retry""#, "again").await;
    check(Stop::Error, r#""action":"retry""#, "again").await;
}

#[tokio::test(start_paused = true)]
async fn h03_a_retry_is_announced_as_retry_at_before_too() {
    let mut desk = Desk::new(|_| {});
    desk.set("{}");
    let passing = desk.pass(tool("t"), Stop::Before).await;
    desk.answer(1, r#""action":"retry","requestId":"q""#);
    outcome(passing).await;
    assert_eq!(desk.log(), ["paused 1 before breakpoint", "resumed 1 retry #q"]);
}

#[tokio::test(start_paused = true)]
async fn h04_abort_fires_the_hook_before_the_caller_goes_on() {
    let aborted = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&aborted);
    let desk = Desk::new(|config| {
        config.on_abort = Arc::new(move |call: &Call| seen.lock().expect("no panic").push(call.run.to_string()));
    });
    desk.set("{}");
    let passing = desk.pass(tool("t"), Stop::Before).await;
    desk.answer(1, r#""action":"abort""#);
    assert_eq!(outcome(passing).await, "aborted");
    assert_eq!(*aborted.lock().expect("no panic"), ["r"]);
    for (pause, action) in [(2, "continue"), (3, "inject"), (4, "retry")] {
        let passing = desk.pass(tool("t"), Stop::Before).await;
        desk.answer(pause, &format!(r#""action":"{action}""#));
        outcome(passing).await;
    }
    assert_eq!(aborted.lock().expect("no panic").len(), 1, "only abort aborts");
}

#[tokio::test(start_paused = true)]
async fn h05_parallel_holds_are_independent() {
    let mut desk = Desk::new(|_| {});
    desk.set("{}");
    let first = desk.pass(tool("t"), Stop::Before).await;
    let second = desk.pass(tool("t"), Stop::Before).await;
    let third = desk.pass(tool("u"), Stop::Before).await;
    assert_eq!(desk.gate.held(), 3);
    desk.answer(2, r#""action":"inject","output":2"#);
    assert_eq!(outcome(second).await, "answer 2");
    assert!(!first.is_finished() && !third.is_finished());
    desk.answer(3, r#""action":"abort""#);
    assert_eq!(outcome(third).await, "aborted");
    assert!(!first.is_finished());
    desk.answer(1, r#""action":"continue""#);
    assert_eq!(outcome(first).await, "go");
    assert_eq!(desk.log().len(), 6);
}

#[tokio::test(start_paused = true)]
async fn h06_step_mode_stops_before_and_at_errors_until_it_ends() {
    let mut desk = Desk::new(|_| {});
    desk.gate.mode(RunMode::Step);
    assert!(desk.holds(tool("t"), Stop::Before).await);
    assert!(!desk.holds(tool("t"), Stop::After).await);
    assert!(desk.holds(tool("t"), Stop::Error).await);
    desk.set(r#"{"point":"after","name":"t"}"#);
    assert!(desk.holds(tool("t"), Stop::After).await);
    assert!(!desk.holds(tool("u"), Stop::After).await);
    desk.gate.mode(RunMode::Run);
    assert!(!desk.holds(tool("t"), Stop::Before).await);
    assert!(!desk.holds(tool("t"), Stop::Error).await);
    assert!(desk.holds(tool("t"), Stop::After).await, "breakpoints outlive the mode");
}

#[tokio::test(start_paused = true)]
async fn h08_a_pause_timeout_releases_and_says_so() {
    let mut desk = Desk::new(|config| config.pause_timeout = Some(Duration::from_millis(200)));
    desk.set("{}");
    let passing = desk.pass(tool("t"), Stop::Before).await;
    after(199).await;
    assert!(!passing.is_finished());
    after(2).await;
    assert_eq!(outcome(passing).await, "go");
    assert_eq!(desk.log(), ["paused 1 before breakpoint continue in 200 ms by timeout", "resumed 1 continue"]);
    desk.answer(1, r#""action":"abort""#);
    assert_eq!(desk.log(), [""; 0], "too late");
}

#[tokio::test(start_paused = true)]
async fn h09_unknown_pauses_are_ignored() {
    let mut desk = Desk::new(|_| {});
    desk.set("{}");
    let passing = desk.pass(tool("t"), Stop::Before).await;
    desk.log();
    for pause in ["", "pause_abcdef_2", "pause_000000_1", "pause_abcdef_01", "pause_abcdef_+1", "1"] {
        desk.resume(pause, r#""action":"abort","requestId":"q""#);
    }
    settle().await;
    assert!(!passing.is_finished());
    assert_eq!(desk.log(), [""; 0]);
    desk.answer(1, r#""action":"inject","output":1"#);
    desk.answer(1, r#""action":"abort""#);
    assert_eq!(outcome(passing).await, "answer 1", "the first release wins");
    assert_eq!(desk.log(), ["resumed 1 inject"]);
}

#[tokio::test(start_paused = true)]
async fn h10_the_first_reason_names_the_hold() {
    let loops = || Reason {
        looped: Some(LoopInfo {
            repeats: 3,
            first_seq: 3,
            last_seq: 7,
            fingerprint: "cd0aa2d2f130f1a224cc2e72cc3fbf9b".to_owned(),
            kind: None,
            period: None,
            laps: None,
        }),
        ..Reason::plain(PauseReason::Loop)
    };
    let smart = || Reason {
        smart: Some(Smart { rule: SmartRule::ErrorResult, detail: None }),
        ..Reason::plain(PauseReason::Breakpoint)
    };
    let looping = Says(move |_: &Call, at| match at {
        Stop::Before => Verdict::Hold(Hold::debugger(loops())),
        Stop::After | Stop::Error => Verdict::Pass,
    });
    let clever = Says(move |_: &Call, at| match at {
        Stop::Before => Verdict::Pass,
        Stop::After | Stop::Error => Verdict::Hold(Hold::debugger(smart())),
    });
    let mut desk = Desk::new(|config| config.policies = vec![Arc::new(looping), Arc::new(clever)]);
    desk.set("{}");
    desk.set(r#"{"point":"error"}"#);
    desk.gate.mode(RunMode::Step);
    for (pause, at) in [(1, Stop::Before), (2, Stop::After), (3, Stop::Error)] {
        let passing = desk.pass(tool("t"), at).await;
        desk.answer(pause, r#""action":"continue""#);
        assert_eq!(outcome(passing).await, "go", "held once");
    }
    assert_eq!(
        desk.frames(),
        [
            r#"exec.paused {"pauseId":"pause_abcdef_1","nodeId":"tool:t","point":"before","reason":"loop","loop":{"repeats":3,"firstSeq":3,"lastSeq":7,"fingerprint":"cd0aa2d2f130f1a224cc2e72cc3fbf9b"}}"#,
            r#"exec.resumed {"pauseId":"pause_abcdef_1","action":"continue"}"#,
            r#"exec.paused {"pauseId":"pause_abcdef_2","nodeId":"tool:t","point":"after","reason":"breakpoint","smart":{"rule":"error-result"}}"#,
            r#"exec.resumed {"pauseId":"pause_abcdef_2","action":"continue"}"#,
            r#"exec.paused {"pauseId":"pause_abcdef_3","nodeId":"tool:t","point":"error","reason":"breakpoint","smart":{"rule":"error-result"}}"#,
            r#"exec.resumed {"pauseId":"pause_abcdef_3","action":"continue"}"#,
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn h10_breakpoint_error_and_step_are_told_apart() {
    let check = async |mode, matchers: &[&str], at, expected: &str| {
        let mut desk = Desk::new(|_| {});
        desk.gate.mode(mode);
        for matcher in matchers {
            desk.set(matcher);
        }
        let passing = desk.pass(tool("t"), at).await;
        assert_eq!(desk.log().first().map(String::as_str), Some(expected));
        desk.gate.release_all();
        outcome(passing).await;
    };
    check(RunMode::Run, &["{}"], Stop::Before, "paused 1 before breakpoint").await;
    check(RunMode::Step, &["{}"], Stop::Before, "paused 1 before breakpoint").await;
    check(RunMode::Step, &[], Stop::Before, "paused 1 before step").await;
    check(RunMode::Step, &[r#"{"name":"u"}"#], Stop::Before, "paused 1 before step").await;
    check(RunMode::Run, &[r#"{"point":"error"}"#], Stop::Error, "paused 1 error error").await;
    check(RunMode::Step, &[], Stop::Error, "paused 1 error error").await;
    check(RunMode::Run, &[r#"{"point":"after"}"#], Stop::After, "paused 1 after breakpoint").await;
    check(RunMode::Step, &[r#"{"point":"after"}"#], Stop::After, "paused 1 after breakpoint").await;
}

#[tokio::test(start_paused = true)]
async fn h11_instances_tell_parallel_calls_apart() {
    let mut desk = Desk::new(|_| {});
    desk.set("{}");
    let mut passing = Vec::new();
    for instance in [Some("mcp_1"), Some("mcp_2"), Some(""), None] {
        let call = Call { instance: instance.map(Into::into), ..tool("t") };
        passing.push(desk.pass(call, Stop::Before).await);
    }
    let rest = r#""nodeId":"tool:t","point":"before","reason":"breakpoint""#;
    assert_eq!(
        desk.frames(),
        [
            format!(r#"exec.paused {{"pauseId":"pause_abcdef_1",{rest},"instanceId":"mcp_1"}}"#),
            format!(r#"exec.paused {{"pauseId":"pause_abcdef_2",{rest},"instanceId":"mcp_2"}}"#),
            format!(r#"exec.paused {{"pauseId":"pause_abcdef_3",{rest}}}"#),
            format!(r#"exec.paused {{"pauseId":"pause_abcdef_4",{rest}}}"#),
        ]
    );
    desk.gate.release_all();
}

#[tokio::test(start_paused = true)]
async fn h12_what_a_call_cannot_do_is_refused_and_the_call_stays() {
    let mut desk = Desk::new(|_| {});
    desk.set(r#"{"point":"error"}"#);
    let unsupported = Actions::NONE.with(ResumeAction::Retry).with(ResumeAction::Inject);
    let passing = desk.pass(Call { unsupported, ..tool("t") }, Stop::Error).await;
    desk.answer(1, r#""action":"retry","requestId":"q1""#);
    desk.answer(1, r#""action":"inject","output":1,"requestId":"q2""#);
    desk.answer(1, r#""action":"inject","input":{},"requestId":"q3""#);
    settle().await;
    assert!(!passing.is_finished());
    desk.answer(1, r#""action":"abort""#);
    assert_eq!(outcome(passing).await, "aborted");
    assert_eq!(
        desk.log(),
        [
            "paused 1 error error",
            "refused 1 unsupported #q1: retry is not possible here, only continue, abort",
            "refused 1 unsupported #q2: inject is not possible here, only continue, abort",
            "refused 1 unsupported #q3: inject is not possible here, only continue, abort",
            "resumed 1 abort",
        ]
    );
    assert_eq!(desk.warnings(), [""; 0], "this hub shows the refusal");
}

#[tokio::test(start_paused = true)]
async fn h12_only_the_listed_ones_and_never_continue_or_abort() {
    let check = async |unsupported, action: &str, expected: &str| {
        let mut desk = Desk::new(|_| {});
        desk.set("{}");
        let passing = desk.pass(Call { unsupported, ..tool("t") }, Stop::Before).await;
        desk.answer(1, &format!(r#""action":"{action}""#));
        let log = desk.log();
        let last = log.last().expect("an answer").split(':').next();
        assert_eq!(last, Some(expected));
        desk.gate.release_all();
        outcome(passing).await;
    };
    let only = |action| Actions::NONE.with(action);
    check(only(ResumeAction::Retry), "inject", "resumed 1 inject").await;
    check(only(ResumeAction::Retry), "retry", "refused 1 unsupported").await;
    check(only(ResumeAction::Inject), "retry", "resumed 1 retry").await;
    check(only(ResumeAction::Inject), "inject", "refused 1 unsupported").await;
    check(only(ResumeAction::Abort), "abort", "resumed 1 abort").await;
    check(only(ResumeAction::Continue), "continue", "resumed 1 continue").await;
    check(Actions::NONE, "retry", "resumed 1 retry").await;
}

#[tokio::test(start_paused = true)]
async fn h12_under_an_old_hub_the_host_is_told() {
    let desk = Desk::new(|_| {});
    desk.attach_old();
    desk.set("{}");
    let unsupported = Actions::NONE.with(ResumeAction::Retry);
    let passing = desk.pass(Call { unsupported, ..tool("t") }, Stop::Before).await;
    desk.answer(1, r#""action":"retry""#);
    assert_eq!(desk.warnings(), ["a viewer asked for an action this call cannot do; the call is still held"]);
    desk.gate.release_all();
    outcome(passing).await;
}

#[tokio::test(start_paused = true)]
async fn h13_a_signal_releases_with_continue() {
    let mut desk = Desk::new(|_| {});
    desk.set("{}");
    let signal = CancellationToken::new();
    let call = Call { signal: Some(signal.clone()), ..tool("t") };
    let passing = desk.pass(call.clone(), Stop::Before).await;
    signal.cancel();
    assert_eq!(outcome(passing).await, "go");
    assert_eq!(desk.log(), ["paused 1 before breakpoint", "resumed 1 continue"]);
    assert_eq!(desk.through(call, Stop::Before).await, "go", "fired already: not held at all");
    assert_eq!(desk.log(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn b14_an_asker_that_gives_up_ends_the_hold_with_abort() {
    let hooked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&hooked);
    let mut desk = Desk::new(|config| {
        config.on_abort = Arc::new(move |_: &Call| {
            count.fetch_add(1, Ordering::Relaxed);
        });
    });
    for (pause, at) in [(1, Stop::Before), (2, Stop::After), (3, Stop::Error)] {
        desk.set(&format!(r#"{{"point":"{}"}}"#, at_word(at)));
        let cancel = CancellationToken::new();
        let call = Call { cancel: Some(cancel.clone()), ..tool("t") };
        let passing = desk.pass(call.clone(), at).await;
        cancel.cancel();
        assert_eq!(outcome(passing).await, "cancelled");
        assert_eq!(desk.log().last(), Some(&format!("resumed {pause} abort")));
        assert_eq!(desk.through(call, at).await, "cancelled", "gave up already: not held at all");
        assert_eq!(desk.log(), [""; 0]);
    }
    assert_eq!(hooked.load(Ordering::Relaxed), 0, "nobody aborted the run");
}

#[tokio::test(start_paused = true)]
async fn t08_a_lost_link_releases_at_once_and_later_calls_pass() {
    let mut desk = Desk::new(|_| {});
    desk.set("{}");
    desk.gate.mode(RunMode::Step);
    let first = desk.pass(tool("t"), Stop::Before).await;
    let second = desk.pass(tool("t"), Stop::Error).await;
    let before = tokio::time::Instant::now();
    desk.detach();
    assert_eq!(desk.gate.held(), 0);
    assert_eq!((outcome(first).await, outcome(second).await), ("go".to_owned(), "go".to_owned()));
    assert!(before.elapsed() < Duration::from_millis(100));
    assert_eq!(desk.log().split_off(2), ["resumed 1 continue", "resumed 2 continue"]);
    for at in [Stop::Before, Stop::After, Stop::Error] {
        assert_eq!(desk.through(tool("t"), at).await, "go");
    }
    desk.attach(Watched::Yes, &[]);
    assert_eq!(desk.through(tool("t"), Stop::Before).await, "go", "breakpoints and mode are forgotten");
}

#[tokio::test(start_paused = true)]
async fn t10_every_ack_arms_anew() {
    let mut desk = Desk::new(|_| {});
    let arm = |desk: &Desk, matchers: &[&str], mode| {
        desk.gate.arm(matchers.iter().map(|matcher| crate::kit::read_matcher(matcher)).collect(), mode);
    };
    arm(&desk, &[r#"{"name":"a"}"#, r#"{"name":"b"}"#], RunMode::Run);
    assert!(desk.holds(tool("a"), Stop::Before).await);
    desk.detach();
    desk.attach(Watched::Yes, &[]);
    arm(&desk, &[r#"{"name":"b"}"#, r#"{"name":"c"}"#], RunMode::Run);
    assert!(!desk.holds(tool("a"), Stop::Before).await);
    assert!(desk.holds(tool("b"), Stop::Before).await);
    assert!(desk.holds(tool("c"), Stop::Before).await);
    arm(&desk, &[], RunMode::Step);
    assert!(desk.holds(tool("a"), Stop::Before).await);
    arm(&desk, &[], RunMode::Run);
    assert!(!desk.holds(tool("b"), Stop::Before).await);
}

#[tokio::test(start_paused = true)]
async fn r09_dispose_releases_and_ends_holding_for_good() {
    let mut desk = Desk::new(|_| {});
    desk.set("{}");
    let passing = desk.pass(tool("t"), Stop::Before).await;
    desk.gate.dispose();
    desk.gate.dispose();
    assert_eq!(outcome(passing).await, "go");
    assert_eq!(desk.log(), ["paused 1 before breakpoint", "resumed 1 continue"]);
    desk.attach(Watched::Yes, &[]);
    desk.set("{}");
    assert_eq!(desk.through(tool("t"), Stop::Before).await, "go");
}

#[tokio::test(start_paused = true)]
async fn a_dropped_waiter_releases_itself() {
    let mut desk = Desk::new(|_| {});
    desk.set("{}");
    let first = desk.pass(tool("t"), Stop::Before).await;
    let second = desk.pass(tool("t"), Stop::Before).await;
    first.abort();
    settle().await;
    assert_eq!(desk.gate.held(), 1);
    assert_eq!(desk.log().split_off(2), ["resumed 1 continue"]);
    desk.answer(2, r#""action":"inject","output":2"#);
    assert_eq!(outcome(second).await, "answer 2");
}

#[tokio::test(start_paused = true)]
async fn a_hold_may_have_another_unattended_release() {
    let approval = Says(|_: &Call, _| {
        let hold = Hold { unattended: Release::Abort, ..Hold::debugger(Reason::plain(PauseReason::Breakpoint)) };
        Verdict::Hold(hold)
    });
    let mut desk = Desk::new(|config| config.policies = vec![Arc::new(approval)]);
    let passing = desk.pass(tool("t"), Stop::Before).await;
    desk.detach();
    assert_eq!(outcome(passing).await, "aborted");
    assert_eq!(desk.log(), ["paused 1 before breakpoint", "resumed 1 abort"]);
}

#[tokio::test(start_paused = true)]
async fn a_release_is_announced_before_the_call_goes_on() {
    let mut desk = Desk::new(|_| {});
    desk.set("{}");
    let gate = desk.gate.clone();
    let mut passing = Box::pin(gate.pass(tool("t"), Stop::Before));
    assert!(futures_now(&mut passing).is_none());
    desk.answer(1, r#""action":"continue""#);
    assert_eq!(desk.log(), ["paused 1 before breakpoint", "resumed 1 continue"], "not polled since");
    assert_eq!(futures_now(&mut passing).map(|outcome| shown(&outcome)), Some("go".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_hold_nobody_can_hear_of_is_not_made() {
    let (tap, mut drain) = Tap::channel(TapLimits { events: 1, bytes: 1 << 20 });
    let gate = Gate::new(GateConfig::new(tap));
    gate.presence(Presence::Attached { watched: Watched::Yes, hub: HubCaps::OLD });
    gate.mode(RunMode::Step);
    let first = Box::pin(gate.pass(tool("t"), Stop::Before));
    let held = tokio::spawn({
        let gate = gate.clone();
        async move { gate.pass(tool("t"), Stop::Before).await }
    });
    settle().await;
    assert_eq!(gate.held(), 1);
    assert_eq!(shown(&first.await), "go", "the queue was full");
    gate.release_all();
    assert_eq!(outcome(held).await, "go");
    let batch = drain.now().expect("events");
    assert_eq!((batch.events.len(), batch.losses.len()), (2, 1), "its end was not dropped");
}

#[tokio::test]
async fn pause_ids_have_a_base_of_their_own_per_gate() {
    let id = async || {
        let (tap, mut drain) = Tap::channel(TapLimits { events: 9, bytes: 1 << 20 });
        let gate = Gate::new(GateConfig::new(tap));
        gate.presence(Presence::Attached { watched: Watched::Yes, hub: HubCaps::OLD });
        gate.mode(RunMode::Step);
        drop(tokio::time::timeout(Duration::ZERO, gate.pass(node(NodeKind::Llm, "step"), Stop::Before)).await);
        format!("{:?}", drain.now().expect("a hold").events.first().expect("paused").event.payload())
    };
    let (one, two) = (id().await, id().await);
    assert_ne!(one, two);
    for frame in [&one, &two] {
        let base = frame.split('_').nth(1).expect("a base");
        assert!(base.len() == 6 && base.bytes().all(|digit| digit.is_ascii_hexdigit()), "{frame}");
        assert!(frame.contains("_1\""), "{frame}");
    }
}

fn at_word(at: Stop) -> &'static str {
    at.point().as_str()
}

/// Polls once.
fn futures_now(passing: &mut (impl Future<Output = Outcome> + Unpin)) -> Option<Outcome> {
    let waker = std::task::Waker::noop();
    match std::pin::Pin::new(passing).poll(&mut std::task::Context::from_waker(waker)) {
        std::task::Poll::Ready(outcome) => Some(outcome),
        std::task::Poll::Pending => None,
    }
}
