//! A hub that plays a part: it answers, or stays silent, lies, hangs up, reads slowly. For tests of whoever dials one.
//! It listens on 127.0.0.1, on a port of its own, and remembers every frame it was sent.

mod connection;
mod seen;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

pub use seen::Seen;

/// How the hub treats whoever dials it.
#[derive(Clone, Debug)]
pub enum Manner {
    /// Answers each hello.
    Acks(Ack),
    /// Answers each hello with this text.
    Says(String),
    /// Upgrades and listens, but never answers a hello.
    NeverAcks,
    /// Accepts the TCP connection and does nothing with it.
    NeverUpgrades,
    /// Hangs up as soon as somebody connects.
    HangsUp,
    /// Answers the upgrade with an HTTP error.
    Refuses,
}

/// A `hello.ack`, part by part; the parts are JSON texts.
#[derive(Clone, Debug)]
pub struct Ack {
    /// `versions.protocol`
    pub protocol: u64,
    /// `breakpoints`, or none at all.
    pub breakpoints: Option<String>,
    /// `mode`
    pub mode: &'static str,
    /// `sessionToken`
    pub token: Option<String>,
    /// `hubCapabilities`; none from a hub of the 0.5 line.
    pub hub_capabilities: Option<String>,
    /// `watched`
    pub watched: Option<bool>,
}

