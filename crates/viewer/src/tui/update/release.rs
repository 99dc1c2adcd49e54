//! How a held call is let go: checks what is known here, then asks the hub, which decides.

use std::sync::Arc;

use lockgate_protocol::debug::{Control, ExecResume, Matcher, PausePoint, ResumeAction, RunMode};

use super::Action;
use crate::feed;
use crate::model::{Hold, Why};
use crate::tui::state::{Asked, Link, Proposal, Purpose, State};

/// Lets the current hold go without a value.
pub(super) fn release(state: &mut State, action: ResumeAction) -> Vec<Action> {
    let hold = match hold_for(state, action).cloned() {
        Ok(hold) => hold,
        Err(reason) => return refuse(state, reason),
    };
    let Some(run) = state.shown.clone() else { return Vec::new() };
    send(state, &run, &hold, plain(&hold, action))
}

/// One call further: stop at the next call first, then let this one go; the other way round would miss it.
pub(super) fn step(state: &mut State) -> Vec<Action> {
    if is_anonymous(state) {
        return refuse(state, "stepping needs the viewer token".to_owned());
    }
    let hold = match hold_for(state, ResumeAction::Continue).cloned() {
        Ok(hold) => hold,
        Err(reason) => return refuse(state, reason),
    };
    let Some(run) = state.shown.clone() else { return Vec::new() };
    let mut actions = vec![Action::Send(feed::control(None, &Control::ModeSet(RunMode::Step), state.now))];
    actions.extend(send(state, &run, &hold, plain(&hold, ResumeAction::Continue)));
    actions
}

/// Sends a release that was confirmed.
pub(super) fn confirmed(state: &mut State, proposal: Proposal) -> Vec<Action> {
    let hold = state.runs.get(&proposal.ticket.run).and_then(|tracked| tracked.run.hold(&proposal.ticket.pause));
    let Some(hold) = hold.cloned() else {
        return refuse(state, "the call is no longer held; your draft is kept".to_owned());
    };
    if state.link != Link::Open {
        return refuse(state, "not connected: nothing can be released; your draft is kept".to_owned());
    }
    let resume = match proposal.ticket.purpose {
        Purpose::Inject => ExecResume { output: Some(proposal.value), ..plain(&hold, ResumeAction::Inject) },
        Purpose::Edit => {
            let action = match hold.point {
                PausePoint::Before => ResumeAction::Continue,
                PausePoint::After | PausePoint::Error => ResumeAction::Retry,
            };
            ExecResume { input: Some(proposal.value), ..plain(&hold, action) }
        }
    };
    send(state, &proposal.ticket.run, &hold, resume)
}

/// Between stopping everywhere and only at breakpoints.
pub(super) fn toggle_mode(state: &mut State) -> Vec<Action> {
    let mode = match state.mode {
        RunMode::Run => RunMode::Step,
        RunMode::Step => RunMode::Run,
    };
    debug_state(state, &Control::ModeSet(mode))
}

/// Sets a breakpoint, or clears it if it is set.
pub(super) fn toggle_breakpoint(state: &mut State, matcher: Matcher) -> Vec<Action> {
    let set = state.breakpoints.iter().any(|known| known.key() == matcher.key());
    let control = if set { Control::BreakpointClear(matcher) } else { Control::BreakpointSet(matcher) };
    debug_state(state, &control)
}

/// The hold a release is for, or why it cannot be sent.
pub(super) fn hold_for(state: &State, action: ResumeAction) -> Result<&Hold, String> {
    let hold = state.hold().ok_or("no call is held in this run")?;
    if state.link != Link::Open {
        return Err("not connected: nothing can be released".to_owned());
    }
    if state.now < state.steady_at {
        return Err("another call took this place just now: look, then press again".to_owned());
    }
    if state.asked.values().any(|asked| asked.pause == hold.pause) {
        return Err("a release of this call is on its way".to_owned());
    }
    let guarded = matches!(hold.why, Some(Why::Guard { .. }));
    if is_anonymous(state) && (guarded || action == ResumeAction::Inject) {
        return Err(format!("{action} needs the viewer token"));
    }
    if guarded && action == ResumeAction::Inject {
        return Err("a guard holds this call: nothing can be put in its place".to_owned());
    }
    Ok(hold)
}

pub(super) fn is_anonymous(state: &State) -> bool {
    state.hub.as_ref().is_some_and(|hub| hub.principal == "anonymous")
}

pub(super) fn refuse(state: &mut State, reason: String) -> Vec<Action> {
    state.say(reason);
    Vec::new()
}

fn debug_state(state: &mut State, control: &Control) -> Vec<Action> {
    if state.link != Link::Open {
        return refuse(state, "not connected".to_owned());
    }
    if is_anonymous(state) {
        return refuse(state, "breakpoints and stepping need the viewer token".to_owned());
    }
    vec![Action::Send(feed::control(None, control, state.now))]
}

fn send(state: &mut State, run: &str, hold: &Hold, resume: ExecResume) -> Vec<Action> {
    state.requests += 1;
    let request = format!("{}-{}", state.session, state.requests);
    let action = if resume.input.is_some() { "edit" } else { resume.action.as_str() };
    let asked = Asked { pause: Arc::clone(&hold.pause), action, at: state.now };
    state.asked.insert(request.clone(), asked);
    let resume = ExecResume { request_id: Some(request), ..resume };
    vec![Action::Send(feed::control(Some(run), &Control::Resume(resume), state.now))]
}

/// A release without a value.
fn plain(hold: &Hold, action: ResumeAction) -> ExecResume {
    let pause_id = Arc::clone(&hold.pause);
    ExecResume { pause_id, action, output: None, input: None, request_id: None, pin: None }
}
