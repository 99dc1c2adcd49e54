//! Values that a person writes: what the editor opens on, and what may be made of what comes back (hub §15.4).

use lockgate_protocol::debug::{PausePoint, ResumeAction};
use lockgate_protocol::edit;
use lockgate_protocol::json::{Kind, Raw, View};

use super::Action;
use super::release::{hold_for, is_anonymous, refuse};
use crate::model::{Hold, Run};
use crate::tui::json::pretty;
use crate::tui::state::{Overlay, Proposal, Purpose, State, Ticket};
use crate::tui::words::visible;

/// Opens the editor on an answer to put in place of the call's.
pub(super) fn inject(state: &mut State) -> Vec<Action> {
    let hold = match hold_for(state, ResumeAction::Inject).cloned() {
        Ok(hold) => hold,
        Err(reason) => return refuse(state, reason),
    };
    let execution = state.run().and_then(|run| run.held(&hold));
    let recorded = execution.and_then(|execution| match hold.point {
        // An answer is wanted; the arguments of the call would be a strange one after it ran.
        PausePoint::After => execution.output.as_ref(),
        PausePoint::Before | PausePoint::Error => execution.output.as_ref().or(execution.input.as_ref()),
    });
    let text = recorded.map_or_else(|| "{}\n".to_owned(), pretty);
    open(state, &hold, Purpose::Inject, text)
}

/// Opens the editor on the call's arguments.
pub(super) fn arguments(state: &mut State) -> Vec<Action> {
    let hold = match hold_for(state, ResumeAction::Continue).cloned() {
        Ok(hold) => hold,
        Err(reason) => return refuse(state, reason),
    };
    if let Some(reason) = not_editable(state, &hold) {
        return refuse(state, reason.to_owned());
    }
    let recorded = state.run().and_then(|run| recorded_input(run, &hold));
    let text = recorded.map_or_else(|| "{}\n".to_owned(), pretty);
    open(state, &hold, Purpose::Edit, text)
}

/// The editor was closed: either a release stands ready to be confirmed, or the draft is kept and the reason told.
pub(super) fn edited(state: &mut State, ticket: Ticket, text: Result<String, String>) {
    let text = match text {
        Ok(text) => text,
        Err(trouble) => return state.say(format!("editor: {}", visible(&trouble))),
    };
    state.drafts.insert(ticket.clone(), text.clone());
    let run = state.runs.get(&ticket.run).map(|tracked| &tracked.run);
    let Some((run, hold)) = run.and_then(|run| Some((run, run.hold(&ticket.pause)?))) else {
        return state.say("the call is no longer held; your draft is kept");
    };
    let proposed = match ticket.purpose {
        Purpose::Inject => answer(&text).map(|value| (value, Vec::new())),
        Purpose::Edit => changes(&text, recorded_input(run, hold)),
    };
    match proposed {
        Ok((value, changed)) => {
            let title = match ticket.purpose {
                Purpose::Inject => "put this in place of the answer".to_owned(),
                Purpose::Edit => format!("go on with other arguments: {}", visible(&changed.join(", "))),
            };
            state.overlay = Overlay::Confirm(Proposal { ticket, value, title });
        }
        Err(reason) => state.say(format!("{reason}; your draft is kept")),
    }
}

fn open(state: &State, hold: &Hold, purpose: Purpose, text: String) -> Vec<Action> {
    let Some(run) = state.shown.clone() else { return Vec::new() };
    let ticket = Ticket { run, pause: hold.pause.clone(), purpose };
    let text = state.drafts.get(&ticket).cloned().unwrap_or(text);
    vec![Action::Edit { ticket, text }]
}

fn not_editable(state: &State, hold: &Hold) -> Option<&'static str> {
    if is_anonymous(state) {
        return Some("editing needs the viewer token");
    }
    if !hold.editable {
        return Some("this call takes no edited arguments");
    }
    if hold.ambiguous {
        return Some("several executions are open and it is not said which is held: not editable");
    }
    let allowed = state.hub.as_ref().is_some_and(|hub| hub.edit_input);
    (!allowed).then_some("this hub takes no edited arguments")
}

fn recorded_input<'r>(run: &'r Run, hold: &Hold) -> Option<&'r Raw> {
    run.held(hold)?.input.as_ref()
}

fn answer(text: &str) -> Result<Raw, String> {
    let value = parsed(text)?;
    sound(value.view())?;
    Ok(value)
}

/// Only the members that differ from what was recorded, and their names.
fn changes(text: &str, recorded: Option<&Raw>) -> Result<(Raw, Vec<String>), String> {
    let proposed = parsed(text)?;
    if proposed.view().kind() != Kind::Object {
        return Err("arguments are an object".to_owned());
    }
    // Of a recording that was cut nothing is known to be there: it can only be replaced.
    let recorded = recorded.map(Raw::view).filter(|recorded| recorded.get("__graphmindTruncated").is_none());
    let removed = recorded.into_iter().flat_map(View::members).find_map(|(name, _)| {
        let name = name.to_lossy().into_owned();
        proposed.view().get(&name).is_none().then_some(name)
    });
    if let Some(removed) = removed {
        return Err(format!("a member cannot be taken away: {}", visible(&removed)));
    }
    let mut names = Vec::new();
    let value = Raw::object(|w| {
        for (name, value) in proposed.view().members() {
            let name = name.to_lossy().into_owned();
            let before = recorded.and_then(|recorded| recorded.get(&name));
            if before.is_none_or(|before| before.to_value() != value.to_value()) {
                w.view(&name, value);
                names.push(name);
            }
        }
    });
    if names.is_empty() {
        return Err("nothing was changed".to_owned());
    }
    sound(value.view())?;
    Ok((value, names))
}

fn parsed(text: &str) -> Result<Raw, String> {
    Raw::parse(text.trim().to_owned()).map_err(|error| format!("not JSON: {error}"))
}

/// Nothing that shows that a recording was copied, in which values are missing.
fn sound(value: View<'_>) -> Result<(), String> {
    if edit::pollutes(value) {
        return Err("a member named __proto__ or constructor is not taken".to_owned());
    }
    match edit::forbidden(value) {
        Some(code) => Err(format!("the value holds what a recording left out ({code}): write it yourself")),
        None => Ok(()),
    }
}
