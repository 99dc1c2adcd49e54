//! The reader against hostile bytes, then its views, trees and writers.

mod canonical;
mod hostile;
mod properties;

use bytes::Bytes;

use super::*;

fn check(text: impl Into<Bytes>, expected: Result<(), (JsonErrorKind, usize)>) {
    let text = text.into();
    let got = Raw::check(text.clone(), Limits::PAYLOAD).map(|_| ()).map_err(|error| (error.kind, error.offset));
    assert_eq!(got, expected, "{:?}", String::from_utf8_lossy(&text));
}

#[test]
fn accepts_what_the_grammar_accepts() {
    for text in [
        "null",
        " true ",
        "false",
        "0",
        "-0",
        "1e400",
        "18446744073709551616",
        "-12.5E-3",
        "\"\"",
        "[]",
        "{}",
        "[[],{}]",
        "\"\u{7f}\"",
        "{\"a\":[1,2 , 3],\n\"b\":null}\r\n",
        "\"\\ud800\"",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"",
        "{\"__proto__\":1}",
        "\"é😀\"",
    ] {
        check(text, Ok(()));
    }
}

#[test]
fn refuses_everything_else_with_its_place() {
    use JsonErrorKind::{Byte, End, Number, String, Trailing, Utf8};
    let cases: [(&[u8], JsonErrorKind, usize); 35] = [
        (b"", End, 0),
        (b"  ", End, 2),
        (b"\xEF\xBB\xBF{}", Byte, 0),
        (b"nul", End, 3),
        (b"nulL", Byte, 3),
        (b"NaN", Byte, 0),
        (b"Infinity", Byte, 0),
        (b"-Infinity", Number, 1),
        (b"01", Number, 1),
        (b"-", End, 1),
        (b"+1", Byte, 0),
        (b"1.", End, 2),
        (b"1.x", Number, 2),
        (b".5", Byte, 0),
        (b"1e", End, 2),
        (b"1e+", End, 3),
        (b"1.2.3", Number, 3),
        (b"0x10", Trailing, 1),
        (b"{} {}", Trailing, 3),
        (b"null,", Trailing, 4),
        (b"[1,]", Byte, 3),
        (b"[1 2]", Byte, 3),
        (b"[", End, 1),
        (b"[}", Byte, 1),
        (b"{\"a\"}", Byte, 4),
        (b"{\"a\":1,}", Byte, 7),
        (b"{a:1}", Byte, 1),
        (b"{\"a\":1", End, 6),
        (b"\"a", End, 2),
        (b"\"a\nb\"", String, 2),
        (b"\"\0\"", String, 1),
        (b"\"\\x41\"", String, 1),
        (b"\"\\u12g4\"", String, 1),
        (b"\"\\", End, 2),
        (b"\"\xED\xA0\x80\"", Utf8, 1),
    ];
    for (text, kind, offset) in cases {
        check(text, Err((kind, offset)));
    }
}

