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
///
/// The steps of `CommandWrap::spawn`, taken one by one: that lays its wrappers aside before the job asks it whether to kill
/// on drop, and the job would let everybody live.
#[cfg(windows)]
pub(super) fn start(mut command: Command) -> io::Result<Process> {
    use process_wrap::tokio::{CommandWrap, CommandWrapper as _, JobObject, KillOnDrop};
    let mut asked = CommandWrap::from(Command::new(""));
    asked.wrap(KillOnDrop);
    JobObject.pre_spawn(&mut command, &asked)?;
    let child = command.spawn()?;
    JobObject.wrap_child(Box::new(child), &asked)
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

#[cfg(all(test, windows))]
mod tests {
    use super::*;
    use std::process::Stdio;
    use std::time::Duration;
    use tokio::io::AsyncReadExt as _;

    #[tokio::test]
    async fn what_a_process_left_behind_ends_with_its_job() {
        let mut command = Command::new("cmd");
        // What `start /b` starts outlives it, waits for a line that never comes, and has the same stdout.
        command.args(["/d", "/c", "start", "/b", "cmd", "/d", "/c", "set /p line="]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = start(command).expect("it starts");
        let Streams { stdin, stdout, .. } = streams(&mut child);
        child.wait().await.expect("it ends");
        drop(child);
        let mut rest = Vec::new();
        let mut stdout = stdout.expect("a pipe");
        let end = tokio::time::timeout(Duration::from_secs(30), stdout.read_to_end(&mut rest)).await;
        end.expect("nobody is left who could write").expect("it is read");
        drop(stdin);
    }
}
