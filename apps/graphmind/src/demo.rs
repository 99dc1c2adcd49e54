//! The recorded agent run that `demo` plays: what was recorded, and how it answers to the person watching.

mod player;
mod scene;
mod script;

pub(crate) use player::{Ending, Player, Seen};
pub(crate) use script::Script;

use std::sync::Arc;

use lockgate_hub::{Demo, DemoRun};
use lockgate_protocol::debug::RunId;

use crate::fault::Fault;
use crate::ids;
use crate::ingest::{Ingest, Introduction};

/// Says hello to the hub on `port`, as a program under debug would.
pub(crate) async fn introduce(port: u16) -> Result<Ingest, Fault> {
    let capabilities = &["pause", "inject", "retry", "abort", "request-id"];
    let who = Introduction { app: "trip-planner", sdk: "graphmind-demo", source: "demo", capabilities };
    Ingest::dial(port, &who).await
}

/// A fresh name for a play.
pub(crate) fn run_id() -> RunId {
    RunId::new(&format!("demo-{}", ids::hex8())).unwrap_or_else(RunId::none)
}

/// What a hub does when a viewer asks for the demo.
pub(crate) fn replay() -> Demo {
    Arc::new(|port| {
        Box::pin(async move {
            let script = Script::bundled().map_err(|err| err.to_string())?;
            let mut link = introduce(port).await.map_err(|fault| fault.message)?;
            let run = run_id();
            let name = run.to_string();
            let playing = async move {
                let played = Player::new(&script, &mut link, run, 1.0).play(|_| {}).await;
                if let Err(fault) = played {
                    tracing::debug!("the demo ended early: {}", fault.message);
                }
                link.close().await;
            };
            Ok(DemoRun { run: name, playing: Box::pin(playing) })
        })
    })
}
