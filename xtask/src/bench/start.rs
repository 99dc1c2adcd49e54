//! From starting the proxy to the first byte that came back through it, the server's own start included.

use anyhow::Result;

use super::{
    rig::{Cores, Plan, Rig, binary, nanos},
    table::{Row, micros},
};

pub(crate) fn measure(rig: &Rig) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let plan = Plan { mode: "start", bytes: 64, calls: rig.many(100), cores: Cores::All };
    let direct = nanos(&rig.drive("start-direct", &plan, &[binary("bench-echo")])?, "p50")?;
    let floor = nanos(&rig.drive("start-floor", &plan, &[binary("bench-relay"), binary("bench-echo")])?, "p50")?;
    let ours = nanos(&rig.drive("start-detached", &plan, &rig.proxy(None))?, "p50")?;
    rows.push(Row::judged(
        "start to first forwarded byte, p50",
        micros(ours),
        format!("server alone {}, floor {}", micros(direct), micros(floor)),
        "< 10 ms",
        ours < 10e6,
    ));
    Ok(rows)
}
