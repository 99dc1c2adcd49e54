//! Streams of calls, and at which of them the guard holds.

use std::sync::{Arc, Mutex};

use lockgate_gate::{Call, End, Node, Policy, Round, Stop, Verdict};
use lockgate_protocol::debug::{ErrorInfo, NodeKind, RunId, RunStatus};
use lockgate_protocol::json::Raw;

use super::{LoopGuard, LoopOptions};
use crate::environment::OnLoop;
use crate::presence::Line;
use crate::warn::Warnings;

/// A guard, the numbers it has seen, and what it said.
struct Stage {
    guard: LoopGuard,
    line: Line,
    seq: u64,
    warned: Arc<Mutex<Vec<String>>>,
}

fn options() -> LoopOptions {
    LoopOptions {
        threshold: 3,
        on_loop: OnLoop::Pause,
        kinds: vec![NodeKind::Tool],
        ignore_keys: vec!["_meta".to_owned()],
        allow_nodes: Vec::new(),
    }
}

impl Stage {
    fn new(options: LoopOptions) -> Stage {
        let warned = Arc::new(Mutex::new(Vec::new()));
        let ear = Arc::clone(&warned);
        let warnings = Warnings::new(Arc::new(move |text| ear.lock().unwrap().push(text.to_owned())));
        let line = Line::default();
        line.attach();
        Stage { guard: LoopGuard::new(options, line.clone(), warnings), line, seq: 0, warned }
    }

    fn call(&mut self, run: &str, id: &str, input: &str) -> Call {
        let kind = id.split(':').next().and_then(NodeKind::parse).unwrap_or(NodeKind::Tool);
        let name = id.split(':').next_back().unwrap_or(id);
        let mut call = Call::new(RunId::new(run).unwrap(), Arc::new(Node { id: id.into(), kind, name: name.into() }));
        call.started = Some(self.seq);
        call.input = (!input.is_empty()).then(|| Raw::parse(input.to_owned()).unwrap());
        self.seq += 10;
        call
    }

    /// One start: `-`, or what it is held for.
    fn before(&self, call: &Call) -> String {
        match self.guard.judge(call, Stop::Before) {
            Verdict::Pass => "-".to_owned(),
            Verdict::Hold(hold) => {
                let found = hold.reason.looped.unwrap();
                let kind = found.kind.map_or("repeat", |kind| kind.as_str());
                let laps = found.period.map_or_else(String::new, |period| format!(" period {period}"));
                format!("{kind} x{} {}..{}{laps}", found.repeats, found.first_seq, found.last_seq)
            }
            other => format!("{other:?}"),
        }
    }

    fn end(&self, call: &Call, ended: &str) {
        let error = |message: &str| ErrorInfo { name: "E".into(), message: message.into(), stack: None };
        let end = match ended.split_once(' ') {
            Some(("error", message)) => {
                let mut failing = call.clone();
                failing.error = Some(Box::new(error(message)));
                assert!(matches!(self.guard.judge(&failing, Stop::Error), Verdict::Pass));
                End { status: RunStatus::Error, output: None, error: None }
            }
            Some(("returned", output)) => {
                End { status: RunStatus::Error, output: Some(Raw::parse(output.to_owned()).unwrap()), error: None }
            }
            Some(("ok", output)) => {
                End { status: RunStatus::Ok, output: Some(Raw::parse(output.to_owned()).unwrap()), error: None }
            }
            _ => End { status: RunStatus::Aborted, output: None, error: None },
        };
        self.guard.finished(call, &end);
    }

    /// Calls one after the other in one run, each `node input > end`.
    fn play(&mut self, calls: &[&str]) -> String {
        let mut out = Vec::new();
        for line in calls {
            let (call, ended) = line.split_once(" > ").unwrap_or((line, "ok 1"));
            let (id, input) = call.split_once(' ').unwrap_or((call, ""));
            let call = self.call("run", id, input);
            out.push(self.before(&call));
            self.end(&call, ended);
        }
        out.join(", ")
    }
}

fn play(calls: &[&str]) -> String {
    Stage::new(options()).play(calls)
}

