//! Translates one schema object to JSON Schema 2020-12, keyword by keyword; invalid keywords are
//! dropped.

use std::collections::HashSet;

use serde_json::{Map, Number, Value, json};
use tenon_text as text;

use super::pattern_cache::PatternCache;
use super::slot::SchemaSlot;
use super::{described, is_light, joined};
use crate::parse::references::ReferenceResolver;

pub(super) const MAX_DESCRIPTION_CHARS: usize = 1000;
const MAX_TITLE_CHARS: usize = 120;

/// More fields in one object are not read.
pub(super) const MAX_PROPERTIES: usize = 1000;
const MAX_CHOICES: usize = 200;
const MAX_PATTERNS: usize = 20;
const MAX_PLACES: usize = 50;

/// An enumeration beyond this is told in words: all of it or none, for a value that
/// is not in it would be forbidden.
const MAX_ENUM_ITEMS: usize = 1000;
const MAX_ENUM_BYTES: usize = 16 * 1024;

const MAX_DEFAULT_BYTES: usize = 1024;
const MAX_EXAMPLES: usize = 3;
const MAX_EXAMPLE_BYTES: usize = 256;

static ANYTHING: Value = Value::Bool(true);

/// What it takes to read a word besides the object it stands in.
#[derive(Clone, Copy)]
pub(super) struct KeywordContext<'r, 'd> {
    pub(super) references: &'r ReferenceResolver<'d>,
    pub(super) patterns: &'r PatternCache,
}

impl<'d> KeywordContext<'_, 'd> {
    fn is_read_only(self, schema: &'d Value) -> bool {
        let says_so = |value: &Value| value.get("readOnly") == Some(&Value::Bool(true));
        says_so(schema) || self.references.follow(schema).is_ok_and(says_so)
    }
}

/// What one schema object says.
#[derive(Default)]
pub(super) struct SchemaPart<'d> {
    pub(super) words: Map<String, Value>,
    pub(super) children: Vec<(SchemaSlot<'d>, Vec<&'d Value>)>,
    /// What a client may not send.
    pub(super) hidden: Vec<&'d str>,
    /// `additionalProperties: false`
    pub(super) closed: bool,
    /// It has more fields than were read.
    pub(super) has_more: bool,
    pub(super) is_file: bool,
}

/// How much of a schema is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::parse) enum SchemaDetail {
    All,
    /// What is said about a value, and nothing that it must be.
    Annotations,
    /// What kind of value it is, and nothing below it.
    Bare,
}

/// Only what is said about a value, nothing that it must be.
pub(super) const ANNOTATIONS: [&str; 7] = [
    "title",
    "description",
    "default",
    "example",
    "examples",
    "deprecated",
    "x-example",
];

impl<'d> SchemaPart<'d> {
    pub(super) fn read(
        context: KeywordContext<'_, 'd>,
        object: &'d Map<String, Value>,
        detail: SchemaDetail,
    ) -> Self {
        let mut part = Self::default();
        let wanted: &[&str] = match detail {
            SchemaDetail::All => {
                for (word, value) in object {
                    part.word(context, object, word, value);
                }
                part.exclusive(object);
                part.discriminator(object);
                return part;
            }
            SchemaDetail::Annotations => &ANNOTATIONS,
            SchemaDetail::Bare => &["type", "description", "enum"],
        };
        for word in wanted {
            if let Some(value) = object.get(*word) {
                part.word(context, object, word, value);
            }
        }
        if detail == SchemaDetail::Bare
            && !object.contains_key("type")
            && object.contains_key("properties")
        {
            part.set("type", "object");
        }
        part
    }

    fn set(&mut self, word: &str, value: impl Into<Value>) {
        self.words.insert(word.to_owned(), value.into());
    }

    fn child(&mut self, slot: SchemaSlot<'d>, value: &'d Value) {
        self.children.push((slot, vec![value]));
    }

