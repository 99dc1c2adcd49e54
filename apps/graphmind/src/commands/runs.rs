//! `runs`: lists what is stored, and removes what is not wanted any more. Works with or without a hub.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use lockgate_protocol::json::Raw;
use lockgate_runs::retention::Retention;
use lockgate_runs::store::sqlite::Store;
use lockgate_runs::store::{Liveness, Run, Status};

use crate::alive;
use crate::args;
use crate::clock;
use crate::code::Code;
use crate::exit::Exit;
use crate::fault::{Fault, Reader};
use crate::out;
use crate::progress::patiently;
use crate::shelf;
use crate::text::{age, counted, cut, duration, table, visible};

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// How many runs to list, or to keep when pruning
    #[arg(long, value_name = "N")]
    keep: Option<usize>,
    /// With --prune: how many days to keep
    #[arg(long, value_name = "N", requires = "prune")]
    days: Option<u32>,
    /// Remove runs beyond --keep (200) and --days (30)
    #[arg(long, conflicts_with_all = ["rm", "clear"])]
    prune: bool,
    /// Remove this run
    #[arg(long, value_name = "ID", conflicts_with = "clear")]
    rm: Vec<String>,
    /// Remove all runs; needs --yes
    #[arg(long)]
    clear: bool,
    /// Mean it
    #[arg(long, requires = "clear")]
    yes: bool,
    #[command(flatten)]
    database: args::Database,
    #[command(flatten)]
    json: args::Json,
}

pub(crate) async fn run(args: Args) -> Result<Exit, Fault> {
    if args.clear && !args.yes {
        let fault = Fault::new(Code::Usage, "this would remove every stored run");
        return Err(fault.hint("say so with `graphmind runs --clear --yes`"));
    }
    let reader = args.json.reader();
    let store = shelf::look(&args.database).await?;
    if args.prune || args.clear || !args.rm.is_empty() {
        let removed = match &store {
            Some(store) => patiently("removing runs", remove(store, &args)).await?,
            None if args.rm.is_empty() => Vec::new(),
            None => return Err(unknown(args.rm.first())),
        };
        close(store).await?;
        return told(&removed, reader);
    }
    let runs = match &store {
        Some(store) => store.runs(args.keep.unwrap_or(LISTED)).await.map_err(|err| shelf::fault(&err))?,
        None => Vec::new(),
    };
    close(store).await?;
    let running = runs.iter().any(|run| run.status == Status::Running);
    let alive = if running { alive::runs().await } else { HashMap::new() };
    let runs: Vec<(Run, Liveness)> = runs
        .into_iter()
        .map(|run| (alive.get(&*run.id).copied().unwrap_or_default(), run))
        .map(|(now, run)| (run, now))
        .collect();
    match reader {
        Reader::Program => out::json(&String::from_utf8_lossy(as_json(&runs).as_bytes()))?,
        Reader::Person if runs.is_empty() => {
            out::line("no runs yet")?;
            out::note("hint: `graphmind demo` makes one to look at");
        }
        Reader::Person => out::bytes(rows(&runs).as_bytes())?,
    }
    Ok(Exit::Done)
}

/// Removes what was asked for; answers the ids. A run in progress stays unless it is named.
async fn remove(store: &Store, args: &Args) -> Result<Vec<String>, Fault> {
    let failed = |err| shelf::fault(&err);
    let mut removed = Vec::new();
    if args.prune {
        let age = Duration::from_secs(u64::from(args.days.unwrap_or(30)) * 86_400);
        let keep = Retention::Keep { runs: args.keep.unwrap_or(200), age };
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of any date fit")]
        let now = clock::now_ms() as f64;
        let gone = store.prune(keep, now, &HashSet::new()).await.map_err(failed)?;
        removed.extend(gone.iter().map(ToString::to_string));
    } else if args.clear {
        for run in store.runs(usize::MAX).await.map_err(failed)? {
            if run.status != Status::Running && store.delete_run(&run.id).await.map_err(failed)? {
                removed.push(run.id.to_string());
            }
        }
    } else {
        for id in &args.rm {
            if !store.delete_run(id).await.map_err(failed)? {
                return Err(unknown(Some(id)));
            }
            removed.push(id.clone());
        }
    }
    if !removed.is_empty() {
        store.shrink().await.map_err(failed)?;
    }
    Ok(removed)
}

async fn close(store: Option<Store>) -> Result<(), Fault> {
    match store {
        Some(store) => store.close().await.map_err(|err| shelf::fault(&err)),
        None => Ok(()),
    }
}

fn told(removed: &[String], reader: Reader) -> Result<Exit, Fault> {
    match reader {
        Reader::Program => out::json(&String::from_utf8_lossy(
            Raw::object(|out| {
                out.strs("removed", removed);
            })
            .as_bytes(),
        ))?,
        Reader::Person => {
            let count = u64::try_from(removed.len()).unwrap_or(u64::MAX);
            out::line(&format!("removed {}", counted(count, "run")))?;
        }
    }
    Ok(Exit::Done)
}

fn unknown(id: Option<&String>) -> Fault {
    let id = id.map(String::as_str).unwrap_or_default();
    Fault::new(Code::NoSuchRun, format!("no run {id}")).hint("`graphmind runs` lists the ids")
}

fn rows(runs: &[(Run, Liveness)]) -> String {
    let now = clock::now_ms();
    let mut rows =
        vec![["RUN", "APP", "STATUS", "SOURCE", "STARTED", "TOOK", "EVENTS", "ERRORS"].map(str::to_owned).to_vec()];
    for (run, alive) in runs {
        let took = run.finished_at.map(|end| duration((end - run.started_at).max(0.0)));
        rows.push(vec![
            cut(&visible(&run.id), WIDEST).into_owned(),
            cut(&visible(&run.app), WIDEST).into_owned(),
            status(run, *alive),
            run.source.as_str().to_owned(),
            age(now, clock::whole_ms(run.started_at)),
            took.unwrap_or_else(|| "-".to_owned()),
            run.events.to_string(),
            run.errors.to_string(),
        ]);
    }
    table(&rows)
}

fn status(run: &Run, alive: Liveness) -> String {
    match alive.held {
        0 => run.status.as_str().to_owned(),
        held => format!("{}, {held} held", run.status.as_str()),
    }
}

fn as_json(runs: &[(Run, Liveness)]) -> Raw {
    Raw::object(|out| {
        out.array("runs", runs, |out, (run, alive)| run.write(*alive, out));
    })
}

const LISTED: usize = 50;
const WIDEST: usize = 40;
const EXAMPLES: &str = "\
Examples:
  graphmind runs                          the newest 50
  graphmind runs --keep 500 --json        more of them, for a script
  graphmind runs --rm run_1               remove one
  graphmind runs --prune --keep 20        keep the newest 20 of the last 30 days
  graphmind runs --clear --yes            remove all that have ended";
