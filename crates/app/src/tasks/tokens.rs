//! Token files: the values of `${token.NAME}` in the configuration of a task's servers.
//!
//! JSON, YAML, or the Python of Toolathlon, of which only plain values are read: Tenon runs nothing
//! that a task brings along.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use tenon_sources::import;

use super::TaskError;
use super::folder::TaskFolder;

/// Where a task has its own, by preference.
const OF_TASK: [&str; 3] = [
    "token_key_session.json",
    "token_key_session.yaml",
    "token_key_session.py",
];

/// The values of a token file.
#[derive(Default, PartialEq, Eq)]
pub struct TokenFile {
    pub values: BTreeMap<String, String>,
    /// The names whose values are no plain text.
    pub unread: Vec<String>,
}

impl TokenFile {
    pub fn read(path: &Path) -> Result<Self, TaskError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let text = TaskFolder::open(folder)?.text(&name)?;
        Self::parse(&name, &text)
    }

    /// That of a task, if it has one.
    pub(super) fn of_task(folder: &TaskFolder) -> Result<Self, TaskError> {
        for name in OF_TASK {
            if let Some(text) = folder.find_text(name)? {
                return Self::parse(name, &text);
            }
        }
        Ok(Self::default())
    }

    fn parse(name: &str, text: &str) -> Result<Self, TaskError> {
        if name.ends_with(".py") {
            return Ok(Self::from_python(text));
        }
        let parsed = import::parse_value(text).map_err(|error| TaskError::syntax(name, &error))?;
        let Value::Object(map) = parsed else {
            return Err(TaskError::Syntax {
                file: name.to_owned(),
                why: "it must be names with values.".into(),
            });
        };
        let mut file = Self::default();
        for (name, value) in map {
            match value {
                Value::String(text) => {
                    file.values.insert(name, text);
                }
                Value::Number(_) | Value::Bool(_) => {
                    file.values.insert(name, value.to_string());
                }
                Value::Null | Value::Array(_) | Value::Object(_) => file.unread.push(name),
            }
        }
        Ok(file)
    }

    /// `name = "value"` and `"name": "value"`, one on a line, as in a call of `Dict` or a literal.
    fn from_python(text: &str) -> Self {
        let mut file = Self::default();
        for line in text.lines() {
            let Some((name, value)) = assignment(line.trim()) else {
                continue;
            };
            match literal(value) {
                Some(value) => {
                    file.values.insert(name.to_owned(), value);
                }
                // What opens a table is no value; its lines follow.
                None if value.ends_with(['(', '{', '[']) => {}
                None => file.unread.push(name.to_owned()),
            }
        }
        file
    }
}

/// Without the values.
impl std::fmt::Debug for TokenFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("TokenFile")
            .field(&self.values.keys())
            .finish()
    }
}

fn assignment(line: &str) -> Option<(&str, &str)> {
    let (name, value) = match line.strip_prefix(['"', '\'']) {
        Some(_) => {
            let quote = &line[..1];
            let (name, rest) = line[1..].split_once(quote)?;
            (name, rest.trim_start().strip_prefix(':')?)
        }
        None => {
            let (name, value) = line.split_once('=')?;
            (name.trim_end(), value)
        }
    };
    let is_name = |name: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(fits)
    };
    is_name(name).then_some((name, value.trim()))
}

/// A value that is written out: quoted text without escapes, a number, a truth value.
fn literal(value: &str) -> Option<String> {
    if let Some(rest) = value.strip_prefix(['"', '\'']) {
        let (text, rest) = rest.split_once(&value[..1])?;
        let rest = rest.trim_start().trim_start_matches(',').trim_start();
        let is_whole = rest.is_empty() || rest.starts_with('#');
        return (is_whole && !text.contains('\\')).then(|| text.to_owned());
    }
    let word = value.split('#').next().unwrap_or_default();
    let word = word.trim().trim_end_matches(',').trim_end();
    let is_plain = word.parse::<f64>().is_ok() || matches!(word, "True" | "False");
    is_plain.then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, text: &str, values: &[(&str, &str)], unread: &[&str]) {
        let file = TokenFile::parse(name, text).unwrap();
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        assert_eq!(file.values, values.iter().map(pair).collect());
        assert_eq!(file.unread, unread);
    }

    #[test]
    fn plain_values_are_read_and_nothing_is_run() {
        check(
            "t.py",
            "from addict import Dict\nimport os\nall_token_key_session = Dict(\n    notes_key = \"abc\",  # mine\n    port=1993,\n    \
             use_ssl = False,\n    path = os.path.join('a', 'b'),\n    odd = \"a\\n\",\n    'quoted': 'x=1',\n)\n",
            &[
                ("notes_key", "abc"),
                ("port", "1993"),
                ("use_ssl", "False"),
                ("quoted", "x=1"),
            ],
            &["path", "odd"],
        );
        check(
            "t.json",
            r#"{"a": "1", "b": 2, "c": true, "d": {}}"#,
            &[("a", "1"), ("b", "2"), ("c", "true")],
            &["d"],
        );
        check("t.yaml", "a: x\nb: 2\n", &[("a", "x"), ("b", "2")], &[]);
    }
}