#[test]
fn reports_duplicates_after_decoding() {
    let places = |text: &'static str| {
        let checked = Raw::check(Bytes::from(text), Limits::PAYLOAD).unwrap();
        checked.duplicates.into_iter().map(|place| (place.offset, place.pointer)).collect::<Vec<_>>()
    };
    assert_eq!(places(r#"{"a":{"a":1},"b":[{"a":1}]}"#), []);
    assert_eq!(places(r#"{"a":1,"\u0061":2}"#), [(7, "/a".to_owned())]);
    assert_eq!(places(r#"[{"x":[{"k~/":1,"k~/":2}]}]"#), [(16, "/0/x/0/k~0~1".to_owned())]);
    assert_eq!(places(r#"{"\ud800":1,"\uD800":2,"\ud801":3}"#), [(12, "/\u{FFFD}".to_owned())]);
    assert_eq!(places(r#"{"__proto__":1,"__proto__":2}"#), [(15, "/__proto__".to_owned())]);
}

#[test]
fn finds_one_duplicate_among_many_members() {
    let mut text = String::from("{");
    for member in 0..5_000 {
        text.push_str(&format!("\"m{member}\":{{\"m\":0}},"));
    }
    text.push_str("\"\\u006d4321\":1}");
    let checked = Raw::check(text.into(), Limits::PAYLOAD).unwrap();
    assert_eq!(checked.duplicates.len(), 1);
    assert_eq!(checked.duplicates.first().map(|place| place.pointer.as_str()), Some("/m4321"));
}

#[test]
fn lists_no_more_than_it_promises() {
    let text = format!("{{{}\"a\":0}}", "\"a\":0,".repeat(1_000));
    let checked = Raw::check(text.into(), Limits::PAYLOAD).unwrap();
    assert_eq!((checked.duplicates.len(), checked.unlisted), (64, 936));
}

#[test]
fn reports_lone_surrogates() {
    let text = r#"{"a":["\ud83d\ude00","\ude00","x\ud83d"],"\ud83dk":"\ud83d\u0041"}"#;
    let checked = Raw::check(Bytes::from(text), Limits::PAYLOAD).unwrap();
    let places: Vec<_> = checked.surrogates.iter().map(|place| (place.offset, place.pointer.as_str())).collect();
    assert_eq!(places, [(22, "/a/1"), (32, "/a/2"), (42, "/\u{FFFD}k"), (52, "/\u{FFFD}k")]);
}

#[test]
fn depth_is_capped_and_never_recursed() {
    let nested = |depth: usize| Bytes::from("[".repeat(depth) + &"]".repeat(depth));
    let checked = Raw::check(nested(4_096), Limits::FRAME).unwrap();
    assert_eq!(checked.depth, 4_096);
    assert_eq!(checked.raw.view().items().count(), 1);
    assert_eq!(checked.raw.to_value().unwrap_err(), JsonError { kind: JsonErrorKind::Depth, offset: 512 });
    check(nested(4_097), Err((JsonErrorKind::Depth, 4_096)));
    check("[".repeat(100_000), Err((JsonErrorKind::Depth, 4_096)));
    let limits = Limits { depth: 4, bytes: 8 };
    assert_eq!(Raw::check(Bytes::from("\"1234567\""), limits).unwrap_err().kind, JsonErrorKind::Length);
}

#[test]
fn views_navigate_lazily() {
    let raw =
        Raw::parse(r#" {"a" : [1, "\u00e9\n", {"b":null}] , "n":1.0,"t":true,"a2":"x","n":-0,"s":"\ud800"} "#).unwrap();
    let view = raw.view();
    let array = view.get("a").unwrap();
    assert_eq!(array.items().map(View::kind).collect::<Vec<_>>(), [Kind::Number, Kind::String, Kind::Object]);
    assert_eq!(array.items().nth(1).and_then(View::str).as_deref(), Some("é\n"));
    assert!(array.items().nth(1).unwrap().is("é\n"));
    assert!(!array.items().nth(1).unwrap().is("é"));
    assert_eq!(view.get("n").and_then(View::i64), Some(0), "the last one wins");
    assert_eq!(view.get("t").and_then(View::bool), Some(true));
    assert_eq!(view.get("s").and_then(View::str), None);
    assert_eq!(view.get("s").and_then(View::text).map(|text| text.utf16().collect()), Some(vec![0xD800_u16]));
    assert_eq!(
        view.members().map(|(name, _)| name.to_lossy().into_owned()).collect::<Vec<_>>(),
        ["a", "n", "t", "a2", "n", "s"]
    );
    assert_eq!(view.get("b").map(View::kind), None);
    let part = raw.part(array);
    assert_eq!(part.as_bytes(), br#"[1, "\u00e9\n", {"b":null}]"#);
    assert_eq!(part.as_bytes().as_ptr(), array.raw().as_ptr(), "shares memory");
    assert_eq!(Raw::null().part(array), part);
}

#[test]
fn numbers_keep_their_spelling() {
    let cases = [
        ("0", Some(0), 0.0),
        ("-0", Some(0), -0.0),
        ("1.0", Some(1), 1.0),
        ("1e3", Some(1_000), 1_000.0),
        ("1.5", None, 1.5),
        ("9223372036854775807", Some(i64::MAX), 9_223_372_036_854_775_807.0),
        ("18446744073709551616", None, 18_446_744_073_709_551_616.0),
        ("9007199254740993.0", Some(9_007_199_254_740_992), 9_007_199_254_740_992.0),
        ("1e400", None, f64::INFINITY),
        ("633E63", None, 633e63),
        ("0.1000000000000000055511151231257827021181583404541015625", None, 0.1),
    ];
    for (text, integer, double) in cases {
        let number = Raw::parse(text).unwrap().view().number().unwrap();
        assert_eq!((number.as_str(), number.as_i64()), (text, integer), "{text}");
        assert_eq!(number.as_f64().to_bits(), f64::to_bits(double), "{text}");
        assert_eq!(Number::parse(text), Some(number));
    }
    assert_eq!(Raw::parse("18446744073709551615").unwrap().view().u64(), Some(u64::MAX));
    assert_eq!(Number::parse("1 "), None);
    let spelled = |value| Number::from_f64(value).map(|number| number.to_string());
    assert_eq!(spelled(1e21).as_deref(), Some("1e+21"));
    assert_eq!(spelled(-0.0).as_deref(), Some("0"));
    assert_eq!(spelled(1e-7).as_deref(), Some("1e-7"));
    assert_eq!(spelled(f64::NAN), None);
}

#[test]
fn trees_round_trip() {
    let text = r#"{"a":[1,1.0,-0,1e400],"\ud800":"\ud83dx\u0000\u001f\"\\\n","e":{},"":null,"b":[true,false]}"#;
    let raw = Raw::parse(text).unwrap();
    assert_eq!(Raw::from_value(&raw.to_value().unwrap()).as_bytes(), text.as_bytes());
    let Value::Object(object) = Raw::parse(r#"{"a":1,"b":2,"\u0061":3}"#).unwrap().to_value().unwrap() else {
        panic!()
    };
    assert_eq!(Raw::from_value(&object.into()).as_bytes(), br#"{"a":3,"b":2}"#);
}

#[test]
fn large_objects_keep_the_last_of_repeated_members() {
    let text =
        format!("{{{}\"k7\":\"last\"}}", (0..100).map(|member| format!("\"k{member}\":{member},")).collect::<String>());
    let Value::Object(object) = Raw::parse(text).unwrap().to_value().unwrap() else { panic!() };
    assert_eq!(object.len(), 100);
    assert_eq!(object.iter().nth(7), Some(&(Text::from("k7"), Value::from("last"))));
}

#[test]
fn objects_keep_their_order() {
    let mut object = Object::new();
    object.insert("b", 1_u64);
    object.insert("a", "x");
    assert_eq!(object.insert("b", true), Some(Value::from(1_u64)));
    assert_eq!(object.get("b"), Some(&Value::Bool(true)));
    assert_eq!(object.remove("a"), Some(Value::from("x")));
    assert_eq!((object.len(), object.remove("a")), (1, None));
}

#[test]
fn the_object_writer_writes_every_kind() {
    let raw = Raw::object(|w| {
        w.str("s", "\u{8}\u{c}\u{1}\u{7f}\u{2028}/")
            .u64("u", u64::MAX)
            .u64("z", 0)
            .i64("i", i64::MIN)
            .f64("f", 1e21)
            .f64("nan", f64::NAN);
        w.bool("t", true).null("n").raw("r", &Raw::string("é")).object("o", |w| {
            w.strs("a", ["x", "y"]);
        });
        w.objects("os", [1_u64, 2], |w, item| {
            w.u64("i", item);
        });
        w.value("v", &Value::from("x")).view("w", Raw::null().view());
    });
    let expected = concat!(
        r#"{"s":"\b\f\u0001"#,
        "\u{7f}\u{2028}",
        r#"/","u":18446744073709551615,"z":0,"i":-9223372036854775808,"f":1e+21,"nan":null,"t":true,"n":null,"#,
        r#""r":"é","o":{"a":["x","y"]},"os":[{"i":1},{"i":2}],"v":"x","w":null}"#
    );
    assert_eq!(str::from_utf8(raw.as_bytes()), Ok(expected));
    assert_eq!(Raw::parse(raw.bytes().clone()), Ok(raw));
}
