//! What is open: questions without an answer, exchanges between two rounds, and whatever stands at the gate.

use std::time::Duration;

use bytes::Bytes;
use lockgate_gate::{Actions, Call, Edit, PolicyRefusal, Refused, Stop};
use lockgate_protocol::debug::{ErrorInfo, ResumeAction, RunStatus};
use lockgate_protocol::json::Raw;
use lockgate_protocol::mcp::method;
use lockgate_protocol::rpc::{Id, Reply, Source, answer_error};

use super::action::{Ask, Asker, Debugger, Passage, Patience, Progress, Target};
use super::{Exchange, edit};
use crate::answer::{self, Denial, Question};
use crate::side::Side;
use crate::story::{Exec, Finish, error_info};

/// A question on its way, or waiting for its answer.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) exec: Exec,
    /// Who asked.
    pub(super) from: Side,
    pub(super) id: Id,
    pub(super) method: Box<str>,
    /// The resource it is about.
    pub(super) uri: Option<Box<str>>,
    /// Its bytes, to ask again; dropped when too many are kept.
    pub(super) source: Option<Source>,
    /// Where progress goes.
    pub(super) token: Option<Id>,
    /// The highest progress the asker was sent.
    pub(super) highest: Option<f64>,
    pub(super) asked: Duration,
    pub(super) group: Option<u64>,
}

/// An exchange that waits for its next round.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) open: Open,
    pub(super) children: Vec<Child>,
    /// Answers that were typed before the client was asked.
    pub(super) prepared: Vec<(String, Raw)>,
}

/// A question that came inside an answer.
#[derive(Debug)]
pub(super) struct Child {
    pub(super) key: String,
    pub(super) method: Box<str>,
    pub(super) exec: Exec,
}

/// What stands at the gate.
#[derive(Debug)]
pub(super) enum Standing {
    /// A request, before it goes on.
    Question(Box<QuestionStop>),
    /// A notification, before it goes on.
    Telling(Box<TellingStop>),
    /// An answer, before it goes back.
    Reply(Box<ReplyStop>),
    /// A question inside an answer, before it goes to the client.
    Asking(Box<AskingStop>),
    /// The client's answer to such a question.
    Answering(Box<AnsweringStop>),
    /// What a task brought.
    Result(Box<ResultStop>),
}

#[derive(Debug)]
pub(super) struct QuestionStop {
    pub(super) open: Open,
    pub(super) edit: EditOf,
    pub(super) patience: Patience,
    /// What goes on unless somebody changes it, when that is not what came.
    pub(super) changed: Option<Source>,
}

#[derive(Debug)]
pub(super) struct TellingStop {
    pub(super) exec: Exec,
    pub(super) source: Source,
    pub(super) effect: Effect,
}

/// What a notification does once it goes on.
#[derive(Debug)]
pub(super) enum Effect {
    None,
    /// It closes the question of that side.
    Closes(Side, Id),
    /// Its receiver never heard of what it is about: it does not go on.
    Swallowed,
}

#[derive(Debug)]
pub(super) struct ReplyStop {
    pub(super) open: Open,
    pub(super) source: Source,
    pub(super) reply: Reply,
    pub(super) error: Option<ErrorInfo>,
    pub(super) edit: EditOf,
}

#[derive(Debug)]
pub(super) struct AskingStop {
    pub(super) round: Round,
    pub(super) source: Source,
    pub(super) child: Child,
    /// Keys and questions that come after this one.
    pub(super) rest: Vec<(String, Raw)>,
}

#[derive(Debug)]
pub(super) struct AnsweringStop {
    pub(super) open: Open,
    pub(super) source: Source,
    /// Whether the source is not what came any more.
    pub(super) changed: bool,
    pub(super) child: Child,
    pub(super) answer: Option<Raw>,
    pub(super) rest: Vec<Child>,
    pub(super) prepared: Vec<(String, Raw)>,
    pub(super) patience: Patience,
}

#[derive(Debug)]
pub(super) struct ResultStop {
    /// The call that became a task.
    pub(super) task: Open,
    /// The request that brought its result.
    pub(super) get: Open,
    pub(super) source: Source,
    pub(super) reply: Reply,
    pub(super) output: Option<Raw>,
    pub(super) error: Option<ErrorInfo>,
}

