//! Sets up the real peers that tests and bench drive: npm packages in place, Python ones in environments below `target`.
//! Does nothing when they already stand as their lists say.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail};

use crate::sh;

/// The npm packages of one folder, installed from its lock file.
pub(crate) fn npm(folder: &str) -> Result<PathBuf> {
    let folder = sh::root().join(folder);
    let lock = fs::read_to_string(folder.join("package-lock.json")).context("read the npm lock file")?;
    let stamp = folder.join("node_modules").join(STAMP);
    if !stands(&stamp, &lock) {
        need("node", "--version", "install Node.js 20 or later")?;
        let mut command = sh::program(if cfg!(windows) { "npm.cmd" } else { "npm" });
        command.args(["ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel", "error"]).current_dir(&folder);
        sh::run(&format!("npm packages of {}", named(&folder)), &mut command)?;
        fs::write(&stamp, lock)?;
    }
    Ok(folder)
}

/// The Python packages of one list, in an environment of its own. Returns its interpreter.
pub(crate) fn python(list: &str) -> Result<PathBuf> {
    let list = sh::root().join(list);
    let wanted = fs::read_to_string(&list).with_context(|| format!("read {}", list.display()))?;
    let name = list.file_stem().context("a list of packages has a name")?;
    let home = sh::root().join("target/peers").join(name);
    let python = if cfg!(windows) { home.join("Scripts/python.exe") } else { home.join("bin/python") };
    let stamp = home.join(STAMP);
    if !stands(&stamp, &wanted) {
        let base = if cfg!(windows) { "python" } else { "python3" };
        need(base, "--version", "install Python 3.10 or later")?;
        sh::run(
            &format!("Python environment {}", named(&home)),
            sh::program(base).args(["-m", "venv", "--clear"]).arg(&home),
        )
        .context("on Debian and Ubuntu this needs the package python3-venv")?;
        let mut install = sh::program(&python);
        install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "-r"]).arg(&list);
        sh::run(&format!("Python packages of {}", named(&list)), &mut install)?;
        fs::write(&stamp, wanted)?;
    }
    Ok(python)
}

/// A Chromium. Where there is none it is installed, if this is a Debian and we may.
fn browser() -> Result<PathBuf> {
    if let Some(found) = find_browser() {
        return Ok(found);
    }
    let may =
        sh::has("apt-get", "--version") && sh::output(sh::program("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if may {
        let mut install = sh::program("apt-get");
        install.args(["install", "--yes", "--quiet", "--no-install-recommends", "chromium"]);
        install.env("DEBIAN_FRONTEND", "noninteractive");
        sh::run("list of Debian's packages", sh::program("apt-get").args(["update", "--quiet"]))?;
        sh::run("Chromium", &mut install)?;
    }
    find_browser().context(
        "no Chromium is on the search path\nhint: install one, e.g. Debian's package chromium, or leave these tests out: \
         cargo xtask test --no-e2e",
    )
}

fn find_browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let files = BROWSERS.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    files.chain(APPLICATIONS.iter().map(PathBuf::from)).find(|file| file.is_file())
}

/// Everything the end-to-end tests need, put into a test runner's environment.
pub(crate) fn e2e(runner: &mut Command) -> Result<()> {
    let scripts = npm("crates/e2e/peers")?;
    runner.env("LOCKGATE_E2E_PEERS", scripts);
    runner.env("LOCKGATE_E2E_FASTMCP", python("crates/e2e/peers/fastmcp.txt")?);
    runner.env("LOCKGATE_E2E_SDK", python("crates/e2e/peers/graphmind-sdk.txt")?);
    runner.env("LOCKGATE_E2E_BROWSER", browser()?);
    runner.env("LOCKGATE_E2E_BIN", sh::root().join("target/debug"));
    Ok(())
}

fn stands(stamp: &Path, wanted: &str) -> bool {
    fs::read_to_string(stamp).is_ok_and(|found| found == wanted)
}

fn need(program: &str, argument: &str, hint: &str) -> Result<()> {
    if !sh::has(program, argument) {
        bail!("{program} does not answer\nhint: {hint}");
    }
    Ok(())
}

fn named(path: &Path) -> String {
    path.strip_prefix(sh::root()).unwrap_or(path).display().to_string()
}

/// As they are called on the search path, and where they lie off it.
const BROWSERS: [&str; 5] = ["chromium", "google-chrome", "google-chrome-stable", "chromium-browser", "chrome.exe"];
const APPLICATIONS: [&str; 2] = [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
];

const STAMP: &str = ".installed-from";
