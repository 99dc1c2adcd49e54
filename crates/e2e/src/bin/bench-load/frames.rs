//! Events shaped like an agent's: runs of a few hundred nodes, most frames tokens. Text only; sends nothing.

use std::time::{SystemTime, UNIX_EPOCH};

/// Writes one frame after the other; a run ends after `RUN` events and the next begins.
#[derive(Debug)]
pub(crate) struct Frames {
    seq: u64,
    sent: u64,
    run: u64,
    /// position inside the run
    at: u64,
    /// tells this process's runs from another's
    tag: u64,
}

impl Frames {
    pub(crate) fn new(seq: u64) -> Self {
        Self { seq, sent: 0, run: 0, at: 0, tag: millis() % 1_000_000_000 }
    }

    pub(crate) fn next(&mut self) -> String {
        let node = self.at / NODE;
        let frame = match (self.at, self.at % NODE) {
            (0, _) => self.frame("run.started", r#"{"app":"bench","sdk":{"name":"bench","version":"1.0.0"}}"#),
            (RUN, _) => self.frame("run.finished", r#"{"status":"ok"}"#),
            (_, 1) => self.frame(
                "node.started",
                &format!(
                    r#"{{"nodeId":"llm:step{node}","kind":"llm","name":"step{node}","instanceId":"i{node}","input":{{"messages":[{{"role":"user","content":"find the cheapest flight"}}]}}}}"#
                ),
            ),
            (_, 0) => {
                let node = node - 1;
                self.frame(
                    "node.finished",
                    &format!(
                        r#"{{"nodeId":"llm:step{node}","instanceId":"i{node}","output":{{"text":"TP1273"}},"durationMs":12.5,"status":"ok"}}"#
                    ),
                )
            }
            _ => self.frame(
                "node.token",
                &format!(r#"{{"nodeId":"llm:step{node}","deltas":[{{"t":"text","v":"token number {}"}}]}}"#, self.at),
            ),
        };
        if self.at == RUN {
            self.at = 0;
            self.run += 1;
        } else {
            self.at += 1;
        }
        frame
    }

    /// The frame that ends the run begun last.
    pub(crate) fn end(&mut self) -> String {
        self.frame("run.finished", r#"{"status":"ok"}"#)
    }

    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    pub(crate) fn runs(&self) -> u64 {
        self.run + 1
    }

    fn frame(&mut self, kind: &str, payload: &str) -> String {
        let seq = self.seq;
        self.seq += 1;
        self.sent += 1;
        let (ts, tag, run) = (millis(), self.tag, self.run);
        format!(
            r#"{{"gm":1,"seq":{seq},"ts":{ts},"runId":"run_bench_{tag}_{run}","type":"{kind}","payload":{payload}}}"#
        )
    }
}

fn millis() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or_default()
}

/// events of a run before its last, and events of a node
const RUN: u64 = 12_000;
const NODE: u64 = 24;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_json_and_runs_end() {
        let mut frames = Frames::new(1);
        let all: Vec<serde_json::Value> =
            (0..=RUN + 1).map(|_| serde_json::from_str(&frames.next()).expect("a frame is JSON")).collect();
        let kinds = |kind: &str| all.iter().filter(|frame| frame["type"] == kind).count();
        assert_eq!((kinds("run.started"), kinds("run.finished")), (2, 1));
        assert_eq!((kinds("node.started"), kinds("node.finished")), (500, 499));
        assert_ne!(all[0]["runId"], all[all.len() - 1]["runId"]);
    }
}