/// The check of an edited input, if one may be proposed.
#[derive(Clone)]
pub(super) struct EditOf(pub(super) Option<Edit>);

impl std::fmt::Debug for EditOf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "editable" } else { "fixed" })
    }
}

impl Standing {
    /// The question for the gate.
    pub(super) fn ask(&self, from: Side, at: Stop) -> Ask {
        let (call, asker, title) = match self {
            Standing::Question(stop) => {
                let call = Call { edit: stop.edit.0.clone(), ..stop.open.exec.call.clone() };
                let asker = Asker { patience: stop.patience, ..stop.open.asker(Target::Untouched) };
                (call, Some(asker), &*stop.open.method)
            }
            Standing::Telling(stop) => (stop.exec.call.clone(), None, ""),
            Standing::Reply(stop) => {
                let mut call = stop.open.exec.call.clone();
                if let Reply::Result(result) = &stop.reply {
                    call.output = Some(result.clone());
                }
                call.error = stop.error.clone().map(Box::new);
                call.edit.clone_from(&stop.edit.0);
                if stop.open.source.is_none() {
                    call.unsupported = NO_RETRY;
                }
                (call, Some(stop.open.asker(Target::Reached)), &*stop.open.method)
            }
            Standing::Asking(stop) => {
                (stop.child.exec.call.clone(), Some(stop.round.open.asker(Target::Reached)), &*stop.child.method)
            }
            Standing::Answering(stop) => {
                let mut call = stop.child.exec.call.clone();
                call.output.clone_from(&stop.answer);
                call.unsupported = NO_RETRY;
                (call, Some(stop.open.asker(Target::Untouched)), &*stop.child.method)
            }
            Standing::Result(stop) => {
                let mut call = stop.task.exec.call.clone();
                call.output.clone_from(&stop.output);
                call.error = stop.error.clone().map(Box::new);
                call.unsupported = NO_RETRY;
                (call, Some(stop.get.asker(Target::Reached)), &*stop.task.method)
            }
        };
        Ask { from, call, at, asker, title: title.into(), passage: Passage::Waits }
    }

    /// The question whose asker waits for it and may give up.
    pub(super) fn open(&self) -> Option<&Open> {
        match self {
            Standing::Question(stop) => Some(&stop.open),
            Standing::Reply(stop) => Some(&stop.open),
            Standing::Asking(stop) => Some(&stop.round.open),
            Standing::Answering(stop) => Some(&stop.open),
            Standing::Result(stop) => Some(&stop.get),
            Standing::Telling(_) => None,
        }
    }

    /// The executions that end with it, when everything ends.
    pub(super) fn into_execs(self) -> Vec<Exec> {
        let of_children = |children: Vec<Child>| children.into_iter().map(|child| child.exec);
        match self {
            Standing::Question(stop) => vec![stop.open.exec],
            Standing::Telling(stop) => vec![stop.exec],
            Standing::Reply(stop) => vec![stop.open.exec],
            Standing::Asking(stop) => {
                let mut execs: Vec<Exec> = of_children(stop.round.children).collect();
                execs.extend([stop.child.exec, stop.round.open.exec]);
                execs
            }
            Standing::Answering(stop) => {
                let mut execs: Vec<Exec> = of_children(stop.rest).collect();
                execs.extend([stop.child.exec, stop.open.exec]);
                execs
            }
            Standing::Result(stop) => vec![stop.task.exec, stop.get.exec],
        }
    }
}

impl Open {
    pub(super) fn asker(&self, target: Target) -> Asker {
        Asker {
            side: self.from,
            id: self.id.clone(),
            token: self.token.as_ref().map(Id::raw),
            progress: Progress { target, highest: self.highest },
            since: self.asked,
            patience: Patience::Waiting,
        }
    }

    pub(super) fn question(&self) -> Question<'_> {
        Question { id: &self.id, method: &self.method, uri: self.uri.as_deref(), era: self.exec.era }
    }

    /// Bytes it keeps alive.
    pub(super) fn weight(&self) -> usize {
        let input = self.exec.call.input.as_ref().map_or(0, Raw::len);
        self.source.as_ref().map_or(input, |source| source.bytes().len().max(input))
    }

    /// Reported while it stood, or by its target.
    pub(super) fn progressed(&mut self, value: Option<f64>) {
        let higher = value.filter(|value| self.highest.is_none_or(|highest| *value > highest));
        self.highest = higher.or(self.highest);
    }
}

