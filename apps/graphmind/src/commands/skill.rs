//! `skill`: the file that teaches a coding agent to wait for held calls and release them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::args::Json;
use crate::code::Code;
use crate::exit::Exit;
use crate::fault::{Fault, Reader};
use crate::out;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Write the file below this folder instead of printing it
    #[arg(long)]
    install: bool,
    /// Replace a file that differs
    #[arg(long, requires = "install")]
    force: bool,
    #[command(flatten)]
    json: Json,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Fault> {
    let reader = args.json.reader();
    if !args.install {
        match reader {
            Reader::Person => out::bytes(TEXT.as_bytes())?,
            Reader::Program => out::json(&json!({ "skill": TEXT }).to_string())?,
        }
        return Ok(Exit::Done);
    }
    let path: PathBuf = FOLDER.iter().collect::<PathBuf>().join("SKILL.md");
    let known = match fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(err) if err.kind() == std::io::ErrorKind::NotFound => None,
        Err(err) => return Err(Fault::file(&path, &err)),
    };
    if known.as_deref().is_some_and(|text| text != TEXT) && !args.force {
        let fault = Fault::new(Code::Usage, format!("{} is there already and differs", path.display()));
        return Err(fault.hint("replace it with `graphmind skill --install --force`"));
    }
    if known.as_deref() != Some(TEXT) {
        write(&path)?;
    }
    match reader {
        Reader::Person => out::line(&format!("installed {}", path.display()))?,
        Reader::Program => out::json(&json!({ "installed": path.to_string_lossy() }).to_string())?,
    }
    Ok(Exit::Done)
}

fn write(path: &Path) -> Result<(), Fault> {
    let doing = || format!("write {}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|err| Fault::io(doing(), &err))?;
    }
    fs::write(path, TEXT).map_err(|err| Fault::io(doing(), &err))
}

const TEXT: &str = include_str!("skill/SKILL.md");
const FOLDER: [&str; 3] = [".claude", "skills", "graphmind"];
const EXAMPLES: &str = "\
Examples:
  graphmind skill                       print it
  graphmind skill --install             write .claude/skills/graphmind/SKILL.md
  graphmind skill --install --force     replace an older one";
