//! What cargo knows of the workspace: members, their own dependencies, features. Judges the numbers only.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context as _, Result};
use cargo_metadata::{DependencyKind, MetadataCommand};

use super::Finding;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    /// the folder below `crates`; with `apps/` or `examples/` in front for the others
    pub(crate) name: String,
    pub(crate) uses: Vec<Use>,
    pub(crate) features: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    pub(crate) of: String,
    pub(crate) when: When,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Always,
    Tests,
}

/// Asks `cargo metadata`, without looking outside the workspace.
pub(crate) fn read(root: &Path) -> Result<Vec<Member>> {
    let metadata = metadata(root)?;
    let names: BTreeMap<String, String> = metadata
        .packages
        .iter()
        .map(|package| (package.name.to_string(), short(root, package.manifest_path.as_std_path())))
        .collect();
    let member = |package: &cargo_metadata::Package| Member {
        name: names.get(package.name.as_str()).cloned().unwrap_or_default(),
        uses: package
            .dependencies
            .iter()
            .filter_map(|dependency| {
                let when = match dependency.kind {
                    DependencyKind::Development => When::Tests,
                    _ => When::Always,
                };
                names.get(&dependency.name).map(|of| Use { of: of.clone(), when })
            })
            .collect(),
        features: package.features.keys().filter(|name| *name != "default").count(),
    };
    Ok(metadata.packages.iter().map(member).collect())
}

/// The full names of the packages with a library of their own.
pub(crate) fn libraries(root: &Path) -> Result<Vec<String>> {
    let metadata = metadata(root)?;
    let has_library = |package: &&cargo_metadata::Package| package.targets.iter().any(cargo_metadata::Target::is_lib);
    Ok(metadata.packages.iter().filter(has_library).map(|package| package.name.to_string()).collect())
}

/// Features per crate, entries of the dependency list.
pub(crate) fn check(members: &[Member], manifest: &str) -> Result<Vec<Finding>> {
    let mut found: Vec<Finding> = members
        .iter()
        .filter(|member| member.features > MOST_FEATURES)
        .map(|member| Finding::sized(&member.name, "features", member.features, MOST_FEATURES))
        .collect();
    let manifest: toml::Table = toml::from_str(manifest).context("read the workspace's manifest")?;
    let listed = manifest.get("workspace").and_then(|workspace| workspace.get("dependencies"));
    let outside = listed
        .and_then(toml::Value::as_table)
        .map_or(0, |table| table.values().filter(|value| value.get("path").is_none()).count());
    if outside > MOST_DEPENDENCIES {
        found.push(Finding::sized("Cargo.toml", "dependencies", outside, MOST_DEPENDENCIES));
    }
    Ok(found)
}

fn metadata(root: &Path) -> Result<cargo_metadata::Metadata> {
    let mut command = MetadataCommand::new();
    command.manifest_path(root.join("Cargo.toml")).no_deps();
    command.exec().context("ask cargo for the workspace's members")
}

/// The folder's name; binaries may share theirs with a library, so the folder above stays.
fn short(root: &Path, manifest: &Path) -> String {
    let folder = manifest.parent().unwrap_or(root);
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let above = folder.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
    match above.as_str() {
        "apps" => format!("apps/{name}"),
        "examples" => format!("examples/{name}"),
        _ => name,
    }
}

const MOST_FEATURES: usize = 3;
const MOST_DEPENDENCIES: usize = 50;
