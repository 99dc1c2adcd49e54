//! `pauses`: the calls that stand still now. Reads only, so no token is needed unless the hub asks for one.

use std::time::Duration;

use lockgate_protocol::json::{Raw, View};

use crate::args;
use crate::client::{Hub, Reply, text};
use crate::clock;
use crate::code::Code;
use crate::exit::Exit;
use crate::fault::{Fault, Reader};
use crate::out;
use crate::text::{age, cut, table, url_segment, visible};

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Only the calls of this run
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    #[command(flatten)]
    hub: args::Hub,
    #[command(flatten)]
    json: args::Json,
}

pub(crate) async fn run(args: Args) -> Result<Exit, Fault> {
    let hub = Hub::find(args.hub.port).await?;
    let scope = args.run.as_deref().map(|run| format!("?runId={}", url_segment(run))).unwrap_or_default();
    let reply = hub.get(&format!("/api/pauses{scope}"), Duration::ZERO).await?;
    let pauses = listed(&hub, &reply)?;
    match args.json.reader() {
        Reader::Program => out::json(&String::from_utf8_lossy(
            Raw::object(|all| {
                all.array("pauses", pauses, |out, pause| out.extend_from_slice(pause.raw()));
            })
            .as_bytes(),
        ))?,
        Reader::Person if pauses.is_empty() => out::line("no call stands still")?,
        Reader::Person => out::bytes(rows(&pauses).as_bytes())?,
    }
    Ok(Exit::Done)
}

/// The pauses in an answer of `/api/pauses`, or why there are none to read.
pub(super) fn listed<'a>(hub: &Hub, reply: &'a Reply) -> Result<Vec<View<'a>>, Fault> {
    if reply.status.as_u16() == 401 {
        return Err(hub.turned_away(reply));
    }
    let list = reply.body.view().get("pauses").filter(|_| reply.status.is_success());
    let Some(list) = list else {
        let said = reply.text("message").or_else(|| reply.text("error")).unwrap_or_else(|| reply.status.to_string());
        return Err(Fault::new(Code::Unexpected, format!("the hub gave no list of pauses: {said}")));
    };
    Ok(list.items().collect())
}

fn rows(pauses: &[View<'_>]) -> String {
    let now = clock::now_ms();
    let mut rows = vec![["RUN", "PAUSE", "NODE", "POINT", "REASON", "STATE", "SINCE"].map(str::to_owned).to_vec()];
    for pause in pauses {
        let cell = |name: &str| {
            text(*pause, name).map_or_else(|| "-".to_owned(), |text| cut(&visible(&text), WIDEST).into_owned())
        };
        let since = pause
            .get("since")
            .and_then(View::f64)
            .map_or_else(|| "-".to_owned(), |since| age(now, clock::whole_ms(since)));
        let mut row: Vec<String> =
            ["runId", "pauseId", "nodeId", "point", "reason", "state"].into_iter().map(cell).collect();
        row.push(since);
        rows.push(row);
    }
    table(&rows)
}

const WIDEST: usize = 48;
const EXAMPLES: &str = "\
Examples:
  graphmind pauses                 what stands still now
  graphmind pauses --run run_1     in one run
  graphmind pauses --json          for a script

To block until something stands still, use `graphmind wait`.";
