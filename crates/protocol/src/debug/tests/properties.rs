//! W01 and W02: frames of every type in the registry, made at random from its own table, and hostile ones.

use proptest::prelude::*;

use super::super::messages::{Field, MESSAGES, Message, Need, Shape};
use super::super::*;
use super::frame;
use crate::json::{Number, Object, Raw, Text, Value};

#[test]
fn w02_the_registry_is_what_the_wire_knows() {
    let kinds: Vec<_> = MESSAGES.iter().map(|message| message.kind).collect();
    let expected = [
        "run.started",
        "run.finished",
        "graph.hint",
        "node.started",
        "node.token",
        "node.finished",
        "node.error",
        "exec.paused",
        "exec.refused",
        "exec.resumed",
        "exec.resume",
        "breakpoint.set",
        "breakpoint.clear",
        "mode.set",
        "hello",
        "hello.ack",
        "exec.until",
        "watch.set",
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn w14_the_schema_is_the_golden_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schema.json");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, schema()).unwrap();
    }
    let golden = std::fs::read_to_string(path).unwrap();
    assert!(golden == schema(), "the schema changed: look at the difference after UPDATE_GOLDEN=1");
    let read: serde_json::Value = serde_json::from_str(&golden).unwrap();
    let definitions = read.get("$defs").and_then(serde_json::Value::as_object).unwrap();
    for message in &MESSAGES {
        assert!(definitions.contains_key(&format!("envelope.{}", message.kind)));
    }
    assert_eq!(definitions.len(), 11 + MESSAGES.len() + 1);
}

/// Strings as peers send them, lone surrogates included.
fn text() -> impl Strategy<Value = Text> + Clone {
    prop_oneof![
        any::<String>().prop_map(Text::from),
        proptest::collection::vec(any::<u16>(), 0..6).prop_map(|units| Text::from_utf16(&units)),
        proptest::sample::select(vec!["__proto__", "constructor", "nodeId", "\0", ""]).prop_map(Text::from),
    ]
}

fn value() -> impl Strategy<Value = Value> + Clone {
    let number = prop_oneof![
        any::<f64>().prop_filter_map("finite", Number::from_f64),
        any::<u64>().prop_map(Number::from),
        proptest::sample::select(vec!["1.0", "-0", "1e400", "18446744073709551616", "1E+2"])
            .prop_filter_map("number", Number::parse),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number.prop_map(Value::Number),
        text().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            proptest::collection::vec((text(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn object(fields: &'static [Field]) -> BoxedStrategy<Value> {
    let known = fields.iter().map(|field| {
        let value = shape(&field.shape).prop_map(|value| (Text::from(field.name), value));
        match field.need {
            Need::Required => value.prop_map(Some).boxed(),
            Need::Optional | Need::Loose => proptest::option::of(value).boxed(),
        }
    });
    let unknown = proptest::collection::vec(("x_[a-z]{1,3}".prop_map(Text::from), value()), 0..3);
    (known.collect::<Vec<_>>(), unknown)
        .prop_map(|(known, unknown)| Value::Object(known.into_iter().flatten().chain(unknown).collect()))
        .boxed()
}

fn shape(of: &'static Shape) -> BoxedStrategy<Value> {
    match of {
        Shape::Any => value().boxed(),
        Shape::Text => text().prop_map(Value::String).boxed(),
        Shape::Flag => any::<bool>().prop_map(Value::Bool).boxed(),
        Shape::Int(least) => (*least.max(&-(1 << 53))..1 << 53).prop_map(Value::from).boxed(),
        Shape::Amount => (0.0..1e300).prop_filter_map("finite", Number::from_f64).prop_map(Value::Number).boxed(),
        Shape::Map => proptest::collection::vec((text(), value()), 0..4)
            .prop_map(|members| Value::Object(members.into_iter().collect()))
            .boxed(),
        Shape::Word(set) => proptest::sample::select(set.words).prop_map(Value::from).boxed(),
        Shape::List(item) => proptest::collection::vec(shape(item), 0..4).prop_map(Value::Array).boxed(),
        Shape::Object(shared) => object(shared.fields),
    }
}

fn message() -> impl Strategy<Value = (&'static Message, Value)> {
    (0..MESSAGES.len()).prop_flat_map(|place| {
        let message = &MESSAGES[place];
        object(message.fields).prop_map(move |payload| (message, payload))
    })
}

proptest! {
    #[test]
    fn w01_known_types_round_trip(
        (message, payload) in message(),
        numbers in (0_u64..1 << 53, 0_u64..1 << 53),
        run in "[^\0]{0,8}",
        extra in proptest::collection::vec((text(), value()), 0..3),
    ) {
        let taken = ["gm", "seq", "ts", "runId", "type", "payload"];
        let extra = extra.into_iter().collect::<Object>().into_iter();
        let extra = extra.filter(|(name, _)| !taken.iter().any(|taken| *name == *taken));
        let envelope = Envelope {
            seq: numbers.0,
            ts: numbers.1,
            run: RunId::new(&run).unwrap(),
            kind: message.kind.into(),
            payload: Some(Raw::from_value(&payload)),
            extra: extra.map(|(name, value)| (name, Raw::from_value(&value))).collect(),
        };
        prop_assert_eq!(parse(envelope.to_text().into()), Parsed::Ok(envelope));
    }

    #[test]
    fn w03_any_bytes_are_one_of_four_kinds(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let parsed = parse(bytes.clone().into());
        prop_assert_eq!(&parsed, &parse(bytes.into()), "and always the same");
        if let Parsed::Invalid { issues, .. } = parsed {
            prop_assert!(!issues.is_empty());
        }
    }

    #[test]
    fn w09_a_broken_payload_is_never_taken((message, payload) in message(), broken in value(), place in any::<prop::sample::Index>()) {
        // One field gets another value: either it still fits, or the frame is invalid and names its type.
        let Value::Object(mut payload) = payload else { return Ok(()) };
        let field = &message.fields[place.index(message.fields.len())];
        payload.insert(field.name, broken);
        let payload = Raw::from_value(&payload.into());
        match parse(frame(message.kind, str::from_utf8(payload.as_bytes()).unwrap()).into()) {
            Parsed::Ok(envelope) => prop_assert_eq!(envelope.payload, Some(payload)),
            Parsed::Invalid { kind, issues } => {
                prop_assert_eq!(kind.as_deref(), Some(message.kind));
                prop_assert!(issues.iter().all(|issue| issue.path.starts_with("payload")));
                prop_assert_ne!(field.need, Need::Loose);
            }
            other => prop_assert!(false, "{:?}", other),
        }
    }
}
