//! Properties of the step, over random conversations and random decisions.

use std::collections::BTreeMap;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use lockgate_gate::{Gate, GateConfig, Refused, Tap};
use lockgate_protocol::debug::Event;
use lockgate_protocol::json::View;
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};

use super::*;
use crate::rules::{Duplicates, Trouble};
use crate::story::{SessionEnd, Shown};

/// What the gate is made to say.
#[derive(Debug, Clone, Copy)]
enum Says {
    Go,
    Again,
    Inject,
    Abort,
    Cancelled,
    Nothing,
}

/// A line from a side, and what the gate says about each call in it in turn.
type Said = (Side, String, Vec<Says>);

struct Told {
    /// Everything the step asked for, in order.
    actions: Vec<String>,
    events: Vec<Event>,
    /// What was sent to each side.
    sent: Vec<(Side, Bytes)>,
    /// Requests that were answered by hand or refused before they reached their target.
    kept: Vec<Bytes>,
}

fn play(script: &[Said]) -> Told {
    let gate = Gate::new(GateConfig::new(Tap::off()));
    let rules = Rules { trouble: Trouble::Pass, duplicates: Duplicates::Pass, shown: Shown::ALL };
    let mut exchange = Exchange::new(RunId::new("run_1").expect("a name"), rules);
    let mut told = Told { actions: Vec::new(), events: Vec::new(), sent: Vec::new(), kept: Vec::new() };
    let command = Command { program: "server".to_owned(), args: Vec::new(), shown: Shown::ALL };
    let sdk = SdkInfo { name: "mcp-proxy".to_owned(), version: "0".to_owned() };
    let mut out = Vec::new();
    exchange.begin(&command, sdk, Moment { at: Duration::ZERO, debugger: Debugger::There }, &mut out);
    told.hear(out, &gate, Says::Go, &Bytes::new());
    for (at, (from, line, says)) in (0..).zip(script) {
        let now = Moment { at: Duration::from_secs(at), debugger: Debugger::There };
        let mut says = says.iter().copied().cycle();
        // No two messages are the same.
        let line = line.strip_suffix('}').map_or_else(|| line.clone(), |line| format!("{line},\"serial\":{at}}}"));
        let line = Bytes::from(format!("{line}\n"));
        let mut next = Some(Input::Frame { from: *from, line: line.clone() });
        while let Some(input) = next.take() {
            let mut out = Vec::new();
            exchange.step(input, now, &mut out);
            next = told.hear(out, &gate, says.next().unwrap_or(Says::Go), &line);
        }
        assert!(exchange.standing[*from].is_none(), "everything is decided");
    }
    let now = Moment { at: Duration::from_secs(9_999), debugger: Debugger::There };
    let mut out = Vec::new();
    exchange.step(Input::Ended(SessionEnd::default()), now, &mut out);
    told.hear(out, &gate, Says::Go, &Bytes::new());
    told
}

impl Told {
    /// Notes what was asked for, and answers in place of the gate.
    fn hear(&mut self, out: Vec<Action>, gate: &Gate, says: Says, line: &Bytes) -> Option<Input> {
        let mut next = None;
        for action in out {
            self.actions.push(format!("{action:?}"));
            match action {
                Action::Emit(event) => self.events.push(event),
                Action::Send { to, bytes } => self.sent.push((to, bytes)),
                Action::Ask(ask) => {
                    assert!(next.is_none(), "one question at a time");
                    let alone = !line.starts_with(b"[") && ask.asker.is_some();
                    let kept = matches!(says, Says::Inject | Says::Abort | Says::Cancelled);
                    if alone && kept && ask.at == Stop::Before {
                        self.kept.push(line.clone());
                    }
                    let decided = Decided { outcome: outcome(gate, &ask, says), started: None, beat: None };
                    next = Some(Input::Decided { from: ask.from, decided });
                }
                Action::Finished(_)
                | Action::GaveUp(_)
                | Action::Patience(_)
                | Action::Client { .. }
                | Action::Say(_)
                | Action::Stop(_) => {}
            }
        }
        next
    }
}

fn outcome(gate: &Gate, ask: &Ask, says: Says) -> Option<lockgate_gate::Outcome> {
    use lockgate_gate::Outcome;
    let mut pass = pin!(gate.pass(ask.call.clone(), ask.at));
    let Poll::Ready(Outcome::Go(passed)) = pass.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
        panic!("nothing holds it")
    };
    match says {
        Says::Go => Some(Outcome::Go(passed)),
        Says::Again => Some(Outcome::Again(passed)),
        Says::Inject => Some(Outcome::Answer(Some(Raw::string("made up")))),
        Says::Abort => Some(Outcome::Refuse(Refused::Aborted)),
        Says::Cancelled => Some(Outcome::Refuse(Refused::Cancelled)),
        Says::Nothing => None,
    }
}

