//! What to write into the configuration of an MCP host so that `graphmind mcp-proxy` stands in front of a server.

use clap::ValueEnum;
use serde_json::json;

use crate::text::Shell;

/// A host whose configuration we know how to spell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Host {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    Vscode,
    Codex,
    Plain,
}

/// Text to copy, and the sentence that says where it goes.
pub(super) struct Snippet {
    pub(super) place: &'static str,
    pub(super) text: String,
}

impl Host {
    pub(super) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    pub(super) fn snippet(self, server: &str, program: &str, command: &[String]) -> Snippet {
        let args: Vec<String> = proxied(program, command).into_iter().skip(1).collect();
        match self {
            Host::ClaudeDesktop => Snippet {
                place: "claude_desktop_config.json (Settings, Developer, Edit Config), then restart the app:",
                text: entry("mcpServers", server, "", (program, &args)),
            },
            Host::ClaudeCode => Snippet {
                place: "In the project's folder:",
                text: format!("claude mcp add {server} -- {}", shell_line(program, command)),
            },
            Host::Cursor => {
                Snippet { place: ".cursor/mcp.json:", text: entry("mcpServers", server, "", (program, &args)) }
            }
            Host::Vscode => Snippet {
                place: ".vscode/mcp.json:",
                text: entry("servers", server, "      \"type\": \"stdio\",\n", (program, &args)),
            },
            Host::Codex => Snippet {
                place: "~/.codex/config.toml:",
                text: format!("[mcp_servers.{server}]\ncommand = {}\nargs = {}", json!(program), json!(args)),
            },
            Host::Plain => {
                Snippet { place: "In the place of the server's command:", text: shell_line(program, command) }
            }
        }
    }
}

/// The words of the command that runs a server behind the proxy.
pub(super) fn proxied(program: &str, command: &[String]) -> Vec<String> {
    let ours = [program, "mcp-proxy", "--"].map(str::to_owned);
    ours.into_iter().chain(command.iter().cloned()).collect()
}

/// The same, to paste into a shell.
pub(super) fn shell_line(program: &str, command: &[String]) -> String {
    let quoted = proxied(program, command).into_iter().map(|word| {
        let word = Shell::HERE.word(&word).or_else(|| Shell::Posix.word(&word));
        word.unwrap_or_else(|| "?".to_owned())
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// One server in a list of servers, as JSON with the command before its arguments.
fn entry(list: &str, server: &str, first: &str, (program, args): (&str, &[String])) -> String {
    let (server, program, args) = (json!(server), json!(program), json!(args));
    format!(
        "{{\n  \"{list}\": {{\n    {server}: {{\n{first}      \"command\": {program},\n      \"args\": {args}\n    }}\n  }}\n}}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(host: Host, expected: &str) {
        let command = ["node", "my server.js"].map(str::to_owned);
        assert_eq!(host.snippet("trip", "/opt/graphmind", &command).text, expected);
    }

    #[test]
    fn every_host_reads_its_lines() {
        let mcp_servers = "{\n  \"mcpServers\": {\n    \"trip\": {\n      \"command\": \"/opt/graphmind\",\n      \
            \"args\": [\"mcp-proxy\",\"--\",\"node\",\"my server.js\"]\n    }\n  }\n}";
        check(Host::ClaudeDesktop, mcp_servers);
        check(Host::Cursor, mcp_servers);
        let quoted = if cfg!(windows) { "\"my server.js\"" } else { "'my server.js'" };
        check(Host::ClaudeCode, &format!("claude mcp add trip -- /opt/graphmind mcp-proxy -- node {quoted}"));
        check(
            Host::Codex,
            "[mcp_servers.trip]\ncommand = \"/opt/graphmind\"\nargs = [\"mcp-proxy\",\"--\",\"node\",\"my server.js\"]",
        );
        check(Host::Plain, &format!("/opt/graphmind mcp-proxy -- node {quoted}"));
        let vscode = Host::Vscode.snippet("trip", "/opt/graphmind", &["node".to_owned()]).text;
        let vscode: serde_json::Value = serde_json::from_str(&vscode).expect("JSON");
        assert_eq!(vscode.pointer("/servers/trip/type"), Some(&json!("stdio")));
    }

    #[test]
    fn toml_of_codex_is_toml() {
        let odd = ["say \"hi\"\\".to_owned()];
        let text = Host::Codex.snippet("trip", "C:\\graphmind.exe", &odd).text;
        let table: toml::Table = text.parse().expect("TOML");
        let args = table["mcp_servers"]["trip"]["args"].as_array().expect("a list");
        assert_eq!(args.last().and_then(toml::Value::as_str), Some("say \"hi\"\\"));
    }
}
