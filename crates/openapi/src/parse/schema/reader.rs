//! Reads the schemas of one document: references followed, `allOf`s made one.

use std::cell::{Cell, RefCell};

use serde_json::{Map, Value};

use super::flat::FlatSchema;
use super::keywords::{KeywordContext, MAX_PROPERTIES, SchemaDetail, SchemaPart};
use super::merge;
use super::pattern_cache::PatternCache;
use super::slot::SchemaSlot;

use crate::note::ReferenceError;
use crate::parse::references::ReferenceResolver;

/// How many schemas may hold together. Deep hierarchies have a dozen.
const MAX_PARTS: usize = 64;
const MAX_STEPS: usize = 256;

/// What a tool may cost a model: some ten thousand tokens.
const MAX_SCHEMA_BYTES: usize = 64 * 1024;

/// What there is for each at least, however many there are.
const MIN_SCHEMA_BYTES: usize = 2 * 1024;

/// All schemas of a document together; in memory each byte is ten.
const MAX_DOCUMENT_SCHEMA_BYTES: usize = 16 * 1024 * 1024;

/// How many places in other documents are told apart.
const MAX_UNREAD: usize = 1000;

/// What it takes to read schemas of one document.
pub(in crate::parse) struct SchemaReader<'d> {
    pub(in crate::parse) references: ReferenceResolver<'d>,
    /// What stands beside a `$ref` counts: so it is since 3.1.
    pub(in crate::parse) siblings: bool,
    patterns: PatternCache,
    /// How many bytes all schemas of this document may still have.
    bytes_left: Cell<usize>,
    /// How many schemas are still to come.
    inputs_left: Cell<usize>,
    /// Places in other documents that a schema was to be at, each once.
    unread: RefCell<Vec<String>>,
}

/// The objects a schema consists of, before they are read.
#[derive(Default)]
struct SchemaParts<'d> {
    plain: Vec<SchemaObject<'d>>,
    made_of: Vec<*const Value>,
    steps: usize,
    notes: Vec<String>,
    /// Set if the schema contains itself: the type of the repeated schema.
    again: Option<&'d str>,
}

/// Whether null is one of the values, as 3.0 says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nullability {
    Allowed,
    Forbidden,
    Unsaid,
}

impl Nullability {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unsaid, other) | (other, Self::Unsaid) => other,
            (Self::Allowed, Self::Allowed) => Self::Allowed,
            (Self::Forbidden, _) | (_, Self::Forbidden) => Self::Forbidden,
        }
    }
}

struct SchemaObject<'d> {
    value: &'d Value,
    object: &'d Map<String, Value>,
    only_annotations: bool,
}

impl<'d> SchemaReader<'d> {
    pub(in crate::parse) fn new(references: ReferenceResolver<'d>, siblings: bool) -> Self {
        Self {
            references,
            siblings,
            patterns: PatternCache::default(),
            bytes_left: Cell::new(MAX_DOCUMENT_SCHEMA_BYTES),
            inputs_left: Cell::new(0),
            unread: RefCell::default(),
        }
    }

    /// Says how many inputs share what there is.
    pub(in crate::parse) fn expect(&self, inputs: usize) {
        self.inputs_left.set(inputs);
    }

    /// How many bytes the next input may have. Most need little, so that one may have
    /// several times its share.
    pub(in crate::parse) fn limit(&self) -> usize {
        let share = self.bytes_left.get() / self.inputs_left.get().max(1);
        (4 * share).clamp(MIN_SCHEMA_BYTES, MAX_SCHEMA_BYTES)
    }

    pub(in crate::parse) fn spend(&self, bytes: usize) {
        self.bytes_left
            .set(self.bytes_left.get().saturating_sub(bytes));
        self.inputs_left
            .set(self.inputs_left.get().saturating_sub(1));
    }

