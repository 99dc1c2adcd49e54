//! From an event to the text of its frame: redact, add held time, write, shrink. Keeps its buffers from frame to frame.

use std::mem;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use lockgate_gate::Queued;
use lockgate_protocol::debug::{Envelope, Event, Gap, GraphHint, Hello, PROTOCOL, RunId};
use lockgate_protocol::json::{ObjectWriter, Raw};
use lockgate_protocol::shrink::{BUDGET, Shrunk, shrink, shrink_apart};
use tokio_tungstenite::tungstenite::Utf8Bytes;

use crate::ledger::Ledger;
use crate::redact::{Hide, Redacted, Redactor};
use crate::ring::{Frame, Loss};

pub(crate) struct Press {
    redactor: Redactor,
    ledger: Ledger,
    /// The frame being written; only its final text is copied out.
    out: Vec<u8>,
}

impl Press {
    pub(crate) fn new(hide: Hide) -> Press {
        Press { redactor: Redactor::new(hide), ledger: Ledger::default(), out: Vec::new() }
    }

    /// The frame of an event, and whether its payload could be told apart for hiding.
    pub(crate) fn frame(&mut self, queued: Queued) -> (Frame, Redacted) {
        let Queued { seq, ts_ms, at, run, mut event } = queued;
        let redacted = self.redactor.step(&run, &mut event);
        self.ledger.step(&run, &mut event, at);
        (self.write((seq, ts_ms), run, event), redacted)
    }

    /// The marker that tells of a loss.
    pub(crate) fn marker(&mut self, seq: u64, loss: &Loss) -> Frame {
        let gap = Gap { dropped_count: loss.count, from_seq: loss.from, to_seq: loss.to };
        let event = Event::GraphHint(GraphHint { gap: Some(gap), ..GraphHint::default() });
        self.write((seq, epoch_ms()), loss.run.clone(), event)
    }

    fn write(&mut self, (seq, ts): (u64, u64), run: RunId, mut event: Event) -> Frame {
        self.out.clear();
        let mut head = ObjectWriter::new(&mut self.out);
        head.u64("gm", PROTOCOL).u64("seq", seq).u64("ts", ts).str("runId", &run).str("type", event.kind());
        head.end();
        // The payload goes in before the closing brace, straight into the buffer.
        self.out.pop();
        self.out.extend_from_slice(b",\"payload\":");
        let start = self.out.len();
        match cut_apart(&mut event) {
            Some(cut) => self.out.extend_from_slice(cut.as_bytes()),
            None => event.write(&mut self.out),
        }
        if self.out.len() - start > SURELY_SMALL
            && let Shrunk::Cut(cut) = shrink(Some(event.kind()), &event.payload(), BUDGET)
        {
            self.out.truncate(start);
            self.out.extend_from_slice(cut.as_bytes());
        }
        self.out.push(b'}');
        let text = text(&self.out);
        if self.out.capacity() > KEPT {
            self.out = Vec::new();
        }
        Frame { run, seq, text }
    }
}

/// The payload of an event whose input or output alone is too long, cut without copying that first.
fn cut_apart(event: &mut Event) -> Option<Raw> {
    let (name, value) = carried(event).filter(|(_, value)| value.len() > BUDGET)?;
    let apart = mem::replace(value, Raw::null());
    match shrink_apart(Some(event.kind()), &event.payload(), (name, &apart), BUDGET) {
        Shrunk::Cut(cut) => Some(cut),
        // Mostly blanks.
        Shrunk::Same => {
            let (_, value) = carried(event)?;
            *value = apart;
            None
        }
    }
}

/// What a node was given or gave, and its name on the wire.
fn carried(event: &mut Event) -> Option<(&'static str, &mut Raw)> {
    let (name, value, extra) = match event {
        Event::NodeStarted(started) => ("input", &mut started.input, &started.extra),
        Event::NodeFinished(finished) => ("output", &mut finished.output, &finished.extra),
        Event::RunStarted(_)
        | Event::RunFinished(_)
        | Event::GraphHint(_)
        | Event::NodeToken(_)
        | Event::NodeError(_)
        | Event::ExecPaused(_)
        | Event::ExecRefused(_)
        | Event::ExecResumed(_)
        | Event::ExecUntil(_) => return None,
    };
    // A loose field of the same name is another.
    let twice = extra.iter().any(|(loose, _)| *loose == name);
    value.as_mut().filter(|_| !twice).map(|value| (name, value))
}

/// The frame that opens a link.
pub(crate) fn hello(seq: u64, hello: &Hello) -> Utf8Bytes {
    let payload = Some(hello.payload());
    let run = RunId::none();
    let envelope = Envelope { seq, ts: epoch_ms(), run, kind: "hello".into(), payload, extra: Vec::new() };
    envelope.to_text().into()
}

