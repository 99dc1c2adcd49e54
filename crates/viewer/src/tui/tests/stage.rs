//! A viewer without a terminal and without a hub.

use std::fmt::Write as _;

use bytes::Bytes;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use unicode_width::UnicodeWidthStr as _;

use crate::feed::Frame;
use crate::tui::draw::draw;
use crate::tui::state::State;
use crate::tui::theme::Colour;
use crate::tui::update::{Action, Event, update};

/// The moment everything starts at.
pub(in crate::tui) const START: u64 = 1_800_000_000_000;

pub(in crate::tui) struct Stage {
    pub(in crate::tui) state: Option<State>,
    pub(in crate::tui) now: u64,
    seq: u64,
    /// What the driver was asked to do by the last event.
    pub(in crate::tui) actions: Vec<Action>,
}

impl Stage {
    /// Nothing connected yet.
    pub(in crate::tui) fn new() -> Self {
        let state = State::new(Colour::Off, "ws://127.0.0.1:4747/ws/ui".to_owned(), "t".to_owned());
        Self { state: Some(state), now: START, seq: 0, actions: Vec::new() }
    }

    /// Connected and welcomed as `principal`, with a list of one run, `r`.
    pub(in crate::tui) fn welcomed(principal: &str) -> Self {
        let mut stage = Self::new();
        stage.event(Event::Opened);
        stage.frame(&format!(
            r#"{{"type":"welcome","versions":{{"protocol":1,"server":"t"}},"breakpoints":[],"mode":"run","control":{{"principal":"{principal}","agentLevel":"off","editInput":true,"hubCapabilities":[]}}}}"#
        ));
        stage
    }

    pub(in crate::tui) fn with_run() -> Self {
        let mut stage = Self::welcomed("viewer");
        stage.frame(&format!(r#"{{"type":"runs","runs":[{}]}}"#, info("r", "shop", START, "running")));
        stage
    }

    pub(in crate::tui) fn event(&mut self, event: Event) -> &mut Self {
        let state = self.state.take().expect("put back below");
        let (state, actions) = update(state, self.now, event);
        (self.state, self.actions) = (Some(state), actions);
        self
    }

    pub(in crate::tui) fn frame(&mut self, text: &str) -> &mut Self {
        let frame = Frame::read(Bytes::from(text.to_owned())).unwrap_or_else(|| panic!("no frame: {text}"));
        self.event(Event::Frame(frame))
    }

    /// An event of run `r`, 100 ms after the one before.
    pub(in crate::tui) fn wire(&mut self, kind: &str, payload: &str) -> &mut Self {
        self.seq += 1;
        self.now += 100;
        let (seq, ts) = (self.seq, self.now);
        self.frame(&format!(
            r#"{{"type":"event","runId":"r","ord":{seq},"envelope":{{"gm":1,"seq":{seq},"ts":{ts},"runId":"r","type":"{kind}","payload":{payload}}}}}"#
        ))
    }

    pub(in crate::tui) fn key(&mut self, code: KeyCode) -> &mut Self {
        self.event(Event::Key(KeyEvent::new(code, KeyModifiers::NONE)))
    }

    pub(in crate::tui) fn typed(&mut self, text: &str) -> &mut Self {
        for letter in text.chars() {
            self.key(KeyCode::Char(letter));
        }
        self
    }

    pub(in crate::tui) fn pass(&mut self, ms: u64) -> &mut Self {
        self.now += ms;
        self.event(Event::Tick)
    }

    pub(in crate::tui) fn state(&self) -> &State {
        self.state.as_ref().expect("put back after every event")
    }

    /// Frames asked to be sent by the last event.
    pub(in crate::tui) fn sent(&self) -> String {
        let sent = self.actions.iter().map(|action| match action {
            Action::Send(text) => text.clone(),
            Action::Edit { text, .. } => format!("edit {text}"),
            Action::Quit => "quit".to_owned(),
        });
        sent.collect::<Vec<_>>().join("\n")
    }

    pub(in crate::tui) fn notice(&self) -> &str {
        self.state().notice.as_ref().map_or("", |notice| &notice.text)
    }

    /// The screen as text, without the blanks at the ends of lines.
    pub(in crate::tui) fn screen(&mut self, columns: u16, rows: u16) -> String {
        self.event(Event::Resized(columns, rows));
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("a terminal in memory");
        terminal.draw(|frame| draw(self.state(), frame)).expect("drawn");
        let buffer = terminal.backend().buffer();
        let mut out = String::new();
        for row in 0..rows {
            let mut line = String::new();
            let mut skip = 0;
            for column in 0..columns {
                let symbol = buffer[(column, row)].symbol();
                // The second half of a wide character is a cell of its own.
                if skip == 0 {
                    line.push_str(symbol);
                    skip = symbol.width().max(1);
                }
                skip -= 1;
            }
            let _ = writeln!(out, "{}", line.trim_end());
        }
        out
    }
}

pub(in crate::tui) fn info(id: &str, app: &str, started: u64, status: &str) -> String {
    let finished = if status == "running" { "null".to_owned() } else { (started + 1_500).to_string() };
    let live = status == "running";
    format!(
        r#"{{"id":"{id}","app":"{app}","startedAt":{started},"finishedAt":{finished},"status":"{status}","source":"live","eventCount":9,"errorCount":0,"live":{live},"held":0}}"#
    )
}
