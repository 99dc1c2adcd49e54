//! What a pass and an emit cost, as the gate's own example measures it.

use std::fs;

use anyhow::{Context as _, Result};

use super::{rig::Rig, table::Row};
use crate::sh;

pub(crate) fn measure(rig: &Rig) -> Result<Vec<Row>> {
    let mut command = sh::cargo();
    command.args(["run", "--quiet", "--release", "--package", "lockgate-gate", "--example", "bench"]);
    let said = sh::output(&mut command)?;
    fs::write(rig.out.join("gate.txt"), &said)?;
    // each pass consumes a call, so the example clones one each time; that is not the gate's
    let clone = nanos(&said, "clone and drop a call")?;
    let detached = nanos(&said, "pass, detached")? - clone;
    let attached = nanos(&said, "pass, attached, nothing armed")? - clone;
    let emit = nanos(&said, "emit, one thread")? / BATCH;
    Ok(vec![
        Row::judged(
            "gate with nothing to hold",
            format!("{attached:.0} ns"),
            format!("detached {detached:.0} ns; the call made for it {clone:.0} ns"),
            "< 50 ns",
            attached < 50.0,
        ),
        Row::told("emit, nobody in its way", format!("{emit:.0} ns"), "mean of 100, with the reader's turn".to_owned()),
    ])
}

/// The median: the number in front of the last `ns` on the line that begins so.
fn nanos(said: &str, figure: &str) -> Result<f64> {
    let line = said.lines().find(|line| line.trim_start().starts_with(figure));
    let line = line.with_context(|| format!("the example says nothing of: {figure}"))?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words.iter().rposition(|word| *word == "ns").with_context(|| format!("no nanoseconds in: {line}"))?;
    words
        .get(at.wrapping_sub(1))
        .and_then(|number| number.parse().ok())
        .with_context(|| format!("no number in: {line}"))
}

/// the example emits so many between two readings of the clock
const BATCH: f64 = 100.0;
