//! Answers: paired with their questions, brought to the gate, and passed on, replaced or traded for another attempt.

use lockgate_gate::{Outcome, Stop};
use lockgate_protocol::debug::{ErrorInfo, RunStatus};
use lockgate_protocol::edit::Hidden;
use lockgate_protocol::json::{Raw, View};
use lockgate_protocol::mcp::{self, Listing, Params, ResultType, method};
use lockgate_protocol::rpc::{Reply, Response, Source};

use super::action::Decided;
use super::open::{EditOf, Open, ReplyStop, Standing};
use super::question::rewritten;
use super::schemas::Page;
use super::{Came, Course, Exchange, Settled};
use crate::answer;
use crate::side::Side;
use crate::story::{Finish, error_info};

impl Exchange {
    pub(super) fn reply(&mut self, response: Response, came: Came) -> Course {
        let Came { from, source, .. } = came;
        let asker = from.other();
        let open = response.id.as_ref().and_then(|id| self.close(asker, id));
        let Some(open) = open else {
            self.unmatched(from, response.id.as_ref());
            return Course::Settled(Settled::KEPT);
        };
        self.cancels.answered(asker, &open.id, open.exec.era);
        let Reply::Result(result) = &response.reply else {
            if asker == Side::Client && *open.method == *method::INITIALIZE {
                self.eras.refused();
            }
            return self.stand(open, source, response.reply);
        };
        let read = mcp::Outcome::read(result.view());
        self.learn(&open, result, &read);
        match read.kind() {
            ResultType::InputRequired if method::has_rounds(&open.method) && asker == Side::Client => {
                self.groups.closed(open.group);
                self.asks_back(open, source, result)
            }
            ResultType::Task if *open.method == *method::TOOLS_CALL => {
                self.groups.closed(open.group);
                self.became_task(open, &read);
                Course::Settled(Settled::KEPT)
            }
            ResultType::Unknown(stated) => {
                let shown: String = stated.chars().take(SHOWN).collect();
                self.story.error(
                    &open.exec,
                    error_info("UnknownResultType", format!("result type: {shown}")),
                    &mut self.out,
                );
                self.stand(open, source, response.reply)
            }
            ResultType::Complete | ResultType::InputRequired | ResultType::Task => {
                match self.finished_task(&open, &read) {
                    Some(task) => self.task_result(task, open, source, response.reply),
                    None => self.stand(open, source, response.reply),
                }
            }
        }
    }

    /// Brings an answer to the gate: `error` when it tells of a failure, else `after`.
    pub(super) fn stand(&mut self, open: Open, source: Source, reply: Reply) -> Course {
        let error = failure(&reply, self.rules.shown.tool_outputs);
        if let Some(error) = &error {
            self.story.error(&open.exec, error.clone(), &mut self.out);
        }
        let at = if error.is_some() { Stop::Error } else { Stop::After };
        let edit = if open.source.is_some() { self.edit_of(&open) } else { EditOf(None) };
        Course::Stands(Standing::Reply(Box::new(ReplyStop { open, source, reply, error, edit })), at)
    }

    pub(super) fn reply_decided(&mut self, stop: ReplyStop, decided: Decided) -> Course {
        let ReplyStop { mut open, source, reply, error, .. } = stop;
        open.progressed(decided.beat);
        let at = if error.is_some() { Stop::Error } else { Stop::After };
        let group = open.group;
        let settled = match decided.outcome {
            None => self.answered(open, &reply, error),
            Some(Outcome::Again(passed)) => {
                rewritten(&mut open, &passed);
                if let Some(again) = open.source.as_ref().map(|source| source.bytes().clone()) {
                    open.exec.retries += 1;
                    self.groups.closed(group);
                    self.forward(open);
                    return Course::Settled(Settled::again(again));
                }
                self.answered(open, &reply, error)
            }
            Some(Outcome::Go(passed)) => match passed.amended() {
                Some(amended) => {
                    let bytes = source.replace(reply.raw().view(), amended.as_bytes());
                    let reply = match reply {
                        Reply::Result(_) => Reply::Result(amended.clone()),
                        Reply::Error(_) => Reply::Error(amended.clone()),
                    };
                    self.answered(open, &reply, error);
                    Settled::replaced(bytes)
                }
                None => self.answered(open, &reply, error),
            },
            Some(Outcome::Answer(value)) => {
                let typed = answer::typed(&open.question(), value.as_ref());
                let injected = Finish { output: Some(typed.output), injected: Some(at), ..Finish::new(RunStatus::Ok) };
                self.story.finish(open.exec, injected, self.now.at, &mut self.out);
                Settled::replaced(typed.message)
            }
            Some(Outcome::Refuse(refused)) => self.refused(open, &refused).map_or(Settled::CUT, Settled::replaced),
        };
        self.groups.closed(group);
        Course::Settled(settled)
    }

