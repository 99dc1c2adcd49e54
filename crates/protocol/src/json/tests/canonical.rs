//! The canonical form: published vectors with their fingerprints, and what it must not depend on.

use proptest::prelude::*;

use super::super::*;
use super::properties::value;
use crate::debug::fingerprint;

fn check(node: &str, input: Option<&'static str>, expected: (&str, &str)) {
    let raw = input.map(|input| Raw::parse(input).unwrap());
    let view = raw.as_ref().map(Raw::view);
    assert_eq!(canonical_pair(node, view, &["_meta"]), expected.0, "{input:?}");
    assert_eq!(fingerprint(node, view, &["_meta"]), expected.1, "{input:?}");
}

#[test]
fn published_vectors() {
    check("tool:t", Some(r#"{"x":7}"#), (r#"["tool:t",{"x":7}]"#, "cd0aa2d2f130f1a224cc2e72cc3fbf9b"));
    check(
        "tool:search",
        Some(r#"{"b":1.0,"a":[true,null,"é\n"],"_meta":{"progressToken":3}}"#),
        (r#"["tool:search",{"a":[true,null,"é\n"],"b":1}]"#, "32de3199ef7655886cb32e96c2f7876e"),
    );
    check(
        "tool:n",
        Some(r#"{"big":1e21,"small":1e-7,"neg":-0.0,"f":0.1}"#),
        (r#"["tool:n",{"big":1e+21,"f":0.1,"neg":0,"small":1e-7}]"#, "e4cbcb78253032b3d462d8d33783fa79"),
    );
    for absent in [None, Some("null")] {
        check("tool:x", absent, (r#"["tool:x",null]"#, "524006f677f54d54ba64a37f079819c0"));
    }
    check("tool:x", Some("{}"), (r#"["tool:x",{}]"#, "24cb86d4b055fd4cc8354369d41118f1"));
    let by_unit = ("[\"tool:u\",{\"z\":3,\"😀\":2,\"\u{FFFF}\":1}]", "bed8472a77f0dccf57ac14db57644e76");
    check("tool:u", Some("{\"\u{FFFF}\":1,\"😀\":2,\"z\":3}"), by_unit);
}

#[test]
fn spellings_of_one_value_are_one() {
    let form = |text: &str| canonical(Raw::parse(text.to_owned()).unwrap().view(), &["skip"]);
    let cases = [
        (r#"{ "b" : 1.0 , "a" : [ ] }"#, r#"{"a":[],"b":1}"#),
        (r#"{"a":1,"\u0061":2}"#, r#"{"a":2}"#),
        (r#"{"skip":1,"a":{"\u0073kip":[1],"b":[{"skip":{}}]}}"#, r#"{"a":{"b":[{}]}}"#),
        (
            r#"["\u00e9\/\u007f\u2028\u0000\b","\uD83D\uDE00","\uDE00"]"#,
            "[\"é/\u{7f}\u{2028}\\u0000\\b\",\"😀\",\"\\ude00\"]",
        ),
        ("[1e400,-1e400,1E2,100,-0,9007199254740993,0.10]", "[null,null,100,100,0,9007199254740992,0.1]"),
        (r#"{"\ud800":1,"\ue000":2,"\ud7ff":3}"#, "{\"\u{d7ff}\":3,\"\\ud800\":1,\"\u{e000}\":2}"),
        (r#"{"__proto__":1,"":2}"#, r#"{"":2,"__proto__":1}"#),
    ];
    for (text, expected) in cases {
        assert_eq!(form(text), expected, "{text}");
    }
}

#[test]
fn depth_ends_in_a_word() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let form = |text: String| canonical(Raw::parse(text).unwrap().view(), &[]);
    assert_eq!(form(nested(65)), nested(65));
    assert_eq!(form(nested(66)), "[".repeat(65) + "\"[depth]\"" + &"]".repeat(65));
    assert_eq!(form(nested(4_000)), form(nested(66)));
}

#[test]
fn l15_depth_counts_containers_of_the_input_alone_as_the_peers_do() {
    let nested = |depth: usize| "[".repeat(depth) + "1" + &"]".repeat(depth);
    for (depth, expected) in [
        (64, "35517b243b77468d678dd2b4c55e2c1c"),
        (65, "98df48a7681ba8769968a27a2551251d"),
        (66, "94000f78f49e92b08dbd79fb835e2ced"),
        (67, "94000f78f49e92b08dbd79fb835e2ced"),
    ] {
        let raw = Raw::parse(nested(depth)).unwrap();
        assert_eq!(fingerprint("tool:deep", Some(raw.view()), &["_meta"]), expected, "{depth}");
    }
}

#[test]
fn l15_odd_names_texts_and_numbers_have_the_fingerprints_of_the_peers() {
    check(
        "",
        Some(r#"{"\ud800":"\udc00\ud83d\ude00","__proto__":{"_meta":1,"a":[]},"":-0.0}"#),
        (r#"["",{"":0,"__proto__":{"a":[]},"\ud800":"\udc00😀"}]"#, "9bdef247eeb8a29a0ba5182b1e076831"),
    );
    check(
        "",
        Some("[1e400,5e-324,1.7976931348623157e308,123456789.123456789123456789,0.000001,1e-7,100e-2]"),
        (
            r#"["",[null,5e-324,1.7976931348623157e+308,123456789.12345679,0.000001,1e-7,1]]"#,
            "71087756a54b5f65a978044596dbd14e",
        ),
    );
}

proptest! {
    #[test]
    fn order_and_repetition_do_not_matter(value in value(), seed in any::<u64>()) {
        let raw = Raw::from_value(&value);
        let form = canonical(raw.view(), &[]);
        let again = Raw::parse(form.clone()).unwrap();
        prop_assert_eq!(&canonical(again.view(), &[]), &form, "a fixed point");
        let shuffled = Raw::from_value(&shuffle(value, seed));
        prop_assert_eq!(canonical(shuffled.view(), &[]), form);
    }
}

/// The same value with its members in another order.
fn shuffle(value: Value, seed: u64) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.into_iter().map(|item| shuffle(item, seed)).collect()),
        Value::Object(members) => {
            let mut members: Vec<_> = members.into_iter().map(|(name, value)| (name, shuffle(value, seed))).collect();
            let turn = usize::try_from(seed % 97).unwrap() % members.len().max(1);
            members.rotate_left(turn);
            members.reverse();
            Value::Object(members.into_iter().collect())
        }
        scalar => scalar,
    }
}