fn times(count: usize, lap: &[&'static str]) -> Vec<&'static str> {
    lap.iter().copied().cycle().take(count).collect()
}

#[test]
fn l01_the_third_identical_call_holds_and_so_does_each_after_it() {
    insta::assert_snapshot!(play(&times(5, &["t {\"x\":7}"])), @"-, -, repeat x3 0..20, repeat x4 0..30, repeat x5 0..40");
}

#[test]
fn l02_key_order_is_irrelevant_and_other_arguments_never_trip() {
    insta::assert_snapshot!(play(&["t {\"a\":1,\"b\":2}", "t {\"b\":2,\"a\":1}", "t {\"a\":1.0,\"b\":2}"]), @"-, -, repeat x3 0..20");
    insta::assert_snapshot!(play(&["t 1", "t 2", "t 3", "t 4", "t 5"]), @"-, -, -, -, -");
    insta::assert_snapshot!(play(&["t 1", "t 1", "t 2", "t 1", "t 1"]), @"-, -, -, -, -");
    insta::assert_snapshot!(play(&["t 1", "t 1", "u 1", "t 1"]), @"-, -, -, -");
}

#[test]
fn l03_meta_is_ignored_cursors_count_and_a_list_of_ones_own_replaces_the_default() {
    let meta = ["t {\"_meta\":{\"progressToken\":1}}", "t {\"_meta\":{\"progressToken\":2}}", "t {}"];
    insta::assert_snapshot!(play(&meta), @"-, -, repeat x3 0..20");
    insta::assert_snapshot!(play(&["t {\"cursor\":\"a\"}", "t {\"cursor\":\"b\"}", "t {\"cursor\":\"c\"}"]), @"-, -, -");
    let mut own = Stage::new(LoopOptions { ignore_keys: vec!["cursor".to_owned()], ..options() });
    insta::assert_snapshot!(own.play(&meta), @"-, -, -");
    insta::assert_snapshot!(own.play(&["u 9", "t {\"cursor\":1}", "t {\"cursor\":2}", "t {\"cursor\":3}"]), @"-, -, -, repeat x3 40..60");
}

#[test]
fn l04_a_retry_is_no_new_start_and_is_not_held_again() {
    let mut stage = Stage::new(options());
    stage.play(&["t 1", "t 1"]);
    let third = stage.call("run", "t", "1");
    assert_eq!(stage.before(&third), "repeat x3 0..20");
    assert_eq!(stage.before(&third), "-");
    assert_eq!(stage.before(&third), "-");
    stage.end(&third, "ok 1");
    insta::assert_snapshot!(stage.play(&["t 1"]), @"repeat x4 0..30");
}

#[test]
fn l04_a_further_round_of_an_exchange_is_no_new_start() {
    let mut stage = Stage::new(options());
    stage.play(&["t 1", "t 1"]);
    let mut round = stage.call("run", "t", "1");
    round.round = Round::Repeated;
    assert_eq!(stage.before(&round), "-");
    let third = stage.call("run", "t", "1");
    assert_eq!(stage.before(&third), "repeat x3 0..30");
}

#[test]
fn l06_no_breakpoint_is_needed_only_somebody_attached() {
    let mut stage = Stage::new(options());
    stage.line.detach();
    insta::assert_snapshot!(stage.play(&times(3, &["t 1"])), @"-, -, -");
    stage.line.attach();
    insta::assert_snapshot!(stage.play(&["t 1"]), @"repeat x4 0..30");
}

#[test]
fn l08_allowed_nodes_are_never_watched_by_id_or_by_name() {
    for allowed in ["tool:poll", "poll"] {
        let mut stage = Stage::new(LoopOptions { allow_nodes: vec![allowed.to_owned()], ..options() });
        assert_eq!(stage.play(&times(4, &["tool:poll 1"])), "-, -, -, -");
        let mixed = ["tool:t 1", "tool:poll 1", "tool:t 1", "tool:t 1"];
        assert_eq!(stage.play(&mixed), "-, -, -, repeat x3 40..70");
    }
}

#[test]
fn l09_zero_and_off_disable_everything_and_other_thresholds_are_kept() {
    for (threshold, on_loop, expected) in [
        (0, OnLoop::Pause, "-, -, -, -, -"),
        (3, OnLoop::Off, "-, -, -, -, -"),
        (2, OnLoop::Pause, "-, repeat x2 0..10, repeat x3 0..20, repeat x4 0..30, repeat x5 0..40"),
        (5, OnLoop::Pause, "-, -, -, -, repeat x5 0..40"),
    ] {
        let mut stage = Stage::new(LoopOptions { threshold, on_loop, ..options() });
        assert_eq!(stage.play(&times(5, &["t 1"])), expected);
    }
}

#[test]
fn l10_runs_and_kinds_count_apart_and_the_oldest_of_64_runs_is_forgotten() {
    let mut stage = Stage::new(LoopOptions { kinds: vec![NodeKind::Tool, NodeKind::Llm], ..options() });
    insta::assert_snapshot!(stage.play(&times(6, &["tool:t 1", "llm:step 1"])), @"-, -, -, -, repeat x3 0..40, repeat x3 10..50");

    let mut stage = Stage::new(options());
    let twice = |stage: &mut Stage, run: &str| {
        for _ in 0..2 {
            let call = stage.call(run, "t", "1");
            assert_eq!(stage.before(&call), "-");
            stage.end(&call, "ok 1");
        }
    };
    twice(&mut stage, "first");
    twice(&mut stage, "second");
    for n in 0..62 {
        twice(&mut stage, &format!("run_{n}"));
    }
    let first = stage.call("first", "t", "1");
    assert!(stage.before(&first).starts_with("repeat x3"), "64 runs are remembered");
    twice(&mut stage, "one more");
    let second = stage.call("second", "t", "1");
    assert_eq!(stage.before(&second), "-", "longest unused, forgotten");
}

#[test]
fn l11_detached_or_told_to_warn_it_says_so_once_a_streak() {
    for (on_loop, attached, warnings) in
        [(OnLoop::Warn, true, 1), (OnLoop::Pause, false, 1), (OnLoop::Warn, false, 1), (OnLoop::Off, false, 0)]
    {
        let mut stage = Stage::new(LoopOptions { on_loop, ..options() });
        if !attached {
            stage.line.detach();
        }
        assert_eq!(stage.play(&times(5, &["t 1"])), "-, -, -, -, -");
        let warned = stage.warned.lock().unwrap();
        assert_eq!(warned.len(), warnings, "{on_loop:?}");
        assert!(warned.iter().all(|text| text == "t was called 3 times in a row with the same input"), "{warned:?}");
    }
}

#[test]
fn l11_each_loop_is_warned_of_by_itself() {
    let mut stage = Stage::new(LoopOptions { on_loop: OnLoop::Warn, ..options() });
    for each in ["t 1", "u 1", "t 2", "t 1"] {
        stage.play(&times(4, &[each]));
    }
    let warned = stage.warned.lock().unwrap();
    let names: Vec<&str> = warned.iter().filter_map(|text| text.split(' ').next()).collect();
    assert_eq!(names, ["t", "u", "t"], "the first again within the minute");
}

#[test]
fn l10_a_start_another_policy_refused_counts_between_the_others() {
    let look = |refused: &[&str]| {
        let mut stage = Stage::new(options());
        stage.play(&["t 1", "t 1"]);
        for each in refused {
            let (id, input) = each.split_once(' ').unwrap();
            let call = stage.call("run", id, input);
            stage.end(&call, "aborted");
        }
        stage.play(&["t 1"])
    };
    assert_eq!(look(&[]), "repeat x3 0..20");
    assert_eq!(look(&["t 2"]), "-", "another input came between");
    assert_eq!(look(&["u 1"]), "-", "another node came between");
    assert_eq!(look(&["llm:step 1"]), "repeat x3 0..30", "kinds count apart");
    assert_eq!(look(&["t 1"]), "repeat x4 0..30", "refused or not, it started");
}

#[test]
fn l11_a_start_nobody_saw_ends_the_streak() {
    let mut stage = Stage::new(options());
    stage.play(&["t 1", "t 1"]);
    let mut unseen = stage.call("run", "t", "1");
    unseen.started = None;
    assert_eq!(stage.before(&unseen), "-");
    stage.end(&unseen, "ok 1");
    insta::assert_snapshot!(stage.play(&["t 1", "t 1", "t 1"]), @"-, -, repeat x3 30..50");
}

#[test]
fn l12_three_equal_laps_hold_the_head_of_the_fourth() {
    insta::assert_snapshot!(play(&times(8, &["a 1", "b 1"])), @"-, -, -, -, -, -, cycle x3 0..60 period 2, -");
    insta::assert_snapshot!(play(&times(11, &["a 1", "b 1", "c 1"])), @"-, -, -, -, -, -, -, -, -, cycle x3 0..90 period 3, -");
    insta::assert_snapshot!(play(&times(13, &["a 1", "b 1", "c 1", "d 1"])), @"-, -, -, -, -, -, -, -, -, -, -, -, cycle x3 0..120 period 4");
    // The same node with two inputs is a lap too; five are too many.
    insta::assert_snapshot!(play(&times(7, &["a 1", "a 2"])), @"-, -, -, -, -, -, cycle x3 0..60 period 2");
    insta::assert_snapshot!(play(&times(21, &["a 1", "b 1", "c 1", "d 1", "e 1"])), @"-, -, -, -, -, -, -, -, -, -, -, -, -, -, -, -, -, -, -, -, -");
}

#[test]
fn l12_laps_are_counted_back_from_the_newest_and_quiet_lasts_for_one_lap() {
    insta::assert_snapshot!(play(&times(11, &["a 1", "b 1"])), @"-, -, -, -, -, -, cycle x3 0..60 period 2, -, cycle x4 0..80 period 2, -, cycle x5 0..100 period 2");
    let mut late = vec!["x 1", "b 1"];
    late.extend(times(7, &["a 1", "b 1"]));
    insta::assert_snapshot!(play(&late), @"-, -, -, -, -, -, -, cycle x3 10..70 period 2, -");
}

#[test]
fn l12_results_that_change_other_kinds_and_allowed_nodes_make_no_lap() {
    let changing: Vec<String> = (0..8).map(|n| format!("{} 1 > ok {n}", if n % 2 == 0 { "a" } else { "b" })).collect();
    let changing: Vec<&str> = changing.iter().map(String::as_str).collect();
    insta::assert_snapshot!(play(&changing), @"-, -, -, -, -, -, -, -");
    insta::assert_snapshot!(play(&times(10, &["a 1", "llm:step 1", "b 1"])), @"-, -, -, -, -, -, -, -, -, cycle x3 0..90 period 2");
    insta::assert_snapshot!(play(&times(8, &["a 1", "b 1 > aborted"])), @"-, -, -, -, -, -, -, -");
    let mut stage = Stage::new(LoopOptions { allow_nodes: vec!["b".to_owned()], ..options() });
    insta::assert_snapshot!(stage.play(&times(6, &["a 1 > ok 1", "b 1"])), @"-, -, -, -, repeat x3 0..40, -");
}

#[test]
fn l12_large_payloads_are_compared_too() {
    let large = |node: &str, first: &str| {
        format!(
            "{node} {{\"{first}\":1,\"{}\":2}} > ok \"{}\"",
            if first == "p" { "q" } else { "p" },
            "r".repeat(20_000)
        )
    };
    let calls: Vec<String> =
        (0..7).map(|n| large(if n % 2 == 0 { "a" } else { "b" }, if n % 3 == 0 { "p" } else { "q" })).collect();
    let calls: Vec<&str> = calls.iter().map(String::as_str).collect();
    let said = play(&calls);
    assert!(said.starts_with("-, -, -, -, -, -, "), "{said}");
}

#[test]
fn l13_the_fourth_call_after_three_equal_failures_holds() {
    insta::assert_snapshot!(
        play(&["t 1 > error no such  file", "t 2 > error no\n such file", "t 3 > error no such file", "t 4"]),
        @"-, -, -, error-repeat x3 0..30"
    );
    insta::assert_snapshot!(
        play(&["t 1 > ok {\"isError\":true}", "u 9", "t 2 > ok {\"isError\":true}", "t 3 > returned {\"isError\":true}", "t 4 > error x", "t 5"]),
        @"-, -, -, -, error-repeat x3 0..40, -"
    );
    insta::assert_snapshot!(play(&["t 1 > error a", "t 2 > error b", "t 3 > error a", "t 4"]), @"-, -, -, -");
    insta::assert_snapshot!(play(&["t 1 > error a", "t 2 > error a", "t 3 > ok 1", "t 4 > error a", "t 5"]), @"-, -, -, -, -");
    insta::assert_snapshot!(play(&["t 1 > error a", "t 2 > error a", "t 3 > aborted", "t 4 > error a", "t 5"]), @"-, -, -, -, -");
    insta::assert_snapshot!(
        play(&["t 1 > error a", "t 2 > error a", "t 3 > error a", "t 4 > error a", "t 5 > ok 1", "t 6"]),
        @"-, -, -, error-repeat x3 0..30, error-repeat x4 0..40, -"
    );
}

#[test]
fn l13_the_repeat_comes_before_the_lap_and_the_lap_before_the_failure() {
    insta::assert_snapshot!(play(&times(4, &["t 1 > error a"])), @"-, -, repeat x3 0..20, repeat x4 0..30");
    insta::assert_snapshot!(play(&times(8, &["t 1 > error a", "t 2 > error a"])), @"-, -, -, error-repeat x3 0..30, error-repeat x4 0..40, error-repeat x5 0..50, cycle x3 0..60 period 2, error-repeat x7 0..70");
}

#[test]
fn overlapping_calls_are_told_apart_by_their_start() {
    let mut stage = Stage::new(options());
    let calls: Vec<_> = (0..3).map(|_| stage.call("run", "t", "1")).collect();
    assert_eq!(stage.before(&calls[0]), "-");
    assert_eq!(stage.before(&calls[1]), "-");
    assert_eq!(stage.before(&calls[0]), "-", "a retry of the first counts nothing");
    assert_eq!(stage.before(&calls[2]), "repeat x3 0..20");
    for call in &calls {
        stage.end(call, "ok 1");
    }
}
