//! `mcp-proxy`: the arguments of the debugger on a wire. Read by themselves, before anything else of this program is built.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lockgate_protocol::json::{Limits, Raw};
use lockgate_stack::FrameCap;

use crate::args;
use crate::code::Code;
use crate::fault::Fault;

mod session;

pub(crate) use session::run;

/// Put the debugger between an MCP host and a server on stdio
#[derive(Debug, clap::Args)]
#[command(about = "Put the debugger between an MCP host and a server on stdio", after_help = EXAMPLES)]
pub(crate) struct Args {
    /// One line on stderr for each frame; works without a hub
    #[arg(long)]
    pub(super) trace: bool,
    /// Hold the first frame back until the hub has answered, up to 3 seconds
    #[arg(long)]
    pub(super) wait_for_attach: bool,
    /// Leave the server's stderr alone: it goes straight to ours and is not recorded
    #[arg(long)]
    pub(super) inherit_stderr: bool,
    /// Largest frame that is looked at [default: 67108864]
    #[arg(long, value_name = "N", value_parser = frame_bytes)]
    pub(super) max_frame_bytes: Option<FrameCap>,
    /// Port of the hub [default: GRAPHMIND_URL, else 4747]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) port: Option<u16>,
    /// Refuse frames that JSON readers understand differently
    #[arg(long, overrides_with = "no_strict_json")]
    pub(super) strict_json: bool,
    /// Carry them as they are (the default)
    #[arg(long, overrides_with = "strict_json")]
    pub(super) no_strict_json: bool,
    /// End a hold after this long, before the host gives up
    #[arg(long, value_name = "SECONDS", value_parser = limit)]
    pub(super) hold_limit: Option<Duration>,
    /// How to end it then: continue, abort, or inject FILE (JSON)
    #[arg(long, value_name = "continue|abort|inject FILE", value_parser = on_limit)]
    pub(super) on_limit: Option<OnLimit>,
    /// The server's command and its arguments
    #[arg(value_name = "COMMAND", trailing_var_arg = true)]
    pub(super) command: Vec<OsString>,
}

/// What ends a hold at its limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OnLimit {
    Continue,
    Abort,
    Inject(PathBuf),
}

impl OnLimit {
    /// The answer to inject, read before the server is started: a wrong file is told at once.
    pub(super) fn answer(path: &Path) -> Result<Raw, Fault> {
        let bytes = fs::read(path).map_err(|err| Fault::file(path, &err))?;
        let checked = Raw::check(bytes.into(), Limits::PAYLOAD);
        checked.map(|checked| checked.raw).map_err(|err| {
            let fault = Fault::new(Code::BadFile, format!("{} is not JSON: {err}", path.display()));
            fault.hint("put the tool's result into it, as JSON")
        })
    }
}

/// `--on-limit inject FILE` as one argument: its second word belongs to it only after `inject`, which clap cannot say.
/// Arguments of the server, behind `--` or behind its own name, are not ours to touch.
pub(crate) fn join_inject(argv: &[OsString]) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::with_capacity(argv.len());
    let mut rest = argv.iter().peekable();
    while let Some(arg) = rest.next() {
        joined.push(arg.clone());
        let is = |word: &str| arg == word;
        if is("--") || !arg.to_string_lossy().starts_with('-') {
            break;
        }
        let mut value = None;
        if VALUED.iter().any(|flag| is(flag)) {
            value = rest.next();
            joined.extend(value.cloned());
        }
        let inject = is("--on-limit=inject") || is("--on-limit") && value.is_some_and(|value| value == "inject");
        if let Some(file) = rest.next_if(|_| inject)
            && let Some(last) = joined.last_mut()
        {
            last.push(OsStr::new(":"));
            last.push(file);
        }
    }
    joined.extend(rest.cloned());
    joined
}

fn on_limit(text: &str) -> Result<OnLimit, String> {
    match text {
        "continue" => Ok(OnLimit::Continue),
        "abort" => Ok(OnLimit::Abort),
        "inject" => Err("inject needs a file: --on-limit inject FILE".to_owned()),
        other => match other.strip_prefix("inject:") {
            Some(file) => Ok(OnLimit::Inject(PathBuf::from(file))),
            None => Err("it is continue, abort, or inject FILE".to_owned()),
        },
    }
}

fn frame_bytes(text: &str) -> Result<FrameCap, String> {
    let asked: usize = text.parse().map_err(|_| "not a number of bytes".to_owned())?;
    FrameCap::new(asked).map_err(|err| err.to_string())
}

