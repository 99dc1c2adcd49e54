//! The story of one held call: hub, demo server, proxy and a scripted host, started, played and ended. Tells it as it goes.

mod hold;
mod host;
mod hub;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
};

use anyhow::{Context as _, Result, anyhow};
use serde_json::{Value, json};

use crate::{demo::host::Host, demo::hub::Hub, sh, task::Flags};

pub(crate) fn run(flags: &Flags) -> Result<()> {
    let way = if flags.has("--auto") { Way::ByItself } else { Way::ByAPerson };
    sh::run("build", sh::cargo().args(["build", "--quiet", "--bin", "graphmind", "--bin", "trip-planner"]))?;
    let home = sh::root().join("target/demo");
    if home.exists() {
        fs::remove_dir_all(&home).context("clear the last demo's folder")?;
    }
    fs::create_dir_all(&home)?;
    let mut hub = Hub::start(&home)?;
    tell(&format!("The hub is listening on port {} and keeps this run in {}.", hub.port, shown(&home)));
    let played = play(&hub, way);
    // the hub ends whatever happened before
    let stopped = hub.stop();
    played?;
    stopped?;
    tell("The hub has ended; nothing is left running.");
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    ByItself,
    ByAPerson,
}

fn play(hub: &Hub, way: Way) -> Result<()> {
    let (send, story) = mpsc::channel();
    let port = hub.port;
    let home = hub.home.clone();
    let hosting = thread::spawn(move || script(port, &home, &send));
    let released = loop {
        match story.recv() {
            Ok(Scene::Said(line)) => tell(&line),
            Ok(Scene::Booking) => {
                if let Err(error) = hold::meet(hub, way) {
                    break Err(error);
                }
            }
            Err(mpsc::RecvError) => break Ok(()),
        }
    };
    // on a failure the host is not waited for: a hub that ends lets its call through, and the host ends with us
    released?;
    hosting.join().map_err(|_| anyhow!("the scripted host ended badly"))?
}

/// What the host's thread tells the one that holds the stage.
enum Scene {
    Said(String),
    /// the next call is the one that will be held
    Booking,
}

/// A trip within 300 EUR, as an agent would plan it.
fn script(port: u16, home: &Path, say: &mpsc::Sender<Scene>) -> Result<()> {
    let said = |line: String| say.send(Scene::Said(line)).map_err(|_| anyhow!("nobody listens any more"));
    let mut host = Host::start(port, home)?;
    said(format!("A host has started {} through the proxy.", host.server))?;
    let found = host.call("search_flights", &json!({ "to": "Lisbon" }))?;
    let dollars = number(&found, "/structuredContent/flights/0/price_usd")?;
    said(format!("search_flights → {}", text(&found)))?;
    let converted = host.call("convert_currency", &json!({ "amount": dollars, "from": "USD", "to": "EUR" }))?;
    let euros = number(&converted, "/structuredContent/amount")?;
    said(format!("convert_currency → {}", text(&converted)))?;
    say.send(Scene::Booking)?;
    let trip = json!({ "flight": "TP1273", "price_eur": euros, "budget_eur": 300 });
    let booked = host.call("book_trip", &trip)?;
    said(format!("The host was given: {}", text(&booked)))?;
    if host.heartbeats > 0 {
        said(format!(
            "While it waited, the proxy sent it progress ({}), so that it did not give up.",
            host.heartbeats
        ))?;
    }
    host.finish()
}

fn text(result: &Value) -> String {
    let text = result.pointer("/content/0/text").and_then(Value::as_str).unwrap_or("(no text)");
    text.replace('\n', "; ")
}

fn number(result: &Value, pointer: &str) -> Result<f64> {
    let number = result.pointer(pointer).and_then(Value::as_f64);
    number.with_context(|| format!("no number at {pointer} in {result}"))
}

fn tell(line: &str) {
    println!("▸ {line}");
}

fn shown(path: &Path) -> String {
    path.strip_prefix(sh::root()).unwrap_or(path).display().to_string()
}

/// A binary that `cargo build` just made.
fn built(name: &str) -> PathBuf {
    sh::root().join("target/debug").join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}
