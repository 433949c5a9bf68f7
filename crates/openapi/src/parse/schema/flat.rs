//! A schema with its references and `allOf`s, as one object.

use std::collections::HashSet;

use serde_json::{Map, Value, json};
use tenon_text as text;

use super::keywords::{ANNOTATIONS, MAX_PROPERTIES};
use super::slot::SchemaSlot;
use super::{joined, weight_of};

/// All that holds for one value, as far as one object can say it.
#[derive(Default)]
pub(in crate::parse) struct FlatSchema<'d> {
    pub(in crate::parse) words: Map<String, Value>,
    pub(in crate::parse) children: Vec<(SchemaSlot<'d>, Vec<&'d Value>)>,
    /// Or null; in a way that `type` cannot say.
    pub(in crate::parse) or_null: bool,
    /// The components it was made of.
    pub(in crate::parse) made_of: Vec<*const Value>,
    pub(super) is_file: bool,
    /// How many fields are not for clients.
    hidden: usize,
}

impl<'d> FlatSchema<'d> {
    /// About how many bytes it has, without its children. Fields that were read and
    /// left out count a little: reading them is work.
    pub(super) fn weight(&self) -> usize {
        weight_of(&self.words) + 8 * self.hidden
    }

    /// Sets keywords from outside, over its own.
    pub(super) fn override_keywords(&mut self, keywords: Map<String, Value>) {
        for (word, value) in keywords {
            self.words.insert(word, value);
        }
    }

    pub(in crate::parse) fn note(&mut self, note: &str) {
        let description = self.words.get("description").and_then(Value::as_str);
        let description = joined(description.unwrap_or_default(), note);
        self.words.insert("description".into(), description.into());
    }

    pub(in crate::parse) fn is(&self, kind: &str) -> bool {
        self.words.get("type").is_some_and(|own| own == kind)
    }

