//! Scripts of events, each with its moment in milliseconds, and the held time that comes out.

use std::sync::Arc;
use std::time::Duration;

use lockgate_protocol::debug::{
    ErrorInfo, Event, ExecPaused, ExecResumed, NodeError, NodeFinished, NodeKind, NodeStarted, PausePoint,
    ResumeAction, RunId, RunStatus,
};
use tokio::time::Instant;

use super::{Ledger, OPEN, PARENTS};

/// `start NODE INSTANCE [in PARENT]`, `finish NODE [INSTANCE]`, `error NODE [INSTANCE]`, `pause ID NODE POINT [INSTANCE]`,
/// `resume ID`.
fn event(line: &str) -> Event {
    let words: Vec<&str> = line.split_whitespace().collect();
    let word = |n: usize| -> Option<Arc<str>> { words.get(n).map(|word| (*word).into()) };
    match words[0] {
        "start" => Event::NodeStarted(NodeStarted {
            node_id: word(1).unwrap(),
            parent_id: word(4),
            kind: NodeKind::Tool,
            name: word(1).unwrap(),
            instance_id: word(2).unwrap(),
            input: None,
            collapsed: None,
            redaction: None,
            extra: Vec::new(),
        }),
        "finish" => Event::NodeFinished(NodeFinished {
            node_id: word(1).unwrap(),
            instance_id: word(2),
            output: None,
            usage: None,
            duration_ms: 500.0,
            held_ms: None,
            status: RunStatus::Ok,
            redaction: None,
            extra: Vec::new(),
        }),
        "error" => Event::NodeError(NodeError {
            node_id: word(1).unwrap(),
            instance_id: word(2),
            error: ErrorInfo { name: String::new(), message: String::new(), stack: None },
            held_ms: None,
            extra: Vec::new(),
        }),
        "pause" => Event::ExecPaused(ExecPaused {
            pause_id: word(1).unwrap(),
            node_id: word(2).unwrap(),
            point: PausePoint::parse(words[3]).unwrap(),
            reason: None,
            looped: None,
            smart: None,
            editable: false,
            instance_id: word(4),
            hold: None,
            until: None,
            extra: Vec::new(),
        }),
        "resume" => Event::ExecResumed(ExecResumed {
            pause_id: word(1).unwrap(),
            action: ResumeAction::Continue,
            edited: None,
            request_id: None,
            redaction: None,
            extra: Vec::new(),
        }),
        other => panic!("{other}"),
    }
}

/// Plays `MS [RUN:]EVENT` lines and gives `node=held` for each finish and error.
fn play(script: &str) -> String {
    let (mut ledger, began) = (Ledger::default(), Instant::now());
    let mut out = Vec::new();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (ms, rest) = line.split_once(' ').unwrap();
        let (run, rest) = rest.split_once(": ").unwrap_or(("r", rest));
        let at = began + Duration::from_millis(ms.parse().unwrap());
        let mut event = event(rest);
        ledger.step(&RunId::new(run).unwrap(), &mut event, at);
        let held =
            |node: &str, held: Option<f64>| format!("{node}={}", held.map_or("-".to_owned(), |ms| ms.to_string()));
        match &event {
            Event::NodeFinished(finished) => {
                assert_eq!(finished.duration_ms, 500.0);
                out.push(held(&finished.node_id, finished.held_ms));
            }
            Event::NodeError(failed) => out.push(held(&failed.node_id, failed.held_ms)),
            _ => {}
        }
    }
    out.join(" ")
}

