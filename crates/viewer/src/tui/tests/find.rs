//! Finding things in many runs and many nodes, on small screens too; and text that is pasted.

use crossterm::event::KeyCode;
use insta::assert_snapshot;

use super::stage::{START, Stage, info};
use crate::tui::state::Overlay;
use crate::tui::update::{Event, show};

/// Runs `r0` to `r{count-1}`, of two apps in turn; the last is the newest.
fn runs(count: u64) -> Stage {
    let mut stage = Stage::welcomed("viewer");
    let app = |at: u64| if at.is_multiple_of(2) { "shop" } else { "Bank" };
    let each = (0..count).map(|at| info(&format!("r{at}"), app(at), START + at, "ok"));
    stage.frame(&format!(r#"{{"type":"runs","runs":[{}]}}"#, each.collect::<Vec<_>>().join(",")));
    stage
}

/// An agent with `groups` chains of `tools` tools each; the last tool fails.
fn large(groups: usize, tools: usize) -> Stage {
    let mut stage = Stage::with_run();
    stage.frame(r#"{"type":"replay.start","runId":"r","count":9999}"#);
    let mut start = |id: &str, parent: &str, kind: &str| {
        stage.wire(
            "node.started",
            &format!(r#"{{"nodeId":"{id}","parentId":"{parent}","kind":"{kind}","name":"{id}","instanceId":"{id}"}}"#),
        );
    };
    start("top", "", "agent");
    for group in 0..groups {
        start(&format!("g{group}"), "top", "chain");
        for tool in 0..tools {
            start(&format!("t{group}.{tool}"), &format!("g{group}"), "tool");
        }
    }
    let last = format!("t{}.{}", groups - 1, tools - 1);
    stage.wire(
        "node.error",
        &format!(r#"{{"nodeId":"{last}","instanceId":"{last}","error":{{"name":"E","message":"no"}}}}"#),
    );
    stage.frame(r#"{"type":"replay.end","runId":"r"}"#);
    stage
}

#[test]
fn a_large_run_opens_folded_at_the_deepest_level_that_fits() {
    let lines = |stage: &Stage| stage.state().rows().len();
    assert_eq!(lines(&large(3, 22)), 70, "70 are not many");
    assert_eq!(lines(&large(7, 9)), 8, "71 are");
    assert_eq!(lines(&large(10, 30)), 11);
    assert_eq!(lines(&large(80, 2)), 1);
}

#[test]
fn what_was_unfolded_by_hand_stays_so() {
    let mut stage = large(10, 30);
    stage.key(KeyCode::Home).key(KeyCode::Down).key(KeyCode::Right);
    assert_eq!(stage.state().rows().len(), 41);
    stage.wire("node.started", r#"{"nodeId":"new","parentId":"top","kind":"tool","name":"new","instanceId":"n"}"#);
    assert_eq!(stage.state().rows().len(), 42);
}

#[test]
fn a_live_run_that_grows_large_is_folded_but_for_what_is_held() {
    let mut stage = Stage::with_run();
    stage.wire("node.started", r#"{"nodeId":"top","kind":"agent","name":"top","instanceId":"top"}"#);
    stage.wire("node.started", r#"{"nodeId":"g","parentId":"top","kind":"chain","name":"g","instanceId":"g"}"#);
    stage.wire("node.started", r#"{"nodeId":"t","parentId":"g","kind":"tool","name":"t","instanceId":"t"}"#);
    for id in 0..80 {
        stage.wire(
            "node.started",
            &format!(r#"{{"nodeId":"n{id}","parentId":"g","kind":"tool","name":"n{id}","instanceId":"n{id}"}}"#),
        );
    }
    assert_eq!(stage.state().rows().len(), 2);
    // The cursor is on the line that what happens is folded away under.
    let at = |stage: &Stage| stage.state().row_at(&stage.state().rows());
    assert_eq!((stage.state().node.as_deref(), at(&stage)), (Some("n79"), Some(1)));
    stage.wire("exec.paused", r#"{"pauseId":"p","nodeId":"t","point":"before"}"#);
    assert_eq!((stage.state().rows().len(), at(&stage)), (83, Some(2)));
}

#[test]
fn the_next_error_is_a_key_away() {
    let mut stage = large(10, 30);
    stage.typed("E");
    assert_eq!((stage.state().node.as_deref(), stage.notice()), (Some("t9.29"), "failed node 1 of 1"));
    assert_eq!(stage.state().rows().len(), 41);
    assert_eq!(stage.sent(), "");
    let mut stage = Stage::with_run();
    stage.typed("E");
    assert_eq!(stage.notice(), "nothing failed in this run");
    for id in ["a", "b", "c"] {
        stage.wire("node.started", &format!(r#"{{"nodeId":"{id}","kind":"tool","name":"{id}","instanceId":"{id}"}}"#));
        if id != "b" {
            stage.wire("node.error", &format!(r#"{{"nodeId":"{id}","error":{{"name":"E","message":"no"}}}}"#));
        }
    }
    let mut went = || stage.typed("E").state().node.as_deref().unwrap_or_default().to_owned();
    assert_eq!([went(), went(), went()], ["a", "c", "a"]);
}

#[test]
fn many_runs_are_filtered_by_app_or_id() {
    let mut stage = runs(6);
    stage.typed("/");
    assert_eq!(stage.notice(), "the run list is filtered from 7 runs on");
    let under = |stage: &Stage| stage.state().listed()[stage.state().list_at].id.to_string();
    let mut stage = runs(8);
    assert!(stage.screen(80, 24).contains("runs 8 · / filter"));
    // Letters that are keys elsewhere are text here.
    stage.typed("/bANq");
    assert!(stage.screen(80, 24).contains("none like that"));
    stage.key(KeyCode::Backspace).key(KeyCode::Down);
    assert_snapshot!(stage.screen(80, 5), @"
     ▸ r7 · running · <1ms                                                     live
    ▌ runs 4/8 · /bAN ──── 0 nodes · following ─────────────────────────────────────
     ›✓ Bank          0s ─ nothing selected ────────────────────────────────────────
      ✓ Bank          0s
     /bAN▏ enter shows the run · esc lists all
    ");
    assert_eq!(stage.sent(), "");
    stage.key(KeyCode::Enter);
    assert_eq!(stage.state().shown.as_deref(), Some("r5"));
    // A run that comes meanwhile does not move the cursor to another.
    stage.frame(&format!(r#"{{"type":"run.update","run":{}}}"#, info("new", "bank", START + 99, "ok")));
    assert_eq!(under(&stage), "r5");
    stage.key(KeyCode::Esc);
    assert_eq!((stage.state().listed().len(), under(&stage)), (9, "r5".to_owned()));
    stage.typed("/r3").key(KeyCode::Enter);
    assert_eq!(stage.state().shown.as_deref(), Some("r3"));
}

#[test]
fn pasted_text_is_text_and_never_keys() {
    let mut stage = Stage::with_run();
    stage
        .wire("node.started", r#"{"nodeId":"a","kind":"tool","name":"a","instanceId":"a"}"#)
        .wire("exec.paused", r#"{"pauseId":"p","nodeId":"a","point":"before"}"#);
    let paste = |stage: &mut Stage, text: &str| stage.event(Event::Pasted(text.to_owned())).sent();
    for text in ["c", "scri\rq", ":abort\n"] {
        assert_eq!(paste(&mut stage, text), "");
        assert_eq!(stage.notice(), "pasted text is not taken as keys: nothing was done");
        assert!(matches!(stage.state().overlay, Overlay::None));
    }
    stage.typed(":");
    assert_eq!(paste(&mut stage, "abort\r\n\u{1b}[2J"), "");
    assert!(matches!(&stage.state().overlay, Overlay::Prompt(prompt) if prompt.text == "abort   [2J"));
    let mut stage = runs(9);
    stage.typed("/");
    paste(&mut stage, "r7\n");
    assert_eq!((stage.state().filter.as_str(), stage.state().listed().len()), ("r7", 1));
}

#[test]
fn a_run_that_is_not_there_is_called_so() {
    let mut stage = Stage::new();
    let mut state = stage.state.take().expect("a state");
    show(&mut state, &"nope".into());
    stage.state = Some(state);
    stage.event(Event::Opened).frame(&format!(r#"{{"type":"runs","runs":[{}]}}"#, info("r", "shop", START, "ok")));
    assert!(!stage.screen(80, 24).contains("not there"), "not before the hub has answered");
    stage.frame(r#"{"type":"replay.start","runId":"nope","count":0}"#).frame(r#"{"type":"replay.end","runId":"nope"}"#);
    assert_snapshot!(stage.screen(80, 14), @"
     nope · not there                                                          live
    ─ runs 1 ────────────▌ 0 nodes · following ─────────────────────────────────────
      ✓ shop          0s  the hub has no run nope
                          hint: choose one from the run list (tab, enter), or see
                          `graphmind runs` for what is kept


                         ─ nothing selected ────────────────────────────────────────





     ↑↓ move  tab pane  enter open  space fold  f follow  b runs  q quit  ? help
    ");
    // It may still come.
    stage.frame(&format!(r#"{{"type":"run.update","run":{}}}"#, info("nope", "shop", START + 9, "running")));
    assert!(!stage.screen(80, 14).contains("not there"));
}

#[test]
fn a_lost_hub_is_offered_no_releases() {
    let mut stage = Stage::with_run();
    stage
        .wire("node.started", r#"{"nodeId":"a","kind":"tool","name":"a","instanceId":"a"}"#)
        .wire("exec.paused", r#"{"pauseId":"p","nodeId":"a","point":"before"}"#);
    assert!(stage.screen(80, 24).contains("c continue"));
    stage.event(Event::Closed { why: "gone".to_owned() });
    let screen = stage.screen(80, 24);
    assert!(!screen.contains("c continue") && screen.contains("? help"), "{screen}");
}

#[test]
fn small_screens_say_what_they_leave_out() {
    let mut stage = Stage::with_run();
    stage.typed("?");
    let mut seen = stage.screen(40, 12);
    assert!(seen.contains("help: ↓ goes on"), "{seen}");
    for _ in 0..40 {
        stage.key(KeyCode::Down);
        seen.push_str(&stage.screen(40, 12));
    }
    for text in ["continue the held call", "breakpoint at every error", "next error", "this help, quit", "? abandoned"]
    {
        assert!(seen.contains(text), "{text}");
    }
    stage.typed("q");
    assert!(matches!(stage.state().overlay, Overlay::None));
    assert!(stage.screen(40, 12).contains("? help"));
    // The run list has room when the cursor is in it.
    stage.key(KeyCode::BackTab);
    assert!(stage.screen(40, 12).contains("runs 1"));
}

#[test]
fn a_value_too_long_for_its_box_says_so() {
    let mut stage = Stage::with_run();
    stage
        .wire("node.started", r#"{"nodeId":"a","kind":"tool","name":"a","instanceId":"a"}"#)
        .wire("exec.paused", r#"{"pauseId":"p","nodeId":"a","point":"error"}"#);
    stage.screen(80, 24);
    stage.typed("i");
    let ticket = stage.actions.iter().find_map(|action| match action {
        crate::tui::update::Action::Edit { ticket, .. } => Some(ticket.clone()),
        _ => None,
    });
    let text = format!(r#"["{}"]"#, "long words ".repeat(400));
    stage.event(Event::Edited { ticket: ticket.expect("an editor"), text: Ok(text) });
    let screen = stage.screen(80, 24);
    assert!(screen.contains("more lines, not shown") && screen.contains("enter sends it"), "{screen}");
}

#[test]
fn what_is_left_out_of_a_long_stack_or_stream_is_said() {
    let mut stage = Stage::with_run();
    stage.wire("node.started", r#"{"nodeId":"a","kind":"llm","name":"a","instanceId":"a1"}"#);
    let (stack, text) = ("at f (a.js:1)\\n".repeat(43), "word\\n".repeat(507));
    let delta = format!(r#"{{"nodeId":"a","deltas":[{{"t":"text","v":"{text}"}}]}}"#);
    let error = format!(r#"{{"nodeId":"a","error":{{"name":"E","message":"no","stack":"{stack}"}}}}"#);
    stage.wire("node.token", &delta).wire("node.error", &error);
    let screen = stage.screen(100, 700);
    for said in ["… 3 more lines, not shown", "… 7 earlier lines, not shown"] {
        assert!(screen.contains(said), "{said}");
    }
}
