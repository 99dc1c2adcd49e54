//! One session with everybody around it: a host, a server, a viewer, a terminal.

use std::fmt::Write as _;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ::bytes::Bytes;
use lockgate_gate::{Drain, Gate, GateConfig, HubCaps, Presence, Tap, TapLimits, Watched};
use lockgate_protocol::debug::{Control, ErrorInfo, Event, Matcher, Parsed, RunId, RunMode, SdkInfo, parse};
use lockgate_protocol::json::{Raw, View};
use lockgate_testkit::peer::Peer;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::alive::{Heartbeat, Hosts};
use crate::console::{Console, Written};
use crate::end::End;
use crate::relay::{HoldRules, Outside, Relay, Setup, State, Told};
use crate::rules::{Duplicates, FrameCap, Rules, Trouble};
use crate::story::{Command, SessionEnd, Shown};
use crate::trace::Trace;

pub(super) struct Stage {
    pub(super) host: Peer,
    pub(super) server: Peer,
    pub(super) gate: Gate,
    drain: Drain,
    seen: Vec<Event>,
    running: JoinHandle<State>,
    outside: mpsc::Sender<Outside>,
    told: mpsc::Receiver<Told>,
    terminal: Terminal,
    written: Option<Written>,
}

/// What differs from an ordinary session.
pub(super) struct Shape {
    pub(super) rules: Rules,
    pub(super) cap: FrameCap,
    pub(super) hold: HoldRules,
    pub(super) trace: Trace,
    pub(super) hosts: Hosts,
    pub(super) gate: Box<dyn FnOnce(&mut GateConfig)>,
    /// Bytes a pipe takes.
    pub(super) pipe: usize,
    pub(super) waits: Waits,
}

#[derive(PartialEq, Eq)]
pub(super) enum Waits {
    No,
    ForDebugger,
}

#[derive(Clone, Default)]
struct Terminal(Arc<Mutex<Vec<u8>>>);

impl io::Write for Terminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("a lock").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stage {
    /// An ordinary session; nobody is attached.
    pub(super) fn new() -> Stage {
        Stage::shaped(|_| {})
    }

    /// With a viewer, and these breakpoints.
    pub(super) fn armed(matchers: &[&str]) -> Stage {
        let stage = Stage::new();
        stage.attach();
        stage.arm(matchers);
        stage
    }

    pub(super) fn shaped(shape: impl FnOnce(&mut Shape)) -> Stage {
        let mut made = Shape {
            rules: Rules { trouble: Trouble::Pass, duplicates: Duplicates::Pass, shown: Shown::ALL },
            cap: FrameCap::default(),
            hold: HoldRules { heartbeat: Heartbeat::On, limit: None, at_limit: None, place: "the viewer".into() },
            trace: Trace::Off,
            hosts: Hosts::default(),
            gate: Box::new(|_| {}),
            pipe: 1 << 20,
            waits: Waits::No,
        };
        shape(&mut made);
        let (tap, drain) = Tap::channel(TapLimits { events: 100_000, bytes: 1 << 30 });
        let mut config = GateConfig::new(tap.clone());
        config.pause_base = Some(0x00ab_cdef);
        (made.gate)(&mut config);
        let gate = Gate::new(config);
        let (host, client_end) = Peer::pair(made.pipe);
        let (server, server_end) = Peer::pair(made.pipe);
        let terminal = Terminal::default();
        let (console, written) = Console::new(terminal.clone(), "proxy");
        let (outside, happened) = mpsc::channel(4);
        let (tell, told) = mpsc::channel(4);
        let setup = Setup {
            run: RunId::new("run_1").expect("a name"),
            tap,
            rules: made.rules,
            cap: made.cap,
            console,
            trace: made.trace,
            hold: made.hold,
            hosts: made.hosts,
            outside: happened,
            told: tell,
        };
        let ours = gate.clone();
        let running = tokio::spawn(async move {
            let client = End::new(client_end.0, client_end.1);
            let server = End::new(server_end.0, server_end.1);
            let mut relay = Relay::new(&ours, setup, client, server);
            let command = Command { program: "/bin/server".to_owned(), args: vec!["-v".to_owned()], shown: Shown::ALL };
            relay.begin(&command, SdkInfo { name: "mcp-proxy".to_owned(), version: "0".to_owned() });
            if made.waits == Waits::ForDebugger {
                relay.wait();
            }
            let state = relay.run().await;
            relay.end(SessionEnd { exit_code: Some(0), ..SessionEnd::default() });
            state
        });
        Stage { host, server, gate, drain, seen: Vec::new(), running, outside, told, terminal, written: Some(written) }
    }

    /// Somebody watches.
    pub(super) fn attach(&self) {
        let hub = HubCaps::listed(["edit-input", "watch", "guard-holds"]);
        self.gate.presence(Presence::Attached { watched: Watched::Yes, hub });
    }

    /// A hub is there, and nobody looks.
    pub(super) fn attach_unwatched(&self) {
        let hub = HubCaps::listed(["edit-input", "watch"]);
        self.gate.presence(Presence::Attached { watched: Watched::No, hub });
    }

    pub(super) fn arm(&self, matchers: &[&str]) {
        let matchers = matchers.iter().map(|matcher| Matcher::read(raw(matcher).view()).expect("a matcher")).collect();
        self.gate.arm(matchers, RunMode::Run);
    }

    /// The host says a line and the server hears it.
    pub(super) async fn up(&mut self, line: &str) {
        self.host.say(line).await;
        assert_eq!(self.server.hear().await, line);
    }

