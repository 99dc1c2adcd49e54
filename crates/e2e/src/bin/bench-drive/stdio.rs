//! Over pipes: one call at a time to a command, or one whole start after the other.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Instant,
};

use serde_json::Value;

use crate::{Fallible, Plan, figures, timed};

pub(crate) fn calls(plan: &Plan, command: &[String]) -> Fallible<Value> {
    let mut pipe = Pipe::open(command)?;
    pipe.ask(INITIALIZE)?;
    pipe.input.write_all(INITIALIZED.as_bytes())?;
    let times = timed(plan, |line| pipe.ask(line))?;
    let id = pipe.child.id();
    let memory = memory(id);
    pipe.close()?;
    let mut figures = figures(times);
    figures["memory"] = memory.into();
    Ok(figures)
}

/// From the start of the command to the first byte that comes back.
pub(crate) fn starts(plan: &Plan, command: &[String]) -> Fallible<Value> {
    let frame = plan.call(1);
    let mut times = Vec::new();
    for round in 0..plan.warm_up() + plan.calls {
        let began = Instant::now();
        let mut pipe = Pipe::open(command)?;
        pipe.input.write_all(frame.as_bytes())?;
        let mut first = [0];
        pipe.output.read_exact(&mut first)?;
        if round >= plan.warm_up() {
            times.push(began.elapsed());
        }
        pipe.close()?;
    }
    Ok(figures(times))
}

struct Pipe {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
}

impl Pipe {
    fn open(command: &[String]) -> Fallible<Self> {
        let (program, arguments) = command.split_first().ok_or("names no command")?;
        let mut child = Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take().ok_or("no pipe to the command")?;
        let output = BufReader::with_capacity(1 << 18, child.stdout.take().ok_or("no pipe from the command")?);
        Ok(Self { child, input, output, line: Vec::new() })
    }

    fn ask(&mut self, line: &str) -> Fallible<()> {
        self.input.write_all(line.as_bytes())?;
        self.line.clear();
        let read = self.output.read_until(b'\n', &mut self.line)?;
        if read < line.len() / 2 {
            return Err(format!("a call of {} bytes got {read} bytes", line.len()).into());
        }
        Ok(())
    }

    fn close(mut self) -> Fallible<()> {
        drop(self.input);
        // what is still on its way must not keep the command from ending
        std::io::copy(&mut self.output, &mut std::io::sink())?;
        self.child.wait()?;
        Ok(())
    }
}

/// The most memory the command has held, in bytes, where the system says so.
fn memory(id: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

// both end with their newline
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1.0.0"}}}
"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}
"#;
