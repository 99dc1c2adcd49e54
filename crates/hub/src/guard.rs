//! Which pages and names may talk to the hub at all: the `Host` and `Origin` checks that stand before everything else
//! (hub §3). Knows no tokens.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Origins that are let in besides our own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum AllowedOrigins {
    /// Only pages we served ourselves.
    #[default]
    Own,
    /// These too, and requests to their host names.
    Listed(Vec<Origin>),
    /// Both checks are off.
    Any,
}

/// An origin in its one spelling: lower case, without a default port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    scheme: String,
    host: String,
    port: Option<u16>,
}

/// Why a request was turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Foreign {
    #[error("this host name is not served here")]
    Host,
    #[error("pages of this origin are not served here")]
    Origin,
}

impl AllowedOrigins {
    /// Reads a comma list; entries that are no origin are left out and answered beside the result.
    pub fn parse(list: &str) -> (AllowedOrigins, Vec<&str>) {
        let entries: Vec<&str> = list.split(',').map(str::trim).filter(|entry| !entry.is_empty()).collect();
        if entries.contains(&"*") {
            return (AllowedOrigins::Any, Vec::new());
        }
        let mut listed = Vec::new();
        let mut bad = Vec::new();
        for entry in entries {
            match Origin::parse(entry.strip_suffix('/').unwrap_or(entry)) {
                Some(origin) => listed.push(origin),
                None => bad.push(entry),
            }
        }
        if listed.is_empty() { (AllowedOrigins::Own, bad) } else { (AllowedOrigins::Listed(listed), bad) }
    }

    fn listed(&self) -> &[Origin] {
        match self {
            AllowedOrigins::Listed(listed) => listed,
            AllowedOrigins::Own | AllowedOrigins::Any => &[],
        }
    }
}

/// Checks all `Host` and `Origin` values of a request to the given port; an absent or empty one is no browser's.
pub fn check<'h>(
    hosts: impl IntoIterator<Item = &'h str>,
    origins: impl IntoIterator<Item = &'h str>,
    allowed: &AllowedOrigins,
    port: u16,
) -> Result<(), Foreign> {
    if *allowed == AllowedOrigins::Any {
        return Ok(());
    }
    if !hosts.into_iter().all(|host| host.is_empty() || host_passes(host, allowed)) {
        return Err(Foreign::Host);
    }
    if !origins.into_iter().all(|origin| origin.is_empty() || origin_passes(origin, allowed, port)) {
        return Err(Foreign::Origin);
    }
    Ok(())
}

fn host_passes(host: &str, allowed: &AllowedOrigins) -> bool {
    let host = host.to_ascii_lowercase();
    let Some((name, _)) = split_port(&host) else { return false };
    is_loopback(name) || allowed.listed().iter().any(|origin| origin.host == name)
}

fn origin_passes(origin: &str, allowed: &AllowedOrigins, port: u16) -> bool {
    let Some(origin) = Origin::parse(origin) else { return false };
    allowed.listed().contains(&origin) || (is_loopback(&origin.host) && origin.effective_port() == Some(port))
}

impl Origin {
    fn parse(text: &str) -> Option<Origin> {
        let text = text.to_ascii_lowercase();
        let (scheme, rest) = text.split_once("://")?;
        let plain = |one: char| one.is_ascii_alphanumeric() || matches!(one, '+' | '-' | '.');
        if scheme.is_empty() || !scheme.chars().all(plain) {
            return None;
        }
        let (host, port) = split_port(rest)?;
        let port = port.filter(|port| default_port(scheme) != Some(*port));
        Some(Origin { scheme: scheme.to_owned(), host: host.to_owned(), port })
    }

    fn effective_port(&self) -> Option<u16> {
        self.port.or_else(|| default_port(&self.scheme))
    }
}

fn default_port(scheme: &str) -> Option<u16> {
    match scheme {
        "http" | "ws" => Some(80),
        "https" | "wss" => Some(443),
        _ => None,
    }
}

/// Name and port of `name`, `name:port`, `[v6]` or `[v6]:port`; brackets are taken off.
fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    let (name, rest) = match text.strip_prefix('[') {
        Some(inner) => inner.split_once(']')?,
        None if text.matches(':').count() > 1 => (text, ""),
        None => text.find(':').map_or((text, ""), |colon| text.split_at(colon)),
    };
    let allowed = |one: char| one.is_ascii_alphanumeric() || matches!(one, '.' | '-' | '_' | ':');
    if name.is_empty() || !name.chars().all(allowed) {
        return None;
    }
    match rest.strip_prefix(':') {
        None if rest.is_empty() => Some((name, None)),
        None => None,
        Some(digits) if digits.bytes().all(|digit| digit.is_ascii_digit()) => Some((name, Some(digits.parse().ok()?))),
        Some(_) => None,
    }
}

