//! The screen at 80×24 and 120×40.

use insta::assert_snapshot;

use super::stage::{START, Stage, info};
use crate::tui::update::Event;

/// A run of an agent with a model and three tools, one of which fails at first and one of which goes on.
fn trip() -> Stage {
    let mut stage = Stage::with_run();
    stage
        .wire("run.started", r#"{"app":"shop","sdk":{"name":"s","version":"1"},"meta":{"name":"book-trip"}}"#)
        .wire("node.started", r#"{"nodeId":"agent","kind":"agent","name":"book-trip","instanceId":"r"}"#)
        .wire("node.started", r#"{"nodeId":"llm","parentId":"agent","kind":"llm","name":"plan","instanceId":"l1","input":{"messages":[{"role":"user","content":"to Lisbon"}]}}"#)
        .wire("node.token", r#"{"nodeId":"llm","deltas":[{"t":"text","v":"I will look for "},{"t":"text","v":"flights."}]}"#)
        .wire("node.finished", r#"{"nodeId":"llm","instanceId":"l1","durationMs":203.4,"heldMs":0,"status":"ok","output":{"text":"search"},"usage":{"inputTokens":812,"outputTokens":44}}"#)
        .wire("node.started", r#"{"nodeId":"search","parentId":"agent","kind":"tool","name":"search_flights","instanceId":"s1","input":{"from":"VIE","to":"LIS"}}"#)
        .wire("node.error", r#"{"nodeId":"search","instanceId":"s1","error":{"name":"HttpError","message":"503 from upstream","stack":"at search (a.js:1)\nat run (b.js:2)"}}"#)
        .wire("node.finished", r#"{"nodeId":"search","instanceId":"s1","durationMs":98,"heldMs":0,"status":"error"}"#)
        .wire("node.started", r#"{"nodeId":"search","parentId":"agent","kind":"tool","name":"search_flights","instanceId":"s2","input":{"from":"VIE","to":"LIS","retry":true}}"#)
        .wire("node.finished", r#"{"nodeId":"search","instanceId":"s2","durationMs":99,"heldMs":0,"status":"ok","output":[{"flight":"TP1234","price":129.90}]}"#)
        .wire("graph.hint", r#"{"nodes":[{"nodeId":"pay","kind":"tool","name":"pay","parentId":"agent"}]}"#)
        .wire("node.started", r#"{"nodeId":"book","parentId":"agent","kind":"tool","name":"book_flight","instanceId":"b1","input":{"flight":"TP1234","seats":2}}"#);
    stage
}

/// As [`trip`], with `book_flight` held before it runs.
fn held() -> Stage {
    let mut stage = trip();
    let until = START + 20_000;
    let paused = format!(
        r#"{{"pauseId":"p1","nodeId":"book","point":"before","reason":"breakpoint","editable":true,"instanceId":"b1","until":{{"at":{until},"action":"continue","why":"patience"}}}}"#
    );
    stage.wire("exec.paused", &paused).pass(2_700);
    stage
}

#[test]
fn before_a_hub_is_there() {
    assert_snapshot!(Stage::new().screen(80, 24), @"
     graphmind                                                           connecting
    ─ runs 0 ────────────▌ 0 nodes · following ─────────────────────────────────────
     none yet             no run yet

                          waiting at ws://127.0.0.1:4747/ws/ui
                          start a program with the SDK, or put an
                          MCP server behind `graphmind mcp-proxy`





                         ─ nothing selected ────────────────────────────────────────










     ↑↓ move  tab pane  enter open  space fold  f follow  b runs  q quit  ? help
    ");
    let mut stage = Stage::new();
    stage.event(Event::Closed { why: "connection refused".to_owned() });
    assert_snapshot!(stage.screen(80, 24).lines().next().unwrap_or_default(), @" graphmind                                           no hub: connection refused");
}

#[test]
fn before_there_is_a_run() {
    let mut stage = Stage::welcomed("anonymous");
    stage.frame(r#"{"type":"runs","runs":[]}"#);
    assert_snapshot!(stage.screen(80, 24), @"
     graphmind                                                      no token · live
    ─ runs 0 ────────────▌ 0 nodes · following ─────────────────────────────────────
     none yet             no run yet

                          waiting at ws://127.0.0.1:4747/ws/ui
                          start a program with the SDK, or put an
                          MCP server behind `graphmind mcp-proxy`





                         ─ nothing selected ────────────────────────────────────────










     ↑↓ move  tab pane  enter open  space fold  f follow  b runs  q quit  ? help
    ");
}

#[test]
fn a_run() {
    assert_snapshot!(trip().screen(80, 24), @r#"
     ▸ shop book-trip · running · 1.1s · 1 error                               live
    ─ runs 1 ────────────▌ 5 nodes · following ─────────────────────────────────────
     ›▸ shop         now   ▸ agnt - book-trip                        running    1.0s
                           ✓ llm      plan                           ok        203ms
                           ✓ tool     search_flights              ×2 ok        197ms
                           · tool     pay                            ahead
                           ▸ tool     book_flight                    running    <1ms





                         ─ tool book_flight ────────────────────────────────────────
                          running · ran <1ms
                          b1
                          input
                          {
                            "flight": "TP1234",
                            "seats": 2
                          }



     ↑↓ move  tab pane  enter open  space fold  f follow  b runs  q quit  ? help
    "#);
    assert_snapshot!(trip().screen(120, 40), @r#"
     ▸ shop book-trip · running · 1.1s · 1 error                                                                       live
    ─ runs 1 ─────────────────▌ 5 nodes · following ────────────────────────────────────────────────────────────────────────
     ›▸ shop              now   ▸ agnt - book-trip                                      running    1.0s   ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌
                                ✓ llm      plan                                         ok        203ms    ━━━━━
                                ✓ tool     search_flights                            ×2 ok        197ms          ━━━━ ━━━
                                · tool     pay                                          ahead
                                ▸ tool     book_flight                                  running    <1ms                    ╌












                              ─ tool book_flight ───────────────────────────────────────────────────────────────────────────
                               running · ran <1ms
                               b1
                               input
                               {
                                 "flight": "TP1234",
                                 "seats": 2
                               }












     ↑↓ move  tab pane  enter open  space fold  f follow  b runs  q quit  ? help
    "#);
}

#[test]
fn a_held_call() {
    assert_snapshot!(held().screen(80, 24), @r#"
     ▸ shop book-trip · running · 3.9s · 1 error                               live
    ─ runs 1 ────────────▌ 5 nodes · following ─────────────────────────────────────
     ›▸ shop         now   ▸ agnt - book-trip                        running    1.1s
                           ✓ llm      plan                           ok        203ms
                           ✓ tool     search_flights              ×2 ok        197ms
                           · tool     pay                            ahead
                           ‖ tool     book_flight                    held      100ms




                         ─ tool book_flight ────────────────────────────────────────
                          held before: breakpoint
                          continue in 16s (patience)
                          held · ran 100ms · held 2.7s
                          b1
                          input
                          {
                            "flight": "TP1234",
                            "seats": 2
                          }
    ─ held 1 ───────────────────────────────────────────────────────────────────────
    ›‖ before book_flight · breakpoi… · 2.7s · editable · continue in 16s (patience)
     c continue  s step  r retry  i inject  e edit  :abort  n next  ? help
    "#);
    assert_snapshot!(held().screen(120, 40), @r#"
     ▸ shop book-trip · running · 3.9s · 1 error                                                                       live
    ─ runs 1 ─────────────────▌ 5 nodes · following ────────────────────────────────────────────────────────────────────────
     ›▸ shop              now   ▸ agnt - book-trip                                      running    1.1s ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌
                                ✓ llm      plan                                         ok        203ms  ━━
                                ✓ tool     search_flights                            ×2 ok        197ms   ━━━
                                · tool     pay                                          ahead
                                ‖ tool     book_flight                                  held      100ms      ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌











                              ─ tool book_flight ───────────────────────────────────────────────────────────────────────────
                               held before: breakpoint
                               continue in 16s (patience)
                               held · ran 100ms · held 2.7s
                               b1
                               input
                               {
                                 "flight": "TP1234",
                                 "seats": 2
                               }









    ─ held 1 ───────────────────────────────────────────────────────────────────────────────────────────────────────────────
    ›‖ before book_flight · breakpoint · 2.7s · editable · continue in 16s (patience)
     c continue  s step  r retry  i inject  e edit  :abort  n next  ? help
    "#);
}

#[test]
fn an_error_in_the_inspector() {
    let mut stage = trip();
    stage.typed("k").typed("k").typed("[");
    assert_snapshot!(stage.screen(80, 24), @r#"
     ▸ shop book-trip · running · 1.1s · 1 error                               live
    ─ runs 1 ────────────▌ 5 nodes ─────────────────────────────────────────────────
     ›▸ shop         now   ▸ agnt - book-trip                        running    1.0s
                           ✓ llm      plan                           ok        203ms
                           ✓ tool     search_flights              ×2 ok        197ms
                           · tool     pay                            ahead
                           ▸ tool     book_flight                    running    <1ms





                         ─ tool search_flights · 1 of 2 [ ] ────────────────────────
                          error · ran 98ms · failed 1×
                          s1
                          error
                          HttpError: 503 from upstream
                          at search (a.js:1)
                          at run (b.js:2)
                          input
                          {
                            "from": "VIE",
                            "to": "LIS"
     ↑↓ move  tab pane  enter open  space fold  f follow  b runs  q quit  ? help
    "#);
}

#[test]
fn a_model_step_in_the_inspector() {
    let mut stage = trip();
    stage.typed("kkk");
    let screen = stage.screen(80, 24);
    assert_snapshot!(screen.lines().skip(12).map(|line| line.chars().skip(21).collect::<String>() + "\n").collect::<String>(), @r#"
    ─ llm plan ────────────────────────────────────────────────
     ok · ran 203ms · tokens 812→44 · first of 2 chunks after
     100ms
     l1
     input
     {
       "messages": [
         {
           "role": "user",
           "content": "to Lisbon"
         }
    nter open  space fold  f follow  b runs  q quit  ? help
    "#);
}

#[test]
fn a_lost_hub() {
    let mut stage = held();
    stage.event(Event::Closed { why: "connection closed".to_owned() }).pass(3_000);
    assert_snapshot!(stage.screen(80, 24), @r#"
     ▸ shop book-trip · running · 6.9s ·… STALE: hub lost 3s ago, connection closed
    ─ runs 1 (stale) ────▌ 5 nodes · following (stale) ─────────────────────────────
     ›▸ shop         now   ▸ agnt - book-trip                        running    1.1s
                           ✓ llm      plan                           ok        203ms
                           ✓ tool     search_flights              ×2 ok        197ms
                           · tool     pay                            ahead
                           ‖ tool     book_flight                    held      100ms




                         ─ tool book_flight (stale) ────────────────────────────────
                          held before: breakpoint
                          continue in 13s (patience)
                          held · ran 100ms · held 5.7s
                          b1
                          input
                          {
                            "flight": "TP1234",
                            "seats": 2
                          }
    ─ held 1 (stale) ───────────────────────────────────────────────────────────────
    ›‖ before book_flight · breakpoi… · 5.7s · editable · continue in 13s (patience)
     ↑↓ move  tab pane  enter open  space fold  f follow  b runs  q quit  ? help
    "#);
    stage.typed("c");
    assert_eq!((stage.sent().as_str(), stage.notice()), ("", "not connected: nothing can be released"));
}

#[test]
fn catching_up_and_behind() {
    let mut stage = Stage::with_run();
    let right =
        |stage: &mut Stage| stage.screen(80, 24).lines().next().map(|line| line[line.len() - 22..].trim().to_owned());
    stage.frame(r#"{"type":"replay.start","runId":"r","count":9}"#);
    stage.wire("node.started", r#"{"nodeId":"a","kind":"tool","name":"a","instanceId":"a1"}"#);
    assert_eq!(right(&mut stage).as_deref(), Some("catching up 1/9"));
    stage.frame(r#"{"type":"replay.end","runId":"r"}"#);
    assert_eq!(right(&mut stage).as_deref(), Some("live"));
    stage.wire("x.y", "1").pass(1_500);
    assert_eq!(right(&mut stage).as_deref(), Some("live, 1 unsaved"));
    stage.frame(r#"{"type":"stored","runId":"r","ord":2}"#);
    assert_eq!(right(&mut stage).as_deref(), Some("live"));
    let old = stage.now;
    stage.now += 7_000;
    stage.frame(&format!(
        r#"{{"type":"event","runId":"r","ord":20,"envelope":{{"gm":1,"seq":20,"ts":{old},"runId":"r","type":"x.y","payload":1}}}}"#
    ));
    assert_eq!(right(&mut stage).as_deref(), Some("behind 7s"));
}

#[test]
fn long_and_wide_names() {
    let mut stage = Stage::with_run();
    let long = "a_very_long_tool_name_that_no_screen_can_hold_".repeat(4);
    stage
        .wire("run.started", r#"{"app":"予約アシスタント","sdk":{"name":"s","version":"1"}}"#)
        .wire("node.started", &format!(r#"{{"nodeId":"a","kind":"agent","name":"{long}","instanceId":"r"}}"#))
        .wire("node.started", r#"{"nodeId":"b","parentId":"a","kind":"tool","name":"航空券を検索して最安値を見つけるツール_長い名前","instanceId":"b","input":{"都市":"リスボン","emoji":"👩‍👩‍👧 ok"}}"#)
        .wire("node.started", r#"{"nodeId":"c","parentId":"b","kind":"tool","name":"émigré naïve","instanceId":"c"}"#)
        .wire("exec.paused", r#"{"pauseId":"p","nodeId":"b","point":"before","until":{"at":1800000060000,"action":"continue","why":"timeout"}}"#);
    assert_snapshot!(stage.screen(80, 24), @r#"
     ▸ 予約アシスタント · running · 400ms                                      live
    ─ runs 1 ────────────▌ 3 nodes · following ─────────────────────────────────────
     ›▸ shop         now   ▸ agnt - a_very_long_tool_name_that…      running   300ms
                           ‖ tool   - 航空券を検索して最安値を…      held      200ms
                           ▸ tool       émigré naïve                 running   100ms






                         ─ tool 航空券を検索して最安値を見つけるツール_長い名前 ────
                          held before: breakpoint
                          continue in 60s (timeout)
                          held · ran 200ms
                          b
                          input
                          {
                            "都市": "リスボン",
                            "emoji": "👩‍👩‍👧 ok"
                          }
    ─ held 1 ───────────────────────────────────────────────────────────────────────
    ›‖ before 航空券を検索して最安値を見つけるツ… · <1ms · continue in 60s (timeout)
     c continue  s step  r retry  i inject  e edit  :abort  n next  ? help
    "#);
}

#[test]
fn hostile_text() {
    let mut stage = Stage::with_run();
    let evil = r"\u001b[2J\u202egpj.exe\u0007\u009b31m\u200bx\r\n\udb40\udc41";
    stage
        .wire("run.started", &format!(r#"{{"app":"{evil}","sdk":{{"name":"s","version":"1"}},"meta":{{"name":"{evil}"}}}}"#))
        .wire("node.started", &format!(r#"{{"nodeId":"{evil}","kind":"tool","name":"{evil}","instanceId":"{evil}","input":{{"{evil}":"{evil}"}}}}"#))
        .wire("node.error", &format!(r#"{{"nodeId":"{evil}","error":{{"name":"{evil}","message":"{evil}","stack":"{evil}"}}}}"#))
        .wire("exec.paused", &format!(r#"{{"pauseId":"{evil}","nodeId":"{evil}","point":"error","reason":"breakpoint","hold":{{"policy":"{evil}","cause":"{evil}","detail":"{evil}"}}}}"#))
        .wire("exec.refused", &format!(r#"{{"pauseId":"{evil}","code":"schema","message":"{evil}"}}"#))
        .wire("exec.resumed", &format!(r#"{{"pauseId":"{evil}","action":"retry","principal":"{evil}","operator":"{evil}"}}"#))
        .frame(&format!(r#"{{"type":"run.update","run":{}}}"#, info(&format!("x{evil}"), evil, START + 1, "ok")))
        .frame(&format!(r#"{{"type":"error","message":"{evil}","code":"{evil}","outcome":"{evil}"}}"#));
    for size in [(80, 24), (120, 40), (20, 6), (3, 2), (1, 1)] {
        let screen = stage.screen(size.0, size.1);
        assert!(screen.chars().all(|c| c == '\n' || !c.is_control()), "{screen:?}");
        assert!(!screen.contains(['\u{202e}', '\u{200b}', '\u{e0041}']), "{screen:?}");
    }
    assert_snapshot!(stage.screen(80, 24), @r"
     ▸ \u001b[2J\u202egpj.exe\u0007\u009b31m\u200bx\u000d\u000a\udb40\udc41 ·… live
    ─ runs 2 ────────────▌ 1 node · following ──────────────────────────────────────
      ✓ \u001b[2J\u…  0s   ▸ tool   \u001b[2J\u202egpj.exe\u00…      running   200ms
     ›▸ shop         now








                         ─ tool \u001b[2J\u202egpj.exe\u0007\u009b31m\u200bx\u000d…
                          released on error: retry by \u001b[2J\u202egpj.exe\u0007\u
                          009b31m\u200bx\u000d\u000a\udb40\udc41 for
                          \u001b[2J\u202egpj.exe\u0007\u009b31m\u200bx\u000d\u000a\u
                          db40\udc41, 0s ago
                          running · ran 200ms · held 200ms · failed 1×
                          \u001b[2J\u202egpj.exe\u0007\u009b31m\u200bx\u000d\u000a\u
                          db40\udc41
                          error
                          \u001b[2J\u202egpj.exe\u0007\u009b31m\u200bx\u000d\u000a\u
                          db40\udc41: \u001b[2J\u202egpj.exe\u0007\u009b31m\u200bx\u
     hub: \u001b[2J\u202egpj.exe\u0007\u009b31m\u200bx\u000d\u000a\udb40\udc41 \u00…
    ");
}

#[test]
fn help_and_a_word_being_typed() {
    let mut stage = held();
    stage.typed("?");
    assert_snapshot!(stage.screen(80, 24), @"
     ▸ shop book-trip · running · 3.9s · 1 error                               live
    ─ runs 1 ────────────▌ 5 nodes · following ─────────────────────────────────────
     ›▸ shop         now   ▸ agnt - book-trip                        running    1.1s
                           ✓ llm      plan                           ok        203ms
          ┌ help: any key closes it ──────────────────────────────────────────┐197ms
          │c  continue the held call        ↑ ↓ j k  move                     │
          │s  step: stop at the next call   g G      first, last              │100ms
          │r  retry it                      tab      next pane                │
          │i  inject an answer ($EDITOR)    enter    show run, inspect        │
          │e  edit arguments ($EDITOR)      ← → spc  fold, unfold             │
          │n N  next, previous held call    [ ]      executions               │
          │:abort  end the held call        E        next error               │─────
          │                                 f        follow what happens      │
          │p  breakpoint at this node       b /      run list, filter it      │
          │x  breakpoint at every error     esc      forget the choice        │
          │m  step mode on, off             ? q ^c   this help, quit          │
          │                                                                   │
          │› marks the held call that keys act on; • a breakpoint.            │
          │· ahead  ▸ running  ‖ held  ✓ ok  ✗ error  ■ aborted  ? abandoned  │
          └───────────────────────────────────────────────────────────────────┘
                          }
    ─ held 1 ───────────────────────────────────────────────────────────────────────
    ›‖ before book_flight · breakpoi… · 2.7s · editable · continue in 16s (patience)
     c continue  s step  r retry  i inject  e edit  :abort  n next  ? help
    ");
    stage.typed("x:abo");
    assert_snapshot!(stage.screen(80, 24), @r#"
     ▸ shop book-trip · running · 3.9s · 1 error                               live
    ─ runs 1 ────────────▌ 5 nodes · following ─────────────────────────────────────
     ›▸ shop         now   ▸ agnt - book-trip                        running    1.1s
                           ✓ llm      plan                           ok        203ms
                           ✓ tool     search_flights              ×2 ok        197ms
                           · tool     pay                            ahead
                           ‖ tool     book_flight                    held      100ms



              ┌ type a word ─────────────────────────────────────────────┐
              │:abo▏                                                     │──────────
              │abort ends the held call of book_flight; esc closes this  │
              └──────────────────────────────────────────────────────────┘
                          held · ran 100ms · held 2.7s
                          b1
                          input
                          {
                            "flight": "TP1234",
                            "seats": 2
                          }
    ─ held 1 ───────────────────────────────────────────────────────────────────────
    ›‖ before book_flight · breakpoi… · 2.7s · editable · continue in 16s (patience)
     c continue  s step  r retry  i inject  e edit  :abort  n next  ? help
    "#);
}

#[test]
fn a_release_that_waits_for_a_yes() {
    let mut stage = held();
    stage.typed("e");
    let ticket = match stage.actions.first() {
        Some(crate::tui::update::Action::Edit { ticket, .. }) => ticket.clone(),
        other => panic!("no editor: {other:?}"),
    };
    let text = Ok(r#"{"flight": "TP1234", "seats": 3}"#.to_owned());
    stage.event(Event::Edited { ticket, text });
    assert_snapshot!(stage.screen(80, 24), @r#"
     ▸ shop book-trip · running · 3.9s · 1 error                               live
    ─ runs 1 ────────────▌ 5 nodes · following ─────────────────────────────────────
     ›▸ shop         now   ▸ agnt - book-trip                        running    1.1s
                           ✓ llm      plan                           ok        203ms
                           ✓ tool     search_flights              ×2 ok        197ms
                           · tool     pay                            ahead
                           ‖ tool     book_flight                    held      100ms


                        ┌ go on with other arguments: seats ───┐
                        │{                                     │
                        │  "seats": 3                          │────────────────────
                        │}                                     │
                        │enter sends it · esc keeps the draft  │
                        └──────────────────────────────────────┘
                          b1
                          input
                          {
                            "flight": "TP1234",
                            "seats": 2
                          }
    ─ held 1 ───────────────────────────────────────────────────────────────────────
    ›‖ before book_flight · breakpoi… · 2.7s · editable · continue in 16s (patience)
     c continue  s step  r retry  i inject  e edit  :abort  n next  ? help
    "#);
}
