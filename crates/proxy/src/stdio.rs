//! `mcp-proxy` on stdio: a server as our child, a host on our own streams, and everything between start and exit code.

use std::ffi::OsString;
use std::future::Future;
#[cfg(windows)]
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use lockgate_gate::{Gate, Release, Tap};
use lockgate_protocol::debug::{RunId, SdkInfo};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::alive::{Heartbeat, Hosts};
use crate::child::{self, ChildStderr, Exited, Keeper, Order, Shim, SpawnError, Status, Tail};
use crate::console::{Console, visible};
use crate::end::{End, stdio};
use crate::relay::{Heard, HoldRules, Outside, Relay, Setup, State, Told};
use crate::rules::{FrameCap, Rules};
use crate::signals::Signals;
use crate::story::{Command, SessionEnd, error_info};
use crate::trace::Trace;

/// One proxied session.
pub struct StdioConfig {
    /// What is started.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Ties the server's life to ours; `None`: it is started directly.
    pub shim: Option<Shim>,
    /// What ends the server and all it started when we are killed.
    pub keeper: Option<Keeper>,
    /// Where its stderr goes.
    pub stderr: ChildStderr,
    /// Where calls stand.
    pub gate: Gate,
    /// Where events go.
    pub tap: Tap,
    /// The run this session is.
    pub run: RunId,
    /// Who reports it.
    pub sdk: SdkInfo,
    /// What happens to trouble, to duplicate members, and what may be shown.
    pub rules: Rules,
    /// Largest frame that is looked at.
    pub cap: FrameCap,
    /// `--trace`
    pub trace: Trace,
    /// What happens while a call stands.
    pub hold: HoldConfig,
    /// The debugger's side.
    pub attach: Attach,
    /// What stands before our lines on stderr.
    pub prefix: String,
}

/// What happens while a call stands (hub §21.6).
pub struct HoldConfig {
    /// Whether askers hear progress.
    pub heartbeat: Heartbeat,
    /// `--hold-limit`: how long an asker may wait. `None`: as long as the host is known to, less five seconds.
    pub limit: Option<Duration>,
    /// `--on-limit`: what ends the hold then. `None`: nothing while somebody watches, else its unattended release.
    pub at_limit: Option<Release>,
    /// Where a call can be released, for people; may be empty.
    pub place: String,
    /// Where it is kept how long hosts wait; `None`: nowhere.
    pub hosts: Option<PathBuf>,
}

/// What the proxy has to know about the link to a hub, without knowing what that is.
pub struct Attach {
    /// `--wait-for-attach`
    pub wait: WaitForAttach,
    /// Ends when a hub has answered, or after the given time.
    pub ready: Ready,
    /// What to tell the person a moment after the start: whether there is a hub, and where.
    pub notice: Arc<dyn Fn() -> String + Send + Sync>,
}

/// Waits for a hub at most so long.
pub type Ready = Box<dyn Fn(Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// Whether the first frame waits for a hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitForAttach {
    /// Up to three seconds.
    Yes,
    /// It does not.
    No,
}

/// Runs a session on our own stdin and stdout until its server has ended, and gives the exit code to end with.
///
/// The server is started from the calling thread, which has to live as long as it: on Linux it is told when that thread ends.
pub async fn run(config: StdioConfig) -> Exited {
    let (end, restore) = stdio::own();
    #[cfg(windows)]
    let exited = match std::io::stderr() {
        console if console.is_terminal() => carry(config, end, crate::console::Legible(console)).await,
        other => carry(config, end, other).await,
    };
    #[cfg(unix)]
    let exited = carry(config, end, std::io::stderr()).await;
    restore.now();
    exited
}

/// The same between any streams.
pub(crate) async fn carry(config: StdioConfig, host: End, stderr: impl std::io::Write + Send + 'static) -> Exited {
    let (console, written) = Console::new(stderr, &config.prefix);
    let spec =
        child::Spec { program: &config.program, args: &config.args, shim: config.shim.as_ref(), stderr: config.stderr };
    let exited = match child::spawn(&spec) {
        Ok(started) => Session { config: &config, console: console.clone() }.run(started, host).await,
        Err(error) => {
            let session = Session { config: &config, console: console.clone() };
            session.never_started(&error, host).await;
            Exited::NOT_STARTED
        }
    };
    drop(console);
    written.finish().await;
    exited
}

struct Session<'c> {
    config: &'c StdioConfig,
    console: Console,
}

