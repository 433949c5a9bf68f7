//! The fields of a server, taken out one by one.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::import::shape::Input;
use crate::import::shell_line::{self, Unfinished};
use crate::text::line;

/// Longer than any argument people write, keys and certificates included.
const MAX_TEXT: usize = 64 * 1024;

/// How many arguments, variables or headers a server may have.
const MAX_LIST: usize = 1000;

pub(super) struct Fields<'a> {
    map: Map<String, Value>,
    inputs: &'a [Input],
    pub(super) notes: Vec<String>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(map: Map<String, Value>, inputs: &'a [Input]) -> Self {
        Self {
            map,
            inputs,
            notes: Vec::new(),
        }
    }

    pub(super) fn note(&mut self, note: &str) {
        self.notes.push(note.to_owned());
    }

    /// The names of what nobody asked for.
    pub(super) fn left(&self) -> Vec<String> {
        let names = self.map.keys().map(|key| line(key, 60));
        names.collect()
    }

    /// A text that goes by one of several names.
    pub(super) fn text(&mut self, keys: &[&str]) -> Result<Option<String>, String> {
        for key in keys {
            match self.take(key) {
                None | Some(Value::Null) => {}
                Some(value) => return self.scalar(key, &value).map(Some),
            }
        }
        Ok(None)
    }

    /// A text that is asked for again later.
    pub(super) fn kept(&mut self, key: &str) -> Result<Option<String>, String> {
        let value = self.map.get(key).filter(|value| !value.is_null()).cloned();
        value.map(|value| self.scalar(key, &value)).transpose()
    }

    /// Fields of their own inside one that goes by one of several names.
    pub(super) fn inner(&mut self, keys: &[&str]) -> Fields<'a> {
        let found = keys.iter().find_map(|key| self.take(key));
        let map = match found {
            Some(Value::Object(map)) => map,
            _ => Map::new(),
        };
        Fields::new(map, self.inputs)
    }

    pub(super) fn flag(&mut self, key: &str) -> Option<bool> {
        match self.take(key)? {
            Value::Bool(flag) => Some(flag),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    /// The first number there is, as `read` understands it.
    pub(super) fn number(&mut self, keys: &[&str], read: impl Fn(&str, f64) -> f64) -> Option<f64> {
        let mut found = None;
        for key in keys {
            let number = match self.take(key) {
                Some(Value::Number(number)) => number.as_f64(),
                Some(Value::String(text)) => text.trim().parse().ok(),
                _ => None,
            };
            found = found.or(number.map(|number| read(key, number)));
        }
        found
    }

    /// A list of words, or a line of them as a shell takes it apart.
    pub(super) fn line(&mut self, key: &str) -> Result<Vec<String>, String> {
        let Some(Value::String(line)) = self.map.get(key) else {
            return self.words(key);
        };
        check(key, line)?;
        let words = shell_line::split(line).map_err(|Unfinished| unfinished(key))?;
        self.map.insert(key.to_owned(), words.into());
        self.words(key)
    }

    /// A list of words, or one.
    pub(super) fn words(&mut self, key: &str) -> Result<Vec<String>, String> {
        match self.take(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(values)) => {
                if values.len() > MAX_LIST {
                    return Err(format!("Its `{key}` are more than {MAX_LIST}."));
                }
                let given = values.iter().filter(|value| !value.is_null());
                given.map(|value| self.scalar(key, value)).collect()
            }
            Some(value) => Ok(vec![self.scalar(key, &value)?]),
        }
    }

    /// Texts by their names.
    pub(super) fn map(&mut self, keys: &[&str]) -> Result<BTreeMap<String, String>, String> {
        let mut found = BTreeMap::new();
        for key in keys {
            let values = match self.take(key) {
                None | Some(Value::Null) => continue,
                Some(Value::Object(values)) => values,
                Some(_) => return Err(format!("Its `{key}` is not an object of texts.")),
            };
            if values.len() > MAX_LIST {
                return Err(format!("Its `{key}` has more than {MAX_LIST} entries."));
            }
            for (name, value) in &values {
                if value.is_null() {
                    continue;
                }
                check(key, name)?;
                found.insert(name.clone(), self.scalar(key, value)?);
            }
        }
        Ok(found)
    }

    pub(super) fn take(&mut self, key: &str) -> Option<Value> {
        self.map.shift_remove(key)
    }

    fn scalar(&mut self, key: &str, value: &Value) -> Result<String, String> {
        let text = match value {
            Value::String(text) => self.asked(text),
            Value::Number(number) => number.to_string(),
            Value::Bool(flag) => flag.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => {
                return Err(format!("In its `{key}` stands something that is no text."));
            }
        };
        check(key, &text)?;
        Ok(text)
    }

    /// A text with what VS Code asks people for as variables of ours.
    fn asked(&mut self, text: &str) -> String {
        let mut text = text.replace("${userHome}", "${HOME}");
        if !text.contains("${input:") {
            return text;
        }
        for input in self.inputs {
            let written = input.written();
            if !text.contains(&written) {
                continue;
            }
            if let Some(instead) = input.instead() {
                text = text.replace(&written, &instead);
            }
            self.notes.extend(input.note());
        }
        text
    }
}

/// What is wrong with a line whose quotes do not match.
pub(super) fn unfinished(key: &str) -> String {
    format!(
        "In its `{key}` a quote is not closed, or a backslash stands at the end. Write it as a list, \
         one text for each argument."
    )
}

fn check(key: &str, text: &str) -> Result<(), String> {
    if text.len() > MAX_TEXT {
        return Err(format!("In its `{key}` stands a text that is too long."));
    }
    match text.contains('\0') {
        true => Err(format!(
            "In its `{key}` stands a character that cannot be there."
        )),
        false => Ok(()),
    }
}
