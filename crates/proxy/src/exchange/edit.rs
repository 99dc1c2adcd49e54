//! Edited arguments: what a person may propose for a held tool call, and how it gets into the bytes that came (hub §12.7).

use bytes::Bytes;
use lockgate_gate::Edit;
use lockgate_protocol::debug::RefusalCode;
use lockgate_protocol::edit::{self, Hidden, Refusal};
use lockgate_protocol::json::{Kind, Raw, View, canonical};
use lockgate_protocol::rpc::{Content, Frame, Source};

use crate::rules::LIMITS;

/// What an edit of one call is checked against.
#[derive(Debug, Clone)]
pub(super) struct Check {
    /// The parameters that were recorded, and so shown. Their arguments are those it has.
    pub(super) recorded: Raw,
    /// The tool's input schema, if it was listed.
    pub(super) schema: Option<Raw>,
    /// Whether a switch keeps the input back.
    pub(super) hidden: Hidden,
}

impl Check {
    /// `None` when the input cannot be edited: no parameters, or arguments that are no object.
    pub(super) fn edit(self) -> Option<Edit> {
        let recorded = self.recorded.view();
        let fits = recorded.get("arguments").is_none_or(|arguments| arguments.kind() == Kind::Object);
        let editable = fits && recorded.kind() == Kind::Object;
        editable.then(|| Edit::new(move |proposed| self.accept(&proposed)))
    }

    /// The parameters the call will have, as they are recorded: with the proposed arguments merged in.
    fn accept(&self, proposed: &Raw) -> Result<Raw, Refusal> {
        let no = |code, text: &str| Err(Refusal::new(code, text));
        if proposed.view().kind() != Kind::Object {
            return no(RefusalCode::Shape, "the edited input must have the form of the recorded one");
        }
        let recorded = self.recorded.view();
        for (name, value) in proposed.view().members().filter(|(name, _)| *name != "arguments") {
            let name = name.to_lossy();
            let same = |shown: View<'_>| canonical(shown, &[]) == canonical(value, &[]);
            if self.hidden == Hidden::Yes || !recorded.get(&name).is_some_and(same) {
                return no(RefusalCode::Shape, &format!("only arguments may differ, not {name}"));
            }
        }
        let Some(arguments) = proposed.view().get("arguments") else { return Ok(self.recorded.clone()) };
        let merged = edit::merge(recorded.get("arguments"), arguments, self.hidden)?;
        if let Some(schema) = &self.schema {
            edit::check(schema.view(), merged.view())
                .map_err(|issue| Refusal::new(RefusalCode::Schema, &issue.to_string()))?;
        }
        let text = with_arguments(&Source::of(self.recorded.clone()), recorded, merged.as_bytes());
        let checked = Raw::check(text, LIMITS);
        checked.map(|checked| checked.raw).map_err(|_| Refusal::new(RefusalCode::Shape, "the edited input is too deep"))
    }
}

/// The message with other arguments, every other byte as it was. Nothing when the edit has none.
pub(super) fn rewrite(source: &Source, edited: &Raw) -> Option<Source> {
    let arguments = edited.view().get("arguments")?;
    let params = source.raw().view().get("params")?;
    reread(&with_arguments(source, params, arguments.raw()))
}

/// The message with other parameters.
pub(super) fn replace_params(source: &Source, params: &Raw) -> Option<Source> {
    let bytes = match source.raw().view().get("params") {
        Some(live) => source.replace(live, params.as_bytes()),
        None => source.add(source.raw().view(), "params", params.as_bytes()),
    };
    reread(&bytes)
}

/// The message with other answers to one question of an earlier round.
pub(super) fn replace_part(source: &Source, part: View<'_>, with: &[u8]) -> Option<Source> {
    reread(&source.replace(part, with))
}

fn with_arguments(source: &Source, params: View<'_>, arguments: &[u8]) -> Bytes {
    match params.get("arguments") {
        Some(live) => source.replace(live, arguments),
        None => source.add(params, "arguments", arguments),
    }
}

