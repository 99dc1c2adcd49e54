//! Events in, what is left of them out.

use std::sync::Arc;

use lockgate_protocol::debug::{
    Event, ExecPaused, ExecRefused, ExecResumed, LoopInfo, LoopKind, NodeFinished, NodeKind, NodeStarted, NodeToken,
    PausePoint, PauseReason, Redaction, RefusalCode, ResumeAction, RunId, RunStatus, Smart, SmartRule, TokenChannel,
    TokenDelta, TokenUsage,
};
use lockgate_protocol::json::Raw;

use super::{Hide, Redacted, Redactor};

const INPUTS: Hide = Hide { inputs: true, ..Hide::NOTHING };
const OUTPUTS: Hide = Hide { outputs: true, ..Hide::NOTHING };
const ARGS: Hide = Hide { tool_args: true, ..Hide::NOTHING };
const RESULTS: Hide = Hide { tool_results: true, ..Hide::NOTHING };

fn raw(text: &str) -> Raw {
    Raw::parse(text.to_owned()).unwrap()
}

fn started(kind: NodeKind, node: &str, input: Option<&str>) -> Event {
    Event::NodeStarted(NodeStarted {
        node_id: node.into(),
        parent_id: None,
        kind,
        name: "n".into(),
        instance_id: "i".into(),
        input: input.map(raw),
        collapsed: None,
        redaction: None,
        extra: Vec::new(),
    })
}

fn finished(node: &str, instance: Option<&str>, output: Option<&str>) -> Event {
    Event::NodeFinished(NodeFinished {
        node_id: node.into(),
        instance_id: instance.map(Arc::from),
        output: output.map(raw),
        usage: None,
        duration_ms: 1.0,
        held_ms: None,
        status: RunStatus::Ok,
        redaction: None,
        extra: Vec::new(),
    })
}

fn token(node: &str) -> Event {
    let delta = |channel, text: &str| TokenDelta { channel, text: text.to_owned(), chars: None };
    let deltas = vec![
        delta(TokenChannel::Text, "hé😀"),
        delta(TokenChannel::ToolArgs, "{\"a\":1}"),
        delta(TokenChannel::Reasoning, ""),
    ];
    Event::NodeToken(NodeToken { node_id: node.into(), deltas, redaction: None, extra: Vec::new() })
}

fn through(redactor: &mut Redactor, mut event: Event) -> String {
    let run = RunId::new("r").unwrap();
    let fared = redactor.step(&run, &mut event);
    let mut out = Vec::new();
    event.write(&mut out);
    let text = String::from_utf8(out).unwrap();
    if fared == Redacted::Failed { format!("failed {text}") } else { text }
}

fn each(hide: Hide, events: Vec<Event>) -> String {
    let mut redactor = Redactor::new(hide);
    events.into_iter().map(|event| through(&mut redactor, event)).collect::<Vec<_>>().join("\n")
}

