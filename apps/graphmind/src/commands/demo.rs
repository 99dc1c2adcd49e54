//! `demo`: a recorded agent run, played to a hub, that fails at one call and waits there for help.

use std::time::Duration;

use lockgate_protocol::debug::RunStatus;
use serde_json::json;

use crate::args;
use crate::browser;
use crate::client::Hub;
use crate::code::Code;
use crate::demo::{self, Ending, Player, Script, Seen};
use crate::exit::Exit;
use crate::fault::{Fault, Reader};
use crate::hosting::{self, Hosted};
use crate::out;
use crate::runfile;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    hub: args::Hub,
    #[command(flatten)]
    database: args::Database,
    #[command(flatten)]
    browser: args::Browser,
    /// How many times faster than recorded
    #[arg(long, value_name = "TIMES", default_value = "1", value_parser = speed)]
    speed: f64,
    #[command(flatten)]
    json: args::Json,
}

pub(crate) async fn run(args: Args) -> Result<Exit, Fault> {
    let script = Script::bundled().map_err(|err| Fault::new(Code::Unexpected, err))?;
    let (port, reader) = (args.hub.port, args.json.reader());
    let hosted = match Hub::probe(port).await {
        Some(_) => None,
        None => Some(hosting::start(hosting::config(port, &args.database)?).await?),
    };
    browser::open(&runfile::page(port), args.browser.opening());
    let played = tokio::select! {
        played = play(&script, &args) => played,
        () = hosting::told_to_stop() => Ok(None),
    };
    let told = played.and_then(|ending| tell(ending, reader, port));
    keep(hosted, reader).await;
    told
}

async fn play(script: &Script, args: &Args) -> Result<Option<(String, Ending)>, Fault> {
    let port = args.hub.port;
    let mut link = demo::introduce(port).await?;
    let run = demo::run_id();
    let name = run.to_string();
    out::note(&format!("playing {name}: http://127.0.0.1:{port}/#/run/{name}"));
    let ending = Player::new(script, &mut link, run, args.speed).play(|seen| match seen {
        Seen::Held { pause } => {
            out::note(&format!("{pause} stands still: currency conversion failed"));
            out::note(
                "release it in the viewer, or in another terminal with `graphmind tui`; inject an answer, for one:",
            );
            out::note(r#"  {"amount": 481.3, "currency": "EUR"}"#);
        }
        Seen::Released(action) => out::note(&format!("released with {action}")),
    });
    let ending = ending.await?;
    // What was sent last has to be read before we go.
    tokio::time::sleep(FLUSH).await;
    link.close().await;
    Ok(Some((name, ending)))
}

fn tell(played: Option<(String, Ending)>, reader: Reader, port: u16) -> Result<Exit, Fault> {
    let Some((run, ending)) = played else { return Ok(Exit::Done) };
    if reader == Reader::Program {
        let link = format!("http://127.0.0.1:{port}/#/run/{run}");
        let status = ending.status.as_str();
        out::json(&json!({ "runId": run, "status": status, "held": ending.held, "link": link }).to_string())?;
        return Ok(Exit::Done);
    }
    let how = match ending.status {
        RunStatus::Ok => "the trip is planned",
        RunStatus::Error => "the agent gave up",
        RunStatus::Aborted => "aborted",
    };
    out::line(&format!("{run} has ended: {how}"))?;
    if !ending.held {
        out::note(
            "hint: nothing was held, since nobody watched; open the viewer or `graphmind tui`, then play it again",
        );
    }
    Ok(Exit::Done)
}

/// A hub that was started for the demo stays as long as somebody may be looking.
async fn keep(hosted: Option<Hosted>, reader: Reader) {
    let Some(hosted) = hosted else { return };
    if reader == Reader::Person && out::person_watches() {
        out::note("the hub stays for you to look around; Ctrl-C stops it");
        hosted.until_told().await;
    } else {
        hosted.stop().await;
    }
}

fn speed(text: &str) -> Result<f64, String> {
    let asked: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.1..=1_000.0).contains(&asked) { Ok(asked) } else { Err("must be 0.1 to 1000".to_owned()) }
}

const FLUSH: Duration = Duration::from_millis(120);
const EXAMPLES: &str = "\
Examples:
  graphmind demo                 uses the hub on port 4747, or starts one
  graphmind demo --speed 4       for the impatient
  graphmind demo --port 4800     another hub

The run fails at a currency conversion. While somebody watches it is held there: continue lets it
fail, retry fails again, inject an answer and the trip gets planned, abort ends it.";
