//! The house rules, as checks over text: each looks at one thing and returns what it found. Changes nothing.

mod allow;
mod arrows;
mod budgets;
mod docs;
mod lexer;
mod members;
mod sources;
#[cfg(test)]
mod tests;
mod words;
mod workflows;

use std::{fmt, path::Path};

use anyhow::{Result, bail};

/// One breach of one rule at one place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// a file, `file:function`, a crate or a document's section
    pub(crate) place: String,
    pub(crate) rule: &'static str,
    pub(crate) says: String,
    /// how much, where the rule has a number that `allow.toml` may raise
    pub(crate) size: usize,
}

pub(crate) fn run() -> Result<()> {
    let found = look(&crate::sh::root())?;
    for finding in &found {
        println!("{finding}");
    }
    if !found.is_empty() {
        bail!("{} places are not tidy", found.len());
    }
    println!("tidy: nothing found");
    Ok(())
}

/// Every rule over one workspace.
pub(crate) fn look(root: &Path) -> Result<Vec<Finding>> {
    let sources = sources::read(root)?;
    let members = members::read(root)?;
    let table = sources.text("docs/ARCHITECTURE.md").unwrap_or_default();
    let manifest = sources.text("Cargo.toml").unwrap_or_default();
    let mut found = Vec::new();
    found.extend(arrows::check(table, &members));
    found.extend(members::check(&members, manifest)?);
    found.extend(budgets::check(&sources));
    found.extend(words::check(&sources));
    found.extend(docs::check(&sources));
    found.extend(workflows::check(&sources));
    let allowed = allow::Allowed::parse(sources.text(ALLOW).unwrap_or_default())?;
    let mut left = allowed.apply(found);
    left.sort();
    Ok(left)
}

/// The packages that have a library, by their full names.
pub(crate) fn libraries(root: &Path) -> Result<Vec<String>> {
    members::libraries(root)
}

/// Whether any documentation comment holds code that the usual test runner leaves out.
pub(crate) fn has_doc_tests(root: &Path) -> Result<bool> {
    let sources = sources::read(root)?;
    let mut product = sources.rust().filter(|(path, _)| path.contains("/src/") && !path.starts_with("xtask/"));
    Ok(product.any(|(_, text)| text.lines().any(|line| line.trim_start().starts_with("/// ```"))))
}

impl Finding {
    fn new(place: impl Into<String>, rule: &'static str, says: impl Into<String>) -> Self {
        Self { place: place.into(), rule, says: says.into(), size: 0 }
    }

    fn sized(place: impl Into<String>, rule: &'static str, size: usize, limit: usize) -> Self {
        Self { place: place.into(), rule, says: format!("{size}, at most {limit}"), size }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}: {}", self.place, self.rule, self.says)
    }
}

const ALLOW: &str = "xtask/src/tidy/allow.toml";