    /// The server says a line and the host hears it.
    pub(super) async fn down(&mut self, line: &str) {
        self.server.say(line).await;
        assert_eq!(self.host.hear().await, line);
    }

    /// Waits until the n-th pause, and says what is paused.
    pub(super) async fn paused(&mut self, number: usize) -> String {
        loop {
            let pauses = self.seen.iter().filter(|event| matches!(event, Event::ExecPaused(_)));
            if let Some(Event::ExecPaused(paused)) = pauses.clone().nth(number - 1) {
                assert_eq!(*paused.pause_id, *format!("pause_abcdef_{number}"));
                return format!("{} {}", paused.node_id, paused.point);
            }
            self.more().await;
        }
    }

    /// Releases the n-th pause; `rest` are the further members of the resume.
    pub(super) fn resume(&self, number: usize, rest: &str) {
        let frame = format!(
            r#"{{"gm":1,"seq":1,"ts":1,"runId":"*","type":"exec.resume","payload":{{"pauseId":"pause_abcdef_{number}",{rest}}}}}"#
        );
        let Parsed::Ok(envelope) = parse(Bytes::from(frame.clone())) else { panic!("not a frame: {frame}") };
        let Control::Resume(resume) = Control::read(&envelope).expect("a resume") else {
            panic!("not a resume: {frame}")
        };
        self.gate.resume(resume);
    }

    async fn more(&mut self) {
        let batch = tokio::time::timeout(Duration::from_secs(3_600), self.drain.next()).await;
        let batch = batch.expect("something happens").expect("the tap is open");
        self.seen.extend(batch.events.into_iter().map(|queued| queued.event));
    }

    /// What was told by now, without any waiting.
    pub(super) fn so_far(&mut self) -> impl Iterator<Item = &Event> {
        self.take_in();
        self.seen.iter()
    }

    fn take_in(&mut self) {
        while let Some(batch) = self.drain.now() {
            self.seen.extend(batch.events.into_iter().map(|queued| queued.event));
        }
    }

    /// Everything that was told so far.
    pub(super) async fn events(&mut self) -> &[Event] {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        if !self.gate.is_attached() {
            tokio::time::sleep(UNTIL_TOLD).await;
        }
        self.take_in();
        &self.seen
    }

    /// The story from some event on, a line each.
    pub(super) async fn story(&mut self, from: &str) -> String {
        let lines: Vec<String> = self.events().await.iter().map(told).collect();
        let start =
            lines.iter().position(|line| line.contains(from)).unwrap_or_else(|| panic!("no {from} in {lines:#?}"));
        lines[start..].join("\n")
    }

    /// The payload of the first event of a kind about a node.
    pub(super) async fn payload(&mut self, kind: &str, node: &str) -> String {
        let events = self.events().await;
        let of = |event: &&Event| event.kind() == kind && text(event.payload().view(), "nodeId") == node;
        format!("{:?}", events.iter().find(of).unwrap_or_else(|| panic!("no {kind} of {node}")).payload())
    }

    /// What happened outside.
    pub(super) async fn outside(&self, event: Outside) {
        self.outside.send(event).await.expect("somebody listens");
    }

    pub(super) fn told(&mut self) -> Option<Told> {
        self.told.try_recv().ok()
    }

    pub(super) fn is_running(&self) -> bool {
        !self.running.is_finished()
    }

    /// The server hangs up; the session is over.
    pub(super) async fn close(&mut self) -> State {
        self.server.hang_up().await;
        (&mut self.running).await.expect("no panic")
    }

    /// Waits for the end of a session that ends by itself.
    pub(super) async fn ended(&mut self) -> State {
        (&mut self.running).await.expect("no panic")
    }

    /// Everything that was said on the terminal. The session has to be over.
    pub(super) async fn terminal(&mut self) -> String {
        self.written.take().expect("asked once").for_certain().await;
        String::from_utf8(self.terminal.0.lock().expect("a lock").clone()).expect("UTF-8")
    }
}

/// Lets some time pass, and everybody act on it.
pub(super) async fn pass(ms: u64) {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    tokio::time::advance(Duration::from_millis(ms)).await;
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

pub(super) fn raw(text: &str) -> Raw {
    Raw::parse(text.to_owned()).expect("a JSON text")
}

/// An event in one line.
fn told(event: &Event) -> String {
    let payload = event.payload();
    let view = payload.view();
    let mut line = event.kind().to_owned();
    for name in ["nodeId", "instanceId", "point", "status", "action"] {
        if let Some(word) = view.get(name).and_then(View::str) {
            write!(line, " {word}").expect("it is a String");
        }
    }
    if let Some(parent) = view.get("parentId").and_then(View::str) {
        write!(line, " in {parent}").expect("it is a String");
    }
    for name in ["notification", "batched", "injected", "gatedAt", "cancelled", "retries", "rounds"] {
        if let Some(value) = view.get(name) {
            write!(line, " {name}={value:?}").expect("it is a String");
        }
    }
    let error: Option<&ErrorInfo> = match event {
        Event::NodeError(event) => Some(&event.error),
        Event::RunFinished(event) => event.error.as_ref(),
        _ => None,
    };
    if let Some(error) = error {
        write!(line, " {}: {}", error.name, error.message).expect("it is a String");
    }
    line
}

fn text(view: View<'_>, name: &str) -> String {
    view.get(name).and_then(View::str).map(std::borrow::Cow::into_owned).unwrap_or_default()
}

/// What has passed is told after this time at the latest.
const UNTIL_TOLD: Duration = Duration::from_millis(10);
pub(super) const CALL: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{"n":1.50}}}"#;
pub(super) const RESULT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
