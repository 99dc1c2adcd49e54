//! Frames recorded from the published 0.5.1 SDK and a hub: all of them parse, and ours have the same fields in the same order.

use super::super::*;
use super::sound;
use crate::json::Raw;

/// A recorded conversation: epoch milliseconds its offsets count from, run, lines of `direction seq +ms type payload`.
struct Recording {
    ts: u64,
    run: &'static str,
    lines: &'static str,
}

impl Recording {
    /// Parses each line as the frame it was, checks it, and gives its payload without the recorder's `0.0`.
    fn payloads(&self) -> Vec<String> {
        self.lines.trim().lines().map(|line| self.payload(line.trim())).collect()
    }

    fn payload(&self, line: &str) -> String {
        let mut parts = line.splitn(5, ' ');
        let mut part = || parts.next().unwrap();
        let (side, seq, offset, kind, payload) = (part(), part(), part(), part(), part());
        let ts = self.ts + offset.trim_start_matches('+').parse::<u64>().unwrap();
        let bound = side == "A>" && kind != "hello";
        let run = if bound { self.run } else { "*" };
        let spaced = spaced(payload);
        let frame = format!(
            r#"{{"gm": 1, "seq": {seq}, "ts": {ts}, "runId": "{run}", "type": "{kind}", "payload": {spaced}}}"#
        );
        let envelope = sound(frame);
        let expected = (seq.parse().unwrap(), ts, run, kind);
        assert_eq!((envelope.seq, envelope.ts, envelope.run.as_str(), envelope.kind.as_ref()), expected);
        assert_eq!(envelope.payload.map(|raw| raw.bytes().clone()), Some(spaced.into()), "kept as it came");
        payload.replace(":0.0", ":0")
    }

    /// The payloads are exactly those we would write.
    fn check(&self, ours: &[Raw]) {
        let ours: Vec<_> = ours.iter().map(|raw| String::from_utf8_lossy(raw.as_bytes()).into_owned()).collect();
        assert_eq!(ours, self.payloads());
    }
}

/// Python's separators.
fn spaced(payload: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for one in payload.chars() {
        inside ^= one == '"';
        out.push(one);
        if !inside && matches!(one, ',' | ':') {
            out.push(' ');
        }
    }
    out
}

fn raw(text: &'static str) -> Raw {
    Raw::parse(text).unwrap()
}

fn started(kind: NodeKind, name: &str, instance: &str, input: Option<&'static str>) -> Raw {
    let started = NodeStarted {
        node_id: format!("{kind}:{name}").into(),
        parent_id: None,
        kind,
        name: name.into(),
        instance_id: instance.into(),
        input: input.map(raw),
        collapsed: None,
        redaction: None,
        extra: Extra::new(),
    };
    Event::NodeStarted(started).payload()
}

/// A finished node; the fields that vary are set by `with`.
fn finished(node: &str, instance: &str, times: (f64, f64), with: impl FnOnce(&mut NodeFinished)) -> Raw {
    let mut finished = NodeFinished {
        node_id: node.into(),
        instance_id: Some(instance.into()),
        output: None,
        usage: None,
        duration_ms: times.0,
        held_ms: Some(times.1),
        status: RunStatus::Ok,
        redaction: None,
        extra: Extra::new(),
    };
    with(&mut finished);
    Event::NodeFinished(finished).payload()
}

fn info(name: &str, message: &str) -> ErrorInfo {
    ErrorInfo { name: name.to_owned(), message: message.to_owned(), stack: Some("<trimmed>".to_owned()) }
}

fn failed(node: &str, instance: &str, error: ErrorInfo, held: f64) -> Raw {
    let (node_id, instance_id) = (node.into(), Some(instance.into()));
    Event::NodeError(NodeError { node_id, instance_id, error, held_ms: Some(held), extra: Extra::new() }).payload()
}

fn run_finished(status: RunStatus, error: Option<ErrorInfo>) -> Raw {
    Event::RunFinished(RunFinished { status, error, extra: Extra::new() }).payload()
}

fn paused(pause: &str, node: &str, point: PausePoint, looped: Option<LoopInfo>) -> Raw {
    let paused = ExecPaused {
        pause_id: pause.into(),
        node_id: node.into(),
        point,
        reason: looped.as_ref().map(|_| PauseReason::Loop),
        looped,
        smart: None,
        editable: false,
        instance_id: None,
        hold: None,
        until: None,
        extra: Extra::new(),
    };
    Event::ExecPaused(paused).payload()
}

