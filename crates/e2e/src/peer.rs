//! A program driven by JSON lines: commands go in, answers come out in any order. Dies with the test.

use std::{process::Stdio, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};

#[derive(Debug)]
pub struct Peer {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    asked: u64,
    /// lines that came while another was awaited
    early: Vec<Value>,
    /// what it said of itself at its start
    pub about: Value,
}

impl Peer {
    /// Starts it and waits until it says that it is ready.
    pub(crate) async fn start(command: &[String], environment: &[(String, String)]) -> Self {
        let (program, arguments) = command.split_first().expect("a command has a program");
        let mut starting = Command::new(program);
        starting.args(arguments).envs(environment.iter().cloned());
        starting.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit()).kill_on_drop(true);
        let mut child = starting.spawn().unwrap_or_else(|error| panic!("start {program}: {error}"));
        let input = child.stdin.take().expect("its input is piped");
        let output = BufReader::new(child.stdout.take().expect("its output is piped")).lines();
        let mut peer = Self { child, input, output, asked: 0, early: Vec::new(), about: Value::Null };
        peer.about = peer.answer(0).await.get("result").cloned().expect("it says what it is");
        peer
    }

    /// Sends a command and returns its number.
    pub async fn send(&mut self, mut command: Value) -> u64 {
        self.asked += 1;
        command["id"] = json!(self.asked);
        let line = format!("{command}\n");
        self.input.write_all(line.as_bytes()).await.expect("the peer reads its commands");
        self.input.flush().await.expect("the peer reads its commands");
        self.asked
    }

    /// The line that closes a command: with `result` or with `error`.
    pub async fn answer(&mut self, id: u64) -> Value {
        let closes = |line: &Value| line["id"] == json!(id) && line.get("progress").is_none();
        loop {
            if let Some(at) = self.early.iter().position(closes) {
                return self.early.remove(at);
            }
            let line = timeout(PATIENCE, self.output.next_line()).await;
            let line = line.unwrap_or_else(|_| panic!("no answer to command {id}")).expect("its output can be read");
            let line = line.unwrap_or_else(|| panic!("the peer ended before it answered command {id}"));
            self.early.push(serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON line: {line}")));
        }
    }

    pub async fn ask(&mut self, command: Value) -> Value {
        let id = self.send(command).await;
        self.answer(id).await
    }

    /// Whether a command has been answered already, without waiting for more than what lies ready.
    pub async fn is_answered(&mut self, id: u64) -> bool {
        while let Ok(Ok(Some(line))) = timeout(GLANCE, self.output.next_line()).await {
            self.early.push(serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON line: {line}")));
        }
        self.early.iter().any(|line| line["id"] == json!(id) && line.get("progress").is_none())
    }

    /// How many progress messages came for a command so far.
    pub fn progress(&self, id: u64) -> usize {
        self.early.iter().filter(|line| line["id"] == json!(id) && line.get("progress").is_some()).count()
    }

    /// Ends in good order, everything below it too.
    pub async fn close(mut self) {
        self.send(json!({ "do": "close" })).await;
        drop(self.input);
        let ended = timeout(PATIENCE, self.child.wait()).await.expect("the peer ends when told to");
        assert!(ended.expect("its status").success(), "the peer ended badly");
    }
}

const PATIENCE: Duration = Duration::from_secs(60);
const GLANCE: Duration = Duration::from_millis(100);
