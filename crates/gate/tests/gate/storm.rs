//! Any interleaving of answers, time, links and leavers ends every hold once, says so once and leaves nobody standing.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use lockgate_gate::{
    Actions, Approve, Call, Edit, Guard, Hold, Limit, OldHub, Outcome, PolicyRefusal, Release, Stop, Verdict, Watched,
};
use lockgate_protocol::debug::{Event, GuardHold, ResumeAction, RunMode};
use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof};
use proptest::{prop_assert, prop_assert_eq, proptest};
use tokio::runtime::Builder;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::kit::{Desk, Says, after, settle, tool};

#[derive(Debug, Clone, Copy)]
enum Blow {
    Open { call: Kind, at: Stop },
    Answer { pause: u64, action: ResumeAction, with: With },
    Wait(u64),
    Attach(Watched),
    Detach,
    Cancel(usize),
    Signal(usize),
    Drop(usize),
    Move(usize, u64),
    ReleaseAll,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Plain,
    Edited,
    Checked(u64),
    Guarded,
    Approved(u64),
    Limited(u64),
}

#[derive(Debug, Clone, Copy)]
enum With {
    Nothing,
    Input,
    Pin,
}

fn blows() -> impl Strategy<Value = Vec<Blow>> {
    let ms = || prop_oneof![Just(0_u64), Just(1), 0..6_000_u64];
    let kind = prop_oneof![
        Just(Kind::Plain),
        Just(Kind::Edited),
        ms().prop_map(Kind::Checked),
        Just(Kind::Guarded),
        ms().prop_map(Kind::Approved),
        ms().prop_map(Kind::Limited),
    ];
    let at = prop_oneof![Just(Stop::Before), Just(Stop::After), Just(Stop::Error)];
    let action = (0..4_usize).prop_map(|at| ResumeAction::ALL[at]);
    let with = prop_oneof![Just(With::Nothing), Just(With::Input), Just(With::Pin)];
    let watched = prop_oneof![Just(Watched::Yes), Just(Watched::No), Just(Watched::Unknown)];
    let blow = prop_oneof![
        4 => (kind, at).prop_map(|(call, at)| Blow::Open { call, at }),
        6 => (1..7_u64, action, with).prop_map(|(pause, action, with)| Blow::Answer { pause, action, with }),
        3 => ms().prop_map(Blow::Wait),
        2 => watched.prop_map(Blow::Attach),
        1 => Just(Blow::Detach),
        1 => any::<usize>().prop_map(Blow::Cancel),
        1 => any::<usize>().prop_map(Blow::Signal),
        1 => any::<usize>().prop_map(Blow::Drop),
        1 => (any::<usize>(), ms()).prop_map(|(call, ms)| Blow::Move(call, ms)),
        1 => Just(Blow::ReleaseAll),
    ];
    vec(blow, 0..40)
}

/// A call under way, and the ways to reach it from outside.
struct Passing {
    task: JoinHandle<Outcome>,
    cancel: CancellationToken,
    signal: CancellationToken,
    limit: watch::Sender<Option<Instant>>,
}

fn desk() -> Desk {
    let policy = Says(|call: &Call, _| {
        let slow = call.node.name.strip_prefix("guarded-").and_then(|ms| ms.parse().ok());
        let Some(ms) = slow else { return Verdict::Pass };
        let shown = GuardHold { policy: "drift".into(), cause: "changed".into(), detail: None };
        Verdict::Hold(Hold::guarded(shown, Arc::new(guard(ms))))
    });
    let desk = Desk::detached(|config| {
        config.policies = vec![Arc::new(policy)];
        config.patience = Some(Duration::from_secs(5));
        config.pause_timeout = Some(Duration::from_secs(9));
    });
    attach(&desk, Watched::Yes);
    desk
}

fn guard(ms: u64) -> Guard {
    let approve: Approve = Arc::new(move |_| {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            Ok(())
        })
    });
    Guard {
        review: Duration::from_secs(7),
        allow: Actions::NONE.with(ResumeAction::Continue).with(ResumeAction::Retry),
        old_hub: OldHub::Wait,
        approve: (ms > 0).then_some(approve),
        refusal: Arc::new(|ending| PolicyRefusal { code: -1, message: format!("{ending:?}"), data: None }),
    }
}