    fn word(
        &mut self,
        context: KeywordContext<'_, 'd>,
        object: &'d Map<String, Value>,
        word: &str,
        value: &'d Value,
    ) {
        match (word, value) {
            ("type", _) => self.kind(value),
            ("title", Value::String(text)) if !text.trim().is_empty() => {
                self.set(word, text::line(text, MAX_TITLE_CHARS));
            }
            ("description", Value::String(text)) if !text.trim().is_empty() => {
                // A note about an enumeration may stand there already.
                let note = self.words.get(word).and_then(Value::as_str);
                let text = described(text);
                let text = note.map_or(text.clone(), |note| joined(&text, note));
                self.set(word, text);
            }
            ("enum", Value::Array(values)) if !values.is_empty() => self.choice(value, values),
            ("const", _) if is_light(value, MAX_ENUM_BYTES) => self.set(word, value.clone()),
            ("default", _) if is_light(value, MAX_DEFAULT_BYTES) => self.set(word, value.clone()),
            ("example" | "x-example", _) if is_light(value, MAX_EXAMPLE_BYTES) => {
                self.set("examples", json!([value]));
            }
            ("examples", Value::Array(list)) => {
                let short = list.iter().take(MAX_EXAMPLES);
                let short = short.filter(|value| is_light(value, MAX_EXAMPLE_BYTES));
                let short: Vec<Value> = short.cloned().collect();
                if !short.is_empty() {
                    self.set(word, short);
                }
            }
            ("format" | "contentMediaType" | "contentEncoding", Value::String(text))
                if !text.is_empty() =>
            {
                self.set(word, text::line(text, MAX_TITLE_CHARS));
            }
            ("deprecated" | "uniqueItems", Value::Bool(true)) => self.set(word, true),
            ("minimum" | "maximum", Value::Number(_)) => self.set(word, value.clone()),
            ("exclusiveMinimum" | "exclusiveMaximum", Value::Number(_)) => {
                self.set(word, value.clone());
            }
            ("multipleOf", Value::Number(step)) if step.as_f64().is_some_and(|step| step > 0.0) => {
                self.set(word, value.clone());
            }
            (
                "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties"
                | "maxProperties",
                Value::Number(count),
            ) => {
                if let Some(count) = whole(count) {
                    self.set(word, count);
                }
            }
            ("pattern", Value::String(pattern)) => {
                let pattern = undelimited(pattern);
                if context.patterns.is_pattern(pattern) {
                    self.set(word, pattern);
                }
            }
            ("required", Value::Array(names)) => {
                let mut seen = HashSet::new();
                let names = names.iter().take(MAX_PROPERTIES).filter_map(Value::as_str);
                let names: Vec<Value> = names
                    .filter(|name| seen.insert(*name))
                    .map(Value::from)
                    .collect();
                if !names.is_empty() {
                    self.set(word, names);
                }
            }
            ("properties", Value::Object(properties)) => self.properties(context, properties),
            ("patternProperties", Value::Object(patterns)) => {
                for (pattern, schema) in patterns.iter().take(MAX_PATTERNS) {
                    if schema.is_object() && context.patterns.is_pattern(pattern) {
                        self.child(SchemaSlot::Pattern(pattern), schema);
                    }
                }
                // Patterns that are left out would be forbidden by `additionalProperties: false`.
                self.has_more |= patterns.len() > MAX_PATTERNS;
            }
            ("additionalProperties", Value::Bool(false)) => self.closed = true,
            ("additionalProperties", Value::Object(schema)) if !schema.is_empty() => {
                self.child(SchemaSlot::Additional, value);
            }
            ("items", Value::Object(_)) => self.child(SchemaSlot::Items, value),
            ("items" | "prefixItems", Value::Array(places)) => {
                for place in places.iter().take(MAX_PLACES) {
                    self.child(SchemaSlot::Prefix, place);
                }
            }
            ("additionalItems", Value::Object(_))
                if !object.contains_key("prefixItems")
                    && object.get("items").is_some_and(Value::is_array) =>
            {
                self.child(SchemaSlot::Items, value);
            }
            // Of `oneOf` as well: where descriptions of alternatives overlap, and they
            // do, exactly one is more than any server demands.
            ("anyOf" | "oneOf", Value::Array(choices))
                if !choices.is_empty() && choices.len() <= MAX_CHOICES =>
            {
                let taken = self
                    .children
                    .iter()
                    .any(|(slot, _)| *slot == SchemaSlot::Any);
                // The second of the two is left out.
                if !taken
                    && choices
                        .iter()
                        .all(|choice| choice.is_object() || *choice == true)
                {
                    for choice in choices {
                        self.child(SchemaSlot::Any, choice);
                    }
                }
            }
            _ => {}
        }
    }

    fn kind(&mut self, value: &Value) {
        match value {
            Value::String(name) if name.eq_ignore_ascii_case("file") => {
                self.is_file = true;
                self.set("type", "string");
            }
            Value::String(name) => {
                if let Some(kind) = kind(name) {
                    self.set("type", kind);
                }
            }
            Value::Array(names) => {
                let mut kinds: Vec<&str> = Vec::new();
                for kind_name in names
                    .iter()
                    .take(16)
                    .map(|name| name.as_str().and_then(kind))
                {
                    match kind_name {
                        Some(kind) if !kinds.contains(&kind) => kinds.push(kind),
                        Some(_) => {}
                        // An unknown type allows any value.
                        None => return,
                    }
                }
                match kinds.as_slice() {
                    [] => {}
                    [one] => self.set("type", *one),
                    _ => self.set("type", json!(kinds)),
                }
            }
            _ => {}
        }
    }

