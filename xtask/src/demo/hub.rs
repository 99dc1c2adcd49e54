//! The hub of a demo: a process of its own with a home of its own. Ends when asked.

use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::built;
use crate::sh;

#[derive(Debug)]
pub(crate) struct Hub {
    child: Child,
    pub(crate) port: u16,
    pub(crate) home: PathBuf,
}

impl Hub {
    /// Starts on a free port. An agent may inject here, since the demo releases through the command line.
    pub(crate) fn start(home: &Path) -> Result<Self> {
        let mut command = sh::program(built("graphmind"));
        command.args(["serve", "--port", "0", "--json", "--no-open", "--pause-on-error", "on"]);
        command.args(["--allow-control", "inject", "--db"]).arg(home.join("graphmind.db"));
        command.env("GRAPHMIND_HOME", home).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().context("start the hub")?;
        let port = port(&mut child);
        match port {
            Ok(port) => Ok(Self { child, port, home: home.to_path_buf() }),
            Err(error) => {
                sh::stop(&mut child, GRACE)?;
                Err(error)
            }
        }
    }

    /// A command line that talks to this hub.
    pub(crate) fn graphmind(&self, words: &[&str]) -> Command {
        let mut command = sh::program(built("graphmind"));
        command.args(words).args(["--port", &self.port.to_string()]).env("GRAPHMIND_HOME", &self.home);
        command
    }

    pub(crate) fn stop(&mut self) -> Result<()> {
        sh::stop(&mut self.child, GRACE).map(|_| ())
    }
}

/// The one line the hub prints when it listens.
fn port(child: &mut Child) -> Result<u16> {
    let stdout = child.stdout.take().context("the hub has an output")?;
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line)?;
    let said: Value = serde_json::from_str(&line).with_context(|| format!("the hub said: {line:?}"))?;
    let port = said.get("port").and_then(Value::as_u64).and_then(|port| u16::try_from(port).ok());
    port.with_context(|| format!("the hub names no port: {line}"))
}

const GRACE: Duration = Duration::from_secs(5);
