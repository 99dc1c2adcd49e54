//! Gives each command the runtime it needs, and turns what it came to into an exit code.

use std::future::Future;
use std::process::ExitCode;

use tokio::runtime::Builder;
use tracing_subscriber::EnvFilter;

use crate::args::{Asked, Command};
use crate::commands::{
    completions, demo, exec, import, init, keep, mcp, mcp_proxy, pauses, record, resume, runs, serve, skill, tui, wait,
};
use crate::exit::Exit;
use crate::fault::{Fault, Reader};
use crate::out;

/// Does what was asked for.
pub(crate) fn run(asked: Result<Asked, Fault>, reader: Reader) -> ExitCode {
    let done = match asked {
        Ok(Asked::Command(command)) => perform(command),
        Ok(Asked::Text(text)) => out::bytes(text.as_bytes()).map(|()| Exit::Done).into(),
        Err(fault) => Err(fault).into(),
    };
    match done {
        Done::Server(code) => code,
        Done::Ours(Ok(exit)) => ExitCode::from(exit.status()),
        Done::Ours(Err(fault)) => {
            fault.report(reader);
            ExitCode::from(fault.code.exit().status())
        }
    }
}

/// What a command came to.
enum Done {
    Ours(Result<Exit, Fault>),
    /// The code of a server that ran behind us or in our place.
    Server(ExitCode),
}

impl From<Result<Exit, Fault>> for Done {
    fn from(done: Result<Exit, Fault>) -> Done {
        Done::Ours(done)
    }
}

fn perform(command: Command) -> Done {
    match &command {
        // Nothing here has anything to say, and the server waits.
        Command::Exec(_) | Command::Keep(_) => {}
        // That no hub is there is said once, and in our own words.
        Command::McpProxy(_) => log("error"),
        Command::Serve(_)
        | Command::Demo(_)
        | Command::Pauses(_)
        | Command::Wait(_)
        | Command::Resume(_)
        | Command::Runs(_)
        | Command::Record(_)
        | Command::Import(_)
        | Command::Mcp(_)
        | Command::Init(_)
        | Command::Skill(_)
        | Command::Tui(_)
        | Command::Completions(_) => log("warn,lockgate_hub=info,lockgate_runs=info"),
    }
    match command {
        Command::McpProxy(args) => Done::Server(mcp_proxy::run(args)),
        Command::Exec(args) => Done::Server(exec::run(&args)),
        Command::Keep(args) => Done::Server(keep::run(&args)),
        Command::Serve(args) => host(serve::run(args)).into(),
        Command::Demo(args) => host(demo::run(args)).into(),
        Command::Pauses(args) => ask(pauses::run(args)).into(),
        Command::Wait(args) => ask(wait::run(args)).into(),
        Command::Resume(args) => ask(resume::run(args)).into(),
        Command::Runs(args) => ask(runs::run(args)).into(),
        Command::Record(args) => ask(record::run(args)).into(),
        Command::Import(args) => ask(import::run(args)).into(),
        Command::Mcp(args) => ask(mcp::run(args)).into(),
        Command::Tui(args) => ask(tui::run(args)).into(),
        Command::Init(args) => init::run(&args).into(),
        Command::Skill(args) => skill::run(&args).into(),
        Command::Completions(args) => completions::run(&args).into(),
    }
}

/// One thread is enough for a command that asks and waits.
fn ask(work: impl Future<Output = Result<Exit, Fault>>) -> Result<Exit, Fault> {
    on(Builder::new_current_thread(), work)
}

/// A hub takes what the machine has.
fn host(work: impl Future<Output = Result<Exit, Fault>>) -> Result<Exit, Fault> {
    on(Builder::new_multi_thread(), work)
}

fn on(mut runtime: Builder, work: impl Future<Output = Result<Exit, Fault>>) -> Result<Exit, Fault> {
    let runtime = runtime.enable_all().build().map_err(|err| Fault::io("start", &err))?;
    let done = runtime.block_on(work);
    // A read of stdin may still be parked on a thread; nobody waits for it.
    runtime.shutdown_background();
    done
}

/// What the rooms have to say goes to stderr; `GRAPHMIND_LOG` says how much of it.
fn log(usual: &str) {
    let filter = EnvFilter::try_from_env("GRAPHMIND_LOG").unwrap_or_else(|_| EnvFilter::new(usual));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    // A second subscriber can only be there if somebody else set one up, and then that one shall have the words.
    let _ = log.with_target(false).try_init();
}
