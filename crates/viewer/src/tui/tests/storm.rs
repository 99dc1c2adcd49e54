//! Any order of frames, keys and sizes: no panic, and every screen is clean.

use crossterm::event::KeyCode;
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
use proptest::{collection, sample};

use super::stage::{START, Stage, info};
use crate::tui::update::{Action, Event};

#[derive(Debug, Clone)]
enum Act {
    Key(KeyCode),
    Wire(&'static str, String),
    Frame(String),
    Screen(u16, u16),
    Pass(u64),
    Opened,
    Closed,
    Edited(String),
    Pasted(String),
}

proptest! {
    #[test]
    fn nothing_brings_it_down(acts in collection::vec(acts(), 0..60)) {
        let mut stage = Stage::welcomed("viewer");
        for act in acts {
            play(&mut stage, act);
        }
        let screen = stage.screen(80, 24);
        assert!(screen.chars().all(|c| c == '\n' || !c.is_control()), "{screen:?}");
    }
}

fn play(stage: &mut Stage, act: Act) {
    match act {
        Act::Key(code) => {
            stage.key(code);
        }
        Act::Wire(kind, payload) => {
            stage.wire(kind, &payload);
        }
        Act::Frame(text) => {
            stage.frame(&text);
        }
        Act::Screen(columns, rows) => {
            stage.screen(columns, rows);
        }
        Act::Pass(ms) => {
            stage.pass(ms);
        }
        Act::Opened => {
            stage.event(Event::Opened);
        }
        Act::Closed => {
            stage.event(Event::Closed { why: "gone".to_owned() });
        }
        Act::Pasted(text) => {
            stage.event(Event::Pasted(text));
        }
        Act::Edited(text) => {
            let ticket = stage.actions.iter().find_map(|action| match action {
                Action::Edit { ticket, .. } => Some(ticket.clone()),
                Action::Send(_) | Action::Quit => None,
            });
            if let Some(ticket) = ticket {
                stage.event(Event::Edited { ticket, text: Ok(text) });
            }
        }
    }
}

fn acts() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => keys().prop_map(Act::Key),
        6 => wires(),
        2 => frames().prop_map(Act::Frame),
        1 => (0_u16..140, 0_u16..50).prop_map(|(columns, rows)| Act::Screen(columns, rows)),
        1 => (0_u64..20_000).prop_map(Act::Pass),
        1 => sample::select(vec![Act::Opened, Act::Closed]),
        1 => sample::select(vec!["", "{}", "[1]", r#"{"x":2}"#, r#"{"x":"__REDACTED__"}"#, "\u{1b}"]).prop_map(|text| Act::Edited(text.to_owned())),
        1 => any::<String>().prop_map(Act::Pasted),
    ]
}

fn keys() -> impl Strategy<Value = KeyCode> {
    prop_oneof![
        sample::select("csrienNmpxfbjkgG[] :?a/E".chars().collect::<Vec<_>>()).prop_map(KeyCode::Char),
        any::<char>().prop_map(KeyCode::Char),
        sample::select(vec![
            KeyCode::Up,
            KeyCode::Down,
            KeyCode::PageUp,
            KeyCode::PageDown,
            KeyCode::Home,
            KeyCode::End,
            KeyCode::Left,
            KeyCode::Right,
            KeyCode::Tab,
            KeyCode::BackTab,
            KeyCode::Enter,
            KeyCode::Esc,
            KeyCode::Backspace,
        ]),
    ]
}

fn wires() -> impl Strategy<Value = Act> {
    let id = || sample::select(vec!["a", "b", "c", r"\u001b旅", ""]);
    prop_oneof![
        (id(), id()).prop_map(|(node, parent)| {
            let kind = if node == "a" { "llm" } else { "tool" };
            let payload = format!(r#"{{"nodeId":"{node}","parentId":"{parent}","kind":"{kind}","name":"{node}","instanceId":"{node}","input":{{"x":1}}}}"#);
            Act::Wire("node.started", payload)
        }),
        (id(), sample::select(vec!["before", "after", "error"])).prop_map(|(node, point)| {
            let payload = format!(r#"{{"pauseId":"p{node}","nodeId":"{node}","point":"{point}","editable":true,"until":{{"at":{START},"action":"continue","why":"x"}}}}"#);
            Act::Wire("exec.paused", payload)
        }),
        id().prop_map(|node| Act::Wire("exec.resumed", format!(r#"{{"pauseId":"p{node}","action":"retry"}}"#))),
        id().prop_map(|node| Act::Wire("node.error", format!(r#"{{"nodeId":"{node}","error":{{"name":"E","message":"{node}"}}}}"#))),
        id().prop_map(|node| Act::Wire("node.finished", format!(r#"{{"nodeId":"{node}","durationMs":5,"status":"ok","output":[[1]]}}"#))),
        Just(Act::Wire("run.finished", r#"{"status":"ok"}"#.to_owned())),
        Just(Act::Wire("graph.hint", r#"{"nodes":[{"nodeId":"z","kind":"tool","name":"z","parentId":"z"}]}"#.to_owned())),
    ]
}

fn frames() -> impl Strategy<Value = String> {
    sample::select(vec![
        format!(r#"{{"type":"runs","runs":[{}]}}"#, info("r", "shop", START, "running")),
        r#"{"type":"runs","runs":[]}"#.to_owned(),
        format!(r#"{{"type":"run.update","run":{}}}"#, info("s", "旅", START + 9, "running")),
        format!(r#"{{"type":"run.update","run":{}}}"#, info("r", "shop", START, "abandoned")),
        r#"{"type":"replay.start","runId":"r","count":3}"#.to_owned(),
        r#"{"type":"replay.end","runId":"r"}"#.to_owned(),
        r#"{"type":"behind","runId":"r","missed":3}"#.to_owned(),
        r#"{"type":"stored","runId":"r","ord":1}"#.to_owned(),
        r#"{"type":"state","breakpoints":[{"name":"a"}],"mode":"step"}"#.to_owned(),
        r#"{"type":"resume.result","runId":"r","pauseId":"pa","requestId":"t-1","outcome":"taken"}"#.to_owned(),
    ])
}
