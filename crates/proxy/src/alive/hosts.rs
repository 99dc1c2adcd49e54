//! How long hosts wait for an answer: a shipped table, and what was learned from the moments at which they gave up
//! (hub §21.6).

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io, process};

use lockgate_protocol::json::{Limits, Raw, View, write_str};

/// What is known about hosts.
#[derive(Debug, Default)]
pub(crate) struct Hosts {
    path: Option<PathBuf>,
    learned: Vec<Host>,
    /// A newer program wrote the file: it is read but not written.
    newer: bool,
}

/// How long a host waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HostLimit {
    pub(crate) patience: Duration,
    /// Whether progress makes it wait as long again.
    pub(crate) resets: Resets,
    pub(crate) evidence: Evidence,
}

/// Whether progress resets a host's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resets {
    /// Only if it asks its library for that, which cannot be seen.
    Unknown,
    /// It was seen to.
    Yes,
}

/// Where a limit comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// What hosts built on an MCP library do unless told otherwise.
    Usual,
    /// What this host is documented to do.
    Known,
    /// What this host was seen to do.
    Learned,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Host {
    name: String,
    version: String,
    /// Milliseconds after which it gave up, the last few times.
    ages: Vec<u64>,
    limit_ms: Option<u64>,
    resets: bool,
}

impl Hosts {
    /// Reads what was learned. A file that is missing or broken teaches nothing.
    pub(crate) fn load(path: Option<&Path>) -> Hosts {
        let mut hosts = Hosts { path: path.map(Path::to_owned), ..Hosts::default() };
        let Some(text) = path.and_then(|path| fs::read(path).ok()) else { return hosts };
        let Ok(checked) = Raw::check(text.into(), LIMITS) else { return hosts };
        let view = checked.raw.view();
        if view.get("version").and_then(View::u64) != Some(VERSION) {
            hosts.newer = true;
            return hosts;
        }
        hosts.newer = view.get("revision").and_then(View::u64).is_some_and(|revision| revision > REVISION);
        let listed = view.get("hosts").into_iter().flat_map(View::items);
        hosts.learned = listed.filter_map(Host::read).take(MOST).collect();
        hosts
    }

    /// How long a host of this name and version waits.
    pub(crate) fn limit(&self, name: &str, version: &str) -> HostLimit {
        let learned = self.learned.iter().find(|host| host.is(name, version));
        if let Some((host, limit_ms)) = learned.and_then(|host| Some((host, host.limit_ms?))) {
            let resets = if host.resets { Resets::Yes } else { Resets::Unknown };
            return HostLimit { patience: Duration::from_millis(limit_ms), resets, evidence: Evidence::Learned };
        }
        let lower = name.to_lowercase();
        let known = SHIPPED.iter().find(|(part, _)| lower.contains(part));
        match known {
            Some((_, seconds)) => HostLimit { evidence: Evidence::Known, ..usual(*seconds) },
            None => usual(USUAL),
        }
    }

    /// A host gave up after so long; twice at the same age is no accident. Whether something was learned.
    pub(crate) fn gave_up(&mut self, name: &str, version: &str, age: Duration) -> bool {
        let age = u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
        // A person who cancels is quicker than that, and as regular.
        if age < LEAST {
            return false;
        }
        let Some(host) = self.host(name, version) else { return false };
        let again = host.ages.iter().find(|former| former.abs_diff(age) <= SPREAD).copied();
        host.ages.push(age);
        if host.ages.len() > AGES {
            host.ages.remove(0);
        }
        if let Some(former) = again {
            host.limit_ms = Some(former.min(age));
        }
        true
    }

    /// A host still took an answer after its limit, having heard progress meanwhile. Whether something was learned.
    pub(crate) fn outlasted(&mut self, name: &str, version: &str, age: Duration) -> bool {
        let age = u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
        let Some(host) = self.learned.iter_mut().find(|host| host.is(name, version)) else { return false };
        let Some(limit) = host.limit_ms.filter(|limit| !host.resets && age > limit.saturating_add(2 * SPREAD)) else {
            return false;
        };
        host.resets = age > limit;
        true
    }

    /// What has to be written where, if anything has.
    pub(crate) fn file(&self) -> Option<(PathBuf, Vec<u8>)> {
        let path = self.path.clone().filter(|_| !self.newer)?;
        let mut text = format!("{{\"version\":{VERSION},\"revision\":{REVISION},\"hosts\":[").into_bytes();
        for (place, host) in self.learned.iter().enumerate() {
            text.extend_from_slice(if place == 0 { b"\n " } else { b",\n " });
            host.write(&mut text);
        }
        text.extend_from_slice(b"\n]}\n");
        Some((path, text))
    }

    fn host(&mut self, name: &str, version: &str) -> Option<&mut Host> {
        if let Some(place) = self.learned.iter().position(|host| host.is(name, version)) {
            return self.learned.get_mut(place);
        }
        if name.is_empty() || name.len() + version.len() > LONGEST {
            return None;
        }
        if self.learned.len() >= MOST {
            self.learned.remove(0);
        }
        let (name, version) = (name.to_owned(), version.to_owned());
        self.learned.push(Host { name, version, ages: Vec::new(), limit_ms: None, resets: false });
        self.learned.last_mut()
    }
}

/// Writes a file whole or not at all.
///
/// # Errors
/// When its folder cannot be written.
pub(crate) fn save(path: &Path, text: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let aside = path.with_extension(format!("json.{}", process::id()));
    fs::write(&aside, text)?;
    fs::rename(&aside, path)
}

impl Host {
    fn is(&self, name: &str, version: &str) -> bool {
        self.name == name && self.version == version
    }

