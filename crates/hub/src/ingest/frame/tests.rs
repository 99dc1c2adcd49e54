//! What is read out of single frames.

use super::{Frame, Names, Note, read, with_audit};
use lockgate_protocol::json::Raw;
use std::sync::Arc;

fn one(text: &str) -> String {
    show(read(text.to_owned().into(), &mut Names::default()))
}

fn show(frame: Frame) -> String {
    match frame {
        Frame::Hello(hello) => format!("hello {}", hello.client),
        Frame::Mismatch => "mismatch".to_owned(),
        Frame::Dropped(dropped) => format!("{dropped:?}"),
        Frame::Event(incoming) => {
            let event = incoming.event;
            let payload = event.payload.map_or("-".to_owned(), |payload| format!("{payload:?}"));
            let node = event.node.as_deref().unwrap_or("-");
            format!(
                "{} {} {} {node} {:?} {payload} {}",
                event.run,
                event.seq,
                event.kind,
                event.mark,
                note(&incoming.note)
            )
        }
    }
}

fn note(note: &Note) -> String {
    match note {
        Note::Nothing => "-".to_owned(),
        Note::Paused { pause, item } => format!("paused {pause} at {} {}", item.node, item.point),
        Note::Resumed { pause, action, request, .. } => format!("resumed {pause} {action} {request:?}"),
        Note::Refused { pause, code, message, request } => {
            format!("refused {pause} {} {message:?} {request:?}", code.as_str())
        }
        Note::Until { pause, until } => format!("until {pause} {until:?}"),
    }
}

fn frame(kind: &str, payload: &str) -> String {
    format!(r#"{{"gm":1,"seq":7,"ts":5,"runId":"r","type":"{kind}","payload":{payload}}}"#)
}

#[track_caller]
fn check(kind: &str, payload: &str, expected: &str) {
    assert_eq!(one(&frame(kind, payload)), format!("r 7 {kind} {expected}"));
}

#[test]
fn events_mark_their_run() {
    check(
        "run.started",
        r#"{"app":"a","sdk":{"name":"s","version":"1"}}"#,
        r#"- Started { app: "a" } {"app":"a","sdk":{"name":"s","version":"1"}} -"#,
    );
    check("run.finished", r#"{"status":"aborted"}"#, r#"- Finished { status: Aborted } {"status":"aborted"} -"#);
    check(
        "node.error",
        r#"{"nodeId":"n","error":{"name":"E","message":"m"}}"#,
        r#"n Error {"nodeId":"n","error":{"name":"E","message":"m"}} -"#,
    );
    check("acme", r#"{"nodeId":"n","status":"ok"}"#, r#"n None {"nodeId":"n","status":"ok"} -"#);
    check("acme", r#"{"nodeId":7}"#, r#"- None {"nodeId":7} -"#);
    check("acme", "[1.50]", "- None [1.50] -");
}

#[test]
fn events_of_holds_say_more() {
    check(
        "exec.paused",
        r#"{"pauseId":"p","nodeId":"n","point":"after"}"#,
        r#"n None {"pauseId":"p","nodeId":"n","point":"after"} paused p at n after"#,
    );
    check(
        "exec.resumed",
        r#"{"pauseId":"p","action":"retry","requestId":"q"}"#,
        r#"- None {"pauseId":"p","action":"retry","requestId":"q"} resumed p retry Some("q")"#,
    );
    check(
        "exec.refused",
        r#"{"pauseId":"p","code":"shape"}"#,
        r#"- None {"pauseId":"p","code":"shape"} refused p shape None None"#,
    );
    check(
        "exec.until",
        r#"{"pauseId":"p","at":9,"action":"abort","why":"review"}"#,
        r#"- None {"pauseId":"p","at":9,"action":"abort","why":"review"} until p Some({"at":9,"action":"abort","why":"review"})"#,
    );
    check("exec.until", r#"{"pauseId":"p"}"#, r#"- None {"pauseId":"p"} until p None"#);
}

#[test]
fn what_the_hub_alone_may_say_is_taken_out() {
    check(
        "exec.resumed",
        r#"{"pauseId":"p","principal":"viewer","action":"abort","operator":1}"#,
        r#"- None {"pauseId":"p","action":"abort"} resumed p abort None"#,
    );
    check("exec.acme", r#"{"operator":"x"}"#, "- None {} -");
    check("exec.acme", r#"["operator"]"#, r#"- None ["operator"] -"#);
    check("node.acme", r#"{"operator":"x"}"#, r#"- None {"operator":"x"} -"#);
    let stamped = with_audit(&Raw::parse(r#"{"pauseId":"p","operator":"Mallory"}"#).unwrap(), "agent", Some("Ada"));
    assert_eq!(format!("{stamped:?}"), r#"{"pauseId":"p","principal":"agent","operator":"Ada"}"#);
}

#[test]
fn the_rest_is_dropped() {
    assert_eq!(one(r#"{"gm":2,"seq":0,"ts":0,"runId":"r","type":"x"}"#), "mismatch");
    assert_eq!(
        one(r#"{"gm":1,"seq":0,"ts":0,"runId":"*","type":"node.token","payload":{"nodeId":"n","deltas":[]}}"#),
        "Misplaced"
    );
    assert_eq!(one(&frame("mode.set", r#"{"mode":"run"}"#)), "Misplaced");
    assert_eq!(one(&frame("run.finished", r#"{"status":"fine"}"#)), r#"Invalid("payload.status: unknown value")"#);
    assert_eq!(one("{"), r#"Invalid("not json: json text ends too early at byte 1")"#);
    let long = "x".repeat(5_000);
    assert_eq!(one(&format!(r#"{{"gm":1,"seq":0,"ts":0,"runId":"{long}","type":"x"}}"#)), "Long");
    assert_eq!(one(&frame(&long, "{}")), "Long");
}

#[test]
fn names_are_shared_along_a_connection() {
    let mut names = Names::default();
    let mut next = |text: &str| match read(text.to_owned().into(), &mut names) {
        Frame::Event(incoming) => (incoming.event.run, incoming.event.node.unwrap()),
        other => panic!("no event: {other:?}"),
    };
    let (one, other) = (next(&frame("acme", r#"{"nodeId":"n"}"#)), next(&frame("acme", r#"{"nodeId":"n"}"#)));
    assert!(Arc::ptr_eq(&one.0, &other.0) && Arc::ptr_eq(&one.1, &other.1));
    let third = next(&frame("acme", r#"{"nodeId":"m"}"#));
    assert_eq!((&*third.1, &*next(&frame("acme", r#"{"nodeId":"n"}"#)).1), ("m", "n"));
}