fn attach(desk: &Desk, watched: Watched) {
    desk.attach(watched, &["edit-input", "guard-holds"]);
    desk.gate.mode(RunMode::Step);
    desk.set(r#"{"point":"after"}"#);
}

async fn open(desk: &Desk, kind: Kind, at: Stop) -> Passing {
    let (cancel, signal) = (CancellationToken::new(), CancellationToken::new());
    let (limit, deadline) = watch::channel(None);
    let (name, edit) = match kind {
        Kind::Plain | Kind::Limited(_) => ("t".to_owned(), None),
        Kind::Edited => ("t".to_owned(), Some(Edit::any())),
        Kind::Checked(ms) => {
            let check = move |proposed| async move {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                Ok(proposed)
            };
            ("t".to_owned(), Some(Edit::later(check)))
        }
        Kind::Guarded => ("guarded-0".to_owned(), None),
        Kind::Approved(ms) => (format!("guarded-{}", ms + 1), None),
    };
    if let Kind::Limited(ms) = kind {
        limit.send_replace(Some(Instant::now() + Duration::from_millis(ms)));
    }
    let call = Call {
        edit,
        cancel: Some(cancel.clone()),
        signal: Some(signal.clone()),
        limit: Some(Box::new(Limit { deadline, action: Some(Release::Continue) })),
        ..tool(&name)
    };
    Passing { task: desk.pass(call, at).await, cancel, signal, limit }
}

async fn blow(desk: &Desk, passing: &mut Vec<Passing>, blow: Blow) {
    let one = |at: usize| passing.get(at % passing.len().max(1));
    match blow {
        Blow::Open { call, at } => {
            let opened = open(desk, call, at).await;
            passing.push(opened);
        }
        Blow::Answer { pause, action, with } => {
            let with = match with {
                With::Nothing => "",
                With::Input => r#","input":{"x":2}"#,
                With::Pin => r#","pin":"d""#,
            };
            desk.answer(pause, &format!(r#""action":"{action}"{with},"requestId":"q""#));
        }
        Blow::Wait(ms) => after(ms).await,
        Blow::Attach(watched) => attach(desk, watched),
        Blow::Detach => desk.detach(),
        Blow::Cancel(at) => one(at).into_iter().for_each(|passing| passing.cancel.cancel()),
        Blow::Signal(at) => one(at).into_iter().for_each(|passing| passing.signal.cancel()),
        Blow::Drop(at) => one(at).into_iter().for_each(|passing| passing.task.abort()),
        Blow::Move(at, ms) => one(at).into_iter().for_each(|passing| {
            passing.limit.send_replace(Some(Instant::now() + Duration::from_millis(ms)));
        }),
        Blow::ReleaseAll => desk.gate.release_all(),
    }
}

/// What was said about one pause, in order.
fn words(desk: &mut Desk) -> HashMap<String, Vec<&'static str>> {
    let mut said: HashMap<String, Vec<&'static str>> = HashMap::new();
    for queued in desk.queued() {
        let (pause, word) = match &queued.event {
            Event::ExecPaused(event) => (&event.pause_id, "paused"),
            Event::ExecResumed(event) => (&event.pause_id, "resumed"),
            Event::ExecRefused(event) => (&event.pause_id, "refused"),
            Event::ExecUntil(event) => (&event.pause_id, "until"),
            other => panic!("not of a gate: {other:?}"),
        };
        said.entry(pause.to_string()).or_default().push(word);
    }
    said
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn every_hold_is_opened_once_ended_once_and_leaves_nobody(storm in blows(), pauses in any::<u64>()) {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
        let (said, stuck, held) = runtime.block_on(async {
            let mut desk = desk();
            let mut passing = Vec::new();
            for (at, one) in storm.into_iter().enumerate() {
                blow(&desk, &mut passing, one).await;
                // Some blows come in the same instant, before any waiter had its turn.
                if pauses >> (at % 64) & 1 == 1 {
                    settle().await;
                }
            }
            desk.detach();
            settle().await;
            let stuck = passing.iter().filter(|passing| !passing.task.is_finished()).count();
            (words(&mut desk), stuck, desk.gate.held())
        });
        prop_assert_eq!((stuck, held), (0, 0));
        for (pause, words) in said {
            let count = |word| words.iter().filter(|said| **said == word).count();
            prop_assert_eq!((count("paused"), count("resumed")), (1, 1), "{}: {:?}", pause, &words);
            prop_assert!(words.first() == Some(&"paused") && words.last() == Some(&"resumed"), "{}: {:?}", pause, &words);
        }
    }
}

/// The same with real threads: four of them answer, release and hang up on two hundred holds at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn threads_that_race_for_a_release_end_each_hold_once() {
    let mut desk = desk();
    let mut passing = Vec::new();
    for _ in 0..200 {
        let gate = desk.gate.clone();
        passing.push(tokio::spawn(async move { gate.pass(tool("t"), Stop::Before).await }));
    }
    while desk.gate.held() < 200 {
        tokio::task::yield_now().await;
    }
    std::thread::scope(|scope| {
        for action in ["continue", "inject", "retry"] {
            let desk = &desk;
            scope.spawn(move || (1..=150).for_each(|pause| desk.answer(pause, &format!(r#""action":"{action}""#))));
        }
        scope.spawn(|| {
            for _ in 0..50 {
                desk.answer(7, r#""action":"abort""#);
                assert!(desk.gate.held() <= 200);
            }
            desk.detach();
        });
    });
    for passing in passing {
        passing.await.expect("nobody is left standing");
    }
    assert_eq!(desk.gate.held(), 0);
    let said = words(&mut desk);
    assert_eq!(said.len(), 200);
    for (pause, words) in said {
        assert_eq!(words, ["paused", "resumed"], "{pause}");
    }
}
