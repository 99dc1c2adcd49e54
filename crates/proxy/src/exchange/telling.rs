//! Notifications: cancels, progress and all others, brought to the gate and passed on.

use std::sync::Arc;

use lockgate_gate::{Outcome, Refused, Stop};
use lockgate_protocol::debug::RunStatus;
use lockgate_protocol::json::{Kind, Raw, View};
use lockgate_protocol::mcp::{Era, Params, method};
use lockgate_protocol::rpc::{Id, Notification};

use super::action::{Action, Decided, Say};
use super::open::{Effect, Open, Standing, TellingStop, policy_error};
use super::{Came, Course, Exchange, Settled, edit};
use crate::side::Side;
use crate::story::{self, Finish, Start};

impl Exchange {
    pub(super) fn telling(&mut self, told: &Notification, came: Came) -> Course {
        let Came { from, source, packing } = came;
        let none = Raw::null();
        let read = Params::read(told.params.as_ref().unwrap_or(&none).view());
        let (mut named, mut effect) = (None, Effect::None);
        match &*told.method {
            method::CANCELLED => {
                named = self.era_of_cancelled(from, &read);
                effect = self.cancelled(from, &read);
            }
            method::PROGRESS => named = self.progressed(from, &read),
            method::TOOLS_CHANGED if from == Side::Server => self.schemas.forget(),
            _ => {}
        }
        let start = Start {
            subject: self.mapping.subject(from, &told.method, &read),
            from,
            method: &told.method,
            came: story::Came::Notification,
            params: told.params.as_ref(),
            meta: read.meta,
            // It belongs to the request it names, whatever else is on the pipe.
            era: named.unwrap_or_else(|| self.eras.of_notification(&read.meta)),
            packing,
            parent: self.subscription(from, &read),
        };
        let exec = self.story.start(&start, self.now.at, &mut self.out);
        Course::Stands(Standing::Telling(Box::new(TellingStop { exec, source, effect })), Stop::Before)
    }

    pub(super) fn telling_decided(&mut self, stop: TellingStop, decided: Decided) -> Course {
        let TellingStop { mut exec, source, effect } = stop;
        exec.call.started = decided.started;
        let (settled, finish) = match decided.outcome {
            None => (Settled::KEPT, Finish::new(RunStatus::Ok)),
            Some(Outcome::Go(passed) | Outcome::Again(passed)) => {
                let amended = passed.amended().and_then(|params| edit::replace_params(&source, params));
                let settled = amended.map_or(Settled::KEPT, |source| Settled::replaced(source.bytes().clone()));
                (settled, Finish::new(RunStatus::Ok))
            }
            Some(Outcome::Answer(value)) => {
                let object = value.filter(|value| value.view().kind() == Kind::Object);
                let injected = object.is_some().then_some(Stop::Before);
                let finish = Finish { output: object.clone(), injected, ..Finish::new(RunStatus::Ok) };
                match object {
                    Some(object) => (Settled::replaced(object.bytes().clone()), finish),
                    None => {
                        self.out.push(Action::Say(Say::NotAnObject(exec.call.node.name.to_string())));
                        (Settled::KEPT, finish)
                    }
                }
            }
            Some(Outcome::Refuse(Refused::Policy(refusal))) => {
                let error = policy_error(&refusal);
                self.story.error(&exec, error.clone(), &mut self.out);
                (Settled::CUT, Finish { error: Some(error), ..Finish::new(RunStatus::Error) })
            }
            Some(Outcome::Refuse(Refused::Aborted | Refused::Cancelled)) => {
                (Settled::CUT, Finish::new(RunStatus::Aborted))
            }
        };
        self.story.finish(exec, finish, self.now.at, &mut self.out);
        let went_on = !matches!(settled.fate, lockgate_protocol::rpc::Fate::Cut);
        match effect {
            Effect::Closes(asker, id) if went_on => self.close_cancelled(asker, &id),
            Effect::Swallowed => return Course::Settled(Settled::CUT),
            Effect::Closes(..) | Effect::None => {}
        }
        Course::Settled(settled)
    }

    /// What a target reports about a request of the other side, and the era of that.
    fn progressed(&mut self, from: Side, read: &Params<'_>) -> Option<Era> {
        let token = read.progress_token.and_then(Id::of)?;
        let is_it = |open: &Open| open.token.as_ref() == Some(&token);
        match self.asked[from.other()].iter_mut().find(|(_, open)| is_it(open)) {
            Some((_, open)) => {
                open.progressed(read.progress.and_then(View::f64));
                Some(open.exec.era)
            }
            None => self.tasks.find(is_it).map(|call| call.exec.era),
        }
    }

    /// The listen request a notification belongs to, while it is open (hub N10).
    fn subscription(&mut self, from: Side, read: &Params<'_>) -> Option<Arc<str>> {
        let id = Id::of(read.meta.subscription?)?;
        let open = self.asked[from.other()].get_mut(&id)?;
        (*open.method == *method::LISTEN).then(|| Arc::clone(&open.exec.call.node.id))
    }
}
