//! The packages that scripts of a skill need, from every place that names them.

use serde::Deserialize;
use serde_json::{Map, Value};
use tenon_text::line;
use ts_rs::TS;

use crate::file_tree::FileTree;

/// Where packages of npm are named.
pub const PACKAGE_FILE: &str = "package.json";

const MAX_REQUIREMENTS: usize = 200;

/// Packages to be installed before a script can run.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, TS)]
pub struct Requirements {
    /// As in `requirements.txt`: "requests>=2".
    pub python: Vec<String>,
    /// As in a shell: "left-pad@^1.3.0".
    pub node: Vec<String>,
}

impl Requirements {
    pub fn is_empty(&self) -> bool {
        self.python.is_empty() && self.node.is_empty()
    }

    /// Those of the front matter, of `requirements.txt`, of scripts with inline metadata (PEP 723)
    /// and of `package.json`.
    pub(crate) fn collect(declared: Vec<String>, files: &FileTree) -> Self {
        let mut python: Vec<String> = declared.iter().map(|one| line(one, 300)).collect();
        if let Some(text) = text(files, "requirements.txt") {
            python.extend(requirement_lines(text).map(|one| line(one, 300)));
        }
        let scripts = files.iter().filter(|(path, _)| path.ends_with(".py"));
        for (path, _) in scripts {
            python.extend(
                text(files, path)
                    .map(inline_dependencies)
                    .unwrap_or_default(),
            );
        }
        let mut seen = std::collections::BTreeSet::new();
        python.retain(|one| !one.is_empty() && seen.insert(one.clone()));
        python.truncate(MAX_REQUIREMENTS);
        Self {
            python,
            node: node_dependencies(files),
        }
    }
}

fn text<'a>(files: &'a FileTree, path: &str) -> Option<&'a str> {
    std::str::from_utf8(&files.get(path)?.bytes).ok()
}

fn requirement_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(|line| line.split(" #").next().unwrap_or_default().trim())
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The `dependencies` of the block `# /// script … # ///`.
fn inline_dependencies(script: &str) -> Vec<String> {
    #[derive(Deserialize)]
    struct ScriptMetadata {
        #[serde(default)]
        dependencies: Vec<String>,
    }
    let mut lines = script.lines();
    if !lines.any(|line| line.trim_end() == "# /// script") {
        return Vec::new();
    }
    let mut block = String::new();
    for line in lines {
        if line.trim_end() == "# ///" {
            let metadata: Result<ScriptMetadata, _> = toml::from_str(&block);
            return metadata
                .map(|metadata| metadata.dependencies)
                .unwrap_or_default();
        }
        let Some(content) = line.strip_prefix('#') else {
            break;
        };
        block.push_str(content.strip_prefix(' ').unwrap_or(content));
        block.push('\n');
    }
    Vec::new()
}

fn node_dependencies(files: &FileTree) -> Vec<String> {
    let package = files.get(PACKAGE_FILE);
    let package: Option<Value> = package.and_then(|file| serde_json::from_slice(&file.bytes).ok());
    let dependencies: Option<Map<String, Value>> = package
        .and_then(|package| package.get("dependencies").cloned())
        .and_then(|dependencies| serde_json::from_value(dependencies).ok());
    let named = dependencies
        .into_iter()
        .flatten()
        .map(|(name, range)| match range.as_str() {
            Some(range) => line(&format!("{name}@{range}"), 300),
            None => line(&name, 300),
        });
    named.take(MAX_REQUIREMENTS).collect()
}
