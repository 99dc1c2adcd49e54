//! Compares the table of allowed arrows, which stands in docs/ARCHITECTURE.md, with what the members really use.

use std::collections::BTreeMap;

use super::{
    Finding,
    members::{Member, When},
};

/// One row of the table.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    level: u8,
    /// a crate that a later change will bring
    planned: bool,
    uses: Vec<Arrow>,
}

#[derive(Debug, PartialEq, Eq)]
struct Arrow {
    to: String,
    /// the one kind of arrow that may stay on its level
    peer: bool,
}

pub(crate) fn check(document: &str, members: &[Member]) -> Vec<Finding> {
    let table = match table(document) {
        Ok(table) => table,
        Err(wrong) => return vec![Finding::new("docs/ARCHITECTURE.md", RULE, wrong)],
    };
    let mut found = Vec::new();
    for (name, row) in &table {
        found.extend(directions(name, row, &table));
        let exists = members.iter().any(|member| member.name == *name);
        if exists == row.planned {
            let says = if exists { "is here, the table says planned" } else { "has a row, but no folder" };
            found.push(Finding::new(name, RULE, says));
        }
    }
    for member in members {
        match table.get(&member.name) {
            Some(row) => found.extend(compare(member, row)),
            None => found.push(Finding::new(&member.name, RULE, "has no row in the table")),
        }
    }
    found.extend(depths(&table));
    found
}

fn compare(member: &Member, row: &Row) -> Vec<Finding> {
    let mut found = Vec::new();
    let allowed = |name: &str| row.uses.iter().any(|arrow| arrow.to == name);
    for used in &member.uses {
        let free = match used.when {
            When::Always => used.of == EVERYONES || member.name == LAST,
            When::Tests => used.of == EVERYONES || used.of == TESTS_ONLY || member.name == LAST,
        };
        if !free && !allowed(&used.of) {
            found.push(Finding::new(&member.name, RULE, format!("uses {}, which the table does not allow", used.of)));
        }
    }
    for arrow in &row.uses {
        let used = member.uses.iter().any(|used| used.of == arrow.to && used.when == When::Always);
        if !used && arrow.to != EVERYONES {
            found.push(Finding::new(&member.name, RULE, format!("may use {}, but does not", arrow.to)));
        }
    }
    found
}

fn directions(name: &str, row: &Row, table: &BTreeMap<String, Row>) -> Vec<Finding> {
    let mut found = Vec::new();
    for arrow in &row.uses {
        let Some(target) = table.get(&arrow.to) else {
            found.push(Finding::new(name, RULE, format!("points to {}, which has no row", arrow.to)));
            continue;
        };
        let peers = (arrow.peer || arrow.to == EVERYONES) && target.level == row.level;
        if target.level >= row.level && !peers {
            found.push(Finding::new(name, RULE, format!("the arrow to {} does not point down", arrow.to)));
        }
        if arrow.to == TESTS_ONLY {
            found.push(Finding::new(name, RULE, format!("{TESTS_ONLY} is for tests only")));
        }
    }
    found
}

/// The longest way down from each crate, in arrows; levels only fall, so there is always an end.
fn depths(table: &BTreeMap<String, Row>) -> Vec<Finding> {
    let mut depth: BTreeMap<&str, usize> = BTreeMap::new();
    // as many rounds as there are rows settle every way that has no circle
    for _ in table {
        for (name, row) in table {
            let below = row.uses.iter().map(|arrow| depth.get(arrow.to.as_str()).copied().unwrap_or(0)).max();
            depth.insert(name, below.map_or(0, |below| below + 1));
        }
    }
    let deep = depth.into_iter().filter(|(_, depth)| *depth > DEEPEST);
    deep.map(|(name, depth)| Finding::sized(name, "depth", depth, DEEPEST)).collect()
}

/// Reads the rows `| L1 | gate | protocol, logic |` below the heading.
fn table(document: &str) -> Result<BTreeMap<String, Row>, String> {
    let section = document.split("\n## ").find(|section| section.starts_with(HEADING));
    let section = section.ok_or_else(|| format!("has no section: {HEADING}"))?;
    let mut rows = BTreeMap::new();
    for line in section.lines().filter(|line| line.starts_with("| L")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [level, name, uses] = cells.as_slice() else {
            return Err(format!("has a row of {} cells: {line}", cells.len()));
        };
        let (level, planned) = level.strip_suffix("planned").map_or((*level, false), |level| (level.trim(), true));
        let level = level.strip_prefix('L').and_then(|digit| digit.parse().ok());
        let level = level.ok_or_else(|| format!("has a row without a level: {line}"))?;
        let uses = uses.split(',').map(str::trim).filter(|word| !word.is_empty() && *word != "–").map(arrow).collect();
        rows.insert((*name).to_owned(), Row { level, planned, uses });
    }
    if rows.is_empty() { Err(format!("has no rows under: {HEADING}")) } else { Ok(rows) }
}

fn arrow(word: &str) -> Arrow {
    match word.strip_suffix("(peer)") {
        Some(to) => Arrow { to: to.trim().to_owned(), peer: true },
        None => Arrow { to: word.to_owned(), peer: false },
    }
}

const RULE: &str = "arrows";
const HEADING: &str = "Arrows";
const EVERYONES: &str = "protocol";
const TESTS_ONLY: &str = "testkit";
/// the crate of end-to-end tests, which may meet anyone
const LAST: &str = "e2e";
const DEEPEST: usize = 5;