impl Session<'_> {
    async fn run(&self, started: child::Started, host: End) -> Exited {
        let child::Started { child, stdin, stdout, stderr } = started;
        let (orders, obeyed) = mpsc::channel(8);
        let (told, mut heard) = mpsc::channel(2);
        let (outside, happened) = mpsc::channel(4);
        let tail = Tail::default();
        let mut relay = self.relay(host, End::new(stdout, stdin), happened, told);
        let pump = stderr.map(|stderr| {
            let config = self.config;
            let (tap, run) = (config.tap.clone(), config.run.clone());
            tokio::spawn(child::pump(stderr, tail.clone(), self.console.clone(), tap, run))
        });
        let helpers = [self.notice(), self.attach(&mut relay, outside.clone())];
        let mut signals = Signals::new();
        let supervised = child::supervise(child, obeyed, self.config.keeper.as_ref());
        let carried = async {
            let state = relay.run().await;
            if matches!(state, State::Stopped(_)) {
                orders.send(Order::Stop).await.ok();
            } else {
                // Its output is over. If it does not end by itself, it is made to.
                orders.send(Order::InputEnded).await.ok();
            }
            state
        };
        let ordered = async {
            loop {
                let order = tokio::select! {
                    Some(Told::ClientGone) = heard.recv() => Order::InputEnded,
                    order = signals.next() => order,
                };
                orders.send(order).await.ok();
            }
        };
        let watched = async {
            let status = supervised.await;
            outside.send(Outside::ServerGone).await.ok();
            status
        };
        let (state, status) = tokio::select! {
            both = async { tokio::join!(carried, watched) } => both,
            never = ordered => never,
        };
        helpers.into_iter().flatten().for_each(|helper| helper.abort());
        self.read_to_end(pump).await;
        self.over(&mut relay, state, status, &tail)
    }

    fn relay(&self, host: End, server: End, outside: mpsc::Receiver<Outside>, told: mpsc::Sender<Told>) -> Relay<'_> {
        let config = self.config;
        let setup = Setup {
            run: config.run.clone(),
            tap: config.tap.clone(),
            rules: config.rules,
            cap: config.cap,
            console: self.console.clone(),
            trace: config.trace,
            hold: HoldRules {
                heartbeat: config.hold.heartbeat,
                limit: config.hold.limit,
                at_limit: config.hold.at_limit.clone(),
                place: Arc::from(&*config.hold.place),
            },
            hosts: Hosts::load(config.hold.hosts.as_deref()),
            outside,
            told,
        };
        let mut relay = Relay::new(&config.gate, setup, host, server);
        relay.begin(&self.command(), config.sdk.clone());
        relay
    }

    fn command(&self) -> Command {
        Command {
            program: self.config.program.to_string_lossy().into_owned(),
            args: self.config.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect(),
            shown: self.config.rules.shown,
        }
    }

    /// A while after the start, but never at the end, people are told where to look.
    fn notice(&self) -> Option<JoinHandle<()>> {
        let notice = Arc::clone(&self.config.attach.notice);
        let console = self.console.clone();
        Some(tokio::spawn(async move {
            sleep(NOTICE).await;
            let text = notice();
            if !text.is_empty() {
                console.say(&text);
            }
        }))
    }

    /// With `--wait-for-attach` both streams are read from the start, and looked at once a hub has answered.
    fn attach(&self, relay: &mut Relay<'_>, outside: mpsc::Sender<Outside>) -> Option<JoinHandle<()>> {
        if self.config.attach.wait == WaitForAttach::No {
            return None;
        }
        relay.wait();
        let ready = (self.config.attach.ready)(ATTACH);
        Some(tokio::spawn(async move {
            timeout(ATTACH, ready).await.ok();
            outside.send(Outside::Ready).await.ok();
        }))
    }

    /// What the server wrote last is still on its way; something it left behind may keep the pipe open.
    async fn read_to_end(&self, pump: Option<JoinHandle<()>>) {
        if let Some(mut pump) = pump
            && timeout(REST, &mut pump).await.is_err()
        {
            pump.abort();
        }
    }

    fn over(&self, relay: &mut Relay<'_>, state: State, status: Status, tail: &Tail) -> Exited {
        let (heard, unanswered) = relay.heard();
        let early = heard == Heard::Nothing && (!status.is_success() || unanswered > 0);
        let (error, exited) = match state {
            State::Stopped(why) => {
                self.console.say(&format!("session ended: {why}"));
                (Some(error_info("GuardOverflow", why)), Exited::STOPPED)
            }
            _ if early => (Some(self.died_early(status, tail)), status.exited()),
            _ => (None, status.exited()),
        };
        relay.end(SessionEnd { exit_code: status.code, signal: status.signal_name(), noise: 0, error });
        exited
    }

    /// The server ended before it said anything: why, as far as it told us.
    fn died_early(&self, status: Status, tail: &Tail) -> lockgate_protocol::debug::ErrorInfo {
        let how = status.describe();
        let (lines, omitted) = tail.last();
        let quoted = lines.get(lines.len().saturating_sub(QUOTED)..).unwrap_or_default();
        let omitted = omitted + lines.len() - quoted.len();
        // The shim, and shells, end so when there is no such command.
        let name = if status.exited() == Exited::NOT_STARTED { "SpawnError" } else { "McpServerExitedEarly" };
        self.console.say(&format!("the server {how} before its first message"));
        if !lines.is_empty() {
            let more = if omitted > 0 { format!(" ({omitted} lines before them omitted)") } else { String::new() };
            self.console.say(&format!("its last lines on stderr{more}:"));
            quoted.iter().for_each(|line| self.console.say(&format!("  {line}")));
        }
        if name == "SpawnError" {
            self.console.say("hint: the command, or the program it is to be run by, was not found");
        }
        let mut info = error_info(name, format!("the server {how} before its first message"));
        info.stack = (!lines.is_empty()).then(|| lines.join("\n"));
        info
    }

    /// The command cannot be started: said here, and to viewers if there are any soon.
    async fn never_started(&self, error: &SpawnError, host: End) {
        let text = format!("cannot {error}");
        self.console.say(&visible(&text));
        self.console.say(&format!("hint: {}", error.hint()));
        let (_outside, happened) = mpsc::channel(1);
        let (told, _heard) = mpsc::channel(1);
        let nobody = End::new(tokio::io::empty(), tokio::io::sink());
        let mut relay = self.relay(host, nobody, happened, told);
        let error = Some(error_info("SpawnError", error.to_string()));
        relay.end(SessionEnd { exit_code: Some(Exited::NOT_STARTED.code), signal: None, noise: 0, error });
        let ready = (self.config.attach.ready)(ATTACH_FAILED);
        timeout(ATTACH_FAILED, ready).await.ok();
    }
}

