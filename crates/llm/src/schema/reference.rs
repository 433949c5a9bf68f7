//! Resolves `$ref`s within one schema: JSON pointers, anchors and `$id`s. Nothing is fetched.
//!
//! OpenAPI documents have pointers only, so the index of anchors is not shared with their reader.

use std::cell::OnceCell;
use std::collections::HashMap;

use serde_json::{Map, Value};
use tenon_schema::reference;

use super::{MAX_QUOTE_CHARS, SchemaError};
use tenon_domain::text::shorten;

/// A schema with what can be referred to in it.
pub(super) struct SchemaDocument<'a> {
    root: &'a Value,
    /// By anchor and `$id`. Most schemas have none, so the index is built on first use.
    names: OnceCell<HashMap<&'a str, &'a Value>>,
}

impl<'a> SchemaDocument<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        Self {
            root,
            names: OnceCell::new(),
        }
    }

    pub(super) fn resolve(&self, reference: &str) -> Result<&'a Value, SchemaError> {
        let quote = || shorten(reference, MAX_QUOTE_CHARS).into_owned();
        let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = match base {
            "" => self.root,
            address => self
                .named(address)
                .ok_or_else(|| SchemaError::RemoteReference {
                    reference: quote().into(),
                })?,
        };
        let target = match fragment {
            "" => Some(base),
            pointer if pointer.starts_with('/') => reference::resolve(base, pointer),
            anchor => self.named(anchor),
        };
        target
            .filter(|target| is_schema(target))
            .ok_or_else(|| SchemaError::DanglingReference {
                reference: quote().into(),
            })
    }

    /// The schema with that `$id` or anchor.
    fn named(&self, name: &str) -> Option<&'a Value> {
        let names = self.names.get_or_init(|| {
            let mut names = HashMap::new();
            collect_names(self.root, &mut names);
            names
        });
        names.get(name).copied()
    }
}

pub(super) fn is_schema(value: &Value) -> bool {
    matches!(value, Value::Object(_) | Value::Bool(_))
}

fn collect_names<'a>(schema: &'a Value, names: &mut HashMap<&'a str, &'a Value>) {
    let Value::Object(keywords) = schema else {
        return;
    };
    for keyword in ["$anchor", "$dynamicAnchor", "$id", "id"] {
        if let Some(Value::String(name)) = keywords.get(keyword) {
            // `"$id": "#name"` is how anchors were written before there were anchors.
            names.entry(name.trim_matches('#')).or_insert(schema);
        }
    }
    for child in children(keywords) {
        collect_names(child, names);
    }
}

fn children(keywords: &Map<String, Value>) -> Vec<&Value> {
    let mut children = Vec::new();
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            // These are values, not schemas: an "$id" in them is just a word.
            ("default" | "enum" | "const" | "examples" | "example", _) => {}
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Object(schemas),
            ) => children.extend(schemas.values()),
            (_, Value::Array(schemas)) => children.extend(schemas),
            (_, schema) => children.push(schema),
        }
    }
    children
}
