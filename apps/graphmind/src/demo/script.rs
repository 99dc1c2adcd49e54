//! The recording: a head line, then one event a line, in four branches around the point where the run can be held.

use lockgate_protocol::debug::{NodeKind, PausePoint};
use lockgate_protocol::json::{Object, Raw, Value};
use thiserror::Error;

/// A recording, read and checked.
#[derive(Debug)]
pub(crate) struct Script {
    pub(super) stop: Stop,
    /// Up to the call that fails.
    pub(super) base: Vec<Frame>,
    /// That call; played again on retry.
    pub(super) fail: Vec<Frame>,
    /// After it, if nobody helps.
    pub(super) cont: Vec<Frame>,
    /// After it, with an answer put in its place.
    pub(super) inject: Vec<Frame>,
}

/// Where the run can be held.
#[derive(Debug)]
pub(super) struct Stop {
    pub(super) node: String,
    pub(super) name: String,
    pub(super) kind: NodeKind,
    pub(super) point: PausePoint,
    pub(super) instance: String,
    /// Execution of the agent around it, which is held along with it.
    pub(super) root: String,
}

/// One recorded event.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// Milliseconds into the recording.
    pub(super) at: u64,
    pub(super) kind: String,
    pub(super) payload: Object,
}

/// Why a recording cannot be played.
#[derive(Debug, Error)]
#[error("demo recording, line {line}: {problem}")]
pub(crate) struct ScriptError {
    line: usize,
    problem: String,
}

impl Script {
    /// The recording that comes with the program.
    pub(crate) fn bundled() -> Result<Script, ScriptError> {
        Script::read(include_str!("../../fixtures/trip-planner.ndjson"))
    }

    fn read(text: &str) -> Result<Script, ScriptError> {
        let mut lines = text.lines().enumerate();
        let stop = lines.next().and_then(|(_, line)| head(line));
        let stop = stop.ok_or_else(|| ScriptError { line: 1, problem: "no head of version 1".to_owned() })?;
        let [mut base, mut fail, mut cont, mut inject] = [const { Vec::new() }; 4];
        for (at, line) in lines {
            let wrong = |problem: &str| ScriptError { line: at + 1, problem: problem.to_owned() };
            let (branch, frame) = frame(line).ok_or_else(|| wrong("not an event"))?;
            match branch.as_str() {
                "base" => base.push(frame),
                "fail" => fail.push(frame),
                "cont" => cont.push(frame),
                "inject" => inject.push(frame),
                _ => return Err(wrong("unknown branch")),
            }
        }
        Ok(Script { stop, base, fail, cont, inject })
    }
}

fn head(line: &str) -> Option<Stop> {
    let head = object(line)?;
    let Some(Value::Object(demo)) = head.get("demo") else { return None };
    let Some(Value::Object(stop)) = head.get("pause") else { return None };
    if *demo.get("version")? != Value::from(1_u64) {
        return None;
    }
    Some(Stop {
        node: text(stop, "nodeId")?,
        name: text(stop, "name")?,
        kind: NodeKind::parse(&text(stop, "kind")?)?,
        point: PausePoint::parse(&text(stop, "point")?)?,
        instance: text(stop, "instanceId")?,
        root: text(stop, "rootInstanceId")?,
    })
}

fn frame(line: &str) -> Option<(String, Frame)> {
    let line = object(line)?;
    let Some(Value::Number(at)) = line.get("at") else { return None };
    let Some(Value::Object(payload)) = line.get("payload") else { return None };
    let frame = Frame { at: at.as_u64()?, kind: text(&line, "type")?, payload: payload.clone() };
    Some((text(&line, "branch")?, frame))
}

fn object(line: &str) -> Option<Object> {
    let value = Raw::parse(line.to_owned()).and_then(|raw| raw.to_value()).ok()?;
    if let Value::Object(object) = value { Some(object) } else { None }
}

pub(super) fn text(object: &Object, name: &str) -> Option<String> {
    let Some(Value::String(text)) = object.get(name) else { return None };
    text.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_protocol::debug::{Envelope, Parsed, RunId, parse};

    #[test]
    fn every_bundled_event_is_a_good_one() {
        let script = Script::bundled().expect("reads");
        let frames = [&script.base, &script.fail, &script.cont, &script.inject];
        for frame in frames.into_iter().flatten() {
            let payload = Some(Raw::from_value(&Value::Object(frame.payload.clone())));
            let run = RunId::new("demo-1").expect("good");
            let envelope = Envelope { seq: 0, ts: 0, run, kind: frame.kind.clone().into(), payload, extra: Vec::new() };
            let parsed = parse(envelope.to_text().into());
            assert!(matches!(parsed, Parsed::Ok(_)), "{parsed:?}");
        }
        let ends = [&script.cont, &script.inject].map(|branch| branch.last().map(|frame| frame.kind.clone()));
        assert_eq!(ends, [Some("run.finished".to_owned()), Some("run.finished".to_owned())]);
    }

    #[test]
    fn broken_recordings_name_their_line() {
        let check = |text: &str, expected: &str| {
            assert_eq!(Script::read(text).expect_err("broken").to_string(), expected);
        };
        let head = include_str!("../../fixtures/trip-planner.ndjson").lines().next().expect("a head");
        check("", "demo recording, line 1: no head of version 1");
        check("{\"demo\":{\"version\":2}}", "demo recording, line 1: no head of version 1");
        check(&format!("{head}\nx"), "demo recording, line 2: not an event");
        let elsewhere = r#"{"branch":"other","at":0,"type":"run.finished","payload":{}}"#;
        check(&format!("{head}\n{elsewhere}"), "demo recording, line 2: unknown branch");
    }
}
