//! The driver: keys, hub and clock in, frames and screens out. All thinking is in `update` and `draw`.

use std::io;
use std::pin::pin;
use std::sync::Arc;
#[cfg(unix)]
use std::task::Poll;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crossterm::event::{Event as Terminal, EventStream};
use futures_util::StreamExt as _;
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::link::{FromHub, Handle, Token, link};
use super::screen::{Screen, edit};
use super::state::{State, Ticket};
use super::theme::Colour;
use super::update::{Action, Event, show, update};

/// What the viewer needs to know.
#[derive(Clone)]
pub struct TuiConfig {
    /// The hub's viewer socket, for example `ws://127.0.0.1:4747/ws/ui`.
    pub url: String,
    /// Gives the viewer token, or nothing to come without one.
    pub token: Token,
    /// The run to show; without one the newest.
    pub run: Option<String>,
    /// Whether to use colours.
    pub colour: Colour,
}

/// Why the viewer could not go on.
#[derive(Debug, thiserror::Error)]
pub enum TuiError {
    /// Input or output is no terminal.
    #[error("the viewer needs a terminal")]
    NoTerminal,
    /// The terminal failed.
    #[error("use the terminal")]
    Terminal(#[from] io::Error),
}

/// Shows runs until the user leaves.
///
/// # Errors
/// Without a terminal, or when it fails. A hub that is not there is no error: it is waited for.
pub async fn run(config: TuiConfig) -> Result<(), TuiError> {
    if !Screen::is_there() {
        return Err(TuiError::NoTerminal);
    }
    let mut screen = Screen::open()?;
    let (hub, running) = link(config.url.clone(), Arc::clone(&config.token));
    let running = tokio::spawn(running);
    let result = match screen.size() {
        Ok(size) => Driver::new(&config, hub, size).drive(&mut screen).await,
        Err(error) => Err(error.into()),
    };
    screen.close()?;
    running.abort();
    result
}

struct Driver {
    state: State,
    hub: Handle,
    /// Which connection the state knows of.
    connection: u64,
    /// None while the terminal is lent: a reader left behind would take the editor's keys.
    keys: Option<EventStream>,
    editor: Option<(Ticket, JoinHandle<Result<String, String>>)>,
    drawn: Instant,
    picture: Picture,
}

/// Whether the screen shows the state.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Picture {
    Fresh,
    Old,
}

/// What the driver woke up for.
enum Next {
    Event(Event),
    /// Something that changes nothing.
    Nothing,
    Draw,
    Leave,
}

impl Driver {
    fn new(config: &TuiConfig, hub: Handle, size: (u16, u16)) -> Self {
        let session = format!("tui-{:x}-{:x}", std::process::id(), now());
        let mut state = State::new(config.colour, config.url.clone(), session);
        state.size = size;
        state.now = now();
        if let Some(run) = &config.run {
            // Nothing is connected yet, so there is nothing to do about it.
            let _ = show(&mut state, &Arc::from(run.as_str()));
        }
        let keys = Some(EventStream::new());
        Self { state, hub, connection: 0, keys, editor: None, drawn: Instant::now(), picture: Picture::Old }
    }

    async fn drive(mut self, screen: &mut Screen) -> Result<(), TuiError> {
        let mut clock = interval(TICK);
        clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut stop = pin!(stop());
        loop {
            let lent = self.keys.is_none();
            let next = tokio::select! {
                () = &mut stop => Next::Leave,
                key = key(&mut self.keys) => key,
                from = self.hub.from.recv() => told(&mut self.connection, from),
                edited = edited(&mut self.editor) => edited,
                _ = clock.tick(), if self.state.ticks() => Next::Event(Event::Tick),
                () = sleep_until(self.drawn + FRAME), if self.picture == Picture::Old && !lent => Next::Draw,
            };
            match next {
                Next::Leave => return Ok(()),
                Next::Nothing => {}
                Next::Draw => {
                    screen.draw(&self.state)?;
                    (self.drawn, self.picture) = (Instant::now(), Picture::Fresh);
                }
                Next::Event(event) => {
                    if matches!(event, Event::Edited { .. }) {
                        screen.take_back()?;
                        self.keys = Some(EventStream::new());
                    }
                    if self.take(event)? == Going::Ends {
                        return Ok(());
                    }
                }
            }
        }
    }

    fn take(&mut self, event: Event) -> Result<Going, TuiError> {
        // The state goes through `update` whole; the one left behind meanwhile is never looked at.
        let state = std::mem::replace(&mut self.state, State::new(Colour::Off, String::new(), String::new()));
        let (state, actions) = update(state, now(), event);
        self.state = state;
        self.picture = Picture::Old;
        for action in actions {
            match action {
                Action::Quit => return Ok(Going::Ends),
                Action::Send(text) => {
                    if self.hub.to.try_send((self.connection, text)).is_err() {
                        self.state.say("the hub does not take anything in at the moment");
                    }
                }
                Action::Edit { ticket, text } => {
                    self.keys = None;
                    Screen::lend()?;
                    self.editor = Some((ticket, tokio::task::spawn_blocking(move || edit(&text))));
                }
            }
        }
        Ok(Going::On)
    }
}

#[derive(PartialEq, Eq)]
enum Going {
    On,
    Ends,
}

async fn key(keys: &mut Option<EventStream>) -> Next {
    let Some(keys) = keys else { return std::future::pending().await };
    match keys.next().await {
        Some(Ok(Terminal::Key(key))) => Next::Event(Event::Key(key)),
        Some(Ok(Terminal::Resize(columns, rows))) => Next::Event(Event::Resized(columns, rows)),
        Some(Ok(Terminal::Paste(text))) => Next::Event(Event::Pasted(text)),
        Some(Ok(Terminal::FocusGained | Terminal::FocusLost | Terminal::Mouse(_))) => Next::Nothing,
        Some(Err(_)) | None => Next::Leave,
    }
}

fn told(connection: &mut u64, from: Option<FromHub>) -> Next {
    match from {
        Some(FromHub::Opened(number)) => {
            *connection = number;
            Next::Event(Event::Opened)
        }
        Some(FromHub::Frame(frame)) => Next::Event(Event::Frame(frame)),
        Some(FromHub::Closed(why)) => Next::Event(Event::Closed { why }),
        // The link ends only after us.
        None => Next::Leave,
    }
}

async fn edited(editor: &mut Option<(Ticket, JoinHandle<Result<String, String>>)>) -> Next {
    let Some((ticket, closed)) = editor else { return std::future::pending().await };
    let text = closed.await.unwrap_or_else(|error| Err(error.to_string()));
    let ticket = ticket.clone();
    *editor = None;
    Next::Event(Event::Edited { ticket, text })
}

/// Until somebody outside wants us to end: the terminal is gone, or a kill that asks. (Typed, ctrl-c is a key.)
#[cfg(unix)]
async fn stop() {
    use tokio::signal::unix::{SignalKind, signal};
    let asking = [SignalKind::hangup(), SignalKind::terminate(), SignalKind::interrupt(), SignalKind::quit()];
    let mut signals: Vec<_> = asking.into_iter().filter_map(|kind| signal(kind).ok()).collect();
    std::future::poll_fn(|context| {
        let came = signals.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
        if came { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

#[cfg(not(unix))]
async fn stop() {
    std::future::pending::<()>().await;
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// At most 30 pictures a second.
const FRAME: Duration = Duration::from_millis(34);

/// Clocks on the screen show seconds.
const TICK: Duration = Duration::from_secs(1);