#[test]
fn d01_a_finish_carries_the_exact_hold_and_its_duration_is_left_alone() {
    insta::assert_snapshot!(play("
        0 start a i
        10 pause p a before i
        35 resume p
        90 finish a i
    "), @"a=25");
}

#[test]
fn d02_never_held_is_zero_and_never_started_is_absent() {
    insta::assert_snapshot!(play("
        0 start a i
        9 finish a i
        10 finish a i
        11 finish b x
    "), @"a=0 a=- b=-");
}

#[test]
fn d03_a_retry_loop_adds_up_and_errors_carry_the_running_total() {
    insta::assert_snapshot!(play("
        0 start a i
        5 error a i
        5 pause p a error i
        25 resume p
        30 error a i
        30 pause q a error i
        37 resume q
        40 finish a i
    "), @"a=0 a=20 a=27");
}

#[test]
fn d04_a_hold_of_nobody_is_credited_to_nobody_later_either() {
    insta::assert_snapshot!(play("
        0 pause p a before
        10 start a i
        20 resume p
        30 finish a i
    "), @"a=0");
    insta::assert_snapshot!(play("
        0 start a i
        5 pause p a before gone
        20 resume p
        30 finish a i
    "), @"a=0");
}

#[test]
fn d04_a_hold_of_nobody_stands_inside_the_nodes_around_it() {
    insta::assert_snapshot!(play("
        0 start root r
        0 start agent i
        0 start a j in agent
        1 finish a j
        2 pause p a after
        12 start a k in agent
        22 resume p
        30 finish a k
        30 finish agent i
        30 finish root r
    "), @"a=0 a=0 agent=20 root=20");
}

#[test]
fn d05_a_failure_is_held_once_and_the_next_hold_is_that_of_another() {
    insta::assert_snapshot!(play("
        0 start a i
        0 start a j
        1 error a j
        1 pause p a error
        6 resume p
        7 error a i
        7 pause q a error
        27 resume q
        30 finish a i
        30 finish a j
    "), @"a=0 a=0 a=20 a=5");
}

#[test]
fn d05_concurrent_executions_keep_their_own_holds() {
    insta::assert_snapshot!(play("
        0 start a i
        0 pause p a before
        5 start a j
        5 pause q a before
        10 resume q
        20 finish a j
        30 resume p
        40 finish a i
    "), @"a=5 a=30");
    insta::assert_snapshot!(play("
        0 start a i
        0 start a j
        0 pause p a after
        7 resume p
        8 pause q a before
        9 resume q
        10 finish a i
        10 finish a j
    "), @"a=7 a=1");
    insta::assert_snapshot!(play("
        0 start a i
        0 start a j
        1 error a i
        1 pause p a error
        4 resume p
        5 finish a j
        5 finish a i
    "), @"a=0 a=0 a=3");
}

#[test]
fn d06_runs_are_apart_restarts_begin_anew_and_ten_thousand_are_remembered() {
    insta::assert_snapshot!(play("
        0 r: start a i
        0 s: start a i
        0 r: pause p a before i
        8 r: resume p
        9 s: finish a i
        9 r: finish a i
    "), @"a=0 a=8");
    insta::assert_snapshot!(play("
        0 start a i
        0 pause p a before i
        5 resume p
        6 start a i
        7 finish a i
    "), @"a=0");

    let (mut ledger, run, now) = (Ledger::default(), RunId::new("r").unwrap(), Instant::now());
    for n in 0..=OPEN {
        ledger.step(&run, &mut event(&format!("start a i{n}")), now);
    }
    let mut held = |line: &str| {
        let mut event = event(line);
        ledger.step(&run, &mut event, now);
        let Event::NodeFinished(finished) = event else { panic!() };
        finished.held_ms
    };
    assert_eq!(held("finish a i0"), None, "the oldest");
    assert_eq!(held("finish a i1"), Some(0.0));
    assert_eq!((ledger.open.len(), ledger.by_name.len(), ledger.by_node.len()), (OPEN - 1, OPEN - 1, 1));
}

#[test]
fn d07_a_hold_still_open_at_the_finish_counts_up_to_it() {
    insta::assert_snapshot!(play("
        0 start a i
        10 pause p a before i
        25 finish a i
        30 resume p
    "), @"a=15");
}

#[test]
fn d08_held_time_an_adapter_has_set_stays() {
    let (mut ledger, run, now) = (Ledger::default(), RunId::new("r").unwrap(), Instant::now());
    ledger.step(&run, &mut event("start a i"), now);
    let Event::NodeFinished(mut finished) = event("finish a i") else { panic!() };
    finished.held_ms = Some(7.0);
    let mut event = Event::NodeFinished(finished);
    ledger.step(&run, &mut event, now);
    assert!(matches!(event, Event::NodeFinished(NodeFinished { held_ms: Some(held), .. }) if held == 7.0));
}

#[test]
fn d09_overlapping_holds_count_once_for_the_nodes_around_and_for_the_run() {
    insta::assert_snapshot!(play("
        0 start agent r
        0 start chain c in agent
        0 start a i in chain
        0 start b j in chain
        10 pause p a before i
        20 pause q b before j
        30 resume p
        50 resume q
        60 finish a i
        60 finish b j
        60 finish chain c
        60 finish agent r
    "), @"a=20 b=30 chain=40 agent=40");
    // The run itself is found by its instance, whoever is whose parent.
    insta::assert_snapshot!(play("
        0 start root r
        0 start a i
        0 pause p a before i
        9 resume p
        9 finish root r
    "), @"root=9");
}

#[test]
fn d09_circles_of_parents_end_and_forgotten_ones_do_no_harm() {
    insta::assert_snapshot!(play("
        0 start a i in b
        0 start b j in a
        0 pause p a before i
        5 resume p
        6 finish b j
        6 finish a i
    "), @"b=5 a=5");
    // Nobody is its own parent, and a circle leads back to none of the other executions of the held node.
    insta::assert_snapshot!(play("
        0 start root r
        0 start b k in root
        0 start a i in b
        0 start a j in a
        0 start b l in a
        0 pause p a after
        5 resume p
        6 finish a i
        6 finish a j
        6 finish b k
        6 finish b l
    "), @"a=5 a=0 b=0 b=5");
    let (mut ledger, run, now) = (Ledger::default(), RunId::new("r").unwrap(), Instant::now());
    for n in 0..PARENTS + 5 {
        ledger.step(&run, &mut event(&format!("start n{n} i in p{n}")), now);
        ledger.step(&run, &mut event(&format!("finish n{n} i")), now);
    }
    assert_eq!(ledger.parents.len(), 5);
}

#[test]
fn d04_what_fails_or_ends_without_a_name_is_the_newest() {
    insta::assert_snapshot!(play("
        0 start a i
        0 start a j
        0 pause p a before i
        5 resume p
        6 error a
        6 finish a
        6 finish a
    "), @"a=0 a=0 a=5");
}