/// How long the first frame waits for a hub.
const ATTACH: Duration = Duration::from_millis(3_000);
/// How long a failed start waits for one, so that it is seen there.
const ATTACH_FAILED: Duration = Duration::from_millis(1_000);
/// When people are told whether there is a hub.
const NOTICE: Duration = Duration::from_millis(1_500);
/// How long the rest of a dead server's stderr is waited for.
const REST: Duration = Duration::from_millis(500);
/// Lines of stderr that are quoted when a server dies early.
const QUOTED: usize = 40;

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::sync::Mutex;

    use lockgate_gate::{GateConfig, TapLimits};
    use lockgate_protocol::debug::Event;

    use crate::rules::{Duplicates, Trouble};
    use crate::story::Shown;

    #[derive(Clone, Default)]
    struct Terminal(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Terminal {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("a lock").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// Runs a script as a server for a host that says nothing: what was told, and what the terminal got.
    async fn served(script: &str) -> (Vec<Event>, String) {
        let (tap, mut drain) = Tap::channel(TapLimits { events: 1_000, bytes: 1 << 20 });
        let config = StdioConfig {
            program: "sh".into(),
            args: vec!["-c".into(), script.into()],
            shim: None,
            keeper: None,
            stderr: ChildStderr::Mirrored,
            gate: Gate::new(GateConfig::new(tap.clone())),
            tap,
            run: RunId::new("run_1").expect("a name"),
            sdk: SdkInfo { name: "mcp-proxy".to_owned(), version: "0".to_owned() },
            rules: Rules { trouble: Trouble::Pass, duplicates: Duplicates::Pass, shown: Shown::ALL },
            cap: FrameCap::default(),
            trace: Trace::Off,
            hold: HoldConfig {
                heartbeat: Heartbeat::On,
                limit: None,
                at_limit: None,
                place: String::new(),
                hosts: None,
            },
            attach: Attach {
                wait: WaitForAttach::No,
                ready: Box::new(|_| Box::pin(async {})),
                notice: Arc::new(String::new),
            },
            prefix: "proxy".to_owned(),
        };
        let (_host, ours) = tokio::io::duplex(1_024);
        let (reader, writer) = tokio::io::split(ours);
        let terminal = Terminal::default();
        carry(config, End::new(reader, writer), terminal.clone()).await;
        let mut events = Vec::new();
        while let Some(batch) = drain.now() {
            events.extend(batch.events.into_iter().map(|queued| queued.event));
        }
        let said = String::from_utf8(terminal.0.lock().expect("a lock").clone()).expect("UTF-8");
        (events, said)
    }

    #[tokio::test]
    async fn of_a_server_that_dies_early_people_are_told_the_last_lines_and_viewers_all_that_were_kept() {
        let (events, said) = served("for n in $(seq 0 249); do echo line $n >&2; done; exit 3").await;
        let said: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("proxy: ")).collect();
        assert_eq!(said.get(1), Some(&"its last lines on stderr (210 lines before them omitted):"), "{said:?}");
        assert_eq!((said.get(2), said.last(), said.len()), (Some(&"  line 210"), Some(&"  line 249"), 42));
        let stack = events.iter().find_map(|event| match event {
            Event::NodeError(event) if event.error.name == "McpServerExitedEarly" => event.error.stack.clone(),
            _ => None,
        });
        let lines: Vec<String> = (50..250).map(|number| format!("line {number}")).collect();
        assert_eq!(stack, Some(lines.join("\n")));
    }
}
