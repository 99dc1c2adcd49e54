//! Rounds: an answer that asks back leaves its exchange open, each question inside it is a child with gates of its own, and
//! the client's next request goes on with the same exchange (hub N05-N08).

use std::time::Duration;

use lockgate_gate::{self as gate, Outcome, Stop};
use lockgate_protocol::debug::{ErrorInfo, RunStatus};
use lockgate_protocol::json::{Kind, Raw, View, canonical};
use lockgate_protocol::mcp::{self, Params};
use lockgate_protocol::pending::Asked;
use lockgate_protocol::rpc::{Id, Request, Source};

use super::action::{Decided, Passage, Patience};
use super::open::{AnsweringStop, AskingStop, Child, MOST_KEPT, Open, QuestionStop, Round, Standing};
use super::{Came, Course, Exchange, Settled, edit};
use crate::answer;
use crate::mapping::Subject;
use crate::side::Side;
use crate::story::{self, Finish, Packing, Start, error_info, record};

impl Exchange {
    /// An answer asks back. Its questions come to the gate one after the other.
    pub(super) fn asks_back(&mut self, open: Open, source: Source, result: &Raw) -> Course {
        let questions = result.view().get("inputRequests").map(View::members).into_iter().flatten();
        let mut rest: Vec<(String, Raw)> =
            questions.map(|(key, question)| (key.to_lossy().into_owned(), result.part(question))).collect();
        rest.reverse();
        let round = Round { open, children: Vec::new(), prepared: Vec::new() };
        self.ask_next(round, source, rest)
    }

    fn ask_next(&mut self, round: Round, source: Source, mut rest: Vec<(String, Raw)>) -> Course {
        let Some((key, question)) = rest.pop() else {
            return Course::Settled(self.asked_all(round, &source));
        };
        let method = question.view().get("method").and_then(View::text);
        let method: Box<str> = method.map_or("unknown".into(), |method| method.to_lossy().into());
        let params = question.view().get("params").map(|params| question.part(params));
        let none = Raw::null();
        let read = Params::read(params.as_ref().unwrap_or(&none).view());
        let Subject { node, place } = self.mapping.subject(Side::Server, &method, &read);
        let start = Start {
            subject: Subject { node, place },
            from: Side::Server,
            method: &method,
            came: story::Came::Within,
            params: params.as_ref(),
            meta: read.meta,
            era: round.open.exec.era,
            packing: Packing::Alone,
            parent: Some(std::sync::Arc::clone(&round.open.exec.call.node.id)),
        };
        let exec = self.story.start(&start, self.now.at, &mut self.out);
        let child = Child { key, method, exec };
        Course::Stands(Standing::Asking(Box::new(AskingStop { round, source, child, rest })), Stop::Before)
    }

    pub(super) fn asking_decided(&mut self, stop: AskingStop, decided: Decided) -> Course {
        let AskingStop { mut round, source, mut child, rest } = stop;
        child.exec.call.started = decided.started;
        round.open.progressed(decided.beat);
        match decided.outcome {
            None | Some(Outcome::Go(_) | Outcome::Again(_)) => round.children.push(child),
            Some(Outcome::Answer(value)) => {
                let answer = typed_answer(&child, value.as_ref());
                let injected =
                    Finish { output: Some(answer.clone()), injected: Some(Stop::Before), ..Finish::new(RunStatus::Ok) };
                self.story.finish(child.exec, injected, self.now.at, &mut self.out);
                round.prepared.push((child.key, answer));
            }
            Some(Outcome::Refuse(refused)) => {
                self.end_children(round.children.into_iter().chain([child]));
                let answer = self.refused(round.open, &refused);
                return Course::Settled(answer.map_or(Settled::CUT, Settled::replaced));
            }
        }
        self.ask_next(round, source, rest)
    }

    /// Every question was let through or answered by hand. What is left goes to the client; if nothing is, the server gets
    /// its answers at once.
    fn asked_all(&mut self, mut round: Round, source: &Source) -> Settled {
        let result = source.raw().view().get("result").map_or_else(Raw::null, |result| source.raw().part(result));
        if round.prepared.is_empty() {
            self.wait(round, &result);
            return Settled::KEPT;
        }
        let read = mcp::Outcome::read(result.view());
        if round.children.is_empty() {
            let again = round.open.source.as_ref().and_then(|asked| answered_request(asked, &read, &round.prepared));
            if let Some(again) = again {
                let bytes = again.bytes().clone();
                round.open.source = Some(again);
                round.open.exec.rounds += 1;
                self.forward(round.open);
                return Settled::again(bytes);
            }
        }
        let left = read.input_requests.map(|requests| without(requests, &round.prepared));
        let shortened =
            read.input_requests.zip(left).and_then(|(part, left)| edit::replace_part(source, part, left.as_bytes()));
        let Some(shortened) = shortened else { return Settled::KEPT };
        let result = shortened.raw().view().get("result").map_or_else(Raw::null, |result| shortened.raw().part(result));
        self.wait(round, &result);
        Settled::replaced(shortened.bytes().clone())
    }