    /// Makes one of schemas that all hold. `is_above` knows the components around them.
    pub(in crate::parse) fn flatten(
        &self,
        sources: &[&'d Value],
        detail: SchemaDetail,
        is_above: &dyn Fn(*const Value) -> bool,
    ) -> FlatSchema<'d> {
        let mut parts = SchemaParts::default();
        let mut null = Nullability::Unsaid;
        for source in sources {
            null = null.and(self.gather(source, is_above, &mut parts));
        }
        let mut flat = FlatSchema::default();
        let mut closed = false;
        let mut with_fields = 0;
        let mut has_more = false;
        let mut hidden = Vec::new();
        let context = KeywordContext {
            references: &self.references,
            patterns: &self.patterns,
        };
        for plain in &parts.plain {
            if flat.children.len() + hidden.len() > MAX_PROPERTIES {
                has_more = true;
                break;
            }
            let detail = if plain.only_annotations {
                SchemaDetail::Annotations
            } else {
                detail
            };
            let part = SchemaPart::read(context, plain.object, detail);
            has_more |= part.has_more || !part.hidden.is_empty();
            closed |= part.closed;
            let has_fields =
                |(slot, _): &(SchemaSlot<'_>, _)| matches!(slot, SchemaSlot::Property(_));
            with_fields += usize::from(part.closed || part.children.iter().any(has_fields));
            hidden.extend(part.hidden.iter().copied());
            flat.is_file |= part.is_file;
            if let Err(clash) = merge::add(&mut flat.words, &mut flat.children, part) {
                let merge::Contradiction = clash;
                flat.children.push((SchemaSlot::All, vec![plain.value]));
            }
        }
        flat.made_of = parts.made_of;
        // With fields of several schemas together, none of them can forbid the others'.
        if closed && with_fields == 1 && !has_more {
            flat.words
                .insert("additionalProperties".into(), false.into());
        }
        flat.hide(&hidden);
        flat.complete();
        if let Some(kind) = parts.again {
            flat.words.entry("type").or_insert_with(|| kind.into());
            flat.note("The same again as what it is in: its fields are not repeated here.");
        }
        for note in parts.notes {
            flat.note(&note);
        }
        if null == Nullability::Allowed {
            flat.allow_null();
        }
        flat
    }

    /// Finds all objects that hold, and what they say about null.
    fn gather(
        &self,
        source: &'d Value,
        is_above: &dyn Fn(*const Value) -> bool,
        parts: &mut SchemaParts<'d>,
    ) -> Nullability {
        parts.steps += 1;
        let Value::Object(object) = source else {
            return Nullability::Unsaid;
        };
        if parts.steps > MAX_STEPS || parts.plain.len() >= MAX_PARTS {
            return Nullability::Unsaid;
        }
        let reference = object.get("$ref").and_then(Value::as_str);
        if reference.is_none() || object.len() > 1 {
            parts.plain.push(SchemaObject {
                value: source,
                object,
                only_annotations: reference.is_some() && !self.siblings,
            });
        }
        let mut inner = Nullability::Unsaid;
        if let Some(reference) = reference
            && let Some(target) = self.follow(reference, is_above, parts)
        {
            inner = inner.and(self.gather(target, is_above, parts));
        }
        if let Some(Value::Array(list)) = object.get("allOf")
            && (reference.is_none() || self.siblings)
        {
            for part in list.iter().take(MAX_PARTS) {
                inner = inner.and(self.gather(part, is_above, parts));
            }
        }
        // Keywords beside `allOf` apply to the whole.
        match object.get("nullable") == Some(&Value::Bool(true)) {
            true => Nullability::Allowed,
            false if reference.is_none() && object.contains_key("type") => Nullability::Forbidden,
            false => inner,
        }
    }

    fn follow(
        &self,
        reference: &'d str,
        is_above: &dyn Fn(*const Value) -> bool,
        parts: &mut SchemaParts<'d>,
    ) -> Option<&'d Value> {
        let target = match self.references.resolve(reference) {
            Ok(target) => target,
            Err(error) => {
                parts.notes.push(match error {
                    ReferenceError::OtherDocument { reference, .. } => {
                        self.note_unread(&reference);
                        format!("What it is like is said in another document: `{reference}`.")
                    }
                    ReferenceError::Missing(_) | ReferenceError::Cycle(_) => {
                        "The document does not say what it is like.".into()
                    }
                });
                return None;
            }
        };
        let component = std::ptr::from_ref(target);
        if parts.made_of.contains(&component) {
            return None;
        }
        if is_above(component) {
            // A part of an `allOf` that stands above already holds there.
            if parts.steps == 1 {
                let kind = target.get("type").and_then(Value::as_str);
                let kind = kind.filter(|kind| ["array", "string"].contains(kind));
                parts.again = Some(kind.unwrap_or("object"));
            }
            return None;
        }
        parts.made_of.push(component);
        Some(target)
    }

    /// The places in other documents that schemas were to be at.
    pub(in crate::parse) fn unread(&self) -> Vec<String> {
        self.unread.borrow().clone()
    }

    fn note_unread(&self, reference: &str) {
        let mut unread = self.unread.borrow_mut();
        if unread.len() < MAX_UNREAD && !unread.iter().any(|known| known == reference) {
            unread.push(reference.to_owned());
        }
    }
}
