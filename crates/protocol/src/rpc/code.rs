//! Error codes by era, in one table: used for what we send and for what we explain (mcp §6, R20).

use crate::mcp::Era;

/// The text could not be parsed.
pub const PARSE_ERROR: i64 = -32_700;
/// The message is no request, or one we refuse to relay.
pub const INVALID_REQUEST: i64 = -32_600;
/// Nobody knows the method.
pub const METHOD_NOT_FOUND: i64 = -32_601;
/// The parameters do not fit; in the stateless era also missing `_meta` keys.
pub const INVALID_PARAMS: i64 = -32_602;
/// The receiver failed.
pub const INTERNAL_ERROR: i64 = -32_603;
/// Stateless era: headers and body disagree.
pub const HEADER_MISMATCH: i64 = -32_020;
/// Stateless era: a capability is needed that the client did not declare.
pub const MISSING_CAPABILITY: i64 = -32_021;
/// Stateless era: the server does not speak that version.
pub const UNSUPPORTED_VERSION: i64 = -32_022;
/// Ours, handshake era: aborted in the debugger.
pub const ABORTED: i64 = -32_099;
/// Ours, stateless era, where the range of [`ABORTED`] is reserved for the specification (hub N13).
pub const ABORTED_STATELESS: i64 = -31_099;

/// What a code means in an era.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// It has a name there.
    Named(&'static str),
    /// It must not be sent there; the name is what it used to mean or would mean elsewhere.
    Retired(&'static str),
    /// Kept for the specification, meaning nothing yet.
    Reserved,
    /// The private range of old SDKs, about which nothing may be assumed.
    Legacy,
    /// Anybody's.
    Free,
}

/// Looks a code up.
pub fn meaning(code: i64, era: Era) -> Meaning {
    if let Some(entry) = TABLE.iter().find(|entry| entry.code == code) {
        let here = match era {
            Era::Handshake => entry.handshake,
            Era::Stateless => entry.stateless,
        };
        return if here == In::Use { Meaning::Named(entry.name) } else { Meaning::Retired(entry.name) };
    }
    match (code, era) {
        (-32_099..=-32_023, Era::Stateless) => Meaning::Reserved,
        (-32_019..=-32_000, _) => Meaning::Legacy,
        (-32_768..=-32_000, _) => Meaning::Reserved,
        _ => Meaning::Free,
    }
}

struct Entry {
    code: i64,
    name: &'static str,
    handshake: In,
    stateless: In,
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum In {
    Use,
    Disuse,
}

const fn entry(code: i64, name: &'static str, handshake: In, stateless: In) -> Entry {
    Entry { code, name, handshake, stateless }
}

const TABLE: &[Entry] = &[
    entry(PARSE_ERROR, "parse error", In::Use, In::Use),
    entry(INVALID_REQUEST, "invalid request", In::Use, In::Use),
    entry(METHOD_NOT_FOUND, "method not found", In::Use, In::Use),
    entry(INVALID_PARAMS, "invalid params", In::Use, In::Use),
    entry(INTERNAL_ERROR, "internal error", In::Use, In::Use),
    entry(-32_000, "connection closed", In::Use, In::Disuse),
    entry(-32_001, "request timeout", In::Use, In::Disuse),
    entry(-32_002, "resource not found", In::Use, In::Disuse),
    entry(HEADER_MISMATCH, "header mismatch", In::Disuse, In::Use),
    entry(MISSING_CAPABILITY, "missing required client capability", In::Disuse, In::Use),
    entry(UNSUPPORTED_VERSION, "unsupported protocol version", In::Disuse, In::Use),
    entry(-32_042, "url elicitation required", In::Use, In::Disuse),
    entry(ABORTED, "aborted in the debugger", In::Use, In::Disuse),
    entry(ABORTED_STATELESS, "aborted in the debugger", In::Disuse, In::Use),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: i64, handshake: Meaning, stateless: Meaning) {
        assert_eq!(meaning(code, Era::Handshake), handshake, "{code} in the handshake era");
        assert_eq!(meaning(code, Era::Stateless), stateless, "{code} in the stateless era");
    }

    #[test]
    fn a_code_means_what_its_era_says() {
        use Meaning::{Free, Legacy, Named, Reserved, Retired};
        check(-32_602, Named("invalid params"), Named("invalid params"));
        check(-32_002, Named("resource not found"), Retired("resource not found"));
        check(-32_022, Retired("unsupported protocol version"), Named("unsupported protocol version"));
        check(-32_099, Named("aborted in the debugger"), Retired("aborted in the debugger"));
        check(-31_099, Retired("aborted in the debugger"), Named("aborted in the debugger"));
        check(-32_050, Reserved, Reserved);
        check(-32_010, Legacy, Legacy);
        check(-32_300, Reserved, Reserved);
        check(7, Free, Free);
    }
}
