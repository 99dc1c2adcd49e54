//! What we say ourselves in place of a peer: the one place where a refusal becomes a JSON-RPC error, and where its code is
//! chosen by era (mcp §6, hub N13).

use bytes::Bytes;
use lockgate_gate::PolicyRefusal;
use lockgate_protocol::json::{Place, Raw};
use lockgate_protocol::lift::{self, Stamp};
use lockgate_protocol::mcp::{Era, method};
use lockgate_protocol::rpc::{self, ErrorObject, Id, code};

/// Why a peer gets an error from us instead of an answer.
#[derive(Debug)]
pub(crate) enum Denial<'a> {
    /// Somebody pressed abort in the debugger.
    Aborted,
    /// A policy at the gate refused, in its own words.
    Policy(&'a PolicyRefusal),
    /// The frame repeats a member, and different readers would see different frames.
    Duplicate(&'a Place),
    /// An array of messages, where each call has to be judged alone.
    Batch,
    /// Too many requests are open for one more to be watched.
    Full,
}

/// The error object for a denial.
pub(crate) fn error(denial: &Denial<'_>, era: Era) -> ErrorObject {
    let (code, message) = match denial {
        Denial::Policy(refusal) => {
            let PolicyRefusal { code, message, data } = (*refusal).clone();
            return ErrorObject { code, message, data };
        }
        Denial::Aborted => match era {
            Era::Handshake => (code::ABORTED, "aborted in the debugger".to_owned()),
            Era::Stateless => (code::ABORTED_STATELESS, "aborted in the debugger".to_owned()),
        },
        Denial::Duplicate(place) => {
            (code::INVALID_REQUEST, format!("frame not relayed, duplicate member: {}", place.pointer))
        }
        Denial::Batch => (code::INVALID_REQUEST, "batch not relayed, send its messages one by one".to_owned()),
        Denial::Full => (code::INTERNAL_ERROR, "request not relayed, too many are open".to_owned()),
    };
    let data = Raw::object(|out| {
        out.str("cause", cause(denial));
        if let Denial::Duplicate(place) = denial {
            out.str("at", &place.pointer);
        }
    });
    ErrorObject { code, message, data: Some(data) }
}

/// The word for programs, which must not go by the code (mcp §6).
fn cause(denial: &Denial<'_>) -> &'static str {
    match denial {
        Denial::Aborted => "aborted",
        Denial::Policy(_) => "policy",
        Denial::Duplicate(_) => "duplicate-member",
        Denial::Batch => "batch",
        Denial::Full => "too-many-open",
    }
}

/// What a person typed as the answer to a request.
pub(crate) struct Typed {
    /// The message for the asker.
    pub(crate) message: Bytes,
    /// What it says, as recorded.
    pub(crate) output: Raw,
}

/// The request that is answered by hand.
pub(crate) struct Question<'a> {
    pub(crate) id: &'a Id,
    pub(crate) method: &'a str,
    /// Of `resources/read`.
    pub(crate) uri: Option<&'a str>,
    pub(crate) era: Era,
}

/// Makes an answer of what was typed: a whole frame when it says so itself, else the result its method needs (hub §12.6).
pub(crate) fn typed(question: &Question<'_>, value: Option<&Raw>) -> Typed {
    let frame = value.filter(|value| value.view().get("jsonrpc").is_some_and(|own| own.str().is_some()));
    if let Some(frame) = frame
        && let Some(message) = rpc::with_id(frame.view(), question.id)
    {
        let view = frame.view();
        let said = view.get("result").or_else(|| view.get("error"));
        return Typed { message, output: said.map_or_else(|| frame.clone(), |said| frame.part(said)) };
    }
    let output = lifted(question, value);
    Typed { message: rpc::answer_result(question.id, &output), output }
}

/// The result a method needs, made of what was typed.
pub(crate) fn lifted(question: &Question<'_>, value: Option<&Raw>) -> Raw {
    let result = match question.method {
        method::TOOLS_CALL => lift::tool(value),
        method::RESOURCES_READ => lift::resource(value, question.uri),
        method::PROMPTS_GET => lift::prompt(value),
        method::SAMPLING => lift::sampling(value),
        _ => value.cloned().unwrap_or_else(Raw::null),
    };
    match (question.era, question.method) {
        (Era::Handshake, _) => result,
        (Era::Stateless, method::RESOURCES_READ) => lift::stateless(result, Stamp::Cached),
        (Era::Stateless, _) => lift::stateless(result, Stamp::Result),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;

    fn said(denial: &Denial<'_>, era: Era) -> String {
        String::from_utf8(rpc::answer_error(None, &error(denial, era)).to_vec()).expect("UTF-8")
    }

    #[test]
    fn every_code_we_can_send() {
        let place = Place { offset: 9, pointer: "/params/a".to_owned() };
        let refusal = PolicyRefusal { code: -32_010, message: "held".to_owned(), data: None };
        let denials =
            [Denial::Aborted, Denial::Policy(&refusal), Denial::Duplicate(&place), Denial::Batch, Denial::Full];
        let mut lines = String::new();
        for denial in &denials {
            for era in [Era::Handshake, Era::Stateless] {
                let error = error(denial, era);
                lines += &format!("{:<9} {:<16} {}\n", era.as_str(), cause(denial), error.code);
            }
        }
        assert_snapshot!(lines, @r"
        handshake aborted          -32099
        stateless aborted          -31099
        handshake policy           -32010
        stateless policy           -32010
        handshake duplicate-member -32600
        stateless duplicate-member -32600
        handshake batch            -32600
        stateless batch            -32600
        handshake too-many-open    -32603
        stateless too-many-open    -32603
        ");
    }

    #[test]
    fn what_a_denial_says() {
        let place = Place { offset: 9, pointer: "/params/a".to_owned() };
        assert_snapshot!(said(&Denial::Aborted, Era::Handshake), @r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32099,"message":"aborted in the debugger","data":{"cause":"aborted"}}}"#);
        assert_snapshot!(said(&Denial::Duplicate(&place), Era::Stateless), @r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"frame not relayed, duplicate member: /params/a","data":{"cause":"duplicate-member","at":"/params/a"}}}"#);
        let refusal = PolicyRefusal { code: 7, message: "held".to_owned(), data: Some(Raw::null()) };
        assert_snapshot!(said(&Denial::Policy(&refusal), Era::Stateless), @r#"{"jsonrpc":"2.0","id":null,"error":{"code":7,"message":"held","data":null}}"#);
    }

    #[track_caller]
    fn check(method: &str, era: Era, value: &str, expected: &str) {
        let id = Id::from(7);
        let value = (!value.is_empty()).then(|| Raw::parse(value.to_owned()).expect("a JSON text"));
        let question = Question { id: &id, method, uri: Some("file:///a"), era };
        let typed = typed(&question, value.as_ref());
        assert_eq!(
            format!("{} recorded {:?}", typed.message.escape_ascii(), typed.output).replace("\\\"", "\""),
            expected
        );
    }

    #[test]
    fn values_become_answers() {
        check(
            "tools/call",
            Era::Stateless,
            r#"{"content":[]}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{"content":[],"resultType":"complete"}} recorded {"content":[],"resultType":"complete"}"#,
        );
        check(
            "resources/read",
            Era::Stateless,
            r#"{"contents":[]}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{"contents":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}} recorded {"contents":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}"#,
        );
        check("ping", Era::Handshake, "", r#"{"jsonrpc":"2.0","id":7,"result":null} recorded null"#);
        check("ping", Era::Handshake, "[1]", r#"{"jsonrpc":"2.0","id":7,"result":[1]} recorded [1]"#);
    }

    #[test]
    fn a_whole_frame_is_sent_as_it_is_but_for_its_id() {
        check(
            "tools/call",
            Era::Handshake,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}"#,
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no"}} recorded {"code":-32602,"message":"no"}"#,
        );
        check(
            "ping",
            Era::Handshake,
            r#"{"jsonrpc":2}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{"jsonrpc":2}} recorded {"jsonrpc":2}"#,
        );
    }
}
