//! Signs that a value was copied from a recording that had lost something, or tries to reach a prototype.

use crate::debug::RefusalCode;
use crate::json::{Token, Tokens, View, write};

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
    // Of each container that is open: whether it stands under the name `constructor`.
    let mut open = Vec::new();
    let mut constructor = false;
    for token in Tokens::of(view) {
        match token {
            Token::OpenArray => open.push(false),
            Token::OpenObject => open.push(constructor),
            Token::CloseArray | Token::CloseObject => drop(open.pop()),
            Token::Name(name) if name.is("__proto__") => return true,
            Token::Name(name) if name.is("prototype") && open.last() == Some(&true) => return true,
            Token::Name(_) | Token::Scalar(_) => {}
        }
        constructor = matches!(token, Token::Name(name) if name.is("constructor"));
    }
    false
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
        check_pollution(r#"{"constructor":[{"prototype":1}]}"#, false);
        check_pollution(r#"{"constructor":{"a":{"prototype":1}}}"#, false);
        check_pollution(r#"[{"x":{},"constructor":{"a":{},"b":[1],"\u0070rototype":1}}]"#, true);
    }

    #[test]
    fn depth_does_not_multiply_the_work() {
        let (levels, long) = (500, "x".repeat(4 << 20));
        let deep = format!("{}\"{long}\"{}", "{\"a\":[".repeat(levels), "]}".repeat(levels));
        let deep = Raw::parse(deep).expect("a JSON text");
        let started = std::time::Instant::now();
        assert!(!pollutes(deep.view()));
        assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
    }
}
