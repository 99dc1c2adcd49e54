//! `resume`: releases one held call, and says what became of it.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use clap::ValueEnum;
use lockgate_protocol::json::{Limits, Raw};
use tokio::time::{Instant, sleep};

use crate::args;
use crate::client::{Hub, Reply};
use crate::code::Code;
use crate::exit::Exit;
use crate::fault::{Fault, Reader};
use crate::out;
use crate::progress::patiently;
use crate::text::{url_segment, visible};

mod outcome;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The pause to release, as `wait` and `pauses` print it
    #[arg(value_name = "PAUSE")]
    pause: String,
    /// The run it belongs to
    #[arg(long, value_name = "ID")]
    run: String,
    /// How to release it
    #[arg(long)]
    action: Action,
    /// What to answer in place of the call: JSON, `@FILE`, or `@-` for stdin
    #[arg(long, value_name = "JSON|@FILE", required_if_eq("action", "inject"))]
    output: Option<String>,
    /// Arguments to run the call with: JSON, `@FILE`, or `@-` for stdin
    #[arg(long, value_name = "JSON|@FILE")]
    input: Option<String>,
    /// Your name, shown beside the release
    #[arg(long, value_name = "NAME")]
    operator: Option<String>,
    /// How long to wait for the program's answer, 1 to 120
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = patience)]
    timeout: Duration,
    #[command(flatten)]
    hub: args::Hub,
    #[command(flatten)]
    json: args::Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Action {
    Continue,
    Retry,
    Inject,
    Abort,
}

impl Action {
    fn word(self) -> &'static str {
        match self {
            Action::Continue => "continue",
            Action::Retry => "retry",
            Action::Inject => "inject",
            Action::Abort => "abort",
        }
    }
}

pub(crate) async fn run(args: Args) -> Result<Exit, Fault> {
    let body = body(&args)?;
    let hub = Hub::find(args.hub.port).await?;
    let reply = patiently("waiting for the program to answer", send(&hub, &args, &body)).await?;
    let reader = args.json.reader();
    if reply.body.view().get("outcome").is_some_and(|outcome| outcome.is("resumed")) {
        let principal = reply.text("principal").map(|by| format!(" as {}", visible(&by))).unwrap_or_default();
        match reader {
            Reader::Program => out::json(&String::from_utf8_lossy(reply.bytes()))?,
            Reader::Person => {
                let action = args.action.word();
                out::line(&format!("{} released with {action}{principal}", visible(&args.pause)))?;
            }
        }
        return Ok(Exit::Done);
    }
    Err(outcome::fault(&hub, &reply, &args.pause))
}

/// Asks until the hub has a place to park us, at most as long as the answer may take anyway.
async fn send(hub: &Hub, args: &Args, body: &Raw) -> Result<Reply, Fault> {
    let path = format!("/api/runs/{}/pauses/{}/resume", url_segment(&args.run), url_segment(&args.pause));
    let deadline = Instant::now() + args.timeout;
    loop {
        let reply = hub.post(&path, body.as_bytes().to_vec(), args.timeout).await?;
        if reply.status.as_u16() != 429 || Instant::now() + PACE > deadline {
            return Ok(reply);
        }
        sleep(PACE).await;
    }
}

fn body(args: &Args) -> Result<Raw, Fault> {
    if args.output.is_some() && args.action != Action::Inject {
        let fault =
            Fault::new(Code::Usage, format!("--output goes with `--action inject`, not `{}`", args.action.word()));
        return Err(fault.hint("to change the call's arguments, use --input"));
    }
    if args.input.is_some() && matches!(args.action, Action::Inject | Action::Abort) {
        let fault = Fault::new(Code::Usage, format!("--input does not go with `--action {}`", args.action.word()));
        return Err(fault.hint("edited arguments go with continue (before a call) or retry (after it)"));
    }
    let output = args.output.as_deref().map(|text| value("--output", text)).transpose()?;
    let input = args.input.as_deref().map(|text| value("--input", text)).transpose()?;
    let timeout = u64::try_from(args.timeout.as_millis()).unwrap_or(u64::MAX);
    Ok(Raw::object(|out| {
        out.str("action", args.action.word()).u64("timeoutMs", timeout);
        if let Some(output) = &output {
            out.raw("output", output);
        }
        if let Some(input) = &input {
            out.raw("input", input);
        }
        if let Some(operator) = &args.operator {
            out.str("operator", operator);
        }
    }))
}

