//! An MCP server, as bad as its arguments say, for tests that need a real process. It knows no MCP: it answers requests,
//! dies, floods, or refuses to end.
//!
//! `--help` lists what it can do; the parts may be combined.

use std::io::{BufRead, Read, Write, stderr, stdin, stdout};
use std::process::{Command, Stdio, exit, id};
use std::time::Duration;
use std::{env, fs, thread};

use lockgate_protocol::json::{Limits, Raw, View};
use lockgate_protocol::rpc::{self, Id};

/// What to do.
#[derive(Debug, Default)]
struct Script {
    noise: Vec<String>,
    stderr: Vec<String>,
    flood: usize,
    die_before: Option<i32>,
    /// Dies at this method without answering.
    die_during: Option<(String, i32)>,
    /// Answers this method, then dies.
    die_after: Option<(String, i32)>,
    echo: Flag,
    mute: Flag,
    ignore_eof: Flag,
    ignore_term: Flag,
    /// Where to note the process ids of itself and of a child of its own.
    pids: Option<String>,
    child: Flag,
    /// Bytes of text in each answer.
    size: usize,
}

#[derive(Debug, Default, PartialEq, Eq, Clone, Copy)]
enum Flag {
    #[default]
    Off,
    On,
}

/// Runs the script that the arguments after the program's name describe. Returns when it is over.
pub fn main(args: impl Iterator<Item = String>) {
    let script = Script::read(args);
    script.prepare();
    for line in &script.noise {
        say(line.as_bytes());
    }
    for line in &script.stderr {
        complain(line);
    }
    for number in 0..script.flood {
        complain(&format!("flood {number}"));
    }
    if let Some(code) = script.die_before {
        exit(code);
    }
    if script.echo == Flag::On {
        echo();
    } else {
        script.serve();
    }
    if script.ignore_eof == Flag::On {
        loop {
            thread::sleep(Duration::from_secs(3_600));
        }
    }
}

impl Script {
    fn read(mut args: impl Iterator<Item = String>) -> Script {
        let mut script = Script::default();
        while let Some(arg) = args.next() {
            let mut value = || args.next().unwrap_or_else(|| usage(&arg));
            match &*arg {
                "--noise" => script.noise.push(value()),
                "--stderr" => script.stderr.push(value()),
                "--flood" => script.flood = number(&value()),
                "--die-before" => script.die_before = Some(number(&value())),
                "--die-during" => script.die_during = Some((value(), number(&value()))),
                "--die-after" => script.die_after = Some((value(), number(&value()))),
                "--pids" => script.pids = Some(value()),
                "--size" => script.size = number(&value()),
                "--echo" => script.echo = Flag::On,
                "--mute" => script.mute = Flag::On,
                "--ignore-eof" => script.ignore_eof = Flag::On,
                "--ignore-term" => script.ignore_term = Flag::On,
                "--child" => script.child = Flag::On,
                _ => usage(&arg),
            }
        }
        script
    }

    fn prepare(&self) {
        if self.ignore_term == Flag::On {
            ignore_term();
        }
        let mut pids = id().to_string();
        if self.child == Flag::On {
            pids += &format!(" {}", leave_child());
        }
        if let Some(path) = &self.pids {
            let aside = format!("{path}.new");
            fs::write(&aside, pids).expect("a place for the process ids");
            fs::rename(&aside, path).expect("a place for the process ids");
        }
    }

    fn serve(&self) {
        for line in stdin().lock().split(b'\n') {
            let Ok(line) = line else { return };
            let Ok(checked) = Raw::check(line.into(), Limits::FRAME) else { continue };
            let method = checked.raw.view().get("method").and_then(View::str).map(std::borrow::Cow::into_owned);
            let (Some(id), Some(method)) = (checked.raw.view().get("id").and_then(Id::of), method) else { continue };
            if let Some((_, code)) = self.die_during.as_ref().filter(|(at, _)| *at == method) {
                exit(*code);
            }
            if self.mute == Flag::Off {
                self.answer(&id, &method);
            }
            if let Some((_, code)) = self.die_after.as_ref().filter(|(at, _)| *at == method) {
                exit(*code);
            }
        }
    }

    fn answer(&self, id: &Id, method: &str) {
        let block = Raw::object(|out| {
            out.str("type", "text").str("text", &"x".repeat(self.size));
        });
        let result = Raw::object(|out| {
            out.array("content", [block], |out, block| out.extend_from_slice(block.as_bytes())).str("method", method);
        });
        say(&rpc::answer_result(id, &result));
    }
}

/// Starts a child that nobody waits for and that never ends by itself.
fn leave_child() -> u32 {
    // The test's program may need a first word to get here again.
    let words = env::args().skip(1).take_while(|arg| !arg.starts_with("--"));
    let mut child = Command::new(env::current_exe().expect("our own path"));
    child.args(words).args(["--mute", "--ignore-eof", "--ignore-term"]);
    child.stdin(Stdio::null()).stdout(Stdio::inherit()).stderr(Stdio::null());
    child.spawn().expect("a child of its own").id()
}

/// Every byte back as it came.
fn echo() {
    let (mut from, mut to) = (stdin().lock(), stdout().lock());
    let mut buffer = vec![0; 64 << 10];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let read = buffer.get(..count).unwrap_or_default();
        if to.write_all(read).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}

fn say(line: &[u8]) {
    let mut to = stdout().lock();
    to.write_all(&[line, b"\n"].concat()).and_then(|()| to.flush()).ok();
}

fn complain(line: &str) {
    writeln!(stderr(), "{line}").ok();
}

/// A handler that does nothing stays for the life of the process.
fn ignore_term() {
    #[cfg(unix)]
    {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let kind = tokio::signal::unix::SignalKind::terminate();
            drop(tokio::signal::unix::signal(kind).expect("a handler"));
        });
    }
}

fn number<T: std::str::FromStr>(text: &str) -> T {
    text.parse().unwrap_or_else(|_| usage(text))
}

fn usage(about: &str) -> ! {
    complain(&format!("scripted server: what is {about}?\n{USAGE}"));
    exit(64);
}

const USAGE: &str = "\
--noise TEXT             a line on stdout that is no message
--stderr TEXT            a line on stderr
--flood N                N lines on stderr
--die-before CODE        ends before it listens
--die-during METHOD CODE ends when asked that, without an answer
--die-after METHOD CODE  answers that, then ends
--echo                   every byte back as it came
--mute                   never answers
--ignore-eof             goes on when its input has ended
--ignore-term            does not mind SIGTERM
--pids FILE              notes its process id, and its child's
--child                  has a child of its own that never ends
--size N                 N bytes of text in each answer";
