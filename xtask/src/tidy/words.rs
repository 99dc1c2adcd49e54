//! Words that must not stand in the tree: unfinished work, paths of one machine, unwraps outside tests.

use super::{
    Finding, lexer,
    sources::{Sources, is_test},
};

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, text) in sources.all() {
        let made_by_tools = path.ends_with(".json") || path.ends_with("-lock.yaml");
        if made_by_tools {
            continue;
        }
        found.extend(unfinished(path, text));
        found.extend(paths(path, text));
    }
    for (path, text) in sources.rust().filter(|(path, _)| !is_test(path)) {
        let product = lexer::without_tests(&lexer::blank(text));
        if let Some(line) = product.lines().position(|line| line.contains(UNWRAP)) {
            // the line is counted without test modules, so it can only lead roughly
            found.push(Finding::new(path, "unwrap", format!("near line {}", line + 1)));
        }
    }
    found
}

fn unfinished(path: &str, text: &str) -> Option<Finding> {
    let (line, word) = text.lines().enumerate().find_map(|(line, text)| {
        let mut words = lexer::words(text).map(|(_, word)| word);
        words.find(|word| UNFINISHED.contains(word)).map(|word| (line + 1, word.to_owned()))
    })?;
    Some(Finding::new(path, "unfinished", format!("line {line}: {word}")))
}

fn paths(path: &str, text: &str) -> Option<Finding> {
    let line = text.lines().position(|line| MACHINE.iter().any(|start| line.contains(start)))?;
    Some(Finding::new(path, "machine-path", format!("line {}", line + 1)))
}

const UNWRAP: &str = concat!(".unw", "rap()");
// spelled in halves, or this file would find itself
const UNFINISHED: [&str; 6] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("st", "ub"),
    concat!("unimple", "mented"),
    concat!("to", "do"),
];
const MACHINE: [&str; 5] = [
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/tmp/", "plan"),
    concat!("/home/", "runner"),
    concat!("C:\\Users", "\\"),
];
