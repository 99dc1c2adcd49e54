//! Measures our binaries beside a floor and beside other proxies, in one run, and prints one table.
//! Everything measured is a release binary in a process of its own; raw figures stay under `target/bench/`.

mod frames;
mod gate;
mod ingest;
mod memory;
mod rig;
mod start;
mod stdio;
mod table;

use std::fs;

use anyhow::Result;

use crate::{sh, task::Flags};
use rig::{Pace, Rig};
use table::Row;

pub(crate) fn run(flags: &Flags) -> Result<()> {
    let pace = if flags.has("--quick") { Pace::Quick } else { Pace::Full };
    let rig = Rig::build(pace, !flags.has("--no-peers"))?;
    let mut rows = Vec::new();
    for (name, measure) in FIGURES {
        if flags.rest.is_empty() || flags.rest.iter().any(|asked| asked == name) {
            eprintln!("── {name}");
            rows.extend(measure(&rig)?);
        }
    }
    let table = table::draw(&rows);
    println!("\n{table}");
    let page = rig.out.join("table.md");
    fs::write(&page, &table)?;
    if flags.has("--readme") {
        table::into_readme(&table)?;
    }
    println!("raw figures: {}", rig.out.strip_prefix(sh::root()).unwrap_or(&rig.out).display());
    Ok(())
}

type Measure = fn(&Rig) -> Result<Vec<Row>>;

const FIGURES: [(&str, Measure); 7] = [
    ("start", start::measure),
    ("idle", memory::idle),
    ("stdio", stdio::measure),
    ("frames", frames::measure),
    ("gate", gate::measure),
    ("paced", ingest::paced),
    ("ingest", ingest::full),
];
