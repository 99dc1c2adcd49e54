//! `completions`: a script that teaches a shell our flags.

use clap_complete::{Shell, generate};

use crate::args;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::out;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Shell to write for
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Fault> {
    let mut script = Vec::new();
    generate(args.shell, &mut args::whole(), "graphmind", &mut script);
    out::bytes(&script)?;
    Ok(Exit::Done)
}

const EXAMPLES: &str = "\
Examples:
  graphmind completions bash > ~/.local/share/bash-completion/completions/graphmind
  graphmind completions zsh > ~/.zfunc/_graphmind
  graphmind completions fish > ~/.config/fish/completions/graphmind.fish";
