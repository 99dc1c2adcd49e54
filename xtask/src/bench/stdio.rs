//! The round trip of a small call: direct, through the floor, through us, and through proxies that others publish.
//! Contenders take turns, so that a busy moment hits all of them.

use std::{
    net::{TcpListener, TcpStream},
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::Result;

use super::{
    rig::{Cores, Hub, Plan, Rig, binary, median, nanos},
    table::{Row, micros},
};
use crate::{peers, sh};

pub(crate) fn measure(rig: &Rig) -> Result<Vec<Row>> {
    let hub = rig.hub("hub-stdio")?;
    let mut rows = Vec::new();
    let mut free = None;
    for cores in Cores::offered() {
        let times = turns(rig, &hub, cores)?;
        rows.extend(judged(&times, cores));
        free = Some(times);
    }
    hub.stop()?;
    if let Some(times) = free.filter(|_| rig.peers) {
        rows.extend(others(rig, times.direct, times.added(times.detached))?);
    }
    Ok(rows)
}

/// Medians of a whole call, in nanoseconds.
struct Times {
    direct: f64,
    floor: f64,
    detached: f64,
    recording: f64,
    /// 99 of 100 calls took no longer: direct, floor, detached.
    tails: [f64; 3],
}

impl Times {
    fn added(&self, seen: f64) -> f64 {
        (seen - self.direct).max(1.0)
    }
}

fn turns(rig: &Rig, hub: &Hub, cores: Cores) -> Result<Times> {
    let contenders = [
        ("direct", vec![binary("bench-echo")]),
        ("floor", vec![binary("bench-relay"), binary("bench-echo")]),
        ("detached", rig.proxy(None)),
        ("recording", rig.proxy(Some(hub))),
    ];
    let mut p50 = [const { Vec::new() }; 4];
    let mut p99 = [const { Vec::new() }; 4];
    for round in 0..ROUNDS {
        for (at, (name, command)) in contenders.iter().enumerate() {
            let plan = Plan { mode: "stdio", bytes: SIZE, calls: rig.many(CALLS), cores };
            let figures = rig.drive(&format!("stdio-{}-{name}-{round}", word(cores)), &plan, command)?;
            p50[at].push(nanos(&figures, "p50")?);
            p99[at].push(nanos(&figures, "p99")?);
        }
    }
    let [direct, floor, detached, recording] = p50.map(median);
    let [first, second, third, _] = p99.map(median);
    Ok(Times { direct, floor, detached, recording, tails: [first, second, third] })
}

fn judged(times: &Times, cores: Cores) -> Vec<Row> {
    let Times { direct, floor, detached, recording, tails } = times;
    let place = match cores {
        Cores::All => "cores as they come",
        Cores::One => "one core",
    };
    let added = |seen: f64| times.added(seen);
    let ratio = added(*detached) / added(*floor);
    let recorded = added(*recording) / added(*detached);
    vec![
        Row::told(
            &format!("1 KB call, {place}, p50"),
            micros(*detached),
            format!("direct {}, floor {}, recording {}", micros(*direct), micros(*floor), micros(*recording)),
        ),
        Row::told(
            &format!("1 KB call, {place}, p99"),
            micros(tails[2]),
            format!("direct {}, floor {}", micros(tails[0]), micros(tails[1])),
        ),
        Row::judged(
            &format!("added p50, {place}, detached"),
            micros(added(*detached)),
            format!("floor {}: {ratio:.2}×", micros(added(*floor))),
            "≤ 2× floor",
            ratio <= 2.0,
        ),
        Row::judged(
            &format!("added p50, {place}, attached and recording"),
            micros(added(*recording)),
            format!("detached: {recorded:.2}×; whole call {:.2}×", recording / detached),
            "≤ 1.3× detached",
            recorded <= 1.3,
        ),
    ]
}

fn word(cores: Cores) -> &'static str {
    match cores {
        Cores::All => "all",
        Cores::One => "one",
    }
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
            let plan = Plan { mode: "http", bytes: SIZE, calls: rig.many(PEER_CALLS), cores: Cores::All };
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
