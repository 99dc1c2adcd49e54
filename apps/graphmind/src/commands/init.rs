//! `init`: looks at what a project depends on and says how to watch it. Asks nothing, and changes nothing unless told to.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::args::Json;
use crate::code::Code;
use crate::exit::Exit;
use crate::fault::{Fault, Reader};
use crate::out;
use crate::text::visible;

mod hosts;
mod manifest;
mod recipes;

use hosts::Host;
use recipes::Recipe;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Project folder
    #[arg(default_value = ".")]
    dir: PathBuf,
    /// Show what to put into this host's configuration
    #[arg(long, value_name = "HOST")]
    host: Option<Host>,
    /// Run the install command
    #[arg(long)]
    install: bool,
    /// Write an example file into the project
    #[arg(long)]
    write: bool,
    #[command(flatten)]
    json: Json,
    /// The server's own command, for the host's configuration
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Fault> {
    let manifests = manifest::read(&args.dir)?;
    let recipes = recipes::matching(&manifests);
    let mut command: Vec<String> = args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    if command.is_empty() {
        command = manifest::server_command(&manifests).unwrap_or_else(|| vec![PLACEHOLDER.to_owned()]);
    }
    let advice = Advice {
        recipes: recipes.iter().map(|(recipe, because)| (*recipe, because.as_str())).collect(),
        host: args.host.map(|host| (host, host.snippet(&server_name(args), &program(), &command))),
        command,
    };
    if args.install {
        install(&args.dir, &advice)?;
    }
    let written = if args.write { write_example(&args.dir, &advice)? } else { None };
    match args.json.reader() {
        Reader::Person => out::bytes(advice.text(written.as_deref()).as_bytes())?,
        Reader::Program => out::json(&advice.json(written.as_deref()).to_string())?,
    }
    Ok(Exit::Done)
}

/// All that is to be said about one project.
struct Advice<'a> {
    recipes: Vec<(&'static Recipe, &'a str)>,
    command: Vec<String>,
    host: Option<(Host, hosts::Snippet)>,
}

impl Advice<'_> {
    fn text(&self, written: Option<&Path>) -> String {
        let mut out = String::new();
        for (recipe, because) in &self.recipes {
            out += &format!("{} ({because})\n  {}\n", recipe.stack, recipe.advice);
            if let Some(install) = recipe.install {
                out += &format!("\n  {install}\n");
            }
            if let Some(example) = &recipe.example {
                out += &format!("\n{}", indent(example.text));
            }
            out.push('\n');
        }
        if self.recipes.is_empty() {
            out += "No MCP or agent library found here. Any MCP server on stdio can be watched without a change to it.\n\n";
        }
        match &self.host {
            Some((_, snippet)) => out += &format!("{}\n\n{}\n", snippet.place, indent(&snippet.text)),
            None => {
                let line = hosts::shell_line("graphmind", &self.command);
                out += &format!("Put this in the place of the server's command in your MCP host:\n\n  {line}\n\n");
                out +=
                    "For the exact lines: graphmind init --host claude-desktop|claude-code|cursor|vscode|codex|plain\n";
            }
        }
        if let Some(path) = written {
            out += &format!("wrote {}\n", visible(&path.to_string_lossy()));
        }
        out += "Then start the hub with `graphmind` and use the host as always.\n";
        out
    }

    fn json(&self, written: Option<&Path>) -> Value {
        let recipe = |(recipe, because): &(&Recipe, &str)| {
            json!({
                "stack": recipe.stack, "because": because, "advice": recipe.advice,
                "install": recipe.install, "snippet": recipe.example.as_ref().map(|example| example.text),
            })
        };
        let host = self.host.as_ref();
        json!({
            "found": self.recipes.iter().map(recipe).collect::<Vec<_>>(),
            "proxy": hosts::proxied("graphmind", &self.command),
            "host": host.map(|(host, snippet)| json!({"name": host.name(), "place": snippet.place, "snippet": snippet.text})),
            "written": written.map(Path::to_string_lossy),
        })
    }
}

/// Runs each install command once, its output on stderr.
fn install(dir: &Path, advice: &Advice<'_>) -> Result<(), Fault> {
    let mut commands: Vec<&str> = advice.recipes.iter().filter_map(|(recipe, _)| recipe.install).collect();
    commands.dedup();
    if commands.is_empty() {
        out::note("nothing to install: what is here is watched from outside");
    }
    for line in commands {
        let mut words = line.split(' ');
        let Some(program) = words.next() else { continue };
        out::note(&format!("running {line}"));
        let status =
            Command::new(program).args(words).current_dir(dir).stdin(Stdio::null()).stdout(std::io::stderr()).status();
        match status {
            Ok(status) if status.success() => {}
            Ok(status) => {
                return Err(Fault::new(Code::Unexpected, format!("`{line}` failed: {status}")));
            }
            Err(err) => return Err(Fault::io(format!("run `{line}`"), &err)),
        }
    }
    Ok(())
}

/// Writes the first recipe's example. A file that is there stays as it is.
fn write_example(dir: &Path, advice: &Advice<'_>) -> Result<Option<PathBuf>, Fault> {
    let Some(example) = advice.recipes.iter().find_map(|(recipe, _)| recipe.example.as_ref()) else {
        out::note("no example to write: what is here is watched from outside");
        return Ok(None);
    };
    let path = dir.join(example.file);
    let doing = || format!("write {}", path.display());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|err| Fault::io(doing(), &err))?;
    }
    match fs::File::create_new(&path).and_then(|mut file| std::io::Write::write_all(&mut file, example.text.as_bytes()))
    {
        Ok(()) => Ok(Some(path)),
        Err(err) if err.kind() == std::io::ErrorKind::AlreadyExists => {
            let fault = Fault::new(Code::Usage, format!("{} is there already", path.display()));
            Err(fault.hint("move it away, or leave out `--write`"))
        }
        Err(err) => Err(Fault::io(doing(), &err)),
    }
}

/// The server's name in a host's list: that of its folder.
fn server_name(args: &Args) -> String {
    let folder = fs::canonicalize(&args.dir).ok();
    let name = folder.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let name: String = name.chars().map(|c| if fits(c) { c } else { '-' }).collect();
    let name = name.trim_matches('-').to_owned();
    if name.is_empty() { "server".to_owned() } else { name }
}

/// Where this program is: hosts started from a desktop do not see the shell's search path.
fn program() -> String {
    std::env::current_exe().map_or_else(|_| "graphmind".to_owned(), |path| path.to_string_lossy().into_owned())
}

fn indent(text: &str) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") }).collect()
}

const PLACEHOLDER: &str = "YOUR-SERVER-COMMAND";
const EXAMPLES: &str = "\
Examples:
  graphmind init                                         what to do in this folder
  graphmind init --host cursor                           the lines for .cursor/mcp.json
  graphmind init --host claude-code -- npx -y my-server  the same for a server that is no project of yours
  graphmind init --install --write                       install the adapter, write an example file";