    fn read(view: View<'_>) -> Option<Host> {
        let word = |name| view.get(name).and_then(View::str).map(std::borrow::Cow::into_owned);
        Some(Host {
            name: word("name")?,
            version: word("version").unwrap_or_default(),
            ages: view.get("ages").into_iter().flat_map(View::items).filter_map(View::u64).take(AGES).collect(),
            limit_ms: view.get("limitMs").and_then(View::u64).filter(|limit| *limit >= LEAST),
            resets: view.get("progressResets").and_then(View::bool) == Some(true),
        })
    }

    fn write(&self, text: &mut Vec<u8>) {
        text.extend_from_slice(b"{\"name\":");
        write_str(&self.name, text);
        text.extend_from_slice(b",\"version\":");
        write_str(&self.version, text);
        let ages: Vec<String> = self.ages.iter().map(u64::to_string).collect();
        text.extend_from_slice(format!(",\"ages\":[{}]", ages.join(",")).as_bytes());
        if let Some(limit) = self.limit_ms {
            text.extend_from_slice(format!(",\"limitMs\":{limit}").as_bytes());
        }
        if self.resets {
            text.extend_from_slice(b",\"progressResets\":true");
        }
        text.push(b'}');
    }
}

const fn usual(seconds: u64) -> HostLimit {
    HostLimit { patience: Duration::from_secs(seconds), resets: Resets::Unknown, evidence: Evidence::Usual }
}

/// Parts of client names, and the seconds such a client waits unless it is configured otherwise.
const SHIPPED: &[(&str, u64)] = &[("n8n", 60)];
/// Seconds a client of the MCP libraries waits unless told otherwise.
const USUAL: u64 = 60;
/// Milliseconds two ages may differ and still be one limit.
const SPREAD: u64 = 1_000;
/// Milliseconds below which nothing is learned.
const LEAST: u64 = 5_000;
const AGES: usize = 8;
const MOST: usize = 200;
const LONGEST: usize = 200;
const VERSION: u64 = 1;
const REVISION: u64 = 0;
const LIMITS: Limits = Limits { depth: 16, bytes: 1 << 20 };

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn hosts_wait_as_the_table_says() {
        let hosts = Hosts::default();
        assert_eq!(hosts.limit("anything", "1"), usual(60));
        assert_eq!(hosts.limit("@N8N/mcp", "1").evidence, Evidence::Known);
    }

    #[track_caller]
    fn check(ages: &[u64], expected: Option<u64>) {
        let mut hosts = Hosts::default();
        for age in ages {
            hosts.gave_up("host", "1", MS(*age));
        }
        let limit = hosts.limit("host", "1");
        assert_eq!((limit.evidence == Evidence::Learned).then_some(limit.patience), expected.map(MS));
        assert_eq!(hosts.limit("host", "2"), usual(60));
    }

    #[test]
    fn giving_up_twice_at_one_age_is_a_limit() {
        check(&[30_000], None);
        check(&[30_000, 30_900], Some(30_000));
        check(&[30_000, 31_001], None);
        check(&[30_000, 8_000, 45_000, 29_500], Some(29_500));
        check(&[2_000, 2_000, 2_000], None);
        check(&[30_000, 30_000, 10_000, 10_000], Some(10_000));
    }

    #[test]
    fn outlasting_the_limit_shows_that_progress_counts() {
        let mut hosts = Hosts::default();
        assert!(!hosts.outlasted("host", "1", MS(90_000)));
        hosts.gave_up("host", "1", MS(30_000));
        hosts.gave_up("host", "1", MS(30_000));
        assert!(!hosts.outlasted("host", "1", MS(31_000)));
        assert_eq!(hosts.limit("host", "1").resets, Resets::Unknown);
        assert!(hosts.outlasted("host", "1", MS(40_000)));
        assert_eq!(hosts.limit("host", "1").resets, Resets::Yes);
    }

    #[test]
    fn what_was_learned_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("deep/hosts.json");
        let mut hosts = Hosts::load(Some(&path));
        hosts.gave_up("ho\"st", "1", MS(30_000));
        hosts.gave_up("ho\"st", "1", MS(30_000));
        let (written, text) = hosts.file().expect("something to write");
        save(&written, &text).expect("it is written");
        insta::assert_snapshot!(String::from_utf8_lossy(&text), @r#"
        {"version":1,"revision":0,"hosts":[
         {"name":"ho\"st","version":"1","ages":[30000,30000],"limitMs":30000}
        ]}
        "#);
        let again = Hosts::load(Some(&path));
        assert_eq!(again.limit("ho\"st", "1").patience, MS(30_000));
        assert_eq!(fs::read_dir(path.parent().expect("a folder")).expect("a listing").count(), 1);
    }

    #[test]
    fn odd_files_teach_nothing_and_newer_ones_are_not_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("hosts.json");
        for (text, writes) in [
            ("", true),
            ("[1", true),
            (r#"{"version":2,"hosts":[{"name":"x","limitMs":9000}]}"#, false),
            (r#"{"version":1,"revision":7,"hosts":[{"name":"x","limitMs":9000,"new":1},{"limitMs":5},7]}"#, false),
        ] {
            fs::write(&path, text).expect("it is written");
            let mut hosts = Hosts::load(Some(&path));
            let learned = hosts.limit("x", "").evidence == Evidence::Learned;
            assert_eq!(learned, text.contains("revision"), "{text}");
            hosts.gave_up("y", "", MS(9_000));
            assert_eq!(hosts.file().is_some(), writes, "{text}");
        }
    }
}