    /// Whether it is said to be nothing but texts, numbers, and yes or no.
    pub(in crate::parse) fn is_scalar(&self) -> bool {
        let is_one = |kind: &Value| {
            let kind = kind.as_str();
            kind.is_some_and(|kind| ["string", "integer", "number", "boolean"].contains(&kind))
        };
        match self.words.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().all(is_one),
            Some(kind) => is_one(kind),
            None => false,
        }
    }

    /// Whether it is bytes, which stand in an input as base64.
    pub(in crate::parse) fn is_encoded(&self) -> bool {
        let format = self.words.get("format").and_then(Value::as_str);
        self.is_binary() || (self.is("string") && matches!(format, Some("byte" | "base64")))
    }

    pub(in crate::parse) fn is_array(&self) -> bool {
        self.is("array")
    }

    /// Whether its values are bytes and not text.
    pub(in crate::parse) fn is_binary(&self) -> bool {
        let word = |word| self.words.get(word).and_then(Value::as_str);
        let is_media = word("contentMediaType").is_some() && word("contentEncoding").is_none();
        self.is_file || word("format") == Some("binary") || is_media
    }

    pub(super) fn become_file(&mut self, note: &str) {
        self.children.clear();
        self.or_null = false;
        self.words
            .retain(|word, _| ANNOTATIONS.contains(&word.as_str()) && word != "examples");
        self.words.insert("type".into(), "string".into());
        self.words.insert("contentEncoding".into(), "base64".into());
        self.note(note);
    }

    /// Leaves only what it is called and what kind it is.
    pub(super) fn strip(&mut self, longest: usize) {
        self.children.clear();
        // Stripping removes the alternative that allowed null, so the type must not exclude null.
        if std::mem::take(&mut self.or_null) {
            self.words.shift_remove("type");
        }
        let kept = ["type", "description", "contentEncoding"];
        let nullable_choice = self.words.contains_key("enum");
        self.words.retain(|word, value| {
            kept.contains(&word.as_str()) || (word == "enum" && super::is_light(value, longest))
        });
        // The removed enumeration may have allowed values outside `type`, so `type` goes as well.
        if nullable_choice && !self.words.contains_key("enum") {
            self.words.shift_remove("type");
        }
        if longest == 0 {
            self.words.shift_remove("description");
        } else if let Some(Value::String(text)) = self.words.get_mut("description") {
            *text = text::block(text, longest);
        }
    }

    pub(super) fn hide(&mut self, hidden: &[&str]) {
        if hidden.is_empty() {
            return;
        }
        self.hidden = hidden.len();
        let hidden: HashSet<&str> = hidden.iter().copied().collect();
        let is_hidden = |name: &str| hidden.contains(name);
        self.children
            .retain(|(slot, _)| !matches!(slot, SchemaSlot::Property(name) if is_hidden(name)));
        if let Some(Value::Array(required)) = self.words.get_mut("required") {
            required.retain(|name| !name.as_str().is_some_and(is_hidden));
            if required.is_empty() {
                self.words.shift_remove("required");
            }
        }
    }

    /// Says what goes without saying, and mends what cannot be meant.
    pub(super) fn complete(&mut self) {
        let has = |wanted: fn(&SchemaSlot<'_>) -> bool| {
            self.children.iter().any(|(slot, _)| wanted(slot))
        };
        let is_choice = has(|slot| matches!(slot, SchemaSlot::Any | SchemaSlot::All));
        let silent = ["type", "enum", "const"]
            .iter()
            .all(|word| !self.words.contains_key(*word));
        if silent && !is_choice {
            let fields =
                has(|slot| matches!(slot, SchemaSlot::Property(_) | SchemaSlot::Additional));
            let items = has(|slot| matches!(slot, SchemaSlot::Items));
            if fields {
                self.words.insert("type".into(), "object".into());
            } else if items {
                self.words.insert("type".into(), "array".into());
            }
        }
        // Unquoted numbers in YAML, quoted ones in JSON: what the type says is meant.
        let kind = self
            .words
            .get("type")
            .and_then(Value::as_str)
            .map(str::to_owned);
        if let (Some(kind), Some(Value::Array(values))) = (kind, self.words.get_mut("enum")) {
            for value in values {
                if let Some(meant) = meant(&kind, value) {
                    *value = meant;
                }
            }
        }
    }

    pub(super) fn allow_null(&mut self) {
        let is_choice =
            |(slot, _): &(SchemaSlot<'_>, _)| matches!(slot, SchemaSlot::Any | SchemaSlot::All);
        if self.words.contains_key("const") || self.children.iter().any(is_choice) {
            self.or_null = true;
            return;
        }
        match self.words.get_mut("type") {
            Some(Value::Array(kinds)) if !kinds.iter().any(|kind| kind == "null") => {
                kinds.push("null".into());
            }
            Some(Value::String(kind)) if kind != "null" => {
                let kinds = json!([kind, "null"]);
                self.words.insert("type".into(), kinds);
            }
            _ => {}
        }
        if let Some(Value::Array(values)) = self.words.get_mut("enum")
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
    }

    /// The names that must be there.
    pub(in crate::parse) fn required(&self) -> Vec<String> {
        let names = self.words.get("required").and_then(Value::as_array);
        let names = names.into_iter().flatten().take(MAX_PROPERTIES);
        names.filter_map(Value::as_str).map(str::to_owned).collect()
    }
}

fn meant(kind: &str, value: &Value) -> Option<Value> {
    match (kind, value) {
        ("string", Value::Number(_) | Value::Bool(_)) => Some(value.to_string().into()),
        ("integer", Value::String(text)) => text.parse::<i64>().ok().map(Value::from),
        ("number", Value::String(text)) => {
            let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
            number.map(Value::from)
        }
        ("boolean", Value::String(text)) => text.parse::<bool>().ok().map(Value::from),
        _ => None,
    }
}
