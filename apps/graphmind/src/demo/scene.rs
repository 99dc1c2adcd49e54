//! Turns recorded events into fresh ones: own sequence, own times, names of the attempt. Told the time, never asks for it.

use std::time::{Duration, Instant};

use lockgate_protocol::debug::{
    Envelope, ErrorInfo, Event, ExecPaused, ExecResume, ExecResumed, Matcher, NodeFinished, PausePoint, PauseReason,
    RunFinished, RunId, RunMode, RunStatus,
};
use lockgate_protocol::json::{Number, Object, Raw, Value};

use super::script::{Frame, Stop, text};

/// What stands now: the nodes on stage, and what the person armed.
pub(super) struct Scene {
    run: RunId,
    seq: u64,
    attempt: u32,
    open: Vec<Open>,
    pub(super) armed: Armed,
}

struct Open {
    node: String,
    instance: String,
    since: Instant,
    held: Duration,
}

/// Breakpoints and mode, as the hub relays them.
pub(super) struct Armed {
    pub(super) matchers: Vec<Matcher>,
    pub(super) mode: RunMode,
}

/// A moment on both clocks.
#[derive(Clone, Copy)]
pub(super) struct Now {
    pub(super) at: Instant,
    pub(super) ms: u64,
}

impl Armed {
    pub(super) fn set(&mut self, matcher: Matcher) {
        self.clear(&matcher);
        self.matchers.push(matcher);
    }

    pub(super) fn clear(&mut self, matcher: &Matcher) {
        let key = matcher.key();
        self.matchers.retain(|known| known.key() != key);
    }

    /// Conditions are not for us: a client that does not announce them is never sent one.
    pub(super) fn holds(&self, stop: &Stop) -> bool {
        let matches = |matcher: &Matcher| {
            matcher.point.unwrap_or(PausePoint::Before) == stop.point
                && matcher.kind.is_none_or(|kind| kind == stop.kind)
                && matcher.name.as_ref().is_none_or(|name| *name == stop.name)
        };
        self.mode == RunMode::Step && stop.point != PausePoint::After || self.matchers.iter().any(matches)
    }
}

impl Scene {
    pub(super) fn new(run: RunId, armed: Armed) -> Scene {
        Scene { run, seq: 0, attempt: 0, open: Vec::new(), armed }
    }

    /// A recorded event, made fresh. `answer` takes the place of the held call's output.
    pub(super) fn play(&mut self, frame: &Frame, stop: &Stop, answer: Option<&Raw>, now: Now) -> Envelope {
        let mut payload = frame.payload.clone();
        let held_call = text(&payload, "instanceId").is_some_and(|instance| instance == stop.instance);
        if held_call {
            payload.insert("instanceId", self.instance(stop));
        }
        match frame.kind.as_str() {
            "node.started" => self.opened(&payload, now),
            "node.finished" => {
                if let Some(answer) = answer.filter(|_| held_call).and_then(|answer| answer.to_value().ok()) {
                    payload.insert("output", answer);
                }
                self.closed(&mut payload, now);
            }
            _ => {}
        }
        self.envelope(&frame.kind, Raw::from_value(&Value::Object(payload)), now)
    }

    pub(super) fn pause(&mut self, stop: &Stop, pause: &str, now: Now) -> Envelope {
        let paused = ExecPaused {
            pause_id: pause.into(),
            node_id: stop.node.as_str().into(),
            point: stop.point,
            reason: Some(PauseReason::Error),
            looped: None,
            smart: None,
            editable: false,
            instance_id: Some(self.instance(stop).into()),
            hold: None,
            until: None,
            extra: Vec::new(),
        };
        self.event(&Event::ExecPaused(paused), now)
    }

    /// The release, with the time held put down to the call and to the agent around it.
    pub(super) fn resume(&mut self, stop: &Stop, resume: &ExecResume, held: Duration, now: Now) -> Envelope {
        let instance = self.instance(stop);
        for open in self.open.iter_mut().filter(|open| open.instance == instance || open.instance == stop.root) {
            open.held += held;
        }
        let resumed = ExecResumed {
            pause_id: resume.pause_id.clone(),
            action: resume.action,
            edited: None,
            request_id: resume.request_id.clone(),
            redaction: None,
            extra: Vec::new(),
        };
        self.event(&Event::ExecResumed(resumed), now)
    }