fn text(out: &[u8]) -> Utf8Bytes {
    Utf8Bytes::try_from(Bytes::copy_from_slice(out)).unwrap_or_default()
}

fn epoch_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// A buffer that had to grow beyond this for one frame is not kept for the next.
const KEPT: usize = 1 << 20;

/// A payload this long fits whatever way its numbers are spelled.
const SURELY_SMALL: usize = BUDGET / 8;

#[cfg(test)]
mod tests {
    use lockgate_gate::Queued;
    use lockgate_protocol::debug::{Event, NodeFinished, Parsed, RunId, RunStatus, parse};
    use lockgate_protocol::json::Raw;
    use tokio::time::Instant;

    use super::Press;
    use crate::redact::{Hide, Redacted};
    use crate::ring::Loss;

    fn queued(output: &str, duration_ms: f64) -> Queued {
        let event = Event::NodeFinished(NodeFinished {
            node_id: "tool:t".into(),
            instance_id: Some("i".into()),
            output: Some(Raw::parse(output.to_owned()).unwrap()),
            usage: None,
            duration_ms,
            held_ms: None,
            status: RunStatus::Ok,
            redaction: None,
            extra: Vec::new(),
        });
        Queued { seq: 7, ts_ms: 9, at: Instant::now(), run: RunId::new("run_1").unwrap(), event }
    }

    #[test]
    fn a_frame_is_compact_and_in_wire_order() {
        let (frame, redacted) = Press::new(Hide::NOTHING).frame(queued("{\"a\":1}", 0.5));
        insta::assert_snapshot!(frame.text.as_str(), @r#"{"gm":1,"seq":7,"ts":9,"runId":"run_1","type":"node.finished","payload":{"nodeId":"tool:t","instanceId":"i","durationMs":0.5,"status":"ok","output":{"a":1}}}"#);
        assert_eq!(redacted, Redacted::Done);
    }

    #[test]
    fn d10_a_raw_duration_is_normalised_on_its_way_out() {
        let duration = |given| {
            let (frame, _) = Press::new(Hide::NOTHING).frame(queued("1", given));
            let text = frame.text.as_str().split_once("durationMs\":").unwrap().1;
            text.split_once(',').unwrap().0.to_owned()
        };
        for (given, expected) in [
            (2.71, "2.71"),
            (1.23456, "1.23"),
            (-4.0, "0"),
            (f64::NAN, "0"),
            (f64::INFINITY, "0"),
            (0.005, "0.01"),
            (7.0, "7"),
        ] {
            assert_eq!(duration(given), expected, "{given}");
        }
    }

    #[test]
    fn a_large_payload_is_cut_and_still_is_a_valid_event() {
        let output = format!(r#"{{"text":"{}","rows":[1,2,3],"small":1}}"#, "x".repeat(600_000));
        let (frame, _) = Press::new(Hide::NOTHING).frame(queued(&output, 1.0));
        assert!(frame.text.len() < 8_000, "{} bytes", frame.text.len());
        let Parsed::Ok(envelope) = parse(frame.text.clone().into()) else { panic!("{}", &frame.text[..200]) };
        let payload = envelope.payload.unwrap();
        let number = |view: Option<lockgate_protocol::json::View<'_>>| view.unwrap().u64().unwrap();
        let kept = payload.view().get("output").unwrap();
        assert_eq!(number(kept.get("bytes")), 600_036);
        assert_eq!(number(kept.get("small")), 1);
        assert_eq!(kept.get("text").unwrap().text().unwrap().utf16().count(), 2_023);
        assert_eq!(payload.view().get("fields").unwrap().raw(), b"[\"output\"]");
    }

    #[test]
    fn blanks_do_not_make_an_output_too_long() {
        let output = format!("{{\"a\":{}1}}", " ".repeat(600_000));
        let (frame, _) = Press::new(Hide::NOTHING).frame(queued(&output, 1.0));
        assert!(frame.text.ends_with(&format!("\"output\":{output}}}}}")));
    }

    #[test]
    fn a_marker_names_what_was_lost() {
        let loss = Loss { run: RunId::new("run_1").unwrap(), count: 180, from: 15, to: 194 };
        let frame = Press::new(Hide::NOTHING).marker(200, &loss);
        let payload = frame.text.as_str().split_once("\"payload\":").unwrap().1;
        assert_eq!(
            payload,
            r#"{"nodes":[],"gap":{"droppedCount":180,"fromSeq":15,"toSeq":194,"reason":"buffer-overflow"}}}"#
        );
        assert_eq!((frame.seq, frame.run), (200, loss.run));
    }
}
