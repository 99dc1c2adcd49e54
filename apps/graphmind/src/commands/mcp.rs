//! `mcp`: stored runs offered to an agent over stdio. Stdout carries the protocol and nothing else.

use lockgate_archive::mcp::RunsServer;

use crate::args;
use crate::code::Code;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::shelf;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    database: args::Database,
    /// Port that links into the viewer lead to
    #[arg(long, value_name = "N", default_value_t = args::DEFAULT_PORT)]
    port: u16,
}

pub(crate) async fn run(args: Args) -> Result<Exit, Fault> {
    let server = RunsServer::new(shelf::path(&args.database)?, args.port, env!("CARGO_PKG_VERSION"));
    let served = server.serve(tokio::io::stdin(), tokio::io::stdout()).await;
    served.map(|()| Exit::Done).map_err(|err| Fault::new(Code::Unexpected, err))
}

const EXAMPLES: &str = "\
Examples:
  graphmind mcp                                      speaks MCP on stdin and stdout
  claude mcp add graphmind -- graphmind mcp          for an agent
  graphmind mcp --db other.db --port 4800            other runs, links to another hub

Tools: list_runs, get_run, get_node, find_errors. All of them only read.";
