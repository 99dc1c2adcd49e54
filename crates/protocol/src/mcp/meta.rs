//! `_meta` of requests, notifications and results. Everything in it is self-reported: good for display, never for permission.

use super::Era;
use crate::json::View;

/// The keys of `_meta` we read.
pub mod key {
    /// Version of a stateless request; required.
    pub const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// Capabilities of a stateless client; required.
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// Name and version of the client.
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// Lowest log level wanted for a request.
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// Name and version of the server, in results.
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// The listen request a notification belongs to.
    pub const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
    /// Where progress of a request goes.
    pub const PROGRESS_TOKEN: &str = "progressToken";
}

/// The members of one `_meta`, as views.
#[derive(Debug, Clone, Copy, Default)]
pub struct Meta<'a> {
    /// [`key::VERSION`]
    pub version: Option<View<'a>>,
    /// [`key::CLIENT_CAPABILITIES`]
    pub capabilities: Option<View<'a>>,
    /// [`key::CLIENT_INFO`]
    pub client: Option<View<'a>>,
    /// [`key::LOG_LEVEL`]
    pub log_level: Option<View<'a>>,
    /// [`key::SERVER_INFO`]
    pub server: Option<View<'a>>,
    /// [`key::SUBSCRIPTION`]
    pub subscription: Option<View<'a>>,
    /// [`key::PROGRESS_TOKEN`]
    pub progress_token: Option<View<'a>>,
    /// `traceparent`
    pub traceparent: Option<View<'a>>,
    /// `tracestate`
    pub tracestate: Option<View<'a>>,
    /// `baggage`
    pub baggage: Option<View<'a>>,
}

impl<'a> Meta<'a> {
    /// Reads the value of a member `_meta`; of repeated members the last.
    pub fn read(meta: View<'a>) -> Meta<'a> {
        let mut found = Meta::default();
        for (name, value) in meta.pairs() {
            let Some(name) = name.str() else { continue };
            if let Some(place) = found.place(&name) {
                *place = Some(value);
            }
        }
        found
    }

    /// Stateless, when it says so: a version of that era, or both keys that only that era requires (mcp E1).
    pub fn era(&self) -> Option<Era> {
        let version = self.version.and_then(View::str).map(|version| Era::of_version(&version));
        let both = self.version.is_some() && self.capabilities.is_some();
        (version == Some(Era::Stateless) || both).then_some(Era::Stateless)
    }

    fn place(&mut self, name: &str) -> Option<&mut Option<View<'a>>> {
        Some(match name {
            key::VERSION => &mut self.version,
            key::CLIENT_CAPABILITIES => &mut self.capabilities,
            key::CLIENT_INFO => &mut self.client,
            key::LOG_LEVEL => &mut self.log_level,
            key::SERVER_INFO => &mut self.server,
            key::SUBSCRIPTION => &mut self.subscription,
            key::PROGRESS_TOKEN => &mut self.progress_token,
            "traceparent" => &mut self.traceparent,
            "tracestate" => &mut self.tracestate,
            "baggage" => &mut self.baggage,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Raw;

    #[track_caller]
    fn check(meta: &str, expected: Option<Era>) {
        let raw = Raw::parse(meta.to_owned()).expect("a JSON text");
        assert_eq!(Meta::read(raw.view()).era(), expected, "{meta}");
    }

    #[test]
    fn a_request_says_its_era() {
        check(r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#, Some(Era::Stateless));
        check(r#"{"io.modelcontextprotocol/protocolVersion":"2027-01-01","progressToken":1}"#, Some(Era::Stateless));
        check(r#"{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}"#, None);
        check(
            r#"{"io.modelcontextprotocol/protocolVersion":"2025-11-25","io.modelcontextprotocol/clientCapabilities":{}}"#,
            Some(Era::Stateless),
        );
        check(r#"{"io.modelcontextprotocol/protocolVersion":20260728}"#, None);
        check(r#"{"io.modelcontextprotocol\/protocolVersion":"2026-07-28"}"#, Some(Era::Stateless));
        check(r#"{"progressToken":1}"#, None);
        check("[]", None);
        check("null", None);
    }
}
