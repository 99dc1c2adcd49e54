//! Reasoned exceptions: which finding is accepted, up to what size, and why. A line nobody needs is a finding.

use anyhow::{Context as _, Result};
use serde::Deserialize;

use super::Finding;

#[derive(Debug)]
pub(crate) struct Allowed {
    lines: Vec<Line>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    rule: String,
    place: String,
    #[serde(default)]
    max: Option<usize>,
    reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    allow: Vec<Line>,
}

impl Allowed {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let file: File = toml::from_str(text).context("read the list of exceptions")?;
        Ok(Self { lines: file.allow })
    }

    /// The findings that no line accepts, and a finding for each line that accepted none or gives no reason.
    pub(crate) fn apply(&self, found: Vec<Finding>) -> Vec<Finding> {
        let mut used = vec![false; self.lines.len()];
        let mut left = Vec::new();
        for finding in found {
            let mut accepted = false;
            for (line, used) in self.lines.iter().zip(&mut used) {
                if line.accepts(&finding) {
                    *used = true;
                    accepted = true;
                }
            }
            if !accepted {
                left.push(finding);
            }
        }
        for (line, used) in self.lines.iter().zip(used) {
            if !used {
                left.push(Finding::new(&line.place, RULE, format!("the exception for `{}` is not needed", line.rule)));
            }
            if line.reason.split_whitespace().count() < FEWEST_WORDS {
                left.push(Finding::new(
                    &line.place,
                    RULE,
                    format!("the exception for `{}` gives no reason", line.rule),
                ));
            }
        }
        left
    }
}

impl Line {
    fn accepts(&self, finding: &Finding) -> bool {
        self.rule == finding.rule && self.place == finding.place && self.max.is_none_or(|max| finding.size <= max)
    }
}

const RULE: &str = "allow";
const FEWEST_WORDS: usize = 4;