fn resume(pause: &str, action: ResumeAction, output: Option<&'static str>, request: Option<&str>) -> Raw {
    let resume = ExecResume {
        pause_id: pause.into(),
        action,
        output: output.map(raw),
        input: None,
        request_id: request.map(str::to_owned),
        pin: None,
    };
    Control::Resume(resume).payload()
}

fn resumed(pause: &str, action: ResumeAction) -> Raw {
    let pause_id = pause.into();
    let resumed =
        ExecResumed { pause_id, action, edited: None, request_id: None, redaction: None, extra: Extra::new() };
    Event::ExecResumed(resumed).payload()
}

fn hello(token: Option<&str>) -> Raw {
    let hello = Hello {
        protocol: 1,
        client: "0.5.1".to_owned(),
        capabilities: APP_CAPABILITIES.iter().take(6).map(|&name| name.to_owned()).collect(),
        app: Some("probe-app".to_owned()),
        sdk: Some(SdkInfo { name: "python".to_owned(), version: "0.5.1".to_owned() }),
        resume_token: token.map(str::to_owned),
        source: None,
    };
    hello.payload()
}

fn injected(output: &'static str, more: &[&'static str]) -> impl FnOnce(&mut NodeFinished) {
    let extra = more.iter().map(|&name| (name, Raw::bool(true))).collect();
    move |finished| {
        finished.output = Some(raw(output));
        finished.extra = extra;
    }
}

