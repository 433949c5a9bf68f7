//! The members of a mapping by key, with errors that name their line.

use serde_json::Value;

use crate::error::{SkillError, SkillProblem};
use crate::yaml::{YamlEntry, YamlNode, YamlValue};

/// A mapping in a file of a package. A key that is there with no value counts as absent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields<'a> {
    pub(crate) file: &'a str,
    pub(crate) line: u64,
    entries: &'a [YamlEntry],
}

impl<'a> Fields<'a> {
    /// `what` names the mapping in the error.
    pub(crate) fn of(file: &'a str, what: &str, node: &'a YamlNode) -> Result<Self, SkillError> {
        let entries = match &node.value {
            YamlValue::Map(entries) => entries.as_slice(),
            _ => {
                let problem = SkillProblem::WrongType {
                    key: what.to_owned(),
                    expected: "a list of `key: value`",
                };
                return Err(SkillError::at(file, node.line, problem));
            }
        };
        let line = entries.first().map_or(node.line, |first| first.line);
        Ok(Self {
            file,
            line,
            entries,
        })
    }

    pub(crate) fn entries(&self) -> &'a [YamlEntry] {
        self.entries
    }

    pub(crate) fn entry(&self, key: &str) -> Option<&'a YamlEntry> {
        let mut entries = self.entries.iter();
        entries.find(|entry| entry.key == key && entry.node.value != YamlValue::Null)
    }

    /// The first of several spellings that is there.
    pub(crate) fn any(&self, keys: &[&str]) -> Option<&'a YamlEntry> {
        keys.iter().find_map(|key| self.entry(key))
    }

    /// A scalar as it is written.
    pub(crate) fn text(&self, keys: &[&str]) -> Result<Option<String>, SkillError> {
        let Some(entry) = self.any(keys) else {
            return Ok(None);
        };
        let text = scalar(&entry.node);
        text.map(Some).ok_or_else(|| self.wrong(entry, "a text"))
    }

    pub(crate) fn flag(&self, key: &str) -> Result<bool, SkillError> {
        match self.entry(key).map(|entry| (entry, &entry.node.value)) {
            None => Ok(false),
            Some((_, YamlValue::Bool(flag))) => Ok(*flag),
            Some((entry, _)) => Err(self.wrong(entry, "`true` or `false`")),
        }
    }

    /// A list of texts; a single text is split by `split`.
    pub(crate) fn texts(
        &self,
        keys: &[&str],
        split: fn(&str) -> Vec<String>,
    ) -> Result<Vec<String>, SkillError> {
        let Some(entry) = self.any(keys) else {
            return Ok(Vec::new());
        };
        let texts = match &entry.node.value {
            YamlValue::List(items) => items.iter().map(scalar).collect(),
            _ => scalar(&entry.node).map(|text| split(&text)),
        };
        texts.ok_or_else(|| self.wrong(entry, "a list of texts"))
    }

    pub(crate) fn json(&self, key: &str) -> Option<Value> {
        self.entry(key).map(|entry| entry.node.to_json())
    }

    pub(crate) fn error(&self, line: u64, problem: impl Into<SkillProblem>) -> SkillError {
        SkillError::at(self.file, line, problem)
    }

    pub(crate) fn wrong(&self, entry: &YamlEntry, expected: &'static str) -> SkillError {
        let key = entry.key.clone();
        self.error(entry.line, SkillProblem::WrongType { key, expected })
    }
}

/// A text, number or flag as it is written; none for what has parts.
pub(crate) fn scalar(node: &YamlNode) -> Option<String> {
    match &node.value {
        YamlValue::Text(text) | YamlValue::Number(_, text) => Some(text.clone()),
        YamlValue::Bool(flag) => Some(flag.to_string()),
        YamlValue::Null | YamlValue::List(_) | YamlValue::Map(_) => None,
    }
}
