//! One pause with its node's input, from what is stored (hub §8).

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use lockgate_protocol::json::{ObjectWriter, Raw, View};

use super::doors::{error, json};
use crate::live::{Behind, Command};
use crate::pauses::{Item, Key};
use crate::site::Site;
use crate::store::error::StoreError;
use crate::store::sqlite::Store;
use crate::store::{OrdRange, StoredEvent};

pub(super) async fn pause(State(site): State<Arc<Site>>, Path((run, pause)): Path<(String, String)>) -> Response {
    let key = Key { run: run.into(), pause: pause.into() };
    match detail(&site, &key).await {
        Ok(Ok(text)) => super::doors::answer(StatusCode::OK, text.bytes().clone()),
        Ok(Err(missing)) => {
            let (code, message) = match missing {
                Missing::Run => ("no-such-run", "no such run"),
                Missing::Pause => ("no-such-pause", "no such pause"),
            };
            json(StatusCode::NOT_FOUND, |w| {
                w.str("error", code).str("code", code).str("message", message);
            })
        }
        Err(failure) => error(StatusCode::INTERNAL_SERVER_ERROR, &failure.to_string()),
    }
}

enum Missing {
    Run,
    Pause,
}

async fn detail(site: &Site, key: &Key) -> Result<Result<Raw, Missing>, StoreError> {
    let Some(Behind { run, missed }) = site.run(&key.run).await? else { return Ok(Err(Missing::Run)) };
    let events = Events { store: &site.store, run: &key.run, missed };
    let is_pause = |event: &StoredEvent| holds(event, "pauseId", &key.pause);
    let Some(paused) = events.latest("exec.paused", OrdRange::ALL, is_pause).await? else {
        return Ok(Err(Missing::Pause));
    };
    let state = site.live.ask(|reply| Command::PauseState(key.clone(), reply)).await.flatten().unwrap_or("closed");
    let later = OrdRange { after: paused.ord, up_to: u64::MAX };
    let resumed = match state {
        "closed" => events.latest("exec.resumed", later, is_pause).await?,
        _ => None,
    };
    let null = Raw::null();
    let payload = paused.payload.as_ref().unwrap_or(&null).view();
    let node = Node::find(&events, &paused, payload).await?;
    Ok(Ok(Raw::object(|w| {
        Item::read(payload, paused.ts).write(key, Some(&run.app), w);
        node.write(w);
        if let Some(resumed) = &resumed {
            w.object("resumed", |w| write_resumed(resumed, w));
        }
        w.str("state", state);
    })))
}

/// Events of one run: those the store has missed, which are the newest, and those it has.
struct Events<'s> {
    store: &'s Store,
    run: &'s str,
    missed: Vec<StoredEvent>,
}

impl Events<'_> {
    async fn latest(
        &self,
        kind: &str,
        range: OrdRange,
        wanted: impl Fn(&StoredEvent) -> bool,
    ) -> Result<Option<StoredEvent>, StoreError> {
        let here = |event: &&StoredEvent| event.kind == kind && range.after < event.ord && event.ord <= range.up_to;
        match self.missed.iter().rev().filter(here).find(|event| wanted(event)) {
            Some(found) => Ok(Some(found.clone())),
            None => self.store.latest_where(self.run, kind, range, wanted).await,
        }
    }
}

/// The execution that stands at the gate.
struct Node {
    started: Option<StoredEvent>,
    finished: Option<StoredEvent>,
    failed: Option<StoredEvent>,
}

impl Node {
    async fn find(events: &Events<'_>, paused: &StoredEvent, payload: View<'_>) -> Result<Node, StoreError> {
        let id = text(payload, "nodeId").unwrap_or_default();
        let instance = text(payload, "instanceId");
        let same = |event: &StoredEvent| {
            holds(event, "nodeId", &id)
                && instance.as_deref().is_none_or(|instance| holds(event, "instanceId", instance))
        };
        let before = OrdRange { after: 0, up_to: paused.ord };
        let started = events.latest("node.started", before, same).await?;
        let since = OrdRange { after: started.as_ref().map_or(0, |started| started.ord), up_to: paused.ord };
        let finished = events.latest("node.finished", since, same).await?;
        let failed = events.latest("node.error", since, same).await?;
        Ok(Node { started, finished, failed })
    }

    fn write(&self, w: &mut ObjectWriter<'_>) {
        let Some(started) = self.started.as_ref().and_then(payload) else { return };
        w.object("node", |w| {
            for name in ["kind", "name", "instanceId", "input"] {
                copy(w, started, name);
            }
            for (event, name) in [(&self.finished, "output"), (&self.failed, "error")] {
                if let Some(event) = event.as_ref().and_then(payload) {
                    copy(w, event, name);
                }
            }
        });
    }
}

fn write_resumed(resumed: &StoredEvent, w: &mut ObjectWriter<'_>) {
    if let Some(payload) = payload(resumed) {
        for name in ["action", "principal", "operator"] {
            copy(w, payload, name);
        }
    }
    w.u64("ts", resumed.ts);
}

fn payload(event: &StoredEvent) -> Option<View<'_>> {
    event.payload.as_ref().map(Raw::view)
}

fn copy(w: &mut ObjectWriter<'_>, from: View<'_>, name: &str) {
    if let Some(value) = from.get(name) {
        w.view(name, value);
    }
}

fn text(view: View<'_>, name: &str) -> Option<String> {
    view.get(name)?.str().map(|text| text.into_owned())
}

fn holds(event: &StoredEvent, name: &str, value: &str) -> bool {
    payload(event).and_then(|payload| payload.get(name)).is_some_and(|found| found.is(value))
}
