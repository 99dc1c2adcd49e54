//! One gate with its hub side: what is sent to it is written as on the wire, what it reports is shown in one line each.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use lockgate_gate::{
    Call, Drain, Gate, GateConfig, HubCaps, Node, Outcome, Passed, Policy, Presence, Queued, Refused, Stop, Tap,
    TapLimits, Verdict, Watched,
};
use lockgate_protocol::debug::{Control, Event, Matcher, NodeKind, Parsed, RunId, Until, parse};
use lockgate_protocol::json::Raw;
use tokio::task::JoinHandle;

pub(crate) struct Desk {
    pub(crate) gate: Gate,
    drain: Drain,
    pub(crate) warnings: Arc<Mutex<Vec<String>>>,
}

impl Desk {
    /// A gate made as `shape` says, attached to a hub that knows edits, and nothing armed.
    pub(crate) fn new(shape: impl FnOnce(&mut GateConfig)) -> Self {
        let desk = Self::detached(shape);
        desk.attach(Watched::Unknown, &["edit-input"]);
        desk
    }

    pub(crate) fn detached(shape: impl FnOnce(&mut GateConfig)) -> Self {
        let (tap, drain) = Tap::channel(TapLimits { events: 10_000, bytes: 1 << 30 });
        let warnings = Arc::new(Mutex::new(Vec::new()));
        let mut config = GateConfig::new(tap);
        config.pause_base = Some(0xab_cdef);
        let sink = Arc::clone(&warnings);
        config.warn = Arc::new(move |warning| sink.lock().expect("no panic").push(warning.to_string()));
        shape(&mut config);
        Self { gate: Gate::new(config), drain, warnings }
    }

    /// Says that a hub answered, with what it listed.
    pub(crate) fn attach(&self, watched: Watched, caps: &[&str]) {
        self.gate.presence(Presence::Attached { watched, hub: HubCaps::listed(caps.iter().copied()) });
    }

    /// A hub of 0.5: it listed nothing.
    pub(crate) fn attach_old(&self) {
        self.gate.presence(Presence::Attached { watched: Watched::Unknown, hub: HubCaps::OLD });
    }

    pub(crate) fn detach(&self) {
        self.gate.presence(Presence::Detached);
    }

    /// `breakpoint.set`
    pub(crate) fn set(&self, matcher: &str) {
        self.gate.set(read_matcher(matcher));
    }

    /// `breakpoint.clear`
    pub(crate) fn clear(&self, matcher: &str) {
        self.gate.clear(&read_matcher(matcher));
    }

    /// `exec.resume` for the n-th pause; `rest` are the other members of its payload.
    pub(crate) fn answer(&self, pause: u64, rest: &str) {
        self.resume(&format!("pause_abcdef_{pause}"), rest);
    }

    pub(crate) fn resume(&self, pause: &str, rest: &str) {
        let frame = format!(
            r#"{{"gm":1,"seq":1,"ts":1,"runId":"*","type":"exec.resume","payload":{{"pauseId":"{pause}",{rest}}}}}"#
        );
        let Parsed::Ok(envelope) = parse(Bytes::from(frame.clone())) else { panic!("not a frame: {frame}") };
        match Control::read(&envelope).expect("a resume") {
            Control::Resume(resume) => self.gate.resume(resume),
            other => panic!("not a resume: {other:?}"),
        }
    }

    /// Sends a call through the gate and lets it go as far as it gets by itself.
    pub(crate) async fn pass(&self, call: Call, at: Stop) -> JoinHandle<Outcome> {
        let gate = self.gate.clone();
        let passing = tokio::spawn(async move { gate.pass(call, at).await });
        settle().await;
        passing
    }

    /// Sends a call that nothing holds.
    pub(crate) async fn through(&self, call: Call, at: Stop) -> String {
        let passing = self.pass(call, at).await;
        assert!(passing.is_finished(), "held");
        outcome(passing).await
    }

    /// Whether a call is held; if so it is let go again.
    pub(crate) async fn holds(&mut self, call: Call, at: Stop) -> bool {
        let passing = self.pass(call, at).await;
        let held = self.gate.held() > 0;
        self.gate.release_all();
        outcome(passing).await;
        self.log();
        held
    }

    /// What was reported since the last look.
    pub(crate) fn log(&mut self) -> Vec<String> {
        self.queued().iter().map(line).collect()
    }

    /// The same, as it would be sent.
    pub(crate) fn frames(&mut self) -> Vec<String> {
        self.queued().iter().map(|queued| format!("{} {:?}", queued.event.kind(), queued.event.payload())).collect()
    }

