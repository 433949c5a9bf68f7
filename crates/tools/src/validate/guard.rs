//! A schema made one that can be compiled and checked with in bounded time.
//!
//! What makes the work of a small schema large is its references: a few dozen definitions that each
//! refer to the next one four times are 4^30 schemas for the same value, and no look at the value
//! tells how far the checker is. So each reference gets a [`STEP`] before it that does. What has
//! no bound of its own is left out, and not enforced.

use jsonschema::{Draft, Keyword, ValidationError};
use serde_json::{Map, Value, json};

use super::meter;
use super::metered::{MeteredJson, MeteredValue};
use super::pattern::{self, LinearPattern, MAX_NAME_PATTERN_BYTES};

/// The keyword that stands before a reference.
pub(super) const STEP: &str = "tenon:step";

/// More values are no description of arguments.
const MAX_VALUES: usize = 100_000;

/// As deep as a parser of JSON goes, and so deep that the compiler can follow on its stack.
const MAX_DEPTH: usize = 100;

/// With so few references there are at most some dozen ways through them.
const MAX_UNGUARDED_REFERENCES: usize = 8;

/// All of them are tried on each name.
const MAX_NAME_PATTERNS: usize = 64;

/// Matching a byte with one of them takes up to a microsecond, and mostly a nanosecond.
const NAME_PATTERN_STEPS: u64 = 8;

/// Compiling these takes as many steps as there are ways through the schema.
const MAX_VALUES_UNEVALUATED: usize = 5_000;

const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
const UNEVALUATED: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];

/// The keywords whose members have names of their own.
const OF_NAMES: [&str; 5] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
];

/// What the siblings of a reference are good for in drafts where they mean nothing.
const KEPT_BESIDE_OLD_REFERENCE: [&str; 5] = ["$schema", "$id", "id", "definitions", "$defs"];

/// What there is in a schema.
#[derive(Debug, Default)]
pub(super) struct SchemaStats {
    pub(super) values: usize,
    pub(super) depth: usize,
    pub(super) references: usize,
    pub(super) patterns: usize,
    name_patterns: usize,
    has_unreadable_patterns: bool,
    has_unevaluated: bool,
}

impl SchemaStats {
    /// None: it is too large to check anything with.
    pub(super) fn of(schema: &Value) -> Option<Self> {
        let mut survey = Self::default();
        survey.visit(schema, 0).then_some(survey)
    }

    fn visit(&mut self, value: &Value, depth: usize) -> bool {
        self.values += 1;
        self.depth = self.depth.max(depth);
        if self.values > MAX_VALUES || depth > MAX_DEPTH {
            return false;
        }
        match value {
            Value::Array(items) => items.iter().all(|item| self.visit(item, depth + 1)),
            Value::Object(members) => {
                self.references += usize::from(is_reference(members));
                members.iter().all(|(name, value)| {
                    self.keyword(name, value);
                    self.visit(value, depth + 1)
                })
            }
            _ => true,
        }
    }

    fn keyword(&mut self, name: &str, value: &Value) {
        match (name, value) {
            ("pattern", Value::String(pattern)) => {
                self.patterns += 1;
                self.has_unreadable_patterns |= !pattern::is_readable(pattern);
            }
            ("patternProperties", Value::Object(patterns)) => self.name_patterns += patterns.len(),
            (name, _) if UNEVALUATED.contains(&name) => self.has_unevaluated = true,
            _ => {}
        }
    }

    fn is_guarded(&self) -> bool {
        self.references > MAX_UNGUARDED_REFERENCES
    }

    /// What a byte of a name of a property costs, in steps.
    pub(super) fn name_cost(&self) -> u64 {
        self.name_patterns.min(MAX_NAME_PATTERNS) as u64 * NAME_PATTERN_STEPS
    }

    /// The schema to compile, where it differs.
    pub(super) fn guarded(&self, schema: &Value) -> Option<Value> {
        let names_are_enforced = self.name_patterns == 0 || self.checks_names(schema);
        let unevaluated_is_enforced =
            names_are_enforced && !self.is_guarded() && self.values <= MAX_VALUES_UNEVALUATED;
        let as_it_is = !self.is_guarded()
            && !self.has_unreadable_patterns
            && names_are_enforced
            && (unevaluated_is_enforced || !self.has_unevaluated);
        let writer = SchemaWriter {
            steps: self.is_guarded(),
            old_references: matches!(
                Draft::default().detect(schema),
                Draft::Draft4 | Draft::Draft6 | Draft::Draft7
            ),
            names: names_are_enforced,
            unevaluated: unevaluated_is_enforced,
        };
        (!as_it_is).then(|| writer.write(schema, SchemaPosition::Root))
    }

    /// Whether all patterns for names can be checked with.
    fn checks_names(&self, schema: &Value) -> bool {
        if self.name_patterns > MAX_NAME_PATTERNS {
            return false;
        }
        match schema {
            Value::Array(items) => items.iter().all(|item| self.checks_names(item)),
            Value::Object(members) => members.iter().all(|(name, value)| {
                let patterns = value.as_object().filter(|_| name == "patternProperties");
                let mut patterns = patterns.into_iter().flat_map(Map::keys);
                let is_linear = |pattern: &String| {
                    LinearPattern::compile(pattern, MAX_NAME_PATTERN_BYTES).is_some()
                };
                patterns.all(is_linear) && self.checks_names(value)
            }),
            _ => true,
        }
    }
}

