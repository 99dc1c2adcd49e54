//! Tasks: the handle is not the result. What `tasks/get` brings comes to the gate of the call that became the task (hub N12,
//! mcp R28).

use std::collections::{HashMap, VecDeque};

use lockgate_gate::{Outcome, Refused, Stop};
use lockgate_protocol::debug::RunStatus;
use lockgate_protocol::json::{Raw, View};
use lockgate_protocol::mcp::{self, Params, method};
use lockgate_protocol::rpc::{Reply, Source, answer_error};

use super::action::Decided;
use super::open::{Open, ResultStop, Standing, policy_error};
use super::reply::{failure, rpc_error};
use super::{Course, Exchange, Settled, edit};
use crate::answer::{self, Denial};
use crate::story::{Finish, error_info};

/// Calls whose result comes later, by the name of their task.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    by_name: HashMap<String, Open>,
    order: VecDeque<String>,
}

impl Tasks {
    fn begin(&mut self, name: String, call: Open) -> Option<Open> {
        let former = self.by_name.insert(name.clone(), call);
        if former.is_none() {
            self.order.push_back(name);
        }
        if self.order.len() > MOST {
            let oldest = self.order.pop_front();
            return oldest.and_then(|oldest| self.by_name.remove(&oldest)).or(former);
        }
        former
    }

    fn end(&mut self, name: &str) -> Option<Open> {
        let call = self.by_name.remove(name)?;
        self.order.retain(|known| known != name);
        Some(call)
    }

    /// A call whose task goes on.
    pub(super) fn find(&self, is_it: impl Fn(&Open) -> bool) -> Option<&Open> {
        self.by_name.values().find(|call| is_it(call))
    }

    pub(super) fn drain(&mut self) -> Vec<Open> {
        let order = std::mem::take(&mut self.order);
        order.into_iter().filter_map(|name| self.by_name.remove(&name)).collect()
    }
}

impl Exchange {
    /// A call was answered with the handle of a task; it stays open.
    pub(super) fn became_task(&mut self, call: Open, read: &mcp::Outcome<'_>) {
        let Some(name) = read.task_id.and_then(View::text) else {
            let error = error_info("McpTaskWithoutName", "the handle of a task names no task");
            return self.fail(call.exec, error);
        };
        let mut call = Open { source: None, ..call };
        // It may wait for hours: what was long is not kept for that.
        if call.weight() > LONG {
            call.exec.call.input = None;
        }
        if let Some(lost) = self.tasks.begin(name.to_lossy().into_owned(), call) {
            self.fail(lost.exec, error_info("McpTaskLost", "too many tasks, or a task of the same name"));
        }
    }

    /// The call whose task an answer to `tasks/get` says is over.
    pub(super) fn finished_task(&mut self, get: &Open, read: &mcp::Outcome<'_>) -> Option<Open> {
        let over = matches!(read.status.and_then(View::str).as_deref(), Some("completed" | "failed" | "cancelled"));
        if *get.method != *method::TASKS_GET || !over {
            return None;
        }
        let asked = get.exec.call.input.as_ref()?;
        let name = Params::read(asked.view()).task_id?.text()?;
        self.tasks.end(&name.to_lossy())
    }

    pub(super) fn task_result(&mut self, task: Open, get: Open, source: Source, reply: Reply) -> Course {
        let whole = reply.raw();
        let read = mcp::Outcome::read(whole.view());
        let output = read.result.map(|result| whole.part(result));
        let error = match (read.error, &output) {
            (Some(error), _) => Some(rpc_error(&whole.part(error))),
            (None, Some(output)) => failure(&Reply::Result(output.clone()), self.rules.shown.tool_outputs),
            (None, None) => Some(error_info("McpTaskCancelled", "the task was cancelled")),
        };
        if let Some(error) = &error {
            self.story.error(&task.exec, error.clone(), &mut self.out);
        }
        let at = if error.is_some() { Stop::Error } else { Stop::After };
        Course::Stands(Standing::Result(Box::new(ResultStop { task, get, source, reply, output, error })), at)
    }

    pub(super) fn result_decided(&mut self, stop: ResultStop, decided: Decided) -> Course {
        let ResultStop { task, mut get, source, reply, output, error } = stop;
        get.progressed(decided.beat);
        let at = if error.is_some() { Stop::Error } else { Stop::After };
        match decided.outcome {
            None | Some(Outcome::Go(_) | Outcome::Again(_)) => {
                let status = if error.is_some() { RunStatus::Error } else { RunStatus::Ok };
                self.story.finish(
                    task.exec,
                    Finish { output, error, ..Finish::new(status) },
                    self.now.at,
                    &mut self.out,
                );
                self.stand(get, source, reply)
            }
            Some(Outcome::Answer(value)) => {
                let result = answer::lifted(&task.question(), value.as_ref());
                let finish = Finish { output: Some(result.clone()), injected: Some(at), ..Finish::new(RunStatus::Ok) };
                self.story.finish(task.exec, finish, self.now.at, &mut self.out);
                let whole = completed(reply.raw().view(), &result);
                let replaced = edit::replace_part(&source, reply.raw().view(), whole.as_bytes());
                let group = get.group;
                let finish = Finish { output: Some(whole), ..Finish::new(RunStatus::Ok) };
                self.story.finish(get.exec, finish, self.now.at, &mut self.out);
                self.groups.closed(group);
                Course::Settled(replaced.map_or(Settled::KEPT, |source| Settled::replaced(source.bytes().clone())))
            }
            Some(Outcome::Refuse(refused)) => {
                let (group, id, era) = (get.group, get.id.clone(), get.exec.era);
                let answer = match &refused {
                    Refused::Policy(refusal) => {
                        self.story.error(&task.exec, policy_error(refusal), &mut self.out);
                        Some(answer_error(Some(&id), &answer::error(&Denial::Policy(refusal), era)))
                    }
                    Refused::Aborted => Some(answer_error(Some(&id), &answer::error(&Denial::Aborted, era))),
                    Refused::Cancelled => None,
                };
                for open in [task, get] {
                    self.story.finish(open.exec, Finish::new(RunStatus::Aborted), self.now.at, &mut self.out);
                }
                self.groups.closed(group);
                Course::Settled(answer.map_or(Settled::CUT, Settled::replaced))
            }
        }
    }
}

/// The state of a task that is completed, with this result.
fn completed(task: View<'_>, result: &Raw) -> Raw {
    Raw::object(|out| {
        for (name, value) in task.members() {
            let name = name.to_lossy();
            if !matches!(&*name, "status" | "result" | "error") {
                out.view(&name, value);
            }
        }
        out.str("status", "completed").raw("result", result);
    })
}

const MOST: usize = 1_000;
const LONG: usize = 64 << 10;