    pub(crate) fn queued(&mut self) -> Vec<Queued> {
        self.drain.now().map(|batch| batch.events).unwrap_or_default()
    }

    pub(crate) fn warnings(&self) -> Vec<String> {
        std::mem::take(&mut *self.warnings.lock().expect("no panic"))
    }
}

/// Lets every task run until it waits; the clock stands still.
pub(crate) async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

/// Lets the paused clock run.
pub(crate) async fn after(ms: u64) {
    tokio::time::advance(Duration::from_millis(ms)).await;
    settle().await;
}

/// What a call was given in the end; it must have been given something by now.
pub(crate) async fn outcome(passing: JoinHandle<Outcome>) -> String {
    settle().await;
    assert!(passing.is_finished(), "still held");
    shown(&passing.await.expect("no panic"))
}

pub(crate) fn shown(outcome: &Outcome) -> String {
    let passed = |word: &str, passed: &Passed<Call>| {
        let part = |word: &str, raw: Option<&Raw>| raw.map_or(String::new(), |raw| format!(" {word} {}", text(raw)));
        format!("{word}{}{}", part("edited", passed.edited()), part("amended", passed.amended()))
    };
    match outcome {
        Outcome::Go(go) => passed("go", go),
        Outcome::Again(again) => passed("again", again),
        Outcome::Answer(output) => format!("answer {}", output.as_ref().map_or("nothing".to_owned(), text)),
        Outcome::Refuse(Refused::Aborted) => "aborted".to_owned(),
        Outcome::Refuse(Refused::Cancelled) => "cancelled".to_owned(),
        Outcome::Refuse(Refused::Policy(refusal)) => format!("refused {} {}", refusal.code, refusal.message),
    }
}

fn line(queued: &Queued) -> String {
    let number = |pause: &str| pause.strip_prefix("pause_abcdef_").unwrap_or(pause).to_owned();
    let request = |id: &Option<String>| id.as_ref().map_or(String::new(), |id| format!(" #{id}"));
    let when =
        |until: &Option<Until>| until.as_ref().map_or(String::new(), |until| format!(" {}", ahead(queued, until)));
    match &queued.event {
        Event::ExecPaused(paused) => format!(
            "paused {} {} {}{}{}",
            number(&paused.pause_id),
            paused.point,
            paused.reason.expect("always given"),
            if paused.editable { " editable" } else { "" },
            when(&paused.until),
        ),
        Event::ExecResumed(resumed) => format!(
            "resumed {} {}{}{}",
            number(&resumed.pause_id),
            resumed.action,
            resumed.edited.as_ref().map_or(String::new(), |after| format!(" edited {}", text(after))),
            request(&resumed.request_id),
        ),
        Event::ExecRefused(refused) => format!(
            "refused {} {}{}: {}",
            number(&refused.pause_id),
            refused.code,
            request(&refused.request_id),
            refused.message.as_deref().unwrap_or("-"),
        ),
        Event::ExecUntil(until) => format!("until {}{}", number(&until.pause_id), when(&until.until)),
        other => format!("{other:?}"),
    }
}

/// How far ahead the announced end is, to a tenth of a second: the clocks of both sides are read one after the other.
fn ahead(queued: &Queued, until: &Until) -> String {
    let ms = until.at.expect("given with every end").saturating_sub(queued.ts_ms);
    format!("{} in {} ms by {}", until.action, (ms + 50) / 100 * 100, until.why)
}

pub(crate) fn text(raw: &Raw) -> String {
    String::from_utf8_lossy(raw.as_bytes()).into_owned()
}

pub(crate) fn raw(text: &str) -> Raw {
    Raw::parse(text.to_owned()).expect("JSON")
}

pub(crate) fn read_matcher(text: &str) -> Matcher {
    Matcher::read(raw(text).view()).expect("a matcher")
}

/// A call of a tool in run `r`, with an input.
pub(crate) fn tool(name: &str) -> Call {
    node(NodeKind::Tool, name)
}

pub(crate) fn node(kind: NodeKind, name: &str) -> Call {
    let node = Node { id: format!("{kind}:{name}").into(), kind, name: name.into() };
    Call { input: Some(raw(r#"{"x":1}"#)), ..Call::new(RunId::new("r").expect("no NUL"), Arc::new(node)) }
}

/// A policy made of a function.
pub(crate) struct Says<F>(pub(crate) F);

impl<F: Fn(&Call, Stop) -> Verdict + Send + Sync> Policy for Says<F> {
    fn judge(&self, call: &Call, at: Stop) -> Verdict {
        (self.0)(call, at)
    }
}
