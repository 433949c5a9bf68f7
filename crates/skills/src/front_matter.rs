//! SKILL.md in its two halves: YAML between two lines `---`, and Markdown.

use tenon_openapi::SyntaxError;

use crate::error::{SkillError, SkillProblem};
use crate::yaml::{self, YamlNode, YamlValue};

/// The longest that is worth a model's context is far shorter.
const MAX_BYTES: usize = 1024 * 1024;

pub(crate) struct FrontMatter<'a> {
    pub(crate) node: YamlNode,
    pub(crate) body: &'a str,
}

pub(crate) fn parse<'a>(file: &str, bytes: &'a [u8]) -> Result<FrontMatter<'a>, SkillError> {
    if bytes.len() > MAX_BYTES {
        let key = file.to_owned();
        let problem = SkillProblem::TooLong {
            key,
            max: MAX_BYTES,
        };
        return Err(SkillError::at(file, 0, problem));
    }
    let text = text(file, bytes)?;
    let (yaml, body) = split(file, text)?;
    let node =
        yaml::parse(&yaml).or_else(|error| match quoted(&yaml).map(|text| yaml::parse(&text)) {
            Some(Ok(node)) => Ok(node),
            _ => Err(syntax(file, error)),
        })?;
    let node = match node.value {
        YamlValue::Null => YamlNode {
            line: 1,
            value: YamlValue::Map(Vec::new()),
        },
        _ => node,
    };
    Ok(FrontMatter { node, body })
}

/// A whole file of text; a byte order mark does not belong to it.
pub(crate) fn text<'a>(file: &str, bytes: &'a [u8]) -> Result<&'a str, SkillError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
        SkillError::at(file, line, SkillProblem::NotUtf8)
    })
}

pub(crate) fn syntax(file: &str, error: SyntaxError) -> SkillError {
    SkillError::at(file, error.line, SkillProblem::Syntax(error.reason))
}

/// The YAML with an empty line in place of the first `---`, so that lines keep their numbers.
fn split<'a>(file: &str, text: &'a str) -> Result<(String, &'a str), SkillError> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    if first.trim_end() != "---" {
        return Err(SkillError::at(file, 1, SkillProblem::NoFrontMatter));
    }
    let mut yaml = String::from("\n");
    let mut read = first.len();
    for line in lines {
        read += line.len();
        if line.trim_end() == "---" {
            return Ok((yaml, text.get(read..).unwrap_or_default()));
        }
        yaml.push_str(line);
    }
    Err(SkillError::at(file, 1, SkillProblem::OpenFrontMatter))
}

/// Plain texts with `: ` or ` #` in them, in quotes: not YAML, but what many published skills
/// have in their description. None where there is none.
fn quoted(yaml: &str) -> Option<String> {
    let mut changed = false;
    let lines = yaml.split_inclusive('\n').map(|line| {
        let Some((key, value)) = line.split_once(": ") else {
            return line.to_owned();
        };
        let is_key = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let value = value.trim();
        let is_plain =
            !value.starts_with(['"', '\'', '[', '{', '|', '>', '&', '*', '!', '%', '@', '`']);
        if !key.chars().all(is_key) || !is_plain || !(value.contains(": ") || value.ends_with(':'))
        {
            return line.to_owned();
        }
        changed = true;
        format!("{key}: '{}'\n", value.replace('\'', "''"))
    });
    let text: String = lines.collect();
    changed.then_some(text)
}
