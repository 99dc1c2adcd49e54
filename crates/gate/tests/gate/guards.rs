//! Holds that protect something: made only where somebody can come, ended by anything else with the policy's own
//! refusal (wire §10.2).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use lockgate_gate::{
    Actions, Approve, Call, Ending, Guard, Hold, Limit, OldHub, PolicyRefusal, Presence, Reason, Refused, Release,
    Revisit, Stop, Verdict, Watched,
};
use lockgate_protocol::debug::{GuardHold, PauseReason, RefusalCode, ResumeAction, RunMode};
use lockgate_protocol::edit::Refusal;
use lockgate_protocol::json::Raw;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::kit::{Desk, Says, after, outcome, raw, settle, tool};

const CONTINUE: Actions = Actions::NONE.with(ResumeAction::Continue);
const RETRY: Actions = Actions::NONE.with(ResumeAction::Retry);

fn guard(allow: Actions, approve: Option<Approve>) -> Guard {
    Guard {
        review: Duration::from_secs(60),
        allow,
        old_hub: OldHub::Refuse,
        approve,
        refusal: Arc::new(|ending| PolicyRefusal { code: -32_010, message: format!("{ending:?}"), data: None }),
    }
}

fn shown() -> GuardHold {
    GuardHold { policy: "drift".into(), cause: "contract-changed".into(), detail: Some("2 changes".to_owned()) }
}

/// A policy that holds calls of `t` for as long as `open` says nothing else.
fn holding(guard: Guard) -> Says<impl Fn(&Call, Stop) -> Verdict + Send + Sync> {
    let guard = Arc::new(guard);
    Says(move |call: &Call, at| match (&*call.node.name, at) {
        ("t", Stop::Before) => Verdict::Hold(Hold::guarded(shown(), Arc::clone(&guard))),
        _ => Verdict::Pass,
    })
}

/// A gate with one guard, under a hub that knows guard holds, watched.
fn desk(guard: Guard) -> Desk {
    let desk = Desk::detached(|config| config.policies = vec![Arc::new(holding(guard))]);
    desk.attach(Watched::Yes, &["guard-holds", "edit-input"]);
    desk
}

fn approving(approve: impl Fn(Option<String>) -> Result<(), Refusal> + Send + Sync + 'static) -> Option<Approve> {
    Some(Arc::new(move |pin| Box::pin(std::future::ready(approve(pin)))))
}

