//! Which files of a skill can be run, and with what.

use tenon_skills::script::SkillScript;
use tenon_skills::{SkillPackage, SkillToolRun};

/// Scripts that a model may run: those that are not declared as tools.
pub(super) fn runnable(package: &SkillPackage) -> Vec<&str> {
    let is_of_tool = |path: &str| {
        package.tools.iter().any(|tool| match &tool.run {
            SkillToolRun::Script(SkillScript::Command(words)) => words
                .iter()
                .any(|word| word.strip_prefix("./").unwrap_or(word) == path),
            SkillToolRun::Script(SkillScript::Module { file, .. }) => file == path,
            SkillToolRun::Http(_) | SkillToolRun::Builtin { .. } => false,
        })
    };
    let scripts = package.permissions.scripts.iter().map(String::as_str);
    scripts
        .filter(|path| interpreter(path).is_some() || is_executable(package, path))
        .filter(|path| !is_of_tool(path))
        .collect()
}

pub(super) fn is_executable(package: &SkillPackage, path: &str) -> bool {
    let mut files = package.files.iter();
    files.any(|file| file.path == path && file.is_executable)
}

pub(super) fn interpreter(path: &str) -> Option<&'static str> {
    match path.rsplit_once('.')?.1 {
        "py" => Some("python3"),
        "js" | "mjs" | "cjs" => Some("node"),
        "sh" => Some("sh"),
        _ => None,
    }
}
