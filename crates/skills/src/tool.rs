//! One tool of a skill: what the model is told of it, and how it is run.

mod parameters;

use std::time::Duration;

use serde_json::{Map, Value};
use tenon_text::{block, line};

use crate::error::{SkillError, SkillProblem};
use crate::fields::{Fields, scalar};
use crate::file_tree::FileTree;
use crate::http::{self, HttpMapping};
use crate::script::{self, SkillScript};
use crate::yaml::{YamlNode, YamlValue};

/// Models choose badly among far fewer.
const MAX_TOOLS: usize = 100;

const MAX_DESCRIPTION_CHARS: usize = 8000;

/// What runs longer belongs into a program of its own.
const MAX_TIMEOUT: Duration = Duration::from_secs(3600);

#[derive(Debug, Clone, PartialEq)]
pub struct SkillTool {
    /// Unique in its skill.
    pub name: String,
    pub title: Option<String>,
    pub description: String,
    /// A JSON Schema of an object.
    pub parameters: Value,
    pub run: SkillToolRun,
    pub timeout: Option<Duration>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SkillToolRun {
    Http(Box<HttpMapping>),
    Script(SkillScript),
    /// A tool that is built in, with arguments that are fixed.
    Builtin {
        tool: String,
        arguments: Map<String, Value>,
    },
}

impl SkillToolRun {
    /// "http", "script" or "builtin".
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Http(_) => "http",
            Self::Script(_) => "script",
            Self::Builtin { .. } => "builtin",
        }
    }
}

/// The tools of a list, in its order.
pub(crate) fn parse_list(
    file: &str,
    list: &YamlNode,
    files: &FileTree,
) -> Result<Vec<SkillTool>, SkillError> {
    let items = match &list.value {
        YamlValue::List(items) => items.as_slice(),
        YamlValue::Null => &[],
        _ => {
            let key = "tools".to_owned();
            let expected = "a list: `- name: …` for each tool";
            return Err(SkillError::at(
                file,
                list.line,
                SkillProblem::WrongType { key, expected },
            ));
        }
    };
    if items.len() > MAX_TOOLS {
        let problem = SkillProblem::TooMany {
            what: "tools",
            max: MAX_TOOLS,
        };
        return Err(SkillError::at(file, list.line, problem));
    }
    let mut tools: Vec<(SkillTool, u64)> = Vec::new();
    for item in items {
        let fields = Fields::of(file, "tools", item)?;
        let tool = parse(fields, files)?;
        if let Some((_, first)) = tools.iter().find(|(other, _)| other.name == tool.name) {
            let problem = SkillProblem::DuplicateTool {
                name: tool.name,
                first: *first,
            };
            return Err(fields.error(fields.line, problem));
        }
        tools.push((tool, fields.line));
    }
    Ok(tools.into_iter().map(|(tool, _)| tool).collect())
}

fn parse(fields: Fields<'_>, files: &FileTree) -> Result<SkillTool, SkillError> {
    let name = parse_name(fields, "name")?;
    let parameters = parameters::parse(&name, fields)?;
    let run = parse_run(&name, fields, &parameters, files)?;
    Ok(SkillTool {
        title: fields
            .text(&["title", "display_name", "displayName"])?
            .map(|title| line(&title, 200)),
        description: description(fields)?,
        timeout: timeout(fields)?,
        name,
        parameters,
        run,
    })
}

pub(crate) fn parse_name(fields: Fields<'_>, key: &'static str) -> Result<String, SkillError> {
    let Some(entry) = fields.entry(key) else {
        let example = "`name: web_search`";
        return Err(fields.error(fields.line, SkillProblem::Missing { key, example }));
    };
    let name = scalar(&entry.node).unwrap_or_default();
    let is_usable = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_usable) {
        return Err(fields.error(entry.line, SkillProblem::ToolName(line(&name, 80))));
    }
    Ok(name)
}

pub(crate) fn parse_parameters(name: &str, fields: Fields<'_>) -> Result<Value, SkillError> {
    parameters::parse(name, fields)
}

pub(crate) fn description(fields: Fields<'_>) -> Result<String, SkillError> {
    let text = fields.text(&["description"])?.unwrap_or_default();
    Ok(block(&text, MAX_DESCRIPTION_CHARS))
}

fn parse_run(
    name: &str,
    fields: Fields<'_>,
    parameters: &Value,
    files: &FileTree,
) -> Result<SkillToolRun, SkillError> {
    let declared = fields.text(&["type"])?;
    // What a tool has says what it is, where it does not say so itself.
    let implied = || {
        let keys = [
            ("endpoint", "http"),
            ("url", "http"),
            ("command", "script"),
            ("module", "script"),
            ("tool", "builtin"),
        ];
        let found = keys.iter().find(|(key, _)| fields.entry(key).is_some());
        found.map_or("script", |(_, kind)| kind)
    };
    match declared.as_deref().unwrap_or_else(implied) {
        "http" => {
            let mapping = http::parse(name, fields, parameters, false)?;
            Ok(SkillToolRun::Http(Box::new(mapping)))
        }
        "script" => Ok(SkillToolRun::Script(script::parse(name, fields, files)?)),
        "builtin" => builtin(name, fields),
        other => {
            let line_number = fields.entry("type").map_or(fields.line, |entry| entry.line);
            let problem = SkillProblem::ToolType {
                tool: name.to_owned(),
                found: line(other, 40),
            };
            Err(fields.error(line_number, problem))
        }
    }
}

fn builtin(name: &str, fields: Fields<'_>) -> Result<SkillToolRun, SkillError> {
    let tool = fields.text(&["tool"])?.ok_or_else(|| {
        let problem = SkillProblem::ToolNeeds {
            tool: name.to_owned(),
            key: "tool",
            example: "`tool: fetch_page`",
        };
        fields.error(fields.line, problem)
    })?;
    let arguments = match fields
        .entry("arguments")
        .map(|entry| (entry, entry.node.to_json()))
    {
        None => Map::new(),
        Some((_, Value::Object(arguments))) => arguments,
        Some((entry, _)) => return Err(fields.wrong(entry, "a list of `key: value`")),
    };
    Ok(SkillToolRun::Builtin { tool, arguments })
}

/// Seconds, as a number or as `30s`.
fn timeout(fields: Fields<'_>) -> Result<Option<Duration>, SkillError> {
    let Some(entry) = fields.entry("timeout") else {
        return Ok(None);
    };
    let text = scalar(&entry.node).unwrap_or_default();
    let seconds = text.trim().trim_end_matches('s').parse::<f64>().ok();
    let timeout = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let timeout = timeout.filter(|timeout| !timeout.is_zero() && *timeout <= MAX_TIMEOUT);
    let timeout =
        timeout.ok_or_else(|| fields.wrong(entry, "seconds, such as 30, and at most 3600"))?;
    Ok(Some(timeout))
}
