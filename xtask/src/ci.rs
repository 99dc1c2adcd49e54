//! What a pull request must pass, in the order in which it is cheapest to fail.

use anyhow::Result;

use crate::{sh, task::Flags, test, tidy};

pub(crate) fn run() -> Result<()> {
    sh::run("format", sh::cargo().args(["fmt", "--all", "--check"]))?;
    tidy::run()?;
    sh::run(
        "clippy",
        sh::cargo().args(["clippy", "--quiet", "--workspace", "--all-targets", "--", "--deny", "warnings"]),
    )?;
    for package in tidy::libraries(&sh::root())? {
        sh::run(&format!("{package} alone"), sh::cargo().args(["check", "--quiet", "--package", &package]))?;
    }
    test::run(&Flags::default())?;
    sh::run(
        "docs",
        sh::cargo().args(["doc", "--quiet", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "--deny warnings"),
    )?;
    if sh::has("dist", "--version") {
        sh::run("release plan", sh::program("dist").arg("plan"))?;
    } else {
        eprintln!("── release plan: left out, the tool `dist` is not installed here");
    }
    Ok(())
}
