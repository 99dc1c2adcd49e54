//! `mcp-proxy` in front of small servers: what reaches stdout, what stderr, and the exit codes.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::bench::Bench;
use crate::hub::Hub;

#[test]
fn a_recipe_for_who_gives_no_command() {
    insta::assert_snapshot!(Bench::new().shown(&["mcp-proxy"]), @"
    exit 1
    err In the host's configuration, put `graphmind mcp-proxy --` before the server's command:
    err 
    err   before   node build/server.js
    err   after    graphmind mcp-proxy -- node build/server.js
    err 
    err error: no server command
    err hint: put it behind `--`
    ");
}

#[test]
fn servers_that_do_not_start() {
    let bench = Bench::new();
    insta::assert_snapshot!(bench.shown(&["mcp-proxy", "--port", "1", "--", "no-such-command"]), @"
    exit 127
    err graphmind mcp-proxy: cannot start the server: no-such-command: no such command
    err graphmind mcp-proxy: hint: check the spelling and PATH; a host may start us with another PATH than your shell has
    ");
    insta::assert_snapshot!(bench.shown(&["mcp-proxy", "--on-limit", "inject", "none.json", "--", "cat"]), @"
    exit 1
    err error: read none.json: no such file or directory
    err hint: check its name, and the folder you are in
    ");
    bench.write("odd.json", "{odd}");
    insta::assert_snapshot!(bench.shown(&["mcp-proxy", "--on-limit", "inject", "odd.json", "--", "cat"]), @"
    exit 1
    err error: odd.json is not JSON: unexpected byte in json text at byte 1
    err hint: put the tool's result into it, as JSON
    ");
}

#[test]
fn frames_pass_unchanged_and_nothing_else_does() {
    let frame = r#"{"jsonrpc":"2.0" , "id":9007199254740993,"method":"ping","params":{"n":1e400}}"#;
    let shown = Bench::new().shown_with(&["mcp-proxy", "--port", "1", "--", "cat"], &format!("{frame}\n"));
    let out: Vec<&str> = shown.lines().filter_map(|line| line.strip_prefix("out ")).collect();
    assert_eq!(out, [frame], "{shown}");
    assert!(shown.starts_with("exit 0\n"), "{shown}");
}

#[cfg(windows)]
#[test]
fn the_server_decides_the_exit_code() {
    let bench = Bench::new();
    for code in ["0", "3", "1000", "-1073741819"] {
        let shown = bench.shown(&["mcp-proxy", "--port", "1", "--", "cmd", "/d", "/c", "exit", code]);
        assert_eq!(shown.lines().next(), Some(&*format!("exit {code}")));
    }
}

#[cfg(unix)]
#[test]
fn the_server_decides_the_exit_code() {
    let bench = Bench::new();
    let code = |script: &str| {
        let shown = bench.shown(&["mcp-proxy", "--port", "1", "--", "sh", "-c", script]);
        shown.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(code("exit 3"), "exit 3");
    assert_eq!(code("kill -TERM $$"), "exit 143");
    let help = bench.shown(&["mcp-proxy", "--port", "1", "--", "sh", "-c", "echo \"$1\" >&2", "sh", "--help"]);
    assert!(help.contains("err --help"), "{help}");
}

#[test]
fn people_are_told_whether_somebody_can_look() {
    let bench = Bench::new();
    let hub = Hub::start(&bench, &[]);
    for (port, expected) in [(hub.port, "attached to the debugger: http://127.0.0.1:"), (1, "no debugger is running")] {
        let port = port.to_string();
        let mut child =
            bench.command(&["mcp-proxy", "--port", &port, "--", "cat"]).stdin(Stdio::piped()).spawn().expect("starts");
        let mut line = String::new();
        BufReader::new(child.stderr.take().expect("piped")).read_line(&mut line).expect("told");
        assert!(line.contains(expected), "{line}");
        drop(child.stdin.take());
        assert!(child.wait().expect("ends").success());
    }
}

/// The last way out: even a proxy that is killed leaves no server behind.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_proxy_takes_its_server_along() {
    let bench = Bench::new();
    let script = "echo $$; exec sleep 1000";
    let words = ["mcp-proxy", "--port", "1", "--", "sh", "-c", script];
    let mut child = bench.command(&words).stdin(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("told");
    let stat = format!("/proc/{}/stat", line.trim());
    let alive = || std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
    assert!(alive(), "{line}");
    child.kill().expect("killed");
    child.wait().expect("ended");
    eventually("the server is gone", || !alive());
}

/// Nor anything the server started, however deaf.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_proxy_takes_a_deaf_family_along() {
    let bench = Bench::new();
    let script = "trap '' TERM HUP INT; sleep 1000 & echo $$ $!; while :; do sleep 1; done";
    let words = ["mcp-proxy", "--port", "1", "--", "sh", "-c", script];
    let mut child = bench.command(&words).stdin(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("told");
    let family: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(family.len(), 2, "{line}");
    let alive =
        |id: &&str| std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    let keeper = format!("__keep\0--group\0{}\0", family[0]);
    eventually("a keeper runs", || {
        let all = std::fs::read_dir("/proc").expect("it is there").filter_map(Result::ok);
        all.filter_map(|one| std::fs::read(one.path().join("cmdline")).ok())
            .any(|line| String::from_utf8_lossy(&line).ends_with(&keeper))
    });
    child.kill().expect("killed");
    child.wait().expect("ended");
    eventually("the family is gone", || !family.iter().any(alive));
}

#[cfg(target_os = "linux")]
fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !is_so() {
        assert!(Instant::now() < deadline, "not so: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_run_of_the_proxy_is_stored() {
    let bench = Bench::new();
    let hub = Hub::start(&bench, &[]);
    let port = hub.port.to_string();
    let words = ["mcp-proxy", "--port", &port, "--wait-for-attach", "--", "cat"];
    let mut child = bench.command(&words).stdin(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").expect("written");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("answered");
    drop(stdin);
    assert!(child.wait().expect("ends").success());
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let listed = bench.shown(&["runs"]);
        if listed.contains(" mcp-proxy: cat ") && !listed.contains("running") {
            break;
        }
        assert!(Instant::now() < deadline, "{listed}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A failing tool call is held, and nobody comes: at the limit the host gets the answer prepared for that.
#[cfg(unix)]
#[test]
fn a_hold_ends_before_the_host_gives_up() {
    let bench = Bench::new();
    let hub = Hub::start(&bench, &[]);
    bench.write("sorry.json", r#"{"sorry":"try later"}"#);
    let port = hub.port.to_string();
    let server = r#"read line; echo '{"jsonrpc":"2.0","id":1,"result":{"isError":true,"content":[]}}'; cat >/dev/null"#;
    let flags = ["--wait-for-attach", "--hold-limit", "1", "--on-limit", "inject", "sorry.json"];
    let words = [&["mcp-proxy", "--port", &port], &flags[..], &["--", "sh", "-c", server]].concat();
    let mut child = bench.command(&words).stdin(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
    let mut stdin = child.stdin.take().expect("piped");
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{}}}"#;
    stdin.write_all(format!("{call}\n").as_bytes()).expect("written");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("answered");
    let answer: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(answer["result"]["structuredContent"]["sorry"], "try later", "{line}");
    drop(stdin);
    child.wait().expect("ends");
}