struct SchemaWriter {
    steps: bool,
    old_references: bool,
    /// Where not all patterns for names can be enforced, none is.
    names: bool,
    unevaluated: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SchemaPosition {
    Root,
    Schema,
    /// The members are named by the author of the schema.
    Names,
}

impl SchemaWriter {
    fn write(&self, value: &Value, place: SchemaPosition) -> Value {
        let members = match value {
            Value::Array(items) => {
                let items = items
                    .iter()
                    .map(|item| self.write(item, SchemaPosition::Schema));
                return items.collect();
            }
            Value::Object(members) => members,
            other => return other.clone(),
        };
        let mut written = Map::new();
        for (name, value) in members {
            if self.keeps(members, name, value, place) {
                let has_names = place != SchemaPosition::Names && OF_NAMES.contains(&name.as_str());
                let place = if has_names {
                    SchemaPosition::Names
                } else {
                    SchemaPosition::Schema
                };
                written.insert(name.clone(), self.write(value, place));
            }
        }
        if self.steps && is_reference(&written) {
            self.guard(&mut written);
        }
        Value::Object(written)
    }

    fn keeps(
        &self,
        schema: &Map<String, Value>,
        name: &str,
        value: &Value,
        place: SchemaPosition,
    ) -> bool {
        match (name, value) {
            (name, _) if UNEVALUATED.contains(&name) => self.unevaluated,
            _ if place == SchemaPosition::Names => true,
            // One draft for all of it: the steps are written for that.
            ("$schema", Value::String(_)) => place == SchemaPosition::Root || !self.steps,
            ("pattern", Value::String(pattern)) => pattern::is_readable(pattern),
            ("patternProperties", _) => self.names,
            // It applies to all names without a pattern.
            ("additionalProperties", _) => self.names || !schema.contains_key("patternProperties"),
            // These are values, which a step in them would change.
            ("enum", Value::Array(_)) | ("const", Value::Array(_) | Value::Object(_)) => {
                !self.steps || !has_references(value)
            }
            _ => true,
        }
    }

    fn guard(&self, schema: &mut Map<String, Value>) {
        if self.old_references {
            if !schema.get("$ref").is_some_and(Value::is_string) {
                return;
            }
            schema.retain(|name, _| {
                name == "$ref" || KEPT_BESIDE_OLD_REFERENCE.contains(&name.as_str())
            });
        }
        for reference in REFERENCES {
            if !schema.get(reference).is_some_and(Value::is_string) {
                continue;
            }
            let Some(to) = schema.remove(reference) else {
                continue;
            };
            let all = schema.entry("allOf").or_insert_with(|| json!([]));
            if let Value::Array(all) = all {
                all.extend([json!({ STEP: true }), json!({ reference: to })]);
            }
        }
    }
}

/// The schema as it was, for people and models to read.
pub(super) fn unguarded(schema: &Value) -> Value {
    let members = match schema {
        Value::Array(items) => return items.iter().map(unguarded).collect(),
        Value::Object(members) => members,
        other => return other.clone(),
    };
    let mut plain: Map<String, Value> = members
        .iter()
        .map(|(name, value)| (name.clone(), unguarded(value)))
        .collect();
    let Some(Value::Array(all)) = plain.get_mut("allOf") else {
        return Value::Object(plain);
    };
    let mut references = Vec::new();
    while let [.., step, Value::Object(reference)] = &all[..]
        && step.get(STEP).is_some()
    {
        references.push(reference.clone());
        all.truncate(all.len() - 2);
    }
    if all.is_empty() {
        plain.shift_remove("allOf");
    }
    references
        .into_iter()
        .for_each(|reference| plain.extend(reference));
    Value::Object(plain)
}

fn is_reference(schema: &Map<String, Value>) -> bool {
    let is_string = |name: &&str| schema.get(*name).is_some_and(Value::is_string);
    REFERENCES.iter().any(is_string)
}

fn has_references(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_references),
        Value::Object(members) => is_reference(members) || members.values().any(has_references),
        _ => false,
    }
}

/// [`STEP`]: says nothing about a value, and consumes fuel.
#[derive(Debug)]
pub(super) struct StepKeyword;

impl StepKeyword {
    /// Schemas that are compiled again for each way that leads to them are paid for, too.
    pub(super) fn compile() -> Self {
        meter::consume_fuel(100);
        Self
    }
}

impl<'i> Keyword<'i, MeteredJson> for StepKeyword {
    fn validate(&self, _instance: MeteredValue<'i>) -> Result<(), ValidationError<'i>> {
        meter::consume_fuel(1);
        Ok(())
    }

    fn is_valid(&self, _instance: MeteredValue<'i>) -> bool {
        meter::consume_fuel(1);
        true
    }
}
