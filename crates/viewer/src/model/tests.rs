//! The reducer and the tree, told as events and printed as lines.

use std::sync::Arc;

use insta::assert_snapshot;
use lockgate_protocol::debug::{Parsed, parse};

use super::{Run, Taken, print, rows};

/// Events as `type payload`, one per 100 ms, taken in by a run called `r`.
fn run(events: &[&str]) -> Run {
    let mut run = Run::new(Arc::from("r"));
    for (at, event) in events.iter().enumerate() {
        assert_eq!(take(&mut run, at, event), Taken::New, "{event}");
    }
    run
}

fn take(run: &mut Run, at: usize, event: &str) -> Taken {
    let (kind, payload) = event.split_once(' ').expect("a type and a payload");
    let ts = 1_000 + at * 100;
    let frame = format!(r#"{{"gm":1,"seq":{at},"ts":{ts},"runId":"r","type":"{kind}","payload":{payload}}}"#);
    match parse(frame.into()) {
        Parsed::Ok(envelope) | Parsed::UnknownType(envelope) => run.take(&envelope),
        other => panic!("{event}: {other:?}"),
    }
}

/// The tree, with state, executions, ran and held time; then what is held.
fn shown(run: &Run) -> String {
    let mut out = String::new();
    for row in rows(run, |at| run.node(at).is_some_and(|node| node.collapsed)) {
        let node = run.node(row.node).expect("rows name nodes");
        let indent = "  ".repeat(row.depth);
        let hidden = if row.hidden > 0 { format!(" +{}", row.hidden) } else { String::new() };
        out.push_str(&format!("{indent}{} {}{hidden}", node.id, node.state().as_str()));
        for execution in &node.executions {
            let now = run.clock(run.newest);
            let error = execution.error.as_ref().map(|error| format!(" {}", error.message)).unwrap_or_default();
            out.push_str(&format!(
                " [{} {} ran {} held {}{error}]",
                execution.instance,
                execution.state.as_str(),
                execution.ran_ms(now),
                execution.held_ms(now)
            ));
        }
        out.push('\n');
    }
    for hold in &run.holds {
        let guess = if hold.ambiguous { "?" } else { "" };
        let node = run.node(hold.node).map(|node| &*node.id).unwrap_or_default();
        out.push_str(&format!(
            "held {} {} {node} {:?}{guess} {:?}\n",
            hold.pause, hold.point, hold.execution, hold.why
        ));
    }
    out
}

const STARTED: &str = r#"run.started {"app":"shop","sdk":{"name":"s","version":"1"},"meta":{"name":"book"}}"#;
const AGENT: &str = r#"node.started {"nodeId":"agent","kind":"agent","name":"agent","instanceId":"r"}"#;
const A: &str = r#"node.started {"nodeId":"a","parentId":"agent","kind":"tool","name":"a","instanceId":"a1"}"#;
const A2: &str = r#"node.started {"nodeId":"a","parentId":"agent","kind":"tool","name":"a","instanceId":"a2"}"#;

#[test]
fn a_run_from_start_to_end() {
    let run = run(&[
        STARTED,
        AGENT,
        A,
        r#"node.finished {"nodeId":"a","instanceId":"a1","durationMs":90.5,"heldMs":20.5,"status":"ok","output":1}"#,
        r#"node.finished {"nodeId":"agent","instanceId":"r","durationMs":250,"status":"error"}"#,
        r#"run.finished {"status":"error","error":{"name":"E","message":"boom"}}"#,
    ]);
    assert_eq!((run.app.as_str(), run.name.as_deref(), run.status.as_str()), ("shop", Some("book"), "error"));
    assert_snapshot!(shown(&run), @"
    agent error [r error ran 250 held 0]
      a ok [a1 ok ran 70 held 20.5]
    ");
}

#[test]
fn events_come_once_and_in_any_order() {
    let mut run = run(&[STARTED, AGENT, A]);
    let before = shown(&run);
    assert_eq!(take(&mut run, 2, A), Taken::Duplicate);
    assert_eq!(shown(&run), before);

    // A finish before its start says nothing, a child before its parent waits for it.
    let mut late = Run::new(Arc::from("r"));
    take(&mut late, 3, r#"node.finished {"nodeId":"a","durationMs":1,"status":"ok"}"#);
    take(&mut late, 2, A);
    assert_snapshot!(shown(&late), @"a running [a1 running ran 100 held 0]");
    take(&mut late, 1, AGENT);
    assert_snapshot!(shown(&late), @"
    agent running [r running ran 200 held 0]
      a running [a1 running ran 100 held 0]
    ");
}

#[test]
fn a_hint_never_takes_away() {
    let run = run(&[
        r#"graph.hint {"nodes":[{"nodeId":"a","kind":"tool","name":"old"},{"nodeId":"b","kind":"tool","name":"b"}]}"#,
        AGENT,
        r#"node.started {"nodeId":"a","kind":"llm","name":"a","instanceId":"a1"}"#,
        r#"graph.hint {"nodes":[{"nodeId":"a","kind":"tool","name":"new","parentId":"agent"}]}"#,
        r#"graph.hint {"nodes":[],"gap":{"droppedCount":7,"fromSeq":1,"toSeq":9,"reason":"buffer-overflow"}}"#,
    ]);
    assert_snapshot!(shown(&run), @"
    b ahead
    agent running [r running ran 300 held 0]
      a running [a1 running ran 200 held 0]
    ");
    assert_eq!(run.lost, 7);
}

#[test]
fn a_hold_stops_the_clocks_above_it_too() {
    let mut run = run(&[STARTED, AGENT, A, r#"exec.paused {"pauseId":"p","nodeId":"a","point":"before"}"#]);
    take(&mut run, 13, r#"node.token {"nodeId":"agent","deltas":[{"t":"text","v":"x"}]}"#);
    assert_snapshot!(shown(&run), @"
    agent running [r running ran 200 held 1000]
      a held [a1 running ran 100 held 1000]
    held p before a Some(0) None
    ");
    take(&mut run, 14, r#"exec.resumed {"pauseId":"p","action":"continue"}"#);
    take(&mut run, 15, r#"node.finished {"nodeId":"a","instanceId":"a1","durationMs":1300,"status":"ok"}"#);
    assert_snapshot!(shown(&run), @"
    agent running [r running ran 300 held 1100]
      a ok [a1 ok ran 200 held 1100]
    ");
}

#[test]
fn a_retry_makes_an_error_go_on() {
    let error = r#"node.error {"nodeId":"a","instanceId":"a1","error":{"name":"E","message":"boom"}}"#;
    let mut run = run(&[AGENT, A, error, r#"exec.paused {"pauseId":"p","nodeId":"a","point":"error"}"#]);
    take(&mut run, 4, r#"exec.resumed {"pauseId":"p","action":"retry","principal":"viewer","operator":"ann"}"#);
    assert_snapshot!(shown(&run), @"
    agent running [r running ran 300 held 100]
      a running [a1 running ran 200 held 100 boom]
    ");
    let release = &run.nodes().last().expect("a").releases[0];
    assert_eq!((release.principal.as_deref(), release.operator.as_deref()), (Some("viewer"), Some("ann")));
}

#[test]
fn parallel_calls_keep_their_own_holds_and_failures() {
    // The failure names nobody and lands on the newest; the hold says whose it was.
    let run = run(&[
        AGENT,
        A,
        A2,
        r#"node.error {"nodeId":"a","error":{"name":"E","message":"boom"}}"#,
        r#"exec.paused {"pauseId":"p","nodeId":"a","point":"error","instanceId":"a1"}"#,
        r#"exec.paused {"pauseId":"q","nodeId":"a","point":"before"}"#,
        r#"exec.paused {"pauseId":"s","nodeId":"a","point":"after"}"#,
    ]);
    assert_snapshot!(shown(&run), @"
    agent running [r running ran 400 held 200]
      a held [a1 error ran 300 held 200 boom] [a2 running ran 300 held 100]
    held p error a Some(0) None
    held q before a Some(1)? None
    held s after a Some(0)? None
    ");
}

#[test]
fn evidence_is_read_only_when_it_is_sane() {
    let paused = |more: &str| format!(r#"exec.paused {{"pauseId":"p","nodeId":"a","point":"before"{more}}}"#);
    let check = |more: &str, expected: &str| {
        let run = run(&[A, &paused(more)]);
        let hold = &run.holds[0];
        assert_eq!(format!("{:?} {:?}", hold.reason, hold.why), expected);
    };
    check("", "None None");
    check(
        r#","reason":"loop","loop":{"repeats":3,"firstSeq":1,"lastSeq":2,"fingerprint":"f"}"#,
        "Some(Loop) Some(Loop(Loop { kind: Repeat, repeats: 3, period: None }))",
    );
    check(
        r#","reason":"breakpoint","hold":{"policy":"drift","cause":"output schema changed","detail":"a\u001b\u202eb"}"#,
        r#"Some(Breakpoint) Some(Guard { policy: "drift", cause: "output schema changed", detail: Some("a b") })"#,
    );
    check(
        r#","reason":"breakpoint","smart":{"rule":"error-result"}"#,
        "Some(Breakpoint) Some(Smart { rule: ErrorResult, detail: None })",
    );
}

#[test]
fn the_end_of_a_hold_moves() {
    let mut run = run(&[
        A,
        r#"exec.paused {"pauseId":"p","nodeId":"a","point":"before","until":{"at":5000,"action":"continue","why":"patience"}}"#,
    ]);
    let at = |run: &Run| run.holds[0].until.as_ref().map(|until| until.at);
    assert_eq!(at(&run), Some(Some(5_000)));
    take(&mut run, 2, r#"exec.until {"pauseId":"p","at":9000}"#);
    assert_eq!(at(&run), Some(Some(9_000)));
    take(&mut run, 3, r#"exec.until {"pauseId":"p"}"#);
    assert_eq!(at(&run), None);
}

#[test]
fn a_run_that_ends_holds_nothing() {
    let mut run = run(&[A, r#"exec.paused {"pauseId":"p","nodeId":"a","point":"before"}"#]);
    take(&mut run, 2, r#"run.finished {"status":"aborted"}"#);
    take(&mut run, 3, r#"exec.resumed {"pauseId":"p","action":"continue"}"#);
    assert!(run.holds.is_empty());
    assert_eq!(run.nodes()[0].holds, 0);
}

#[test]
fn steps_of_a_model_follow_each_other() {
    let step = |at: u32| {
        format!(
            r#"node.started {{"nodeId":"llm{at}","parentId":"agent","kind":"llm","name":"llm","instanceId":"l{at}"}}"#
        )
    };
    let run = run(&[
        AGENT,
        &step(1),
        A,
        &step(2),
        r#"node.started {"nodeId":"t","parentId":"llm2","kind":"tool","name":"t","instanceId":"t"}"#,
        &step(3),
    ]);
    let lines: Vec<String> =
        shown(&run).lines().map(|line| line.split(" running").next().unwrap_or("").to_owned()).collect();
    assert_snapshot!(lines.join("\n"), @"
    agent
      llm1
      llm2
        t
      llm3
      a
    ");
}

#[test]
fn rings_self_edges_and_folds() {
    let node = |id: &str, parent: &str, more: &str| {
        format!(
            r#"node.started {{"nodeId":"{id}","parentId":"{parent}","kind":"tool","name":"{id}","instanceId":"{id}"{more}}}"#
        )
    };
    let run = run(&[
        &node("self", "self", ""),
        &node("orphan", "nowhere", ""),
        &node("x", "y", ""),
        &node("y", "x", ""),
        &node("top", "orphan", r#","collapsed":true"#),
        &node("in", "top", ""),
        &node("deeper", "in", ""),
    ]);
    let lines: Vec<String> = shown(&run).lines().map(|line| line.split(" [").next().unwrap_or("").to_owned()).collect();
    assert_snapshot!(lines.join("\n"), @"
    self running
    orphan running
      top running +2
    x running
      y running
    ");
}

#[test]
fn a_deep_chain_is_no_recursion() {
    let mut run = Run::new(Arc::from("r"));
    for at in 0..20_000_usize {
        let parent = if at == 0 { String::new() } else { format!(r#""parentId":"n{}","#, at - 1) };
        let event =
            format!(r#"node.started {{"nodeId":"n{at}",{parent}"kind":"tool","name":"n","instanceId":"i{at}"}}"#);
        take(&mut run, at, &event);
    }
    take(&mut run, 20_000, r#"exec.paused {"pauseId":"p","nodeId":"n19999","point":"before"}"#);
    assert_eq!(rows(&run, |_| false).last().map(|row| row.depth), Some(19_999));
}

#[test]
fn durations_round_before_they_choose_a_unit() {
    let check = |ms: f64, expected: &str| assert_eq!(print(ms), expected, "{ms}");
    check(0.0, "<1ms");
    check(-1.0, "<1ms");
    check(f64::NAN, "<1ms");
    check(0.04, "<0.1ms");
    check(0.1, "0.1ms");
    check(9.94, "9.9ms");
    check(9.96, "10ms");
    check(999.4, "999ms");
    check(999.5, "1.0s");
    check(61_250.0, "61.3s");
}
