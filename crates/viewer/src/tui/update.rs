//! The heart of the viewer: `(state, event) → (state, actions)`. Draws nothing, waits for nothing.

mod edit;
mod find;
mod frames;
mod keys;
mod release;

use crossterm::event::KeyEvent;

use super::state::{Link, State, Ticket};

use crate::feed::{self, Frame};
pub(super) use frames::show;

/// What happened.
#[derive(Debug)]
pub(crate) enum Event {
    Key(KeyEvent),
    /// Text that came all at once.
    Pasted(String),
    Resized(u16, u16),
    Opened,
    Frame(Frame),
    /// The connection ended, or an attempt failed.
    Closed {
        why: String,
    },
    /// The editor was closed.
    Edited {
        ticket: Ticket,
        text: Result<String, String>,
    },
    /// Time went by.
    Tick,
}

/// What the driver is to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// A text frame for the hub.
    Send(String),
    /// Let the user work on this text.
    Edit {
        ticket: Ticket,
        text: String,
    },
    Quit,
}

/// Takes in one event at the given moment.
pub(crate) fn update(mut state: State, now: u64, event: Event) -> (State, Vec<Action>) {
    state.now = now;
    let before = state.aim.take();
    let by_hand = matches!(event, Event::Key(_) | Event::Pasted(_));
    let actions = match event {
        Event::Key(key) => keys::key(&mut state, key),
        Event::Pasted(text) => {
            keys::pasted(&mut state, &text);
            Vec::new()
        }
        Event::Resized(columns, rows) => {
            state.size = (columns, rows);
            Vec::new()
        }
        Event::Opened => opened(&mut state),
        Event::Frame(frame) => frames::frame(&mut state, frame),
        Event::Closed { why } => {
            closed(&mut state, why);
            Vec::new()
        }
        Event::Edited { ticket, text } => {
            edit::edited(&mut state, ticket, text);
            Vec::new()
        }
        Event::Tick => Vec::new(),
    };
    expire(&mut state);
    state.aim = state.hold().map(|hold| hold.pause.clone());
    // A key that was meant for one hold must not hit the next one, which took its place a moment ago.
    if before.is_some() && state.aim != before && !by_hand {
        state.steady_at = now + UNSTEADY_MS;
    }
    (state, actions)
}

fn opened(state: &mut State) -> Vec<Action> {
    state.link = Link::Open;
    let mut actions = vec![Action::Send(feed::subscribe_list())];
    if let Some(shown) = &state.shown {
        let after = state.tracked().and_then(|tracked| tracked.ord);
        actions.push(Action::Send(feed::subscribe(shown, after)));
    }
    actions
}

fn closed(state: &mut State, why: String) {
    state.asked.clear();
    state.link = match &state.link {
        Link::Connecting { .. } => Link::Connecting { trouble: Some(why) },
        Link::Open => Link::Lost { since: state.now, why },
        Link::Lost { since, .. } => Link::Lost { since: *since, why },
    };
    for tracked in state.runs.values_mut() {
        tracked.replay = None;
    }
}

fn expire(state: &mut State) {
    let now = state.now;
    state.notice = state.notice.take().filter(|notice| notice.until > now);
    state.asked.retain(|_, asked| asked.at + ANSWER_MS > now);
}

/// How long keys for a hold are not taken after the hold under them changed by itself.
const UNSTEADY_MS: u64 = 400;

/// How long an answer to a release is awaited.
const ANSWER_MS: u64 = 5_000;