#[test]
fn a_plain_call() {
    let recording = Recording {
        ts: 1_796_067_744_239,
        run: "run_029ba1e01c19",
        lines: r#"
            A> 0 +0 hello {"versions":{"protocol":1,"client":"0.5.1"},"capabilities":["pause","step","inject","retry","abort","run-claim"],"app":"probe-app","sdk":{"name":"python","version":"0.5.1"}}
            H> 0 +0 hello.ack {"versions":{"protocol":1,"viewer":"probe/0.0.0"},"capabilities":["pause","step","inject","retry","abort","run-claim"],"sessionToken":"tok-probe-1","hubCapabilities":["edit-input"],"breakpoints":[],"mode":"run"}
            A> 1 +1 run.started {"app":"probe-app","sdk":{"name":"python","version":"0.5.1"},"meta":{"name":"book-trip","env":"test"}}
            A> 2 +1 node.started {"nodeId":"agent:book-trip","kind":"agent","name":"book-trip","instanceId":"run_029ba1e01c19"}
            A> 3 +2 node.started {"nodeId":"tool:search_flights","kind":"tool","name":"search_flights","instanceId":"call_8a8a2a_1","input":{"origin":"VIE","dest":"LIS","limit":5}}
            A> 4 +2 node.finished {"nodeId":"tool:search_flights","instanceId":"call_8a8a2a_1","durationMs":0.62,"status":"ok","output":[{"flight":"TP1234","to":"LIS"}],"heldMs":0.0}
            A> 5 +2 node.finished {"nodeId":"agent:book-trip","instanceId":"run_029ba1e01c19","durationMs":1.15,"status":"ok","heldMs":0.0}
            A> 6 +2 run.finished {"status":"ok"}"#,
    };
    let ack = HelloAck {
        protocol: 1,
        viewer: "probe/0.0.0".to_owned(),
        capabilities: APP_CAPABILITIES.iter().take(6).map(|&name| name.to_owned()).collect(),
        session_token: Some("tok-probe-1".to_owned()),
        hub_capabilities: Some(vec!["edit-input".to_owned()]),
        breakpoints: Vec::new(),
        left_out: None,
        mode: RunMode::Run,
        watched: None,
    };
    let run = RunStarted {
        app: "probe-app".to_owned(),
        sdk: SdkInfo { name: "python".to_owned(), version: "0.5.1".to_owned() },
        meta: Some(raw(r#"{"name":"book-trip","env":"test"}"#)),
        extra: Extra::new(),
    };
    let instance = "call_8a8a2a_1";
    let input = r#"{"origin":"VIE","dest":"LIS","limit":5}"#;
    let output = |finished: &mut NodeFinished| finished.output = Some(raw(r#"[{"flight":"TP1234","to":"LIS"}]"#));
    recording.check(&[
        hello(None),
        ack.payload(),
        Event::RunStarted(run).payload(),
        started(NodeKind::Agent, "book-trip", "run_029ba1e01c19", None),
        started(NodeKind::Tool, "search_flights", instance, Some(input)),
        finished("tool:search_flights", instance, (0.62, 0.0), output),
        finished("agent:book-trip", "run_029ba1e01c19", (1.15, 0.0), |_| {}),
        run_finished(RunStatus::Ok, None),
    ]);
    let last = Envelope {
        seq: 6,
        ts: 1_796_067_744_241,
        run: RunId::new("run_029ba1e01c19").unwrap(),
        kind: "run.finished".into(),
        payload: Some(run_finished(RunStatus::Ok, None)),
        extra: Vec::new(),
    };
    let text = r#"{"gm": 1, "seq": 6, "ts": 1796067744241, "runId": "run_029ba1e01c19", "type": "run.finished", "payload": {"status": "ok"}}"#;
    assert_eq!(spaced(&last.to_text()), text);
}

#[test]
fn a_before_hold_with_an_injected_answer() {
    let recording = Recording {
        ts: 1_796_067_744_456,
        run: "run_d6a49d1d8447",
        lines: r#"
            A> 3 +0 node.started {"nodeId":"tool:search_flights","kind":"tool","name":"search_flights","instanceId":"call_8a8a2a_2","input":{"origin":"A","dest":"B","limit":5}}
            A> 4 +0 exec.paused {"pauseId":"pause_8a8a2a_3","nodeId":"tool:search_flights","point":"before"}
            H> 1 +23 exec.resume {"pauseId":"pause_8a8a2a_3","action":"inject","output":{"fake":true},"requestId":"req-1"}
            A> 5 +23 exec.resumed {"pauseId":"pause_8a8a2a_3","action":"inject"}
            A> 6 +30 node.finished {"nodeId":"tool:search_flights","instanceId":"call_8a8a2a_2","durationMs":30.21,"status":"ok","output":{"fake":true},"injected":true,"heldMs":23.25}"#,
    };
    let (pause, node, instance) = ("pause_8a8a2a_3", "tool:search_flights", "call_8a8a2a_2");
    let input = r#"{"origin":"A","dest":"B","limit":5}"#;
    recording.check(&[
        started(NodeKind::Tool, "search_flights", instance, Some(input)),
        paused(pause, node, PausePoint::Before, None),
        resume(pause, ResumeAction::Inject, Some(r#"{"fake":true}"#), Some("req-1")),
        resumed(pause, ResumeAction::Inject),
        finished(node, instance, (30.21, 23.25), injected(r#"{"fake":true}"#, &["injected"])),
    ]);
}

#[test]
fn an_error_hold_with_a_retry() {
    let recording = Recording {
        ts: 1_796_067_744_698,
        run: "run_e03723068873",
        lines: r#"
            A> 3 +0 node.started {"nodeId":"tool:flaky","kind":"tool","name":"flaky","instanceId":"call_8a8a2a_4","input":{"x":21}}
            A> 4 +1 node.error {"nodeId":"tool:flaky","instanceId":"call_8a8a2a_4","error":{"name":"ValueError","message":"HTTP 500 from rates","stack":"<trimmed>"},"heldMs":0.0}
            A> 5 +1 exec.paused {"pauseId":"pause_8a8a2a_5","nodeId":"tool:flaky","point":"error"}
            H> 1 +23 exec.resume {"pauseId":"pause_8a8a2a_5","action":"retry"}
            A> 6 +23 exec.resumed {"pauseId":"pause_8a8a2a_5","action":"retry"}
            A> 7 +24 node.finished {"nodeId":"tool:flaky","instanceId":"call_8a8a2a_4","durationMs":23.2,"status":"ok","output":42,"heldMs":21.82}"#,
    };
    let (pause, node, instance) = ("pause_8a8a2a_5", "tool:flaky", "call_8a8a2a_4");
    recording.check(&[
        started(NodeKind::Tool, "flaky", instance, Some(r#"{"x":21}"#)),
        failed(node, instance, info("ValueError", "HTTP 500 from rates"), 0.0),
        paused(pause, node, PausePoint::Error, None),
        resume(pause, ResumeAction::Retry, None, None),
        resumed(pause, ResumeAction::Retry),
        finished(node, instance, (23.2, 21.82), |finished| finished.output = Some(raw("42"))),
    ]);
}

#[test]
fn an_error_hold_with_an_injected_answer() {
    let recording = Recording {
        ts: 1_796_067_744_927,
        run: "run_12f2370dc1de",
        lines: r#"
            A> 3 +0 node.started {"nodeId":"tool:broken","kind":"tool","name":"broken","instanceId":"call_8a8a2a_6","input":{}}
            A> 4 +0 node.error {"nodeId":"tool:broken","instanceId":"call_8a8a2a_6","error":{"name":"RuntimeError","message":"boom","stack":"<trimmed>"},"heldMs":0.0}
            A> 5 +0 exec.paused {"pauseId":"pause_8a8a2a_7","nodeId":"tool:broken","point":"error"}
            H> 1 +21 exec.resume {"pauseId":"pause_8a8a2a_7","action":"inject","output":"rescued"}
            A> 6 +21 exec.resumed {"pauseId":"pause_8a8a2a_7","action":"inject"}
            A> 7 +22 node.finished {"nodeId":"tool:broken","instanceId":"call_8a8a2a_6","durationMs":22.22,"status":"ok","output":"rescued","injected":true,"recoveredFromError":true,"heldMs":21.27}"#,
    };
    let (pause, node, instance) = ("pause_8a8a2a_7", "tool:broken", "call_8a8a2a_6");
    recording.check(&[
        started(NodeKind::Tool, "broken", instance, Some("{}")),
        failed(node, instance, info("RuntimeError", "boom"), 0.0),
        paused(pause, node, PausePoint::Error, None),
        resume(pause, ResumeAction::Inject, Some("\"rescued\""), None),
        resumed(pause, ResumeAction::Inject),
        finished(node, instance, (22.22, 21.27), injected("\"rescued\"", &["injected", "recoveredFromError"])),
    ]);
}

#[test]
fn an_abort_before_the_call() {
    let recording = Recording {
        ts: 1_796_067_745_160,
        run: "run_aa56b886f942",
        lines: r#"
            A> 3 +0 node.started {"nodeId":"tool:search_flights","kind":"tool","name":"search_flights","instanceId":"call_8a8a2a_8","input":{"origin":"A","dest":"B","limit":5}}
            A> 4 +0 exec.paused {"pauseId":"pause_8a8a2a_9","nodeId":"tool:search_flights","point":"before"}
            H> 1 +22 exec.resume {"pauseId":"pause_8a8a2a_9","action":"abort"}
            A> 5 +22 exec.resumed {"pauseId":"pause_8a8a2a_9","action":"abort"}
            A> 6 +26 node.finished {"nodeId":"tool:search_flights","instanceId":"call_8a8a2a_8","durationMs":25.93,"status":"aborted","heldMs":22.05}
            A> 8 +26 run.finished {"status":"aborted"}"#,
    };
    let (pause, node, instance) = ("pause_8a8a2a_9", "tool:search_flights", "call_8a8a2a_8");
    let input = r#"{"origin":"A","dest":"B","limit":5}"#;
    recording.check(&[
        started(NodeKind::Tool, "search_flights", instance, Some(input)),
        paused(pause, node, PausePoint::Before, None),
        resume(pause, ResumeAction::Abort, None, None),
        resumed(pause, ResumeAction::Abort),
        finished(node, instance, (25.93, 22.05), |finished| finished.status = RunStatus::Aborted),
        run_finished(RunStatus::Aborted, None),
    ]);
}

#[test]
fn an_error_hold_that_continues() {
    let recording = Recording {
        ts: 1_796_067_745_392,
        run: "run_7d93e6830cd6",
        lines: r#"
            A> 4 +0 node.error {"nodeId":"tool:broken","instanceId":"call_8a8a2a_10","error":{"name":"RuntimeError","message":"boom","stack":"<trimmed>"},"heldMs":0.0}
            A> 5 +0 exec.paused {"pauseId":"pause_8a8a2a_11","nodeId":"tool:broken","point":"error"}
            H> 1 +21 exec.resume {"pauseId":"pause_8a8a2a_11","action":"continue"}
            A> 6 +21 exec.resumed {"pauseId":"pause_8a8a2a_11","action":"continue"}
            A> 7 +21 node.finished {"nodeId":"tool:broken","instanceId":"call_8a8a2a_10","durationMs":21.81,"status":"error","heldMs":21.23}
            A> 8 +22 node.error {"nodeId":"agent:err-continue","instanceId":"run_7d93e6830cd6","error":{"name":"RuntimeError","message":"boom","stack":"<trimmed>"},"heldMs":21.23}
            A> 9 +22 node.finished {"nodeId":"agent:err-continue","instanceId":"run_7d93e6830cd6","durationMs":21.99,"status":"error","heldMs":21.23}
            A> 10 +23 run.finished {"status":"error","error":{"name":"RuntimeError","message":"boom","stack":"<trimmed>"}}"#,
    };
    let (pause, node, instance) = ("pause_8a8a2a_11", "tool:broken", "call_8a8a2a_10");
    let (agent, run) = ("agent:err-continue", "run_7d93e6830cd6");
    let boom = || info("RuntimeError", "boom");
    recording.check(&[
        failed(node, instance, boom(), 0.0),
        paused(pause, node, PausePoint::Error, None),
        resume(pause, ResumeAction::Continue, None, None),
        resumed(pause, ResumeAction::Continue),
        finished(node, instance, (21.81, 21.23), |finished| finished.status = RunStatus::Error),
        failed(agent, run, boom(), 21.23),
        finished(agent, run, (21.99, 21.23), |finished| finished.status = RunStatus::Error),
        run_finished(RunStatus::Error, Some(boom())),
    ]);
}

#[test]
fn a_disconnect_while_held_and_the_replay() {
    let recording = Recording {
        ts: 1_796_067_745_619,
        run: "run_569de8abd5e5",
        lines: r#"
            A> 3 +1 node.started {"nodeId":"tool:t","kind":"tool","name":"t","instanceId":"call_8a8a2a_12","input":{"x":5}}
            A> 4 +1 exec.paused {"pauseId":"pause_8a8a2a_13","nodeId":"tool:t","point":"before"}
            A> 9 +407 hello {"versions":{"protocol":1,"client":"0.5.1"},"capabilities":["pause","step","inject","retry","abort","run-claim"],"app":"probe-app","sdk":{"name":"python","version":"0.5.1"},"resumeToken":"tok-probe-1"}
            A> 5 +102 exec.resumed {"pauseId":"pause_8a8a2a_13","action":"continue"}
            A> 6 +102 node.finished {"nodeId":"tool:t","instanceId":"call_8a8a2a_12","durationMs":101.72,"status":"ok","output":6,"heldMs":101.41}"#,
    };
    let (pause, instance) = ("pause_8a8a2a_13", "call_8a8a2a_12");
    recording.check(&[
        started(NodeKind::Tool, "t", instance, Some(r#"{"x":5}"#)),
        paused(pause, "tool:t", PausePoint::Before, None),
        hello(Some("tok-probe-1")),
        resumed(pause, ResumeAction::Continue),
        finished("tool:t", instance, (101.72, 101.41), |finished| finished.output = Some(raw("6"))),
    ]);
}

#[test]
fn a_loop_hold() {
    let recording = Recording {
        ts: 1_796_067_746_536,
        run: "run_09e95042d264",
        lines: r#"
            A> 8 +0 exec.paused {"pauseId":"pause_8a8a2a_17","nodeId":"tool:t","point":"before","reason":"loop","loop":{"repeats":3,"firstSeq":3,"lastSeq":7,"fingerprint":"cd0aa2d2f130f1a224cc2e72cc3fbf9b"}}
            H> 1 +28 exec.resume {"pauseId":"pause_8a8a2a_17","action":"continue"}
            A> 9 +28 exec.resumed {"pauseId":"pause_8a8a2a_17","action":"continue"}"#,
    };
    let looped = LoopInfo {
        repeats: 3,
        first_seq: 3,
        last_seq: 7,
        fingerprint: fingerprint("tool:t", Some(raw(r#"{"x":7}"#).view()), &["_meta"]),
        kind: None,
        period: None,
        laps: None,
    };
    recording.check(&[
        paused("pause_8a8a2a_17", "tool:t", PausePoint::Before, Some(looped)),
        resume("pause_8a8a2a_17", ResumeAction::Continue, None, None),
        resumed("pause_8a8a2a_17", ResumeAction::Continue),
    ]);
}

#[test]
fn odd_payloads_of_other_senders_parse() {
    let recording = Recording {
        ts: 0,
        run: "r",
        lines: r#"
            A> 1 +0 node.started {"nodeId":"tool:sec","kind":"tool","name":"sec","instanceId":"i","input":"__REDACTED__","redaction":{"count":1,"keys":["input"]}}
            A> 2 +0 node.token {"nodeId":"llm:step","deltas":[{"t":"text","v":"hé😀"},{"t":"tool-args","v":"","chars":7}],"redaction":{"count":1,"keys":["deltas"]}}
            A> 3 +0 node.finished {"nodeId":"n","instanceId":"i","durationMs":1,"status":"ok","output":{"__graphmindTruncated":true,"bytes":0,"preview":"[unserializable value]"},"__graphmindTruncated":true,"fields":["output"],"_graphmindSerializationError":true}
            A> 4 +0 node.finished {"nodeId":"n","durationMs":1.0,"status":"ok","output":"\ud800","heldMs":0.0}
            A> 5 +0 node.finished {"nodeId":"n","durationMs":1,"status":"ok","output":1000000000000000000000000000000}
            A> 6 +0 graph.hint {"nodes":[],"gap":{"droppedCount":180,"fromSeq":15,"toSeq":194,"reason":"buffer-overflow"}}"#,
    };
    assert_eq!(recording.payloads().len(), 6);
}
