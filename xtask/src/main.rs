//! Tasks of this workspace, started as `cargo xtask TASK`. Knows none of our crates: it only builds and runs them.

mod bench;
mod ci;
mod demo;
mod dist;
mod peers;
mod sh;
mod task;
mod test;
mod tidy;

use std::process::ExitCode;

use task::{Asked, Task};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let asked = match Task::parse(&words) {
        Ok(asked) => asked,
        Err(wrong) => {
            eprintln!("error: {wrong}\nhint: `cargo xtask help` lists the tasks");
            return ExitCode::from(2);
        }
    };
    let done = match asked {
        Asked::Help(text) => {
            println!("{text}");
            Ok(())
        }
        Asked::Run(task, flags) => run(task, &flags),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task, flags: &task::Flags) -> anyhow::Result<()> {
    match task {
        Task::Demo => demo::run(flags),
        Task::Test => test::run(flags),
        Task::Ci => ci::run(),
        Task::Tidy => tidy::run(),
        Task::E2e => test::e2e(flags),
        Task::Bench => bench::run(flags),
        Task::Dist => dist::run(flags),
    }
}
