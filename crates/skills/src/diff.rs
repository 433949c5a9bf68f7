//! What a new version of a skill changes: what a person looks at before saying yes.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use ts_rs::TS;

use crate::package::{SkillPackage, SkillPermissions};
use crate::tool::{SkillTool, SkillToolRun};

/// Everything that differs; against nothing, everything is added.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SkillDiff {
    pub old_version: Option<String>,
    pub new_version: Option<String>,
    /// None where nothing was installed.
    pub old_hash: Option<String>,
    pub new_hash: String,
    /// Whether the instructions or the description differ.
    pub instructions_changed: bool,
    pub tools: Vec<ToolChange>,
    pub permissions: Vec<PermissionChange>,
    pub files: Vec<FileChange>,
}

impl SkillDiff {
    pub fn is_empty(&self) -> bool {
        self.old_hash.as_ref() == Some(&self.new_hash)
    }

    /// Whether more is asked for than was agreed to.
    pub fn asks_for_more(&self) -> bool {
        let mut permissions = self.permissions.iter();
        permissions.any(|permission| permission.change != ChangeKind::Removed)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    Added,
    Removed,
    Changed,
}

#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolChange {
    pub name: String,
    pub change: ChangeKind,
    /// What it runs now, or ran: a command line, "GET https://…", or a built-in tool.
    pub target: String,
    /// What differs of a tool that stays: "description", "parameters", "run".
    pub fields: Vec<&'static str>,
}

#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PermissionChange {
    pub kind: PermissionKind,
    pub change: ChangeKind,
    /// The command, file, server, variable or package; empty for the network.
    pub value: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum PermissionKind {
    Network,
    Command,
    /// A file that can be run; with its hash, so that other content is a change.
    Script,
    Server,
    Variable,
    Secret,
    Package,
}

#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FileChange {
    pub path: String,
    pub change: ChangeKind,
    pub old_hash: Option<String>,
    pub new_hash: Option<String>,
}

pub fn diff(old: Option<&SkillPackage>, new: &SkillPackage) -> SkillDiff {
    let texts = |package: &SkillPackage| (package.body.clone(), package.description.clone());
    SkillDiff {
        old_version: old.and_then(|old| old.version.clone()),
        new_version: new.version.clone(),
        old_hash: old.map(|old| old.hash.clone()),
        new_hash: new.hash.clone(),
        instructions_changed: old.map(texts) != Some(texts(new)),
        tools: tool_changes(old.map_or(&[], |old| &old.tools), &new.tools),
        permissions: permission_changes(old, new),
        files: file_changes(old, new),
    }
}

/// What a tool runs, in one line.
pub fn target(run: &SkillToolRun) -> String {
    match run {
        SkillToolRun::Http(mapping) => format!("{} {}", mapping.method(), mapping.endpoint()),
        SkillToolRun::Script(script) => script.command_line(),
        SkillToolRun::Builtin { tool, arguments } if arguments.is_empty() => tool.clone(),
        SkillToolRun::Builtin { tool, arguments } => {
            format!("{tool} {}", Value::Object(arguments.clone()))
        }
    }
}

/// Members of both by key: what is in one of them alone, and what is in both but differs.
fn changes<K: Ord + Clone, V: PartialEq>(
    old: &BTreeMap<K, V>,
    new: &BTreeMap<K, V>,
) -> Vec<(K, ChangeKind)> {
    let removed = old.keys().filter(|key| !new.contains_key(key));
    let removed = removed.map(|key| (key.clone(), ChangeKind::Removed));
    let others = new.iter().filter_map(|(key, value)| match old.get(key) {
        None => Some((key.clone(), ChangeKind::Added)),
        Some(before) if before != value => Some((key.clone(), ChangeKind::Changed)),
        Some(_) => None,
    });
    let mut changes: Vec<(K, ChangeKind)> = removed.chain(others).collect();
    changes.sort_by(|(one, _), (other, _)| one.cmp(other));
    changes
}

fn tool_changes(old: &[SkillTool], new: &[SkillTool]) -> Vec<ToolChange> {
    let by_name = |tools: &'_ [SkillTool]| -> BTreeMap<String, SkillTool> {
        tools
            .iter()
            .map(|tool| (tool.name.clone(), tool.clone()))
            .collect()
    };
    let (old, new) = (by_name(old), by_name(new));
    let changed = changes(&old, &new)
        .into_iter()
        .filter_map(|(name, change)| {
            let tool = new.get(&name).or_else(|| old.get(&name))?;
            let fields = match (old.get(&name), new.get(&name)) {
                (Some(before), Some(after)) => changed_fields(before, after),
                _ => Vec::new(),
            };
            let target = target(&tool.run);
            Some(ToolChange {
                name,
                change,
                target,
                fields,
            })
        });
    changed.collect()
}

fn changed_fields(old: &SkillTool, new: &SkillTool) -> Vec<&'static str> {
    let fields = [
        ("title", old.title != new.title),
        ("description", old.description != new.description),
        ("parameters", old.parameters != new.parameters),
        ("run", old.run != new.run),
        ("timeout", old.timeout != new.timeout),
    ];
    let changed = fields.into_iter().filter(|(_, differs)| *differs);
    changed.map(|(name, _)| name).collect()
}

/// Each permission with what it depends on.
fn granted(package: &SkillPackage) -> BTreeMap<(PermissionKind, String), String> {
    let SkillPermissions {
        network,
        commands,
        scripts,
        servers,
        variables,
        requirements,
    } = &package.permissions;
    let mut granted = BTreeMap::new();
    let mut grant = |kind, value: &str, depends_on: &str| {
        granted.insert((kind, value.to_owned()), depends_on.to_owned());
    };
    if *network {
        grant(PermissionKind::Network, "", "");
    }
    for command in commands {
        grant(PermissionKind::Command, command, "");
    }
    for script in scripts {
        let file = package.files.iter().find(|file| file.path == *script);
        grant(
            PermissionKind::Script,
            script,
            file.map_or("", |file| &file.hash),
        );
    }
    for server in servers {
        grant(PermissionKind::Server, server, "");
    }
    for variable in variables {
        let kind = if variable.is_secret {
            PermissionKind::Secret
        } else {
            PermissionKind::Variable
        };
        grant(kind, &variable.name, "");
    }
    for name in requirements.python.iter().chain(&requirements.node) {
        grant(PermissionKind::Package, name, "");
    }
    granted
}

fn permission_changes(old: Option<&SkillPackage>, new: &SkillPackage) -> Vec<PermissionChange> {
    let old = old.map(granted).unwrap_or_default();
    let changes = changes(&old, &granted(new)).into_iter();
    let changes = changes.map(|((kind, value), change)| PermissionChange {
        kind,
        change,
        value,
    });
    changes.collect()
}

fn file_changes(old: Option<&SkillPackage>, new: &SkillPackage) -> Vec<FileChange> {
    let by_path = |package: &SkillPackage| -> BTreeMap<String, (String, bool)> {
        let files = package.files.iter();
        files
            .map(|file| (file.path.clone(), (file.hash.clone(), file.is_executable)))
            .collect()
    };
    let old = old.map(by_path).unwrap_or_default();
    let new = by_path(new);
    let changed = changes(&old, &new)
        .into_iter()
        .map(|(path, change)| FileChange {
            change,
            old_hash: old.get(&path).map(|(hash, _)| hash.clone()),
            new_hash: new.get(&path).map(|(hash, _)| hash.clone()),
            path,
        });
    changed.collect()
}