    /// Ends the failed attempt; what follows is the next one.
    pub(super) fn retry(&mut self, stop: &Stop, now: Now) -> Vec<Envelope> {
        let instance = self.instance(stop);
        self.attempt += 1;
        let failed = |open: &Open| open.instance == instance;
        self.finish(failed, RunStatus::Error, now)
    }

    /// Ends all that is open, the innermost first, and the run.
    pub(super) fn abort(&mut self, now: Now) -> Vec<Envelope> {
        let mut events = self.finish(|_| true, RunStatus::Aborted, now);
        let error =
            ErrorInfo { name: "AbortError".to_owned(), message: "aborted in the debugger".to_owned(), stack: None };
        let finished = RunFinished { status: RunStatus::Aborted, error: Some(error), extra: Vec::new() };
        events.push(self.event(&Event::RunFinished(finished), now));
        events
    }

    fn finish(&mut self, which: impl Fn(&Open) -> bool, status: RunStatus, now: Now) -> Vec<Envelope> {
        let (ending, open) = std::mem::take(&mut self.open).into_iter().partition::<Vec<Open>, _>(which);
        self.open = open;
        let finished = |open: Open| NodeFinished {
            node_id: open.node.into(),
            instance_id: Some(open.instance.into()),
            output: None,
            usage: None,
            duration_ms: millis(now.at.saturating_duration_since(open.since)),
            held_ms: Some(millis(open.held)),
            status,
            redaction: None,
            extra: Vec::new(),
        };
        ending.into_iter().rev().map(|open| self.event(&Event::NodeFinished(finished(open)), now)).collect()
    }

    /// The held call's execution: each retry is one of its own.
    fn instance(&self, stop: &Stop) -> String {
        match self.attempt {
            0 => stop.instance.clone(),
            attempt => format!("{}#retry{attempt}", stop.instance),
        }
    }

    fn opened(&mut self, payload: &Object, now: Now) {
        if let (Some(node), Some(instance)) = (text(payload, "nodeId"), text(payload, "instanceId")) {
            self.open.push(Open { node, instance, since: now.at, held: Duration::ZERO });
        }
    }

    /// Puts in how long it really took here.
    fn closed(&mut self, payload: &mut Object, now: Now) {
        let instance = text(payload, "instanceId");
        let Some(place) = self.open.iter().position(|open| Some(&open.instance) == instance.as_ref()) else { return };
        let open = self.open.remove(place);
        let number = |ms: f64| Number::from_f64(ms).map_or(Value::Null, Value::Number);
        payload.insert("durationMs", number(millis(now.at.saturating_duration_since(open.since))));
        payload.insert("heldMs", number(millis(open.held)));
    }

    fn event(&mut self, event: &Event, now: Now) -> Envelope {
        self.envelope(event.kind(), event.payload(), now)
    }

    fn envelope(&mut self, kind: &str, payload: Raw, now: Now) -> Envelope {
        self.seq += 1;
        let kind = kind.to_owned().into();
        Envelope { seq: self.seq, ts: now.ms, run: self.run.clone(), kind, payload: Some(payload), extra: Vec::new() }
    }
}

fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 100_000.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::Script;
    use lockgate_protocol::debug::NodeKind;

    fn stage() -> (Script, Scene, Now) {
        let armed = Armed { matchers: Vec::new(), mode: RunMode::Run };
        let scene = Scene::new(RunId::new("demo-1").expect("good"), armed);
        (Script::bundled().expect("reads"), scene, Now { at: Instant::now(), ms: 1_000 })
    }

    fn shown(envelopes: &[Envelope]) -> String {
        let line =
            |event: &Envelope| format!("{} {} {:?}\n", event.seq, event.kind, event.payload.clone().expect("one"));
        envelopes.iter().map(line).collect()
    }

    #[test]
    fn a_retry_is_an_execution_of_its_own_and_abort_ends_all() {
        let (script, mut scene, now) = stage();
        let agent = script.base.iter().find(|frame| frame.kind == "node.started").expect("an agent");
        scene.play(agent, &script.stop, None, now);
        let mut events: Vec<Envelope> =
            script.fail.iter().map(|frame| scene.play(frame, &script.stop, None, now)).collect();
        events.push(scene.pause(&script.stop, "p1", now));
        let later = Now { at: now.at + Duration::from_millis(1_500), ms: 2_500 };
        let retry = ExecResume {
            pause_id: "p1".into(),
            action: lockgate_protocol::debug::ResumeAction::Retry,
            output: None,
            input: None,
            request_id: Some("req-1".to_owned()),
            pin: None,
        };
        events.push(scene.resume(&script.stop, &retry, Duration::from_millis(1_500), later));
        events.extend(scene.retry(&script.stop, later));
        events.extend(script.fail.iter().take(1).map(|frame| scene.play(frame, &script.stop, None, later)));
        events.extend(scene.abort(later));
        insta::assert_snapshot!(shown(&events), @r#"
        2 node.started {"nodeId":"tool:convert_currency","parentId":"agent:trip-planner","kind":"tool","name":"convert_currency","instanceId":"call_4","input":{"amount":522,"from":"USD","to":"EUR"}}
        3 node.error {"nodeId":"tool:convert_currency","instanceId":"call_4","error":{"name":"RateServiceError","message":"rates.example answered 503: no rate for USD since 09:14","stack":"RateServiceError: rates.example answered 503\n    at convert (rates.js:41:11)\n    at convert_currency (tools.js:88:20)"}}
        4 exec.paused {"pauseId":"p1","nodeId":"tool:convert_currency","point":"error","reason":"error","instanceId":"call_4"}
        5 exec.resumed {"pauseId":"p1","action":"retry","requestId":"req-1"}
        6 node.finished {"nodeId":"tool:convert_currency","instanceId":"call_4","durationMs":1500,"status":"error","heldMs":1500}
        7 node.started {"nodeId":"tool:convert_currency","parentId":"agent:trip-planner","kind":"tool","name":"convert_currency","instanceId":"call_4#retry1","input":{"amount":522,"from":"USD","to":"EUR"}}
        8 node.finished {"nodeId":"tool:convert_currency","instanceId":"call_4#retry1","durationMs":0,"status":"aborted","heldMs":0}
        9 node.finished {"nodeId":"agent:trip-planner","instanceId":"agent_1","durationMs":1500,"status":"aborted","heldMs":1500}
        10 run.finished {"status":"aborted","error":{"name":"AbortError","message":"aborted in the debugger"}}
        "#);
    }

    #[test]
    fn an_answer_takes_the_place_of_the_recorded_one() {
        let (script, mut scene, now) = stage();
        let finish = script.inject.first().expect("the call's end");
        let answer = Raw::parse("{\"rate\":1e400}").expect("JSON");
        let played = scene.play(finish, &script.stop, Some(&answer), now);
        assert!(shown(&[played]).contains(r#""output":{"rate":1e400}"#));
        let other = script.inject.iter().rfind(|frame| frame.kind == "node.finished").expect("the agent's end");
        let played = scene.play(other, &script.stop, Some(&answer), now);
        assert!(!shown(&[played]).contains("1e400"));
    }

    #[test]
    fn breakpoints() {
        let (script, _, _) = stage();
        let check = |matchers: &[Matcher], mode: RunMode, expected: bool| {
            let armed = Armed { matchers: matchers.to_vec(), mode };
            assert_eq!(armed.holds(&script.stop), expected, "{matchers:?}");
        };
        let error = Matcher { point: Some(PausePoint::Error), ..Matcher::default() };
        check(&[], RunMode::Run, false);
        check(&[], RunMode::Step, true);
        check(&[Matcher::default()], RunMode::Run, false);
        check(std::slice::from_ref(&error), RunMode::Run, true);
        check(&[Matcher { kind: Some(NodeKind::Tool), ..error.clone() }], RunMode::Run, true);
        check(&[Matcher { kind: Some(NodeKind::Llm), ..error.clone() }], RunMode::Run, false);
        check(&[Matcher { name: Some("book".to_owned()), ..error.clone() }], RunMode::Run, false);
        let mut armed = Armed { matchers: vec![error.clone()], mode: RunMode::Run };
        armed.set(error.clone());
        assert_eq!(armed.matchers.len(), 1);
        armed.clear(&Matcher::default());
        assert!(armed.holds(&script.stop));
        armed.clear(&error);
        assert!(!armed.holds(&script.stop));
    }
}
