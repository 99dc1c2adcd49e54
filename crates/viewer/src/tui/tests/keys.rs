//! What keys and frames lead to: frames for the hub, the editor, and words when something cannot be done.

use crossterm::event::KeyCode;
use insta::assert_snapshot;

use super::stage::{START, Stage, info};
use crate::tui::state::{Overlay, Ticket};
use crate::tui::update::{Action, Event};

/// One call of tool `a` held at `point`, with more in its pause.
fn held(principal: &str, point: &str, more: &str) -> Stage {
    let mut stage = Stage::welcomed(principal);
    stage.frame(&format!(r#"{{"type":"runs","runs":[{}]}}"#, info("r", "shop", START, "running")));
    stage
        .wire(
            "node.started",
            r#"{"nodeId":"a","kind":"tool","name":"a","instanceId":"a1","input":{"x":1,"y":{"z":2}}}"#,
        )
        .wire("exec.paused", &format!(r#"{{"pauseId":"p1","nodeId":"a","point":"{point}"{more}}}"#));
    stage
}

/// The payload of the only release that was sent.
fn release(stage: &Stage) -> String {
    let sent = stage.sent();
    let (_, payload) = sent.split_once(r#""payload":"#).unwrap_or(("", &sent));
    payload.trim_end_matches('}').to_owned()
}

fn ticket(stage: &Stage) -> (Ticket, String) {
    match stage.actions.first() {
        Some(Action::Edit { ticket, text }) => (ticket.clone(), text.clone()),
        other => panic!("no editor: {other:?}, {}", stage.notice()),
    }
}

fn edited(stage: &mut Stage, text: &str) {
    let (ticket, _) = ticket(stage);
    stage.event(Event::Edited { ticket, text: Ok(text.to_owned()) });
}

#[test]
fn a_release_names_its_run_its_hold_and_itself() {
    let mut stage = held("viewer", "before", "");
    stage.typed("c");
    assert_snapshot!(stage.sent(), @r#"{"type":"control","envelope":{"gm":1,"seq":0,"ts":1800000000200,"runId":"r","type":"exec.resume","payload":{"pauseId":"p1","action":"continue","requestId":"t-1"}}}"#);
    // While that one is on its way there is no second.
    stage.typed("c");
    assert_eq!((stage.sent().as_str(), stage.notice()), ("", "a release of this call is on its way"));
    stage.pass(6_000).typed("r");
    assert_snapshot!(release(&stage), @r#"{"pauseId":"p1","action":"retry","requestId":"t-2""#);
}

#[test]
fn what_a_program_that_vanished_held_cannot_be_released() {
    let gone = info("r", "shop", START, "abandoned");
    let list = format!(r#"{{"type":"runs","runs":[{gone}]}}"#);
    let mut told = held("viewer", "before", "");
    told.frame(&format!(r#"{{"type":"run.update","run":{gone}}}"#));
    let mut listed = held("viewer", "before", "");
    listed.frame(&list);
    let mut replayed = Stage::welcomed("viewer");
    replayed.frame(&list).frame(r#"{"type":"replay.start","runId":"r","count":2}"#);
    replayed
        .wire("node.started", r#"{"nodeId":"a","kind":"tool","name":"a","instanceId":"a1"}"#)
        .wire("exec.paused", r#"{"pauseId":"p1","nodeId":"a","point":"before"}"#)
        .frame(r#"{"type":"replay.end","runId":"r"}"#);
    for (how, mut stage) in [("told", told), ("listed", listed), ("replayed", replayed)] {
        stage.typed("c");
        assert_eq!((stage.sent().as_str(), stage.notice()), ("", "no call is held in this run"), "{how}");
        let screen = stage.screen(100, 30);
        assert!(screen.contains("cut off") && !screen.contains("running"), "{how} {screen}");
    }
}

#[test]
fn a_step_arms_before_it_releases() {
    let mut stage = held("viewer", "before", "");
    stage.typed("s");
    let kinds: Vec<String> = stage
        .sent()
        .lines()
        .map(|line| line.split(r#""type":""#).nth(2).unwrap_or("").chars().take(11).collect())
        .collect();
    assert_eq!(kinds, ["mode.set\",\"", "exec.resume"]);
}

#[test]
fn abort_is_typed_and_hits_what_it_was_typed_for() {
    let mut stage = held("viewer", "before", "");
    for word in ["A", "d", "z", ":", "a", ":abor", "abor"] {
        stage.typed(word);
        assert_eq!(stage.sent(), "", "{word}");
        stage.key(KeyCode::Esc);
    }
    stage.typed("abort").key(KeyCode::Enter);
    assert!(release(&stage).contains(r#""action":"abort""#), "{}", stage.sent());

    let mut stage = held("viewer", "before", "");
    stage.typed(":abort");
    assert_eq!(stage.sent(), "");
    stage.key(KeyCode::Enter);
    assert_snapshot!(release(&stage), @r#"{"pauseId":"p1","action":"abort","requestId":"t-1""#);

    let mut stage = held("viewer", "before", "");
    stage.typed(":abort").wire("exec.paused", r#"{"pauseId":"p2","nodeId":"a","point":"before"}"#);
    stage.wire("exec.resumed", r#"{"pauseId":"p1","action":"continue"}"#).pass(1_000).key(KeyCode::Enter);
    assert_eq!((stage.sent().as_str(), stage.notice()), ("", "the call this was meant for is no longer the held one"));

    stage.typed(":abrot").key(KeyCode::Enter);
    assert_eq!((stage.sent().as_str(), stage.notice()), ("", "unknown word: abrot (there are abort and quit)"));
    stage.typed(":abort").key(KeyCode::Esc);
    assert_eq!(stage.sent(), "");
}

#[test]
fn a_key_meant_for_one_call_does_not_hit_the_next() {
    let mut stage = held("viewer", "before", "");
    stage.wire("exec.paused", r#"{"pauseId":"p2","nodeId":"a","point":"after"}"#);
    stage.wire("exec.resumed", r#"{"pauseId":"p1","action":"continue"}"#).typed("c");
    assert_eq!(
        (stage.sent().as_str(), stage.notice()),
        ("", "another call took this place just now: look, then press again")
    );
    stage.pass(500).typed("c");
    assert!(release(&stage).contains(r#""pauseId":"p2""#), "{}", stage.sent());
}

#[test]
fn several_held_calls_are_gone_through() {
    let mut stage = held("viewer", "before", "");
    stage
        .wire("node.started", r#"{"nodeId":"b","kind":"tool","name":"b","instanceId":"b1"}"#)
        .wire("exec.paused", r#"{"pauseId":"p2","nodeId":"b","point":"before"}"#);
    stage.typed("n").typed("c");
    assert!(release(&stage).contains(r#""pauseId":"p2""#), "{}", stage.sent());
    stage.typed("N").typed("r");
    assert!(release(&stage).contains(r#""pauseId":"p1""#), "{}", stage.sent());
    // The last one released, the choice falls back to what is left.
    stage.wire("exec.resumed", r#"{"pauseId":"p1","action":"retry"}"#).pass(6_000).typed("c");
    assert!(release(&stage).contains(r#""pauseId":"p2""#), "{}", stage.sent());
}

#[test]
fn injecting_opens_on_what_is_there() {
    let opens = |mut stage: Stage| ticket(stage.typed("i")).1;
    assert_snapshot!(opens(held("viewer", "before", "")), @r#"
    {
      "x": 1,
      "y": {
        "z": 2
      }
    }
    "#);
    // After a call without a recorded answer its arguments would be misleading.
    assert_snapshot!(opens(held("viewer", "after", "")), @"{}");
}

#[test]
fn an_injected_answer_is_checked_shown_and_sent() {
    let mut stage = held("viewer", "error", "");
    stage.typed("i");
    edited(&mut stage, r#"{"ok": tru}"#);
    assert_eq!(stage.notice(), "not JSON: unexpected byte in json text at byte 10; your draft is kept");
    assert_eq!(ticket(stage.typed("i")).1, r#"{"ok": tru}"#);
    edited(&mut stage, r#"{"key": "__REDACTED__"}"#);
    assert!(
        stage.notice().starts_with("the value holds what a recording left out (placeholder)"),
        "{}",
        stage.notice()
    );
    stage.typed("i");
    edited(&mut stage, " {\"ok\": true}\n");
    assert!(matches!(stage.state().overlay, Overlay::Confirm(_)));
    // Anything but a yes or a no leaves the question standing.
    stage.typed("cy");
    assert_eq!(stage.sent(), "");
    stage.key(KeyCode::Enter);
    assert_snapshot!(release(&stage), @r#"{"pauseId":"p1","action":"inject","output":{"ok": true},"requestId":"t-1""#);
}

#[test]
fn edited_arguments_send_only_what_changed() {
    let change = |text: &str, point: &str| {
        let mut stage = held("viewer", point, r#","editable":true,"instanceId":"a1""#);
        stage.typed("e");
        edited(&mut stage, text);
        stage.key(KeyCode::Enter);
        if stage.sent().is_empty() { stage.notice().to_owned() } else { release(&stage) }
    };
    assert_snapshot!(change(r#"{"x": 1, "y": {"z": 3}, "new": []}"#, "before"), @r#"{"pauseId":"p1","action":"continue","input":{"y":{"z": 3},"new":[]},"requestId":"t-1""#);
    assert_snapshot!(change(r#"{"x": 7, "y": {"z": 2}}"#, "error"), @r#"{"pauseId":"p1","action":"retry","input":{"x":7},"requestId":"t-1""#);
    assert_snapshot!(change(r#"{"x": 1}"#, "before"), @"a member cannot be taken away: y; your draft is kept");
    assert_snapshot!(change(r#"{"x": 1, "y": {"z": 2}}"#, "before"), @"nothing was changed; your draft is kept");
    assert_snapshot!(change("[1]", "before"), @"arguments are an object; your draft is kept");
    assert_snapshot!(change(r#"{"x": "a…[graphmind: truncated]", "y": {"z": 2}}"#, "before"), @"the value holds what a recording left out (truncated): write it yourself; your draft is kept");
    assert_snapshot!(change(r#"{"x": {"__proto__": 1}, "y": {"z": 2}}"#, "before"), @"a member named __proto__ or constructor is not taken; your draft is kept");
}

#[test]
fn what_cannot_be_done_is_said_here() {
    let said = |mut stage: Stage, key: &str| {
        stage.typed(key);
        assert_eq!(stage.sent(), "", "{key}");
        stage.notice().to_owned()
    };
    let guard = r#","hold":{"policy":"drift","cause":"changed"}"#;
    assert_snapshot!(said(held("viewer", "before", ""), "e"), @"this call takes no edited arguments");
    assert_snapshot!(said(held("viewer", "before", guard), "i"), @"a guard holds this call: nothing can be put in its place");
    assert_snapshot!(said(held("anonymous", "before", guard), "c"), @"continue needs the viewer token");
    assert_snapshot!(said(held("anonymous", "before", ""), "i"), @"inject needs the viewer token");
    assert_snapshot!(said(held("anonymous", "before", r#","editable":true"#), "e"), @"editing needs the viewer token");
    assert_snapshot!(said(held("anonymous", "before", ""), "s"), @"stepping needs the viewer token");
    assert_snapshot!(said(held("anonymous", "before", ""), "p"), @"breakpoints and stepping need the viewer token");
    assert_snapshot!(said(Stage::with_run(), "c"), @"no call is held in this run");
    let mut two = held("viewer", "before", "");
    two.wire("exec.resumed", r#"{"pauseId":"p1","action":"continue"}"#)
        .wire("node.started", r#"{"nodeId":"a","kind":"tool","name":"a","instanceId":"a2"}"#)
        .wire("exec.paused", r#"{"pauseId":"p2","nodeId":"a","point":"before","editable":true}"#)
        .pass(1_000);
    assert_snapshot!(said(two, "e"), @"several executions are open and it is not said which is held: not editable");
}

#[test]
fn answers_are_told() {
    let told = |frame: &str| {
        let mut stage = held("viewer", "before", "");
        stage.typed("c").frame(frame);
        stage.notice().to_owned()
    };
    let result =
        |rest: &str| format!(r#"{{"type":"resume.result","runId":"r","pauseId":"p1","requestId":"t-1",{rest}}}"#);
    assert_snapshot!(told(&result(r#""outcome":"resumed""#)), @"continue: done");
    assert_snapshot!(told(&result(r#""outcome":"taken","code":"pause-taken""#)), @"continue: somebody else was first");
    assert_snapshot!(told(&result(r#""outcome":"refused","code":"schema","message":"x must be a number""#)), @"continue: refused as schema x must be a number");
    assert_snapshot!(told(&result(r#""outcome":"timeout","code":"no-answer""#)), @"continue: no answer yet (no-answer)");
    assert_snapshot!(told(&result(r#""outcome":"no-such-pause""#)), @"continue: the call is no longer held");
    assert_snapshot!(told(r#"{"type":"error","message":"bad rule"}"#), @"hub: error bad rule");
    let mut stage = held("viewer", "before", "");
    stage.typed("c").wire("exec.refused", r#"{"pauseId":"p1","code":"shape","message":"no","requestId":"t-1"}"#);
    assert_snapshot!(stage.notice(), @"still held: refused as shape no");
}

#[test]
fn a_lost_hub_is_asked_for_what_is_missing() {
    let mut stage = held("viewer", "before", "");
    stage.event(Event::Closed { why: "gone".to_owned() }).event(Event::Opened);
    assert_snapshot!(stage.sent(), @r#"
    {"type":"subscribe","runId":"*"}
    {"type":"subscribe","runId":"r","after":2}
    "#);
    // The same events again change nothing.
    let before = stage.screen(80, 24);
    stage.frame(r#"{"type":"replay.start","runId":"r","count":0}"#).frame(r#"{"type":"replay.end","runId":"r"}"#);
    assert_eq!(stage.screen(80, 24), before);
}

#[test]
fn one_run_is_followed_at_a_time() {
    let mut stage = Stage::with_run();
    assert_eq!(stage.sent(), r#"{"type":"subscribe","runId":"r"}"#);
    // A new run does not push away one that goes on.
    stage.frame(&format!(r#"{{"type":"run.update","run":{}}}"#, info("s", "shop", START + 5, "running")));
    assert_eq!(stage.sent(), "");
    stage.frame(&format!(r#"{{"type":"run.update","run":{}}}"#, info("r", "shop", START, "ok")));
    stage.frame(&format!(r#"{{"type":"run.update","run":{}}}"#, info("t", "shop", START + 9, "running")));
    assert_snapshot!(stage.sent(), @r#"
    {"type":"unsubscribe","runId":"r"}
    {"type":"subscribe","runId":"t"}
    "#);
    stage.key(KeyCode::BackTab).key(KeyCode::Down).key(KeyCode::Home).key(KeyCode::Down).key(KeyCode::Enter);
    assert_snapshot!(stage.sent(), @r#"
    {"type":"unsubscribe","runId":"t"}
    {"type":"subscribe","runId":"s"}
    "#);
}

#[test]
fn a_run_that_was_asked_for_is_shown_first() {
    let mut stage = Stage::new();
    let mut state = stage.state.take().expect("a state");
    crate::tui::update::show(&mut state, &"wanted".into());
    stage.state = Some(state);
    stage.event(Event::Opened);
    assert_snapshot!(stage.sent(), @r#"
    {"type":"subscribe","runId":"*"}
    {"type":"subscribe","runId":"wanted"}
    "#);
    stage.frame(&format!(r#"{{"type":"runs","runs":[{}]}}"#, info("r", "shop", START, "running")));
    assert_eq!(stage.sent(), "");
}

#[test]
fn breakpoints_are_set_and_cleared() {
    let mut stage = held("viewer", "before", "");
    stage.typed("p");
    assert_snapshot!(stage.sent(), @r#"{"type":"control","envelope":{"gm":1,"seq":0,"ts":1800000000200,"runId":"*","type":"breakpoint.set","payload":{"matcher":{"kind":"tool","name":"a"}}}}"#);
    stage.frame(r#"{"type":"state","breakpoints":[{"kind":"tool","name":"a"}],"mode":"step"}"#).typed("p");
    assert!(stage.sent().contains("breakpoint.clear"), "{}", stage.sent());
    stage.typed("m");
    assert!(stage.sent().contains(r#"{"mode":"run"}"#), "{}", stage.sent());
    stage.typed("x");
    assert!(stage.sent().contains(r#""matcher":{"point":"error"}"#), "{}", stage.sent());
}

#[test]
fn the_cursor_follows_until_it_is_moved() {
    let mut stage = Stage::with_run();
    let node = |stage: &Stage| stage.state().node.as_deref().unwrap_or_default().to_owned();
    let start = |id: &str| format!(r#"{{"nodeId":"{id}","kind":"tool","name":"{id}","instanceId":"{id}"}}"#);
    stage.wire("node.started", &start("a")).wire("node.started", &start("b"));
    assert_eq!(node(&stage), "b");
    stage.wire("exec.paused", r#"{"pauseId":"p","nodeId":"a","point":"before"}"#);
    assert_eq!(node(&stage), "a");
    stage.key(KeyCode::Down).wire("node.started", &start("c"));
    assert_eq!(node(&stage), "b");
    stage.typed("f");
    assert_eq!(node(&stage), "a");
    stage.wire("exec.resumed", r#"{"pauseId":"p","action":"continue"}"#);
    assert_eq!(node(&stage), "c");
    stage.key(KeyCode::Home).key(KeyCode::End).key(KeyCode::PageUp);
    assert_eq!(node(&stage), "a");
}

#[test]
fn the_inspector_scrolls_no_further_than_it_goes() {
    let mut stage = held("viewer", "before", "");
    stage.key(KeyCode::Tab).key(KeyCode::End);
    let end = stage.state().scroll;
    stage.key(KeyCode::PageDown).key(KeyCode::Down);
    assert_eq!(stage.state().scroll, end);
    stage.key(KeyCode::Home);
    assert_eq!(stage.state().scroll, 0);
}
