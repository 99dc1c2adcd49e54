//! The command line as typed, and what it means. Only shapes here: no file, socket or clock is touched.

use std::ffi::OsString;

use clap::{ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::commands::{
    completions, demo, exec, import, init, keep, mcp, mcp_proxy, pauses, record, resume, runs, serve, skill, tui, wait,
};
use crate::fault::{Fault, Reader};

mod shared;
mod wrong;

pub(crate) use shared::{Browser, DEFAULT_PORT, Database, Hub, Json, seconds};

/// Live debugger for MCP: watch the calls, hold one before it runs, inject, retry, abort.
#[derive(Debug, Parser)]
#[command(name = "graphmind", version = VERSION, disable_version_flag = true, args_conflicts_with_subcommands = true)]
#[command(override_usage = "graphmind [OPTIONS]\n       graphmind <COMMAND> [OPTIONS]")]
#[command(subcommand_help_heading = "Commands", after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: serve::Args,
    /// Print the version
    #[arg(short = 'v', long, action = ArgAction::Version)]
    version: Option<bool>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start the hub and open the viewer (what plain `graphmind` does)
    Serve(serve::Args),
    /// Put the debugger between an MCP host and a server on stdio
    McpProxy(mcp_proxy::Args),
    /// Play a recorded agent run with a held call to try the viewer on
    Demo(demo::Args),
    /// List the calls that stand still now
    Pauses(pauses::Args),
    /// Wait until a call stands still, then show it and how to release it
    Wait(wait::Args),
    /// Release a held call: continue, retry, inject or abort
    Resume(resume::Args),
    /// List stored runs, or remove some
    Runs(runs::Args),
    /// Write a stored run to a file, with secrets removed
    Record(record::Args),
    /// Store a trace from OpenTelemetry or a list of spans as a run
    Import(import::Args),
    /// Offer stored runs to an agent as a read-only MCP server on stdio
    Mcp(mcp::Args),
    /// Show how to watch the project in a folder, or a server in a host
    Init(init::Args),
    /// Print or install the skill file that teaches an agent these commands
    Skill(skill::Args),
    /// Watch and release calls in the terminal
    Tui(tui::Args),
    /// Print a completion script for a shell
    Completions(completions::Args),
    /// The way a proxied server is started: `mcp-proxy` uses it for itself, so no help or script mentions it
    #[command(skip)]
    Exec(exec::Args),
    /// What ends a server whose proxy was killed; as hidden
    #[command(skip)]
    Keep(keep::Args),
}

/// What the arguments ask for.
#[derive(Debug)]
pub(crate) enum Asked {
    Command(Command),
    /// Help or version: text for stdout, and that is all.
    Text(String),
}

/// Reads the arguments after the program's name. `mcp-proxy` stands in the way of somebody's traffic, so its own
/// arguments are read without building the parser of all other commands; so are those it starts the server with.
pub(crate) fn parse(argv: &[OsString]) -> Result<Asked, Fault> {
    let first = argv.first().and_then(|first| first.to_str());
    let parsed = match first {
        Some(exec::NAME) => return exec::Args::read(argv).map(|args| Asked::Command(Command::Exec(args))),
        Some(keep::NAME) => return keep::Args::read(argv).map(|args| Asked::Command(Command::Keep(args))),
        Some(mcp_proxy::NAME) => parse_proxy(argv),
        _ => parse_any(argv),
    };
    match parsed {
        Ok(command) => Ok(Asked::Command(command)),
        Err(err) if !err.use_stderr() => Ok(Asked::Text(err.to_string())),
        Err(err) => Err(wrong::explain(&err, argv)),
    }
}

/// Who will read the results. Asked before parsing, since a parse error wants to know it too.
pub(crate) fn reader(argv: &[OsString]) -> Reader {
    let ours = |arg: &&OsString| *arg != "--";
    let stdout_is_protocol = argv.first().is_some_and(|first| first == mcp_proxy::NAME || first == "mcp");
    let asked = argv.iter().take_while(ours).any(|arg| arg == "--json");
    if asked && !stdout_is_protocol { Reader::Program } else { Reader::Person }
}

/// The whole command line, for completion scripts.
pub(crate) fn whole() -> clap::Command {
    Cli::command()
}

fn parse_any(argv: &[OsString]) -> Result<Command, clap::Error> {
    let program = OsString::from("graphmind");
    let cli = Cli::try_parse_from(std::iter::once(&program).chain(argv))?;
    Ok(cli.command.unwrap_or(Command::Serve(cli.serve)))
}

fn parse_proxy(argv: &[OsString]) -> Result<Command, clap::Error> {
    let words = mcp_proxy::join_inject(argv.get(1..).unwrap_or_default());
    let line = clap::Command::new("graphmind mcp-proxy").bin_name("graphmind mcp-proxy").no_binary_name(true);
    let matches = <mcp_proxy::Args as clap::Args>::augment_args(line).try_get_matches_from(words)?;
    mcp_proxy::Args::from_arg_matches(&matches).map(Command::McpProxy)
}

/// Ours, and the release that peers take a hub of ours for: they ask it how old it is.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (wire protocol 1, as in GraphMind 0.6.0)");
const EXAMPLES: &str = "\
Examples:
  graphmind                                        start the hub, open the viewer
  graphmind demo                                   see a held call without any setup
  graphmind mcp-proxy -- node build/server.js      watch a server: put this in the host's config
  graphmind wait                                   block until a call stands still
  graphmind init                                   what to do in this project

Every command has examples of its own: graphmind <COMMAND> --help
Exit codes: 0 done, 1 failed, 2 timed out, 3 no hub, 4 nothing to act on,
            5 not authorised, 6 refused, 7 taken";

#[cfg(test)]
mod tests;