/// A changed message, read again so that places in it are right.
pub(super) fn reread(bytes: &Bytes) -> Option<Source> {
    match Frame::read(bytes, LIMITS).ok()?.content {
        Content::Single(spoken) => Some(spoken.source),
        Content::Batch { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Raw {
        Raw::parse(text.to_owned()).expect("a JSON text")
    }

    #[track_caller]
    fn check_edit(live: &str, proposed: &str, hidden: Hidden, expected: &str) {
        let schema = raw(r#"{"type":"object","properties":{"n":{"type":"number"}}}"#);
        let check = Check { recorded: raw(live), schema: Some(schema), hidden };
        let found = match check.accept(&raw(proposed)) {
            Ok(accepted) => format!("{accepted:?}"),
            Err(refusal) => format!("{}: {}", refusal.code, refusal.message.unwrap_or_default()),
        };
        assert_eq!(found, expected);
    }

    const LIVE: &str = r#"{"name":"pay", "arguments":{"n":1.50,"to":"x"},"_meta":{"progressToken":1e400}}"#;

    #[test]
    fn only_arguments_change_and_only_where_they_were_changed() {
        check_edit(
            LIVE,
            r#"{"arguments":{"n":2}}"#,
            Hidden::No,
            r#"{"name":"pay", "arguments":{"n":2,"to":"x"},"_meta":{"progressToken":1e400}}"#,
        );
        check_edit(
            LIVE,
            r#"{"arguments":{"n":2},"name":"p\u0061y"}"#,
            Hidden::No,
            r#"{"name":"pay", "arguments":{"n":2,"to":"x"},"_meta":{"progressToken":1e400}}"#,
        );
        check_edit(LIVE, r#"{"name":"steal"}"#, Hidden::No, "shape: only arguments may differ, not name");
        check_edit(LIVE, r#"{"task":{}}"#, Hidden::No, "shape: only arguments may differ, not task");
        check_edit(LIVE, "{}", Hidden::No, LIVE);
        check_edit(LIVE, "[]", Hidden::No, "shape: the edited input must have the form of the recorded one");
        check_edit(LIVE, r#"{"arguments":[]}"#, Hidden::No, "shape: the edited input must be a JSON object");
        check_edit(LIVE, r#"{"arguments":{"n":"secret"}}"#, Hidden::No, "schema: type not allowed: /n");
        check_edit(
            r#"{"name":"pay"}"#,
            r#"{"arguments":{"n":1}}"#,
            Hidden::No,
            r#"{"name":"pay","arguments":{"n":1}}"#,
        );
    }

    #[test]
    fn what_is_hidden_is_neither_compared_nor_kept() {
        check_edit(
            LIVE,
            r#"{"arguments":{"n":2}}"#,
            Hidden::Yes,
            r#"{"name":"pay", "arguments":{"n":2},"_meta":{"progressToken":1e400}}"#,
        );
        check_edit(
            LIVE,
            r#"{"arguments":{"n":2},"name":"pay"}"#,
            Hidden::Yes,
            "shape: only arguments may differ, not name",
        );
    }

    #[test]
    fn n08_what_was_recorded_short_may_come_back_short_and_stays_so() {
        let recorded = raw(r#"{"requestState":"a lo…","arguments":{}}"#);
        let check = Check { recorded, schema: None, hidden: Hidden::No };
        let accepted =
            check.accept(&raw(r#"{"requestState":"a lo…","arguments":{"n":1}}"#)).expect("nothing else differs");
        assert_eq!(format!("{accepted:?}"), r#"{"requestState":"a lo…","arguments":{"n":1}}"#);
        assert!(check.accept(&raw(r#"{"requestState":"a long secret"}"#)).is_err());
    }

    #[test]
    fn what_cannot_be_edited() {
        let editable = |params: &str| {
            let check = Check { recorded: raw(params), schema: None, hidden: Hidden::No };
            check.edit().is_some()
        };
        assert!(!editable("[]") && !editable(r#"{"arguments":[]}"#) && editable(r#"{"name":"x"}"#));
    }

    #[test]
    fn every_other_byte_survives() {
        let line = Bytes::from_static(b" {\"id\":18446744073709551616, \"method\":\"tools/call\",\"params\":{\"arguments\" : {\"a\":1} ,\"_meta\":{\"n\":1e400}}}\r\n");
        let Content::Single(spoken) = Frame::read(&line, LIMITS).expect("JSON").content else { panic!("one message") };
        let rewritten = rewrite(&spoken.source, &raw(r#"{"arguments":{"a":2}}"#)).expect("it has arguments");
        let expected = String::from_utf8_lossy(&line).replace("{\"a\":1}", "{\"a\":2}");
        assert_eq!(rewritten.bytes(), expected.as_bytes());
    }
}
