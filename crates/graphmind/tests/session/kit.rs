//! An app with a session, the calls it makes, and what it complained about.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lockgate_gate::{Call, Node, Outcome, Stop};
use lockgate_graphmind::{Environment, READY, Ready, Session, SessionConfig, Span, Stopped, Timing};
use lockgate_protocol::debug::{NodeKind, SdkInfo};
use lockgate_protocol::json::Raw;
use lockgate_testkit::hub::{FakeHub, Seen};
use tokio::task::JoinHandle;

pub(crate) struct App {
    pub(crate) session: Session,
    pub(crate) running: JoinHandle<()>,
    warned: Arc<Mutex<Vec<String>>>,
}

/// Short waits, so that a test of what happens after them is short too.
pub(crate) const HASTY: Timing = Timing {
    connect: Duration::from_millis(300),
    handshake: Duration::from_millis(200),
    retry: Duration::from_millis(100),
};

pub(crate) fn config(url: &str) -> SessionConfig {
    let sdk = SdkInfo { name: "rust".to_owned(), version: "1.2.3".to_owned() };
    SessionConfig { url: Some(url.to_owned()), ..SessionConfig::new("probe-app", sdk, Environment::empty()) }
}

/// An environment with just these variables.
pub(crate) fn environment(set: &[(&str, &str)]) -> Environment {
    Environment::read(|name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
}

impl App {
    pub(crate) fn new(hub: &FakeHub) -> App {
        App::with(config(&hub.url()))
    }

    pub(crate) fn with(mut config: SessionConfig) -> App {
        let warned = Arc::new(Mutex::new(Vec::new()));
        let ear = Arc::clone(&warned);
        let sink = Arc::clone(&config.warn);
        config.warn = Arc::new(move |text| {
            ear.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
            sink(text);
        });
        let (session, running) = Session::new(config);
        App { session, running: tokio::spawn(running), warned }
    }

    /// An app that is attached already.
    pub(crate) async fn attached(hub: &FakeHub) -> App {
        App::attached_with(config(&hub.url())).await
    }

    pub(crate) async fn attached_with(config: SessionConfig) -> App {
        let app = App::with(config);
        assert_eq!(app.session.ready(READY).await, Ready::Yes);
        app
    }

    pub(crate) fn warned(&self) -> Vec<String> {
        self.warned.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until the session is, or is not, attached.
    pub(crate) async fn attachment(&self, wanted: Ready) {
        let mut presence = self.session.presence();
        let wanted = wanted == Ready::Yes;
        let change = presence.wait_for(|presence| presence.is_attached() == wanted);
        tokio::time::timeout(Duration::from_secs(5), change).await.expect("in time").expect("the session lives");
    }

    /// Waits until the counts of the session are as they should be.
    pub(crate) async fn counts(&self, look: impl Fn(&lockgate_graphmind::Stats) -> bool) -> lockgate_graphmind::Stats {
        let found = async {
            loop {
                let stats = self.session.stats();
                if look(&stats) {
                    return stats;
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let found = tokio::time::timeout(Duration::from_secs(5), found).await;
        found.unwrap_or_else(|_| panic!("waited in vain, at last {:?}", self.session.stats()))
    }

    /// Calls a tool that gives its input back.
    pub(crate) async fn echo(&self, name: &str, input: &str) -> Result<Raw, Stopped> {
        let span = Span::new(NodeKind::Tool, name).input(raw(input));
        self.session.span(span, async |input| Ok(input.unwrap_or_else(Raw::null))).await
    }

    /// The same on a task of its own, for calls that are going to be held.
    pub(crate) fn echoing(&self, name: &str, input: &str) -> JoinHandle<Result<Raw, Stopped>> {
        let (session, name, input) = (self.session.clone(), name.to_owned(), raw(input));
        tokio::spawn(async move {
            let span = Span::new(NodeKind::Tool, &name).input(input);
            session.span(span, async |input| Ok(input.unwrap_or_else(Raw::null))).await
        })
    }

    /// Passes the gate with a bare call.
    pub(crate) async fn pass(&self, name: &str) -> Outcome {
        let node = Node { id: format!("tool:{name}").into(), kind: NodeKind::Tool, name: name.into() };
        self.session.gate().pass(Call::new(self.session.here().run().clone(), Arc::new(node)), Stop::Before).await
    }
}

pub(crate) fn raw(text: &str) -> Raw {
    Raw::parse(text.to_owned()).expect("tests are written in JSON")
}

/// What happens must happen soon.
pub(crate) async fn soon<T>(what: &str, work: impl Future<Output = T>) -> T {
    match tokio::time::timeout(Duration::from_secs(5), work).await {
        Ok(done) => done,
        Err(_) => panic!("waited in vain for {what}"),
    }
}

/// Types of the frames of one connection, hello left out.
pub(crate) fn kinds(frames: &[Seen], connection: usize) -> String {
    let own = frames.iter().filter(|seen| seen.connection == connection && seen.kind != "hello");
    own.map(|seen| seen.kind.as_str()).collect::<Vec<_>>().join(" ")
}

/// Payloads as text, with what differs from run to run replaced.
pub(crate) fn story(frames: &[Seen]) -> String {
    let lines =
        frames.iter().filter(|seen| seen.kind != "hello").map(|seen| format!("{} {}", seen.kind, tidy(&seen.payload)));
    lines.collect::<Vec<_>>().join("\n")
}

fn tidy(payload: &str) -> String {
    let mut out = payload.to_owned();
    for (key, shown) in [("\"durationMs\":", "[MS]"), ("\"heldMs\":", "[MS]")] {
        out = replace_value(&out, key, |value| if value == "0" { "0".to_owned() } else { shown.to_owned() });
    }
    for (key, shown) in [("\"instanceId\":", "\"[I]\""), ("\"pauseId\":", "\"[P]\"")] {
        out = replace_value(&out, key, |_| shown.to_owned());
    }
    out
}

fn replace_value(text: &str, key: &str, shown: impl Fn(&str) -> String) -> String {
    let Some((before, rest)) = text.split_once(key) else { return text.to_owned() };
    let end = rest.find([',', '}']).unwrap_or(rest.len());
    format!("{before}{key}{}{}", shown(&rest[..end]), &rest[end..])
}
