//! Opens the viewer in a browser, where somebody sits to look at it.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::out;

/// Whether to open a browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    Yes,
    No,
    /// Only if it looks as if somebody sat at this machine.
    IfSomebodySits,
}

/// Shows a local page. It is given as a file, since a token in a command line could be read by everybody.
pub(crate) fn open(page: &Path, opening: Opening) {
    let wanted = match opening {
        Opening::Yes => true,
        Opening::No => false,
        Opening::IfSomebodySits => somebody_sits(),
    };
    if !wanted || !page.is_file() {
        return;
    }
    let mut command = opener(page);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.spawn() {
        // Waited for by a thread of its own, so that it leaves no zombie behind.
        Ok(mut child) => drop(std::thread::spawn(move || child.wait())),
        Err(err) => out::note(&format!("no browser was opened: {err}")),
    }
}

fn somebody_sits() -> bool {
    let set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let screen = !cfg!(target_os = "linux") || set("DISPLAY") || set("WAYLAND_DISPLAY");
    out::person_watches() && screen && !set("CI") && !set("SSH_CONNECTION")
}

#[cfg(target_os = "macos")]
fn opener(page: &Path) -> Command {
    let mut command = Command::new("open");
    command.arg(page);
    command
}

#[cfg(windows)]
fn opener(page: &Path) -> Command {
    let mut command = Command::new("explorer");
    command.arg(page);
    command
}

#[cfg(not(any(target_os = "macos", windows)))]
fn opener(page: &Path) -> Command {
    let mut command = Command::new("xdg-open");
    command.arg(page);
    command
}
