//! Typed results from what a person types: one table for adapter and proxy (wire §6.5).

use crate::json::{Kind, ObjectWriter, Raw, View, write};

/// A value as the result of a tool call. `None` is what a viewer sends when nothing was typed.
pub fn tool(value: Option<&Raw>) -> Raw {
    let Some(value) = value else { return Raw::trusted(br#"{"content":[]}"#.as_slice()) };
    let view = value.view();
    let is_object = view.kind() == Kind::Object;
    if is_array(view.get("content")) || is_object && view.get("structuredContent").is_some() {
        return value.clone();
    }
    Raw::object(|out| {
        out.array("content", [text_of(view)], |out, text| text_block(out, &text));
        if is_object {
            out.raw("structuredContent", value);
        }
    })
}

/// A value as the result of reading the resource at `uri`.
pub fn resource(value: Option<&Raw>, uri: Option<&str>) -> Raw {
    let null = Raw::null();
    let value = value.unwrap_or(&null);
    let view = value.view();
    if is_array(view.get("contents")) {
        return value.clone();
    }
    Raw::object(|out| {
        out.objects("contents", [text_of(view)], |out, text| {
            out.str("uri", uri.unwrap_or("graphmind://injected"));
            if view.kind() != Kind::String {
                out.str("mimeType", "application/json");
            }
            out.raw("text", &text);
        });
    })
}

/// A value as the result of getting a prompt.
pub fn prompt(value: Option<&Raw>) -> Raw {
    let null = Raw::null();
    let value = value.unwrap_or(&null);
    let view = value.view();
    if is_array(view.get("messages")) {
        return value.clone();
    }
    Raw::object(|out| {
        out.objects("messages", [text_of(view)], |out, text| {
            out.str("role", "user").object("content", |out| block(out, &text));
        });
    })
}

/// A value as the answer of a model.
pub fn sampling(value: Option<&Raw>) -> Raw {
    let null = Raw::null();
    let value = value.unwrap_or(&null);
    let view = value.view();
    if view.get("content").is_some() {
        return value.clone();
    }
    Raw::object(|out| {
        out.str("model", "graphmind-injected").str("role", "assistant");
        out.object("content", |out| block(out, &text_of(view))).str("stopReason", "endTurn");
    })
}

/// What a result needs beside its own members when its request was stateless (hub §12.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stamp {
    /// `resultType`
    Result,
    /// `resultType`, `ttlMs` and `cacheScope`, as `resources/read` needs them.
    Cached,
}

/// Adds the members a stateless result must have, where it lacks them. Only objects are changed.
pub fn stateless(result: Raw, stamp: Stamp) -> Raw {
    let view = result.view();
    if view.kind() != Kind::Object {
        return result;
    }
    let mut missing: Vec<(&str, &[u8])> = vec![("resultType", b"\"complete\"")];
    if stamp == Stamp::Cached {
        missing.extend([("ttlMs", b"0".as_slice()), ("cacheScope", b"\"private\"")]);
    }
    missing.retain(|(name, _)| view.get(name).is_none());
    if missing.is_empty() {
        return result;
    }
    let mut text = view.raw().to_vec();
    text.pop();
    let mut empty = view.pairs().next().is_none();
    for (name, value) in missing {
        if !empty {
            text.push(b',');
        }
        empty = false;
        text.extend_from_slice(Raw::string(name).as_bytes());
        text.push(b':');
        text.extend_from_slice(value);
    }
    text.push(b'}');
    Raw::trusted(text)
}

/// The text of a block, as a JSON string: a string as it is, anything else as its compact JSON.
fn text_of(view: View<'_>) -> Raw {
    if view.kind() == Kind::String {
        return Raw::from(view);
    }
    let mut json = Vec::new();
    match view.to_value() {
        Ok(value) => write(&value, &mut json),
        // Deeper than anybody builds trees: as it was typed.
        Err(_) => json.extend_from_slice(view.raw()),
    }
    Raw::string(&String::from_utf8_lossy(&json))
}

fn text_block(out: &mut Vec<u8>, text: &Raw) {
    let mut writer = ObjectWriter::new(out);
    block(&mut writer, text);
    writer.end();
}

fn block(out: &mut ObjectWriter<'_>, text: &Raw) {
    out.str("type", "text").raw("text", text);
}

fn is_array(view: Option<View<'_>>) -> bool {
    view.is_some_and(|view| view.kind() == Kind::Array)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Lift = fn(Option<&Raw>) -> Raw;

    #[track_caller]
    fn check(lift: Lift, value: &str, expected: &str) {
        let value = (!value.is_empty()).then(|| Raw::parse(value.to_owned()).expect("a JSON text"));
        let lifted = lift(value.as_ref());
        assert_eq!(format!("{lifted:?}"), expected);
        Raw::parse(lifted.bytes().clone()).expect("what is lifted is JSON");
    }

    #[test]
    fn m09_m13_tools() {
        let same = |value: &str| check(tool, value, value);
        same(r#"{"content":[],"isError":true}"#);
        same(r#"{ "structuredContent": null }"#);
        check(tool, "", r#"{"content":[]}"#);
        check(tool, r#""a\"b""#, r#"{"content":[{"type":"text","text":"a\"b"}]}"#);
        check(
            tool,
            r#"{ "a": 1e2 }"#,
            r#"{"content":[{"type":"text","text":"{\"a\":1e2}"}],"structuredContent":{ "a": 1e2 }}"#,
        );
        check(
            tool,
            r#"{"content":"x"}"#,
            r#"{"content":[{"type":"text","text":"{\"content\":\"x\"}"}],"structuredContent":{"content":"x"}}"#,
        );
        check(tool, "[1, 2]", r#"{"content":[{"type":"text","text":"[1,2]"}]}"#);
        check(tool, "null", r#"{"content":[{"type":"text","text":"null"}]}"#);
        check(tool, "false", r#"{"content":[{"type":"text","text":"false"}]}"#);
    }

    #[test]
    fn m09_m13_resources() {
        let lift: Lift = |value| resource(value, Some("file:///a"));
        check(lift, r#"{"contents":[]}"#, r#"{"contents":[]}"#);
        check(lift, r#""hi""#, r#"{"contents":[{"uri":"file:///a","text":"hi"}]}"#);
        check(lift, "7", r#"{"contents":[{"uri":"file:///a","mimeType":"application/json","text":"7"}]}"#);
        check(
            |value| resource(value, None),
            "",
            r#"{"contents":[{"uri":"graphmind://injected","mimeType":"application/json","text":"null"}]}"#,
        );
    }

    #[test]
    fn m09_m13_prompts_and_models() {
        check(prompt, r#"{"messages":[]}"#, r#"{"messages":[]}"#);
        check(prompt, r#""hi""#, r#"{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}]}"#);
        check(prompt, "{}", r#"{"messages":[{"role":"user","content":{"type":"text","text":"{}"}}]}"#);
        check(sampling, r#"{"content":1}"#, r#"{"content":1}"#);
        check(
            sampling,
            r#""yes""#,
            r#"{"model":"graphmind-injected","role":"assistant","content":{"type":"text","text":"yes"},"stopReason":"endTurn"}"#,
        );
    }

    #[test]
    fn a_value_deeper_than_a_tree_is_lifted_as_typed() {
        let deep = format!("{}{}", "[".repeat(3_000), "]".repeat(3_000));
        let lifted = tool(Some(&Raw::parse(deep.clone()).expect("a JSON text")));
        assert_eq!(format!("{lifted:?}"), format!(r#"{{"content":[{{"type":"text","text":"{deep}"}}]}}"#));
    }

    #[track_caller]
    fn check_stamp(stamp: Stamp, result: &str, expected: &str) {
        let result = Raw::parse(result.to_owned()).expect("a JSON text");
        assert_eq!(format!("{:?}", stateless(result, stamp)), expected);
    }

    #[test]
    fn stamps_fill_what_is_missing() {
        check_stamp(Stamp::Result, "{}", r#"{"resultType":"complete"}"#);
        check_stamp(Stamp::Result, r#"{"resultType":"task"}"#, r#"{"resultType":"task"}"#);
        check_stamp(Stamp::Result, "[]", "[]");
        check_stamp(
            Stamp::Cached,
            r#"{"contents":[],"ttlMs":5 }"#,
            r#"{"contents":[],"ttlMs":5 ,"resultType":"complete","cacheScope":"private"}"#,
        );
    }
}
