//! JSON with line breaks for readers; numbers keep their spelling.

use lockgate_protocol::json::{Value, write, write_text};

pub(super) fn pretty(value: &Value) -> String {
    let mut out = Vec::new();
    put(value, 0, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn put(value: &Value, depth: usize, out: &mut Vec<u8>) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            out.push(b'[');
            for (at, item) in items.iter().enumerate() {
                line(at, depth + 1, out);
                put(item, depth + 1, out);
            }
            line(0, depth, out);
            out.push(b']');
        }
        Value::Object(members) if !members.is_empty() => {
            out.push(b'{');
            for (at, (name, value)) in members.iter().enumerate() {
                line(at, depth + 1, out);
                write_text(name, out);
                out.extend_from_slice(b": ");
                put(value, depth + 1, out);
            }
            line(0, depth, out);
            out.push(b'}');
        }
        other => write(other, out),
    }
}

fn line(at: usize, depth: usize, out: &mut Vec<u8>) {
    if at > 0 {
        out.push(b',');
    }
    out.push(b'\n');
    out.extend(std::iter::repeat_n(b' ', depth * 2));
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_protocol::json::Raw;

    #[test]
    fn lines_and_spelling() {
        let value = Raw::parse(r#"{"a":[1e400,{}],"b":{"c":null},"d":[]}"#).and_then(|raw| raw.to_value());
        let expected = "{\n  \"a\": [\n    1e400,\n    {}\n  ],\n  \"b\": {\n    \"c\": null\n  },\n  \"d\": []\n}";
        assert_eq!(pretty(&value.expect("JSON")), expected);
    }
}
