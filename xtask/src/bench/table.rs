//! One row a figure: what it is, what we measured, what stands beside it, the target, and whether it is met.

use std::fs;

use anyhow::{Context as _, Result};

use crate::sh;

pub(crate) struct Row {
    figure: String,
    ours: String,
    beside: String,
    target: String,
    verdict: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Met,
    Missed,
    /// shown for comparison, without a target
    Told,
}

impl Row {
    pub(crate) fn judged(figure: &str, ours: String, beside: String, target: &str, met: bool) -> Self {
        let verdict = if met { Verdict::Met } else { Verdict::Missed };
        Self { figure: figure.to_owned(), ours, beside, target: target.to_owned(), verdict }
    }

    pub(crate) fn told(figure: &str, ours: String, beside: String) -> Self {
        Self { figure: figure.to_owned(), ours, beside, target: String::new(), verdict: Verdict::Told }
    }
}

pub(crate) fn draw(rows: &[Row]) -> String {
    let mut text = String::from("| figure | ours | beside it | target | |\n| --- | --- | --- | --- | --- |\n");
    for row in rows {
        let verdict = match row.verdict {
            Verdict::Met => "met",
            Verdict::Missed => "**missed**",
            Verdict::Told => "",
        };
        text.push_str(&format!("| {} | {} | {} | {} | {verdict} |\n", row.figure, row.ours, row.beside, row.target));
    }
    text
}

/// Puts the table where the README keeps it.
pub(crate) fn into_readme(table: &str) -> Result<()> {
    let path = sh::root().join("README.md");
    let page = fs::read_to_string(&path)?;
    let (before, rest) = page.split_once(OPEN).context("the README has no place for the table")?;
    let (_, after) = rest.split_once(CLOSE).context("the README's place for the table does not end")?;
    Ok(fs::write(path, format!("{before}{OPEN}\n{table}{CLOSE}{after}"))?)
}

pub(crate) fn micros(nanos: f64) -> String {
    if nanos >= 1e6 { format!("{:.2} ms", nanos / 1e6) } else { format!("{:.1} µs", nanos / 1e3) }
}

pub(crate) fn megabytes(bytes: f64) -> String {
    format!("{:.1} MB", bytes / 1e6)
}

const OPEN: &str = "<!-- bench -->";
const CLOSE: &str = "<!-- /bench -->";
