//! `wait`: blocks until a call stands still, then shows it and how to release it. Made for scripts and coding agents, so it
//! gives up before their own patience ends.

use std::time::Duration;

use lockgate_protocol::json::{Raw, View};
use tokio::time::{Instant, sleep, sleep_until};

use crate::args;
use crate::client::{Hub, text};
use crate::code::Code;
use crate::commands::pauses;
use crate::exit::Exit;
use crate::fault::{Fault, Reader};
use crate::out;
use crate::progress::patiently;
use crate::text::{url_segment, visible};

mod shown;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Only calls of this run; ends with exit code 4 when the run has ended
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// Give up after this long; 0 waits for ever
    #[arg(long, value_name = "SECONDS", default_value = "90", value_parser = args::seconds)]
    timeout: Duration,
    #[command(flatten)]
    hub: args::Hub,
    #[command(flatten)]
    json: args::Json,
}

pub(crate) async fn run(args: Args) -> Result<Exit, Fault> {
    let reader = args.json.reader();
    let hub = Hub::find(args.hub.port).await?;
    match patiently("waiting for a call to stand still", next_held(&hub, &args)).await? {
        Seen::Held(pause) => {
            let detail = detail(&hub, &pause).await?;
            shown::show(&detail, hub.port(), reader)?;
            Ok(Exit::Done)
        }
        Seen::RunEnded { run, status } => {
            match reader {
                Reader::Program => out::json(&object(|out| {
                    out.null("pause").object("run", |out| {
                        out.str("id", &run).str("status", &status);
                    });
                }))?,
                Reader::Person => out::note(&format!("run {} has ended: {}", visible(&run), visible(&status))),
            }
            Ok(Code::RunEnded.exit())
        }
        Seen::Nothing => {
            match reader {
                Reader::Program => out::json(&object(|out| {
                    out.null("pause").bool("timedOut", true);
                }))?,
                Reader::Person => {
                    out::note("no call stood still in time");
                    out::note("hint: `graphmind wait --timeout 0` waits for ever");
                }
            }
            Ok(Code::Timeout.exit())
        }
    }
}

/// What waiting came to.
enum Seen {
    Held(Raw),
    RunEnded { run: String, status: String },
    Nothing,
}

/// Asks in long polls, never more often than once a second, until one of the three is so.
async fn next_held(hub: &Hub, args: &Args) -> Result<Seen, Fault> {
    let forever = args.timeout.is_zero();
    let deadline = Instant::now() + args.timeout;
    loop {
        let asked = Instant::now();
        let left = if forever { LONGEST_POLL } else { deadline.saturating_duration_since(asked).min(LONGEST_POLL) };
        if let Some(seen) = poll(hub, args.run.as_deref(), left).await? {
            return Ok(seen);
        }
        if !forever && Instant::now() >= deadline {
            return Ok(Seen::Nothing);
        }
        sleep_until(asked + PACE).await;
    }
}

async fn poll(hub: &Hub, run: Option<&str>, wait: Duration) -> Result<Option<Seen>, Fault> {
    let scope = run.map(|run| format!("&runId={}", url_segment(run))).unwrap_or_default();
    let reply = hub.get(&format!("/api/pauses?wait={:.3}{scope}", wait.as_secs_f64()), wait).await?;
    if reply.status.as_u16() == 429 {
        sleep(PACE.min(wait)).await;
        return Ok(None);
    }
    let pauses = pauses::listed(hub, &reply)?;
    let open = pauses.iter().find(|pause| pause.get("state").is_none_or(|state| state.is("open")));
    if let Some(pause) = open {
        return Ok(Some(Seen::Held(reply.body.part(*pause))));
    }
    let Some(run) = run.filter(|_| pauses.is_empty()) else { return Ok(None) };
    let known = reply.body.view().get("run").filter(|run| !run.is_null());
    let status = known.and_then(|known| text(known, "status"));
    let ended = status.filter(|status| status != "running");
    Ok(ended.map(|status| Seen::RunEnded { run: run.to_owned(), status }))
}

/// The pause with its node's input and error. One that closed meanwhile is shown as it was listed.
async fn detail(hub: &Hub, pause: &Raw) -> Result<Raw, Fault> {
    let part = |name: &str| text(pause.view(), name).map(|id| url_segment(&id)).unwrap_or_default();
    let path = format!("/api/runs/{}/pauses/{}", part("runId"), part("pauseId"));
    let reply = hub.get(&path, Duration::ZERO).await?;
    // The hub may wrap it; what matters is the object with the pause's id.
    let known = reply.body.view();
    let whole = known.get("pause").unwrap_or(known);
    let is_pause = reply.status.is_success() && whole.get("pauseId").is_some_and(|id| !View::is_null(id));
    Ok(if is_pause { reply.body.part(whole) } else { pause.clone() })
}

fn object(fill: impl FnOnce(&mut lockgate_protocol::json::ObjectWriter<'_>)) -> String {
    String::from_utf8_lossy(Raw::object(fill).as_bytes()).into_owned()
}

const LONGEST_POLL: Duration = Duration::from_secs(30);
const PACE: Duration = Duration::from_secs(1);
const EXAMPLES: &str = "\
Examples:
  graphmind wait                        up to 90 seconds, for any run
  graphmind wait --run run_1            one run only; exit code 4 when it has ended
  graphmind wait --timeout 0 --json     for ever, for a script

Exit codes: 0 a call stands still, 2 none did in time, 3 no hub, 4 the run has ended.
Inputs, outputs and errors over 2,000 characters are written to files only you can read.";
