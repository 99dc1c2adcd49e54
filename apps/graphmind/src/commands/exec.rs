//! The hidden command a proxied server is started through: it ties the server's life to the proxy's, then becomes the
//! server. A command that cannot start is told on stderr and by exit code 127, as a shell would.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::code::Code;
use crate::fault::Fault;
use crate::out;
use crate::text::visible;

/// The process that must still be our parent, and the command to become.
#[derive(Debug)]
pub(crate) struct Args {
    parent: u32,
    program: OsString,
    rest: Vec<OsString>,
}

impl Args {
    /// `__exec --parent PID -- PROGRAM ARGUMENT…`
    pub(crate) fn read(argv: &[OsString]) -> Result<Args, Fault> {
        let parsed = match argv {
            [_, flag, parent, end, program, rest @ ..] if flag == "--parent" && end == "--" => parent
                .to_str()
                .and_then(|pid| pid.parse().ok())
                .map(|parent| Args { parent, program: program.clone(), rest: rest.to_vec() }),
            _ => None,
        };
        parsed.ok_or_else(|| Fault::new(Code::Usage, "this is for `graphmind mcp-proxy` itself"))
    }
}

/// Returns only if the command could not be started.
pub(crate) fn run(args: &Args) -> ExitCode {
    if !tie_to_parent(args.parent) {
        return ExitCode::from(PARENT_GONE);
    }
    let err = become_command(&args.program, &args.rest);
    out::note(&format!("{MARK}{}: {}", visible(&args.program.to_string_lossy()), visible(&err.to_string())));
    ExitCode::from(CANNOT_START)
}

/// The kernel's note to end us when the parent ends. False if it ended before the note was in place.
#[cfg(target_os = "linux")]
fn tie_to_parent(expected: u32) -> bool {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};
    let tied = set_parent_process_death_signal(Some(Signal::TERM));
    if let Err(err) = tied {
        out::note(&format!("graphmind: the server may outlive the proxy: {err}"));
    }
    let parent = getppid().map(|pid| pid.as_raw_nonzero().get());
    parent.and_then(|pid| u32::try_from(pid).ok()) == Some(expected)
}

/// Other systems have no such note; there the proxy's own clean-up has to do.
#[cfg(not(target_os = "linux"))]
fn tie_to_parent(_expected: u32) -> bool {
    true
}

#[cfg(unix)]
fn become_command(program: &OsString, rest: &[OsString]) -> std::io::Error {
    use std::os::unix::process::CommandExt;
    std::process::Command::new(program).args(rest).exec()
}

#[cfg(not(unix))]
fn become_command(_program: &OsString, _rest: &[OsString]) -> std::io::Error {
    std::io::Error::from(std::io::ErrorKind::Unsupported)
}

pub(crate) const NAME: &str = "__exec";
const MARK: &str = "graphmind: cannot start ";
const CANNOT_START: u8 = 127;
const PARENT_GONE: u8 = 125;