impl Ack {
    /// No breakpoints, mode run, and the capabilities of a hub of ours.
    pub fn plain() -> Ack {
        Ack {
            protocol: 1,
            breakpoints: Some("[]".to_owned()),
            mode: "run",
            token: Some("tok-1".to_owned()),
            hub_capabilities: Some(r#"["pause-registry","edit-input","watch","conditions","guard-holds"]"#.to_owned()),
            watched: Some(true),
        }
    }

    /// A plain one that arms `breakpoints`, the JSON of a list of matchers.
    pub fn arming(breakpoints: &str) -> Ack {
        Ack { breakpoints: Some(breakpoints.to_owned()), ..Ack::plain() }
    }

    /// The payload.
    pub fn payload(&self) -> String {
        let mut parts = vec![
            format!(r#""versions":{{"protocol":{},"viewer":"fake/0"}}"#, self.protocol),
            r#""capabilities":["pause","step","inject","retry","abort","run-claim"]"#.to_owned(),
        ];
        parts.extend(self.token.as_ref().map(|token| format!(r#""sessionToken":"{token}""#)));
        parts.extend(self.hub_capabilities.as_ref().map(|names| format!(r#""hubCapabilities":{names}"#)));
        parts.extend(self.watched.map(|watched| format!(r#""watched":{watched}"#)));
        parts.extend(self.breakpoints.as_ref().map(|list| format!(r#""breakpoints":{list}"#)));
        parts.push(format!(r#""mode":"{}""#, self.mode));
        format!("{{{}}}", parts.join(","))
    }
}

/// A running hub. It ends with the runtime of the test.
pub struct FakeHub {
    address: SocketAddr,
    stage: Arc<Stage>,
    listening: JoinHandle<()>,
}

impl FakeHub {
    /// Listens on a free port.
    pub async fn start(manner: Manner) -> FakeHub {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        FakeHub::on(listener, manner)
    }

    /// Listens where a hub was before, as one that was restarted does.
    pub async fn restart(address: SocketAddr, manner: Manner) -> FakeHub {
        let listener = TcpListener::bind(address).await.expect("the port is free again");
        FakeHub::on(listener, manner)
    }

    fn on(listener: TcpListener, manner: Manner) -> FakeHub {
        let address = listener.local_addr().expect("a bound listener has an address");
        let stage = Arc::new(Stage {
            script: Mutex::new(Script {
                manner,
                frames: Vec::new(),
                dials: 0,
                upgraded: 0,
                replies: 0,
                lines: Vec::new(),
            }),
            changed: watch::Sender::new(0),
            reading: watch::Sender::new(Reading::AtOnce),
        });
        let listening = tokio::spawn(accept(listener, Arc::clone(&stage)));
        FakeHub { address, stage, listening }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where an app dials it.
    pub fn url(&self) -> String {
        format!("ws://{}/ingest", self.address)
    }

    /// Treats later connections another way.
    pub fn turn(&self, manner: Manner) {
        self.stage.lock().manner = manner;
    }

    /// TCP connections so far.
    pub fn dials(&self) -> usize {
        self.stage.lock().dials
    }

    /// Connections that were upgraded, so far.
    pub fn upgraded(&self) -> usize {
        self.stage.lock().upgraded
    }

    /// Everything it was sent.
    pub fn frames(&self) -> Vec<Seen> {
        self.stage.lock().frames.clone()
    }

    /// Waits until `look` finds what it wants in the frames so far.
    ///
    /// # Panics
    /// After ten seconds, with all frames, so that a test never hangs.
    pub async fn until<T>(&self, wanted: &str, look: impl Fn(&[Seen]) -> Option<T>) -> T {
        let mut changed = self.stage.changed.subscribe();
        let found = async {
            loop {
                changed.borrow_and_update();
                if let Some(found) = look(&self.stage.lock().frames) {
                    return found;
                }
                changed.changed().await.expect("the stage outlives its audience");
            }
        };
        match tokio::time::timeout(Duration::from_secs(10), found).await {
            Ok(found) => found,
            Err(_) => {
                let lines: Vec<String> = self.frames().iter().map(Seen::line).collect();
                panic!("waited in vain for {wanted}; seen:\n{}", lines.join("\n"));
            }
        }
    }

    /// Waits until `count` frames of `kind` came, and gives the last of them.
    pub async fn nth(&self, kind: &str, count: usize) -> Seen {
        let wanted = format!("{count} of {kind}");
        self.until(&wanted, |frames| {
            frames.iter().filter(|seen| seen.kind == kind).nth(count.saturating_sub(1)).cloned()
        })
        .await
    }

    /// Sends a control on the newest connection.
    pub async fn control(&self, kind: &str, payload: &str) {
        let seq = self.stage.next_reply();
        self.say(frame(seq, kind, payload)).await;
    }

    /// Releases a hold.
    pub async fn resume(&self, pause_id: &str, action: &str) {
        self.control("exec.resume", &format!(r#"{{"pauseId":"{pause_id}","action":"{action}"}}"#)).await;
    }

    /// Sends any text on the newest connection.
    pub async fn say(&self, text: impl Into<String>) {
        self.order(Order::Say(text.into())).await;
    }

    /// Sends a binary frame on the newest connection.
    pub async fn say_bytes(&self, bytes: Vec<u8>) {
        self.order(Order::SayBytes(bytes)).await;
    }

    /// Cuts the newest connection without a word.
    pub async fn cut(&self) {
        self.order(Order::Cut).await;
    }

    /// Closes the newest connection as the protocol has it.
    pub async fn close(&self) {
        self.order(Order::Close).await;
    }

    /// Reads nothing more until told otherwise, so that whoever sends runs into a full socket.
    pub fn read(&self, reading: Reading) {
        self.stage.reading.send_replace(reading);
    }

    /// Stops listening; open connections stay.
    pub async fn stop_listening(self) {
        self.listening.abort();
        // The port is free once the task is gone.
        let _ = self.listening.await;
    }

    async fn order(&self, order: Order) {
        let line = self.stage.lock().lines.iter().rev().find(|line| !line.is_closed()).cloned();
        if let Some(line) = line {
            // A connection that is gone needs no orders.
            let _ = line.send(order).await;
        }
    }
}

/// Whether the hub reads what it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// As it comes.
    AtOnce,
    /// Not at all.
    Never,
}

/// A frame of the hub: `*` for a run, as for all controls.
pub fn frame(seq: u64, kind: &str, payload: &str) -> String {
    format!(r#"{{"gm":1,"seq":{seq},"ts":1796067744239,"runId":"*","type":"{kind}","payload":{payload}}}"#)
}

/// What the connections of one hub share.
struct Stage {
    script: Mutex<Script>,
    /// Bumped whenever a frame came in.
    changed: watch::Sender<u64>,
    reading: watch::Sender<Reading>,
}

struct Script {
    manner: Manner,
    frames: Vec<Seen>,
    dials: usize,
    upgraded: usize,
    replies: u64,
    /// Where orders for each connection go, the newest last.
    lines: Vec<mpsc::Sender<Order>>,
}

enum Order {
    Say(String),
    SayBytes(Vec<u8>),
    Cut,
    Close,
}

impl Stage {
    fn lock(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_reply(&self) -> u64 {
        let mut script = self.lock();
        script.replies += 1;
        script.replies - 1
    }
}

async fn accept(listener: TcpListener, stage: Arc<Stage>) {
    while let Ok((socket, _)) = listener.accept().await {
        let manner = {
            let mut script = stage.lock();
            script.dials += 1;
            script.manner.clone()
        };
        tokio::spawn(connection::serve(socket, manner, Arc::clone(&stage)));
    }
}