fn limit(text: &str) -> Result<Duration, String> {
    let asked = args::seconds(text)?;
    if asked >= Duration::from_secs(1) { Ok(asked) } else { Err("must be 1 second or more".to_owned()) }
}

pub(crate) const NAME: &str = "mcp-proxy";
const VALUED: [&str; 4] = ["--max-frame-bytes", "--port", "--hold-limit", "--on-limit"];
const EXAMPLES: &str = "\
Examples:
  graphmind mcp-proxy -- node build/server.js
  graphmind mcp-proxy --wait-for-attach -- uvx my-server --verbose
  graphmind mcp-proxy --trace -- ./server 2> frames.log
  graphmind mcp-proxy --hold-limit 50 --on-limit inject empty.json -- ./server

Put the line into the host's configuration in the place of the server's own command;
`graphmind init --host NAME` writes it out.
The exit code is the server's; 127 if it cannot be started.";

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Args as _, FromArgMatches};

    fn parse(words: &[&str]) -> Result<Args, String> {
        let argv: Vec<OsString> = words.iter().map(OsString::from).collect();
        let line = Args::augment_args(clap::Command::new(NAME).no_binary_name(true));
        let matches = line.try_get_matches_from(join_inject(&argv)).map_err(|err| err.to_string())?;
        Args::from_arg_matches(&matches).map_err(|err| err.to_string())
    }

    #[test]
    fn the_command_is_left_alone() {
        let check = |words: &[&str], command: &[&str]| {
            let found = parse(words).expect("parses").command;
            assert_eq!(found, command.iter().map(OsString::from).collect::<Vec<_>>(), "{words:?}");
        };
        check(&["--", "node", "x.js", "--help", "--port", "1"], &["node", "x.js", "--help", "--port", "1"]);
        check(&["node", "--help"], &["node", "--help"]);
        check(&["--trace", "node", "-v", "--", "x"], &["node", "-v", "--", "x"]);
        check(&["--port", "5", "srv", "--on-limit", "inject", "f"], &["srv", "--on-limit", "inject", "f"]);
        check(&["--", "srv", "--on-limit", "inject", "f"], &["srv", "--on-limit", "inject", "f"]);
        check(&["--port=5", "--", "--odd"], &["--odd"]);
        check(&[], &[]);
    }

    #[test]
    fn on_limit_takes_a_file_only_to_inject() {
        let check = |words: &[&str], expected: &OnLimit, command: &[&str]| {
            let args = parse(words).expect("parses");
            assert_eq!(args.on_limit.as_ref(), Some(expected));
            assert_eq!(args.command, command.iter().map(OsString::from).collect::<Vec<_>>());
        };
        check(&["--on-limit", "continue", "srv"], &OnLimit::Continue, &["srv"]);
        check(&["--on-limit=abort", "srv"], &OnLimit::Abort, &["srv"]);
        check(&["--on-limit", "inject", "a.json", "srv"], &OnLimit::Inject("a.json".into()), &["srv"]);
        check(&["--on-limit=inject", "a.json", "--", "srv"], &OnLimit::Inject("a.json".into()), &["srv"]);
        check(&["--hold-limit", "5", "--on-limit", "inject", "a", "srv"], &OnLimit::Inject("a".into()), &["srv"]);
    }

    #[test]
    fn numbers_have_their_bounds() {
        let check = |words: &[&str], part: &str| {
            let problem = parse(words).expect_err("refused");
            assert!(problem.contains(part), "{problem}");
        };
        check(&["--max-frame-bytes", "10", "x"], "frame cap below 1024 bytes: 10");
        check(&["--max-frame-bytes", "much", "x"], "not a number of bytes");
        check(&["--hold-limit", "0", "x"], "must be 1 second or more");
        check(&["--hold-limit", "-1", "x"], "unexpected argument '-1'");
        check(&["--on-limit", "pause", "x"], "it is continue, abort, or inject FILE");
        check(&["--on-limit", "inject"], "inject needs a file");
        check(&["--trce", "x"], "unexpected argument '--trce'");
        check(&["--port", "0", "x"], "0 is not in 1..=65535");
    }

    #[test]
    fn the_last_word_on_strictness_counts() {
        let strict = |words: &[&str]| parse(words).expect("parses").strict_json;
        assert!(strict(&["--strict-json"]) && !strict(&[]));
        assert!(strict(&["--no-strict-json", "--strict-json"]) && !strict(&["--strict-json", "--no-strict-json"]));
    }
}