    fn wait(&mut self, round: Round, result: &Raw) {
        let open = &round.open;
        let params = open.source.as_ref().and_then(|source| source.raw().view().get("params").map(Raw::from));
        let asked = Asked::of(&open.method, params.as_ref(), &mcp::Outcome::read(result.view()));
        self.kept += round.open.weight();
        if let Some(evicted) = self.rounds.wait(asked, self.now.at, round) {
            self.give_up(evicted, crowded());
        }
        while self.kept > MOST_KEPT
            && let Some(oldest) = self.rounds.give_up()
        {
            self.give_up(oldest, crowded());
        }
    }

    /// The next round of an exchange. The client's answers come to the gate first, then the request itself.
    pub(super) fn next_round(&mut self, round: Round, request: Request, came: Came) -> Course {
        let Came { source, .. } = came;
        let Round { mut open, mut children, prepared } = round;
        self.kept = self.kept.saturating_sub(open.weight());
        let none = Raw::null();
        let params = request.params.as_ref().unwrap_or(&none);
        let read = Params::read(params.view());
        self.eras.of_request(&request.method, &read.meta);
        let same = arguments(open.exec.call.input.as_ref()) == arguments(request.params.as_ref());
        open.exec.call.input = Some(record::params(params, &read));
        open.exec.call.round = if same { gate::Round::Repeated } else { gate::Round::New };
        open.exec.rounds += 1;
        open.token = read.meta.progress_token.and_then(Id::of);
        open.highest = None;
        open.asked = self.now.at;
        open.group = self.groups.current();
        open.id = request.id;
        let patience = self.cancels.patience(open.from, &open.id, self.now.at);
        children.reverse();
        let stop = Answered { open, source, changed: false, rest: children, prepared, patience };
        self.answer_next(stop)
    }

    fn answer_next(&mut self, answered: Answered) -> Course {
        let Answered { open, source, changed, mut rest, prepared, patience } = answered;
        if let Some(child) = rest.pop() {
            let answer = response_of(&source, &child.key).map(|answer| source.raw().part(answer));
            let stop = AnsweringStop { open, source, changed, child, answer, rest, prepared, patience };
            return Course::Stands(Standing::Answering(Box::new(stop)), Stop::After);
        }
        let completed = (!prepared.is_empty()).then(|| with_answers(&source, &prepared)).flatten();
        let changed = completed.or(changed.then(|| source.clone()));
        let whole = Some(changed.clone().unwrap_or(source)).filter(|_| self.passage != Passage::OverShort);
        let open = Open { source: whole, ..open };
        let edit = self.edit_of(&open);
        Course::Stands(Standing::Question(Box::new(QuestionStop { open, edit, patience, changed })), Stop::Before)
    }

    pub(super) fn answering_decided(&mut self, stop: AnsweringStop, decided: Decided) -> Course {
        let AnsweringStop { mut open, mut source, mut changed, child, answer, rest, prepared, patience } = stop;
        open.progressed(decided.beat);
        let mut finish = Finish { output: answer, ..Finish::new(RunStatus::Ok) };
        match decided.outcome {
            None | Some(Outcome::Go(_) | Outcome::Again(_)) => {}
            Some(Outcome::Answer(value)) => {
                let typed = typed_answer(&child, value.as_ref());
                let replaced = response_of(&source, &child.key)
                    .and_then(|part| edit::replace_part(&source, part, typed.as_bytes()));
                if let Some(replaced) = replaced {
                    (source, changed) = (replaced, true);
                }
                finish = Finish { output: Some(typed), injected: Some(Stop::After), ..finish };
            }
            Some(Outcome::Refuse(refused)) => {
                self.end_children(rest.into_iter().chain([child]));
                let answer = self.refused(open, &refused);
                return Course::Settled(answer.map_or(Settled::CUT, Settled::answered));
            }
        }
        self.story.finish(child.exec, finish, self.now.at, &mut self.out);
        self.answer_next(Answered { open, source, changed, rest, prepared, patience })
    }

