//! A real hub, the demo played to it, and the commands that look at and release what stands.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, ChildStdout, Stdio};

use serde_json::Value;

use crate::bench::Bench;

/// A hub on a free port; ended with the test.
pub(crate) struct Hub {
    child: Child,
    pub(crate) port: u16,
}

impl Hub {
    pub(crate) fn start(bench: &Bench, flags: &[&str]) -> Hub {
        let words = [&["serve", "--port", "0", "--no-open", "--json"], flags].concat();
        let mut child = bench.command(&words).stderr(Stdio::null()).spawn().expect("starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("told");
        let told: Value = serde_json::from_str(&line).expect("one line of JSON");
        assert_eq!(told["pid"], child.id());
        assert!(!line.contains("gma_") && !line.contains("gmv_"), "no token is printed: {line}");
        let port = told["port"].as_u64().and_then(|port| u16::try_from(port).ok()).expect("a port");
        Hub { child, port }
    }

    /// Words for a command that talks to this hub.
    fn words<'a>(port: &'a str, words: &[&'a str]) -> Vec<&'a str> {
        [words, &["--port", port]].concat()
    }

    fn shown(&self, bench: &Bench, words: &[&str]) -> String {
        let port = self.port.to_string();
        bench.shown(&Hub::words(&port, words)).replace(&port, "[PORT]")
    }

    fn json(&self, bench: &Bench, words: &[&str]) -> (Value, i32) {
        let port = self.port.to_string();
        let output = bench.command(&Hub::words(&port, &[words, &["--json"]].concat())).output().expect("ends");
        let value = serde_json::from_slice(&output.stdout).expect("one JSON value on stdout");
        (value, output.status.code().expect("a code"))
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The demo, under way in a process of its own.
struct Demo {
    child: Child,
    run: String,
    stderr: BufReader<ChildStderr>,
    stdout: BufReader<ChildStdout>,
}

impl Demo {
    fn start(bench: &Bench, hub: &Hub) -> Demo {
        let words = ["demo", "--no-open", "--speed", "1000", "--json", "--port"];
        let port = hub.port.to_string();
        let mut child = bench.command(&[&words[..], &[port.as_str()]].concat()).spawn().expect("starts");
        let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        let mut line = String::new();
        stderr.read_line(&mut line).expect("told");
        let run = line.split_whitespace().nth(1).expect("a run").trim_end_matches(':').to_owned();
        Demo { child, run, stderr, stdout }
    }

    /// How it ended, and what it said on the way.
    fn ended(mut self) -> (Value, String) {
        let mut told = String::new();
        self.stdout.read_line(&mut told).expect("told");
        let mut said = String::new();
        for line in self.stderr.lines() {
            said += &line.expect("text");
            said.push('\n');
        }
        assert!(self.child.wait().expect("ends").success(), "{said}");
        (serde_json::from_str(&told).expect("JSON"), said)
    }
}

fn held(bench: &Bench, hub: &Hub, run: &str) -> String {
    let (told, code) = hub.json(bench, &["wait", "--run", run, "--timeout", "30"]);
    assert_eq!(code, 0, "{told}");
    assert_eq!(told["pause"]["node"]["input"]["amount"], 522);
    told["pause"]["pauseId"].as_str().expect("an id").to_owned()
}

#[test]
fn a_held_call_is_waited_for_and_released() {
    let bench = Bench::new();
    let hub = Hub::start(&bench, &["--pause-on-error", "on", "--allow-control", "inject"]);
    let demo = Demo::start(&bench, &hub);
    let first = held(&bench, &hub, &demo.run);
    let listed = hub.shown(&bench, &["pauses"]).replace(&demo.run, "demo-[ID]");
    assert!(listed.contains("demo-[ID]  pause_demo_1  tool:convert_currency  error  error   open   "), "{listed}");
    let stored: Value =
        serde_json::from_slice(&bench.command(&["runs", "--json"]).output().expect("ends").stdout).expect("JSON");
    assert_eq!((&stored["runs"][0]["live"], &stored["runs"][0]["held"]), (&true.into(), &1.into()), "{stored}");
    let stored = bench.shown(&["runs"]);
    assert!(stored.contains(" running, 1 held "), "{stored}");
    let shown = hub.shown(&bench, &["wait"]).replace(&demo.run, "demo-[ID]");
    let (_, lines) = shown.split_once("Release it with one of:\n").expect("lines to paste");
    let (here, elsewhere) = (r#""@answer.json""#, r#"'{"any":"JSON"}'"#);
    let lines = if cfg!(windows) { lines.replace(here, elsewhere) } else { lines.to_owned() };
    insta::assert_snapshot!(lines, @r#"
    out   graphmind resume pause_demo_1 --run demo-[ID] --action continue --port [PORT]
    out   graphmind resume pause_demo_1 --run demo-[ID] --action retry --port [PORT]
    out   graphmind resume pause_demo_1 --run demo-[ID] --action inject --output '{"any":"JSON"}' --port [PORT]
    out   graphmind resume pause_demo_1 --run demo-[ID] --action abort --port [PORT]
    "#);
    let (told, code) = hub.json(&bench, &["resume", &first, "--run", &demo.run, "--action", "retry"]);
    assert_eq!((told["outcome"].as_str(), code), (Some("resumed"), 0), "{told}");
    let second = held(&bench, &hub, &demo.run);
    let hidden = ["resume", &second, "--run", &demo.run, "--action", "inject", "--output", r#"{"a":"__REDACTED__"}"#];
    insta::assert_snapshot!(hub.shown(&bench, &hidden), @"
    exit 6
    err error: pause_demo_2 not released: the value holds a redaction placeholder
    err hint: write the real value in its place
    ");
    let answer = r#"{"amount":481.3,"note":"9007199254740993"}"#;
    let words = ["resume", &second, "--run", &demo.run, "--action", "inject", "--output", answer];
    let (told, code) = hub.json(&bench, &words);
    assert_eq!((told["principal"].as_str(), code), (Some("agent"), 0), "{told}");
    let run = demo.run.clone();
    let (ended, said) = demo.ended();
    assert_eq!((ended["status"].as_str(), ended["held"].as_bool()), (Some("ok"), Some(true)), "{said}");
    assert!(bench.shown(&["record", &run]).contains(answer));
    let (told, code) = hub.json(&bench, &["wait", "--run", &run]);
    assert_eq!((told["run"]["status"].as_str(), code), (Some("ok"), 4), "{told}");
}

#[test]
fn what_a_program_may_not_do_is_told() {
    let bench = Bench::new();
    let hub = Hub::start(&bench, &["--pause-on-error", "on", "--allow-control", "resume"]);
    let demo = Demo::start(&bench, &hub);
    let pause = held(&bench, &hub, &demo.run);
    let shown = |words: &[&str]| hub.shown(&bench, words).replace(&demo.run, "demo-[ID]");
    let run = ["--run", demo.run.as_str()];
    let resume = |pause: &str, action: &[&str]| shown(&[&["resume", pause], &run[..], action].concat());
    insta::assert_snapshot!(resume(&pause, &["--action", "inject", "--output", "1"]), @"
    exit 5
    err error: pause_demo_1 not released: your credential does not allow this
    err hint: the hub's user can start it with `--allow-control resume`, or `inject`
    ");
    insta::assert_snapshot!(resume(&pause, &["--action", "retry", "--input", "{}"]), @"
    exit 5
    err error: pause_demo_1 not released: your credential, or this hub, does not allow edits
    err hint: the hub's user can start it with `--allow-control edit`, without `--no-edit-input`
    ");
    let ghost = resume("pause_x", &["--action", "abort", "--timeout", "1"]);
    assert!(ghost.starts_with("exit 2\n"), "{ghost}");
    assert!(ghost.contains("err error: pause_x not released: the program has not answered yet"), "{ghost}");
    let note = bench.path(&format!("run/serve-{}.json", hub.port));
    let kept = std::fs::read(&note).expect("a run file");
    std::fs::write(&note, "{}").expect("written");
    let told = resume(&pause, &["--action", "abort"]);
    insta::assert_snapshot!(told, @"
    exit 5
    err error: a valid token is required
    err hint: [HOME]/run/serve-[PORT].json holds no token; restart the hub to write it anew
    ");
    std::fs::write(&note, r#"{"agentToken":"gma_00000000000000000000000000000000"}"#).expect("written");
    insta::assert_snapshot!(resume(&pause, &["--action", "abort"]), @"
    exit 5
    err error: a valid token is required
    err hint: the token is of another start of the hub: restart it, then try again
    ");
    let listed = shown(&["pauses"]);
    assert!(listed.starts_with("exit 0") && listed.contains(&pause), "whom the hub does not know may look: {listed}");
    std::fs::write(&note, kept).expect("written");
    assert!(resume(&pause, &["--action", "abort"]).starts_with("exit 0"));
    let (ended, said) = demo.ended();
    assert_eq!(ended["status"].as_str(), Some("aborted"), "{said}");
}

#[test]
fn nothing_in_time_and_nothing_there() {
    let bench = Bench::new();
    let hub = Hub::start(&bench, &[]);
    insta::assert_snapshot!(hub.shown(&bench, &["pauses"]), @"
    exit 0
    out no call stands still
    ");
    insta::assert_snapshot!(hub.shown(&bench, &["wait", "--timeout", "0.2"]), @"
    exit 2
    err no call stood still in time
    err hint: `graphmind wait --timeout 0` waits for ever
    ");
    insta::assert_snapshot!(hub.shown(&bench, &["wait", "--timeout", "0.2", "--json"]), @r#"
    exit 2
    out {"pause":null,"timedOut":true}
    "#);
}

#[test]
fn a_demo_that_nobody_watches_is_not_held() {
    let bench = Bench::new();
    let hub = Hub::start(&bench, &[]);
    let (ended, said) = Demo::start(&bench, &hub).ended();
    assert_eq!((ended["status"].as_str(), ended["held"].as_bool()), (Some("error"), Some(false)), "{said}");
}

#[test]
fn a_running_hub_takes_an_import_in() {
    let bench = Bench::new();
    let hub = Hub::start(&bench, &["--db", "other.db"]);
    let span = r#"[{"id":"a","name":"trip","start":1,"attributes":{"openinference.span.kind":"AGENT"}}]"#;
    bench.write("trace.json", span);
    let (told, code) = hub.json(&bench, &["import", "trace.json"]);
    assert_eq!((told["events"].as_u64(), code), (Some(4), 0), "{told}");
    assert!(!bench.path("graphmind.db").exists(), "it went to the hub, not into a database beside it");
    let listed = bench.shown(&["runs", "--db", "other.db"]);
    assert!(listed.contains(" ok      import "), "{listed}");
}

#[test]
fn ports_that_are_taken() {
    let bench = Bench::new();
    let hub = Hub::start(&bench, &[]);
    let port = hub.port.to_string();
    let shown = bench.shown(&["serve", "--port", &port, "--no-open", "--db", "other.db"]);
    let next = (hub.port + 1).to_string();
    insta::assert_snapshot!(shown.replace(&port, "[PORT]").replace(&next, "[NEXT]"), @"
    exit 1
    err error: port [PORT] is in use
    err hint: another hub may be running; or take another port: --port [NEXT]
    ");
    assert!(!bench.path("other.db").exists(), "a hub that cannot start leaves nothing behind");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let other = listener.local_addr().expect("bound").port().to_string();
    let server = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut stream, _) = listener.accept().expect("accepted");
        let _ = stream.read(&mut [0; 4_096]).expect("asked");
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}").expect("written");
    });
    insta::assert_snapshot!(bench.shown(&["pauses", "--port", &other]).replace(&other, "[PORT]"), @"
    exit 3
    err error: what listens on port [PORT] is no hub
    err hint: name the hub's port with `--port`, or start one elsewhere: `graphmind --port 4748`
    ");
    server.join().expect("served");
}
