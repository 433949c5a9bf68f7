//! Skills in a terminal.

use anyhow::Result;
use tenon_app::skills::{SkillDetail, SkillPreviewItem, SkillView, TestedSkill};
use tenon_domain::{SourceState, Visibility};
use tenon_sources::skill::package::diff::{ChangeKind, PermissionKind};

use crate::commands::say;

pub(super) fn list(skills: &[SkillView], json: bool) -> Result<()> {
    if json {
        say(serde_json::to_string_pretty(skills)?);
        return Ok(());
    }
    if skills.is_empty() {
        eprintln!("No skills yet: tenon skill install FOLDER, or tenon skill new NAME.");
    }
    let width = skills.iter().map(|skill| skill.name.len()).max();
    let width = width.unwrap_or_default();
    for skill in skills {
        let version = skill.version.as_deref().unwrap_or("–");
        let state = match (&skill.state, skill.visibility) {
            (SourceState::Ready, Visibility::Private) => "ready, private",
            (state, _) => state.as_str(),
        };
        let (name, tools) = (&skill.name, skill.tools.len());
        say(format_args!(
            "{name:width$}  {version:8}  {tools:3} tools  {state}"
        ));
    }
    Ok(())
}

pub(super) fn detail(skill: &SkillDetail, json: bool) -> Result<()> {
    if json {
        say(serde_json::to_string_pretty(skill)?);
        return Ok(());
    }
    let view = &skill.skill;
    say(format_args!("{} ({})", view.title, view.name));
    say(&view.description);
    match &view.state {
        SourceState::Failed { why } => say(format_args!("It cannot be used: {}", why.message)),
        SourceState::Degraded { why } => say(&why.message),
        SourceState::Starting
        | SourceState::Ready
        | SourceState::Sleeping
        | SourceState::Off
        | SourceState::Offline => {}
    }
    for tool in &view.tools {
        say(format_args!(
            "  {}  {}  {}",
            tool.tool_id, tool.name, tool.target
        ));
    }
    for value in &skill.values {
        let state = if value.is_set { "set" } else { "not set" };
        say(format_args!("  {} is {state}", value.name));
    }
    for version in &skill.versions {
        let mark = if version.current { "*" } else { " " };
        let label = version.version.as_deref().unwrap_or("–");
        say(format_args!("{mark} {label}  {}", &version.hash[..12]));
    }
    Ok(())
}

/// What installing it would change.
pub(super) fn preview(skill: &SkillPreviewItem) {
    let diff = &skill.diff;
    let version = skill.version.as_deref().unwrap_or("without a version");
    let from = match (&diff.old_hash, &diff.old_version) {
        (Some(_), Some(old)) => format!(", installed: {old}"),
        (Some(hash), None) => format!(", installed: {}", &hash[..12]),
        (None, _) => String::new(),
    };
    eprintln!("{} {version} ({}{from})", skill.name, &skill.hash[..12]);
    eprintln!("  {}", skill.description);
    for tool in &diff.tools {
        eprintln!(
            "  {} tool {}: {}",
            mark(tool.change),
            tool.name,
            tool.target
        );
    }
    for permission in &diff.permissions {
        let what = match permission.kind {
            PermissionKind::Network => "uses the network",
            PermissionKind::Command => "runs",
            PermissionKind::Script => "has the script",
            PermissionKind::Server => "sends requests to",
            PermissionKind::Variable => "asks for the value",
            PermissionKind::Secret => "asks for the secret",
            PermissionKind::Package => "installs the package",
        };
        eprintln!("  {} {what} {}", mark(permission.change), permission.value);
    }
    for file in &diff.files {
        let hash = file.new_hash.as_deref().unwrap_or("            ");
        eprintln!("  {} {} {}", mark(file.change), &hash[..12], file.path);
    }
}

pub(super) fn installed(skill: &SkillView) {
    let version = skill.version.as_deref().unwrap_or_default();
    say(format_args!("Installed {} {version}", skill.name)
        .to_string()
        .trim_end());
    for tool in &skill.tools {
        say(format_args!("  {}", tool.tool_id));
    }
}

pub(super) fn tested(skill: &TestedSkill) {
    say(format_args!(
        "✓ {}: SKILL.md and {} tools are valid",
        skill.name, skill.tools
    ));
    for call in &skill.calls {
        match &call.failure {
            None => say(format_args!("✓ {} {}", call.tool, call.arguments)),
            Some(why) => say(format_args!("✗ {} {}: {why}", call.tool, call.arguments)),
        }
    }
}

fn mark(change: ChangeKind) -> char {
    match change {
        ChangeKind::Added => '+',
        ChangeKind::Removed => '-',
        ChangeKind::Changed => '~',
    }
}
