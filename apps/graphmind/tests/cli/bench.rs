//! A home of its own for each test, and the program run in it.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A folder that is home, working directory and whatever else a test needs.
pub(crate) struct Bench {
    dir: TempDir,
}

impl Bench {
    pub(crate) fn new() -> Bench {
        Bench { dir: tempfile::tempdir().expect("a folder") }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("written");
    }

    /// The program with these words, in an environment that nobody has set anything in.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_graphmind"));
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("GRAPHMIND")) {
            command.env_remove(name);
        }
        command.args(words).current_dir(self.dir.path()).env("GRAPHMIND_HOME", self.dir.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs it to its end and shows all that can be seen of it, without what differs from run to run.
    pub(crate) fn shown(&self, words: &[&str]) -> String {
        self.shown_with(words, "")
    }

    pub(crate) fn shown_with(&self, words: &[&str], input: &str) -> String {
        let mut child = self.command(words).stdin(Stdio::piped()).spawn().expect("starts");
        let _ = child.stdin.take().expect("piped").write_all(input.as_bytes());
        let output = child.wait_with_output().expect("ends");
        let mut shown =
            format!("exit {}\n", output.status.code().map_or("by signal".to_owned(), |code| code.to_string()));
        for (name, bytes) in [("out", output.stdout), ("err", output.stderr)] {
            for line in String::from_utf8_lossy(&bytes).lines() {
                let _ = writeln!(shown, "{name} {line}");
            }
        }
        self.filtered(&shown)
    }

    fn filtered(&self, text: &str) -> String {
        // Nothing that is compared has another backslash in it; within JSON they are doubled.
        let slashed = |text: &str| {
            if cfg!(windows) { text.replace(r"\\", "/").replace('\\', "/") } else { text.to_owned() }
        };
        let (dir, program) = (slashed(&self.dir.path().to_string_lossy()), slashed(env!("CARGO_BIN_EXE_graphmind")));
        mask(&slashed(text).replace(&dir, "[HOME]").replace(&program, "[PROGRAM]"))
    }
}

/// Ids of imported runs differ each time.
fn mask(text: &str) -> String {
    let mut pieces = text.split("imp_");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let id = piece.chars().take_while(char::is_ascii_hexdigit).count();
        out.push_str("[RUN]");
        out.push_str(piece.get(id..).unwrap_or_default());
    }
    out
}
