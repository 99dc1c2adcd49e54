//! `--trace`: one line on stderr for each frame, whether or not there is a hub.

use bytes::Bytes;
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
            let what = match response.reply {
                Reply::Result(_) => "result",
                Reply::Error(_) => "error",
            };
            match &response.id {
                Some(id) => format!("{what} id {id}"),
                None => format!("{what} without id"),
            }
        }
        Message::Other => "no message".to_owned(),
    }
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
        check(Side::Server, "{\"error\":{}}", "<- error without id (12 bytes)");
        check(Side::Client, "{\"method\":\"x\\u001b[2J\"}", "-> x\\u001b[2J (23 bytes)");
        check(Side::Server, "hello\n", "<- no message (6 bytes)");
        check(Side::Client, "[{\"method\":\"a\"},3]", "-> batch of 2: a, no message (18 bytes)");
    }
}
