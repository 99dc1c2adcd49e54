//! K01 to K17 and the published vectors.

use proptest::prelude::*;
use sha2::{Digest, Sha256};

use super::*;
use crate::debug::{Parsed, parse};
use crate::json::{Object, Text, Value, View};

fn digest(raw: &Raw) -> String {
    Sha256::digest(raw.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn cut(kind: Option<&str>, payload: &str, budget: usize) -> Raw {
    let payload = Raw::parse(payload.to_owned()).unwrap();
    match shrink(kind, &payload, budget) {
        Shrunk::Same => payload,
        Shrunk::Cut(raw) => {
            assert_eq!(shrink(kind, &raw, budget), Shrunk::Same, "once is enough");
            raw
        }
    }
}

#[test]
fn published_vectors() {
    let finished = format!(
        r#"{{"nodeId":"n","durationMs":1,"status":"ok","output":{{"a":"{}","b":[1],"c":{{"d":"{}"}}}}}}"#,
        "q".repeat(9_000),
        "w".repeat(5_000)
    );
    let error = format!(r#"{{"nodeId":"n","error":{{"name":"E","message":"{}"}}}}"#, "é".repeat(5_000));
    let array = format!(r#"["{}"]"#, "x".repeat(9_000));
    let resumed = format!(r#"{{"pauseId":"p","action":"continue","big":"{}"}}"#, "😀".repeat(3_000));
    let split = format!(r#"{{"pauseId":"p","action":"continue","big":"a{}"}}"#, "😀".repeat(3_000));
    let vectors = [
        (Some("node.finished"), &finished, 16_384, 14_082, "f2d0c084424833fa"),
        (Some("node.finished"), &finished, 12_000, 8_279, "02fc703bd14b8991"),
        (Some("node.finished"), &finished, 8_192, 2_133, "dba390ad2c50e616"),
        (Some("node.error"), &error, 8_192, 4_627, "765eb39871229369"),
        (None, &array, 4_096, 2_056, "da785a9d085252b3"),
        (Some("exec.resumed"), &resumed, 9_000, 8_129, "d3522f56f8c2b64a"),
        (Some("exec.resumed"), &split, 9_000, 8_135, "0e710c0351202efc"),
    ];
    for (kind, payload, budget, length, expected) in vectors {
        let raw = cut(kind, payload, budget);
        assert_eq!((raw.len(), digest(&raw).as_str()), (length, expected), "{kind:?} {budget} {raw:?}");
    }
}

/// As [`cut`], with the value of one field standing elsewhere.
fn cut_apart(kind: Option<&str>, payload: &str, field: &str, budget: usize) -> Shrunk {
    let payload = Raw::parse(payload.to_owned()).unwrap();
    let value = payload.part(payload.view().get(field).unwrap());
    let light = Raw::object(|w| {
        for (name, value) in payload.view().pairs() {
            w.member(&name.text().unwrap(), &if name.is(field) { Raw::null() } else { payload.part(value) });
        }
    });
    shrink_apart(kind, &light, (field, &value), budget)
}

#[test]
fn a_value_that_stands_elsewhere_is_cut_as_if_it_stood_in_its_place() {
    let (text, list) = ("é😀\\n".repeat(9_000), vec!["{\"a\": 1e3}"; 9_000].join(" , "));
    let values =
        [format!("\"{text}\""), format!("[{list}]"), format!("{{\"t\":\"{text}\",\"l\":[{list}]}}"), "7".to_owned()];
    for value in values {
        for ids in [r#""nodeId":"n""#, r#""__graphmindTruncated":7,"durationMs":1"#] {
            let payload = format!(r#"{{{ids}, "output": {value},"status":"ok" ,"durationMs":2,"bytes":3}}"#);
            for budget in [300, 3_000, 9_000, 100_000, 1 << 20] {
                for kind in [None, Some("node.finished")] {
                    let whole = shrink(kind, &Raw::parse(payload.clone()).unwrap(), budget);
                    assert_eq!(cut_apart(kind, &payload, "output", budget), whole, "{budget} {kind:?} {ids}");
                }
            }
        }
    }
}

#[test]
fn a_large_tool_result_is_trimmed_as_observed() {
    let output = format!(r#"{{"text":"{}","rows":[1,2,3],"small":1}}"#, long(600_000));
    let ids = r#""nodeId":"tool:big","instanceId":"call_1","durationMs":0.5,"status":"ok""#;
    let raw = cut(Some("node.finished"), &format!(r#"{{{ids},"output":{output},"heldMs":0.0}}"#), BUDGET);
    let trimmed = raw.view().get("output").unwrap();
    assert_eq!(trimmed.get("text").and_then(View::str).map(|text| text.chars().count()), Some(2_023));
    assert_eq!(trimmed.get("rows").map(View::raw), Some(&b"[]"[..]));
    assert_eq!(trimmed.get("small").and_then(View::u64), Some(1));
    assert_eq!(trimmed.get("bytes").and_then(View::u64), Some(600_036));
    assert_eq!(lost(&raw), ["output"]);
    assert_eq!(raw.view().get("heldMs").map(View::raw), Some(&b"0"[..]));
}

/// The top-level names of a result.
fn names(raw: &Raw) -> Vec<String> {
    raw.view().members().map(|(name, _)| name.to_lossy().into_owned()).collect()
}

/// The names listed as no longer what they were.
fn lost(raw: &Raw) -> Vec<String> {
    let fields = raw.view().get("fields").into_iter().flat_map(View::items);
    fields.filter_map(|name| name.str().map(|name| name.into_owned())).collect()
}

fn valid(kind: &str, payload: &Raw) -> bool {
    let payload = str::from_utf8(payload.as_bytes()).unwrap();
    let text = format!(r#"{{"gm":1,"seq":0,"ts":0,"runId":"r","type":"{kind}","payload":{payload}}}"#);
    matches!(parse(text.into()), Parsed::Ok(_))
}

fn long(units: usize) -> String {
    "x".repeat(units)
}

#[test]
fn k01_small_fields_survive_among_many() {
    for (count, survives) in [(257, true), (4_095, true), (4_096, false)] {
        let many: String = (0..count).map(|field| format!("\"f{field}\":{field},")).collect();
        let raw = cut(None, &format!("{{{many}\"big\":\"{}\"}}", long(400_000)), 300_000);
        assert_eq!(raw.view().get("f7").and_then(View::u64) == Some(7), survives, "{count}");
        assert_eq!(lost(&raw), if survives { vec!["big"] } else { Vec::new() });
    }
}

#[test]
fn k02_exactly_256_keys_are_not_capped() {
    for (count, dropped) in [(256, None), (257, Some(1)), (1_000, Some(744))] {
        let many: String = (1..count).map(|key| format!("\"k{key}\":1,")).collect();
        let raw = cut(None, &format!("{{\"o\":{{{many}\"t\":\"{}\"}}}}", long(20_000)), 16_000);
        let output = raw.view().get("o").unwrap();
        assert_eq!(output.get("keysDropped").and_then(View::u64), dropped, "{count}");
        assert_eq!(output.get("t").is_some(), dropped.is_none());
        let names: Vec<_> = output.members().skip(256).map(|(name, _)| name.to_lossy().into_owned()).collect();
        let marks = [TRUNCATED, "bytes", "preview", "keysDropped"];
        assert_eq!(names, marks[..if dropped.is_some() { 4 } else { 3 }], "in the order of the peers");
    }
}

#[test]
fn k03_only_the_top_of_a_field_says_more_than_what_was_dropped() {
    let many: String = (0..300).map(|key| format!("\"k{key}\":1,")).collect();
    let inner = format!("{{{many}\"t\":1}}");
    let raw =
        cut(None, &format!("{{\"o\":{{\"small\":{{\"a\":1}},\"inner\":{inner},\"t\":\"{}\"}}}}", long(20_000)), 16_000);
    let output = raw.view().get("o").unwrap();
    let small = output.get("small").map(View::raw);
    assert_eq!(small, Some(&b"{\"a\":1}"[..]), "an uncapped inner object carries no marker");
    let inner = output.get("inner").unwrap();
    let tail: Vec<_> = inner.members().skip(256).map(|(name, _)| name.to_lossy().into_owned()).collect();
    assert_eq!(tail, [TRUNCATED, "keysDropped"]);
    let tail: Vec<_> = output.members().skip(3).map(|(name, _)| name.to_lossy().into_owned()).collect();
    assert_eq!(tail, [TRUNCATED, "bytes", "preview"]);
}

#[test]
fn k04_values_beyond_the_cap_leave_no_trace() {
    let many: String = (0..256).map(|key| format!("\"k{key}\":1,")).collect();
    let raw = cut(None, &format!("{{\"o\":{{{many}\"late\":\"secret{}\"}}}}", long(90_000)), 16_000);
    let output = raw.view().get("o").unwrap();
    assert_eq!(output.get("late").map(View::raw), None);
    assert_eq!(output.get("keysDropped").and_then(View::u64), Some(1));
}

#[test]
fn k05_members_keep_their_order() {
    let raw = cut(None, &format!(r#"{{"10":1,"b":"{}","2":2,"a":{{"9":1,"1":2}}}}"#, long(9_000)), 8_000);
    assert_eq!(names(&raw), ["10", "b", "2", "a", TRUNCATED, "bytes", "preview", "fields"]);
}

#[test]
fn k06_unknown_kinds_take_the_untyped_tiers() {
    let payload = format!(r#"{{"nodeId":"n","x":["{}"]}}"#, long(9_000));
    let untyped = cut(None, &payload, 8_000);
    assert_eq!(names(&untyped), ["nodeId", "x", TRUNCATED, "bytes", "preview", "fields"]);
    for kind in ["", "node.invented", "__proto__", "Node.Started", "exec.resume", "hello"] {
        assert_eq!(cut(Some(kind), &payload, 8_000), untyped, "{kind}");
    }
}

#[test]
fn k07_what_fits_is_left_alone_even_if_invalid() {
    let text = "{ \"nodeId\" : 7, \"f\": 1.0, \"a\":1, \"a\":2, \"s\":\"\\u0061\\ud800\" }";
    let payload = Raw::parse(text).unwrap();
    assert_eq!(shrink(Some("node.started"), &payload, 50), Shrunk::Same, "its compact form counts");
    assert_eq!(shrink(Some("node.started"), &payload, BUDGET).or(&payload).as_bytes(), text.as_bytes());
    let exact = Raw::parse(format!("\"{}\"", long(998))).unwrap();
    assert_eq!(shrink(None, &exact, 1_000), Shrunk::Same);
    assert_ne!(shrink(None, &exact, 999), Shrunk::Same);
}

#[test]
fn k08_skeletons_stay_valid() {
    let text = long(40_000);
    let escaped = "\\u0000".repeat(9_000);
    let events = [
        (
            "run.started",
            format!(r#"{{"app":"{text}","sdk":{{"name":"n","version":"1","x":"{text}"}},"meta":{{"a":"{text}"}}}}"#),
        ),
        ("run.finished", format!(r#"{{"status":"ok","x":{{"a":{{"b":["{text}"]}},"c":"{escaped}"}}}}"#)),
        ("graph.hint", format!(r#"{{"nodes":[{{"nodeId":"n","kind":"tool","name":"{text}"}}],"{text}":1}}"#)),
        (
            "node.started",
            format!(r#"{{"nodeId":"{escaped}","kind":"tool","name":"t","instanceId":"{text}","input":"{text}"}}"#),
        ),
        ("node.token", format!(r#"{{"nodeId":"n","deltas":[{{"t":"text","v":"{text}"}}],"{text}":1}}"#)),
        (
            "node.finished",
            format!(
                r#"{{"nodeId":"n","durationMs":1.50,"status":"ok","output":"{escaped}","usage":{{"inputTokens":1,"outputTokens":2}},"{text}":1}}"#
            ),
        ),
        ("node.error", format!(r#"{{"nodeId":"n","error":{{"name":"E","message":"m","stack":"{text}","code":7}}}}"#)),
        (
            "exec.paused",
            format!(
                r#"{{"pauseId":"p","nodeId":"n","point":"before","reason":"loop","loop":{{"repeats":3,"firstSeq":1,"lastSeq":2,"fingerprint":"{text}"}},"{text}":1}}"#
            ),
        ),
        ("exec.refused", format!(r#"{{"pauseId":"p","code":"shape","message":"{escaped}"}}"#)),
        (
            "exec.resumed",
            format!(
                r#"{{"pauseId":"p","action":"continue","edited":{{"after":{{"{text}":1}}}},"requestId":"{text}"}}"#
            ),
        ),
        ("exec.until", format!(r#"{{"pauseId":"p","at":1,"{text}":1}}"#)),
    ];
    for (kind, payload) in events {
        for budget in [4_096, 8_192, 20_000] {
            let raw = cut(Some(kind), &payload, budget);
            assert!(valid(kind, &raw), "{kind} {budget} {raw:?}");
            assert!(raw.len() <= budget, "{kind} {budget} {}", raw.len());
        }
    }
}

#[test]
fn k09_a_trim_that_would_drop_a_required_key_gives_way_to_the_skeleton() {
    let many: String = (0..256).map(|key| format!("\"k{key}\":1,")).collect();
    let text = long(20_000);
    let payload = format!(r#"{{"nodeId":"n","error":{{{many}"name":"E","message":"{text}"}}}}"#);
    let raw = cut(Some("node.error"), &payload, 12_000);
    assert_eq!(names(&raw), ["nodeId", "error", TRUNCATED, "bytes", "preview", "fields"]);
    assert_eq!(raw.view().get("error").and_then(|error| error.get("name")).and_then(View::str).as_deref(), Some("E"));
    assert_eq!(lost(&raw), ["error"]);
    let untyped = cut(None, &payload, 12_000);
    assert_eq!(untyped.view().get("error").and_then(|error| error.get("name")).map(View::raw), None);
}

#[test]
fn k10_what_the_skeleton_keeps_verbatim_is_not_listed() {
    let text = long(257);
    let sdk = r#""sdk":{"name":"n","version":"1"}"#;
    let strings: String = (0..10).map(|field| format!(",\"f{field}\":\"{}\"", long(1_900))).collect();
    let raw = cut(Some("run.started"), &format!(r#"{{"app":"{text}",{sdk}{strings}}}"#), 10_000);
    assert_eq!(lost(&raw), ["app", "f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9"], "the sdk is whole");
    let payload = format!(r#"{{"nodeId":"{}","deltas":[],"x":{{"{}":"a"}}}}"#, long(256), long(9_000));
    assert_eq!(lost(&cut(Some("node.token"), &payload, 9_000)), ["x"], "256 units and an empty list are kept");
}

#[test]
fn k11_skeletons_get_sparser_when_names_or_strings_alone_are_too_long() {
    let names_alone = format!(r#"{{"nodeId":"n","deltas":[],"{}":1}}"#, long(9_000));
    let raw = cut(Some("node.token"), &names_alone, 4_096);
    assert_eq!(names(&raw), ["nodeId", "deltas", TRUNCATED, "bytes", "preview"]);
    assert_eq!(raw.view().get("preview").and_then(View::str).as_deref(), Some(""));
    let wide = "漢".repeat(9_000);
    let error = format!(
        r#"{{"nodeId":"{wide}","instanceId":"{wide}","error":{{"name":"{wide}","message":"{wide}","stack":"{wide}"}}}}"#
    );
    let raw = cut(Some("node.error"), &error, 3_000);
    assert_eq!(raw.view().get("nodeId").and_then(View::str).map(|id| id.chars().count()), Some(32 + 23));
    assert!(valid("node.error", &raw));
}

#[test]
fn k12_an_event_invalid_from_the_start_becomes_a_marker() {
    let broken = format!(r#"{{"nodeId":"n","status":"done","durationMs":1,"output":"{}"}}"#, long(9_000));
    assert_eq!(names(&cut(Some("node.finished"), &broken, 8_000)), [TRUNCATED, "bytes", "preview"]);
    let mendable =
        format!(r#"{{"nodeId":"n","status":"ok","durationMs":1,"redaction":{{}},"output":"{}"}}"#, long(9_000));
    assert_eq!(names(&cut(Some("node.finished"), &mendable, 8_000)), [TRUNCATED, "bytes", "preview"]);
    for payload in [format!("\"{}\"", long(9_000)), format!("[[[\"{}\"]]]", long(9_000))] {
        assert_eq!(names(&cut(Some("node.finished"), &payload, 8_000)), [TRUNCATED, "bytes", "preview"]);
    }
}

#[test]
fn k13_proto_is_a_key_like_any_other() {
    let payload =
        format!(r#"{{"__proto__":{{"__proto__":1,"t":"{}"}},"constructor":{{"prototype":{{}}}}}}"#, long(9_000));
    let raw = cut(None, &payload, 8_000);
    let proto = raw.view().get("__proto__").unwrap();
    assert_eq!(proto.get("__proto__").and_then(View::u64), Some(1));
    assert_eq!(lost(&raw), ["__proto__"]);
}

#[test]
fn k15_depth_costs_neither_stack_nor_validity() {
    let deep = "{\"a\":".repeat(4_000) + "1" + &"}".repeat(4_000);
    let payload = format!(r#"{{"nodeId":"n","durationMs":1,"status":"ok","output":{deep}}}"#);
    let raw = cut(Some("node.finished"), &payload, 8_192);
    let mut level = raw.view().get("output").unwrap();
    for _ in 0..6 {
        level = level.get("a").unwrap();
    }
    assert_eq!(level.raw(), br#"{"__graphmindTruncated":true,"bytes":0,"preview":"[deeply nested]"}"#);
    let array = "[".repeat(4_000) + &"]".repeat(4_000);
    assert_eq!(names(&cut(None, &array, 4_096)), [TRUNCATED, "bytes", "preview"]);
}

#[test]
fn k16_a_huge_string_beside_a_deep_value_takes_one_call() {
    let deep = "[".repeat(4_000) + &"]".repeat(4_000);
    let text = long(17 << 20);
    let payload =
        format!(r#"{{"nodeId":"n","durationMs":1,"status":"ok","output":{{"deep":{deep},"text":"{text}"}}}}"#);
    let payload = Raw::check(payload.into(), crate::json::Limits::FRAME).unwrap().raw;
    let Shrunk::Cut(raw) = shrink(Some("node.finished"), &payload, BUDGET) else { panic!() };
    assert!(valid("node.finished", &raw) && raw.len() < BUDGET);
    assert_eq!(raw.view().get("output").and_then(|output| output.get("deep")).map(View::raw), Some(&b"[]"[..]));
}

#[test]
fn k17_cuts_count_units_and_may_split_a_pair() {
    let check = |text: &str, expected: &str| {
        let raw = cut(None, &format!(r#"{{"t":"{text}"}}"#), 16_000);
        let kept = raw.view().get("t").map(View::raw).map(String::from_utf8_lossy);
        assert!(kept.as_ref().is_some_and(|kept| kept.ends_with(expected)), "{kept:?}");
    };
    check(&"é".repeat(9_000), "éé…[graphmind: truncated]\"");
    check(&format!("a{}", "😀".repeat(5_000)), "😀\\ud83d…[graphmind: truncated]\"");
    check(&format!("a{}", r"\uD83D\uDE00".repeat(5_000)), "😀\\ud83d…[graphmind: truncated]\"");
    check(&r"\ud800".repeat(3_000), "\\ud800\\ud800…[graphmind: truncated]\"");
    check(&format!("{}{}", "a".repeat(1_999), "\\n".repeat(9_000)), "aa\\n…[graphmind: truncated]\"");
    check(&format!("{}😀\",\"x\":\"{}", "a".repeat(1_998), long(19_000)), "aa😀\"");
}

#[test]
fn names_the_marker_shares_with_the_payload_are_replaced_in_place() {
    let payload = format!(r#"{{"bytes":1,"fields":2,"o":{{"preview":1,"t":"{}","bytes":2}},"bytes":3}}"#, long(9_000));
    let raw = cut(None, &payload, 8_000);
    assert_eq!(names(&raw), ["bytes", "fields", "o", TRUNCATED, "preview"]);
    assert_eq!(lost(&raw), ["o"]);
    let output = raw.view().get("o").unwrap();
    assert_eq!(
        output.members().map(|(name, _)| name.to_lossy().into_owned()).collect::<Vec<_>>(),
        ["preview", "t", "bytes", TRUNCATED]
    );
}

#[test]
fn numbers_are_spelled_as_javascript_does() {
    let numbers = "1.0,-0,1e20,1E400,0.10,12345678901234567890,9007199254740993,999999999999999999999,1e-7,-0.0,100";
    let raw = cut(None, &format!(r#"{{"n":{{"a":{{}}}},"k":[{numbers}],"t":"{}"}}"#, long(19_000)), 19_000);
    let kept = raw.view().get("k").map(View::raw).map(String::from_utf8_lossy);
    let expected = "[1,0,100000000000000000000,null,0.1,12345678901234567000,9007199254740992,1e+21,1e-7,0,100]";
    assert_eq!(kept.as_deref(), Some(expected));
    // Sizes count this spelling too: 21 digits are worth five characters.
    let exact = Raw::parse(format!(r#"[999999999999999999999,"{}"]"#, long(990))).unwrap();
    assert_eq!((shrink(None, &exact, 1_000), shrink(None, &exact, 999) == Shrunk::Same), (Shrunk::Same, false));
}

/// Any JSON value, shallow but with odd names and strings.
fn value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        4 => "[a-c_é漢😀\"\\\\\n]{0,40}".prop_map(|text| Text::from(text.as_str())),
        1 => proptest::collection::vec(any::<u16>(), 0..40).prop_map(|units| Text::from_utf16(&units)),
        1 => ("[a😀é]", 0..6_000_usize).prop_map(|(one, times)| Text::from(one.repeat(times).as_str())),
        1 => proptest::sample::select(vec!["bytes", "preview", "fields", TRUNCATED, "keysDropped", "name", "error", "nodeId"]).prop_map(Text::from),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|double| crate::json::Number::from_f64(double).map_or(Value::Null, Value::Number)),
        text.clone().prop_map(Value::String),
    ];
    leaf.prop_recursive(8, 60, 12, move |inner| {
        let member = (text.clone(), inner.clone());
        prop_oneof![
            proptest::collection::vec(inner, 0..12).prop_map(Value::Array),
            proptest::collection::vec(member, 0..12).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn shrinking_keeps_its_budget_and_is_idempotent(value in value(), budget in 600_usize..9_000) {
        let payload = Raw::from_value(&value);
        let raw = shrink(None, &payload, budget).or(&payload).into_owned();
        prop_assert!(raw.len() <= budget);
        prop_assert_eq!(Raw::parse(raw.bytes().clone()), Ok(raw.clone()), "still json");
        prop_assert_eq!(shrink(None, &raw, budget), Shrunk::Same);
    }

    #[test]
    fn k14_errors_of_any_content_stay_valid(texts in proptest::array::uniform4("[a漢😀\u{1}]{0,2000}"), more in value(), budget in 4_096_usize..40_000) {
        let [node, name, message, stack] = texts;
        let mut error = Object::new();
        error.insert("name", name);
        error.insert("message", message);
        error.insert("stack", stack);
        let mut payload = Object::new();
        payload.insert("nodeId", node);
        payload.insert("error", error);
        payload.insert("more", more);
        let payload = Raw::from_value(&payload.into());
        let raw = shrink(Some("node.error"), &payload, budget).or(&payload).into_owned();
        prop_assert!(raw.len() <= budget && valid("node.error", &raw));
        prop_assert_eq!(shrink(Some("node.error"), &raw, budget), Shrunk::Same);
    }
}
