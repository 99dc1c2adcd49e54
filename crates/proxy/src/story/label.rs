//! What is shown of the command line. Names and plain words may be seen; where a switch hides inputs, only names of files are.

use lockgate_protocol::edit::Hidden;
use lockgate_protocol::json::{ObjectWriter, Raw};

/// The command that is proxied.
#[derive(Debug, Clone)]
pub struct Command {
    /// What is started.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// How much of it may be told.
    pub shown: Shown,
}

/// Which sides of the session a switch keeps back (wire §4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    /// The command's arguments.
    pub arguments: Hidden,
    /// The input of tools.
    pub tool_inputs: Hidden,
    /// The output of tools.
    pub tool_outputs: Hidden,
}

impl Shown {
    /// Nothing is kept back.
    pub const ALL: Shown = Shown { arguments: Hidden::No, tool_inputs: Hidden::No, tool_outputs: Hidden::No };
}

impl Command {
    /// What the program that proxies this command calls itself, and the run too: lists show it, and there may be many.
    pub fn app(&self) -> String {
        format!("mcp-proxy: {}", self.label())
    }

    /// A short name: files by their last part, other arguments as they are, the end when it is too long (hub §12.4).
    pub(crate) fn label(&self) -> String {
        let mut words = vec![base_name(&self.program).to_owned()];
        for arg in &self.args {
            match (is_path(arg), self.shown.arguments) {
                (true, _) => words.push(base_name(arg).to_owned()),
                (false, Hidden::No) => words.push(arg.clone()),
                (false, Hidden::Yes) => {}
            }
        }
        let label = words.join(" ");
        let surplus = label.chars().count().saturating_sub(LONGEST);
        if surplus == 0 {
            return label;
        }
        format!("…{}", label.chars().skip(surplus + 1).collect::<String>())
    }

    /// `meta` of the run.
    pub(crate) fn meta(&self) -> Raw {
        Raw::object(|out| {
            out.str("name", &self.app()).str("transport", "stdio").str("command", &self.program);
            if self.shown.arguments == Hidden::No {
                self.write_args(out);
            }
        })
    }

    /// Input of the session; the usual switches apply to it later.
    pub(crate) fn input(&self) -> Raw {
        Raw::object(|out| {
            out.str("command", &self.program);
            self.write_args(out);
        })
    }

    fn write_args(&self, out: &mut ObjectWriter<'_>) {
        out.strs("args", &self.args);
    }
}

/// Plain file paths only: no option, no assignment, no URL.
fn is_path(arg: &str) -> bool {
    let looks = arg.contains(['/', '\\']);
    looks
        && !arg.starts_with('-')
        && !arg.contains('=')
        && !arg.contains("://")
        && !arg.chars().any(char::is_whitespace)
}

fn base_name(path: &str) -> &str {
    let trimmed = path.trim_end_matches(['/', '\\']);
    trimmed.rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).unwrap_or(path)
}

const LONGEST: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &[&str], shown: &str, hidden: &str) {
        let command = |arguments| Command {
            program: words[0].to_owned(),
            args: words[1..].iter().map(|&word| word.to_owned()).collect(),
            shown: Shown { arguments, ..Shown::ALL },
        };
        assert_eq!(command(Hidden::No).label(), shown);
        assert_eq!(command(Hidden::Yes).label(), hidden);
    }

    #[test]
    fn labels_name_files_by_their_last_part() {
        check(&["/usr/bin/node", "/home/me/server.js", "--port", "3"], "node server.js --port 3", "node server.js");
        check(&["npx", "-y", "@acme/parcels"], "npx -y parcels", "npx parcels");
        check(
            &["x", "--root=/home/me", "token=a/b", "https://me:pw@host/x"],
            "x --root=/home/me token=a/b https://me:pw@host/x",
            "x",
        );
        check(&[r"C:\bin\node.exe", r"C:\me\s.js"], "node.exe s.js", "node.exe s.js");
        check(&["/"], "/", "/");
    }

    #[test]
    fn long_labels_keep_their_end() {
        let long = "x".repeat(100);
        check(&["run", &long, "end"], &format!("…{} end", "x".repeat(59)), "run");
    }

    #[test]
    fn hidden_arguments_are_not_in_the_run() {
        let command = Command {
            program: "run".to_owned(),
            args: vec!["--token".to_owned(), "secret".to_owned()],
            shown: Shown { arguments: Hidden::Yes, ..Shown::ALL },
        };
        assert_eq!(format!("{:?}", command.meta()), r#"{"name":"mcp-proxy: run","transport":"stdio","command":"run"}"#);
    }
}
