//! The held call of the demo: waits for it, says where to look, and releases it when nobody else shall.

use std::{thread, time::Duration};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::{Way, hub::Hub, tell};
use crate::sh;

/// From the moment the call is on its way until it has been released.
pub(crate) fn meet(hub: &Hub, way: Way) -> Result<()> {
    let pause = held(hub)?;
    let at = |name: &str| pause.get(name).and_then(Value::as_str).unwrap_or("?").to_owned();
    let (id, run) = (at("pauseId"), at("runId"));
    let node = pause.pointer("/node/name").and_then(Value::as_str).unwrap_or("?");
    tell(&format!("{node} failed, and its answer is held before the host sees it:"));
    if let Some(said) = pause.pointer("/node/error/message").and_then(Value::as_str) {
        tell(&format!("    {said}"));
    }
    tell("    290 dollars are 266.80 euros, not 315.22: the currency tool has its rate upside down.");
    let answer =
        json!({ "content": [{ "type": "text", "text": "booked TP1273 to Lisbon for 266.80 EUR" }] }).to_string();
    match way {
        Way::ByAPerson => {
            let port = hub.port;
            let home = hub.home.display();
            tell("Look at it, and release it as you like:");
            println!("    GRAPHMIND_HOME={home} target/debug/graphmind tui --port {port}");
            println!(
                "    http://127.0.0.1:{port}/  (or {home}/run/open-{port}.html, which carries the viewer's token)"
            );
            println!("    GRAPHMIND_HOME={home} target/debug/graphmind resume {id} --run {run} --port {port} \\");
            println!("        --action inject --output '{answer}'");
            Ok(())
        }
        Way::ByItself => {
            thread::sleep(MOMENT);
            tell("Released by the demo itself, with the answer the server should have given.");
            let words = ["resume", &id, "--run", &run, "--action", "inject", "--output", &answer, "--json"];
            let outcome: Value = serde_json::from_str(&sh::output(&mut hub.graphmind(&words))?)?;
            match outcome.get("outcome").and_then(Value::as_str) {
                Some("resumed") => Ok(()),
                _ => bail!("the held call was not released: {outcome}"),
            }
        }
    }
}

fn held(hub: &Hub) -> Result<Value> {
    let said = sh::output(&mut hub.graphmind(&["wait", "--timeout", "60", "--json"]))?;
    let said: Value = serde_json::from_str(&said).with_context(|| format!("`graphmind wait` said: {said}"))?;
    let pause = said.get("pause").filter(|pause| !pause.is_null());
    pause.cloned().with_context(|| format!("no call was held: {said}"))
}

/// Long enough to see that the call really stands still, and for a heartbeat to come.
const MOMENT: Duration = Duration::from_millis(1_500);
