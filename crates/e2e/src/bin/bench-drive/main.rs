//! The host of the bench: sends tool calls one after the other and prints how long each took, as one JSON object.
//! usage: bench-drive stdio|start BYTES CALLS -- COMMAND… · bench-drive http BYTES CALLS -- URL

mod http;
mod stdio;

use std::{
    env,
    error::Error,
    process::ExitCode,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

type Fallible<T> = Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    match measure() {
        Ok(figures) => {
            println!("{figures}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("bench-drive: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure() -> Fallible<Value> {
    let words: Vec<String> = env::args().skip(1).collect();
    let (plan, target) =
        words.iter().position(|word| word == "--").map_or((&words[..], &[][..]), |at| (&words[..at], &words[at + 1..]));
    let [mode, bytes, calls] = plan else { return Err("wants MODE BYTES CALLS -- TARGET".into()) };
    let plan = Plan { bytes: bytes.parse()?, calls: calls.parse()? };
    match mode.as_str() {
        "stdio" => stdio::calls(&plan, target),
        "start" => stdio::starts(&plan, target),
        "http" => http::calls(&plan, target),
        unknown => Err(format!("does not know: {unknown}").into()),
    }
}

struct Plan {
    /// size of the text in each call
    bytes: usize,
    /// how many are measured; a tenth more run before, unmeasured
    calls: usize,
}

impl Plan {
    fn warm_up(&self) -> usize {
        self.calls.div_ceil(10)
    }

    fn call(&self, id: usize) -> String {
        let text = "x".repeat(self.bytes);
        let params = format!(r#"{{"name":"echo","arguments":{{"text":"{text}","n":{id}}}}}"#);
        // with its newline, so that nothing is copied while the clock runs
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{params}}}\n")
    }
}

/// Runs and times calls; the first tenth only warms up.
fn timed(plan: &Plan, mut call: impl FnMut(&str) -> Fallible<()>) -> Fallible<Vec<Duration>> {
    let mut times = Vec::with_capacity(plan.calls);
    for at in 0..plan.warm_up() + plan.calls {
        let frame = plan.call(at + 2);
        let began = Instant::now();
        call(&frame)?;
        if at >= plan.warm_up() {
            times.push(began.elapsed());
        }
    }
    Ok(times)
}

/// Nanoseconds at the usual places, and all of them.
fn figures(mut times: Vec<Duration>) -> Value {
    times.sort_unstable();
    let at = |percent: usize| times.get((times.len() * percent / 100).min(times.len() - 1)).map_or(0, nanos);
    let total: Duration = times.iter().sum();
    json!({
        "calls": times.len(), "p50": at(50), "p90": at(90), "p99": at(99), "max": at(100),
        "total": nanos(&total), "all": times.iter().map(nanos).collect::<Vec<_>>(),
    })
}

fn nanos(time: &Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
