//! Starting the server. What can be known to be impossible is found out before anything is started, so that it can be said.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::{ChildStdin, ChildStdout, Command};

#[cfg(unix)]
use crate::end::widen;

use super::process::{self, Process, Streams};

/// What is started.
#[derive(Debug, Clone)]
pub(crate) struct Spec<'a> {
    pub(crate) program: &'a OsStr,
    pub(crate) args: &'a [OsString],
    pub(crate) shim: Option<&'a Shim>,
    pub(crate) stderr: ChildStderr,
}

/// A program that ties a command's life to ours and then becomes it: started as `program args… --parent PID -- command…`.
///
/// It has to end with 127 when the command cannot be started.
#[derive(Debug, Clone)]
pub struct Shim {
    /// Usually ourselves.
    pub program: PathBuf,
    /// What comes before `--parent`.
    pub args: Vec<OsString>,
}

/// Where the server's stderr goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildStderr {
    /// Through us to ours; its end is quoted when the server fails.
    Mirrored,
    /// Straight to ours, unseen.
    Inherited,
}

/// A process that runs.
pub(crate) struct Started {
    pub(crate) child: Process,
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: Option<tokio::process::ChildStderr>,
}

/// Why a command could not be started.
#[derive(Debug, thiserror::Error)]
#[error("start the server: {program}: {why}")]
pub(crate) struct SpawnError {
    program: String,
    why: Why,
}

#[derive(Debug, thiserror::Error)]
enum Why {
    #[error("no such command")]
    NotFound,
    #[error("not executable")]
    NotExecutable,
    #[error("{0}")]
    Other(io::Error),
}

impl SpawnError {
    /// What to do about it.
    pub(crate) fn hint(&self) -> &'static str {
        match &self.why {
            Why::NotFound => "check the spelling and PATH; a host may start us with another PATH than your shell has",
            Why::NotExecutable => "make it executable, or put its interpreter before it",
            Why::Other(error) if error.kind() == io::ErrorKind::InvalidInput => {
                "a .cmd or .bat file takes no line break in its arguments: start the program behind it"
            }
            Why::Other(_) => "try the same command in a shell",
        }
    }
}

pub(crate) fn spawn(spec: &Spec<'_>) -> Result<Started, SpawnError> {
    let failed = |why| SpawnError { program: spec.program.to_string_lossy().into_owned(), why };
    let mut command = command(spec).map_err(failed)?;
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(match spec.stderr {
        ChildStderr::Mirrored => Stdio::piped(),
        ChildStderr::Inherited => Stdio::inherit(),
    });
    // Only the last resort: whoever runs us to the end ends the whole group.
    command.kill_on_drop(true);
    let mut child = process::start(command).map_err(|error| {
        failed(match error.kind() {
            io::ErrorKind::NotFound => Why::NotFound,
            io::ErrorKind::PermissionDenied => Why::NotExecutable,
            // What Windows says of a file that is no program.
            _ if cfg!(windows) && error.raw_os_error() == Some(BAD_EXE_FORMAT) => Why::NotExecutable,
            _ => Why::Other(error),
        })
    })?;
    let Streams { stdin, stdout, stderr } = process::streams(&mut child);
    let both = stdin.zip(stdout);
    let (stdin, stdout) = both.ok_or_else(|| failed(Why::Other(io::ErrorKind::BrokenPipe.into())))?;
    #[cfg(unix)]
    {
        widen(&stdin);
        widen(&stdout);
    }
    Ok(Started { child, stdin, stdout, stderr })
}

fn command(spec: &Spec<'_>) -> Result<Command, Why> {
    let Some(shim) = spec.shim else {
        #[cfg(windows)]
        let found = super::search::search(spec.program, &std::env::var_os("PATH").unwrap_or_default());
        #[cfg(windows)]
        let mut command = Command::new(found.as_deref().map_or(spec.program, Path::as_os_str));
        #[cfg(unix)]
        let mut command = Command::new(spec.program);
        command.args(spec.args);
        return Ok(command);
    };
    find(spec.program)?;
    let mut command = Command::new(&shim.program);
    command.args(&shim.args).arg("--parent").arg(std::process::id().to_string()).arg("--");
    command.arg(spec.program).args(spec.args);
    Ok(command)
}

/// Whether a command can be started at all, as far as its name tells.
fn find(program: &OsStr) -> Result<(), Why> {
    let path = Path::new(program);
    if path.components().count() > 1 || path.is_absolute() {
        return startable(path);
    }
    let searched = std::env::var_os("PATH").unwrap_or_default();
    let mut found = Err(Why::NotFound);
    for folder in std::env::split_paths(&searched) {
        match startable(&folder.join(path)) {
            Ok(()) => return Ok(()),
            Err(Why::NotFound) => {}
            Err(why) => found = Err(why),
        }
    }
    found
}

fn startable(path: &Path) -> Result<(), Why> {
    let about = std::fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => Why::NotExecutable,
        _ => Why::NotFound,
    })?;
    if !about.is_file() {
        return Err(Why::NotExecutable);
    }
    #[cfg(unix)]
    rustix::fs::access(path, rustix::fs::Access::EXEC_OK).map_err(|_| Why::NotExecutable)?;
    Ok(())
}

const BAD_EXE_FORMAT: i32 = 193;

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[track_caller]
    fn check(program: &str, expected: &str) {
        let found = find(OsStr::new(program)).map_or_else(|why| why.to_string(), |()| "fine".to_owned());
        assert_eq!(found, expected, "{program}");
    }

    #[test]
    fn commands_are_looked_for_where_a_shell_would() {
        check("sh", "fine");
        check("/bin/sh", "fine");
        check("no-such-command-anywhere", "no such command");
        check("/no/such/file", "no such command");
        check("/", "not executable");
        check("/etc/passwd", "not executable");
        check("./no-such", "no such command");
    }
}

#[cfg(all(test, windows))]
mod windows_tests {
    use super::*;
    use tokio::io::AsyncReadExt as _;

    fn started(program: &Path, args: &[&str]) -> Result<Started, SpawnError> {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        spawn(&Spec { program: program.as_os_str(), args: &args, shim: None, stderr: ChildStderr::Inherited })
    }

    #[tokio::test]
    async fn a_batch_file_is_started_without_its_ending() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("say it.cmd"), "@echo %~1 %2\r\n").expect("written");
        std::fs::write(folder.path().join("say it"), "#!/bin/sh\n").expect("written");
        let mut started = started(&folder.path().join("say it"), &["two words", "one"]).expect("it starts");
        let mut said = String::new();
        started.stdout.read_to_string(&mut said).await.expect("it is read");
        assert_eq!(said.trim_end(), "two words one");
    }

    #[tokio::test]
    async fn why_a_command_cannot_be_started_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let script = folder.path().join("server.py");
        std::fs::write(&script, "print(1)\n").expect("written");
        let why = |program: &Path| started(program, &[]).map_or_else(|error| error.why.to_string(), |_| String::new());
        assert_eq!(why(&script), "not executable");
        assert_eq!(why(&folder.path().join("none")), "no such command");
        assert_eq!(why(Path::new("no-such-command-anywhere")), "no such command");
    }
}
