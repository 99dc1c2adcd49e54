//! What is recorded of values that are a server's secret or a person's answer: states of rounds and elicited values are shortened
//! wherever they stand (hub N08). What goes over the wire is not touched here.

use lockgate_protocol::json::{Kind, Raw, View};
use lockgate_protocol::mcp::Params;

use crate::rules::LIMITS;

/// Who gives the answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answerer {
    /// Whoever sits at the client.
    Person,
    Program,
}

impl Answerer {
    pub(super) fn of(method: &str) -> Answerer {
        if method.starts_with("elicitation/") { Answerer::Person } else { Answerer::Program }
    }
}

/// The parameters of a request.
pub(crate) fn params(whole: &Raw, read: &Params<'_>) -> Raw {
    if read.request_state.is_none() && read.input_responses.is_none() {
        return whole.clone();
    }
    rewritten(whole.view(), |name, value| match () {
        () if name.is("requestState") => Some(state(value)),
        () if name.is("inputResponses") => Some(answers(value)),
        () => None,
    })
}

/// What came back.
pub(super) fn output(whole: &Raw, answerer: Answerer) -> Raw {
    match answerer {
        Answerer::Person => elicited(whole.view()),
        // Reading every result once more would be dear; the word has to be in it.
        Answerer::Program if memchr::memmem::find(whole.as_bytes(), b"requestState").is_none() => whole.clone(),
        Answerer::Program if whole.view().kind() != Kind::Object => whole.clone(),
        Answerer::Program => rewritten(whole.view(), |name, value| name.is("requestState").then(|| state(value))),
    }
}

/// Answers to the questions of a round. Those of a model or about roots are told by their form, as nobody says which is which.
fn answers(all: View<'_>) -> Raw {
    let by_program = |answer: View<'_>| {
        let has = |name| answer.get(name).is_some();
        !has("action") && (has("role") || has("roots"))
    };
    match all.kind() {
        Kind::Object => rewritten(all, |_, answer| (!by_program(answer)).then(|| elicited(answer))),
        _ => cut(all, 0),
    }
}

/// What a person answered: whether they did stays, what they said does not.
fn elicited(answer: View<'_>) -> Raw {
    match answer.kind() {
        Kind::Object => rewritten(answer, |name, value| (!name.is("action")).then(|| cut(value, 0))),
        _ => cut(answer, 0),
    }
}

/// Every text and number in a value shortened, so that none of them is there whole.
fn cut(value: View<'_>, depth: usize) -> Raw {
    match value.kind() {
        Kind::Null | Kind::Bool => Raw::from(value),
        Kind::Number => shortened(&String::from_utf8_lossy(value.raw()), FEW),
        Kind::String => shortened(&value.text().map(|text| text.to_lossy().into_owned()).unwrap_or_default(), FEW),
        Kind::Object | Kind::Array if depth == DEEPEST => Raw::string(MORE),
        Kind::Object => rewritten(value, |_, member| Some(cut(member, depth + 1))),
        Kind::Array => {
            let items: Vec<Raw> = value.items().map(|item| cut(item, depth + 1)).collect();
            let items: Vec<&[u8]> = items.iter().map(Raw::as_bytes).collect();
            checked([b"[", &items.join(&b","[..])[..], b"]"].concat())
        }
    }
}

fn state(value: View<'_>) -> Raw {
    if value.raw().len() <= STATE {
        return Raw::from(value);
    }
    let text = value.str().unwrap_or_else(|| String::from_utf8_lossy(value.raw()));
    shortened(&text, STATE / 2)
}

/// The beginning of a text, and never more than half of it.
fn shortened(text: &str, most: usize) -> Raw {
    let length = text.chars().take(2 * most).count();
    let mut short: String = text.chars().take(most.min(length / 2)).collect();
    if length > 0 {
        short.push_str(MORE);
    }
    Raw::string(&short)
}

