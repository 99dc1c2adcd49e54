//! What we write: field order, optional fields, and that we can read it back.

use super::super::*;
use super::{frame, sound};
use crate::json::Raw;

/// The payload as text, after checking that it parses as its own type.
fn written(event: &Event) -> String {
    let payload = String::from_utf8(event.payload().as_bytes().to_vec()).unwrap();
    let envelope = sound(frame(event.kind(), &payload));
    assert_eq!(envelope.payload, Some(event.payload()));
    assert_eq!(class(&envelope.kind), Some(Class::Event));
    payload
}

fn raw(text: &'static str) -> Raw {
    Raw::parse(text).unwrap()
}

fn loose() -> Extra {
    vec![("era", Raw::string("stateless"))]
}

fn error() -> ErrorInfo {
    ErrorInfo { name: "E".to_owned(), message: "m\n".to_owned(), stack: Some("s".to_owned()) }
}

fn hidden(field: &'static str) -> Option<Redaction> {
    Some(Redaction { count: 1, keys: vec![field.into()], failed: false })
}

#[test]
fn runs_and_hints() {
    let started = RunStarted {
        app: "a".to_owned(),
        sdk: SdkInfo { name: "rust".to_owned(), version: "0.1.0".to_owned() },
        meta: Some(raw(r#"{"name":"implicit","implicit":true}"#)),
        extra: loose(),
    };
    let expected = r#"{"app":"a","sdk":{"name":"rust","version":"0.1.0"},"meta":{"name":"implicit","implicit":true},"era":"stateless"}"#;
    assert_eq!(written(&Event::RunStarted(started)), expected);
    let finished = RunFinished { status: RunStatus::Aborted, error: Some(error()), extra: loose() };
    let expected = r#"{"status":"aborted","error":{"name":"E","message":"m\n","stack":"s"},"era":"stateless"}"#;
    assert_eq!(written(&Event::RunFinished(finished)), expected);
    let node =
        GraphNodeHint { node_id: "n".into(), kind: NodeKind::Llm, name: "l".into(), parent_id: Some("p".into()) };
    let hint = GraphHint { nodes: vec![node], gap: None, extra: Extra::new() };
    assert_eq!(
        written(&Event::GraphHint(hint)),
        r#"{"nodes":[{"nodeId":"n","kind":"llm","name":"l","parentId":"p"}]}"#
    );
    let gap = Some(Gap { dropped_count: 180, from_seq: 15, to_seq: 194 });
    let lost = Event::GraphHint(GraphHint { gap, ..GraphHint::default() });
    let expected = r#"{"nodes":[],"gap":{"droppedCount":180,"fromSeq":15,"toSeq":194,"reason":"buffer-overflow"}}"#;
    assert_eq!(written(&lost), expected);
}

#[test]
fn nodes() {
    let started = NodeStarted {
        node_id: "n".into(),
        parent_id: Some("p".into()),
        kind: NodeKind::Resource,
        name: "r".into(),
        instance_id: "i".into(),
        input: Some(Raw::null()),
        collapsed: Some(false),
        redaction: hidden("input"),
        extra: loose(),
    };
    let expected = r#"{"nodeId":"n","parentId":"p","kind":"resource","name":"r","instanceId":"i","input":null,"collapsed":false,"era":"stateless","redaction":{"count":1,"keys":["input"]}}"#;
    assert_eq!(written(&Event::NodeStarted(started)), expected);
    let delta = |channel, text: &str, chars| TokenDelta { channel, text: text.to_owned(), chars };
    let token = NodeToken {
        node_id: "llm:step".into(),
        deltas: vec![delta(TokenChannel::Text, "hé😀", None), delta(TokenChannel::ToolArgs, "", Some(7))],
        redaction: Some(Redaction { failed: true, ..Redaction::default() }),
        extra: Extra::new(),
    };
    let expected = r#"{"nodeId":"llm:step","deltas":[{"t":"text","v":"hé😀"},{"t":"tool-args","v":"","chars":7}],"redaction":{"count":0,"keys":[],"failed":true}}"#;
    assert_eq!(written(&Event::NodeToken(token)), expected);
    let usage = TokenUsage {
        input_tokens: 3,
        output_tokens: 4,
        inclusive: Some(true),
        cache_read_tokens: Some(1),
        cache_write_tokens: Some(2),
        reasoning_tokens: Some(0),
    };
    let finished = NodeFinished {
        node_id: "n".into(),
        instance_id: Some("i".into()),
        output: Some(raw("[1.0]")),
        usage: Some(usage),
        duration_ms: 7.12839,
        held_ms: Some(f64::NAN),
        status: RunStatus::Ok,
        redaction: hidden("output"),
        extra: loose(),
    };
    let expected = r#"{"nodeId":"n","instanceId":"i","durationMs":7.13,"status":"ok","output":[1.0],"usage":{"inputTokens":3,"outputTokens":4,"inclusive":true,"cacheReadTokens":1,"cacheWriteTokens":2,"reasoningTokens":0},"era":"stateless","redaction":{"count":1,"keys":["output"]},"heldMs":0}"#;
    assert_eq!(written(&Event::NodeFinished(finished)), expected);
    let failed =
        NodeError { node_id: "n".into(), instance_id: None, error: error(), held_ms: Some(-1.0), extra: loose() };
    let expected = r#"{"nodeId":"n","error":{"name":"E","message":"m\n","stack":"s"},"era":"stateless","heldMs":0}"#;
    assert_eq!(written(&Event::NodeError(failed)), expected);
}

#[test]
fn holds() {
    let looped = LoopInfo {
        repeats: 3,
        first_seq: 1,
        last_seq: 9,
        fingerprint: "f".to_owned(),
        kind: Some(LoopKind::Cycle),
        period: Some(2),
        laps: Some(3),
    };
    let paused = ExecPaused {
        pause_id: "p".into(),
        node_id: "n".into(),
        point: PausePoint::After,
        reason: Some(PauseReason::Loop),
        looped: Some(looped),
        smart: Some(Smart { rule: SmartRule::ErrorResult, detail: Some("d".to_owned()) }),
        editable: true,
        instance_id: Some("i".into()),
        hold: Some(GuardHold { policy: "drift".into(), cause: "schema".into(), detail: None }),
        until: Some(Until { at: Some(5), action: ResumeAction::Abort, why: Why::HostLimit }),
        extra: loose(),
    };
    let expected = concat!(
        r#"{"pauseId":"p","nodeId":"n","point":"after","reason":"loop","#,
        r#""loop":{"repeats":3,"firstSeq":1,"lastSeq":9,"fingerprint":"f","kind":"cycle","period":2,"laps":3},"#,
        r#""smart":{"rule":"error-result","detail":"d"},"editable":true,"instanceId":"i","#,
        r#""hold":{"policy":"drift","cause":"schema"},"until":{"at":5,"action":"abort","why":"host-limit"},"era":"stateless"}"#
    );
    assert_eq!(written(&Event::ExecPaused(paused.clone())), expected);
    let bare = ExecPaused {
        reason: None,
        looped: None,
        smart: None,
        editable: false,
        instance_id: Some("".into()),
        hold: None,
        until: None,
        extra: Extra::new(),
        ..paused
    };
    let expected = r#"{"pauseId":"p","nodeId":"n","point":"after"}"#;
    assert_eq!(written(&Event::ExecPaused(bare)), expected, "the 0.5 form");
}

#[test]
fn releases_and_what_comes_between() {
    let refused = ExecRefused {
        pause_id: "p".into(),
        code: RefusalCode::Truncated,
        message: Some("m".to_owned()),
        request_id: Some("r".to_owned()),
        redaction: hidden("message"),
        extra: Extra::new(),
    };
    let expected = r#"{"pauseId":"p","code":"truncated","message":"m","requestId":"r","redaction":{"count":1,"keys":["message"]}}"#;
    assert_eq!(written(&Event::ExecRefused(refused)), expected);
    let resumed = ExecResumed {
        pause_id: "p".into(),
        action: ResumeAction::Continue,
        edited: Some(raw(r#"{"x":1}"#)),
        request_id: Some(String::new()),
        redaction: hidden("edited"),
        extra: Extra::new(),
    };
    let expected = r#"{"pauseId":"p","action":"continue","edited":{"after":{"x":1}},"requestId":"","redaction":{"count":1,"keys":["edited"]}}"#;
    assert_eq!(written(&Event::ExecResumed(resumed)), expected);
    let until = |until| Event::ExecUntil(ExecUntil { pause_id: "p".into(), until, extra: Extra::new() });
    assert_eq!(written(&until(None)), r#"{"pauseId":"p"}"#);
    let moved = Until { at: None, action: ResumeAction::Continue, why: Why::Patience };
    assert_eq!(written(&until(Some(moved))), r#"{"pauseId":"p","action":"continue","why":"patience"}"#);
}

#[test]
fn t01_the_hello_has_its_fields_in_order() {
    let hello = Hello {
        protocol: 1,
        client: "0.1.0".to_owned(),
        capabilities: APP_CAPABILITIES.map(str::to_owned).to_vec(),
        app: Some("a".to_owned()),
        sdk: Some(SdkInfo { name: "rust".to_owned(), version: "0.1.0".to_owned() }),
        resume_token: Some("t".to_owned()),
        source: Some("demo".to_owned()),
    };
    let text = String::from_utf8(hello.payload().as_bytes().to_vec()).unwrap();
    let expected = concat!(
        r#"{"versions":{"protocol":1,"client":"0.1.0"},"capabilities":["pause","step","inject","retry","abort","run-claim","#,
        r#""edit-input","request-id","watch","conditions"],"app":"a","sdk":{"name":"rust","version":"0.1.0"},"#,
        r#""resumeToken":"t","source":"demo"}"#
    );
    assert_eq!(text, expected);
    assert_eq!(Hello::read(&sound(frame("hello", &text))), Some(hello));
    assert_eq!(HelloAck::read(&sound(frame("hello", &text))), None);
}

#[test]
fn acks_round_trip() {
    let ack = HelloAck {
        protocol: 1,
        viewer: "v".to_owned(),
        capabilities: vec!["pause".to_owned()],
        session_token: Some("t".to_owned()),
        hub_capabilities: Some(HUB_CAPABILITIES.map(str::to_owned).to_vec()),
        breakpoints: vec![Matcher::default(), Matcher { point: Some(PausePoint::Error), ..Matcher::default() }],
        left_out: None,
        mode: RunMode::Step,
        watched: Some(true),
    };
    let text = String::from_utf8(ack.payload().as_bytes().to_vec()).unwrap();
    assert_eq!(HelloAck::read(&sound(frame("hello.ack", &text))), Some(ack));
}

#[test]
fn words_are_spelled_and_read_back() {
    fn check<T: Copy + PartialEq + std::fmt::Debug>(
        all: &[T],
        spell: fn(T) -> &'static str,
        parse: fn(&str) -> Option<T>,
    ) {
        for word in all {
            assert_eq!(parse(spell(*word)), Some(*word));
            assert_eq!(parse(&spell(*word).to_uppercase()), None);
        }
        assert_eq!(parse(""), None);
    }
    check(NodeKind::ALL, NodeKind::as_str, NodeKind::parse);
    check(RunStatus::ALL, RunStatus::as_str, RunStatus::parse);
    check(PausePoint::ALL, PausePoint::as_str, PausePoint::parse);
    check(ResumeAction::ALL, ResumeAction::as_str, ResumeAction::parse);
    check(RunMode::ALL, RunMode::as_str, RunMode::parse);
    check(PauseReason::ALL, PauseReason::as_str, PauseReason::parse);
    check(TokenChannel::ALL, TokenChannel::as_str, TokenChannel::parse);
    check(RefusalCode::ALL, RefusalCode::as_str, RefusalCode::parse);
    check(SmartRule::ALL, SmartRule::as_str, SmartRule::parse);
    check(LoopKind::ALL, LoopKind::as_str, LoopKind::parse);
    check(Principal::ALL, Principal::as_str, Principal::parse);
    check(Why::ALL, Why::as_str, Why::parse);
}
