//! The hidden command that outlives a proxy only to end what it started: the process group of the server. The proxy holds
//! the other end of stdin; a byte from it says that all is well, its end without one that the proxy was killed.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::code::Code;
use crate::fault::Fault;

/// The process group to end.
#[derive(Debug)]
pub(crate) struct Args {
    group: i32,
}

impl Args {
    /// `__keep --group ID`
    pub(crate) fn read(argv: &[OsString]) -> Result<Args, Fault> {
        let group = match argv {
            [_, flag, group] if flag == "--group" => group.to_str().and_then(|id| id.parse().ok()),
            _ => None,
        };
        // One and less mean other things than a group of that number.
        let group = group.filter(|id| *id > 1);
        group
            .map(|group| Args { group })
            .ok_or_else(|| Fault::new(Code::Usage, "this is for `graphmind mcp-proxy` itself"))
    }
}

#[cfg(unix)]
pub(crate) fn run(args: &Args) -> ExitCode {
    use std::io::Read as _;
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

    const AFTER_TERMINATE: Duration = Duration::from_millis(2_000);
    const POLL: Duration = Duration::from_millis(20);

    let farewell = std::io::stdin().lock().read(&mut [0]);
    let released = matches!(farewell, Ok(1..));
    let Some(group) = Pid::from_raw(args.group).filter(|_| !released) else { return ExitCode::SUCCESS };
    kill_process_group(group, Signal::TERM).ok();
    let until = Instant::now() + AFTER_TERMINATE;
    while test_kill_process_group(group).is_ok() && Instant::now() < until {
        std::thread::sleep(POLL);
    }
    kill_process_group(group, Signal::KILL).ok();
    ExitCode::SUCCESS
}

/// Where there are no process groups a job object does this.
#[cfg(not(unix))]
pub(crate) fn run(args: &Args) -> ExitCode {
    let _ = args.group;
    ExitCode::SUCCESS
}

pub(crate) const NAME: &str = "__keep";
