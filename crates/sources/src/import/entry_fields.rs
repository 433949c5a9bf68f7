//! The fields of one server entry. Reading a field removes it, so that what is left is unknown.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::MAX_LIST_ITEMS;
use super::error::ServerEntryError;
use super::note::ImportNote;
use super::shell_line::{self, UnclosedQuote};
use super::vscode_input::VscodeInput;
use tenon_domain::ErrorDetail;
use tenon_domain::text::line;

/// Longer than any argument people write, keys and certificates included.
const MAX_TEXT_BYTES: usize = 64 * 1024;

pub(super) struct EntryFields<'a> {
    map: Map<String, Value>,
    inputs: &'a [VscodeInput],
    pub(super) notes: Vec<ErrorDetail>,
}

impl<'a> EntryFields<'a> {
    pub(super) fn new(map: Map<String, Value>, inputs: &'a [VscodeInput]) -> Self {
        Self {
            map,
            inputs,
            notes: Vec::new(),
        }
    }

    pub(super) fn note(&mut self, note: ImportNote) {
        self.notes.push(note.into());
    }

    /// The names of the fields that were not read.
    pub(super) fn unread(&self) -> Vec<String> {
        let names = self.map.keys().map(|key| line(key, 60));
        names.collect()
    }

    /// A text that goes by one of several names.
    pub(super) fn text(&mut self, keys: &[&str]) -> Result<Option<String>, ServerEntryError> {
        for key in keys {
            match self.take(key) {
                None | Some(Value::Null) => {}
                Some(value) => return self.scalar(key, &value).map(Some),
            }
        }
        Ok(None)
    }

    /// A text that stays in the map for a later read.
    pub(super) fn peek(&mut self, key: &str) -> Result<Option<String>, ServerEntryError> {
        let value = self.map.get(key).filter(|value| !value.is_null()).cloned();
        value.map(|value| self.scalar(key, &value)).transpose()
    }

    /// Fields of their own inside one that goes by one of several names.
    pub(super) fn inner(&mut self, keys: &[&str]) -> EntryFields<'a> {
        let found = keys.iter().find_map(|key| self.take(key));
        let map = match found {
            Some(Value::Object(map)) => map,
            _ => Map::new(),
        };
        EntryFields::new(map, self.inputs)
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
    pub(super) fn line(&mut self, key: &str) -> Result<Vec<String>, ServerEntryError> {
        let Some(Value::String(line)) = self.map.get(key) else {
            return self.words(key);
        };
        check(key, line)?;
        let words = shell_line::split(line)
            .map_err(|UnclosedQuote| ServerEntryError::UnclosedQuote { field: key.into() })?;
        self.map.insert(key.to_owned(), words.into());
        self.words(key)
    }

    /// A list of words, or one.
    pub(super) fn words(&mut self, key: &str) -> Result<Vec<String>, ServerEntryError> {
        match self.take(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(values)) => {
                if values.len() > MAX_LIST_ITEMS {
                    return Err(ServerEntryError::TooManyValues {
                        field: key.into(),
                        max: MAX_LIST_ITEMS,
                    });
                }
                let given = values.iter().filter(|value| !value.is_null());
                given.map(|value| self.scalar(key, value)).collect()
            }
            Some(value) => Ok(vec![self.scalar(key, &value)?]),
        }
    }

    /// Texts by their names.
    pub(super) fn map(
        &mut self,
        keys: &[&str],
    ) -> Result<BTreeMap<String, String>, ServerEntryError> {
        let mut found = BTreeMap::new();
        for key in keys {
            let values = match self.take(key) {
                None | Some(Value::Null) => continue,
                Some(Value::Object(values)) => values,
                Some(_) => {
                    return Err(ServerEntryError::NotAMap {
                        field: (*key).into(),
                    });
                }
            };
            if values.len() > MAX_LIST_ITEMS {
                return Err(ServerEntryError::TooManyEntries {
                    field: (*key).into(),
                    max: MAX_LIST_ITEMS,
                });
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

    fn scalar(&mut self, key: &str, value: &Value) -> Result<String, ServerEntryError> {
        let text = match value {
            Value::String(text) => self.asked(text),
            Value::Number(number) => number.to_string(),
            Value::Bool(flag) => flag.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => {
                return Err(ServerEntryError::NotText { field: key.into() });
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
            self.notes.extend(input.note().map(ErrorDetail::from));
        }
        text
    }
}

fn check(key: &str, text: &str) -> Result<(), ServerEntryError> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(ServerEntryError::TextTooLong { field: key.into() });
    }
    if text.contains('\0') {
        return Err(ServerEntryError::NulCharacter { field: key.into() });
    }
    Ok(())
}
