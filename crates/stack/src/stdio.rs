//! The path of `mcp-proxy`: a proxied server on stdio, reported by a session that works on a thread of its own.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lockgate_gate::Release;
use lockgate_graphmind::{Enabled, Environment, Session};
use lockgate_protocol::debug::{RunId, SdkInfo};
use lockgate_protocol::edit::Hidden;
use lockgate_proxy::stdio::{Attach, HoldConfig, StdioConfig, WaitForAttach, run};
use lockgate_proxy::{
    ChildStderr, Command, Duplicates, FrameCap, Heartbeat, Keeper, Rules, Shim, Shown, Trace, Trouble,
};

use crate::link::Link;
use crate::path::{Options, path};

/// One proxied session, as asked for on a command line.
pub struct StdioOptions {
    /// The server's program.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Our own program and the command of it that ties a server's life to ours; `None`: the server is started directly.
    pub shim: Option<(PathBuf, &'static str)>,
    /// Ourselves, and the hidden command that ends the server's group when we are killed.
    pub keeper: Option<(PathBuf, &'static str)>,
    /// Version of the program that reports.
    pub version: String,
    /// Name of the run.
    pub run: RunId,
    /// Port of the hub; without one the environment says where it is.
    pub port: Option<u16>,
    /// The environment.
    pub environment: Environment,
    /// Where the server's stderr goes.
    pub stderr: ChildStderr,
    /// Largest frame that is looked at.
    pub cap: FrameCap,
    /// What happens to frames that JSON readers understand differently.
    pub duplicates: Duplicates,
    /// Whether each frame is told on stderr.
    pub trace: Trace,
    /// Whether the first frame waits for the hub.
    pub wait: WaitForAttach,
    /// What happens while a call stands.
    pub hold: HoldOptions,
}

/// What happens while a call stands.
pub struct HoldOptions {
    /// Whether whoever waits hears progress.
    pub heartbeat: Heartbeat,
    /// Longest hold; `None`: as long as the host is known to wait.
    pub limit: Option<Duration>,
    /// What ends it then.
    pub at_limit: Option<Release>,
    /// Where it is kept how long hosts wait.
    pub hosts: Option<PathBuf>,
}

/// Carries a session to its end and gives the exit code to end with.
///
/// The server is started from the calling thread, which has to live as long as it.
pub async fn stdio(options: StdioOptions) -> i32 {
    let sdk = SdkInfo { name: NAME.to_owned(), version: options.version };
    let place = viewer(options.port, &options.environment);
    let rules = rules(options.duplicates, &options.environment);
    let words = options.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let program = options.program.to_string_lossy().into_owned();
    let app = Command { program, args: words, shown: rules.shown }.app();
    let path = path(Options { app, sdk: sdk.clone(), port: options.port, environment: options.environment });
    let link = Link::start(path.running);
    let attach = attach(options.wait, &path.session, (&place, &options.run));
    let config = StdioConfig {
        program: options.program,
        args: options.args,
        shim: options.shim.map(|(program, command)| Shim { program, args: vec![command.into()] }),
        keeper: options.keeper.map(|(program, command)| Keeper { program, args: vec![command.into()] }),
        stderr: options.stderr,
        gate: path.gate,
        tap: path.tap,
        run: options.run,
        sdk,
        rules,
        cap: options.cap,
        trace: options.trace,
        hold: HoldConfig {
            heartbeat: options.hold.heartbeat,
            limit: options.hold.limit,
            at_limit: options.hold.at_limit,
            place,
            hosts: options.hold.hosts,
        },
        attach,
        prefix: format!("graphmind {NAME}"),
    };
    let exited = run(config).await;
    path.session.dispose();
    link.end().await;
    exited.code
}

/// The debugger lets pass what it cannot judge; what a switch hides is not named in labels either.
fn rules(duplicates: Duplicates, environment: &Environment) -> Rules {
    let hide = environment.hide;
    let hidden = |switches: [bool; 2]| if switches.contains(&true) { Hidden::Yes } else { Hidden::No };
    let shown = Shown {
        arguments: hidden([hide.inputs; 2]),
        tool_inputs: hidden([hide.inputs, hide.tool_args]),
        tool_outputs: hidden([hide.outputs, hide.tool_results]),
    };
    Rules { trouble: Trouble::Pass, duplicates, shown }
}

fn attach(wait: WaitForAttach, session: &Session, (place, run): (&str, &RunId)) -> Attach {
    let ready = session.clone();
    let told = session.clone();
    let link = format!("{place}#/run/{run}");
    Attach {
        wait,
        ready: Box::new(move |within| {
            let session = ready.clone();
            Box::pin(async move {
                session.ready(within).await;
            })
        }),
        notice: Arc::new(move || notice(&told, &link)),
    }
}

/// Whether the debugger is there, and what to do about it.
fn notice(session: &Session, link: &str) -> String {
    let stats = session.stats();
    match (stats.enabled, stats.presence.is_attached()) {
        (Enabled::No, _) => "the debugger is switched off by the environment".to_owned(),
        (Enabled::Yes, true) => format!("attached to the debugger: {link}"),
        (Enabled::Yes, false) => "no debugger is running: start one with `graphmind`".to_owned(),
    }
}

/// Where people look, from where events go: `ws://host:port/ingest` is served beside the page.
fn viewer(port: Option<u16>, environment: &Environment) -> String {
    let url = environment.url.as_deref().filter(|_| port.is_none());
    let Some(url) = url else { return format!("http://127.0.0.1:{}/", port.unwrap_or(DEFAULT_PORT)) };
    let page = url.strip_suffix("/ingest").unwrap_or(url).trim_end_matches('/');
    let page = page.strip_prefix("ws").map_or_else(|| page.to_owned(), |rest| format!("http{rest}"));
    format!("{page}/")
}

const NAME: &str = "mcp-proxy";
const DEFAULT_PORT: u16 = 4747;

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(url: &str) -> Environment {
        Environment::read(|name| (name == "GRAPHMIND_URL").then(|| url.to_owned()))
    }

    #[test]
    fn where_people_look() {
        let check = |port: Option<u16>, url: &str, expected: &str| {
            assert_eq!(viewer(port, &environment(url)), expected);
        };
        check(None, "", "http://127.0.0.1:4747/");
        check(Some(5000), "ws://h:1/ingest", "http://127.0.0.1:5000/");
        check(None, "ws://h:1/ingest", "http://h:1/");
        check(None, "wss://h/deep/ingest", "https://h/deep/");
        check(None, "h:1", "h:1/");
    }

    #[test]
    fn what_is_hidden_is_not_named() {
        let check = |name: &'static str, expected: [Hidden; 3]| {
            let environment = Environment::read(|asked| (asked == name).then(|| "1".to_owned()));
            let shown = rules(Duplicates::Pass, &environment).shown;
            assert_eq!([shown.arguments, shown.tool_inputs, shown.tool_outputs], expected, "{name}");
        };
        check("NONE", [Hidden::No, Hidden::No, Hidden::No]);
        check("GRAPHMIND_HIDE_INPUTS", [Hidden::Yes, Hidden::Yes, Hidden::No]);
        check("GRAPHMIND_HIDE_TOOL_ARGS", [Hidden::No, Hidden::Yes, Hidden::No]);
        check("GRAPHMIND_HIDE_OUTPUTS", [Hidden::No, Hidden::No, Hidden::Yes]);
        check("GRAPHMIND_HIDE_TOOL_RESULTS", [Hidden::No, Hidden::No, Hidden::Yes]);
    }
}
