//! Signs in an injected or edited value that it was copied from a recording which had lost something (hub §7): what the
//! wire forbids, and the spellings of the Python SDK.

use super::markers::forbidden;
use crate::debug::RefusalCode;
use crate::json::{View, write};

/// The code a hub refuses the value with, if any.
pub fn copied(value: View<'_>) -> Option<RefusalCode> {
    if let Some(code) = forbidden(value) {
        return Some(code);
    }
    let mut text = Vec::new();
    match value.to_value() {
        Ok(tree) => write(&tree, &mut text),
        Err(_) => return Some(RefusalCode::Shape),
    }
    let text = String::from_utf8(text).ok()?;
    python(&text).then_some(RefusalCode::Truncated)
}

fn python(text: &str) -> bool {
    let plain = ["…[truncated]", "…[depth limit]"];
    let counted = [("<", " bytes>"), ("…[", " more]"), ("[", " more keys]")];
    plain.iter().any(|marker| text.contains(marker)) || counted.iter().any(|(before, after)| holds(text, before, after))
}

/// Whether a number stands anywhere between the two.
fn holds(text: &str, before: &str, after: &str) -> bool {
    text.match_indices(after).any(|(end, _)| {
        let head = text.get(..end).unwrap_or_default();
        let open = head.trim_end_matches(|one: char| one.is_ascii_digit());
        open.len() < head.len() && open.ends_with(before)
    })
}

#[cfg(test)]
mod tests {
    use super::{RefusalCode, copied};
    use crate::json::Raw;

    fn check(value: &str, expected: Option<RefusalCode>) {
        assert_eq!(copied(Raw::parse(value.to_owned()).unwrap().view()), expected, "{value}");
    }

    #[test]
    fn losses_are_noticed() {
        check(r#"{"a":["__REDACTED__"]}"#, Some(RefusalCode::Placeholder));
        check(r#""x…[graphmind: truncated]""#, Some(RefusalCode::Truncated));
        check(r#""x\u2026[truncated]""#, Some(RefusalCode::Truncated));
        check(r#"["<12 bytes>"]"#, Some(RefusalCode::Truncated));
        check(r#"["…[depth limit]"]"#, Some(RefusalCode::Truncated));
        check(r#"["…[3 more]"]"#, Some(RefusalCode::Truncated));
        check(r#"{"[12 more keys]":1}"#, Some(RefusalCode::Truncated));
        check(&format!("{}{}", "[".repeat(600), "]".repeat(600)), Some(RefusalCode::Shape));
    }

    #[test]
    fn ordinary_text_is_not() {
        check(r#"["< bytes>","<x bytes>","12 bytes>","…[ more]","[many more keys]","3 more]"]"#, None);
        check(r#"{"note":"redacted","n":1e400}"#, None);
    }
}
