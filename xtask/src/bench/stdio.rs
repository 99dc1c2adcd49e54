//! The round trip of a small call: direct, through the floor, through us, and through proxies that others publish.
//! Contenders take turns, so that a busy moment hits all of them.

use std::{
    net::{TcpListener, TcpStream},
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::Result;

use super::{
    rig::{Plan, Rig, binary, median, nanos},
    table::{Row, micros},
};
use crate::{peers, sh};

pub(crate) fn measure(rig: &Rig) -> Result<Vec<Row>> {
    let hub = rig.hub("hub-stdio")?;
    let contenders = [
        ("direct", vec![binary("bench-echo")]),
        ("floor", vec![binary("bench-relay"), binary("bench-echo")]),
        ("detached", rig.proxy(None)),
        ("recording", rig.proxy(Some(&hub))),
    ];
    let mut p50 = [const { Vec::new() }; 4];
    let mut p99 = [const { Vec::new() }; 4];
    for round in 0..ROUNDS {
        for (at, (name, command)) in contenders.iter().enumerate() {
            let plan = Plan { mode: "stdio", bytes: SIZE, calls: rig.many(CALLS) };
            let figures = rig.drive(&format!("stdio-{name}-{round}"), &plan, command)?;
            p50[at].push(nanos(&figures, "p50")?);
            p99[at].push(nanos(&figures, "p99")?);
        }
    }
    hub.stop()?;
    let [direct, floor, detached, recording] = p50.map(median);
    let tails = p99.map(median);
    let added = |seen: f64| (seen - direct).max(1.0);
    let ratio = added(detached) / added(floor);
    let recorded = added(recording) / added(detached);
    let mut rows = vec![
        Row::told(
            "1 KB call, round trip p50",
            micros(detached),
            format!("direct {}, floor {}", micros(direct), micros(floor)),
        ),
        Row::told(
            "1 KB call, round trip p99",
            micros(tails[2]),
            format!("direct {}, floor {}", micros(tails[0]), micros(tails[1])),
        ),
        Row::judged(
            "added p50, detached",
            micros(added(detached)),
            format!("floor {}: {ratio:.2}×", micros(added(floor))),
            "≤ 2× floor",
            ratio <= 2.0,
        ),
        Row::judged(
            "added p50, attached and recording",
            micros(added(recording)),
            format!("detached: {recorded:.2}×; whole call {:.2}×", recording / detached),
            "≤ 1.3× detached",
            recorded <= 1.3,
        ),
    ];
    if rig.peers {
        rows.extend(others(rig, direct, added(detached))?);
    }
    Ok(rows)
}

/// Other proxies offer HTTP in front of a stdio server; that is what can be measured of them.
fn others(rig: &Rig, direct: f64, ours: f64) -> Result<Vec<Row>> {
    let npm = peers::npm("crates/e2e/peers/bench")?.join("node_modules/.bin/mcp-proxy");
    let python = peers::python("crates/e2e/peers/bench/mcp-proxy.txt")?;
    let pypi = python.with_file_name(format!("mcp-proxy{}", std::env::consts::EXE_SUFFIX));
    let mut rows = Vec::new();
    for (name, program) in [("mcp-proxy 6.7.19 (npm)", npm), ("mcp-proxy 0.13.0 (PyPI)", pypi)] {
        let port = free_port()?;
        let mut command = Command::new(program);
        command.args(["--host", "127.0.0.1", "--port", &port.to_string(), "--", &binary("bench-echo")]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let measured = listening(port).and_then(|()| {
            let plan = Plan { mode: "http", bytes: SIZE, calls: rig.many(PEER_CALLS) };
            let file = name.split(' ').next_back().unwrap_or(name).trim_matches(['(', ')']).to_owned();
            rig.drive(&format!("http-{file}"), &plan, &[format!("http://127.0.0.1:{port}/mcp")])
        });
        sh::stop(&mut child, Duration::from_secs(5))?;
        let theirs = nanos(&measured?, "p50")? - direct;
        let ratio = theirs / ours;
        rows.push(Row::judged(
            &format!("added p50 beside {name}, over HTTP"),
            micros(ours),
            format!("{}: {ratio:.0}×", micros(theirs)),
            "≥ 10× below",
            ratio >= 10.0,
        ));
    }
    Ok(rows)
}

fn listening(port: u16) -> Result<()> {
    sh::wait_for("a listening proxy", Duration::from_secs(60), || TcpStream::connect(("127.0.0.1", port)).ok())?;
    Ok(())
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

const SIZE: usize = 1_024;
const CALLS: usize = 4_000;
const PEER_CALLS: usize = 1_000;
const ROUNDS: usize = 5;