impl Exchange {
    /// How an edited input of a question is checked; only a debugger asks for it.
    pub(super) fn edit_of(&self, open: &Open) -> EditOf {
        let natural = open.from == Side::Client && *open.method == *method::TOOLS_CALL;
        let source = open.source.as_ref().filter(|_| natural && self.now.debugger == Debugger::There);
        let Some(recorded) = open.exec.call.input.clone().filter(|_| source.is_some()) else { return EditOf(None) };
        let check = edit::Check {
            recorded,
            schema: self.schemas.of(&open.exec.call.node.name, self.now.at).cloned(),
            hidden: self.rules.shown.tool_inputs,
        };
        EditOf(check.edit())
    }

    /// Says what a refusal means for an execution, and what its asker gets, if anything.
    pub(super) fn refused(&mut self, open: Open, refused: &Refused) -> Option<Bytes> {
        let Open { exec, id, asked, .. } = open;
        let era = exec.era;
        let denial = match refused {
            Refused::Cancelled => {
                let cancelled = Some(self.now.at.saturating_sub(asked));
                self.story.finish(
                    exec,
                    Finish { cancelled, ..Finish::new(RunStatus::Aborted) },
                    self.now.at,
                    &mut self.out,
                );
                return None;
            }
            Refused::Aborted => {
                self.story.finish(exec, Finish::new(RunStatus::Aborted), self.now.at, &mut self.out);
                Denial::Aborted
            }
            Refused::Policy(refusal) => {
                self.fail(exec, policy_error(refusal));
                Denial::Policy(refusal)
            }
        };
        Some(answer_error(Some(&id), &answer::error(&denial, era)))
    }

    /// An execution ends with an error.
    pub(super) fn fail(&mut self, exec: Exec, error: ErrorInfo) {
        self.story.error(&exec, error.clone(), &mut self.out);
        self.story.finish(
            exec,
            Finish { error: Some(error), ..Finish::new(RunStatus::Error) },
            self.now.at,
            &mut self.out,
        );
    }

    /// A question leaves for its target.
    pub(super) fn forward(&mut self, open: Open) {
        let from = open.from;
        self.groups.forwarded(open.group);
        self.kept += open.weight();
        self.cancels.reopened(from, &open.id);
        if let Some((_, evicted)) = self.asked[from].ask(open.id.clone(), open) {
            let evicted = self.closed(evicted);
            self.tally.evicted += 1;
            // Its answer may still come, and those that wait for its array must not wait for ever.
            self.cancels.given_up(from, &evicted.id, evicted.exec.era);
            self.groups.closed(evicted.group);
            self.fail(evicted.exec, error_info("McpEvicted", "too many requests are open"));
        }
        self.keep_within_bounds();
    }

    /// The question an answer or a cancel closes.
    pub(super) fn close(&mut self, from: Side, id: &Id) -> Option<Open> {
        let open = self.asked[from].answer(id)?;
        Some(self.closed(open))
    }

    fn closed(&mut self, open: Open) -> Open {
        self.kept = self.kept.saturating_sub(open.weight());
        open
    }

    /// Old questions lose their bytes, and with them the chance to be asked again, before memory is lost.
    fn keep_within_bounds(&mut self) {
        for side in Side::BOTH {
            for (_, open) in self.asked[side].iter_mut() {
                if self.kept <= MOST_KEPT {
                    return;
                }
                self.kept = self.kept.saturating_sub(open.weight());
                open.source = None;
                open.exec.call.input = None;
            }
        }
    }
}

pub(super) fn policy_error(refusal: &PolicyRefusal) -> ErrorInfo {
    error_info(format!("Refused({})", refusal.code), refusal.message.clone())
}

/// Bytes of open questions that are kept for retries.
pub(super) const MOST_KEPT: usize = 64 << 20;
/// Where nothing can be asked again.
const NO_RETRY: Actions = Actions::NONE.with(ResumeAction::Retry);
