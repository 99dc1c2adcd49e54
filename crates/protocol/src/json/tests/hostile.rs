//! Texts made to break readers: size, depth, numbers, strings, names.

use super::super::*;
use bytes::Bytes;

fn frame(text: impl Into<Bytes>) -> Result<Checked, JsonError> {
    Raw::check(text.into(), Limits::FRAME)
}

#[test]
fn sixty_four_mebibytes_and_no_more() {
    let string = |length: usize| {
        let mut text = vec![b'x'; length];
        text[0] = b'"';
        text[length - 1] = b'"';
        text
    };
    let checked = frame(string(64 << 20)).unwrap();
    assert_eq!(checked.raw.len(), 64 << 20);
    assert_eq!(checked.raw.view().items().count(), 0);
    assert_eq!(frame(string((64 << 20) + 1)).unwrap_err().kind, JsonErrorKind::Length);
    assert_eq!(Raw::parse(string((16 << 20) + 1)).unwrap_err().kind, JsonErrorKind::Length);
}

#[test]
fn depth_is_no_question_of_stack() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"a\":[", "]}]")] {
        let text = open.repeat(10_000) + "1" + &close.repeat(10_000);
        assert_eq!(frame(text).unwrap_err().kind, JsonErrorKind::Depth);
        assert_eq!(frame(open.repeat(1_000_000)).unwrap_err().kind, JsonErrorKind::Depth);
        let unlimited = Limits { depth: usize::MAX, ..Limits::FRAME };
        let text = open.repeat(100_000) + "1" + &close.repeat(100_000);
        let raw = Raw::check(text.into(), unlimited).unwrap().raw;
        // Nothing that looks into it recurses either.
        assert_eq!(raw.view().items().count() + raw.view().members().count(), 1);
        assert!(raw.to_value().is_err());
        assert!(canonical(raw.view(), &[]).contains("[depth]"));
    }
    assert_eq!(frame("]".repeat(100_000)).unwrap_err(), JsonError { kind: JsonErrorKind::Byte, offset: 0 });
}

#[test]
fn numbers_beyond_every_type_keep_their_text() {
    let long = "9".repeat(100_000);
    for text in
        ["1e400", "-1e400", "18446744073709551616", "-0", "-0.0", "1e-400", "0e999999999999999999999", long.as_str()]
    {
        let raw = Raw::parse(text.to_owned()).unwrap();
        assert_eq!(raw.view().number().map(|number| number.as_str().to_owned()).as_deref(), Some(text));
        assert_eq!(Raw::from_value(&raw.to_value().unwrap()).as_bytes(), text.as_bytes());
    }
    let worth = |text: &'static str| {
        let raw = Raw::parse(text).unwrap();
        (raw.view().f64(), raw.view().i64(), raw.view().u64())
    };
    assert_eq!(worth("1e400"), (Some(f64::INFINITY), None, None));
    assert_eq!(worth("18446744073709551616"), (Some(18_446_744_073_709_551_616.0), None, None));
    assert_eq!(worth("18446744073709551615").2, Some(u64::MAX));
    assert_eq!(worth("-0"), (Some(-0.0), Some(0), Some(0)));
    assert_eq!(worth("1e300"), (Some(1e300), None, None));
}

#[test]
fn invalid_utf8_is_refused_wherever_it_stands() {
    let bad: [&[u8]; 7] =
        [b"\xC0\x80", b"\xED\xA0\x80", b"\xF4\x90\x80\x80", b"\xFF", b"\x80", b"\xE2\x82", b"\xF8\x88\x80\x80\x80"];
    for bytes in bad {
        for (before, after) in [("\"", "\""), ("{\"", "\":1}"), ("", ""), ("1 ", "")] {
            let text = [before.as_bytes(), bytes, after.as_bytes()].concat();
            assert_eq!(frame(text).unwrap_err(), JsonError { kind: JsonErrorKind::Utf8, offset: before.len() });
        }
    }
    assert_eq!(frame("\u{FEFF}{}").unwrap_err(), JsonError { kind: JsonErrorKind::Byte, offset: 0 });
    assert_eq!(frame("{}\0").unwrap_err(), JsonError { kind: JsonErrorKind::Trailing, offset: 2 });
    assert_eq!(frame("\"\\u0000\"").unwrap().raw.view().str().as_deref(), Some("\0"));
    assert_eq!(frame(b"{\0}".to_vec()).unwrap_err(), JsonError { kind: JsonErrorKind::Byte, offset: 1 });
}

#[test]
fn escapes_hide_no_repetition() {
    let names = [
        (r#"{"a":1,"\u0061":2}"#, 1),
        (r#"{"\u0061":1,"\u0061":2}"#, 1),
        (r#"{"\/":1,"/":2,"\u002f":3,"\u002F":4}"#, 3),
        (r#"{"\ud83d\ude00":1,"😀":2}"#, 1),
        (r#"{"\n":1,"\u000a":2}"#, 1),
        (r#"{"\ud83d":1,"\ude00":2,"\ud83d\ude00":3}"#, 0),
        (r#"{"é":1,"e\u0301":2}"#, 0),
        (r#"{"__proto__":1,"__prot\u006f__":2}"#, 1),
        (r#"{"":1,"":2}"#, 1),
        (r#"{"a":1,"A":2,"a ":3}"#, 0),
    ];
    for (text, count) in names {
        assert_eq!(frame(text).unwrap().duplicates.len(), count, "{text}");
    }
}

#[test]
fn many_long_names_that_differ_late_are_told_apart_in_time() {
    let prefix = "p".repeat(1_000);
    let text: String = (0..4_000).map(|name| format!("\"{prefix}{name}{prefix}\":{name},")).collect();
    let checked = frame(format!("{{{text}\"x\":1}}")).unwrap();
    assert!(checked.duplicates.is_empty());
    assert_eq!(
        checked.raw.to_value().map(|value| matches!(value, Value::Object(members) if members.len() == 4_001)),
        Ok(true)
    );
}

#[test]
fn pointers_stay_short() {
    let name = "n".repeat(100_000);
    let deep = format!("{{\"{name}\":").repeat(20) + "{\"a\":1,\"a\":2}" + &"}".repeat(20);
    let checked = frame(deep).unwrap();
    let pointer = &checked.duplicates.first().unwrap().pointer;
    assert!(pointer.len() < 2_100 && pointer.ends_with('…'), "{}", pointer.len());
}

#[test]
fn places_are_named_through_arrays_and_white_space() {
    let text = "[ 1 , \"x,]\" , { \"k\" : [ [ ] , { } , { \"d\" : 1 , \"d\" : \"\\ud800\" } ] } ]";
    let checked = frame(text).unwrap();
    let of = |places: &[Place]| places.iter().map(|place| place.pointer.clone()).collect::<Vec<_>>();
    assert_eq!(of(&checked.duplicates), ["/2/k/2/d"]);
    assert_eq!(of(&checked.surrogates), ["/2/k/2/d"]);
    assert_eq!(of(&frame("\"\\udc00\"").unwrap().surrogates), [""]);
}

#[test]
fn proto_is_a_member_like_any_other() {
    let raw = Raw::parse(r#"{"__proto__":{"admin":true},"constructor":{"prototype":1}}"#).unwrap();
    assert_eq!(raw.view().get("__proto__").and_then(|inner| inner.get("admin")).and_then(View::bool), Some(true));
    assert_eq!(raw.view().get("toString").map(View::raw), None);
    assert_eq!(Raw::from_value(&raw.to_value().unwrap()), raw);
}
