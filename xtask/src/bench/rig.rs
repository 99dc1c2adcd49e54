//! What all measurements share: release binaries, a folder for raw figures, hubs, and the driver that times calls.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::sh;

pub(crate) struct Rig {
    pub(crate) pace: Pace,
    pub(crate) peers: bool,
    /// where raw figures go
    pub(crate) out: PathBuf,
}

/// How long to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    Full,
    Quick,
}

impl Rig {
    pub(crate) fn build(pace: Pace, peers: bool) -> Result<Self> {
        let mut build = sh::cargo();
        build.args(["build", "--quiet", "--release", "--bin", "graphmind"]);
        build.args(["--bin", "bench-relay", "--bin", "bench-echo", "--bin", "bench-drive", "--bin", "bench-load"]);
        sh::run("release binaries", &mut build)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let out = sh::root().join("target/bench").join(now.to_string());
        fs::create_dir_all(&out)?;
        Ok(Self { pace, peers, out })
    }

    /// A number of rounds or calls, cut down for a quick look.
    pub(crate) fn many(&self, full: usize) -> usize {
        match self.pace {
            Pace::Full => full,
            Pace::Quick => (full / 20).max(3),
        }
    }

    /// Times calls of one size through a command, or to an address.
    pub(crate) fn drive(&self, name: &str, plan: &Plan, target: &[String]) -> Result<Value> {
        let driver = binary("bench-drive");
        let mut command = match plan.cores {
            Cores::All => sh::program(driver),
            Cores::One => {
                let mut bound = sh::program("taskset");
                bound.args(["-c", "0"]).arg(driver);
                bound
            }
        };
        command.args([plan.mode, &plan.bytes.to_string(), &plan.calls.to_string(), "--"]).args(target);
        command.env("GRAPHMIND_HOME", self.out.join("home"));
        let said = sh::output(&mut command).with_context(|| format!("measure {name}"))?;
        fs::write(self.out.join(format!("{name}.json")), &said)?;
        serde_json::from_str(&said).with_context(|| format!("the driver said: {said}"))
    }

    /// Our proxy, with nobody to report to or with a hub.
    pub(crate) fn proxy(&self, hub: Option<&Hub>) -> Vec<String> {
        let mut command = vec![binary("graphmind"), "mcp-proxy".to_owned(), "--port".to_owned()];
        match hub {
            Some(hub) => command.extend([hub.port.to_string(), "--wait-for-attach".to_owned()]),
            None => command.push(NOBODY.to_owned()),
        }
        command.push("--".to_owned());
        command.push(binary("bench-echo"));
        command
    }

    pub(crate) fn hub(&self, name: &str) -> Result<Hub> {
        Hub::start(&self.out.join(name))
    }
}

pub(crate) struct Plan {
    pub(crate) mode: &'static str,
    pub(crate) bytes: usize,
    pub(crate) calls: usize,
    pub(crate) cores: Cores,
}

/// Where the driver and everything it starts may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cores {
    /// Wherever the system puts them.
    All,
    /// On one core, where only the work counts: on several, waking one that sleeps can cost more than all of that.
    One,
}

impl Cores {
    /// What this machine can be asked for.
    pub(crate) fn offered() -> Vec<Self> {
        if sh::has("taskset", "--version") { vec![Self::One, Self::All] } else { vec![Self::All] }
    }
}

/// A hub on a free port with a database of its own.
pub(crate) struct Hub {
    child: Child,
    pub(crate) port: u16,
    home: PathBuf,
}

impl Hub {
    fn start(home: &Path) -> Result<Self> {
        fs::create_dir_all(home)?;
        let mut command = Command::new(binary("graphmind"));
        command.args(["serve", "--port", "0", "--json", "--no-open", "--pause-on-error", "off", "--db"]);
        command.arg(home.join("graphmind.db")).env("GRAPHMIND_HOME", home);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().context("start the hub")?;
        let mut line = String::new();
        let stdout = child.stdout.take().context("the hub has an output")?;
        BufReader::new(stdout).read_line(&mut line)?;
        let said: Option<Value> = serde_json::from_str(&line).ok();
        let port = said.as_ref().and_then(|said| said.get("port")).and_then(Value::as_u64);
        let Some(port) = port.and_then(|port| u16::try_from(port).ok()) else {
            sh::stop(&mut child, GRACE)?;
            anyhow::bail!("the hub said: {line:?}");
        };
        Ok(Self { child, port, home: home.to_path_buf() })
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Bytes on disk: the database and its log.
    pub(crate) fn stored(&self) -> u64 {
        let files = ["graphmind.db", "graphmind.db-wal"].map(|name| self.home.join(name));
        files.iter().filter_map(|file| fs::metadata(file).ok()).map(|about| about.len()).sum()
    }

    /// Ends the hub and removes what it kept, which can be gigabytes.
    pub(crate) fn stop(mut self) -> Result<()> {
        sh::stop(&mut self.child, GRACE)?;
        Ok(fs::remove_dir_all(&self.home)?)
    }
}

/// A release binary's full path.
pub(crate) fn binary(name: &str) -> String {
    let path = sh::root().join("target/release").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    path.display().to_string()
}

pub(crate) fn nanos(figures: &Value, name: &str) -> Result<f64> {
    figures.get(name).and_then(Value::as_f64).with_context(|| format!("no {name} among the figures"))
}

pub(crate) fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
}

/// a port nobody listens on: ports below 1024 are not handed out
const NOBODY: &str = "9";
const GRACE: Duration = Duration::from_secs(20);
