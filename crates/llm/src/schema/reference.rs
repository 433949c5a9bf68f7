//! Where a `$ref` leads, within one document and never out of it.

use std::cell::OnceCell;
use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{Fault, MAX_QUOTE};
use crate::excerpt::shorten;

/// A schema with the places in it that can be referred to.
pub(super) struct Document<'a> {
    root: &'a Value,
    /// Most schemas name no places, so they are looked up only when one is asked for.
    names: OnceCell<HashMap<&'a str, &'a Value>>,
}

impl<'a> Document<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        Self {
            root,
            names: OnceCell::new(),
        }
    }

    pub(super) fn resolve(&self, reference: &str) -> Result<&'a Value, Fault> {
        let quote = || shorten(reference, MAX_QUOTE).into_owned();
        let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let base = match base {
            "" => self.root,
            address => self.named(address).ok_or_else(|| Fault::Remote(quote()))?,
        };
        let target = match fragment {
            "" => Some(base),
            pointer if pointer.starts_with('/') => follow(base, pointer),
            anchor => self.named(anchor),
        };
        target
            .filter(|target| is_schema(target))
            .ok_or_else(|| Fault::Nowhere(quote()))
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

/// Some generators escape what they write after the `#`, some do not.
fn follow<'a>(base: &'a Value, pointer: &str) -> Option<&'a Value> {
    base.pointer(pointer)
        .or_else(|| base.pointer(&unescape(pointer)?))
}

/// `%7E` → `~`. `None` if that makes no text.
fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = match (first, after) {
            (b'%', [high, low, after @ ..]) => hex(*high, *low).map(|byte| (byte, after)),
            _ => None,
        };
        let (byte, after) = escaped.unwrap_or((first, after));
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

fn hex(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
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
