//! Which era a frame belongs to, read off the frames and never probed (mcp E1-E3, hub N01).

use lockgate_protocol::json::View;
use lockgate_protocol::mcp::{Era, Meta, method};

/// What a connection has shown so far.
#[derive(Debug, Default)]
pub(crate) struct Eras {
    handshake: Handshake,
    stateless: bool,
}

/// How far a handshake came.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Handshake {
    #[default]
    None,
    Asked,
    Open,
}

impl Eras {
    /// The era of a request, which may open it for the connection.
    pub(crate) fn of_request(&mut self, method: &str, meta: &Meta<'_>) -> Era {
        let era = match method {
            method::INITIALIZE => Era::Handshake,
            method::DISCOVER => Era::Stateless,
            _ => meta.era().unwrap_or(self.connection()),
        };
        match era {
            Era::Handshake if method == method::INITIALIZE && self.handshake == Handshake::None => {
                self.handshake = Handshake::Asked;
            }
            Era::Handshake => {}
            // A probe settles nothing: its asker may yet fall back.
            Era::Stateless => self.stateless |= method != method::DISCOVER,
        }
        era
    }

    /// A server took the handshake.
    pub(crate) fn shaken(&mut self) {
        self.handshake = Handshake::Open;
    }

    /// A server refused a handshake, as one does that knows the stateless era only (mcp E8). One that was taken stays.
    pub(crate) fn refused(&mut self) {
        if self.handshake == Handshake::Asked {
            self.handshake = Handshake::None;
        }
    }

    /// A server said which versions it speaks. One of the stateless era settles the connection, as long as nobody opens it
    /// with a handshake (mcp E4).
    pub(crate) fn discovered(&mut self, offered: Option<View<'_>>) {
        let mut versions = offered.into_iter().flat_map(View::items).filter_map(View::str);
        self.stateless |= versions.any(|version| Era::of_version(&version) == Era::Stateless);
    }

    /// The era of a notification that names no request.
    pub(crate) fn of_notification(&self, meta: &Meta<'_>) -> Era {
        if meta.subscription.is_some() { Era::Stateless } else { meta.era().unwrap_or(self.connection()) }
    }

    /// The era of whatever does not say.
    pub(crate) fn connection(&self) -> Era {
        if self.is_stateless() { Era::Stateless } else { Era::Handshake }
    }

    /// Whether no other era can be on this pipe: then servers send no requests and clients no answers (hub N09).
    pub(crate) fn is_stateless(&self) -> bool {
        self.stateless && self.handshake == Handshake::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockgate_protocol::json::Raw;

    #[track_caller]
    fn check(requests: &[(&str, &str)], expected: &[Era], after: Era) {
        let mut eras = Eras::default();
        let found: Vec<Era> = requests
            .iter()
            .map(|(method, meta)| {
                let raw = Raw::parse((*meta).to_owned()).expect("a JSON text");
                eras.of_request(method, &Meta::read(raw.view()))
            })
            .collect();
        assert_eq!((&found[..], eras.connection()), (expected, after), "{requests:?}");
    }

    const STATELESS: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;

    #[test]
    fn requests_say_their_era_and_the_rest_follows_the_connection() {
        use Era::{Handshake, Stateless};
        check(&[("initialize", "{}"), ("ping", "{}")], &[Handshake, Handshake], Handshake);
        check(&[("initialize", STATELESS)], &[Handshake], Handshake);
        check(&[("tools/call", STATELESS), ("tools/call", "{}")], &[Stateless, Stateless], Stateless);
        check(&[("server/discover", "{}"), ("initialize", "{}")], &[Stateless, Handshake], Handshake);
        check(&[("server/discover", "{}"), ("tools/list", "{}")], &[Stateless, Handshake], Handshake);
    }

    #[test]
    fn a_server_that_offers_a_stateless_version_settles_the_era_until_a_handshake_opens() {
        let after = |offered: &str| {
            let raw = Raw::parse(offered.to_owned()).expect("a JSON text");
            let mut eras = Eras::default();
            eras.discovered(raw.view().get("supportedVersions"));
            let settled = eras.connection();
            eras.of_request(method::INITIALIZE, &Meta::default());
            assert_eq!(eras.connection(), Era::Handshake, "{offered}");
            settled
        };
        assert_eq!(after(r#"{"supportedVersions":["2026-07-28"]}"#), Era::Stateless);
        assert_eq!(after(r#"{"supportedVersions":["2025-11-25","2027-01-01"]}"#), Era::Stateless);
        for probed in ["{}", r#"{"supportedVersions":["2025-11-25"]}"#, r#"{"supportedVersions":"2026-07-28"}"#] {
            assert_eq!(after(probed), Era::Handshake, "{probed}");
        }
    }

    #[test]
    fn both_eras_may_share_a_pipe() {
        use Era::{Handshake, Stateless};
        let mixed = [("initialize", "{}"), ("tools/call", STATELESS), ("tools/call", "{}")];
        check(&mixed, &[Handshake, Stateless, Handshake], Handshake);
        check(
            &[("tools/call", STATELESS), ("initialize", "{}"), ("ping", "{}")],
            &[Stateless, Handshake, Handshake],
            Handshake,
        );
    }
}
