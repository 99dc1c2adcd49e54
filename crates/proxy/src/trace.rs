//! `--trace`: one line on stderr for each frame, whether or not there is a hub.

use bytes::Bytes;
use lockgate_protocol::json::{Raw, View};
use lockgate_protocol::mcp::Era;
use lockgate_protocol::rpc::code::{self, Meaning};
use lockgate_protocol::rpc::{Content, Frame, Message, Reply};

use crate::console::{Console, visible};
use crate::rules::LIMITS;
use crate::side::Side;

/// Whether frames are traced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trace {
    /// Each of them.
    On,
    /// None.
    Off,
}

impl Trace {
    pub(crate) fn line(self, console: &Console, from: Side, line: &Bytes) {
        if self == Trace::On {
            console.say(&describe(from, line));
        }
    }
}

fn describe(from: Side, line: &Bytes) -> String {
    let arrow = match from {
        Side::Client => "->",
        Side::Server => "<-",
    };
    let what = match Frame::read(line, LIMITS).map(|frame| frame.content) {
        Ok(Content::Single(spoken)) => message(&spoken.message),
        Ok(Content::Batch { elements, .. }) => {
            let each: Vec<String> = elements.iter().take(SHOWN).map(|spoken| message(&spoken.message)).collect();
            let more = if elements.len() > SHOWN { ", …" } else { "" };
            format!("batch of {}: {}{more}", elements.len(), each.join(", "))
        }
        Err(_) => "no message".to_owned(),
    };
    let what: String = what.chars().take(LONGEST).collect();
    format!("{arrow} {} ({} bytes)", visible(&what), line.len())
}

fn message(message: &Message) -> String {
    match message {
        Message::Request(request) => format!("{} id {}", request.method, request.id),
        Message::Notification(told) => told.method.to_string(),
        Message::Response(response) => {
            let what = match &response.reply {
                Reply::Result(_) => "result".to_owned(),
                Reply::Error(error) => format!("error{}", explained(error)),
            };
            match &response.id {
                Some(id) => format!("{what} id {id}"),
                None => format!("{what} without id"),
            }
        }
        Message::Other => "no message".to_owned(),
    }
}

/// The code of an error and what it means, as far as that does not depend on who is asked.
fn explained(error: &Raw) -> String {
    let Some(code) = error.view().get("code").and_then(View::i64) else { return String::new() };
    let meanings = [Era::Handshake, Era::Stateless].map(|era| code::meaning(code, era));
    let named = meanings.into_iter().find_map(|meaning| match meaning {
        Meaning::Named(name) => Some(name),
        Meaning::Retired(_) | Meaning::Reserved | Meaning::Legacy | Meaning::Free => None,
    });
    named.map_or_else(|| format!(" {code}"), |name| format!(" {code} ({name})"))
}

const SHOWN: usize = 8;
const LONGEST: usize = 400;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(from: Side, line: &str, expected: &str) {
        assert_eq!(describe(from, &Bytes::from(line.to_owned())), expected);
    }

    #[test]
    fn each_frame_is_one_harmless_line() {
        check(Side::Client, "{\"id\":1,\"method\":\"tools/call\"}\n", "-> tools/call id 1 (31 bytes)");
        check(Side::Server, "{\"id\":\"a\",\"result\":{}}\n", "<- result id \"a\" (23 bytes)");
        check(
            Side::Server,
            "{\"id\":1,\"error\":{\"code\":-32022}}",
            "<- error -32022 (unsupported protocol version) id 1 (32 bytes)",
        );
        check(Side::Server, "{\"error\":{\"code\":-32050}}", "<- error -32050 without id (25 bytes)");
        check(Side::Server, "{\"error\":{}}", "<- error without id (12 bytes)");
        check(Side::Client, "{\"method\":\"x\\u001b[2J\"}", "-> x\\u001b[2J (23 bytes)");
        check(Side::Server, "hello\n", "<- no message (6 bytes)");
        check(Side::Client, "[{\"method\":\"a\"},3]", "-> batch of 2: a, no message (18 bytes)");
    }
}
