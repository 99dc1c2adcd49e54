//! Signs that a value was copied from a recording that had lost something, or tries to reach a prototype.

use crate::debug::RefusalCode;
use crate::json::{Kind, View, write};

/// Looks for markers of redaction and truncation anywhere in a value: in strings, in names, across nesting (wire §3.3).
pub fn forbidden(view: View<'_>) -> Option<RefusalCode> {
    let Ok(value) = view.to_value() else { return Some(RefusalCode::Shape) };
    let mut text = Vec::new();
    write(&value, &mut text);
    let holds = |marker: &&str| memchr::memmem::find(&text, marker.as_bytes()).is_some();
    if holds(&PLACEHOLDER) {
        return Some(RefusalCode::Placeholder);
    }
    TRUNCATED.iter().any(holds).then_some(RefusalCode::Truncated)
}

/// Whether a value names `__proto__`, or a `constructor` with a `prototype`, at any depth (wire §3.2).
pub fn pollutes(view: View<'_>) -> bool {
    let mut left = vec![view];
    while let Some(view) = left.pop() {
        left.extend(view.items().filter(|item| is_container(*item)));
        for (name, value) in view.pairs() {
            if name.is("__proto__") || name.is("constructor") && value.get("prototype").is_some() {
                return true;
            }
            if is_container(value) {
                left.push(value);
            }
        }
    }
    false
}

fn is_container(view: View<'_>) -> bool {
    matches!(view.kind(), Kind::Array | Kind::Object)
}

const PLACEHOLDER: &str = "__REDACTED__";
const TRUNCATED: &[&str] = &[
    "__graphmindTruncated",
    "…[graphmind: truncated]",
    "\"__graphmind\":\"truncated\"",
    "\"__graphmind\":\"unserializable\"",
    "\"note\":\"payload truncated: showing first",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Raw;

    #[track_caller]
    fn check(value: &str, expected: Option<RefusalCode>) {
        assert_eq!(forbidden(Raw::parse(value.to_owned()).expect("a JSON text").view()), expected, "{value}");
    }

    #[test]
    fn markers_are_found_wherever_they_hide() {
        check(r#"{"a":["x __REDACTED__ y"]}"#, Some(RefusalCode::Placeholder));
        check(r#"{"__REDACTED__":1}"#, Some(RefusalCode::Placeholder));
        check(r#""__REDACTED\u005f_""#, Some(RefusalCode::Placeholder));
        check(r#"{"__graphmindTruncated" : true}"#, Some(RefusalCode::Truncated));
        check(r#"["long…[graphmind: truncated]"]"#, Some(RefusalCode::Truncated));
        check(r#"["long\u2026[graphmind: truncated]"]"#, Some(RefusalCode::Truncated));
        check(r#"{"__graphmind" :  "truncated"}"#, Some(RefusalCode::Truncated));
        check(r#"{"__graphmind":"unserializable"}"#, Some(RefusalCode::Truncated));
        check(r#"{"note": "payload truncated: showing first 10"}"#, Some(RefusalCode::Truncated));
        check(r#"{"__graphmind":"fine","redacted":true}"#, None);
        check(&format!("{}{}", "[".repeat(600), "]".repeat(600)), Some(RefusalCode::Shape));
    }

    #[track_caller]
    fn check_pollution(value: &str, expected: bool) {
        assert_eq!(pollutes(Raw::parse(value.to_owned()).expect("a JSON text").view()), expected, "{value}");
    }

    #[test]
    fn prototypes_are_out_of_reach() {
        check_pollution(r#"{"a":[{"b":{"__proto__":1}}]}"#, true);
        check_pollution(r#"{"\u005f_proto__":{}}"#, true);
        check_pollution(r#"{"constructor":{"prototype":{}}}"#, true);
        check_pollution(r#"{"constructor":"Ford","prototype":1}"#, false);
        check_pollution(r#"["__proto__"]"#, false);
    }
}
