//! What a project says about itself: the names it depends on, and how its server is started.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde_json::Value;

use crate::code::Code;
use crate::fault::Fault;

/// A file that lists dependencies.
#[derive(Debug)]
pub(super) struct Manifest {
    pub(super) file: &'static str,
    pub(super) language: Language,
    pub(super) names: BTreeSet<String>,
    server: Option<Vec<String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Rust,
    Script,
    Python,
}

/// Every manifest of the folder. A folder without one is no error; a broken one is, with its place.
pub(super) fn read(dir: &Path) -> Result<Vec<Manifest>, Fault> {
    if !dir.is_dir() {
        let fault = Fault::new(Code::Usage, format!("no folder {}", dir.display()));
        return Err(fault.hint("name the project's folder: `graphmind init path/to/project`"));
    }
    let mut found = Vec::new();
    for (file, parse) in PARSERS {
        let path = dir.join(file);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(err) if err.kind() == ErrorKind::NotFound => continue,
            Err(err) => return Err(Fault::file(&path, &err)),
        };
        let manifest = parse(&text).map_err(|problem| {
            let fault = Fault::new(Code::BadFile, format!("read {}: {problem}", path.display()));
            fault.hint("repair it, then run `graphmind init` again")
        })?;
        found.push(Manifest { file, ..manifest });
    }
    Ok(found)
}

/// How the project's server is started, as far as its manifests say.
pub(super) fn server_command(manifests: &[Manifest]) -> Option<Vec<String>> {
    manifests.iter().find_map(|manifest| manifest.server.clone())
}

type Parser = fn(&str) -> Result<Manifest, String>;

fn cargo(text: &str) -> Result<Manifest, String> {
    let root = toml_value(text)?;
    let mut names = BTreeSet::new();
    for place in ["/dependencies", "/dev-dependencies", "/workspace/dependencies"] {
        names.extend(keys(root.pointer(place)));
    }
    let package = root.pointer("/package/name").and_then(Value::as_str);
    let first_bin = root.pointer("/bin/0/name").and_then(Value::as_str);
    let server = first_bin.or(package).map(|name| vec![format!("target/release/{name}")]);
    Ok(Manifest { file: "", language: Language::Rust, names, server })
}

fn package_json(text: &str) -> Result<Manifest, String> {
    let root: Value = serde_json::from_str(text).map_err(|err| err.to_string())?;
    let mut names = BTreeSet::new();
    for place in ["/dependencies", "/devDependencies", "/peerDependencies"] {
        names.extend(keys(root.pointer(place)));
    }
    let bin = match root.get("bin") {
        Some(Value::String(path)) => Some(path.as_str()),
        Some(Value::Object(bins)) => bins.values().find_map(Value::as_str),
        _ => root.get("main").and_then(Value::as_str),
    };
    let server = bin.map(|path| vec!["node".to_owned(), path.trim_start_matches("./").to_owned()]);
    Ok(Manifest { file: "", language: Language::Script, names, server })
}

fn pyproject(text: &str) -> Result<Manifest, String> {
    let root = toml_value(text)?;
    let mut names: BTreeSet<String> = keys(root.pointer("/tool/poetry/dependencies")).collect();
    let groups = ["/project/optional-dependencies", "/dependency-groups"].into_iter().filter_map(|at| root.pointer(at));
    let lists = groups.filter_map(Value::as_object).flat_map(|groups| groups.values());
    let requirements = lists.chain(root.pointer("/project/dependencies")).filter_map(Value::as_array).flatten();
    names.extend(requirements.filter_map(Value::as_str).filter_map(requirement));
    let script = keys(root.pointer("/project/scripts")).next();
    Ok(Manifest { file: "", language: Language::Python, names, server: script.map(|name| vec![name]) })
}

fn requirements(text: &str) -> Result<Manifest, String> {
    let names = text.lines().filter_map(requirement).collect();
    Ok(Manifest { file: "", language: Language::Python, names, server: None })
}

/// The name in `Fast_MCP[extra]>=1; python_version > "3.9"`, as package indexes compare it.
fn requirement(line: &str) -> Option<String> {
    let name: String = line.trim().chars().take_while(|c| c.is_ascii_alphanumeric() || "._-".contains(*c)).collect();
    let name = name.to_ascii_lowercase().replace(['_', '.'], "-");
    (!name.is_empty() && !name.starts_with('-')).then_some(name)
}

/// TOML as the JSON value of the same shape, so that one way of looking things up serves all manifests.
fn toml_value(text: &str) -> Result<Value, String> {
    let table: toml::Table = text.parse().map_err(|err: toml::de::Error| first_line(&err.to_string()))?;
    serde_json::to_value(table).map_err(|err| err.to_string())
}

fn keys(table: Option<&Value>) -> impl Iterator<Item = String> {
    table.and_then(Value::as_object).into_iter().flat_map(|table| table.keys().cloned())
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

const PARSERS: [(&str, Parser); 4] = [
    ("Cargo.toml", cargo),
    ("package.json", package_json),
    ("pyproject.toml", pyproject),
    ("requirements.txt", requirements),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn check(parse: Parser, text: &str, names: &[&str], server: Option<&[&str]>) {
        let found = parse(text).expect("a good manifest");
        assert_eq!(found.names.iter().map(String::as_str).collect::<Vec<_>>(), names);
        assert_eq!(
            found.server.as_deref(),
            server.map(|words| words.iter().map(ToString::to_string).collect::<Vec<_>>()).as_deref()
        );
    }

    #[test]
    fn names_and_commands() {
        check(
            cargo,
            "[package]\nname = \"trip\"\n[dependencies]\nrmcp = { version = \"3\" }\n[workspace.dependencies]\ntokio = \"1\"",
            &["rmcp", "tokio"],
            Some(&["target/release/trip"]),
        );
        check(
            package_json,
            r#"{"bin":{"trip":"./dist/cli.js"},"dependencies":{"ai":"5"},"devDependencies":{"openai":"1"}}"#,
            &["ai", "openai"],
            Some(&["node", "dist/cli.js"]),
        );
        check(package_json, r#"{"dependencies":["odd"],"bin":7}"#, &[], None);
        check(
            pyproject,
            "[project]\ndependencies = [\"Fast_MCP[all]>=4\", \"openai\"]\n[project.scripts]\ntrip = \"trip:main\"\n[dependency-groups]\ndev = [\"crewai~=1\", {include-group = \"x\"}]",
            &["crewai", "fast-mcp", "openai"],
            Some(&["trip"]),
        );
        check(requirements, "# tools\n-r base.txt\nlangchain==1.0 # pinned\n\n", &["langchain"], None);
    }

    #[test]
    fn broken_manifests_name_the_place() {
        let check = |parse: Parser, text: &str, part: &str| {
            let problem = parse(text).expect_err("broken");
            assert!(problem.contains(part), "{problem}");
        };
        check(cargo, "[package\nname=1", "line 1");
        check(package_json, "{\n\"a\": }", "line 2");
        check(pyproject, "a = ", "line 1");
    }
}
