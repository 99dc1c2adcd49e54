//! A small process that outlives us only to end what we started, should we be killed without a chance to do it ourselves.
//! The parent-death signal reaches the server alone and can be ignored; this reaches its whole group and cannot.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::process::{Child, Command};

use super::group::Group;

/// A program that is started as `program args… --group ID`, with a pipe as its stdin. A byte says that the group has
/// ended; the end of the pipe without one says that we are gone, and the group is to be ended.
#[derive(Debug, Clone)]
pub struct Keeper {
    /// Usually ourselves.
    pub program: PathBuf,
    /// What comes before `--group`.
    pub args: Vec<OsString>,
}

/// A keeper that runs.
pub(super) struct Kept(Child);

impl Keeper {
    /// Starts it. Without one we go on: it is the last resort of a last resort.
    pub(super) fn start(&self, group: &Group) -> Option<Kept> {
        let id = group.id()?;
        let mut command = Command::new(&self.program);
        command.args(&self.args).arg("--group").arg(id.to_string());
        // None of our streams: whoever waits for their end must not wait for it.
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // In a group of its own, so that what kills ours leaves it.
        #[cfg(unix)]
        command.process_group(0);
        command.spawn().ok().map(Kept)
    }
}

impl Kept {
    /// The group has ended.
    pub(super) async fn release(mut self) {
        if let Some(mut pipe) = self.0.stdin.take() {
            pipe.write_all(b".").await.ok();
        }
        tokio::time::timeout(GOODBYE, self.0.wait()).await.ok();
    }
}

/// When it is started: a server's start comes first.
pub(super) const AFTER_START: Duration = Duration::from_millis(100);
const GOODBYE: Duration = Duration::from_millis(500);
