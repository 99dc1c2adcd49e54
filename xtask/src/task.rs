//! The tasks there are, their flags and their help. Parses words; runs nothing.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Demo,
    Test,
    Ci,
    Tidy,
    E2e,
    Bench,
    Dist,
}

#[derive(Debug)]
pub(crate) enum Asked {
    Help(String),
    Run(Task, Flags),
}

/// What stood behind the task's name: known flags, and words that are handed on to the tool below.
#[derive(Debug, Default)]
pub(crate) struct Flags {
    flags: Vec<String>,
    pub(crate) rest: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    Task(String),
    Flag(Task, String),
}

impl Task {
    pub(crate) fn parse(words: &[String]) -> Result<Asked, Wrong> {
        let Some((name, words)) = words.split_first() else {
            return Ok(Asked::Help(overview()));
        };
        if matches!(name.as_str(), "help" | "--help" | "-h") {
            let named = words.first().and_then(|word| named(word));
            return Ok(Asked::Help(named.map_or_else(overview, Self::help)));
        }
        let Some(task) = named(name) else {
            return Err(Wrong::Task(name.clone()));
        };
        let mut flags = Flags::default();
        for (at, word) in words.iter().enumerate() {
            match word.as_str() {
                "--help" | "-h" => return Ok(Asked::Help(task.help())),
                "--" => {
                    flags.rest = words.iter().skip(at + 1).cloned().collect();
                    break;
                }
                known if task.flags().iter().any(|flag| flag.0 == known) => {
                    flags.flags.push(known.to_owned());
                }
                plain if !plain.starts_with('-') && task.takes_words() => flags.rest.push(plain.to_owned()),
                unknown => return Err(Wrong::Flag(task, unknown.to_owned())),
            }
        }
        Ok(Asked::Run(task, flags))
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Demo => "demo",
            Self::Test => "test",
            Self::Ci => "ci",
            Self::Tidy => "tidy",
            Self::E2e => "e2e",
            Self::Bench => "bench",
            Self::Dist => "dist",
        }
    }

    fn says(self) -> &'static str {
        match self {
            Self::Demo => "build graphmind and a demo server, hold a failing call, show how to release it",
            Self::Test => "set up what the tests need, then run all of them",
            Self::Ci => "everything a pull request must pass: fmt, clippy, tidy, lone crates, tests, docs",
            Self::Tidy => "check the house rules: arrows, headers, budgets, words, links",
            Self::E2e => "only the tests of real binaries against real peers",
            Self::Bench => "measure, side by side with a floor and with other proxies; print one table",
            Self::Dist => "make this machine's release archives",
        }
    }

    fn flags(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Demo => &[("--auto", "release the held call by itself and end")],
            Self::Test => &[("--no-e2e", "leave out crates/e2e, which needs node, python and a browser")],
            Self::Bench => &[
                ("--quick", "short rounds: does the bench work, not how fast are we"),
                ("--no-peers", "leave out the Node and Python proxies"),
                ("--readme", "write the table into the README"),
            ],
            Self::Dist => &[("--plan", "only say what a release would hold")],
            Self::Ci | Self::Tidy | Self::E2e => &[],
        }
    }

    fn takes_words(self) -> bool {
        matches!(self, Self::E2e | Self::Bench)
    }

    fn help(self) -> String {
        let words = match self {
            Self::E2e => " [TEST NAME…]",
            Self::Bench => " [FIGURE…]",
            Self::Test => " [-- RUNNER ARGUMENT…]",
            Self::Demo | Self::Ci | Self::Tidy | Self::Dist => "",
        };
        let mut text = format!("cargo xtask {}{words}\n\n  {}\n", self.name(), self.says());
        for (flag, says) in self.flags() {
            text.push_str(&format!("\n  {flag:<12} {says}"));
        }
        text
    }
}

impl Flags {
    pub(crate) fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|given| given == flag)
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Task(name) => write!(out, "no such task: {name}"),
            Self::Flag(task, flag) => write!(out, "`{}` does not know: {flag}", task.name()),
        }
    }
}

fn named(name: &str) -> Option<Task> {
    ALL.into_iter().find(|task| task.name() == name)
}

fn overview() -> String {
    let mut text = String::from("cargo xtask TASK [FLAG…]    (`cargo xtask help TASK` says more)\n");
    for task in ALL {
        text.push_str(&format!("\n  {:<6} {}", task.name(), task.says()));
    }
    text
}

const ALL: [Task; 7] = [Task::Demo, Task::Test, Task::Ci, Task::Tidy, Task::E2e, Task::Bench, Task::Dist];

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &str) {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let seen = match Task::parse(&words) {
            Ok(Asked::Help(text)) => format!("help: {}", text.lines().next().unwrap_or_default()),
            Ok(Asked::Run(task, flags)) => format!("{} {:?} {:?}", task.name(), flags.flags, flags.rest),
            Err(wrong) => format!("wrong: {wrong}"),
        };
        assert_eq!(seen, expected, "{line}");
    }

    #[test]
    fn words_become_tasks() {
        check("", "help: cargo xtask TASK [FLAG…]    (`cargo xtask help TASK` says more)");
        check("help e2e", "help: cargo xtask e2e [TEST NAME…]");
        check("demo --help", "help: cargo xtask demo");
        check("demo --auto", "demo [\"--auto\"] []");
        check("test -- --nocapture", "test [] [\"--nocapture\"]");
        check("e2e hold retry", "e2e [] [\"hold\", \"retry\"]");
        check("tidy --auto", "wrong: `tidy` does not know: --auto");
        check("tidy up", "wrong: `tidy` does not know: up");
        check("destroy", "wrong: no such task: destroy");
    }
}
