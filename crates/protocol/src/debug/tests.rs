//! Conformance of the debug wire: W01 to W14, the golden frames, and what only we have.

mod golden;
mod properties;
mod senders;

use bytes::Bytes;

use super::*;
use crate::json::{Raw, Text};

fn frame(kind: &str, payload: &str) -> String {
    format!(r#"{{"gm":1,"seq":3,"ts":1796067744239,"runId":"run_1","type":"{kind}","payload":{payload}}}"#)
}

fn read(text: impl Into<Bytes>) -> Parsed {
    parse(text.into())
}

/// Path and message of each issue.
fn issues(text: impl Into<Bytes>) -> Vec<String> {
    let text = text.into();
    match read(text.clone()) {
        Parsed::Invalid { issues, .. } => issues.iter().map(Issue::to_string).collect(),
        other => panic!("{:?} gave {other:?}", String::from_utf8_lossy(&text)),
    }
}

fn sound(text: impl Into<Bytes>) -> Envelope {
    let text = text.into();
    match read(text.clone()) {
        Parsed::Ok(envelope) => envelope,
        other => panic!("{:?} gave {other:?}", String::from_utf8_lossy(&text)),
    }
}

#[test]
fn w03_one_of_four_kinds_for_any_text() {
    let texts: [&[u8]; 8] = [
        b"",
        b"\xFF",
        b"{",
        b"nope",
        b"[[[[",
        b"{}{}",
        b"\xEF\xBB\xBF{}",
        b"{\"gm\":1,\"seq\":0,\"ts\":0,\"runId\":\"\0\"}",
    ];
    for text in texts {
        assert!(issues(Bytes::from_static(text)).first().is_some_and(|issue| issue.starts_with("not json: ")));
    }
}

#[test]
fn w04_unknown_types_keep_type_and_payload() {
    for payload in ["[1,1.0,\"\\ud800\"]", "\"x\"", "null", "{\"a\":1,\"a\":2}", "1e400"] {
        let Parsed::UnknownType(envelope) = read(frame("node.invented", payload)) else { panic!("{payload}") };
        assert_eq!(envelope.kind, "node.invented");
        assert_eq!(envelope.payload.map(|raw| raw.bytes().clone()), Some(Bytes::from(payload)));
    }
}

#[test]
fn w05_own_keys_only() {
    for kind in ["constructor", "__proto__", "toString", "hasOwnProperty", "", "Node.started", "node.started "] {
        assert!(matches!(read(frame(kind, "{}")), Parsed::UnknownType(envelope) if envelope.kind == kind), "{kind}");
    }
}

#[test]
fn w06_unknown_payload_fields_survive_at_every_depth() {
    let payload = r#"{"nodeId":"n","error":{"name":"E","message":"m","code":{"__proto__":[1]},"stack":"s"},"constructor":1,"x":null}"#;
    assert_eq!(sound(frame("node.error", payload)).payload.map(|raw| raw.bytes().clone()), Some(Bytes::from(payload)));
}

#[test]
fn w07_unknown_envelope_keys_survive() {
    let text = r#"{"traceparent":"00-ab","gm":1,"seq":0,"ts":0,"runId":"*","type":"mode.set","payload":{"mode":"run"},"\ud800":[1]}"#;
    let envelope = sound(text);
    let names: Vec<_> = envelope.extra.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(names, [Text::from("traceparent"), Text::from_utf16(&[0xD800])]);
    let written = r#"{"gm":1,"seq":0,"ts":0,"runId":"*","type":"mode.set","payload":{"mode":"run"},"traceparent":"00-ab","\ud800":[1]}"#;
    assert_eq!(envelope.to_text(), written);
    assert_eq!(sound(written), envelope);
}

#[test]
fn w08_unknown_capabilities_are_accepted() {
    let hello = r#"{"versions":{"protocol":1,"client":"9"},"capabilities":["pause","teleport",""]}"#;
    let hello = Hello::read(&sound(frame("hello", hello))).unwrap();
    assert_eq!(hello.capabilities, ["pause", "teleport", ""]);
}

#[test]
fn w09_invalid_payloads_name_type_and_issues() {
    for &(kind, payload, expected) in BROKEN {
        let Parsed::Invalid { kind: named, issues } = read(frame(kind, payload)) else { panic!("{kind} {payload}") };
        assert_eq!(named.as_deref(), Some(kind));
        assert_eq!(issues.first().map(Issue::to_string).as_deref(), Some(expected), "{payload}");
    }
    let absent = r#"{"gm":1,"seq":0,"ts":0,"runId":"r","type":"mode.set"}"#;
    assert_eq!(issues(absent), ["payload: required"]);
    let many = format!("{{\"nodeId\":\"n\",\"deltas\":[{}1]}}", "1,".repeat(10_000));
    assert_eq!(issues(frame("node.token", &many)).len(), 16);
}

#[test]
fn w10_malformed_envelopes_are_invalid() {
    let whole = [
        ("gm", "1", "x"),
        ("seq", "0", "-1"),
        ("seq", "0", "1.5"),
        ("seq", "0", "\"0\""),
        ("runId", "\"r\"", "7"),
        ("type", "\"mode.set\"", "null"),
        ("type", "\"mode.set\"", "[]"),
    ];
    for text in ["null", "1", "\"x\"", "[]", "true"] {
        assert_eq!(issues(text), ["expected object"], "{text}");
    }
    assert_eq!(issues("{}"), ["gm: required", "seq: required", "ts: required", "runId: required", "type: required"]);
    for (name, good, bad) in whole {
        let text = r#"{"gm":1,"seq":0,"ts":0,"runId":"r","type":"mode.set","payload":{"mode":"run"}}"#;
        sound(text);
        let broken = text.replacen(&format!("\"{name}\":{good}"), &format!("\"{name}\":{bad}"), 1);
        assert_eq!(issues(broken.clone()).len(), 1, "{broken}");
    }
}

#[test]
fn w11_run_ids_without_nul_or_lone_surrogate() {
    for (run, fine) in
        [("", true), ("*", true), ("é😀", true), (r"\ud83d\ude00", true), (r"\ud800", false), (r"a\u0000", false)]
    {
        let text = format!(r#"{{"gm":1,"seq":0,"ts":0,"runId":"{run}","type":"x"}}"#);
        assert_eq!(matches!(read(text), Parsed::UnknownType(_)), fine, "{run}");
    }
    assert_eq!(RunId::new("a\0"), None);
    assert_eq!(RunId::none().as_str(), "*");
}

#[test]
fn w12_times_and_counters_are_safe_integers() {
    let cases = [
        ("0", true),
        ("1.0", true),
        ("-0", true),
        ("9007199254740991", true),
        ("9007199254740992", false),
        ("1e300", false),
        ("1e3", true),
        ("0.5", false),
        ("-1", false),
        ("18446744073709551616", false),
        ("1e400", false),
    ];
    for (number, fine) in cases {
        for field in ["seq", "ts"] {
            let other = if field == "seq" { "ts" } else { "seq" };
            let text = format!(r#"{{"gm":1,"{field}":{number},"{other}":0,"runId":"","type":"x"}}"#);
            assert_eq!(matches!(read(text), Parsed::UnknownType(_)), fine, "{field} {number}");
        }
    }
}

#[test]
fn w13_payload_is_optional_for_unknown_types() {
    let text = r#"{"gm":1,"seq":0,"ts":0,"runId":"r","type":"x"}"#;
    let Parsed::UnknownType(envelope) = read(text) else { panic!() };
    assert_eq!(envelope.payload, None);
    assert_eq!(envelope.to_text(), text);
}

#[test]
fn the_major_is_judged_after_the_raw_envelope_and_before_the_type() {
    let of = |gm: &str, rest: &str| format!(r#"{{"gm":{gm},"seq":0,"ts":0,"runId":"r","type":"mode.set"{rest}}}"#);
    for (gm, received) in [("2", 2), ("0", 0), ("-1", -1), ("2.0", 2)] {
        assert_eq!(read(of(gm, "")), Parsed::VersionMismatch { received }, "{gm}");
    }
    assert_eq!(issues(of("1.5", "")), ["gm: expected integer"]);
    assert_eq!(issues(of("2", r#","seq":-1"#)), ["seq: expected integer from 0 to 2^53 - 1"]);
    sound(of("1.0", r#","payload":{"mode":"run"}"#));
}

#[test]
fn the_last_of_repeated_fields_counts() {
    let text = r#"{"gm":2,"seq":-1,"ts":0,"runId":7,"type":"x","gm":1,"seq":4,"\u0072unId":"r","type":"mode.set","payload":{"mode":"run"}}"#;
    let envelope = sound(text);
    assert_eq!((envelope.seq, envelope.run.as_str()), (4, "r"));
    sound(frame("mode.set", r#"{"mode":7,"mode":"run"}"#));
    assert_eq!(issues(frame("mode.set", r#"{"mode":"run","mode":7}"#)), ["payload.mode: unknown value"]);
}

#[test]
fn payloads_share_the_frame() {
    let text = Bytes::from(frame("exec.resume", r#"{"pauseId":"p","action":"inject","output":[1]}"#));
    let Ok(Control::Resume(resume)) = Control::read(&sound(text.clone())) else { panic!() };
    let output = resume.output.unwrap();
    assert!(text.as_ptr_range().contains(&output.as_bytes().as_ptr()));
}

#[test]
fn controls_round_trip() {
    let matcher = Matcher { kind: Some(NodeKind::Tool), name: Some("t".to_owned()), ..Matcher::default() };
    let resume = ExecResume {
        pause_id: "p".into(),
        action: ResumeAction::Continue,
        output: None,
        input: Some(Raw::null()),
        request_id: Some(String::new()),
        pin: Some("sha256:0".to_owned()),
    };
    let controls = [
        Control::Resume(resume),
        Control::BreakpointSet(Matcher { when: Some(Raw::parse("[1.0]").unwrap()), after: Some(2), ..matcher.clone() }),
        Control::BreakpointClear(Matcher { point: Some(PausePoint::After), ..matcher }),
        Control::ModeSet(RunMode::Step),
        Control::WatchSet(Watched::No),
    ];
    for control in controls {
        let text = frame(control.kind(), str::from_utf8(control.payload().as_bytes()).unwrap());
        assert_eq!(Control::read(&sound(text)), Ok(control));
    }
    let wrong = Control::read(&sound(frame("breakpoint.set", r#"{"matcher":{"after":-1}}"#)));
    assert_eq!(wrong, Err(Issue::new("payload.matcher.after", "unknown value")));
    let event = sound(frame("run.finished", r#"{"status":"ok"}"#));
    assert_eq!(Control::read(&event), Err(Issue::new("type", "no control")));
}

#[test]
fn matchers_are_told_apart_by_all_their_fields() {
    let key = |text: &'static str| Matcher::read(Raw::parse(text).unwrap().view()).unwrap().key();
    assert_eq!(key("{}"), "{}");
    assert_ne!(key("{}"), key(r#"{"point":"before"}"#));
    assert_eq!(key(r#"{"name":"n","kind":"tool"}"#), key(r#"{ "kind":"tool", "name":"\u006e","later":1 }"#));
    assert_eq!(key(r#"{"when":{"b":1.0,"a":[]},"after":2}"#), r#"{"after":2,"when":{"a":[],"b":1}}"#);
}

#[test]
fn loose_fields_never_reject() {
    let paused = r#"{"pauseId":"p","nodeId":"n","point":"before","hold":7,"until":"soon","smart":{"rule":"new"}}"#;
    sound(frame("exec.paused", paused));
    sound(frame("exec.resumed", r#"{"pauseId":"p","action":"continue","principal":"somebody"}"#));
    let ack = r#"{"versions":{"protocol":1,"viewer":"v"},"capabilities":[],"breakpoints":[{"after":-1},{}],"mode":"run","hubCapabilities":[1,"watch",null],"watched":"yes","sessionToken":""}"#;
    let ack = HelloAck::read(&sound(frame("hello.ack", ack))).unwrap();
    assert_eq!(ack.hub_capabilities, Some(vec!["watch".to_owned()]));
    assert_eq!((ack.breakpoints.len(), ack.watched, ack.session_token), (1, None, None));
    let left_out = ack.left_out.map(|issue| issue.to_string());
    assert_eq!(left_out.as_deref(), Some("payload.breakpoints.0.after: unknown value"));
}

#[test]
fn e18_capabilities_of_a_hub_that_are_no_list_are_those_of_an_old_one() {
    for (value, expected) in [
        ("[]", Some(0)),
        (r#"["edit-input"]"#, Some(1)),
        ("null", None),
        ("{}", None),
        (r#""edit-input""#, None),
        ("1", None),
    ] {
        let ack = format!(
            r#"{{"versions":{{"protocol":1,"viewer":"v"}},"capabilities":[],"breakpoints":[],"mode":"run","hubCapabilities":{value}}}"#
        );
        let ack = HelloAck::read(&sound(frame("hello.ack", &ack))).unwrap();
        assert_eq!(ack.hub_capabilities.map(|list| list.len()), expected, "{value}");
    }
}

#[test]
fn classes_cover_the_registry() {
    let kinds =
        [("node.token", Some(Class::Event)), ("watch.set", Some(Class::Control)), ("hello", Some(Class::Handshake))];
    for (kind, expected) in kinds {
        assert_eq!(class(kind), expected);
    }
    assert_eq!(class("toString"), None);
}

/// Type, payload and the first thing wrong with it.
const BROKEN: &[(&str, &str, &str)] = &[
    ("run.started", "{}", "payload.app: required"),
    ("run.started", r#"{"app":"a","sdk":{"name":"n"}}"#, "payload.sdk.version: required"),
    ("run.started", r#"{"app":"a","sdk":{"name":"n","version":"1"},"meta":[]}"#, "payload.meta: expected object"),
    ("run.finished", r#"{"status":"done"}"#, "payload.status: unknown value"),
    ("graph.hint", r#"{"nodes":[{"nodeId":"n","kind":"tool"}]}"#, "payload.nodes.0.name: required"),
    ("graph.hint", r#"{"nodes":{}}"#, "payload.nodes: expected array"),
    ("node.started", r#"{"nodeId":1,"kind":"tool","name":"n","instanceId":"i"}"#, "payload.nodeId: expected string"),
    ("node.started", r#"{"nodeId":"n","kind":"gizmo","name":"n","instanceId":"i"}"#, "payload.kind: unknown value"),
    (
        "node.token",
        r#"{"nodeId":"n","deltas":[{"t":"text","v":""},{"t":"x","v":1}]}"#,
        "payload.deltas.1.t: unknown value",
    ),
    (
        "node.finished",
        r#"{"nodeId":"n","durationMs":1e400,"status":"ok"}"#,
        "payload.durationMs: expected number, not negative",
    ),
    (
        "node.finished",
        r#"{"nodeId":"n","durationMs":-1,"status":"ok"}"#,
        "payload.durationMs: expected number, not negative",
    ),
    (
        "node.finished",
        r#"{"nodeId":"n","durationMs":1,"status":"ok","usage":{"inputTokens":1,"outputTokens":1.5}}"#,
        "payload.usage.outputTokens: expected integer in range",
    ),
    ("node.error", r#"{"nodeId":"n","error":null}"#, "payload.error: expected object"),
    (
        "exec.paused",
        r#"{"pauseId":"p","nodeId":"n","point":"before","reason":"drift"}"#,
        "payload.reason: unknown value",
    ),
    ("exec.refused", r#"{"pauseId":"p","code":"no"}"#, "payload.code: unknown value"),
    ("exec.resumed", r#"{"pauseId":"p","action":"continue","edited":{}}"#, "payload.edited.after: required"),
    ("exec.resume", r#"{"pauseId":"p","action":"jump"}"#, "payload.action: unknown value"),
    ("breakpoint.set", r#"{"matcher":{"kind":null}}"#, "payload.matcher.kind: unknown value"),
    ("breakpoint.clear", "{}", "payload.matcher: required"),
    ("mode.set", r#"{"mode":"stop"}"#, "payload.mode: unknown value"),
    (
        "hello",
        r#"{"versions":{"protocol":"1","client":"c"},"capabilities":[]}"#,
        "payload.versions.protocol: expected integer in range",
    ),
    (
        "hello.ack",
        r#"{"versions":{"protocol":1,"viewer":"v"},"capabilities":[],"mode":"run"}"#,
        "payload.breakpoints: required",
    ),
    ("exec.until", "{}", "payload.pauseId: required"),
    ("watch.set", r#"{"watched":1}"#, "payload.watched: expected boolean"),
    ("mode.set", "[]", "payload: expected object"),
];