/// An object of which some members are written otherwise and all others as they came.
fn rewritten(object: View<'_>, other: impl Fn(View<'_>, View<'_>) -> Option<Raw>) -> Raw {
    let mut text = vec![b'{'];
    for (place, (name, value)) in object.pairs().enumerate() {
        if place > 0 {
            text.push(b',');
        }
        text.extend_from_slice(name.raw());
        text.push(b':');
        match other(name, value) {
            Some(other) => text.extend_from_slice(other.as_bytes()),
            None => text.extend_from_slice(value.raw()),
        }
    }
    text.push(b'}');
    checked(text)
}

fn checked(text: Vec<u8>) -> Raw {
    Raw::check(text.into(), LIMITS).map_or_else(|_| Raw::string(MORE), |checked| checked.raw)
}

/// A state up to so many bytes is recorded whole.
const STATE: usize = 32;
/// Characters of an elicited value that are recorded.
const FEW: usize = 4;
/// Elicited forms are flat; what is nested deeper than this is not recorded.
const DEEPEST: usize = 8;
const MORE: &str = "…";

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Raw {
        Raw::parse(text.to_owned()).expect("a JSON text")
    }

    #[track_caller]
    fn check_params(whole: &str, expected: &str) {
        let whole = raw(whole);
        assert_eq!(format!("{:?}", params(&whole, &Params::read(whole.view()))), expected);
    }

    #[track_caller]
    fn check_output(whole: &str, answerer: Answerer, expected: &str) {
        assert_eq!(format!("{:?}", output(&raw(whole), answerer)), expected);
    }

    #[test]
    fn n08_elicited_values_are_shortened_and_what_a_program_said_is_not() {
        check_params(
            r#"{"name":"pay", "inputResponses":{"who":{"action":"accept","content":{"pin":"hunter2","n":123456,"ok":true,"all":["left","r"]}},"say":{"role":"assistant","content":"whole"},"at":{"roots":[]},"odd":"secret"}}"#,
            r#"{"name":"pay","inputResponses":{"who":{"action":"accept","content":{"pin":"hun…","n":"123…","ok":true,"all":["le…","…"]}},"say":{"role":"assistant","content":"whole"},"at":{"roots":[]},"odd":"sec…"}}"#,
        );
        check_params(r#"{"inputResponses":["secret"]}"#, r#"{"inputResponses":["sec…"]}"#);
        check_params(r#"{ "n" : 1e400 }"#, r#"{ "n" : 1e400 }"#);
        let whole = r#"{"action":"accept","content":{"name":"Alexandria","note":""},"role":"x"}"#;
        let short = r#"{"action":"accept","content":{"name":"Alex…","note":""},"role":"…"}"#;
        check_output(whole, Answerer::Person, short);
        check_output(whole, Answerer::Program, whole);
        check_output("\"secret\"", Answerer::Person, "\"sec…\"");
    }

    #[test]
    fn n08_states_are_shortened_wherever_they_stand_also_when_they_are_repeated() {
        let long = "s".repeat(500);
        let short = format!("{}…", "s".repeat(16));
        for state in [format!("\"{long}\""), format!("[{long:?}]")] {
            let twice = raw(&format!(r#"{{"requestState":{state},"request\u0053tate":{state}}}"#));
            let found = format!("{:?}", params(&twice, &Params::read(twice.view())));
            assert!(found.len() < 120, "{found}");
        }
        check_output(
            &format!(r#"{{"requestState":"{long}","n":1}}"#),
            Answerer::Program,
            &format!(r#"{{"requestState":"{short}","n":1}}"#),
        );
        check_output(r#"["requestState"]"#, Answerer::Program, r#"["requestState"]"#);
        check_params(r#"{"requestState":"opaque"}"#, r#"{"requestState":"opaque"}"#);
    }

    #[test]
    fn deep_answers_are_not_followed() {
        let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
        let whole = Raw::check(deep.into(), LIMITS).expect("JSON").raw;
        assert_eq!(format!("{:?}", output(&whole, Answerer::Person)), "[[[[[[[[\"…\"]]]]]]]]");
    }
}
