//! A process with everything it starts: a process group on Unix, a job object on Windows.

use std::io;

use tokio::process::Command;

/// A process that runs.
#[cfg(unix)]
pub(crate) type Process = tokio::process::Child;

/// A process that runs, in a job that ends when nobody holds it any more.
#[cfg(windows)]
pub(crate) type Process = Box<dyn process_wrap::tokio::ChildWrapper>;

/// Starts it, apart from our own group.
#[cfg(unix)]
pub(super) fn start(mut command: Command) -> io::Result<Process> {
    command.process_group(0).spawn()
}

/// Starts it, in a job of its own.
#[cfg(windows)]
pub(super) fn start(command: Command) -> io::Result<Process> {
    use process_wrap::tokio::{CommandWrap, JobObject, KillOnDrop};
    let mut wrapped = CommandWrap::from(command);
    wrapped.wrap(KillOnDrop).wrap(JobObject);
    wrapped.spawn()
}

/// The three streams of a process, each once.
pub(super) struct Streams {
    pub(super) stdin: Option<tokio::process::ChildStdin>,
    pub(super) stdout: Option<tokio::process::ChildStdout>,
    pub(super) stderr: Option<tokio::process::ChildStderr>,
}

#[cfg(unix)]
pub(super) fn streams(process: &mut Process) -> Streams {
    Streams { stdin: process.stdin.take(), stdout: process.stdout.take(), stderr: process.stderr.take() }
}

#[cfg(windows)]
pub(super) fn streams(process: &mut Process) -> Streams {
    Streams { stdin: process.stdin().take(), stdout: process.stdout().take(), stderr: process.stderr().take() }
}
