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

/// Every exit status of a binary has its page, every page that a source names is there, and no page is forgotten.
fn pages(sources: &Sources) -> Vec<Finding> {
    let mut named: Vec<(String, &str)> = Vec::new();
    let mut families: Vec<String> = Vec::new();
    for (path, text) in sources.rust().filter(|(path, _)| !path.starts_with("xtask/")) {
        for piece in text.split(PAGES).skip(1) {
            let name: String =
                piece.chars().take_while(|found| found.is_ascii_alphanumeric() || *found == '-').collect();
            match piece.as_bytes().get(name.len()) {
                Some(b'{') => families.push(name),
                _ if !name.is_empty() => named.push((format!("{PAGES}{name}.md"), path)),
                _ => {}
            }
        }
        named.extend(statuses(path, text).map(|page| (page, path)));
    }
    let missing = named.iter().filter(|(page, _)| sources.text(page).is_none());
    let mut found: Vec<Finding> = missing
        .map(|(page, by)| Finding::new(*by, "error-page", format!("names a page that is not there: {page}")))
        .collect();
    for (path, _) in sources.all() {
        let Some(page) = path.strip_prefix(PAGES).filter(|page| *page != "README.md") else { continue };
        let known = named.iter().any(|(named, _)| named == path)
            || families.iter().any(|family| page.starts_with(family))
            || sources.all().any(|(other, text)| other != path && text.contains(page));
        if !known {
            found.push(Finding::new(path, "error-page", "no source and no index names it"));
        }
    }
    found
}

/// The pages behind `Exit::Held => 3` in a binary's list of exit statuses.
fn statuses(path: &str, text: &str) -> impl Iterator<Item = String> {
    let app = path.strip_prefix("apps/").and_then(|rest| rest.strip_suffix("/src/exit.rs")).map(str::to_owned);
    let numbers: Vec<u8> = text
        .lines()
        .filter(|line| line.trim_start().starts_with("Exit::") || line.trim_start().starts_with("Self::"))
        .filter_map(|line| line.split_once("=>")?.1.trim().trim_end_matches(',').parse().ok())
        .collect();
    app.into_iter().flat_map(move |app| {
        let failures = numbers.clone().into_iter().filter(|number| *number != 0);
        failures.map(move |number| format!("{PAGES}{app}-{number}.md")).collect::<Vec<_>>()
    })
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
