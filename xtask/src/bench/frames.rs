//! Large frames: bytes a second through the floor and through us, and the most memory we held.

use anyhow::Result;
use serde_json::Value;

use super::{
    rig::{Cores, Plan, Rig, binary, median, nanos},
    table::{Row, megabytes},
};

pub(crate) fn measure(rig: &Rig) -> Result<Vec<Row>> {
    let hub = rig.hub("hub-frames")?;
    let mut rows = Vec::new();
    for (name, bytes, calls) in [("1 MB", 1_000_000, 100), ("20 MB", 20_000_000, 8)] {
        let contenders = [
            ("floor", vec![binary("bench-relay"), binary("bench-echo")]),
            ("detached", rig.proxy(None)),
            ("recording", rig.proxy(Some(&hub))),
        ];
        let mut speed = [const { Vec::new() }; 3];
        let mut peak = [0.0_f64; 3];
        for round in 0..ROUNDS {
            for (at, (contender, command)) in contenders.iter().enumerate() {
                let plan = Plan { mode: "stdio", bytes, calls: rig.many(calls), cores: Cores::All };
                let figures = rig.drive(&format!("frames-{bytes}-{contender}-{round}"), &plan, command)?;
                speed[at].push(throughput(&figures, bytes)?);
                let memory = figures.get("memory").and_then(Value::as_f64).unwrap_or(f64::NAN);
                peak[at] = peak[at].max(memory);
            }
        }
        let [floor, detached, recording] = speed.map(median);
        let share = detached / floor;
        rows.push(Row::judged(
            &format!("{name} frames, both ways"),
            format!("{}/s", megabytes(detached)),
            format!("floor {}/s: {:.0} %; recording {}/s", megabytes(floor), share * 100.0, megabytes(recording)),
            "≥ 80 % of floor",
            share >= 0.8,
        ));
        rows.push(Row::judged(
            &format!("{name} frames, peak memory"),
            megabytes(peak[1]),
            format!("recording {}, floor {}", megabytes(peak[2]), megabytes(peak[0])),
            "≤ 64 MiB + 32 MB",
            // recording is the same proxy: it has the same bound
            peak[1].max(peak[2]) <= LIMIT,
        ));
    }
    hub.stop()?;
    Ok(rows)
}

/// Bytes a second of the median call, which carries its text there and back.
fn throughput(figures: &Value, bytes: usize) -> Result<f64> {
    #[expect(clippy::cast_precision_loss, reason = "sizes of a bench stay far below 2^52")]
    let carried = 2.0 * bytes as f64;
    Ok(carried / (nanos(figures, "p50")? / 1e9))
}

const ROUNDS: usize = 3;
/// the frame ceiling and a constant
const LIMIT: f64 = 67_108_864.0 + 32e6;
