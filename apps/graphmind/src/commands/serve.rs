//! `serve`: the hub in this process, and the viewer in a browser. Runs until it is told to stop.

use std::io::{self, IsTerminal};

use lockgate_hub::ErrorStop;
use lockgate_hub::HubHandle;
use lockgate_hub::level::{Edits, Level, Reads};
use serde_json::json;

use crate::args;
use crate::browser;
use crate::exit::Exit;
use crate::fault::{Fault, Reader};
use crate::hosting;
use crate::out;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Port to listen on; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = args::DEFAULT_PORT)]
    port: u16,
    #[command(flatten)]
    database: args::Database,
    #[command(flatten)]
    browser: args::Browser,
    /// When failing calls are held: watched, on, off, or a kind of node
    /// [default: GRAPHMIND_PAUSE_ON_ERROR, else watched]
    #[arg(long, value_name = "WHEN", value_parser = error_stop)]
    pause_on_error: Option<ErrorStop>,
    /// What programs of yours may do to held calls: off, resume, inject, edit
    #[arg(long, value_name = "LEVEL", default_value = "off", value_parser = level)]
    allow_control: Level,
    /// Refuse edited arguments from everybody
    #[arg(long)]
    no_edit_input: bool,
    /// Let nobody read without a token either
    #[arg(long)]
    require_token: bool,
    #[command(flatten)]
    json: args::Json,
}

pub(crate) async fn run(args: Args) -> Result<Exit, Fault> {
    let mut config = hosting::config(args.port, &args.database)?;
    if let Some(stop) = args.pause_on_error {
        config.error_stop = stop;
    }
    config.agents = args.allow_control;
    config.edits = if args.no_edit_input { Edits::Refused } else { Edits::Allowed };
    config.reads = if args.require_token { Reads::TokenOnly } else { Reads::Open };
    let version = config.version.clone();
    let hosted = hosting::start(config).await?;
    let hub = &hosted.hub;
    match args.json.reader() {
        Reader::Program => {
            let (port, pid) = (hub.address().port(), std::process::id());
            out::line(&json!({ "port": port, "url": hub.url(), "pid": pid, "version": version }).to_string())?;
        }
        Reader::Person => announce(hub)?,
    }
    match hub.page_file() {
        Some(page) => browser::open(page, args.browser.opening()),
        None => out::note(
            "warning: no run file could be written, so links with a token and the command line's control are off",
        ),
    }
    hosted.until_told().await;
    Ok(Exit::Done)
}

/// Where it is. The link with the token is for the terminal only: what goes to a file or a log may be read by others.
fn announce(hub: &HubHandle) -> Result<(), Fault> {
    out::line(&format!("the hub is on {}", hub.url()))?;
    if io::stdout().is_terminal() {
        out::line(&format!("the viewer: {}/#token={}", hub.url(), hub.viewer_token()))?;
    }
    out::note("put `graphmind mcp-proxy --` before a server's command to watch it; Ctrl-C stops the hub");
    Ok(())
}

fn error_stop(word: &str) -> Result<ErrorStop, String> {
    ErrorStop::parse(word).ok_or_else(|| "it is watched, on, off, or a kind of node such as tool".to_owned())
}

fn level(word: &str) -> Result<Level, String> {
    Level::parse(word).ok_or_else(|| "it is off, resume, inject or edit".to_owned())
}

const EXAMPLES: &str = "\
Examples:
  graphmind serve                                 port 4747, viewer in the browser
  graphmind serve --port 0 --no-open --json       for a script: one line tells the port
  graphmind serve --allow-control inject          let `graphmind resume` inject answers
  graphmind serve --pause-on-error tool           hold every failing tool call, watched or not";
