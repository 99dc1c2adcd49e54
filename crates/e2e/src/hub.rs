//! A hub as its own process, with a database in the test's folder. Can be killed and started again at its port.

use std::{path::PathBuf, process::Stdio, time::Duration};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
    time::timeout,
};

use crate::{
    place::{Place, binary},
    viewer::Viewer,
};

#[derive(Debug)]
pub struct Hub {
    child: Child,
    port: u16,
    home: PathBuf,
    http: reqwest::Client,
}

/// Whether the hub arms its own breakpoint for errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorHolds {
    Always,
    Never,
}

impl Hub {
    pub async fn start(place: &Place, errors: ErrorHolds) -> Self {
        Self::start_at(place, errors, 0).await
    }

    /// Starts at a port that an earlier hub of the same place had.
    pub async fn start_at(place: &Place, errors: ErrorHolds, port: u16) -> Self {
        let word = match errors {
            ErrorHolds::Always => "on",
            ErrorHolds::Never => "off",
        };
        let mut command = Command::new(binary("graphmind"));
        command.args(["serve", "--json", "--no-open", "--pause-on-error", word, "--port", &port.to_string(), "--db"]);
        command.arg(place.path("graphmind.db")).envs(place.environment());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit()).kill_on_drop(true);
        let mut child = command.spawn().expect("the hub starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output is piped")).lines();
        let line = timeout(PATIENCE, lines.next_line()).await.expect("the hub listens in time");
        let line = line.expect("its output can be read").expect("the hub says where it listens");
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON line: {line}"));
        let port = said["port"].as_u64().and_then(|port| u16::try_from(port).ok()).expect("it names its port");
        Self { child, port, home: place.path("home"), http: reqwest::Client::new() }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where an instrumented program dials.
    pub fn ingest(&self) -> String {
        format!("ws://127.0.0.1:{}/ingest", self.port)
    }

    /// Our proxy in front of a server, reporting here.
    pub fn proxied(&self, server: &[String]) -> Vec<String> {
        let own = [binary("graphmind"), "mcp-proxy".to_owned(), "--port".to_owned(), self.port.to_string()];
        let rest = ["--wait-for-attach".to_owned(), "--".to_owned()];
        [own.to_vec(), rest.to_vec(), server.to_vec()].concat()
    }

    /// A person who looks, with the right to everything.
    pub async fn viewer(&self) -> Viewer {
        Viewer::connect(self.port, self.token(), self.http.clone()).await
    }

    /// The page, with the right to everything, at a place like `/run/r`.
    pub fn page(&self, at: &str) -> String {
        format!("http://127.0.0.1:{}/#token={}&{at}", self.port, self.token())
    }

    fn token(&self) -> String {
        let token = std::fs::read_to_string(self.home.join("run").join(format!("viewer-{}", self.port)));
        token.expect("the hub writes the viewer's token").trim().to_owned()
    }

    /// All events of a run that are stored by now.
    pub async fn events(&self, run: &str) -> Vec<Value> {
        let url = format!("http://127.0.0.1:{}/api/runs/{run}/events?limit=5000", self.port);
        let page = self.get(&url).await;
        // a run whose first event is still on its way has none
        page["events"].as_array().cloned().unwrap_or_default()
    }

    /// The events of a run once the condition holds for them.
    pub async fn events_until(&self, run: &str, enough: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let mut events = Vec::new();
        for _ in 0..TRIES {
            events = self.events(run).await;
            if enough(&events) {
                return events;
            }
            tokio::time::sleep(STEP).await;
        }
        panic!("the events of {run} never were as expected: {events:#?}")
    }

    /// The runs there are, newest first.
    pub async fn runs(&self) -> Vec<Value> {
        let url = format!("http://127.0.0.1:{}/api/runs", self.port);
        self.get(&url).await["runs"].as_array().expect("a list of runs").clone()
    }

    /// As a crash would: no good-bye to anybody.
    pub async fn kill(mut self) {
        self.child.kill().await.expect("the hub can be killed");
    }

    async fn get(&self, url: &str) -> Value {
        let answer = self.http.get(url).send().await.expect("the hub answers");
        answer.json().await.expect("the hub answers in JSON")
    }
}

const PATIENCE: Duration = Duration::from_secs(20);
const STEP: Duration = Duration::from_millis(50);
const TRIES: usize = 400;
