//! `import`: a trace recorded by other tools, stored as a run. A running hub takes it in, so that viewers see it at once.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use lockgate_archive::import::{ImportError, Imported, Origin, import};
use lockgate_protocol::debug::RunId;
use lockgate_protocol::json::View;
use lockgate_protocol::shrink::{BUDGET, shrink};
use lockgate_runs::retention::Retention;
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::args;
use crate::client::Hub;
use crate::clock;
use crate::code::Code;
use crate::exit::Exit;
use crate::fault::{Fault, Reader};
use crate::ids;
use crate::ingest::{Ingest, Introduction};
use crate::out;
use crate::progress::{Progress, patiently};
use crate::shelf;
use crate::text::{Shell, counted, url_segment, visible};

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// File to read
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Name of the program that was traced
    #[arg(long, value_name = "NAME")]
    app: Option<String>,
    #[command(flatten)]
    hub: args::Hub,
    #[command(flatten)]
    database: args::Database,
    #[command(flatten)]
    json: args::Json,
}

pub(crate) async fn run(args: Args) -> Result<Exit, Fault> {
    let text = fs::read(&args.file).map_err(|err| Fault::file(&args.file, &err))?;
    let name = args.file.file_name().map_or_else(|| "trace".into(), |name| name.to_string_lossy()).into_owned();
    let run = format!("imp_{}", ids::hex12());
    let origin = Origin {
        run: RunId::new(&run).unwrap_or_else(RunId::none),
        file: name,
        app: args.app.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let imported = import(&Bytes::from(text), &origin).map_err(|err| wrong(&args.file, &err))?;
    // With a database named here, that is where it goes; a hub may be using another.
    let hub = if args.database.db.is_none() { Hub::probe(args.hub.port).await } else { None };
    match hub {
        Some(_) => through_hub(&imported, args.hub.port, &run).await?,
        None => into_store(&imported, &args.database).await?,
    }
    let place = match (&args.database.db, hub) {
        (Some(path), _) => Place::Named(path),
        (None, Some(_)) => Place::Hub,
        (None, None) => Place::Usual,
    };
    tell(&imported, &run, &args, &place)?;
    Ok(Exit::Done)
}

/// Where a run went.
enum Place<'a> {
    /// To a hub that shows it.
    Hub,
    /// Into the database that a hub uses unless it is told otherwise.
    Usual,
    /// Into this one.
    Named(&'a Path),
}

impl Place<'_> {
    /// What shows the run, before its link; `None` if that cannot be pasted.
    fn first(&self, port: u16) -> Option<String> {
        let port = if port == args::DEFAULT_PORT { String::new() } else { format!(" --port {port}") };
        match self {
            Place::Hub => Some(String::new()),
            Place::Usual => Some(format!("`graphmind{port}`, then ")),
            Place::Named(path) => {
                let path = Shell::HERE.word(path.to_str()?)?;
                Some(format!("`graphmind --db {path}{port}`, then "))
            }
        }
    }
}

/// Hands the run to the hub and waits until it lists it as over.
async fn through_hub(imported: &Imported, port: u16, run: &str) -> Result<(), Fault> {
    let who = Introduction { app: &imported.app, sdk: "graphmind-import", source: "import", capabilities: &[] };
    let mut link = Ingest::dial(port, &who).await?;
    let progress = Progress::of("sending events", total(imported));
    for (at, event) in imported.events.iter().enumerate() {
        let mut event = event.clone();
        if let Some(payload) = event.payload.take() {
            event.payload = Some(shrink(Some(&event.kind), &payload, BUDGET).or(&payload).into_owned());
        }
        link.send(&event).await?;
        progress.at(u64::try_from(at).unwrap_or(u64::MAX));
    }
    progress.done();
    let hub = Hub::find(port).await?;
    let stored = patiently("waiting for the hub to store them", until_stored(&hub, run, total(imported))).await;
    link.close().await;
    stored
}

