//! Edited inputs: which pauses offer them, what each resume is answered, how checks end (wire §3).

use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use lockgate_gate::{Call, Edit, EditInput, Hold, Reason, Stop, Verdict, Watched};
use lockgate_protocol::debug::{LoopInfo, NodeKind, PauseReason, RefusalCode, RunMode};
use lockgate_protocol::edit::Refusal;
use lockgate_protocol::json::Raw;

use crate::kit::{Desk, Says, after, node, outcome, raw, settle, tool};

/// A call whose input may be edited to anything.
fn editable(name: &str) -> Call {
    Call { edit: Some(Edit::any()), ..tool(name) }
}

fn checked(check: impl Fn(Raw) -> Result<Raw, Refusal> + Send + Sync + 'static) -> Call {
    Call { edit: Some(Edit::new(check)), ..tool("t") }
}

/// A check that takes its time.
fn slow(ms: u64) -> Call {
    let check = move |proposed| async move {
        tokio::time::sleep(Duration::from_millis(ms)).await;
        Ok(proposed)
    };
    Call { edit: Some(Edit::later(check)), ..tool("t") }
}

/// A desk with breakpoints at every stop.
fn armed(desk: &Desk) {
    for point in ["before", "after", "error"] {
        desk.set(&format!(r#"{{"point":"{point}"}}"#));
    }
}

#[tokio::test(start_paused = true)]
async fn e01_the_switch_of_the_host_takes_the_offer_back() {
    let mut desk = Desk::new(|config| config.edit_input = EditInput::Off);
    armed(&desk);
    let passing = desk.pass(editable("t"), Stop::Before).await;
    desk.answer(1, r#""action":"continue","input":{},"requestId":"q""#);
    desk.answer(1, r#""action":"continue""#);
    outcome(passing).await;
    assert_eq!(
        desk.log(),
        [
            "paused 1 before breakpoint",
            "refused 1 disabled #q: editing inputs is switched off in this program",
            "resumed 1 continue",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn e02_without_the_offer_the_frame_has_no_such_key() {
    let mut desk = Desk::new(|_| {});
    armed(&desk);
    let offered = desk.pass(editable("t"), Stop::Before).await;
    let plain = desk.pass(tool("t"), Stop::Before).await;
    let rest = r#""nodeId":"tool:t","point":"before","reason":"breakpoint""#;
    assert_eq!(
        desk.frames(),
        [
            format!(r#"exec.paused {{"pauseId":"pause_abcdef_1",{rest},"editable":true}}"#),
            format!(r#"exec.paused {{"pauseId":"pause_abcdef_2",{rest}}}"#),
        ]
    );
    desk.gate.release_all();
    outcome(offered).await;
    outcome(plain).await;
}

#[tokio::test(start_paused = true)]
async fn e03_only_the_list_of_the_hub_counts() {
    let check = async |attach: fn(&Desk), expected: &str| {
        let mut desk = Desk::detached(|_| {});
        attach(&desk);
        armed(&desk);
        let passing = desk.pass(editable("t"), Stop::Before).await;
        assert_eq!(desk.log(), [expected]);
        desk.gate.release_all();
        outcome(passing).await;
    };
    check(|desk| desk.attach(Watched::Yes, &["edit-input"]), "paused 1 before breakpoint editable").await;
    check(|desk| desk.attach(Watched::Yes, &["pause-registry"]), "paused 1 before breakpoint").await;
    check(|desk| desk.attach(Watched::Yes, &[]), "paused 1 before breakpoint").await;
    check(Desk::attach_old, "paused 1 before breakpoint").await;
}

#[tokio::test(start_paused = true)]
async fn e04_a_call_that_offers_nothing_is_held_all_the_same() {
    let mut desk = Desk::new(|_| {});
    armed(&desk);
    let passing = desk.pass(tool("t"), Stop::Before).await;
    desk.answer(1, r#""action":"continue","input":{},"requestId":"q""#);
    desk.answer(1, r#""action":"inject","output":1"#);
    assert_eq!(outcome(passing).await, "answer 1");
    assert_eq!(
        desk.log(),
        [
            "paused 1 before breakpoint",
            "refused 1 unsupported #q: the input of this call cannot be edited",
            "resumed 1 inject",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn e05_an_accepted_edit_goes_on_with_the_call() {
    let check = async |call: Call, at, action: &str, expected: &str| {
        let mut desk = Desk::new(|_| {});
        armed(&desk);
        let passing = desk.pass(call, at).await;
        desk.answer(1, &format!(r#""action":"{action}","input":{{"x":2}},"requestId":"q""#));
        assert_eq!(outcome(passing).await, expected);
        let after = expected.split("edited ").nth(1).expect("an edit");
        assert_eq!(desk.log().last(), Some(&format!("resumed 1 {action} edited {after} #q")));
    };
    check(editable("t"), Stop::Before, "continue", r#"go edited {"x":2}"#).await;
    check(editable("t"), Stop::After, "retry", r#"again edited {"x":2}"#).await;
    check(editable("t"), Stop::Error, "retry", r#"again edited {"x":2}"#).await;
    let changed = || checked(|_| Ok(raw(r#"{"x":3,"when":"2026-01-01T00:00:00.000Z"}"#)));
    check(changed(), Stop::Before, "continue", r#"go edited {"x":3,"when":"2026-01-01T00:00:00.000Z"}"#).await;
    let awaited = Edit::later(|_| async {
        tokio::task::yield_now().await;
        Ok(raw("4"))
    });
    check(Call { edit: Some(awaited), ..tool("t") }, Stop::Before, "continue", "go edited 4").await;
}

#[tokio::test(start_paused = true)]
async fn e05_the_call_carries_the_edit_and_is_asked_about_with_it() {
    let inputs = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&inputs);
    let watching = Says(move |call: &Call, _| {
        seen.lock().expect("no panic").push(call.input.clone());
        Verdict::Pass
    });
    let desk = Desk::new(|config| config.policies = vec![Arc::new(watching)]);
    armed(&desk);
    let passing = desk.pass(editable("t"), Stop::Before).await;
    desk.answer(1, r#""action":"continue","input":{"x":2}"#);
    assert_eq!(outcome(passing).await, r#"go edited {"x":2}"#);
    assert_eq!(*inputs.lock().expect("no panic"), [Some(raw(r#"{"x":1}"#)), Some(raw(r#"{"x":2}"#))]);
}

tokio::task_local! {
    static RUN: &'static str;
}

#[tokio::test(start_paused = true)]
async fn e06_the_check_runs_where_the_call_stands() {
    let desk = Desk::new(|_| {});
    armed(&desk);
    let here = || Ok(Raw::string(RUN.try_with(|run| *run).unwrap_or("elsewhere")));
    let at_once = checked(move |_| here());
    let later = Call { edit: Some(Edit::later(move |_| async move { here() })), ..tool("t") };
    for (pause, call) in [(1, at_once), (2, later)] {
        let gate = desk.gate.clone();
        let passing = tokio::spawn(RUN.scope("the run", async move { gate.pass(call, Stop::Before).await }));
        settle().await;
        desk.answer(pause, r#""action":"continue","input":{}"#);
        assert_eq!(outcome(passing).await, r#"go edited "the run""#);
    }
}

#[tokio::test(start_paused = true)]
async fn e07_after_a_refusal_the_same_pause_takes_another_answer() {
    for (last, expected) in [
        (r#""action":"continue","input":{"good":1}"#, r#"go edited {"good":1}"#),
        (r#""action":"continue""#, "go"),
        (r#""action":"abort""#, "aborted"),
    ] {
        let mut desk = Desk::new(|_| {});
        armed(&desk);
        let call = checked(|proposed| match proposed.view().get("good") {
            Some(_) => Ok(proposed),
            None => Err(Refusal::new(RefusalCode::Schema, "good is missing")),
        });
        let passing = desk.pass(call, Stop::Before).await;
        for _ in 0..3 {
            desk.answer(1, r#""action":"continue","input":{"bad":1},"requestId":"q""#);
            settle().await;
        }
        desk.answer(1, last);
        assert_eq!(outcome(passing).await, expected);
        let log = desk.log();
        let count = |word: &str| log.iter().filter(|line| line.starts_with(word)).count();
        assert_eq!((count("paused"), count("refused"), count("resumed")), (1, 3, 1), "{log:?}");
        assert_eq!(log.get(1).map(String::as_str), Some("refused 1 schema #q: good is missing"));
    }
}

#[tokio::test(start_paused = true)]
async fn e08_an_edit_goes_with_continue_at_before_and_retry_behind() {
    let check = async |at, action: &str, rest: &str| {
        let calls = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&calls);
        let mut desk = Desk::new(|_| {});
        armed(&desk);
        let call = checked(move |proposed| {
            count.fetch_add(1, Ordering::Relaxed);
            Ok(proposed)
        });
        let passing = desk.pass(call, at).await;
        desk.answer(1, &format!(r#""action":"{action}","input":{{"x":2}}{rest}"#));
        settle().await;
        assert!(!passing.is_finished());
        let log = desk.log();
        assert!(
            log.last().is_some_and(|line| line.starts_with("refused 1 shape: an edited input goes with")),
            "{log:?}"
        );
        assert_eq!(calls.load(Ordering::Relaxed), 0, "the check is not asked");
        desk.gate.release_all();
        outcome(passing).await;
    };
    check(Stop::Before, "retry", "").await;
    check(Stop::After, "continue", "").await;
    check(Stop::Error, "continue", "").await;
    for at in [Stop::Before, Stop::After, Stop::Error] {
        check(at, "inject", r#","output":1"#).await;
        check(at, "abort", "").await;
    }
}

#[tokio::test(start_paused = true)]
async fn e09_marked_values_are_refused_before_the_check() {
    let mut desk = Desk::new(|_| {});
    armed(&desk);
    let calls = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&calls);
    let call = checked(move |proposed| {
        count.fetch_add(1, Ordering::Relaxed);
        Ok(proposed)
    });
    let passing = desk.pass(call, Stop::Before).await;
    desk.log();
    let mut check = |resume: &str, expected: &str| {
        desk.answer(1, resume);
        assert_eq!(desk.log(), [expected], "{resume}");
    };
    let deep = format!("{}{}", "[".repeat(600), "]".repeat(600));
    for (value, code, problem) in [
        (r#""__REDACTED__""#, "placeholder", "holds a placeholder of redaction"),
        (r#"{"a":{"b":["x__REDACTED__y"]}}"#, "placeholder", "holds a placeholder of redaction"),
        (r#"{"__REDACTED__":1}"#, "placeholder", "holds a placeholder of redaction"),
        (r#"{"__graphmindTruncated":true}"#, "truncated", "holds a marker of truncation"),
        (r#"{"a":"text…[graphmind: truncated]"}"#, "truncated", "holds a marker of truncation"),
        (r#"{"a":{"__graphmind":"truncated"}}"#, "truncated", "holds a marker of truncation"),
        (r#"{"a":{"__graphmind":"unserializable"}}"#, "truncated", "holds a marker of truncation"),
        (r#"{"note":"payload truncated: showing first 9"}"#, "truncated", "holds a marker of truncation"),
        (deep.as_str(), "shape", "is nested too deeply"),
    ] {
        let refused = |side: &str| format!("refused 1 {code}: the {side} {problem}");
        check(&format!(r#""action":"continue","input":{value}"#), &refused("input"));
        check(&format!(r#""action":"inject","output":{value}"#), &refused("output"));
    }
    for value in [r#"{"a":[{"__proto__":{}}]}"#, r#"{"constructor":{"prototype":{}}}"#] {
        check(&format!(r#""action":"continue","input":{value}"#), "refused 1 shape: the input names a prototype");
    }
    assert_eq!(calls.load(Ordering::Relaxed), 0, "the check is not asked");
    desk.answer(1, r#""action":"continue","input":{"constructor":"Ford"}"#);
    assert_eq!(outcome(passing).await, r#"go edited {"constructor":"Ford"}"#);
}

#[tokio::test(start_paused = true)]
async fn e09_outputs_are_looked_at_under_any_hub_and_for_inject_only() {
    let mut desk = Desk::new(|config| config.edit_input = EditInput::Off);
    desk.attach_old();
    armed(&desk);
    let passing = desk.pass(tool("t"), Stop::Before).await;
    desk.answer(1, r#""action":"inject","output":"__REDACTED__""#);
    desk.answer(1, r#""action":"continue","output":"__REDACTED__""#);
    assert_eq!(outcome(passing).await, "go");
    assert_eq!(
        desk.log(),
        [
            "paused 1 before breakpoint",
            "refused 1 placeholder: the output holds a placeholder of redaction",
            "resumed 1 continue",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn e10_a_check_that_panics_refuses_and_tells_nothing() {
    let quiet = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let at_once = checked(|_| panic!("secret value"));
    let later = Call {
        edit: Some(Edit::later(|_| async {
            tokio::task::yield_now().await;
            panic!("secret value")
        })),
        ..tool("t")
    };
    for call in [at_once, later] {
        let mut desk = Desk::new(|_| {});
        armed(&desk);
        let passing = desk.pass(call, Stop::Before).await;
        for _ in 0..2 {
            desk.answer(1, r#""action":"continue","input":{}"#);
            settle().await;
        }
        assert_eq!(desk.log().split_off(1), ["refused 1 shape: the check failed", "refused 1 shape: the check failed"]);
        assert_eq!(desk.warnings(), [""; 0]);
        desk.answer(1, r#""action":"continue""#);
        assert_eq!(outcome(passing).await, "go", "the gate is fine");
    }
    panic::set_hook(quiet);
}

#[tokio::test(start_paused = true)]
async fn e10_every_code_of_a_check_reaches_the_viewer() {
    for code in RefusalCode::ALL {
        let mut desk = Desk::new(|_| {});
        armed(&desk);
        let call = checked(|_| Err(Refusal { code: *code, message: None }));
        let passing = desk.pass(call, Stop::Before).await;
        desk.answer(1, r#""action":"continue","input":{}"#);
        settle().await;
        assert_eq!(desk.log().split_off(1), [format!("refused 1 {code}: -")]);
        desk.gate.release_all();
        outcome(passing).await;
    }
}

#[tokio::test(start_paused = true)]
async fn e11_refusal_texts_are_cleaned() {
    let check = async |text: &str, expected: Option<&str>| {
        let mut desk = Desk::new(|_| {});
        armed(&desk);
        let message = Some(text.to_owned());
        let call = checked(move |_| Err(Refusal { code: RefusalCode::Schema, message: message.clone() }));
        let passing = desk.pass(call, Stop::Before).await;
        desk.answer(1, r#""action":"continue","input":{}"#);
        settle().await;
        assert_eq!(desk.log().split_off(1), [format!("refused 1 schema: {}", expected.unwrap_or("-"))]);
        desk.gate.release_all();
        outcome(passing).await;
    };
    check("\u{1b}[31mred\n\u{202e}evil", Some("[31mred evil")).await;
    check(&"é".repeat(300), Some(&format!("{}…", "é".repeat(199)))).await;
    check("\u{0}\t ", None).await;
}

#[tokio::test(start_paused = true)]
async fn e12_a_check_may_take_four_seconds() {
    let mut desk = Desk::new(|_| {});
    armed(&desk);
    let passing = desk.pass(slow(3_990), Stop::Before).await;
    desk.answer(1, r#""action":"continue","input":{}"#);
    settle().await;
    after(3_995).await;
    assert_eq!(outcome(passing).await, "go edited {}");

    let passing = desk.pass(slow(4_010), Stop::Before).await;
    desk.log();
    desk.answer(2, r#""action":"continue","input":{},"requestId":"q""#);
    settle().await;
    after(4_001).await;
    assert_eq!(desk.log(), ["refused 2 shape #q: the check took too long"]);
    after(1_000).await;
    assert_eq!(desk.log(), [""; 0], "its verdict is void");
    desk.answer(2, r#""action":"continue""#);
    assert_eq!(outcome(passing).await, "go");
}

#[tokio::test]
async fn e12_a_check_that_blocks_is_late_without_a_timer() {
    tokio::time::pause();
    let mut desk = Desk::new(|_| {});
    armed(&desk);
    let passing = desk.pass(checked_late(Duration::from_millis(4_001)), Stop::Before).await;
    desk.answer(1, r#""action":"continue","input":{}"#);
    settle().await;
    assert_eq!(desk.log().split_off(1), ["refused 1 shape: the check took too long"]);
    desk.gate.release_all();
    assert_eq!(outcome(passing).await, "go");
}

/// A check during which the clock moves on although nobody gets to run.
fn checked_late(by: Duration) -> Call {
    let check = move |proposed| async move {
        let mut moving = Box::pin(tokio::time::advance(by));
        let waker = std::task::Waker::noop();
        assert!(moving.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending(), "it yields once");
        Ok(proposed)
    };
    Call { edit: Some(Edit::later(check)), ..tool("t") }
}

#[tokio::test(start_paused = true)]
async fn e13_while_a_check_runs_other_answers_are_passed_over() {
    let mut desk = Desk::new(|_| {});
    armed(&desk);
    let passing = desk.pass(slow(1_000), Stop::Before).await;
    desk.answer(1, r#""action":"continue","input":{"first":1},"requestId":"q1""#);
    for rest in [
        r#""action":"abort","requestId":"q2""#,
        r#""action":"continue","requestId":"q3""#,
        r#""action":"continue","input":{"second":2},"requestId":"q4""#,
        r#""action":"inject","output":"__REDACTED__""#,
    ] {
        desk.answer(1, rest);
        settle().await;
    }
    after(1_001).await;
    assert_eq!(outcome(passing).await, r#"go edited {"first":1}"#);
    assert_eq!(desk.log(), ["paused 1 before breakpoint editable", r#"resumed 1 continue edited {"first":1} #q1"#]);
}

#[tokio::test(start_paused = true)]
async fn e14_a_release_during_the_check_takes_the_original_input() {
    let check = async |end: fn(&Desk), ms| {
        let mut desk = Desk::new(|config| config.pause_timeout = Some(Duration::from_secs(2)));
        armed(&desk);
        let passing = desk.pass(slow(3_000), Stop::Before).await;
        desk.answer(1, r#""action":"continue","input":{"x":2},"requestId":"q""#);
        settle().await;
        end(&desk);
        after(ms).await;
        assert_eq!(outcome(passing).await, "go");
        assert_eq!(desk.log().split_off(1), ["resumed 1 continue"]);
        after(3_000).await;
        assert_eq!(desk.log(), [""; 0], "no word about a closed pause");
    };
    check(|_| {}, 2_001).await;
    check(Desk::detach, 0).await;
    check(|desk| desk.gate.release_all(), 0).await;
}

#[tokio::test]
async fn e14_a_deadline_that_passed_unseen_counts() {
    tokio::time::pause();
    let mut desk = Desk::new(|config| config.pause_timeout = Some(Duration::from_secs(2)));
    armed(&desk);
    let passing = desk.pass(checked_late(Duration::from_millis(2_001)), Stop::Before).await;
    desk.answer(1, r#""action":"continue","input":{"x":2}"#);
    assert_eq!(outcome(passing).await, "go");
    assert_eq!(desk.log().split_off(1), ["resumed 1 continue"]);
}

#[tokio::test(start_paused = true)]
async fn e15_every_hold_of_the_debugger_can_be_editable() {
    let looped = || LoopInfo {
        repeats: 3,
        first_seq: 1,
        last_seq: 5,
        fingerprint: "f".repeat(32),
        kind: None,
        period: None,
        laps: None,
    };
    let looping = Says(move |call: &Call, _| match &*call.node.name {
        "again" => Verdict::Hold(Hold::debugger(Reason { looped: Some(looped()), ..Reason::plain(PauseReason::Loop) })),
        _ => Verdict::Pass,
    });
    let mut desk = Desk::new(|config| config.policies = vec![Arc::new(looping)]);
    desk.gate.mode(RunMode::Step);
    desk.set(r#"{"kind":"llm"}"#);
    let llm = Call { edit: Some(Edit::any()), ..node(NodeKind::Llm, "step") };
    for (pause, call) in [(1, editable("t")), (2, llm), (3, editable("again"))] {
        let passing = desk.pass(call, Stop::Before).await;
        desk.answer(pause, r#""action":"continue","input":{"x":2}"#);
        assert_eq!(outcome(passing).await, r#"go edited {"x":2}"#);
    }
    let log = desk.log();
    let paused: Vec<_> = log.iter().filter(|line| line.starts_with("paused")).collect();
    assert_eq!(
        paused,
        ["paused 1 before step editable", "paused 2 before breakpoint editable", "paused 3 before loop editable"]
    );
}

#[tokio::test(start_paused = true)]
async fn e16_refusals_do_not_start_the_clock_again() {
    let mut desk = Desk::new(|config| config.pause_timeout = Some(Duration::from_secs(1)));
    armed(&desk);
    let passing = desk.pass(checked(|_| Err(Refusal::new(RefusalCode::Schema, "no"))), Stop::Before).await;
    for _ in 0..4 {
        after(240).await;
        desk.answer(1, r#""action":"continue","input":{}"#);
        settle().await;
    }
    assert!(!passing.is_finished());
    after(41).await;
    assert_eq!(outcome(passing).await, "go");
    let log = desk.queued();
    let held = log.last().expect("resumed").at.duration_since(log.first().expect("paused").at);
    assert!((1_000..=1_010).contains(&held.as_millis()), "one interval: {held:?}");
}

#[tokio::test(start_paused = true)]
async fn e17_request_ids_are_echoed_whatever_they_are() {
    let long = "q".repeat(10_000);
    for id in ["", "req-1", "é😀", long.as_str()] {
        for action in ["continue", "retry", "inject", "abort"] {
            let mut desk = Desk::new(|_| {});
            desk.attach_old();
            armed(&desk);
            let passing = desk.pass(tool("t"), Stop::Error).await;
            desk.answer(1, &format!(r#""action":"{action}","requestId":"{id}""#));
            outcome(passing).await;
            assert_eq!(desk.log().last(), Some(&format!("resumed 1 {action} #{id}")));
        }
    }
    let mut desk = Desk::new(|_| {});
    armed(&desk);
    let passing = desk.pass(tool("t"), Stop::Error).await;
    desk.answer(1, r#""action":"continue""#);
    outcome(passing).await;
    assert_eq!(
        desk.frames().last().map(String::as_str),
        Some(r#"exec.resumed {"pauseId":"pause_abcdef_1","action":"continue"}"#)
    );
}

#[tokio::test(start_paused = true)]
async fn e18_what_a_hub_can_do_is_read_afresh() {
    let mut desk = Desk::new(|_| {});
    armed(&desk);
    let passing = desk.pass(editable("t"), Stop::Before).await;
    assert_eq!(desk.log(), ["paused 1 before breakpoint editable"]);
    desk.attach(Watched::Yes, &["pause-registry"]);
    desk.answer(1, r#""action":"continue","input":{}"#);
    assert_eq!(desk.log(), ["refused 1 disabled: this hub does not support edited inputs"]);
    desk.detach();
    outcome(passing).await;
    desk.attach_old();
    armed(&desk);
    let passing = desk.pass(editable("t"), Stop::Before).await;
    assert_eq!(desk.log().split_off(1), ["paused 2 before breakpoint"]);
    desk.answer(2, r#""action":"continue","input":{}"#);
    assert_eq!(desk.log(), ["refused 2 disabled: this hub does not support edited inputs"]);
    desk.gate.release_all();
    outcome(passing).await;
}

/// The answers of every row, in the order in which rows are looked at: each resume also breaks all later rows.
#[tokio::test(start_paused = true)]
async fn the_rows_are_looked_at_in_order() {
    let all = r#""action":"inject","input":"__REDACTED__","output":"__REDACTED__""#;
    let unsupported = lockgate_gate::Actions::NONE.with(lockgate_protocol::debug::ResumeAction::Inject);
    let check = async |shape: fn(&mut lockgate_gate::GateConfig), attach: fn(&Desk), call: Call, expected: &str| {
        let mut desk = Desk::detached(shape);
        attach(&desk);
        armed(&desk);
        let passing = desk.pass(call, Stop::Before).await;
        desk.answer(1, all);
        let log = desk.log();
        assert!(log.last().is_some_and(|line| line.starts_with(expected)), "{log:?}");
        desk.gate.release_all();
        outcome(passing).await;
    };
    let edits: fn(&Desk) = |desk| desk.attach(Watched::Yes, &["edit-input"]);
    let off = Call { unsupported, ..tool("t") };
    check(|config| config.edit_input = EditInput::Off, Desk::attach_old, off, "refused 1 unsupported: inject is").await;
    check(|config| config.edit_input = EditInput::Off, Desk::attach_old, tool("t"), "refused 1 disabled: editing")
        .await;
    check(|_| {}, Desk::attach_old, tool("t"), "refused 1 disabled: this hub").await;
    check(|_| {}, edits, tool("t"), "refused 1 unsupported: the input").await;
    check(|_| {}, edits, editable("t"), "refused 1 shape: an edited input goes").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_edits_are_independent() {
    let desk = Desk::new(|_| {});
    armed(&desk);
    let mut passing = Vec::new();
    for n in 0..20_u64 {
        let call = checked(move |proposed| {
            thread::sleep(Duration::from_millis(n % 3));
            Ok(proposed)
        });
        passing.push((
            n,
            tokio::spawn({
                let gate = desk.gate.clone();
                async move { gate.pass(call, Stop::Before).await }
            }),
        ));
    }
    while desk.gate.held() < 20 {
        tokio::task::yield_now().await;
    }
    for pause in 1..=20 {
        desk.answer(pause, &format!(r#""action":"continue","input":{pause}"#));
    }
    let mut seen = Vec::new();
    for (_, passing) in passing {
        seen.push(crate::kit::shown(&passing.await.expect("no panic")));
    }
    seen.sort_unstable();
    let mut expected: Vec<_> = (1..=20).map(|pause| format!("go edited {pause}")).collect();
    expected.sort_unstable();
    assert_eq!(seen, expected);
}