    fn choice(&mut self, value: &Value, values: &[Value]) {
        if values.len() <= MAX_ENUM_ITEMS && is_light(value, MAX_ENUM_BYTES) {
            return self.set("enum", value.clone());
        }
        let some: Vec<String> = values
            .iter()
            .filter(|value| is_light(value, 80))
            .take(10)
            .map(Value::to_string)
            .collect();
        let note = format!(
            "One of {} values, such as {}.",
            values.len(),
            some.join(", ")
        );
        let description = self.words.get("description").and_then(Value::as_str);
        let description = joined(description.unwrap_or_default(), &note);
        self.set("description", description);
    }

    fn properties(&mut self, context: KeywordContext<'_, 'd>, properties: &'d Map<String, Value>) {
        self.has_more |= properties.len() > MAX_PROPERTIES;
        for (name, schema) in properties.iter().take(MAX_PROPERTIES) {
            if context.is_read_only(schema) || *schema == false {
                self.hidden.push(name);
            } else if schema.is_object() || *schema == true {
                self.child(SchemaSlot::Property(name.into()), schema);
            } else {
                // An invalid schema still declares that the property exists.
                self.child(SchemaSlot::Property(name.into()), &ANYTHING);
            }
        }
    }

    /// Draft 4 says by yes and no whether a bound is itself allowed.
    fn exclusive(&mut self, object: &Map<String, Value>) {
        for (bound, exclusive) in [
            ("minimum", "exclusiveMinimum"),
            ("maximum", "exclusiveMaximum"),
        ] {
            if object.get(exclusive) == Some(&Value::Bool(true))
                && let Some(limit) = self.words.shift_remove(bound)
            {
                self.set(exclusive, limit);
            }
        }
    }

    /// Which field tells alternatives apart is worth a word.
    fn discriminator(&mut self, object: &Map<String, Value>) {
        let Some(Value::Object(discriminator)) = object.get("discriminator") else {
            return;
        };
        let Some(Value::String(field)) = discriminator.get("propertyName") else {
            return;
        };
        if !self
            .children
            .iter()
            .any(|(slot, _)| *slot == SchemaSlot::Any)
        {
            return;
        }
        let mut note = format!("The field `{}` says which", text::line(field, 80));
        if let Some(Value::Object(mapping)) = discriminator.get("mapping") {
            let names: Vec<String> = mapping
                .keys()
                .take(20)
                .map(|name| format!("`{}`", text::line(name, 80)))
                .collect();
            note.push_str(": ");
            note.push_str(&names.join(", "));
        }
        note.push('.');
        let description = self.words.get("description").and_then(Value::as_str);
        let description = joined(description.unwrap_or_default(), &note);
        self.set("description", description);
    }
}

/// One of the seven, also where it is written as programmers write it.
fn kind(name: &str) -> Option<&'static str> {
    const KINDS: [(&str, &[&str]); 7] = [
        ("string", &["str", "text"]),
        ("number", &["float", "double", "decimal"]),
        ("integer", &["int", "int32", "int64", "long"]),
        ("boolean", &["bool"]),
        ("array", &["list"]),
        ("object", &["map", "dict"]),
        ("null", &[]),
    ];
    let name = name.trim();
    let is = |word: &&str| name.eq_ignore_ascii_case(word);
    let mut kinds = KINDS.iter();
    let found = kinds.find(|(kind, others)| is(kind) || others.iter().any(is));
    found.map(|(kind, _)| *kind)
}

fn whole(number: &Number) -> Option<u64> {
    let float = || {
        number
            .as_f64()
            .filter(|n| *n >= 0.0 && n.fract() == 0.0 && *n < 1e15)
    };
    number
        .as_u64()
        .or_else(|| float().map(|float| float as u64))
}

/// `/^a$/` as people write it who think of a language.
fn undelimited(pattern: &str) -> &str {
    let inside = pattern
        .strip_prefix('/')
        .and_then(|rest| rest.strip_suffix('/'));
    inside
        .filter(|inside| inside.starts_with('^') && inside.ends_with('$'))
        .unwrap_or(pattern)
}
