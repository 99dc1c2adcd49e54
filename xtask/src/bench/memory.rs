//! Memory of processes, read from outside; and what proxy and hub hold while nothing happens.

use std::{
    fs,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result};

use super::{
    rig::Rig,
    table::{Row, megabytes},
};
use crate::sh;

pub(crate) fn idle(rig: &Rig) -> Result<Vec<Row>> {
    let hub = rig.hub("hub-idle")?;
    let command = rig.proxy(Some(&hub));
    let mut proxy = Command::new(&command[0]);
    proxy.args(&command[1..]).env("GRAPHMIND_HOME", rig.out.join("home"));
    proxy.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut proxy = proxy.spawn().context("start the proxy")?;
    thread::sleep(SETTLED);
    let held = (resident(proxy.id()), resident(hub.id()));
    drop(proxy.stdin.take());
    sh::stop(&mut proxy, Duration::from_secs(5))?;
    hub.stop()?;
    let (proxy, hub) = (held.0?, held.1?);
    Ok(vec![
        Row::judged("idle memory, proxy attached", megabytes(proxy), String::new(), "< 15 MB", proxy < IDLE),
        Row::judged("idle memory, hub", megabytes(hub), String::new(), "< 15 MB", hub < IDLE),
    ])
}

/// Bytes a process holds now.
pub(crate) fn resident(id: u32) -> Result<f64> {
    if let Ok(status) = fs::read_to_string(format!("/proc/{id}/status")) {
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes =
            line.and_then(|line| line.split_whitespace().next()).and_then(|number| number.parse::<f64>().ok());
        return kilobytes.map(|kilobytes| kilobytes * 1024.0).context("the system does not say how much memory");
    }
    let said = sh::output(sh::program("ps").args(["-o", "rss=", "-p", &id.to_string()]))?;
    Ok(said.trim().parse::<f64>().context("read what ps says")? * 1024.0)
}

/// long enough for both ends to have greeted and gone quiet
const SETTLED: Duration = Duration::from_secs(3);
const IDLE: f64 = 15e6;
