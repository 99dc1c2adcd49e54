//! What the documents promise exists: relative links, pages of errors, examples, changes waiting for a release.

use super::{Finding, sources::Sources};

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in sources.all().filter(|(path, _)| path.ends_with(".md")) {
        found.extend(links(path, text, sources));
    }
    found.extend(pages(sources));
    found.extend(examples(sources));
    for (needed, why) in NEEDED {
        if sources.text(needed).is_none() {
            found.push(Finding::new(needed, "missing", why));
        }
    }
    found
}

/// Relative links of a page lead to a text file or a folder of some.
fn links(path: &str, text: &str, sources: &Sources) -> Vec<Finding> {
    let mut found = Vec::new();
    for piece in text.split("](").skip(1) {
        let target = piece.split([')', '#', ' ']).next().unwrap_or_default();
        if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
            continue;
        }
        let at = resolve(path, target);
        let folder = format!("{}/", at.trim_end_matches('/'));
        let exists = sources.all().any(|(known, _)| known == at || known.starts_with(&folder));
        // a file without a known ending, such as a licence, cannot be looked up here
        if !exists && at.contains('.') {
            found.push(Finding::new(path, "link", format!("leads nowhere: {target}")));
        }
    }
    found
}

/// A code that the sources name has its page; a page is named by some source.
fn pages(sources: &Sources) -> Vec<Finding> {
    let mut named: Vec<(String, &str)> = Vec::new();
    for (path, text) in sources.rust().filter(|(path, _)| !path.starts_with("xtask/")) {
        for piece in text.split(PAGES).skip(1) {
            let name: String =
                piece.chars().take_while(|found| found.is_ascii_alphanumeric() || *found == '-').collect();
            if !name.is_empty() {
                named.push((format!("{PAGES}{name}.md"), path));
            }
        }
    }
    let missing = named.iter().filter(|(page, _)| sources.text(page).is_none());
    let mut found: Vec<Finding> = missing
        .map(|(page, by)| Finding::new(*by, "error-page", format!("names a page that is not there: {page}")))
        .collect();
    let orphan = sources.all().filter(|(path, _)| path.starts_with(PAGES) && !path.ends_with("README.md"));
    for (path, _) in orphan {
        let linked = sources
            .all()
            .any(|(other, text)| other != path && path.strip_prefix(PAGES).is_some_and(|page| mentions(text, page)));
        if !linked {
            found.push(Finding::new(path, "error-page", "no source and no index names it"));
        }
    }
    found
}

fn mentions(text: &str, page: &str) -> bool {
    text.contains(page) || text.contains(&format!("{PAGES}{}", page.trim_end_matches(".md")))
}

/// Every example server is named in the examples' own page.
fn examples(sources: &Sources) -> Vec<Finding> {
    let Some(manifest) = sources.text("examples/servers/Cargo.toml") else {
        return Vec::new();
    };
    let page = sources.text("examples/README.md").unwrap_or_default();
    let names = manifest.split("[[bin]]").skip(1).filter_map(|table| table.split('"').nth(1));
    let unnamed = names.filter(|name| !page.contains(*name));
    unnamed.map(|name| Finding::new("examples/README.md", "example", format!("does not name {name}"))).collect()
}

fn resolve(from: &str, target: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

const PAGES: &str = "docs/errors/";
const NEEDED: [(&str, &str); 8] = [
    ("README.md", "what it is, and the two commands"),
    ("CHANGELOG.md", "what changed for users"),
    ("CONTRIBUTING.md", "how to work here"),
    ("SECURITY.md", "what is protected, and what is not"),
    ("docs/ARCHITECTURE.md", "where everything is"),
    ("docs/STYLE.md", "the house rules that tidy checks"),
    ("docs/decisions/README.md", "why the dependencies are what they are"),
    ("examples/README.md", "what can be tried"),
];
