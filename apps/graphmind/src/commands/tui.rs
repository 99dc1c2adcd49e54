//! `tui`: the viewer in this terminal.

use std::sync::Arc;

use lockgate_viewer::tui::{self, Colour, TuiConfig, TuiError};

use crate::args;
use crate::code::Code;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::runfile;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Run to show [default: the newest]
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    #[command(flatten)]
    hub: args::Hub,
}

pub(crate) async fn run(args: Args) -> Result<Exit, Fault> {
    let port = args.hub.port;
    let config = TuiConfig {
        url: format!("ws://127.0.0.1:{port}/ws/ui"),
        // Asked again at each connection: a hub that was started anew has a new token.
        token: Arc::new(move || runfile::viewer_token(port).ok()),
        run: args.run,
        colour: Colour::from_env(),
    };
    match tui::run(config).await {
        Ok(()) => Ok(Exit::Done),
        Err(err @ TuiError::NoTerminal) => {
            let fault = Fault::new(Code::Usage, err);
            Err(fault.hint("start it in a terminal, or use `graphmind pauses` and `graphmind wait`"))
        }
        Err(TuiError::Terminal(err)) => Err(Fault::io("use the terminal", &err)),
    }
}

const EXAMPLES: &str = "\
Examples:
  graphmind tui                    runs of the hub on port 4747
  graphmind tui --run run_1        one run
  ssh -t box graphmind tui         works over SSH, at 80x24, and without colours

It reads the viewer's token of this user; without one it can look, and continue, retry or abort.";