/// This machine by any of its names.
pub fn is_loopback(name: &str) -> bool {
    if name == "localhost" || name.ends_with(".localhost") {
        return true;
    }
    if let Ok(four) = name.parse::<Ipv4Addr>() {
        return four.is_loopback();
    }
    let Ok(six) = name.parse::<Ipv6Addr>() else { return false };
    six.is_loopback() || six.to_ipv4_mapped().is_some_and(|four| four.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::{AllowedOrigins, check};

    fn allowed(list: &str) -> AllowedOrigins {
        AllowedOrigins::parse(list).0
    }

    /// Each line: host, origin (`-` for absent), allow list, expected.
    fn check_all(lines: &[(&str, &str, &str, &str)]) {
        for (host, origin, list, expected) in lines {
            let hosts = (*host != "-").then_some(*host);
            let origins = (*origin != "-").then_some(*origin);
            let found = match check(hosts, origins, &allowed(list), 4747) {
                Ok(()) => "ok",
                Err(super::Foreign::Host) => "host",
                Err(super::Foreign::Origin) => "origin",
            };
            assert_eq!(found, *expected, "host {host} origin {origin} list {list}");
        }
    }

    #[test]
    fn only_this_machine_by_name() {
        check_all(&[
            ("-", "-", "", "ok"),
            ("", "", "", "ok"),
            ("localhost:4747", "-", "", "ok"),
            ("LOCALHOST", "-", "", "ok"),
            ("app.localhost:1", "-", "", "ok"),
            ("127.0.0.1:4747", "-", "", "ok"),
            ("127.255.0.3", "-", "", "ok"),
            ("[::1]:4747", "-", "", "ok"),
            ("[0:0:0:0:0:0:0:1]", "-", "", "ok"),
            ("[::ffff:127.0.0.1]:4747", "-", "", "ok"),
            ("::1", "-", "", "ok"),
            ("evil.example", "-", "", "host"),
            ("evil.example:4747", "-", "", "host"),
            ("localhost.evil.example", "-", "", "host"),
            ("notlocalhost", "-", "", "host"),
            ("127.0.0.1.evil.example", "-", "", "host"),
            ("127.1", "-", "", "host"),
            ("0.0.0.0", "-", "", "host"),
            ("192.168.1.4:4747", "-", "", "host"),
            ("[::2]", "-", "", "host"),
            ("[::1", "-", "", "host"),
            ("localhost:x", "-", "", "host"),
            ("localhost:99999", "-", "", "host"),
            ("user@localhost", "-", "", "host"),
            ("localhost/", "-", "", "host"),
        ]);
    }

    #[test]
    fn only_our_own_pages() {
        check_all(&[
            ("localhost:4747", "http://localhost:4747", "", "ok"),
            ("localhost:4747", "HTTP://127.0.0.1:4747", "", "ok"),
            ("localhost:4747", "http://[::1]:4747", "", "ok"),
            ("localhost:5000", "http://localhost:5000", "", "origin"),
            ("localhost:4747", "http://localhost", "", "origin"),
            ("localhost:4747", "null", "", "origin"),
            ("localhost:4747", "http://", "", "origin"),
            ("localhost:4747", "http://evil.example:4747", "", "origin"),
            ("localhost:4747", "http://localhost:4747.evil.example", "", "origin"),
            ("localhost:4747", "http://user@localhost:4747", "", "origin"),
            ("localhost:4747", "http://localhost:4747/x", "", "origin"),
            ("localhost:4747", "file://", "", "origin"),
        ]);
    }

    #[test]
    fn listed_origins_open_their_host_too() {
        let list = "http://host.docker.internal:4747, https://Tools.Example/ ,junk";
        check_all(&[
            ("host.docker.internal:4747", "-", list, "ok"),
            ("host.docker.internal:9999", "http://host.docker.internal:4747", list, "ok"),
            ("host.docker.internal:4747", "http://host.docker.internal:9999", list, "origin"),
            ("tools.example", "https://tools.example", list, "ok"),
            ("tools.example", "https://tools.example:443", list, "ok"),
            ("tools.example", "http://tools.example", list, "origin"),
            ("junk", "-", list, "host"),
            ("evil.example", "null", "http://a, *", "ok"),
        ]);
        assert_eq!(AllowedOrigins::parse(list).1, ["junk"]);
        assert_eq!(AllowedOrigins::parse(" , ").0, AllowedOrigins::Own);
    }

    #[test]
    fn every_value_of_a_repeated_header_counts() {
        let own = AllowedOrigins::Own;
        assert!(check(["localhost", "evil.example"], [], &own, 4747).is_err());
        assert!(check([], ["http://localhost:4747", "http://evil.example"], &own, 4747).is_err());
    }
}
