//! Help texts teach, so they are looked at as a whole.

use crate::bench::Bench;

fn check(name: &str, words: &[&str]) {
    insta::assert_snapshot!(name, Bench::new().shown(words));
}

#[test]
fn every_command_has_its_help() {
    check("help", &["--help"]);
    for command in [
        "serve",
        "mcp-proxy",
        "demo",
        "pauses",
        "wait",
        "resume",
        "runs",
        "record",
        "import",
        "mcp",
        "init",
        "skill",
        "tui",
        "completions",
    ] {
        check(&format!("help-{command}"), &[command, "--help"]);
    }
}

#[test]
fn version() {
    let ours = env!("CARGO_PKG_VERSION");
    let version = format!("exit 0\nout graphmind {ours} (wire protocol 1, as in GraphMind 0.6.0)\n");
    assert_eq!(Bench::new().shown(&["-v"]), version);
    assert_eq!(Bench::new().shown(&["--version"]), version);
}

#[test]
fn wrong_words_are_told_in_two_lines_or_as_one_object() {
    let bench = Bench::new();
    insta::assert_snapshot!(bench.shown(&["wait", "--timeout", "soon"]), @"
    exit 1
    err error: invalid value `soon` for `--timeout <SECONDS>`: not a number of seconds
    err hint: `graphmind wait --help` shows what it takes
    ");
    insta::assert_snapshot!(bench.shown(&["wait", "--timeout", "soon", "--json"]), @r#"
    exit 1
    out {"error":{"code":"usage","message":"invalid value `soon` for `--timeout <SECONDS>`: not a number of seconds","hint":"`graphmind wait --help` shows what it takes"}}
    "#);
    insta::assert_snapshot!(bench.shown(&["runs", "--clear"]), @"
    exit 1
    err error: this would remove every stored run
    err hint: say so with `graphmind runs --clear --yes`
    ");
    insta::assert_snapshot!(bench.shown(&["pauses", "--port", "1"]), @"
    exit 3
    err error: no hub on port 1
    err hint: start one with `graphmind`, or name its port with `--port`
    ");
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let shown = Bench::new().shown(&["completions", shell]);
        let complains = shown.lines().any(|line| line.starts_with("err "));
        assert!(shown.starts_with("exit 0\n") && shown.contains("mcp-proxy") && !complains, "{shell}");
    }
}
