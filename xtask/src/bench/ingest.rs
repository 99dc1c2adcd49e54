//! The hub under load: as fast as one sender may for a minute, and at a pace with a viewer beside it.

use std::{
    fs,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::{
    memory::resident,
    rig::{Hub, Pace, Rig, binary, nanos},
    table::{Row, megabytes, micros},
};
use crate::sh;

pub(crate) fn full(rig: &Rig) -> Result<Vec<Row>> {
    let seconds = match rig.pace {
        Pace::Full => "60",
        Pace::Quick => "5",
    };
    let hub = rig.hub("hub-ingest")?;
    let watched = watched(&hub, seconds);
    let stored = hub.stored();
    hub.stop()?;
    let (figures, memory) = watched?;
    fs::write(rig.out.join("ingest.json"), figures.to_string())?;
    fs::write(rig.out.join("ingest-memory.txt"), memory.iter().map(|bytes| format!("{bytes}\n")).collect::<String>())?;
    let (rate, lost, kept) = (nanos(&figures, "events_per_s")?, nanos(&figures, "lost")?, nanos(&figures, "stored")?);
    // flat: what is held at the end against what was held once the load had been on for a fifth of its time
    let early = memory.get(memory.len() / 5).copied().unwrap_or(f64::NAN);
    let late = memory.last().copied().unwrap_or(f64::NAN);
    let most = memory.iter().copied().fold(0.0, f64::max);
    #[expect(clippy::cast_precision_loss, reason = "a database of a bench stays far below 2^52")]
    let each = stored as f64 / kept;
    Ok(vec![
        Row::judged(
            &format!("ingest with SQLite, {seconds} s"),
            format!("{rate:.0} events/s"),
            "published peer figure 20,963/s".to_owned(),
            "≥ 100,000/s",
            rate >= 100_000.0,
        ),
        Row::judged(
            "ingest, lost",
            format!("{lost:.0}"),
            format!("of {:.0}; {each:.0} B on disk each", kept + lost),
            "0",
            lost == 0.0,
        ),
        Row::judged(
            "ingest, hub memory",
            megabytes(late),
            format!("early {}, most {}", megabytes(early), megabytes(most)),
            "flat",
            late <= early * 1.25 + 4e6,
        ),
    ])
}

pub(crate) fn paced(rig: &Rig) -> Result<Vec<Row>> {
    let seconds = match rig.pace {
        Pace::Full => "20",
        Pace::Quick => "3",
    };
    let hub = rig.hub("hub-paced")?;
    let said = sh::output(sh::program(binary("bench-load")).args(["paced", &hub.port.to_string(), seconds, "2000"]));
    hub.stop()?;
    let said = said?;
    fs::write(rig.out.join("paced.json"), &said)?;
    let figures: Value = serde_json::from_str(&said)?;
    let (sent, seen) = (nanos(&figures, "sent")?, nanos(&figures, "seen")?);
    if seen < sent {
        bail!("the viewer saw {seen} of {sent} events");
    }
    let (p50, p99) = (nanos(&figures, "p50")?, nanos(&figures, "p99")?);
    let (emit, slow) = (nanos(&figures, "emit_p50")?, nanos(&figures, "emit_p99")?);
    Ok(vec![
        Row::judged(
            "2,000 events/s, emit to a viewer's socket, p99",
            micros(p99),
            format!("p50 {}; published peer figures 8 and 1 ms", micros(p50)),
            "< 5 ms",
            p99 < 5e6,
        ),
        Row::judged(
            "emit while attached, p50",
            format!("{emit:.0} ns"),
            format!("p99 {slow:.0} ns"),
            "< 1 µs",
            emit < 1e3,
        ),
    ])
}

/// Runs the load and reads the hub's memory each second beside it.
fn watched(hub: &Hub, seconds: &str) -> Result<(Value, Vec<f64>)> {
    let mut command = Command::new(binary("bench-load"));
    command.args(["full", &hub.port.to_string(), seconds]).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut load = command.spawn().context("start the load")?;
    let mut memory = Vec::new();
    while load.try_wait()?.is_none() {
        memory.push(resident(hub.id())?);
        thread::sleep(Duration::from_secs(1));
    }
    let done = load.wait_with_output()?;
    if !done.status.success() {
        bail!("the load ended with {}", done.status);
    }
    Ok((serde_json::from_slice(&done.stdout).context("read what the load says")?, memory))
}
