//! The proxy as a process, and what it takes to talk to it and to look after it.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use lockgate_testkit::peer::Peer;
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

/// A proxy that runs.
pub(crate) struct Proxy {
    pub(crate) child: Child,
    pub(crate) host: Peer,
    stderr: JoinHandle<String>,
}

/// How a proxy ended.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

/// The program of the tests: cargo builds it beside them.
pub(crate) fn stage() -> PathBuf {
    let test = std::env::current_exe().expect("our own path");
    let folder = test.parent().and_then(Path::parent).expect("the folder of the build");
    let stage = folder.join("examples/stage");
    assert!(stage.exists(), "{} is not built", stage.display());
    stage
}

/// `stage proxy FLAGS -- stage serve SCRIPT`
pub(crate) fn command(flags: &str, script: &str) -> Command {
    let mut command = Command::new(stage());
    command.arg("proxy").args(flags.split_whitespace()).arg("--");
    command.arg(stage()).arg("serve").args(script.split_whitespace());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command
}

impl Proxy {
    pub(crate) fn new(flags: &str, script: &str) -> Proxy {
        Proxy::of(command(flags, script))
    }

    pub(crate) fn of(mut command: Command) -> Proxy {
        let mut child = command.spawn().expect("the proxy starts");
        let (stdin, stdout) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        let mut stderr = child.stderr.take().expect("a pipe");
        let stderr = tokio::spawn(async move {
            let mut said = Vec::new();
            stderr.read_to_end(&mut said).await.expect("it is read");
            String::from_utf8_lossy(&said).into_owned()
        });
        Proxy { child, host: Peer::new(stdout, stdin), stderr }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// The host hangs up; the rest of what it hears.
    pub(crate) async fn end(mut self) -> Ended {
        self.host.hang_up().await;
        self.ended().await
    }

    /// Waits for an end that comes by itself.
    pub(crate) async fn ended(mut self) -> Ended {
        let stdout = self.host.hear_rest().await;
        let status: ExitStatus = self.child.wait().await.expect("it ends");
        Ended { code: status.code(), stdout, stderr: self.stderr.await.expect("it is read") }
    }
}

/// Runs a command that needs no host.
pub(crate) async fn run(mut command: Command) -> Ended {
    command.stdin(Stdio::null());
    let output = command.output().await.expect("it ends");
    Ended {
        code: output.status.code(),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// The process ids a scripted server noted, once it did.
pub(crate) async fn noted(path: &Path) -> Vec<i32> {
    let text = eventually("the server's process ids", || std::fs::read_to_string(path).ok()).await;
    text.split_whitespace().map(|id| id.parse().expect("a process id")).collect()
}

/// Waits until a process is gone; a zombie that nobody reaps is.
pub(crate) async fn gone(id: i32) {
    eventually(&format!("the end of process {id}"), || is_gone(id).then_some(())).await;
}

pub(crate) fn is_gone(id: i32) -> bool {
    let Ok(about) = std::fs::read_to_string(format!("/proc/{id}/stat")) else {
        return rustix::process::Pid::from_raw(id).is_none_or(|id| rustix::process::test_kill_process(id).is_err());
    };
    about.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'))
}

pub(crate) fn signal(id: i32, signal: rustix::process::Signal) {
    let id = rustix::process::Pid::from_raw(id).expect("a process id");
    rustix::process::kill_process(id, signal).expect("it is there");
}

async fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "waited in vain for {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

pub(crate) const ASK: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#;
pub(crate) const ANSWER: &str =
    r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":""}],"method":"tools/call"}}"#;
