//! The places of a schema where other schemas stand.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value, json};

/// The position of a schema within its parent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::parse) enum SchemaSlot<'d> {
    Property(Cow<'d, str>),
    Pattern(&'d str),
    Additional,
    Items,
    Prefix,
    Any,
    All,
}

impl SchemaSlot<'_> {
    /// About how many bytes it takes to say only that something is there, and its type.
    pub(super) fn cost(&self) -> usize {
        let name = match self {
            Self::Property(name) => name.len(),
            Self::Pattern(pattern) => pattern.len(),
            Self::Additional | Self::Items | Self::Prefix | Self::Any | Self::All => 10,
        };
        name + 32
    }

    /// Whether the child is required wherever its parent is.
    pub(super) fn is_needed(&self, required: &HashSet<String>) -> bool {
        match self {
            Self::Property(name) => required.contains(name.as_ref()),
            Self::Items | Self::Prefix | Self::Any | Self::All => true,
            Self::Pattern(_) | Self::Additional => false,
        }
    }

    pub(super) fn put(self, words: &mut Map<String, Value>, child: Value) {
        let (word, name) = match self {
            Self::Property(name) => ("properties", Some(name.into_owned())),
            Self::Pattern(pattern) => ("patternProperties", Some(pattern.to_owned())),
            Self::Additional => return drop(words.insert("additionalProperties".into(), child)),
            Self::Items => return drop(words.insert("items".into(), child)),
            Self::Prefix => ("prefixItems", None),
            Self::Any => ("anyOf", None),
            Self::All => ("allOf", None),
        };
        let empty = match name {
            Some(_) => json!({}),
            None => json!([]),
        };
        match (words.entry(word).or_insert(empty), name) {
            (Value::Object(members), Some(name)) => drop(members.insert(name, child)),
            (Value::Array(list), None) => list.push(child),
            _ => {}
        }
    }
}
