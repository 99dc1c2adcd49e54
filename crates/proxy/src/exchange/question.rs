//! Requests: named, told, and brought to the gate before they reach their target.

use lockgate_gate::{Call, Outcome, Passed, Stop};
use lockgate_protocol::debug::RunStatus;
use lockgate_protocol::json::{Kind, Raw, View};
use lockgate_protocol::mcp::{Era, Params, method};
use lockgate_protocol::rpc::{Id, Request, Source, answer_error};

use super::action::{Action, Decided, Passage};
use super::open::{Open, QuestionStop, Standing};
use super::{Came, Course, Exchange, Settled, edit};
use crate::answer::{self, Denial};
use crate::rules::Trouble;
use crate::side::Side;
use crate::story::{self, Finish, Start, error_info, record};

impl Exchange {
    pub(super) fn question(&mut self, request: Request, came: Came) -> Course {
        let from = came.from;
        if let Some(params) =
            request.params.as_ref().filter(|_| from == Side::Client && method::has_rounds(&request.method))
            && let Some(round) = self.rounds.join(&request.method, params)
        {
            return self.next_round(round, request, came);
        }
        let none = Raw::null();
        let read = Params::read(request.params.as_ref().unwrap_or(&none).view());
        let era = self.eras.of_request(&request.method, &read.meta);
        if from == Side::Client {
            self.meet_client(&request.method, &read);
        }
        if self.rules.trouble == Trouble::Refuse && self.asked[from].is_full() {
            let error = answer::error(&Denial::Full, era);
            return Course::Settled(Settled::answered(answer_error(Some(&request.id), &error)));
        }
        let open = self.open(&request, &read, era, came);
        let edit = self.edit_of(&open);
        let patience = self.cancels.patience(from, &request.id, self.now.at);
        let stop = QuestionStop { open, edit, patience, changed: None };
        Course::Stands(Standing::Question(Box::new(stop)), Stop::Before)
    }

    fn open(&mut self, request: &Request, read: &Params<'_>, era: Era, came: Came) -> Open {
        let Came { from, source, packing } = came;
        let subject = self.mapping.subject(from, &request.method, read);
        let recorded = request.params.as_ref().map(|params| record::params(params, read));
        let start = Start {
            subject,
            from,
            method: &request.method,
            came: story::Came::Request(&request.id),
            params: recorded.as_ref(),
            meta: read.meta,
            era,
            packing,
            parent: None,
        };
        let exec = self.story.start(&start, self.now.at, &mut self.out);
        if from == Side::Server && self.eras.is_stateless() {
            let error = error_info("EraViolation", "a server sends no requests in the stateless era");
            self.story.error(&exec, error, &mut self.out);
        }
        Open {
            exec,
            from,
            id: request.id.clone(),
            method: request.method.clone(),
            uri: read.uri.and_then(View::str).map(Box::from),
            // What has passed is no longer whole, and cannot be asked again.
            source: Some(source).filter(|_| self.passage != Passage::OverShort),
            token: read.meta.progress_token.and_then(Id::of),
            highest: None,
            asked: self.now.at,
            group: self.groups.current(),
        }
    }

    pub(super) fn question_decided(&mut self, stop: QuestionStop, decided: Decided) -> Course {
        let QuestionStop { mut open, changed, .. } = stop;
        if decided.started.is_some() {
            open.exec.call.started = decided.started;
        }
        open.progressed(decided.beat);
        let settled = match decided.outcome {
            None => self.go(open, None, changed),
            Some(Outcome::Go(passed) | Outcome::Again(passed)) => self.go(open, Some(&passed), changed),
            Some(Outcome::Answer(value)) => {
                let typed = answer::typed(&open.question(), value.as_ref());
                let injected =
                    Finish { output: Some(typed.output), injected: Some(Stop::Before), ..Finish::new(RunStatus::Ok) };
                self.cancels.answered(open.from, &open.id, open.exec.era);
                self.story.finish(open.exec, injected, self.now.at, &mut self.out);
                Settled::answered(typed.message)
            }
            Some(Outcome::Refuse(refused)) => {
                let (from, id, era) = (open.from, open.id.clone(), open.exec.era);
                match self.refused(open, &refused) {
                    Some(answer) => {
                        self.cancels.answered(from, &id, era);
                        Settled::answered(answer)
                    }
                    None => {
                        self.cancels.swallow(from, &id, era);
                        Settled::CUT
                    }
                }
            }
        };
        Course::Settled(settled)
    }

    /// The request goes to its target, as it came or as somebody had it.
    fn go(&mut self, mut open: Open, passed: Option<&Passed<Call>>, changed: Option<Source>) -> Settled {
        let mut replaced = changed.is_some();
        if let Some(changed) = changed {
            open.source = Some(changed);
        }
        if let Some(passed) = passed {
            replaced |= rewritten(&mut open, passed);
        }
        let settled = match open.source.as_ref().filter(|_| replaced) {
            Some(source) => Settled::replaced(source.bytes().clone()),
            None => Settled::KEPT,
        };
        self.forward(open);
        settled
    }

    /// The client said who it is: in `initialize`, or with any stateless request.
    fn meet_client(&mut self, method: &str, read: &Params<'_>) {
        let said = if method == method::INITIALIZE { read.client_info } else { read.meta.client };
        let Some(said) = said.filter(|said| said.kind() == Kind::Object) else { return };
        if self.client.as_ref().is_some_and(|known| known.as_bytes() == said.raw()) {
            return;
        }
        self.client = Some(Raw::from(said));
        let word = |name| said.get(name).and_then(View::str).map(std::borrow::Cow::into_owned).unwrap_or_default();
        self.out.push(Action::Client { name: word("name"), version: word("version") });
    }
}

/// Puts what a person or a policy made of the input into the bytes; whether they are others now.
pub(super) fn rewritten(open: &mut Open, passed: &Passed<Call>) -> bool {
    let Some(source) = &open.source else { return false };
    let new = match (passed.amended(), passed.edited()) {
        (Some(params), _) => edit::replace_params(source, params),
        (None, Some(edited)) => edit::rewrite(source, edited),
        (None, None) => None,
    };
    let Some(new) = new else { return false };
    open.exec.call.input.clone_from(&passed.get().input);
    open.source = Some(new);
    true
}
