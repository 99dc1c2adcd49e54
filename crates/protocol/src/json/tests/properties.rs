//! The reader on random bytes and values, beside an independent one.

use proptest::prelude::*;

use super::super::*;
use bytes::Bytes;

/// Any value, shallow, with odd names, strings and numbers.
pub(super) fn value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        any::<String>().prop_map(Text::from),
        proptest::collection::vec(any::<u16>(), 0..5).prop_map(|units| Text::from_utf16(&units)),
        "[ab\"\\\\/\u{1}é😀]{0,20}".prop_map(Text::from),
    ];
    let number = prop_oneof![
        any::<f64>().prop_filter_map("finite", Number::from_f64),
        any::<i64>().prop_map(Number::from),
        "-?(0|[1-9][0-9]{0,24})(\\.[0-9]{1,8})?([eE][+-]?[0-9]{1,3})?"
            .prop_filter_map("number", |text| Number::parse(&text)),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number.prop_map(Value::Number),
        text.clone().prop_map(Value::String),
    ];
    leaf.prop_recursive(5, 40, 8, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..8).prop_map(Value::Array),
            proptest::collection::vec((text.clone(), inner), 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Bytes that are nearly JSON: a value's text with a few bytes changed, doubled or taken out.
fn nearly() -> impl Strategy<Value = Vec<u8>> {
    let changes = proptest::collection::vec((any::<prop::sample::Index>(), 0..3_u8, any::<u8>()), 0..4);
    (value(), changes).prop_map(|(value, changes)| {
        let mut bytes = Raw::from_value(&value).as_bytes().to_vec();
        for (place, change, byte) in changes {
            let place = place.index(bytes.len().max(1));
            match change {
                0 => bytes.insert(place, byte),
                1 if place < bytes.len() => bytes[place] = byte,
                _ if place < bytes.len() => drop(bytes.remove(place)),
                _ => {}
            }
        }
        bytes
    })
}

/// What an independent reader says; nothing where it is known to judge differently.
fn other(text: &[u8]) -> Option<bool> {
    match serde_json::from_slice::<serde_json::Value>(text) {
        Ok(_) => Some(true),
        Err(error) => {
            let message = error.to_string();
            let differs = ["number out of range", "surrogate", "recursion limit", "hex escape"];
            (!differs.iter().any(|words| message.contains(words))).then_some(false)
        }
    }
}

fn agrees(text: &[u8]) {
    let ours = Raw::check(Bytes::copy_from_slice(text), Limits::FRAME);
    if let Some(theirs) = other(text) {
        assert_eq!(ours.is_ok(), theirs, "{:?} {ours:?}", String::from_utf8_lossy(text));
    }
    if let Err(error) = ours {
        assert!(error.offset <= text.len());
    }
}

proptest! {
    #[test]
    fn random_bytes_are_judged_as_elsewhere(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        agrees(&bytes);
    }

    #[test]
    fn nearly_json_is_judged_as_elsewhere(bytes in nearly()) {
        agrees(&bytes);
    }

    #[test]
    fn characters_of_json_are_judged_as_elsewhere(text in "[\\[\\]{},:\"\\\\ue0-9. \\-+truefalsn]{0,24}") {
        agrees(text.as_bytes());
    }

    #[test]
    fn values_round_trip(value in value()) {
        let raw = Raw::from_value(&value);
        let checked = Raw::check(raw.bytes().clone(), Limits::FRAME).unwrap();
        prop_assert_eq!(&checked.raw, &raw);
        prop_assert!(checked.duplicates.is_empty());
        prop_assert_eq!(&raw.to_value().unwrap(), &value);
        let again = Raw::check(checked.raw.bytes().clone(), Limits::FRAME).unwrap();
        prop_assert_eq!(again.surrogates, checked.surrogates, "stable");
    }

    #[test]
    fn views_and_trees_agree(value in value()) {
        let raw = Raw::from_value(&value);
        if let Value::Object(members) = &value {
            let names: Vec<Text> = raw.view().members().map(|(name, _)| name).collect();
            prop_assert_eq!(names, members.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>());
            for (name, value) in members.iter().filter_map(|(name, value)| Some((name.as_str()?, value))) {
                let view = raw.view().get(name).unwrap();
                prop_assert_eq!(&view.to_value().unwrap(), value);
                prop_assert_eq!(&raw.part(view).to_value().unwrap(), value);
            }
        }
        if let Value::Array(items) = &value {
            let views: Vec<Value> = raw.view().items().map(|item| item.to_value().unwrap()).collect();
            prop_assert_eq!(&views, items);
        }
        if let Value::String(text) = &value {
            let seen = raw.view().str();
            prop_assert_eq!(seen.as_deref(), text.as_str());
            prop_assert!(text.as_str().is_none_or(|text| raw.view().is(text)));
            prop_assert!(!raw.view().is("no such text"));
        }
    }

    #[test]
    fn white_space_changes_nothing(value in value()) {
        let compact = Raw::from_value(&value);
        let text = spaced(compact.as_bytes());
        let raw = Raw::parse(text).unwrap();
        prop_assert_eq!(raw.to_value(), compact.to_value());
    }

    #[test]
    fn repeated_names_are_found_wherever_they_stand(count in 1..120_usize, first in any::<prop::sample::Index>(), escaped in any::<bool>()) {
        let again = first.index(count);
        let mut text: String = (0..count).map(|name| format!("\"name{name}\":{{\"name0\":0}},")).collect();
        let name = if escaped { "\\u006eame" } else { "name" };
        text.push_str(&format!("\"{name}{again}\":1"));
        let checked = Raw::check(format!("{{{text}}}").into(), Limits::FRAME).unwrap();
        let pointers: Vec<_> = checked.duplicates.iter().map(|place| place.pointer.clone()).collect();
        prop_assert_eq!(pointers, [format!("/name{again}")]);
    }

    #[test]
    fn numbers_are_worth_what_they_are_elsewhere(text in "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?") {
        let number = Number::parse(&text).unwrap();
        let theirs: serde_json::Number = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(Some(number.as_f64()), theirs.as_f64());
        if theirs.is_i64() {
            prop_assert_eq!(number.as_i64(), theirs.as_i64());
        }
        let shortest = Number::from_f64(number.as_f64()).unwrap();
        prop_assert_eq!(shortest.as_f64(), number.as_f64());
    }
}

/// Puts white space wherever the grammar allows it.
fn spaced(compact: &[u8]) -> Vec<u8> {
    let (mut out, mut inside, mut escaped) = (vec![b'\n'], false, false);
    for &byte in compact {
        let structural = !inside && b"[]{},:".contains(&byte);
        if structural {
            out.push(b'\t');
        }
        out.push(byte);
        if structural {
            out.extend_from_slice(b" \r");
        }
        let quote = byte == b'"' && !escaped;
        inside ^= quote;
        escaped = inside && byte == b'\\' && !escaped;
    }
    out
}
