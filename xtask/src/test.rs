//! Sets up what tests need, runs them with whichever runner is there, and fails when one of them does.

use std::process::Command;

use anyhow::{Result, bail};

use crate::{
    peers, sh,
    task::Flags,
    tidy::{self},
};

pub(crate) fn run(flags: &Flags) -> Result<()> {
    let with_e2e = !flags.has("--no-e2e");
    let mut runner = runner();
    if with_e2e {
        peers::e2e(&mut runner.command)?;
        build()?;
        runner.command.arg("--workspace");
    } else {
        runner.command.args(["--workspace", "--exclude", E2E]);
    }
    runner.command.args(&flags.rest);
    let mut failed = Vec::new();
    // both runs happen, so that one failure does not hide another
    if let Err(error) = sh::run("tests", &mut runner.command) {
        failed.push(format!("{error:#}"));
    }
    if !runner.runs_doc_tests && tidy::has_doc_tests(&sh::root())? {
        let mut command = sh::cargo();
        command.args(["test", "--workspace", "--doc"]);
        if let Err(error) = sh::run("tests in documentation", &mut command) {
            failed.push(format!("{error:#}"));
        }
    }
    if !failed.is_empty() {
        bail!("{}", failed.join("; "));
    }
    Ok(())
}

/// Only the end-to-end tests, or those of them that are named.
pub(crate) fn e2e(flags: &Flags) -> Result<()> {
    let mut runner = runner();
    peers::e2e(&mut runner.command)?;
    build()?;
    runner.command.args(["--package", E2E]);
    if runner.runs_doc_tests {
        runner.command.args(&flags.rest);
    } else if !flags.rest.is_empty() {
        // a word names a test, or the file it is in; asked for a file that is not there, the runner gives up
        let files = sh::root().join("crates/e2e/tests");
        let named = flags.rest.iter().map(|word| {
            let file = files.join(word).with_extension("rs").is_file();
            if file { format!("test({word}) + binary({word})") } else { format!("test({word})") }
        });
        let named: Vec<String> = named.collect();
        runner.command.args(["--filterset", &named.join(" + ")]);
    }
    sh::run("end-to-end tests", &mut runner.command)
}

struct Runner {
    command: Command,
    runs_doc_tests: bool,
}

/// The faster runner where it is installed, else cargo's own.
fn runner() -> Runner {
    let mut command = sh::cargo();
    let nextest = sh::output(sh::cargo().args(["nextest", "--version"])).is_ok();
    if nextest {
        command.args(["nextest", "run", "--no-fail-fast", "--cargo-quiet"]);
    } else {
        command.args(["test", "--no-fail-fast", "--quiet"]);
    }
    // a snapshot that differs is a failure, never a new file
    command.env("INSTA_UPDATE", "no");
    Runner { command, runs_doc_tests: !nextest }
}

/// The binaries that end-to-end tests start.
fn build() -> Result<()> {
    sh::run("binaries", sh::cargo().args(["build", "--quiet", "--workspace", "--bins"]))
}

const E2E: &str = "lockgate-e2e";
