//! The payload budget: what is shrunk fits, is JSON, stays a valid event, and is not shrunk again.

use bytes::Bytes;
use lockgate_protocol::{
    debug::{Envelope, Parsed, RunId, parse},
    json::Raw,
    shrink::{Shrunk, shrink as cut},
};

/// The first two bytes choose kind and budget; the rest is the payload.
pub fn shrink(data: &[u8]) {
    let [kind, budget, payload @ ..] = data else { return };
    let Ok(payload) = Raw::parse(Bytes::copy_from_slice(payload)) else { return };
    let kind = KINDS[usize::from(*kind) % KINDS.len()];
    let budget = SMALLEST + usize::from(*budget) * 8;
    let Shrunk::Cut(shrunk) = cut(kind, &payload, budget) else { return };
    Raw::parse(shrunk.bytes().clone()).expect("what is left is JSON");
    assert!(shrunk.len() <= budget, "{} bytes are left of a budget of {budget}", shrunk.len());
    assert_eq!(cut(kind, &shrunk, budget), Shrunk::Same, "what fits is left alone");
    let Some(kind) = kind else { return };
    let marker = shrunk.view().get("__graphmindTruncated").is_some() && shrunk.view().get("nodeId").is_none();
    if is_event(kind, &payload) && !marker {
        assert!(is_event(kind, &shrunk), "a valid event stays one: {shrunk:?}");
    }
}

fn is_event(kind: &'static str, payload: &Raw) -> bool {
    let envelope = Envelope {
        seq: 0,
        ts: 0,
        run: RunId::none(),
        kind: kind.into(),
        payload: Some(payload.clone()),
        extra: Vec::new(),
    };
    matches!(parse(Bytes::from(envelope.to_text())), Parsed::Ok(_))
}

const KINDS: [Option<&str>; 6] =
    [None, Some("node.started"), Some("node.finished"), Some("node.token"), Some("run.started"), Some("exec.paused")];
/// below this the bare marker itself may not fit
const SMALLEST: usize = 256;
