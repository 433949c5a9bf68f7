//! The front matter of SKILL.md: the keys of the Agent Skills convention, and ours.
//!
//! Lenient where published skills are: names become slugs, a missing description is the first
//! paragraph, keys that nobody knows are kept.

use serde_json::{Map, Value};
use tenon_text::{block, line};

use crate::error::{SkillError, SkillProblem};
use crate::fields::{Fields, scalar};
use crate::variable::{self, SkillVariable};
use crate::yaml::{YamlNode, YamlValue};

/// The convention says 64.
const MAX_NAME_CHARS: usize = 64;

/// The convention says 1024; many are longer.
const MAX_DESCRIPTION_CHARS: usize = 8000;

/// Keys that are read; the others are metadata.
const KNOWN: [&str; 21] = [
    "name",
    "title",
    "description",
    "version",
    "license",
    "licence",
    "compatibility",
    "metadata",
    "allowed-tools",
    "allowed_tools",
    "allowedTools",
    "tools",
    "secrets",
    "env",
    "environment",
    "network",
    "requirements",
    "settings",
    "user_settings",
    "author",
    "display_name",
];

#[derive(Debug)]
pub(crate) struct Manifest {
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) version: Option<String>,
    pub(crate) license: Option<String>,
    pub(crate) compatibility: Option<String>,
    pub(crate) author: Option<String>,
    pub(crate) allowed_tools: Vec<String>,
    pub(crate) metadata: Map<String, Value>,
    pub(crate) variables: Vec<SkillVariable>,
    pub(crate) network: bool,
    pub(crate) requirements: Vec<String>,
    pub(crate) settings: Option<Value>,
    pub(crate) user_settings: Option<Value>,
}

impl Manifest {
    /// `folder` names the skill where the front matter does not.
    pub(crate) fn parse(
        file: &str,
        node: &YamlNode,
        body: &str,
        folder: Option<&str>,
    ) -> Result<Self, SkillError> {
        let fields = Fields::of(file, "front matter", node)?;
        let written = name(fields, folder)?;
        let metadata = metadata(fields);
        let of_metadata = |key: &str| {
            metadata
                .get(key)
                .and_then(Value::as_str)
                .map(|text| line(text, 100))
        };
        let title = fields
            .text(&["title", "display_name"])?
            .or_else(|| of_metadata("title"));
        let mut allowed_tools = fields.texts(
            &["allowed-tools", "allowed_tools", "allowedTools"],
            split_tools,
        )?;
        allowed_tools.extend(borrowed_tools(fields)?);
        let short = |text: Option<String>| {
            text.map(|text| line(&text, 500))
                .filter(|text| !text.is_empty())
        };
        Ok(Self {
            name: slug(&written),
            title: line(&title.unwrap_or(written), 200),
            description: description(fields, body)?,
            version: short(fields.text(&["version"])?).or_else(|| of_metadata("version")),
            license: short(fields.text(&["license", "licence"])?),
            compatibility: short(compatibility(fields)),
            author: short(fields.text(&["author"])?).or_else(|| of_metadata("author")),
            allowed_tools,
            variables: variable::parse(fields)?,
            network: fields.flag("network")?,
            requirements: fields.texts(&["requirements"], split_requirements)?,
            settings: settings(fields, "settings")?,
            user_settings: settings(fields, "user_settings")?,
            metadata,
        })
    }
}

/// A list of plain names under `tools` is what other programs call `allowed-tools`.
pub(crate) fn is_borrowed_tools(node: &YamlNode) -> bool {
    match &node.value {
        YamlValue::Text(_) => true,
        YamlValue::List(items) => {
            !items.is_empty() && items.iter().all(|item| scalar(item).is_some())
        }
        _ => false,
    }
}

/// A text as a name for files, addresses and command lines: "SearXNG Search" → "searxng-search".
pub(crate) fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            slug.push(c);
        } else if !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug: String = slug
        .trim_matches('-')
        .chars()
        .take(MAX_NAME_CHARS)
        .collect();
    slug.trim_end_matches('-').to_owned()
}

fn name(fields: Fields<'_>, folder: Option<&str>) -> Result<String, SkillError> {
    let written = fields
        .text(&["name"])?
        .filter(|name| !name.trim().is_empty());
    let Some(name) = written.or_else(|| folder.map(str::to_owned)) else {
        let problem = SkillProblem::Missing {
            key: "name",
            example: "`name: word-count`",
        };
        return Err(fields.error(fields.line, problem));
    };
    if slug(&name).is_empty() {
        let at = fields.entry("name").map_or(fields.line, |entry| entry.line);
        return Err(fields.error(at, SkillProblem::UnusableName(line(&name, 80))));
    }
    Ok(name.trim().to_owned())
}

fn description(fields: Fields<'_>, body: &str) -> Result<String, SkillError> {
    let written = fields
        .text(&["description"])?
        .filter(|text| !text.trim().is_empty());
    let first_paragraph = || {
        let paragraphs = body.split("\n\n").map(str::trim);
        let mut paragraphs = paragraphs.filter(|text| !text.is_empty() && !text.starts_with('#'));
        paragraphs.next().map(|text| line(text, 500))
    };
    let Some(text) = written.or_else(first_paragraph) else {
        let example = "`description: Counts words.`, which tells a model when to use the skill";
        let problem = SkillProblem::Missing {
            key: "description",
            example,
        };
        return Err(fields.error(fields.line, problem));
    };
    Ok(block(&text, MAX_DESCRIPTION_CHARS))
}

fn metadata(fields: Fields<'_>) -> Map<String, Value> {
    let declared = match fields.json("metadata") {
        Some(Value::Object(metadata)) => metadata,
        _ => Map::new(),
    };
    let unknown = fields
        .entries()
        .iter()
        .filter(|entry| !KNOWN.contains(&entry.key.as_str()));
    let unknown = unknown.map(|entry| (entry.key.clone(), entry.node.to_json()));
    declared.into_iter().chain(unknown).collect()
}

fn compatibility(fields: Fields<'_>) -> Option<String> {
    let entry = fields.entry("compatibility")?;
    Some(scalar(&entry.node).unwrap_or_else(|| entry.node.to_json().to_string()))
}

fn borrowed_tools(fields: Fields<'_>) -> Result<Vec<String>, SkillError> {
    match fields.entry("tools") {
        Some(entry) if is_borrowed_tools(&entry.node) => fields.texts(&["tools"], split_tools),
        _ => Ok(Vec::new()),
    }
}

/// "Read, Bash(git diff:*) Write": by spaces and commas, but not within parentheses.
fn split_tools(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let parts = text.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (c == ',' || c.is_whitespace())
    });
    parts
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

/// "requests>=2, rich" as Open WebUI's tools have it.
fn split_requirements(text: &str) -> Vec<String> {
    let parts = text.split([',', '\n']).map(str::trim);
    parts
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

/// A JSON Schema of an object.
fn settings(fields: Fields<'_>, key: &str) -> Result<Option<Value>, SkillError> {
    match fields.entry(key) {
        None => Ok(None),
        Some(entry) => match entry.node.to_json() {
            schema @ Value::Object(_) if jsonschema::meta::is_valid(&schema) => Ok(Some(schema)),
            _ => Err(fields.wrong(entry, "a JSON Schema of an object")),
        },
    }
}
