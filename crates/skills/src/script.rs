//! Tools that are a program of the skill: a command line without a shell, or a function of a
//! module.

use crate::error::{CommandProblem, SkillError, SkillProblem};
use crate::fields::{Fields, scalar};
use crate::file_tree::FileTree;
use crate::yaml::{YamlEntry, YamlValue};

/// What a shell would act on, and nobody else does.
const SHELL_WORDS: [&str; 10] = ["|", "||", "&&", "&", ";", ">", ">>", "<", "2>", "2>&1"];

/// Names that stand for a file of the skill where they end so.
const SCRIPT_EXTENSIONS: [&str; 8] = [".py", ".js", ".mjs", ".cjs", ".sh", ".ts", ".rb", ".pl"];

/// How a script is run: the arguments are JSON on its standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillScript {
    /// The program and its arguments, in the skill's folder. Never empty.
    Command(Vec<String>),
    /// A function of a module, called by a runner of [`crate::module`] that can stay warm.
    Module {
        language: ModuleLanguage,
        file: String,
        function: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModuleLanguage {
    Python,
    Node,
}

impl SkillScript {
    /// As a person would type it.
    pub fn command_line(&self) -> String {
        match self {
            Self::Command(words) => shlex::try_join(words.iter().map(String::as_str))
                .unwrap_or_else(|_| words.join(" ")),
            Self::Module {
                language,
                file,
                function,
            } => {
                format!("{} {file} {function}", language.program())
            }
        }
    }
}

impl ModuleLanguage {
    pub fn program(self) -> &'static str {
        match self {
            Self::Python => "python3",
            Self::Node => "node",
        }
    }

    pub fn of(file: &str) -> Option<Self> {
        let (_, extension) = file.rsplit_once('.')?;
        match extension {
            "py" => Some(Self::Python),
            "js" | "mjs" => Some(Self::Node),
            _ => None,
        }
    }
}

pub(crate) fn parse(
    tool: &str,
    fields: Fields<'_>,
    files: &FileTree,
) -> Result<SkillScript, SkillError> {
    if let Some(entry) = fields.entry("module") {
        return module(tool, fields, entry, files);
    }
    let Some(entry) = fields.any(&["command", "run"]) else {
        let problem = SkillProblem::ToolNeeds {
            tool: tool.to_owned(),
            key: "command",
            example: "`command: python3 main.py`",
        };
        return Err(fields.error(fields.line, problem));
    };
    let words = words(entry)
        .and_then(|words| check(words, files))
        .map_err(|problem| refuse(tool, fields, entry, problem))?;
    Ok(SkillScript::Command(words))
}

fn module(
    tool: &str,
    fields: Fields<'_>,
    entry: &YamlEntry,
    files: &FileTree,
) -> Result<SkillScript, SkillError> {
    let file = scalar(&entry.node).unwrap_or_default();
    let refuse = |problem| refuse(tool, fields, entry, problem);
    if files.get(&file).is_none() {
        return Err(refuse(CommandProblem::NoSuchFile(file)));
    }
    let language = ModuleLanguage::of(&file);
    let language = language.ok_or_else(|| refuse(CommandProblem::NotAModule(file.clone())))?;
    let function = fields
        .text(&["function"])?
        .unwrap_or_else(|| tool.to_owned());
    Ok(SkillScript::Module {
        language,
        file,
        function,
    })
}

fn words(entry: &YamlEntry) -> Result<Vec<String>, CommandProblem> {
    match &entry.node.value {
        YamlValue::List(items) => {
            let words: Option<Vec<String>> = items.iter().map(scalar).collect();
            words.ok_or(CommandProblem::Empty)
        }
        _ => {
            let line = scalar(&entry.node).unwrap_or_default();
            shlex::split(&line).ok_or(CommandProblem::Quotes)
        }
    }
}

fn check(words: Vec<String>, files: &FileTree) -> Result<Vec<String>, CommandProblem> {
    if words.first().is_none_or(|program| program.is_empty()) {
        return Err(CommandProblem::Empty);
    }
    for word in &words {
        if SHELL_WORDS.contains(&word.as_str()) || word.starts_with("$(") {
            return Err(CommandProblem::Shell(word.clone()));
        }
        if word.split('/').any(|step| step == "..") || word.contains('\0') {
            return Err(CommandProblem::OutsideSkill(word.clone()));
        }
        if let Some(file) = script_file(word)
            && files.get(file).is_none()
        {
            return Err(CommandProblem::NoSuchFile(file.to_owned()));
        }
    }
    Ok(words)
}

/// The file of the skill that a word of a command stands for.
fn script_file(word: &str) -> Option<&str> {
    let file = word.strip_prefix("./").unwrap_or(word);
    let is_local = !word.starts_with(['-', '/']);
    let is_script =
        word.starts_with("./") || SCRIPT_EXTENSIONS.iter().any(|end| file.ends_with(end));
    (is_local && is_script).then_some(file)
}

fn refuse(
    tool: &str,
    fields: Fields<'_>,
    entry: &YamlEntry,
    problem: CommandProblem,
) -> SkillError {
    let tool = tool.to_owned();
    fields.error(entry.line, SkillProblem::Command { tool, problem })
}