async fn until_stored(hub: &Hub, run: &str, events: u64) -> Result<(), Fault> {
    let deadline = Instant::now() + PATIENCE;
    let path = format!("/api/runs/{}/events?limit=1", url_segment(run));
    loop {
        let reply = hub.get(&path, Duration::ZERO).await?;
        if reply.body.view().get("total").and_then(View::u64).is_some_and(|total| total >= events) {
            return Ok(());
        }
        if Instant::now() > deadline {
            let fault = Fault::new(Code::Unexpected, format!("the hub has not stored all of {run}"));
            return Err(fault.hint("look at what the hub printed, then import the file again"));
        }
        sleep(Duration::from_millis(20)).await;
    }
}

async fn into_store(imported: &Imported, database: &args::Database) -> Result<(), Fault> {
    let store = shelf::open(database).await?;
    let progress = Progress::of("storing events", total(imported));
    let kept = imported.keep(&store, &|done| progress.at(done)).await;
    progress.done();
    kept.map_err(|err| shelf::fault(&err))?;
    store.close().await.map_err(|err| shelf::fault(&err))
}

fn total(imported: &Imported) -> u64 {
    u64::try_from(imported.events.len()).unwrap_or(u64::MAX)
}

fn tell(imported: &Imported, run: &str, args: &Args, place: &Place<'_>) -> Result<(), Fault> {
    let skipped = imported.skipped;
    let link = format!("http://127.0.0.1:{}/#/run/{run}", args.hub.port);
    if args.json.reader() == Reader::Program {
        let skipped = json!({ "other": skipped.other, "repeated": skipped.repeated, "undated": skipped.undated });
        let told = json!({
            "runId": run, "app": imported.app, "format": imported.format.as_str(), "status": imported.status.as_str(),
            "events": imported.events.len(), "skipped": skipped,
            "link": if let Place::Named(_) = place { None } else { Some(link) },
        });
        return out::json(&told.to_string());
    }
    out::line(&format!("imported {run} of {}: {}", visible(&imported.app), counted(total(imported), "event")))?;
    let parts =
        [(skipped.other, "of another kind"), (skipped.repeated, "seen before"), (skipped.undated, "without a time")];
    let parts: Vec<String> =
        parts.into_iter().filter(|(count, _)| *count > 0).map(|(count, why)| format!("{count} {why}")).collect();
    if !parts.is_empty() {
        out::note(&format!("spans left out: {}", parts.join(", ")));
    }
    if let Some(days) = soon_pruned(imported) {
        out::note(&format!(
            "note: runs over {days} days old are removed by a hub unless GRAPHMIND_RETENTION=off is set"
        ));
    }
    if let Some(first) = place.first(args.hub.port) {
        out::note(&format!("look at it: {first}{link}"));
    }
    Ok(())
}

/// An old trace would be gone at the next tidying; better to hear it now.
fn soon_pruned(imported: &Imported) -> Option<u64> {
    let Retention::Keep { age, .. } = Retention::default() else { return None };
    let started = imported.events.first()?.ts;
    let old = clock::now_ms().saturating_sub(started) > u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
    old.then_some(age.as_secs() / 86_400)
}

fn wrong(file: &Path, err: &ImportError) -> Fault {
    let fault = Fault::new(Code::BadFile, format!("import {}: {err}", file.display()));
    match err {
        ImportError::Json(_) | ImportError::Line { .. } => fault.hint("it must be JSON, or one JSON object a line"),
        ImportError::Shape { .. } => fault.hint(
            "it must have OTLP `resourceSpans`, or be a list of spans with an id and a start time (also as `spans` or `data`)",
        ),
        ImportError::NothingKnown { .. } => {
            fault.hint("spans need `gen_ai.operation.name`, `ai.operationId` or `openinference.span.kind`")
        }
    }
}

const PATIENCE: Duration = Duration::from_secs(30);
const EXAMPLES: &str = "\
Examples:
  graphmind import trace.json                  OTLP/JSON, as collectors and SDKs write it
  graphmind import spans.jsonl --app planner   one span a line
  graphmind import trace.json --db other.db    into another database, past any hub

Known: GenAI semantic conventions, the AI SDK's spans, OpenInference.";
