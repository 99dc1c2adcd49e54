//! The two tokens of a hub's lifetime, and who a request says it is (hub §7). Never looks at URLs or cookies.

use lockgate_protocol::debug::Principal;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// New at every start. Their text is nobody's but the run files' and the opened page's.
pub(crate) struct Tokens {
    viewer: Token,
    agent: Token,
}

struct Token {
    text: String,
    digest: [u8; 32],
}

/// Something was presented that is no token of ours; never taken as nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown or malformed credentials")]
pub(crate) struct Unauthorized;

impl Tokens {
    /// Two fresh tokens of 128 random bits.
    ///
    /// # Errors
    /// When the system has no randomness to give.
    pub(crate) fn mint() -> Result<Tokens, getrandom::Error> {
        Ok(Tokens { viewer: Token::mint("gmv_")?, agent: Token::mint("gma_")? })
    }

    pub(crate) fn viewer(&self) -> &str {
        &self.viewer.text
    }

    pub(crate) fn agent(&self) -> &str {
        &self.agent.text
    }

    /// Who a request is, from its `Authorization` values and its WebSocket subprotocol entries.
    ///
    /// # Errors
    /// When a credential is malformed or unknown, or several differ.
    pub(crate) fn identify<'h>(
        &self,
        authorization: impl IntoIterator<Item = &'h [u8]>,
        subprotocols: impl IntoIterator<Item = &'h str>,
    ) -> Result<Principal, Unauthorized> {
        let mut presented: Option<&[u8]> = None;
        let bearers = authorization.into_iter().map(bearer);
        let entries = subprotocols.into_iter().filter_map(|entry| entry.strip_prefix(SUBPROTOCOL)).map(str::as_bytes);
        for token in bearers.chain(entries.map(Ok)) {
            let token = token?;
            if presented.is_some_and(|before| before != token) {
                return Err(Unauthorized);
            }
            presented = Some(token);
        }
        let Some(token) = presented else { return Ok(Principal::Anonymous) };
        let digest: [u8; 32] = Sha256::digest(token).into();
        // Both are always compared, so that the time taken tells nothing.
        let (viewer, agent) = (digest.ct_eq(&self.viewer.digest), digest.ct_eq(&self.agent.digest));
        match (bool::from(viewer), bool::from(agent)) {
            (true, _) => Ok(Principal::Viewer),
            (_, true) => Ok(Principal::Agent),
            _ => Err(Unauthorized),
        }
    }
}

impl Token {
    fn mint(prefix: &str) -> Result<Token, getrandom::Error> {
        let text = format!("{prefix}{}", random_hex()?);
        let digest = Sha256::digest(text.as_bytes()).into();
        Ok(Token { text, digest })
    }
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tokens(..)")
    }
}

/// 128 random bits as 32 hex digits.
///
/// # Errors
/// When the system has no randomness to give.
pub(crate) fn random_hex() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn bearer(value: &[u8]) -> Result<&[u8], Unauthorized> {
    let (scheme, rest) = value.split_at_checked(6).ok_or(Unauthorized)?;
    let token = rest.trim_ascii();
    let separated = rest.first() == Some(&b' ');
    let printable = !token.is_empty() && token.iter().all(u8::is_ascii_graphic);
    if scheme.eq_ignore_ascii_case(b"bearer") && separated && printable { Ok(token) } else { Err(Unauthorized) }
}

/// A subprotocol entry that carries a token, for browsers, which cannot set headers on a WebSocket.
const SUBPROTOCOL: &str = "gm.auth.";

#[cfg(test)]
mod tests {
    use super::{Principal, Tokens, Unauthorized};

    fn check(authorization: &[&str], subprotocols: &[&str], expected: Result<Principal, Unauthorized>) {
        let tokens = Tokens::mint().unwrap();
        let fill = |text: &&str| text.replace("VIEWER", tokens.viewer()).replace("AGENT", tokens.agent());
        let headers: Vec<String> = authorization.iter().map(fill).collect();
        let entries: Vec<String> = subprotocols.iter().map(fill).collect();
        let found = tokens.identify(headers.iter().map(String::as_bytes), entries.iter().map(String::as_str));
        assert_eq!(found, expected, "{authorization:?} {subprotocols:?}");
    }

    #[test]
    fn who_presents_what() {
        check(&[], &[], Ok(Principal::Anonymous));
        check(&[], &["graphmind.v1", "other"], Ok(Principal::Anonymous));
        check(&["Bearer VIEWER"], &[], Ok(Principal::Viewer));
        check(&["bEARER  AGENT "], &[], Ok(Principal::Agent));
        check(&[], &["graphmind.v1", "gm.auth.VIEWER"], Ok(Principal::Viewer));
        check(&["Bearer VIEWER", "Bearer VIEWER"], &["gm.auth.VIEWER"], Ok(Principal::Viewer));
    }

    #[test]
    fn nothing_wrong_is_taken_as_nobody() {
        for header in
            ["", "Bearer", "Bearer ", "BearerVIEWER", "Basic VIEWER", "Bearer VIEWER x", "Bearer é", "Bearer gmv_0"]
        {
            check(&[header], &[], Err(Unauthorized));
        }
        check(&["Bearer VIEWER"], &["gm.auth.AGENT"], Err(Unauthorized));
        check(&["Bearer VIEWER", "Bearer AGENT"], &[], Err(Unauthorized));
        check(&[], &["gm.auth."], Err(Unauthorized));
        check(&[], &["gm.auth.VIEWERx"], Err(Unauthorized));
    }

    #[test]
    fn tokens_are_fresh_and_never_shown() {
        let (one, other) = (Tokens::mint().unwrap(), Tokens::mint().unwrap());
        assert_ne!(one.viewer(), other.viewer());
        assert_ne!(one.viewer().get(4..), one.agent().get(4..));
        assert!(one.viewer().starts_with("gmv_") && one.viewer().len() == 36);
        assert!(one.agent().starts_with("gma_") && one.agent().len() == 36);
        assert_eq!(format!("{one:?}"), "Tokens(..)");
    }
}