/// The JSON after a flag, or in the file it names. Kept as typed, so that no number is rounded.
fn value(flag: &str, text: &str) -> Result<Raw, Fault> {
    let bytes = match text.strip_prefix('@') {
        None => text.as_bytes().to_vec(),
        Some("-") => {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes).map_err(|err| Fault::io("read stdin", &err))?;
            bytes
        }
        Some(path) => fs::read(path).map_err(|err| Fault::file(Path::new(path), &err))?,
    };
    let place = if text.starts_with('@') { format!("{flag} {text}") } else { flag.to_owned() };
    let checked = Raw::check(bytes.into(), Limits::PAYLOAD);
    checked.map(|checked| checked.raw).map_err(|err| {
        let fault = Fault::new(Code::BadFile, format!("{place} is not JSON: {err}"));
        fault.hint("a text needs its quotes inside the shell's: --output '\"text\"'")
    })
}

fn patience(text: &str) -> Result<Duration, String> {
    let asked = args::seconds(text)?;
    let allowed = Duration::from_secs(1)..=Duration::from_secs(120);
    if allowed.contains(&asked) { Ok(asked) } else { Err("must be 1 to 120 seconds".to_owned()) }
}

const PACE: Duration = Duration::from_secs(1);
const EXAMPLES: &str = "\
Examples:
  graphmind resume pause_ab12cd_1 --run run_1 --action continue
  graphmind resume pause_ab12cd_1 --run run_1 --action retry --input '{\"origin\":\"VIE\"}'
  graphmind resume pause_ab12cd_1 --run run_1 --action inject --output @answer.json
  graphmind resume pause_ab12cd_1 --run run_1 --action inject --output=-1

Exit codes: 0 released, 2 no answer yet, 3 no hub, 4 no such pause, 5 not authorised, 6 refused and still held,
7 somebody else was first.";

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn check(words: &[&str], expected: Result<&str, &str>) {
        let line = ["resume", "p", "--run", "r"].into_iter().chain(words.iter().copied());
        let args = Line::try_parse_from(line).expect("parses").args;
        let body = body(&args).map(|raw| String::from_utf8_lossy(raw.as_bytes()).into_owned());
        assert_eq!(body.as_deref().map_err(|fault| fault.message.as_str()), expected);
    }

    #[test]
    fn bodies() {
        check(&["--action", "continue"], Ok(r#"{"action":"continue","timeoutMs":30000}"#));
        check(
            &["--action=inject", "--output=-1e400", "--timeout=1.5", "--operator", "me"],
            Ok(r#"{"action":"inject","timeoutMs":1500,"output":-1e400,"operator":"me"}"#),
        );
        check(
            &["--action", "retry", "--input", r#" {"a":9007199254740993} "#],
            Ok(r#"{"action":"retry","timeoutMs":30000,"input":{"a":9007199254740993}}"#),
        );
    }

    #[test]
    fn what_does_not_go_together() {
        check(&["--action", "abort", "--output", "1"], Err("--output goes with `--action inject`, not `abort`"));
        check(&["--action", "abort", "--input", "1"], Err("--input does not go with `--action abort`"));
        check(
            &["--action", "inject", "--output", "{a}"],
            Err("--output is not JSON: unexpected byte in json text at byte 1"),
        );
        check(&["--action", "inject", "--output", "@/no/such"], Err("read /no/such: no such file or directory"));
    }
}
