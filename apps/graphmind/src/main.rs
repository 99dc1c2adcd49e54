//! Parses, composes, runs, exits.

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

mod alive;
mod args;
mod browser;
mod client;
mod clock;
mod code;
mod commands;
mod compose;
mod demo;
mod exit;
mod fault;
mod hosting;
mod ids;
mod ingest;
mod out;
mod progress;
mod runfile;
mod shelf;
mod text;

fn main() -> ExitCode {
    let argv: Vec<OsString> = env::args_os().skip(1).collect();
    let reader = args::reader(&argv);
    compose::run(args::parse(&argv), reader)
}
