//! What an answer is: complete, a question back, the handle of a task, or something we do not know.

use std::time::Duration;

use super::Era;
use super::meta::Meta;
use crate::json::{Raw, View};

/// `resultType`, an open set (mcp R15).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResultType {
    /// `complete`, or absent as from every older server.
    Complete,
    /// The server needs answers first.
    InputRequired,
    /// A task was started; its result comes later.
    Task,
    /// Anything else, which a client has to take for an invalid result.
    Unknown(String),
}

/// The members of a result that we read, as views.
#[derive(Debug, Clone, Copy, Default)]
pub struct Outcome<'a> {
    /// `resultType`
    pub result_type: Option<View<'a>>,
    /// `isError`
    pub is_error: Option<View<'a>>,
    /// `content`
    pub content: Option<View<'a>>,
    /// `inputRequests`
    pub input_requests: Option<View<'a>>,
    /// `requestState`
    pub request_state: Option<View<'a>>,
    /// `taskId` of a task handle.
    pub task_id: Option<View<'a>>,
    /// `status` of a task.
    pub status: Option<View<'a>>,
    /// `result` of a finished task.
    pub result: Option<View<'a>>,
    /// `error` of a failed task.
    pub error: Option<View<'a>>,
    /// `serverInfo` of `initialize`.
    pub server_info: Option<View<'a>>,
    /// `supportedVersions` of `server/discover`.
    pub supported_versions: Option<View<'a>>,
    /// `_meta`, read.
    pub meta: Meta<'a>,
}

impl<'a> Outcome<'a> {
    /// Reads a member `result` in one walk; of repeated members the last.
    pub fn read(result: View<'a>) -> Outcome<'a> {
        let mut found = Outcome::default();
        let mut meta = None;
        for (name, value) in result.pairs() {
            let Some(name) = name.str() else { continue };
            if name == "_meta" {
                meta = Some(value);
            } else if let Some(place) = found.place(&name) {
                *place = Some(value);
            }
        }
        found.meta = meta.map(Meta::read).unwrap_or_default();
        found
    }

    /// Its type. Something that is no string is unknown, shown as it is written.
    pub fn kind(&self) -> ResultType {
        let Some(stated) = self.result_type else { return ResultType::Complete };
        match stated.str().as_deref() {
            Some("complete") => ResultType::Complete,
            Some("input_required") => ResultType::InputRequired,
            Some("task") => ResultType::Task,
            Some(other) => ResultType::Unknown(other.to_owned()),
            None => ResultType::Unknown(String::from_utf8_lossy(stated.raw()).into_owned()),
        }
    }

    /// Whether the tool says that it failed.
    pub fn says_error(&self) -> bool {
        self.is_error.and_then(View::bool) == Some(true)
    }

    fn place(&mut self, name: &str) -> Option<&mut Option<View<'a>>> {
        Some(match name {
            "resultType" => &mut self.result_type,
            "isError" => &mut self.is_error,
            "content" => &mut self.content,
            "inputRequests" => &mut self.input_requests,
            "requestState" => &mut self.request_state,
            "taskId" => &mut self.task_id,
            "status" => &mut self.status,
            "result" => &mut self.result,
            "error" => &mut self.error,
            "serverInfo" => &mut self.server_info,
            "supportedVersions" => &mut self.supported_versions,
            _ => return None,
        })
    }
}

/// One page of `tools/list`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// Names and input schemas of the tools that have both.
    pub schemas: Vec<(String, Raw)>,
    /// Milliseconds for which the page is good. `None`: until somebody says that it changed.
    pub ttl_ms: Option<u64>,
}

impl Listing {
    /// Reads a result of `tools/list`. Tools that are not as they should be are passed over.
    pub fn read(result: &Raw, era: Era) -> Listing {
        let view = result.view();
        let mut listing = Listing { schemas: Vec::new(), ttl_ms: ttl_ms(view.get("ttlMs"), era) };
        let Some(tools) = view.get("tools") else { return listing };
        for tool in tools.items() {
            let name = tool.get("name").and_then(View::text);
            if let (Some(name), Some(schema)) = (name, tool.get("inputSchema")) {
                // Copied: a remembered schema must not keep a whole listing alive.
                listing.schemas.push((name.to_lossy().into_owned(), Raw::from(schema)));
            }
        }
        listing
    }
}

/// What is no number says nothing. A stateless page that says nothing is good for no time, and so is one that says less than
/// that in any era (mcp §3.8).
fn ttl_ms(stated: Option<View<'_>>, era: Era) -> Option<u64> {
    let Some(number) = stated.and_then(View::f64) else { return (era == Era::Stateless).then_some(0) };
    let good_for = Duration::try_from_secs_f64(number.max(0.0) / 1_000.0).unwrap_or(Duration::MAX);
    Some(u64::try_from(good_for.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_without_a_time_to_live_or_with_a_negative_one_is_stale_at_once() {
        let check = |result: &str, handshake: Option<u64>, stateless: Option<u64>| {
            let raw = Raw::parse(result.to_owned()).expect("a JSON text");
            let read = |era| Listing::read(&raw, era).ttl_ms;
            assert_eq!((read(Era::Handshake), read(Era::Stateless)), (handshake, stateless), "{result}");
        };
        check("{}", None, Some(0));
        check(r#"{"ttlMs":"5"}"#, None, Some(0));
        check(r#"{"ttlMs":-5}"#, Some(0), Some(0));
        check(r#"{"ttlMs":0}"#, Some(0), Some(0));
        check(r#"{"ttlMs":1500.9}"#, Some(1_500), Some(1_500));
        check(r#"{"ttlMs":6e4}"#, Some(60_000), Some(60_000));
        check(r#"{"ttlMs":1e300}"#, Some(u64::MAX), Some(u64::MAX));
        check(r#"{"ttlMs":-1e300}"#, Some(0), Some(0));
    }

    #[track_caller]
    fn check(result: &str, expected: &ResultType) {
        let raw = Raw::parse(result.to_owned()).expect("a JSON text");
        assert_eq!(&Outcome::read(raw.view()).kind(), expected, "{result}");
    }

    #[test]
    fn the_type_of_a_result_is_an_open_set() {
        check("{}", &ResultType::Complete);
        check("[]", &ResultType::Complete);
        check(r#"{"resultType":"complete"}"#, &ResultType::Complete);
        check(r#"{"resultType":"input_required","requestState":""}"#, &ResultType::InputRequired);
        check(r#"{"resultType":"task","taskId":"t"}"#, &ResultType::Task);
        check(r#"{"resultType":"later"}"#, &ResultType::Unknown("later".to_owned()));
        check(r#"{"resultType":null}"#, &ResultType::Unknown("null".to_owned()));
    }
}
