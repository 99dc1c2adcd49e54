//! Colours, and what stands in for them where there are none.

use lockgate_protocol::debug::NodeKind;
use ratatui::style::{Color, Modifier, Style};

use crate::model::{State, Status};

/// Whether the terminal is given colours. Every state has a sign of its own, so nothing is told by colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// Yes.
    On,
    /// No: bold, dim and reversed only.
    Off,
}

impl Colour {
    /// What the environment asks for (`NO_COLOR`).
    pub fn from_env() -> Self {
        if std::env::var_os("NO_COLOR").is_some_and(|set| !set.is_empty()) { Self::Off } else { Self::On }
    }

    fn of(self, colour: Color, style: Style) -> Style {
        match self {
            Self::On => style.fg(colour),
            Self::Off => style,
        }
    }

    pub(crate) fn state(self, state: State) -> Style {
        let style = Style::new();
        match state {
            State::Ghost => style.add_modifier(Modifier::DIM),
            State::Running => self.of(Color::Cyan, style),
            State::Paused => self.of(Color::Yellow, style.add_modifier(Modifier::BOLD)),
            State::Ok => self.of(Color::Green, style),
            State::Error => self.of(Color::Red, style.add_modifier(Modifier::BOLD)),
            State::Aborted => self.of(Color::Magenta, style),
            State::CutOff => self.faint(),
        }
    }

    pub(crate) fn status(self, status: Status) -> Style {
        match status {
            Status::Running => self.state(State::Running),
            Status::Ok => self.state(State::Ok),
            Status::Error => self.state(State::Error),
            Status::Aborted => self.state(State::Aborted),
            Status::Abandoned => self.faint(),
        }
    }

    pub(crate) fn heading(self) -> Style {
        self.of(Color::Blue, Style::new().add_modifier(Modifier::BOLD))
    }

    pub(crate) fn warning(self) -> Style {
        self.state(State::Paused)
    }

    pub(crate) fn faint(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(crate) fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    pub(crate) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }
}

/// One column that says how a node stands.
pub(crate) fn sign(state: State) -> &'static str {
    match state {
        State::Ghost => "·",
        State::Running => "▸",
        State::Paused => "‖",
        State::Ok => "✓",
        State::Error => "✗",
        State::Aborted => "■",
        State::CutOff => "?",
    }
}

/// One column that says how a run stands.
pub(crate) fn run_sign(status: Status) -> &'static str {
    match status {
        Status::Running => sign(State::Running),
        Status::Ok => sign(State::Ok),
        Status::Error => sign(State::Error),
        Status::Aborted => sign(State::Aborted),
        Status::Abandoned => sign(State::CutOff),
    }
}

/// Four letters that say what a node is.
pub(crate) fn kind(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Agent => "agnt",
        NodeKind::Llm => "llm ",
        NodeKind::Tool => "tool",
        NodeKind::Chain => "chan",
        NodeKind::Retriever => "retr",
        NodeKind::Server => "serv",
        NodeKind::Resource => "rsrc",
        NodeKind::Prompt => "prmt",
        NodeKind::Custom => "cust",
    }
}
