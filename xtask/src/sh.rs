//! Runs other programs and says so. A program started here ends before the task does, on every way out.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};

/// The workspace's root: xtask lives one folder below it.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(PathBuf::new, Path::to_path_buf)
}

/// The cargo that started us, so that a chosen toolchain stays chosen.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// A program found on the search path, in the workspace's root, without standard input.
pub(crate) fn program(name: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(name);
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// Runs to the end; what it prints is shown as it comes. Says how long it took.
pub(crate) fn run(what: &str, command: &mut Command) -> Result<()> {
    eprintln!("── {what}");
    let began = Instant::now();
    let status = command.status().with_context(|| format!("start {}", command.get_program().display()))?;
    let took = began.elapsed().as_secs_f32();
    if !status.success() {
        bail!("{what}: {status} after {took:.1} s");
    }
    eprintln!("── {what}: done in {took:.1} s");
    Ok(())
}

/// Runs to the end and returns standard output; standard error is part of the failure.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let done = command.output().with_context(|| format!("start {}", command.get_program().display()))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        bail!("{}: {}: {}", command.get_program().display(), done.status, said.trim());
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// Whether a program answers at all.
pub(crate) fn has(program_name: &str, argument: &str) -> bool {
    let mut command = program(program_name);
    command.arg(argument).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Asks again until there is an answer or the time is over.
pub(crate) fn wait_for<T>(what: &str, limit: Duration, mut ask: impl FnMut() -> Option<T>) -> Result<T> {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(answer) = ask() {
            return Ok(answer);
        }
        if Instant::now() >= deadline {
            bail!("{what} did not come within {} s", limit.as_secs());
        }
        std::thread::sleep(STEP);
    }
}

/// Asks a child to end, waits, then ends it. Returns how it ended.
pub(crate) fn stop(child: &mut Child, grace: Duration) -> Result<std::process::ExitStatus> {
    if let Some(status) = child.try_wait()? {
        return Ok(status);
    }
    // the standard library knows only the hard way; `kill` is there wherever signals are
    let asked = if cfg!(unix) { has_asked(child.id()) } else { false };
    let deadline = Instant::now() + grace;
    while asked && Instant::now() < deadline {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(STEP);
    }
    child.kill()?;
    Ok(child.wait()?)
}

fn has_asked(id: u32) -> bool {
    program("kill").arg("-TERM").arg(id.to_string()).status().is_ok_and(|status| status.success())
}

const STEP: Duration = Duration::from_millis(20);
