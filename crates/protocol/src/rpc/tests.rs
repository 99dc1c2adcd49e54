//! Lines in, messages out: hostile spellings first. And batches put together again.

use bytes::Bytes;
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};

use super::*;
use crate::json::{Limits, Raw};

fn read(line: &[u8]) -> Result<Frame, Unread> {
    Frame::read(&Bytes::copy_from_slice(line), Limits::FRAME)
}

fn shown(message: &Message) -> String {
    let params = |params: &Option<Raw>| params.as_ref().map(|raw| format!(" {raw:?}")).unwrap_or_default();
    match message {
        Message::Request(request) => format!("request {} {}{}", request.id, request.method, params(&request.params)),
        Message::Notification(told) => format!("notification {}{}", told.method, params(&told.params)),
        Message::Response(Response { id, reply }) => {
            let id = id.as_ref().map_or("nobody".to_owned(), Id::to_string);
            match reply {
                Reply::Result(raw) => format!("result for {id} {raw:?}"),
                Reply::Error(raw) => format!("error for {id} {raw:?}"),
            }
        }
        Message::Other => "other".to_owned(),
    }
}

#[track_caller]
fn check(line: impl AsRef<[u8]>, expected: &str) {
    let found = match read(line.as_ref()) {
        Ok(Frame { content: Content::Single(spoken), .. }) => shown(&spoken.message),
        Ok(Frame { content: Content::Batch { elements, .. }, .. }) => {
            elements.iter().map(|spoken| shown(&spoken.message)).collect::<Vec<_>>().join(" | ")
        }
        Err(unread) => format!("{unread:?}"),
    };
    assert_eq!(found, expected);
}