#[test]
fn p01_inputs_are_hidden_for_all_kinds_or_for_tools() {
    let events =
        || vec![started(NodeKind::Tool, "tool:sec", Some("{\"k\":1}")), started(NodeKind::Llm, "llm:step", Some("1"))];
    insta::assert_snapshot!(each(INPUTS, events()), @r#"
    {"nodeId":"tool:sec","kind":"tool","name":"n","instanceId":"i","input":"__REDACTED__","redaction":{"count":1,"keys":["input"]}}
    {"nodeId":"llm:step","kind":"llm","name":"n","instanceId":"i","input":"__REDACTED__","redaction":{"count":1,"keys":["input"]}}
    "#);
    insta::assert_snapshot!(each(ARGS, events()), @r#"
    {"nodeId":"tool:sec","kind":"tool","name":"n","instanceId":"i","input":"__REDACTED__","redaction":{"count":1,"keys":["input"]}}
    {"nodeId":"llm:step","kind":"llm","name":"n","instanceId":"i","input":1}
    "#);
    for hide in [OUTPUTS, RESULTS, Hide::NOTHING] {
        assert!(!each(hide, events()).contains("REDACTED"));
    }
}

#[test]
fn p01_outputs_are_hidden_by_the_kind_the_node_was_started_with() {
    let events = || {
        vec![
            started(NodeKind::Tool, "a", None),
            started(NodeKind::Llm, "b", None),
            finished("a", Some("i"), Some("1")),
            finished("b", Some("i"), Some("2")),
            finished("a", None, Some("3")),
            finished("tool:unseen", Some("x"), Some("4")),
            finished("unseen", Some("x"), Some("5")),
        ]
    };
    let outputs = |hide| -> Vec<String> {
        let lines = each(hide, events());
        lines.lines().filter_map(|line| line.split_once("\"output\":")).map(|(_, rest)| rest[..1].to_owned()).collect()
    };
    assert_eq!(outputs(RESULTS), ["\"", "2", "\"", "\"", "5"]);
    assert_eq!(outputs(OUTPUTS), ["\""; 5]);
    assert_eq!(outputs(INPUTS), ["1", "2", "3", "4", "5"]);
}

#[test]
fn p01_deltas_keep_their_channel_and_their_length() {
    insta::assert_snapshot!(each(INPUTS, vec![token("llm:step")]), @r#"{"nodeId":"llm:step","deltas":[{"t":"text","v":"hé😀"},{"t":"tool-args","v":"","chars":7},{"t":"reasoning","v":""}],"redaction":{"count":1,"keys":["deltas"]}}"#);
    insta::assert_snapshot!(each(OUTPUTS, vec![token("llm:step")]), @r#"{"nodeId":"llm:step","deltas":[{"t":"text","v":"","chars":4},{"t":"tool-args","v":"","chars":7},{"t":"reasoning","v":""}],"redaction":{"count":2,"keys":["deltas"]}}"#);
    insta::assert_snapshot!(each(ARGS, vec![token("x")]), @r#"{"nodeId":"x","deltas":[{"t":"text","v":"hé😀"},{"t":"tool-args","v":"","chars":7},{"t":"reasoning","v":""}],"redaction":{"count":1,"keys":["deltas"]}}"#);
    assert!(!each(RESULTS, vec![token("x")]).contains("chars"));
    assert!(each(RESULTS, vec![token("tool:x")]).contains(r#""v":"","chars":4"#));
}

#[test]
fn p01_a_text_that_reads_like_the_placeholder_is_a_text() {
    let delta = TokenDelta { channel: TokenChannel::Text, text: "__REDACTED__".to_owned(), chars: None };
    let token = NodeToken { node_id: "n".into(), deltas: vec![delta], redaction: None, extra: Vec::new() };
    insta::assert_snapshot!(each(OUTPUTS, vec![Event::NodeToken(token)]), @r#"{"nodeId":"n","deltas":[{"t":"text","v":"","chars":12}],"redaction":{"count":1,"keys":["deltas"]}}"#);
}

#[test]
fn p02_the_summary_counts_what_was_there_and_grows() {
    assert!(!each(INPUTS, vec![started(NodeKind::Tool, "a", None)]).contains("redaction"), "absent");
    assert!(
        !each(INPUTS, vec![started(NodeKind::Tool, "a", Some("\"__REDACTED__\""))]).contains("redaction"),
        "hidden before"
    );
    let spelled = r#""\u005f_REDACTED__""#;
    assert!(!each(INPUTS, vec![started(NodeKind::Tool, "a", Some(spelled))]).contains("redaction"), "hidden before");
    assert!(each(INPUTS, vec![started(NodeKind::Tool, "a", Some("null"))]).contains(r#""count":1"#), "null is a value");

    let Event::NodeStarted(mut before) = started(NodeKind::Tool, "a", Some("1")) else { panic!() };
    before.redaction = Some(Redaction { count: 2, keys: vec!["input".into(), "own".into()], failed: false });
    assert!(
        each(INPUTS, vec![Event::NodeStarted(before)]).contains(r#""redaction":{"count":3,"keys":["input","own"]}"#)
    );
    for bad in [(1 << 53) - 1, u64::MAX] {
        let Event::NodeStarted(mut before) = started(NodeKind::Tool, "a", Some("1")) else { panic!() };
        before.redaction = Some(Redaction { count: bad, keys: Vec::new(), failed: false });
        assert!(each(INPUTS, vec![Event::NodeStarted(before)]).contains(r#""count":1,"#), "{bad} cannot grow");
    }
}

fn paused(pause: &str, node: &str) -> ExecPaused {
    ExecPaused {
        pause_id: pause.into(),
        node_id: node.into(),
        point: PausePoint::Before,
        reason: Some(PauseReason::Loop),
        looped: None,
        smart: None,
        editable: false,
        instance_id: None,
        hold: None,
        until: None,
        extra: Vec::new(),
    }
}

fn resumed(pause: &str) -> Event {
    Event::ExecResumed(ExecResumed {
        pause_id: pause.into(),
        action: ResumeAction::Continue,
        edited: Some(raw("{\"secret\":1}")),
        request_id: Some("q".to_owned()),
        redaction: None,
        extra: Vec::new(),
    })
}

fn refused(pause: &str) -> Event {
    Event::ExecRefused(ExecRefused {
        pause_id: pause.into(),
        code: RefusalCode::Schema,
        message: Some("field secret".to_owned()),
        request_id: None,
        redaction: None,
        extra: Vec::new(),
    })
}

#[test]
fn p03_answers_to_a_hold_are_hidden_with_the_input_of_the_held_node() {
    let events = || {
        vec![
            started(NodeKind::Tool, "a", None),
            started(NodeKind::Llm, "b", None),
            Event::ExecPaused(paused("p1", "a")),
            Event::ExecPaused(paused("p2", "b")),
            refused("p1"),
            resumed("p1"),
            refused("p2"),
            resumed("p2"),
            resumed("unseen"),
        ]
    };
    let hidden = |hide| -> String {
        let lines = each(hide, events());
        lines.lines().skip(4).map(|line| if line.contains("secret") { 's' } else { '-' }).collect()
    };
    assert_eq!(hidden(INPUTS), "-----");
    assert_eq!(hidden(ARGS), "--ss-");
    assert_eq!(hidden(OUTPUTS), "sssss");
    insta::assert_snapshot!(each(ARGS, events()).lines().skip(4).take(2).collect::<Vec<_>>().join("\n"), @r#"
    {"pauseId":"p1","code":"schema","redaction":{"count":1,"keys":["message"]}}
    {"pauseId":"p1","action":"continue","edited":{"after":"__REDACTED__"},"requestId":"q","redaction":{"count":1,"keys":["edited"]}}
    "#);
}

#[test]
fn p04_a_loose_field_that_shadows_a_known_one_leaves_only_bones() {
    let extra = |name| vec![("method", raw("\"m\"")), (name, raw("\"secret\""))];
    let mut events = vec![
        started(NodeKind::Tool, "a", Some("1")),
        finished("a", Some("i"), Some("1")),
        token("a"),
        resumed("p"),
        refused("p"),
    ];
    for event in &mut events {
        match event {
            Event::NodeStarted(started) => started.extra = extra("input"),
            Event::NodeFinished(finished) => {
                finished.usage = Some(TokenUsage { input_tokens: 3, output_tokens: 4, ..TokenUsage::default() });
                finished.held_ms = Some(2.0);
                finished.extra = extra("output");
            }
            Event::NodeToken(token) => token.extra = extra("deltas"),
            Event::ExecResumed(resumed) => resumed.extra = extra("edited"),
            Event::ExecRefused(refused) => refused.extra = extra("message"),
            other => panic!("{other:?}"),
        }
    }
    insta::assert_snapshot!(each(RESULTS, events), @r#"
    failed {"nodeId":"a","kind":"tool","name":"n","instanceId":"i","input":"__REDACTED__","redaction":{"count":0,"keys":["input","output","deltas"],"failed":true}}
    failed {"nodeId":"a","instanceId":"i","durationMs":1,"status":"ok","output":"__REDACTED__","usage":{"inputTokens":3,"outputTokens":4},"redaction":{"count":0,"keys":["input","output","deltas"],"failed":true},"heldMs":2}
    failed {"nodeId":"a","deltas":[],"redaction":{"count":0,"keys":["input","output","deltas"],"failed":true}}
    failed {"pauseId":"p","action":"continue","edited":{"after":"__REDACTED__"},"requestId":"q","redaction":{"count":0,"keys":["edited"],"failed":true}}
    failed {"pauseId":"p","code":"schema","redaction":{"count":0,"keys":["message"],"failed":true}}
    "#);
}

#[test]
fn p04_the_bones_of_a_token_keep_the_id_of_its_execution_when_it_can_be_told() {
    let look = |extra: &[(&'static str, &'static str)]| {
        let Event::NodeToken(mut token) = token("a") else { panic!() };
        token.extra = extra.iter().map(|(name, value)| (*name, raw(value))).collect();
        each(RESULTS, vec![Event::NodeToken(token)])
    };
    let bones = |id: &str| {
        format!(
            r#"failed {{"nodeId":"a","deltas":[],{id}"redaction":{{"count":0,"keys":["input","output","deltas"],"failed":true}}}}"#
        )
    };
    let shadow = ("deltas", "\"secret\"");
    assert_eq!(look(&[("instanceId", "\"i\""), ("method", "1"), shadow]), bones(r#""instanceId":"i","#));
    assert_eq!(look(&[("instanceId", "\"i\""), ("instanceId", "\"j\""), shadow]), bones(r#""instanceId":"j","#));
    for id in ["null", "{\"secret\":1}"] {
        assert_eq!(look(&[("instanceId", id), shadow]), bones(""), "{id}");
    }
    assert_eq!(look(&[("instanceId", "7")]), bones(""), "an id that is no text cannot be told");
    assert!(!look(&[("instanceId", "\"i\"")]).starts_with("failed"));
    assert!(!look(&[("instanceId", "null")]).starts_with("failed"));
}

#[test]
fn l14_what_a_loop_or_a_smart_hold_says_about_hidden_values_is_hidden_too() {
    let look = |hide, kind: Option<NodeKind>, found: Option<LoopKind>| {
        let mut redactor = Redactor::new(hide);
        if let Some(kind) = kind {
            through(&mut redactor, started(kind, "n", None));
        }
        let looped = LoopInfo {
            repeats: 3,
            first_seq: 1,
            last_seq: 5,
            fingerprint: "f".repeat(32),
            kind: found,
            period: None,
            laps: None,
        };
        let smart = Smart { rule: SmartRule::ErrorResult, detail: Some("detail".to_owned()) };
        let event = ExecPaused { looped: Some(looped), smart: Some(smart), ..paused("p", "n") };
        let text = through(&mut redactor, Event::ExecPaused(event));
        assert!(text.contains(r#""repeats":3,"firstSeq":1,"lastSeq":5"#), "{text}");
        let digest = if text.contains("ffff") { "shown" } else { "hidden" };
        let detail = if text.contains("\"detail\"") { "shown" } else { "hidden" };
        format!("{digest} {detail}")
    };
    let tool = Some(NodeKind::Tool);
    for (hide, kind, found, expected) in [
        (INPUTS, tool, None, "hidden hidden"),
        (ARGS, tool, None, "hidden hidden"),
        (ARGS, None, None, "hidden hidden"),
        (ARGS, Some(NodeKind::Llm), None, "shown shown"),
        (OUTPUTS, tool, None, "shown hidden"),
        (OUTPUTS, tool, Some(LoopKind::Cycle), "hidden hidden"),
        (RESULTS, tool, Some(LoopKind::ErrorRepeat), "hidden hidden"),
        (RESULTS, Some(NodeKind::Llm), Some(LoopKind::Cycle), "shown shown"),
        (Hide::NOTHING, tool, Some(LoopKind::Cycle), "shown shown"),
    ] {
        assert_eq!(look(hide, kind, found), expected, "{hide:?} {kind:?} {found:?}");
    }
}
