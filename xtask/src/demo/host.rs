//! A host of the handshake era over pipes: asks one thing at a time and reads until its answer comes.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::built;
use crate::sh;

#[derive(Debug)]
pub(crate) struct Host {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    asked: u64,
    /// who answered the handshake
    pub(crate) server: String,
    /// progress messages that came while a call was open
    pub(crate) heartbeats: usize,
}

impl Host {
    pub(crate) fn start(port: u16, home: &Path) -> Result<Self> {
        let mut command = sh::program(built("graphmind"));
        command.args(["mcp-proxy", "--port", &port.to_string(), "--wait-for-attach", "--"]).arg(built("trip-planner"));
        command.env("GRAPHMIND_HOME", home).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().context("start the proxy")?;
        let input = child.stdin.take();
        let output = child.stdout.take().context("the proxy has an output")?;
        let mut host =
            Self { child, input, output: BufReader::new(output), asked: 0, server: String::new(), heartbeats: 0 };
        match host.greet() {
            Ok(server) => host.server = server,
            Err(error) => {
                sh::stop(&mut host.child, GRACE)?;
                return Err(error);
            }
        }
        Ok(host)
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value> {
        let token = self.asked + 1;
        let params = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": token } });
        self.ask("tools/call", &params)
    }

    /// Hangs up, as a host does, and waits for the proxy to end.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.input = None;
        let status = sh::wait_for("the proxy's end", GRACE, || self.child.try_wait().ok().flatten());
        let Ok(status) = status else {
            sh::stop(&mut self.child, GRACE)?;
            bail!("the proxy did not end when its host hung up");
        };
        if !status.success() {
            bail!("the proxy ended with {status}");
        }
        Ok(())
    }

    fn greet(&mut self) -> Result<String> {
        let about = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "scripted-host", "version": env!("CARGO_PKG_VERSION") },
        });
        let greeting = self.ask("initialize", &about)?;
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        let name = greeting.pointer("/serverInfo/name").and_then(Value::as_str);
        Ok(name.unwrap_or("a server without a name").to_owned())
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line)? == 0 {
                bail!("the proxy ended before it answered {method}");
            }
            let frame: Value = serde_json::from_str(&line).with_context(|| format!("the proxy said: {line:?}"))?;
            if frame.get("method").and_then(Value::as_str) == Some("notifications/progress") {
                self.heartbeats += 1;
            }
            if frame.get("id").and_then(Value::as_u64) != Some(id) {
                continue;
            }
            if let Some(result) = frame.get("result") {
                return Ok(result.clone());
            }
            bail!("{method} was answered with {frame}");
        }
    }

    fn send(&mut self, frame: &Value) -> Result<()> {
        let input = self.input.as_mut().context("the host has hung up")?;
        writeln!(input, "{frame}")?;
        Ok(input.flush()?)
    }
}

const GRACE: Duration = Duration::from_secs(10);
