//! Reads the texts of a workspace once: what is ours, not what tools made or brought.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};

#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// by path below the root, with `/`
    texts: BTreeMap<String, String>,
}

/// Reads every text file below a root, but for folders of build products and brought packages.
pub(crate) fn read(root: &Path) -> Result<Sources> {
    let mut sources = Sources::default();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("read {}", folder.display()))? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if !SKIPPED.contains(&name.as_str()) {
                    folders.push(path);
                }
            } else if let Some(text) = text(&path)? {
                sources.texts.insert(below(root, &path), text);
            }
        }
    }
    Ok(sources)
}

impl Sources {
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    pub(crate) fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        self.all().filter(|(path, _)| path.ends_with(".rs"))
    }

    #[cfg(test)]
    pub(crate) fn of(texts: &[(&str, &str)]) -> Self {
        Self { texts: texts.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect() }
    }
}

/// Whether a Rust file is for developers only: tests, or examples that measure.
pub(crate) fn is_test(path: &str) -> bool {
    ["/tests/", "/tests.rs", "/examples/"].iter().any(|part| path.contains(part)) || path.starts_with("crates/testkit/")
}

fn text(path: &Path) -> Result<Option<String>> {
    let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
    if !ENDINGS.contains(&ending.as_str()) {
        return Ok(None);
    }
    let bytes = fs::read(path).with_context(|| format!("read {}", path.display()))?;
    Ok(String::from_utf8(bytes).ok())
}

fn below(root: &Path, path: &Path) -> String {
    let rest: PathBuf = path.strip_prefix(root).unwrap_or(path).to_path_buf();
    rest.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

const SKIPPED: [&str; 5] = ["target", "node_modules", ".git", "__pycache__", ".venv"];
const ENDINGS: [&str; 13] = ["rs", "toml", "md", "yml", "yaml", "js", "mjs", "py", "css", "html", "sql", "json", "sh"];