#[tokio::test(start_paused = true)]
async fn b02_it_travels_as_a_breakpoint_with_its_reason_beside() {
    let mut desk = desk(guard(CONTINUE, None));
    let passing = desk.pass(tool("t"), Stop::Before).await;
    let frame = desk.frames().remove(0);
    let (frame, until) = frame.split_once(r#","until":{"at":"#).expect("it ends by itself");
    assert_eq!(
        frame,
        r#"exec.paused {"pauseId":"pause_abcdef_1","nodeId":"tool:t","point":"before","reason":"breakpoint","hold":{"policy":"drift","cause":"contract-changed","detail":"2 changes"}"#
    );
    assert!(until.ends_with(r#","action":"abort","why":"review"}}"#), "{until}");
    desk.answer(1, r#""action":"continue""#);
    assert_eq!(outcome(passing).await, "go");
}

#[tokio::test(start_paused = true)]
async fn b03_whatever_ends_it_by_itself_refuses() {
    let check = async |end: fn(&Desk, &Ends), ms, expected: &str| {
        let ends = Ends::default();
        let mut desk = desk(guard(CONTINUE, None));
        let call = Call { cancel: Some(ends.cancel.clone()), signal: Some(ends.signal.clone()), ..tool("t") };
        let passing = desk.pass(call, Stop::Before).await;
        end(&desk, &ends);
        after(ms).await;
        assert_eq!(outcome(passing).await, expected);
        assert_eq!(desk.log().last().map(String::as_str), Some("resumed 1 abort"));
    };
    check(|desk, _| desk.answer(1, r#""action":"abort""#), 0, "refused -32010 Refused").await;
    check(|_, _| {}, 60_001, "refused -32010 TimedOut").await;
    check(|desk, _| desk.detach(), 0, "refused -32010 Left").await;
    check(|desk, _| desk.attach(Watched::No, &["guard-holds"]), 0, "refused -32010 Left").await;
    check(|desk, _| desk.gate.release_all(), 0, "refused -32010 Left").await;
    check(|desk, _| desk.gate.dispose(), 0, "refused -32010 Left").await;
    check(|desk, _| desk.gate.revisit(|_| Revisit::Superseded), 0, "refused -32010 Superseded").await;
    check(|_, ends| ends.signal.cancel(), 0, "refused -32010 Cancelled").await;
    check(|_, ends| ends.cancel.cancel(), 0, "cancelled").await;
}

#[derive(Default)]
struct Ends {
    cancel: CancellationToken,
    signal: CancellationToken,
}

#[tokio::test(start_paused = true)]
async fn b03_a_dropped_waiter_and_a_pause_timeout_abort_too() {
    let mut desk = Desk::detached(|config| {
        config.policies = vec![Arc::new(holding(guard(CONTINUE, None)))];
        config.pause_timeout = Some(Duration::from_millis(200));
    });
    desk.attach(Watched::Yes, &["guard-holds"]);
    let dropped = desk.pass(tool("t"), Stop::Before).await;
    let timed = desk.pass(tool("t"), Stop::Before).await;
    dropped.abort();
    settle().await;
    assert_eq!(desk.log().last().map(String::as_str), Some("resumed 1 abort"));
    after(201).await;
    assert_eq!(outcome(timed).await, "refused -32010 TimedOut");
    assert_eq!(desk.log(), ["resumed 2 abort"]);
}

#[tokio::test(start_paused = true)]
async fn b04_where_nobody_can_come_it_refuses_at_once() {
    let check = async |old_hub, arrange: fn(&Desk), expected: &str| {
        let guard = Guard { old_hub, ..guard(CONTINUE, None) };
        let mut desk = Desk::detached(|config| config.policies = vec![Arc::new(holding(guard))]);
        arrange(&desk);
        let passing = desk.pass(tool("t"), Stop::Before).await;
        let held = desk.gate.held() == 1;
        assert_eq!(desk.log().len(), usize::from(held));
        desk.gate.release_all();
        let said = if held { "held".to_owned() } else { outcome(passing).await };
        assert_eq!(said, expected);
    };
    let nobody = "refused -32010 NobodyThere";
    for old_hub in [OldHub::Wait, OldHub::Refuse] {
        check(old_hub, |_| {}, nobody).await;
        check(old_hub, |desk| desk.attach(Watched::No, &["guard-holds"]), nobody).await;
        check(old_hub, |desk| desk.attach(Watched::No, &[]), nobody).await;
        check(old_hub, |desk| desk.attach(Watched::Yes, &["guard-holds"]), "held").await;
        check(
            old_hub,
            |desk| {
                desk.attach(Watched::Yes, &["guard-holds"]);
                desk.gate.dispose();
            },
            nobody,
        )
        .await;
    }
    check(OldHub::Wait, Desk::attach_old, "held").await;
    check(OldHub::Refuse, Desk::attach_old, nobody).await;
    check(OldHub::Wait, |desk| desk.attach(Watched::Yes, &[]), "held").await;
    check(OldHub::Refuse, |desk| desk.attach(Watched::Yes, &[]), nobody).await;
    check(OldHub::Refuse, |desk| desk.attach(Watched::Unknown, &["guard-holds"]), nobody).await;
}

#[tokio::test(start_paused = true)]
async fn an_asker_that_is_gone_is_not_waited_for() {
    let mut desk = desk(guard(CONTINUE, None));
    let (cancel, signal) = (CancellationToken::new(), CancellationToken::new());
    cancel.cancel();
    signal.cancel();
    assert_eq!(desk.through(Call { cancel: Some(cancel), ..tool("t") }, Stop::Before).await, "cancelled");
    let call = Call { signal: Some(signal), ..tool("t") };
    assert_eq!(desk.through(call, Stop::Before).await, "refused -32010 Cancelled");
    assert_eq!(desk.log(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn b05_only_what_the_guard_allows_is_done() {
    let check = async |allow, approve: Option<Approve>, rest: &str, expected: &str| {
        let mut desk = desk(guard(allow, approve));
        let passing = desk.pass(tool("t"), Stop::Before).await;
        desk.log();
        desk.answer(1, rest);
        settle().await;
        assert_eq!(desk.log().first().map(String::as_str), Some(expected), "{rest}");
        desk.gate.release_all();
        settle().await;
        desk.gate.release_all();
        drop(passing);
    };
    let pins = || approving(|_| Ok(()));
    let no = |text: &str| format!("refused 1 unsupported: {text}");
    let only = |action: &str, left: &str| no(&format!("{action} is not possible here, only {left}"));
    check(CONTINUE, None, r#""action":"continue""#, "resumed 1 continue").await;
    check(CONTINUE, None, r#""action":"continue","pin":"d""#, &no("there is nothing to pin here")).await;
    check(CONTINUE, pins(), r#""action":"continue","pin":"d""#, "resumed 1 continue").await;
    check(CONTINUE, pins(), r#""action":"abort","pin":"d""#, "resumed 1 abort").await;
    check(CONTINUE, pins(), r#""action":"abort""#, "resumed 1 abort").await;
    check(CONTINUE, pins(), r#""action":"retry""#, &only("retry", "continue, abort")).await;
    check(CONTINUE, pins(), r#""action":"inject","output":1"#, &only("inject", "continue, abort")).await;
    check(CONTINUE, pins(), r#""action":"continue","input":{}"#, &no("a guard's hold takes no edited input")).await;
    check(CONTINUE, pins(), r#""action":"abort","input":{}"#, &no("a guard's hold takes no edited input")).await;
    check(RETRY, None, r#""action":"retry""#, "resumed 1 retry").await;
    check(RETRY, None, r#""action":"retry","pin":"d""#, &no("there is nothing to pin here")).await;
    check(RETRY, None, r#""action":"continue""#, &only("continue", "retry, abort")).await;
    check(RETRY, None, r#""action":"abort""#, "resumed 1 abort").await;
    check(Actions::NONE, None, r#""action":"continue""#, &only("continue", "abort")).await;
    let every = CONTINUE.with(ResumeAction::Retry).with(ResumeAction::Inject);
    check(every, None, r#""action":"inject","output":1"#, &only("inject", "continue, retry, abort")).await;
}

#[tokio::test(start_paused = true)]
async fn b05_an_approval_is_asked_before_the_call_goes() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let approve = approving(move |pin| {
        seen.lock().expect("no panic").push(pin.clone());
        match pin.as_deref() {
            Some("old") => Err(Refusal::new(RefusalCode::Shape, "that is not what was shown")),
            _ => Ok(()),
        }
    });
    let mut desk = desk(guard(CONTINUE, approve));
    let passing = desk.pass(tool("t"), Stop::Before).await;
    desk.answer(1, r#""action":"continue","pin":"old","requestId":"q1""#);
    settle().await;
    assert!(!passing.is_finished());
    desk.answer(1, r#""action":"continue","pin":"new","requestId":"q2""#);
    assert_eq!(outcome(passing).await, "go");
    let passing = desk.pass(tool("t"), Stop::Before).await;
    desk.answer(2, r#""action":"continue""#);
    assert_eq!(outcome(passing).await, "go");
    assert_eq!(*asked.lock().expect("no panic"), [Some("old".to_owned()), Some("new".to_owned()), None]);
    let held = "before breakpoint abort in 60000 ms by review";
    assert_eq!(
        desk.log(),
        [
            &format!("paused 1 {held}"),
            "refused 1 shape #q1: that is not what was shown",
            "resumed 1 continue #q2",
            &format!("paused 2 {held}"),
            "resumed 2 continue",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn b05_an_approval_that_takes_too_long_is_none() {
    let slow: Approve = Arc::new(|_| {
        Box::pin(async {
            tokio::time::sleep(Duration::from_secs(5)).await;
            Ok(())
        })
    });
    let mut desk = desk(guard(CONTINUE, Some(slow)));
    let passing = desk.pass(tool("t"), Stop::Before).await;
    desk.log();
    desk.answer(1, r#""action":"continue""#);
    settle().await;
    after(4_001).await;
    assert_eq!(desk.log(), ["refused 1 shape: the check took too long"]);
    desk.answer(1, r#""action":"continue""#);
    settle().await;
    desk.gate.revisit(|_| Revisit::Superseded);
    assert_eq!(outcome(passing).await, "refused -32010 Superseded", "a change meanwhile wins");
}

#[tokio::test(start_paused = true)]
async fn b05_retry_has_the_policy_judge_again() {
    let judged = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&judged);
    let terms = Arc::new(guard(RETRY, None));
    let policy = Says(move |_: &Call, _| match count.fetch_add(1, Ordering::Relaxed) {
        0 | 1 | 3 => Verdict::Hold(Hold::guarded(shown(), Arc::clone(&terms))),
        2 => Verdict::Pass,
        _ => Verdict::Refuse(Refused::Policy(Box::new(PolicyRefusal {
            code: -32_011,
            message: "withheld".to_owned(),
            data: None,
        }))),
    });
    let mut desk = Desk::detached(|config| config.policies = vec![Arc::new(policy)]);
    desk.attach(Watched::Yes, &["guard-holds"]);
    let passing = desk.pass(tool("t"), Stop::Before).await;
    desk.answer(1, r#""action":"retry""#);
    settle().await;
    assert_eq!(desk.gate.held(), 1, "it still holds, as another pause");
    desk.gate.revisit(|held| if &*held.node.name == "t" { Revisit::Again } else { Revisit::Keep });
    assert_eq!(outcome(passing).await, "go");
    let passing = desk.pass(tool("t"), Stop::Before).await;
    desk.gate.revisit(|held| if held.reason.guard.is_some() { Revisit::Again } else { Revisit::Keep });
    assert_eq!(outcome(passing).await, "refused -32011 withheld");
    let ends: Vec<_> = desk.log().into_iter().filter(|line| line.starts_with("resumed")).collect();
    assert_eq!(ends, ["resumed 1 retry", "resumed 2 retry", "resumed 3 retry"]);
}

#[tokio::test(start_paused = true)]
async fn revisits_leave_the_debugger_alone() {
    let desk = desk(guard(CONTINUE, None));
    desk.set("{}");
    let held = desk.pass(tool("u"), Stop::Before).await;
    let looked = AtomicUsize::new(0);
    desk.gate.revisit(|_| {
        looked.fetch_add(1, Ordering::Relaxed);
        Revisit::Superseded
    });
    settle().await;
    assert!(!held.is_finished());
    assert_eq!(looked.load(Ordering::Relaxed), 0);
    desk.gate.release_all();
    assert_eq!(outcome(held).await, "go");
}

#[tokio::test(start_paused = true)]
async fn no_limit_of_the_asker_opens_a_guard() {
    let desk = desk(guard(CONTINUE, None));
    let (_moves, deadline) = watch::channel(Some(tokio::time::Instant::now() + Duration::from_secs(55)));
    let limit = Some(Box::new(Limit { deadline, action: Some(Release::Continue) }));
    let passing = desk.pass(Call { limit, ..tool("t") }, Stop::Before).await;
    after(55_001).await;
    assert_eq!(outcome(passing).await, "refused -32010 TimedOut");
}

#[tokio::test(start_paused = true)]
async fn an_approved_call_meets_the_debugger_next_and_is_not_held_by_the_guard_again() {
    let mut desk = desk(guard(CONTINUE, None));
    desk.set("{}");
    let passing = desk.pass(tool("t"), Stop::Before).await;
    desk.answer(1, r#""action":"continue""#);
    settle().await;
    assert_eq!(desk.gate.held(), 1);
    desk.answer(2, r#""action":"continue""#);
    assert_eq!(outcome(passing).await, "go");
    let log = desk.log();
    assert_eq!(log.get(2).map(String::as_str), Some("paused 2 before breakpoint"));
    assert_eq!(log.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn guards_look_again_when_a_call_stood_for_the_debugger() {
    let calm = Arc::new(Mutex::new(true));
    let state = Arc::clone(&calm);
    let policy = Says(move |_: &Call, _| {
        if *state.lock().expect("no panic") {
            return Verdict::Pass;
        }
        let message = "changed meanwhile".to_owned();
        Verdict::Refuse(Refused::Policy(Box::new(PolicyRefusal { code: -32_010, message, data: None })))
    });
    let desk = Desk::new(|config| config.policies = vec![Arc::new(policy)]);
    desk.gate.mode(RunMode::Step);
    for (pause, rest, expected) in [
        (1, r#""action":"continue""#, "refused -32010 changed meanwhile"),
        (2, r#""action":"retry""#, "refused -32010 changed meanwhile"),
        // Nothing reaches the target here.
        (3, r#""action":"inject","output":1"#, "answer 1"),
    ] {
        *calm.lock().expect("no panic") = true;
        let passing = desk.pass(tool("t"), Stop::Before).await;
        *calm.lock().expect("no panic") = false;
        desk.answer(pause, rest);
        assert_eq!(outcome(passing).await, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn policies_refuse_and_amend_without_a_hub() {
    let policy = Says(|call: &Call, at| match (&*call.node.name, at) {
        ("refused", _) => Verdict::Refuse(Refused::Policy(Box::new(PolicyRefusal {
            code: -32_011,
            message: "withheld".to_owned(),
            data: Some(Raw::null()),
        }))),
        ("listed", Stop::Before) => Verdict::Amend(raw("{}")),
        ("listed", Stop::After | Stop::Error) => Verdict::Amend(raw(r#"{"tools":[]}"#)),
        _ => Verdict::Pass,
    });
    let second = Says(|call: &Call, at| {
        let seen = match at {
            Stop::Before => &call.input,
            Stop::After | Stop::Error => &call.output,
        };
        assert!(&*call.node.name != "listed" || seen.as_ref().is_some_and(|seen| *seen != raw(r#"{"x":1}"#)));
        Verdict::Pass
    });
    let desk = Desk::detached(|config| config.policies = vec![Arc::new(policy), Arc::new(second)]);
    for at in [Stop::Before, Stop::After, Stop::Error] {
        assert_eq!(desk.through(tool("refused"), at).await, "refused -32011 withheld");
        assert_eq!(desk.through(tool("other"), at).await, "go");
    }
    assert_eq!(desk.through(tool("listed"), Stop::Before).await, "go amended {}");
    assert_eq!(desk.through(tool("listed"), Stop::After).await, r#"go amended {"tools":[]}"#);
    assert_eq!(desk.through(tool("listed"), Stop::Error).await, r#"go amended {"tools":[]}"#);
}

#[tokio::test(start_paused = true)]
async fn a_hold_of_the_debugger_by_a_policy_needs_a_hub() {
    let policy = Says(|_: &Call, _| Verdict::Hold(Hold::debugger(Reason::plain(PauseReason::Loop))));
    let desk = Desk::detached(|config| config.policies = vec![Arc::new(policy)]);
    assert_eq!(desk.through(tool("t"), Stop::Before).await, "go");
    desk.gate.presence(Presence::Detached);
    assert_eq!(desk.through(tool("t"), Stop::Before).await, "go");
}

#[test]
fn endings_are_told_apart() {
    let words: Vec<_> =
        [Ending::NobodyThere, Ending::Refused, Ending::TimedOut, Ending::Left, Ending::Cancelled, Ending::Superseded]
            .iter()
            .map(|ending| (guard(CONTINUE, None).refusal)(*ending).message)
            .collect();
    assert_eq!(words, ["NobodyThere", "Refused", "TimedOut", "Left", "Cancelled", "Superseded"]);
}