    /// The answer goes to its asker as it came.
    fn answered(&mut self, open: Open, reply: &Reply, error: Option<ErrorInfo>) -> Settled {
        let status = if error.is_some() { RunStatus::Error } else { RunStatus::Ok };
        let output = match reply {
            Reply::Result(result) => Some(result.clone()),
            Reply::Error(_) => None,
        };
        self.story.finish(open.exec, Finish { output, error, ..Finish::new(status) }, self.now.at, &mut self.out);
        Settled::KEPT
    }

    /// What an answer tells about the session: who the server is, which tools it has.
    fn learn(&mut self, open: &Open, result: &Raw, read: &mcp::Outcome<'_>) {
        if open.from != Side::Client {
            return;
        }
        match &*open.method {
            method::INITIALIZE | method::DISCOVER => {
                if *open.method == *method::INITIALIZE {
                    self.eras.shaken();
                } else {
                    self.eras.discovered(read.supported_versions);
                }
                let info = read.server_info.or(read.meta.server);
                if let Some(name) = info.and_then(|info| info.get("name")).and_then(View::str) {
                    self.story.server_named(&name, &mut self.out);
                }
            }
            method::TOOLS_LIST => {
                let params = open.exec.call.input.as_ref();
                let cursor = params.and_then(|params| Params::read(params.view()).cursor);
                let page = if cursor.is_some() { Page::Later } else { Page::First };
                self.schemas.listed(Listing::read(result, open.exec.era), page, self.now.at);
            }
            _ => {}
        }
    }
}

/// What failed, if an answer tells of a failure: a JSON-RPC error, or a result that says so.
pub(super) fn failure(reply: &Reply, hidden: Hidden) -> Option<ErrorInfo> {
    match reply {
        Reply::Error(error) => Some(rpc_error(error)),
        Reply::Result(result) => {
            let read = mcp::Outcome::read(result.view());
            read.says_error().then(|| error_info("McpToolError", content_text(&read, hidden)))
        }
    }
}

/// Read leniently: servers send errors of every shape.
pub(super) fn rpc_error(error: &Raw) -> ErrorInfo {
    let view = error.view();
    let code = view.get("code").and_then(View::i64).unwrap_or(0);
    let message = view.get("message").and_then(View::text);
    let message = message.map_or("no message".to_owned(), |message| message.to_lossy().into_owned());
    error_info(format!("JsonRpcError({code})"), message)
}

fn content_text(read: &mcp::Outcome<'_>, hidden: Hidden) -> String {
    if hidden == Hidden::Yes {
        return "the tool failed".to_owned();
    }
    let mut text = String::new();
    for block in read.content.into_iter().flat_map(View::items) {
        let Some(part) = block.get("text").and_then(View::text) else { continue };
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&part.to_lossy());
        if text.len() > SHOWN * 4 {
            break;
        }
    }
    match text.char_indices().nth(SHOWN) {
        Some((cut, _)) => text.truncate(cut),
        None if text.is_empty() => "the tool failed".clone_into(&mut text),
        None => {}
    }
    text
}

/// Characters of a content that are quoted.
const SHOWN: usize = 500;
