//! Makes this machine's release archives: with `dist` where it is installed, else the same contents by hand.

use std::{fs, path::PathBuf};

use anyhow::{Context as _, Result};

use crate::{sh, task::Flags};

pub(crate) fn run(flags: &Flags) -> Result<()> {
    let plan = flags.has("--plan");
    if sh::has("dist", "--version") {
        let words: &[&str] = if plan { &["plan"] } else { &["build", "--artifacts", "local"] };
        return sh::run("dist", sh::program("dist").args(words));
    }
    let host = host()?;
    let name = format!("{BINARY}-{host}");
    println!("{name}.tar.gz holds {BINARY}, {}", FILES.join(", "));
    if plan {
        return Ok(());
    }
    sh::run("release binary", sh::cargo().args(["build", "--profile", "dist", "--locked", "--bin", BINARY]))?;
    let out = sh::root().join("target/distrib");
    let folder = out.join(&name);
    fs::create_dir_all(&folder)?;
    let executable = format!("{BINARY}{}", std::env::consts::EXE_SUFFIX);
    fs::copy(sh::root().join("target/dist").join(&executable), folder.join(&executable)).context("copy the binary")?;
    for file in FILES {
        fs::copy(sh::root().join(file), folder.join(file)).with_context(|| format!("copy {file}"))?;
    }
    let archive = out.join(format!("{name}.tar.gz"));
    sh::run("archive", sh::program("tar").arg("-czf").arg(&archive).arg("-C").arg(&out).arg(&name))?;
    println!("{}", archive.display());
    checksum(&archive)
}

fn checksum(archive: &PathBuf) -> Result<()> {
    if !sh::has("sha256sum", "--version") {
        return Ok(());
    }
    let line = sh::output(sh::program("sha256sum").arg(archive))?;
    let digest = line.split_whitespace().next().unwrap_or_default();
    let name = archive.file_name().unwrap_or_default().to_string_lossy();
    fs::write(archive.with_extension("gz.sha256"), format!("{digest} *{name}\n"))?;
    println!("{digest}");
    Ok(())
}

/// The triple this toolchain builds for.
fn host() -> Result<String> {
    let said = sh::output(sh::program("rustc").arg("-vV"))?;
    let line = said.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned).context("rustc does not name its host")
}

const BINARY: &str = "graphmind";
const FILES: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];