    /// What a person typed in place of the client's answer to one question.
    fn end_children(&mut self, children: impl Iterator<Item = Child>) {
        for child in children {
            self.story.finish(child.exec, Finish::new(RunStatus::Aborted), self.now.at, &mut self.out);
        }
    }

    /// Exchanges whose client never came back (hub N08).
    pub(super) fn expire(&mut self) {
        let Some(moment) = self.now.at.checked_sub(ROUND_WAIT) else { return };
        for round in self.rounds.expire(moment) {
            self.give_up(round, error_info("McpRoundAbandoned", "the client did not come back"));
        }
    }

    /// When the next exchange is given up, if none of them goes on.
    pub(crate) fn next_expiry(&self) -> Option<Duration> {
        self.rounds.oldest().map(|since| since + ROUND_WAIT + Duration::from_millis(1))
    }

    fn give_up(&mut self, round: Round, error: ErrorInfo) {
        self.kept = self.kept.saturating_sub(round.open.weight());
        self.end_children(round.children.into_iter());
        self.story.error(&round.open.exec, error.clone(), &mut self.out);
        let finish = Finish { error: Some(error), ..Finish::new(RunStatus::Aborted) };
        self.story.finish(round.open.exec, finish, self.now.at, &mut self.out);
    }
}

/// Why an exchange is given up before its time.
fn crowded() -> ErrorInfo {
    error_info("McpEvicted", "too many exchanges wait for their next round")
}

/// A next round while the client's answers are looked at.
struct Answered {
    open: Open,
    source: Source,
    changed: bool,
    rest: Vec<Child>,
    prepared: Vec<(String, Raw)>,
    patience: Patience,
}

/// What a person typed in place of the client's answer to one question. It is no result of its own: no era stamps it.
fn typed_answer(child: &Child, value: Option<&Raw>) -> Raw {
    let id = Id::from(0);
    answer::lifted(&answer::Question { id: &id, method: &child.method, uri: None, era: mcp::Era::Handshake }, value)
}

fn arguments(params: Option<&Raw>) -> Option<String> {
    params?.view().get("arguments").map(|arguments| canonical(arguments, &[]))
}

fn response_of<'a>(request: &'a Source, key: &str) -> Option<View<'a>> {
    request.raw().view().get("params")?.get("inputResponses")?.get(key)
}

/// The questions that nobody answered by hand.
fn without(requests: View<'_>, answered: &[(String, Raw)]) -> Raw {
    Raw::object(|out| {
        for (key, question) in requests.members() {
            let key = key.to_lossy();
            if !answered.iter().any(|(known, _)| *known == key) {
                out.view(&key, question);
            }
        }
    })
}

/// The request with further answers.
fn with_answers(request: &Source, answers: &[(String, Raw)]) -> Option<Source> {
    let params = request.raw().view().get("params").filter(|params| params.kind() == Kind::Object)?;
    let given = params.get("inputResponses").filter(|given| given.kind() == Kind::Object);
    let all = Raw::object(|out| {
        for (key, answer) in given.into_iter().flat_map(View::members) {
            out.view(&key.to_lossy(), answer);
        }
        for (key, answer) in answers {
            out.raw(key, answer);
        }
    });
    with_param(request, "inputResponses", &all)
}

/// The first request again, with answers to everything it was asked, and with the server's state.
fn answered_request(request: &Source, asks: &mcp::Outcome<'_>, answers: &[(String, Raw)]) -> Option<Source> {
    let all = Raw::object(|out| {
        for (key, answer) in answers {
            out.raw(key, answer);
        }
    });
    let answered = with_param(request, "inputResponses", &all)?;
    match asks.request_state {
        Some(state) => with_param(&answered, "requestState", &Raw::from(state)),
        None => Some(answered),
    }
}

fn with_param(request: &Source, name: &str, value: &Raw) -> Option<Source> {
    let params = request.raw().view().get("params").filter(|params| params.kind() == Kind::Object)?;
    let bytes = match params.get(name) {
        Some(live) => request.replace(live, value.as_bytes()),
        None => request.add(params, name, value.as_bytes()),
    };
    edit::reread(&bytes)
}

/// How long an exchange waits for its next round.
const ROUND_WAIT: Duration = Duration::from_secs(15 * 60);
