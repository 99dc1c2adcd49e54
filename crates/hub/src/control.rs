//! The words of a resume over HTTP (hub §7, §8): what a body must look like, and which ids and names are taken as they are.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use lockgate_protocol::debug::ResumeAction;
use lockgate_protocol::json::{Kind, Raw, View};

use crate::credentials::random_hex;
use crate::live::RequestId;

/// A resume as it stands in a body.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) action: ResumeAction,
    pub(crate) output: Option<Raw>,
    pub(crate) input: Option<Raw>,
    pub(crate) pin: Option<String>,
    pub(crate) request: RequestId,
    pub(crate) operator: Option<Arc<str>>,
    pub(crate) wait: Duration,
}

/// What is wrong with a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadBody {
    #[error("body: expected a JSON object")]
    NoObject,
    #[error("timeoutMs: expected an integer from 1000 to 120000")]
    Timeout,
    #[error("action: expected continue, retry, inject or abort")]
    Action,
    #[error("requestId: expected a string")]
    RequestId,
    #[error("pin: expected a string")]
    Pin,
}

impl Body {
    pub(crate) fn read(text: Bytes) -> Result<Body, BadBody> {
        let raw = Raw::parse(text).map_err(|_| BadBody::NoObject)?;
        let view = raw.view();
        if view.kind() != Kind::Object {
            return Err(BadBody::NoObject);
        }
        let wait = match view.get("timeoutMs") {
            None => DEFAULT_WAIT,
            Some(ms) => ms
                .u64()
                .filter(|ms| (1_000..=120_000).contains(ms))
                .map(Duration::from_millis)
                .ok_or(BadBody::Timeout)?,
        };
        let action = view.get("action").and_then(View::str).and_then(|word| ResumeAction::parse(&word));
        let text = |name: &str, error: BadBody| match view.get(name) {
            None => Ok(None),
            Some(text) => text.str().map(|text| Some(text.into_owned())).ok_or(error),
        };
        let part = |name: &str| view.get(name).map(|value| raw.part(value));
        Ok(Body {
            wait,
            action: action.ok_or(BadBody::Action)?,
            output: part("output"),
            input: part("input"),
            pin: text("pin", BadBody::Pin)?,
            request: request_id(text("requestId", BadBody::RequestId)?.as_deref()),
            operator: view.get("operator").and_then(operator),
        })
    }
}

/// The id somebody chose, if it is plain enough to be shown anywhere; else a new one.
pub(crate) fn request_id(theirs: Option<&str>) -> RequestId {
    let plain = |id: &&str| {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b':' | b'-');
        (1..=128).contains(&id.len()) && id.bytes().all(allowed)
    };
    match theirs.filter(plain) {
        Some(id) => RequestId::Theirs(id.into()),
        None => RequestId::Ours(uuid().into()),
    }
}

/// A name for display: one line of visible characters, at most 64 of them.
pub(crate) fn operator(name: View<'_>) -> Option<Arc<str>> {
    let name = name.str()?;
    let words = name.split(|one: char| one.is_whitespace() || !is_visible(one)).filter(|word| !word.is_empty());
    let mut shown: String = words.collect::<Vec<_>>().join(" ").chars().take(64).collect();
    shown.truncate(shown.trim_end().len());
    (!shown.is_empty()).then(|| shown.into())
}

/// Not a control, not invisible, not one that turns the direction of text, and assigned to something.
fn is_visible(one: char) -> bool {
    !one.is_control()
        && !matches!(one, '\u{AD}' | '\u{61C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF0}'..='\u{FFFB}' | '\u{E000}'..='\u{F8FF}' | '\u{E0000}'..)
}

/// Version 4, random.
fn uuid() -> String {
    let hex = random_hex().unwrap_or_else(|_| "0".repeat(32));
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    format!("{}-{}-4{}-a{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}

const DEFAULT_WAIT: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::{BadBody, Body, Raw, RequestId, operator, request_id};

    fn check(body: &str, expected: Option<BadBody>) {
        assert_eq!(Body::read(body.to_owned().into()).err(), expected, "{body}");
    }

    #[test]
    fn bodies() {
        check(r#"{"action":"continue"}"#, None);
        check(r#"{"action":"inject","output":null,"timeoutMs":1000,"operator":7,"unknown":1}"#, None);
        for body in ["", "{", "[]", "null", "\"x\""] {
            check(body, Some(BadBody::NoObject));
        }
        for ms in ["999", "120001", "1000.5", "\"5000\"", "null", "-1"] {
            check(&format!(r#"{{"timeoutMs":{ms}}}"#), Some(BadBody::Timeout));
        }
        for action in ["", r#""action":"jump""#, r#""action":1"#, r#""action":null"#] {
            check(&format!("{{{action}}}"), Some(BadBody::Action));
        }
        check(r#"{"action":"abort","requestId":7}"#, Some(BadBody::RequestId));
        check(r#"{"action":"abort","pin":{}}"#, Some(BadBody::Pin));
        check(r#"{"action":"jump","timeoutMs":1}"#, Some(BadBody::Timeout));
    }

    #[test]
    fn request_ids_are_plain_or_ours() {
        let theirs = |id: &str| matches!(request_id(Some(id)), RequestId::Theirs(text) if &*text == id);
        assert!(theirs("aZ0._:-"));
        assert!(theirs(&"x".repeat(128)));
        for id in ["", "a b", "é", "a\n", "a/b", &"x".repeat(129)] {
            assert!(!theirs(id), "{id}");
        }
        let RequestId::Ours(minted) = request_id(None) else { panic!("none was given") };
        assert_eq!(minted.len(), 36);
        assert_eq!(minted.match_indices('-').map(|(at, _)| at).collect::<Vec<_>>(), [8, 13, 18, 23]);
        assert_ne!(*minted, **request_id(None).text());
    }

    #[test]
    fn operators_are_one_visible_line() {
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(operator(Raw::string(name).view()).as_deref(), expected, "{name:?}");
        };
        check("  Ada \t Löve🙂 ", Some("Ada Löve🙂"));
        check("a\u{202e}b\u{0}c\u{200b}d", Some("a b c d"));
        check(&"x".repeat(70), Some(&"x".repeat(64)));
        check(&format!("{} y", "x".repeat(63)), Some(&"x".repeat(63)));
        check(" \n\u{feff}", None);
        assert_eq!(operator(Raw::null().view()), None);
    }
}