#[test]
fn messages_are_told_apart() {
    check(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "request 1 ping");
    check(r#"{"method":"x","params":[1],"id":"a"}"#, "request \"a\" x [1]");
    check(r#"{"method":"x","params":null}"#, "notification x null");
    check(r#"{"method":"x","id":null}"#, "notification x");
    check(r#"{"method":"x","id":true}"#, "notification x");
    check(r#"{"id":0,"result":null}"#, "result for 0 null");
    check(r#"{"id":1.0,"error":{"code":1}}"#, r#"error for 1.0 {"code":1}"#);
    check(r#"{"id":null,"error":{}}"#, "error for nobody {}");
    check(r#"{"error":"no id"}"#, "error for nobody \"no id\"");
    check(r#"{"id":1,"result":1,"error":2}"#, "error for 1 2");
    check(r#"{"id":1,"method":"x","result":{}}"#, "request 1 x");
    check(r#"{"id":1,"method":7}"#, "other");
    check("{}", "other");
    check("7", "other");
    check("\"{}\"", "other");
}

#[test]
fn ids_survive_as_they_are() {
    for id in ["18446744073709551616", "9007199254740993", "1e999", "-0", "0.5", "\"1\"", "\"\\ud800\""] {
        check(format!(r#"{{"id":{id},"method":"x"}}"#), &format!("request {id} x"));
    }
}

#[test]
fn odd_lines() {
    check(b"\xef\xbb\xbf{\"id\":1,\"method\":\"x\"}\r\n", "request 1 x");
    check("  {\"method\" : \"x\"} \r", "notification x");
    check(r#"{"m\u0065thod":"x\/y","id":1}"#, "request 1 x/y");
    check(r#"{"method":"\ud800"}"#, "notification \u{fffd}");
    check(r#"{"id":1,"id":2,"method":"a","method":"b"}"#, "request 2 b");
    check(r#"{"__proto__":{"method":"x"}}"#, "other");
    check(b"", "Blank");
    check(b" \r\n", "Blank");
    check("hello", "NoJson(JsonError { kind: Byte, offset: 0 })");
    check("{\"id\":1}{\"id\":2}", "NoJson(JsonError { kind: Trailing, offset: 8 })");
    check(b"{\"method\":\"x\"}\0", "NoJson(JsonError { kind: Trailing, offset: 14 })");
    check(b"\xff\xfe", "NoJson(JsonError { kind: Byte, offset: 0 })");
}

#[test]
fn bytes_that_are_no_utf8_do_not_hide_a_call() {
    check(
        b"{\"method\":\"tools/call\",\"params\":{\"a\":\"\xff\xe4x\xe2\x82\"},\"id\":1}",
        r#"request 1 tools/call {"a":"??x??"}"#,
    );
    let line = b"{\"method\":\"x\",\"params\":{\"a\":\"\xff\"}}";
    let Ok(Frame { content: Content::Single(spoken), .. }) = read(line) else { panic!("one message") };
    let params = spoken.source.raw().view().get("params").expect("it has params");
    let replaced = spoken.source.replace(params.get("a").expect("it has a"), b"1");
    assert_eq!(&replaced[..], b"{\"method\":\"x\",\"params\":{\"a\":1}}");
}

#[test]
fn depth_and_length_have_limits() {
    let deep = format!(r#"{{"method":"x","params":{}{}}}"#, "[".repeat(10_000), "]".repeat(10_000));
    assert!(matches!(read(deep.as_bytes()), Err(Unread::TooLarge(_))));
    let limits = Limits { depth: 20_000, bytes: 1 << 20 };
    assert!(Frame::read(&Bytes::from(deep), limits).is_ok());
    let nested = format!("{}{{\"method\":\"x\"}}{}", "[".repeat(19_999), "]".repeat(19_999));
    let Ok(Frame { content: Content::Batch { elements, .. }, .. }) = Frame::read(&Bytes::from(nested), limits) else {
        panic!("a batch")
    };
    assert_eq!(elements.len(), 1);
}

#[test]
fn repeated_members_are_reported() {
    let frame = read(br#"{"method":"x","params":{"a":1,"\u0061":2},"method":"y"}"#).expect("JSON");
    let places: Vec<&str> = frame.duplicates.iter().map(|place| place.pointer.as_str()).collect();
    assert_eq!(places, ["/params/a", "/method"]);
}

#[test]
fn a_batch_is_its_elements() {
    check("[]", "");
    check(
        r#"[{"method":"a"},[[{"id":1,"result":2}],3],{"id":1,"method":"b"}]"#,
        "notification a | result for 1 2 | other | request 1 b",
    );
}

#[test]
fn parts_are_replaced_and_added_in_place() {
    let line = b" {\"id\": 12345678901234567890, \"params\":{\"n\":1.50 ,\"arguments\":{ }} }\r\n";
    let Ok(Frame { content: Content::Single(spoken), .. }) = read(line) else { panic!("one message") };
    let raw = spoken.source.raw();
    let params = raw.view().get("params").expect("it has params");
    let arguments = params.get("arguments").expect("it has arguments");
    let show = |bytes: Bytes| bytes.escape_ascii().to_string().replace("\\\"", "\"");
    insta::assert_snapshot!(show(spoken.source.replace(arguments, b"{\"q\":1}")),
        @r#" {"id": 12345678901234567890, "params":{"n":1.50 ,"arguments":{"q":1}} }\r\n"#);
    insta::assert_snapshot!(show(spoken.source.add(arguments, "q", b"1")),
        @r#" {"id": 12345678901234567890, "params":{"n":1.50 ,"arguments":{ "q":1}} }\r\n"#);
    insta::assert_snapshot!(show(spoken.source.add(params, "q\"", b"[]")),
        @r#" {"id": 12345678901234567890, "params":{"n":1.50 ,"arguments":{ },"q\\"":[]} }\r\n"#);
    let elsewhere = Raw::string("elsewhere");
    assert_eq!(spoken.source.replace(elsewhere.view(), b"x"), &line[..]);
}

#[track_caller]
fn check_assembled(line: &str, fates: &str, expected: Option<&str>) {
    let fates: Vec<Fate> = fates
        .chars()
        .map(|fate| match fate {
            'k' => Fate::Keep,
            'c' => Fate::Cut,
            _ => Fate::Replace(Bytes::from_static(b"NEW")),
        })
        .collect();
    let Ok(Frame { content: Content::Batch { whole, .. }, .. }) = read(line.as_bytes()) else { panic!("a batch") };
    let found = assemble(&whole, &fates);
    assert_eq!(found.as_deref(), expected.map(str::as_bytes), "{line} {fates:?}");
}

#[test]
fn batches_lose_only_what_is_cut() {
    check_assembled("[ 1 , 2 ,3 ]\r\n", "kkk", Some("[ 1 , 2 ,3 ]\r\n"));
    check_assembled("[ 1 , 2 ,3 ]\r\n", "ckk", Some("[  2 ,3 ]\r\n"));
    check_assembled("[ 1 , 2 ,3 ]\r\n", "kck", Some("[ 1 ,3 ]\r\n"));
    check_assembled("[ 1 , 2 ,3 ]\r\n", "kkc", Some("[ 1 , 2 ]\r\n"));
    check_assembled("[ 1 , 2 ,3 ]\r\n", "cck", Some("[ 3 ]\r\n"));
    check_assembled("[ 1 , 2 ,3 ]\r\n", "ccc", None);
    check_assembled("[1,2]", "rc", Some("[NEW]"));
    check_assembled("[1,2]", "kr", Some("[1,NEW]"));
    check_assembled("[]", "", Some("[]"));
}

#[test]
fn nested_arrays_go_when_all_they_held_is_gone() {
    check_assembled("[[1, 2],3]", "cck", Some("[3]"));
    check_assembled("[3,[1, 2]]", "kcc", Some("[3]"));
    check_assembled("[3,[1, [2]] ,4]", "kkck", Some("[3,[1] ,4]"));
    check_assembled("[[[1]],[2]]", "cc", None);
    check_assembled("[[],1,[]]", "c", Some("[[],[]]"));
    check_assembled("[[[]],1]", "c", Some("[[[]]]"));
    check_assembled("[[ [1] , 2 ], 3]", "ckk", Some("[[  2 ], 3]"));
}

/// Texts of batches, arrays within arrays included.
fn batch() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![Just("1".to_owned()), Just(" {\"a\":[1,2]} ".to_owned()), Just("\"],[\"".to_owned())];
    let nested = leaf.prop_recursive(4, 24, 4, |inner| {
        proptest::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(" ,")))
    });
    proptest::collection::vec(nested, 0..5).prop_map(|items| format!("[{}]", items.join(",")))
}

proptest! {
    #[test]
    fn what_is_left_of_a_batch_is_json_with_the_elements_that_were_kept(text in batch(), keep in proptest::collection::vec(any::<bool>(), 30)) {
        let Ok(Frame { content: Content::Batch { whole, elements }, .. }) = read(text.as_bytes()) else { panic!("a batch") };
        let fates: Vec<Fate> = keep.iter().map(|keep| if *keep { Fate::Keep } else { Fate::Cut }).collect();
        let kept: Vec<&[u8]> = elements.iter().zip(&keep).filter(|(_, keep)| **keep).map(|(each, _)| each.source.raw().as_bytes()).collect();
        match assemble(&whole, &fates) {
            None => prop_assert!(kept.is_empty()),
            Some(bytes) => {
                let Ok(Frame { content: Content::Batch { elements, .. }, .. }) = read(&bytes) else { panic!("{bytes:?} is no batch") };
                let found: Vec<&[u8]> = elements.iter().map(|each| each.source.raw().as_bytes()).collect();
                prop_assert_eq!(found, kept);
            }
        }
    }

    #[test]
    fn no_bytes_make_reading_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        drop(read(&bytes));
    }
}

#[test]
fn our_own_messages() {
    let raw = |text: &str| Raw::parse(text.to_owned()).expect("a JSON text");
    let id = Id::of(raw("18446744073709551616").view()).expect("an id");
    let show = |bytes: Bytes| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    insta::assert_snapshot!(show(answer_result(&id, &raw("[1]"))), @r#"{"jsonrpc":"2.0","id":18446744073709551616,"result":[1]}"#);
    let error = ErrorObject { code: code::ABORTED, message: "no".to_owned(), data: Some(raw("{}")) };
    insta::assert_snapshot!(show(answer_error(Some(&id), &error)), @r#"{"jsonrpc":"2.0","id":18446744073709551616,"error":{"code":-32099,"message":"no","data":{}}}"#);
    insta::assert_snapshot!(show(answer_error(None, &error)), @r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32099,"message":"no","data":{}}}"#);
    insta::assert_snapshot!(show(error_without_id(&error)), @r#"{"jsonrpc":"2.0","error":{"code":-32099,"message":"no","data":{}}}"#);
    insta::assert_snapshot!(show(notification("notifications/x", |out| { out.u64("n", 1); })), @r#"{"jsonrpc":"2.0","method":"notifications/x","params":{"n":1}}"#);
    let given = raw(r#"{"jsonrpc":"9", "id":1,"x\"":2,"id":2}"#);
    insta::assert_snapshot!(show(with_id(given.view(), &id).expect("an object")), @r#"{"jsonrpc":"9","id":18446744073709551616,"x\"":2}"#);
    insta::assert_snapshot!(show(with_id(raw("{}").view(), &id).expect("an object")), @r#"{"id":18446744073709551616}"#);
    assert_eq!(with_id(raw("[]").view(), &id), None);
}
