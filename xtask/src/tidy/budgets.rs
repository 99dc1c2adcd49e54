//! Sizes: of files, functions, parameter lists, nesting, crates (in lines that hold code), and the number of public traits.

use std::collections::BTreeMap;

use super::{
    Finding, lexer,
    sources::{Sources, is_test},
};

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut crates: BTreeMap<String, usize> = BTreeMap::new();
    let mut traits = Vec::new();
    for (path, text) in sources.rust() {
        found.extend(header(path, text));
        if is_test(path) {
            found.extend(over(path, "test-file", text.lines().count(), TEST_FILE));
            continue;
        }
        let blanked = lexer::without_tests(&lexer::blank(text));
        let lines = blanked.trim_end().lines().count();
        found.extend(over(path, "file", lines, FILE));
        *crates.entry(folder(path)).or_default() += blanked.lines().filter(|line| !line.trim().is_empty()).count();
        found.extend(functions(path, &blanked));
        traits.extend(public_traits(&blanked).map(|name| format!("{path}:{name}")));
    }
    found.extend(crates.into_iter().filter_map(|(name, lines)| over(&name, "crate", lines, CRATE)));
    if traits.len() > TRAITS {
        let says = format!("{}, at most {TRAITS}: {}", traits.len(), traits.join(" "));
        found.push(Finding { size: traits.len(), ..Finding::new("workspace", "traits", says) });
    }
    found
}

fn functions(path: &str, blanked: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    for function in lexer::functions(blanked) {
        let place = format!("{path}:{}", function.name);
        found.extend(over(&place, "function", function.lines, FUNCTION));
        found.extend(over(&place, "parameters", function.parameters, PARAMETERS));
        found.extend(over(&place, "nesting", function.nesting, NESTING));
    }
    found
}

fn header(path: &str, text: &str) -> Option<Finding> {
    let lines = text.lines().take_while(|line| line.starts_with("//!")).count();
    match lines {
        0 => Some(Finding::new(path, "header", "does not open with a `//!` line that says what it is for")),
        1..=HEADER => None,
        more => Some(Finding::sized(path, "header", more, HEADER)),
    }
}

fn over(place: &str, rule: &'static str, size: usize, limit: usize) -> Option<Finding> {
    (size > limit).then(|| Finding::sized(place, rule, size, limit))
}

fn public_traits(blanked: &str) -> impl Iterator<Item = &str> {
    let words: Vec<&str> = lexer::words(blanked).map(|(_, word)| word).collect();
    let named = words.windows(3).filter(|three| three[0] == "pub" && three[1] == "trait").map(|three| three[2]);
    named.collect::<Vec<_>>().into_iter()
}

/// The crate a file belongs to.
fn folder(path: &str) -> String {
    path.split("/src/").next().unwrap_or(path).split("/examples/").next().unwrap_or(path).to_owned()
}

const HEADER: usize = 4;
const FILE: usize = 400;
const TEST_FILE: usize = 800;
const FUNCTION: usize = 60;
const PARAMETERS: usize = 5;
const NESTING: usize = 4;
const CRATE: usize = 4_000;
const TRAITS: usize = 5;
