//! The proxied session: what the arguments come to, and a runtime with nothing on it but the traffic.

use std::env;
use std::path::Path;
use std::process::ExitCode;

use lockgate_protocol::debug::RunId;
use lockgate_stack::{
    ChildStderr, Duplicates, Environment, Heartbeat, HoldOptions, Release, StdioOptions, Trace, WaitForAttach, stdio,
};
use tokio::runtime::Builder;

use super::{Args, OnLimit};
use crate::code::Code;
use crate::commands::{exec, keep};
use crate::fault::{Fault, Reader};
use crate::ids;
use crate::out;
use crate::runfile;

pub(crate) fn run(args: Args) -> ExitCode {
    let options = match options(args) {
        Ok(options) => options,
        Err(fault) => return failed(&fault),
    };
    let runtime = match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(err) => return failed(&Fault::io("start", &err)),
    };
    let code = runtime.block_on(stdio(options));
    // Something may still read our stdin on a thread of the runtime; the process must not wait for it.
    runtime.shutdown_background();
    exit(code)
}

fn options(args: Args) -> Result<StdioOptions, Fault> {
    let mut command = args.command.into_iter();
    let Some(program) = command.next() else {
        out::note(RECIPE);
        return Err(Fault::new(Code::Usage, "no server command").hint("put it behind `--`"));
    };
    let at_limit = match args.on_limit {
        None => None,
        Some(OnLimit::Continue) => Some(Release::Continue),
        Some(OnLimit::Abort) => Some(Release::Abort),
        Some(OnLimit::Inject(file)) => Some(Release::Inject(Some(OnLimit::answer(&file)?))),
    };
    Ok(StdioOptions {
        program,
        args: command.collect(),
        shim: ourselves(cfg!(target_os = "linux").then_some(exec::NAME)),
        keeper: ourselves(cfg!(unix).then_some(keep::NAME)),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        run: RunId::new(&format!("run_{}", ids::hex12())).unwrap_or_else(RunId::none),
        port: args.port,
        environment: Environment::process(),
        stderr: if args.inherit_stderr { ChildStderr::Inherited } else { ChildStderr::Mirrored },
        cap: args.max_frame_bytes.unwrap_or_default(),
        duplicates: if args.strict_json { Duplicates::Refuse } else { Duplicates::Pass },
        trace: if args.trace { Trace::On } else { Trace::Off },
        wait: if args.wait_for_attach { WaitForAttach::Yes } else { WaitForAttach::No },
        hold: HoldOptions {
            heartbeat: heartbeat(),
            limit: args.hold_limit,
            at_limit,
            hosts: Some(runfile::home().join("hosts.json")),
        },
    })
}

/// A server is started through us where the kernel can tie its life to ours, and watched over by another of us where it
/// leaves processes behind that no such tie reaches.
fn ourselves(command: Option<&'static str>) -> Option<(std::path::PathBuf, &'static str)> {
    env::current_exe().ok().filter(|path| Path::exists(path)).zip(command)
}

fn heartbeat() -> Heartbeat {
    let set = env::var("GRAPHMIND_HEARTBEAT").unwrap_or_default();
    let off = matches!(set.trim().to_lowercase().as_str(), "off" | "0" | "false" | "no");
    if off { Heartbeat::Off } else { Heartbeat::On }
}

/// Stdout is the protocol's, so failures are told on stderr whoever reads them.
fn failed(fault: &Fault) -> ExitCode {
    fault.report(Reader::Person);
    ExitCode::from(fault.code.exit().status())
}

/// A code as the system takes it; on Windows a server's code may be larger than that of any Unix process.
fn exit(code: i32) -> ExitCode {
    match u8::try_from(code) {
        Ok(code) => ExitCode::from(code),
        Err(_) => std::process::exit(code),
    }
}

const RECIPE: &str = "\
In the host's configuration, put `graphmind mcp-proxy --` before the server's command:

  before   node build/server.js
  after    graphmind mcp-proxy -- node build/server.js
";
