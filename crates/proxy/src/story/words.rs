//! The loose fields of a call's events. The words that repeat are made once and shared.

use lockgate_gate::Stop;
use lockgate_protocol::debug::Extra;
use lockgate_protocol::json::{Raw, Value, View};
use lockgate_protocol::mcp::Era;

use super::{Came, Exec, Finish, Packing, Start};
use crate::side::Side;

#[derive(Debug)]
pub(super) struct Words {
    pub(super) stdio: Raw,
    client: Raw,
    server: Raw,
    handshake: Raw,
    stateless: Raw,
}

impl Words {
    pub(super) fn new() -> Words {
        Words {
            stdio: Raw::string("stdio"),
            client: Raw::string(Side::Client.direction()),
            server: Raw::string(Side::Server.direction()),
            handshake: Raw::string(Era::Handshake.as_str()),
            stateless: Raw::string(Era::Stateless.as_str()),
        }
    }

    pub(super) fn era(&self, era: Era) -> Raw {
        match era {
            Era::Handshake => self.handshake.clone(),
            Era::Stateless => self.stateless.clone(),
        }
    }

    /// What a `node.started` says beside the fields every node has (hub §12.4, N01, N03).
    pub(super) fn started(&self, start: &Start<'_>) -> Extra {
        let mut extra = Extra::with_capacity(8);
        if !start.method.is_empty() {
            extra.push(("method", Raw::string(start.method)));
        }
        let direction = match start.from {
            Side::Client => &self.client,
            Side::Server => &self.server,
        };
        extra.push(("direction", direction.clone()));
        match start.came {
            Came::Request(id) => extra.push(("jsonrpcId", id.raw())),
            Came::Notification => extra.push(("notification", Raw::bool(true))),
            Came::Within => {}
        }
        if start.packing == Packing::Batched {
            extra.push(("batched", Raw::bool(true)));
        }
        extra.push(("era", self.era(start.era)));
        extra.push(("transport", self.stdio.clone()));
        let meta = &start.meta;
        let recorded = [
            ("protocolVersion", meta.version),
            ("clientInfo", meta.client),
            ("subscription", meta.subscription),
            ("traceparent", meta.traceparent),
            ("tracestate", meta.tracestate),
            ("baggage", meta.baggage),
        ];
        extra.extend(recorded.into_iter().filter_map(|(name, view)| Some((name, part(start.params, view?)))));
        extra
    }

    /// What a `node.finished` says beside the fields every node has.
    pub(super) fn finished(&self, exec: &Exec, finish: &Finish) -> Extra {
        let mut extra = Extra::with_capacity(4);
        if let Some(at) = finish.injected {
            extra.push(("injected", Raw::bool(true)));
            extra.push(("gatedAt", stop(at)));
        }
        if let Some(after) = finish.cancelled {
            extra.push(("cancelled", Raw::bool(true)));
            extra.push(("cancelledAfterMs", number(u64::try_from(after.as_millis()).unwrap_or(u64::MAX))));
        }
        if exec.retries > 0 {
            extra.push(("retries", number(exec.retries)));
        }
        if exec.rounds > 0 {
            extra.push(("rounds", number(exec.rounds + 1)));
        }
        extra.push(("era", self.era(exec.era)));
        extra
    }
}

/// Shares memory with the parameters it stands in.
fn part(whole: Option<&Raw>, view: View<'_>) -> Raw {
    whole.map_or_else(|| Raw::from(view), |whole| whole.part(view))
}

fn number(value: u64) -> Raw {
    Raw::from_value(&Value::from(value))
}

fn stop(at: Stop) -> Raw {
    Raw::string(at.point().as_str())
}