/// Messages that have a chance to belong together.
fn message() -> impl Strategy<Value = String> {
    let id = prop_oneof![Just("1"), Just("\"1\""), Just("2"), Just("null")];
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"progressToken":7}"#;
    let request = prop_oneof![
        Just(r#""method":"tools/call","params":{"name":"a","arguments":{}}"#.to_owned()),
        Just(format!(r#""method":"tools/call","params":{{"name":"a","arguments":{{}},{meta}}}"#)),
        Just(format!(
            r#""method":"tools/call","params":{{"name":"a","arguments":{{}},"inputResponses":{{"k":1}},"requestState":"s",{meta}}}"#
        )),
        Just(r#""method":"initialize","params":{}"#.to_owned()),
        Just(r#""method":"tasks/get","params":{"taskId":"t"}"#.to_owned()),
        Just(r#""method":"sampling/createMessage","params":{}"#.to_owned()),
        Just(r#""method":"subscriptions/listen","params":{}"#.to_owned()),
        Just(r#""method":"tools/list""#.to_owned()),
    ];
    let answer = prop_oneof![
        Just(r#""result":{}"#),
        Just(r#""result":{"isError":true}"#),
        Just(r#""error":{"code":1,"message":"m"}"#),
        Just(
            r#""result":{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create"}},"requestState":"s"}"#
        ),
        Just(r#""result":{"resultType":"task","taskId":"t"}"#),
        Just(r#""result":{"taskId":"t","status":"completed","result":{}}"#),
        Just(r#""result":{"resultType":"other"}"#),
    ];
    let notification = prop_oneof![
        Just(r#"{"method":"notifications/cancelled","params":{"requestId":1}}"#.to_owned()),
        Just(r#"{"method":"notifications/progress","params":{"progressToken":7,"progress":3}}"#.to_owned()),
        Just(r#"{"method":"notifications/x"}"#.to_owned()),
        Just("noise".to_owned()),
        Just("7".to_owned()),
    ];
    let with_id = |(id, rest): (&str, String)| format!("{{\"id\":{id},{rest}}}");
    prop_oneof![
        3 => (id.clone(), request).prop_map(with_id),
        3 => (id, answer.prop_map(str::to_owned)).prop_map(with_id),
        1 => notification,
    ]
}

fn line() -> impl Strategy<Value = String> {
    let batch = proptest::collection::vec(message().prop_filter("JSON", |line| line != "noise"), 0..4);
    prop_oneof![5 => message(), 1 => batch.prop_map(|items| format!("[{}]", items.join(" , ")))]
}

fn says() -> impl Strategy<Value = Says> {
    prop_oneof![
        4 => Just(Says::Go),
        1 => Just(Says::Again),
        1 => Just(Says::Inject),
        1 => Just(Says::Abort),
        1 => Just(Says::Cancelled),
        1 => Just(Says::Nothing),
    ]
}

fn script() -> impl Strategy<Value = Vec<Said>> {
    let side = any::<bool>().prop_map(|client| if client { Side::Client } else { Side::Server });
    proptest::collection::vec((side, line(), proptest::collection::vec(says(), 1..4)), 0..40)
}

fn instance(event: &Event) -> Option<String> {
    event.payload().view().get("instanceId").and_then(View::str).map(std::borrow::Cow::into_owned)
}

proptest! {
    #[test]
    fn the_same_inputs_give_the_same_actions(script in script()) {
        prop_assert_eq!(play(&script).actions, play(&script).actions);
    }

    #[test]
    fn every_execution_begins_once_and_ends_once(script in script()) {
        let mut open: BTreeMap<String, bool> = BTreeMap::new();
        for event in play(&script).events {
            let Some(instance) = instance(&event) else { continue };
            match event {
                Event::NodeStarted(_) => prop_assert_eq!(open.insert(instance, true), None, "it began twice"),
                Event::NodeFinished(_) => prop_assert_eq!(open.insert(instance, false), Some(true), "it had not begun"),
                _ => prop_assert_eq!(open.get(&instance), Some(&true), "it is not open"),
            }
        }
        prop_assert!(open.values().all(|is_open| !is_open), "something never ends: {open:?}");
    }

    #[test]
    fn what_was_kept_before_its_target_never_reached_it(script in script()) {
        let told = play(&script);
        for kept in &told.kept {
            prop_assert!(!told.sent.iter().any(|(_, bytes)| bytes == kept), "{kept:?} was sent");
        }
    }
}

#[test]
fn json_that_is_no_message_is_nothing_heard() {
    let rules = Rules { trouble: Trouble::Pass, duplicates: Duplicates::Pass, shown: Shown::ALL };
    let now = Moment { at: Duration::ZERO, debugger: Debugger::Away };
    for (line, expected) in [
        (r#"{"level":"info"}"#, Heard::Nothing),
        ("[1,2]", Heard::Nothing),
        ("7", Heard::Nothing),
        (r#"[1,{"method":"a"}]"#, Heard::Something),
        (r#"{"id":1,"result":{}}"#, Heard::Something),
    ] {
        let mut exchange = Exchange::new(RunId::new("run_1").expect("a name"), rules);
        let line = Bytes::from(format!("{line}\n"));
        exchange.step(Input::Frame { from: Side::Server, line }, now, &mut Vec::new());
        assert_eq!(exchange.heard(), expected);
    }
}
