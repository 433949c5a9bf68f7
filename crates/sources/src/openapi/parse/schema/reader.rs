//! Reading schemas of one document: references followed, `allOf`s made one.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use serde_json::{Map, Value};

use super::flat::Flat;
use super::keywords::{Detail, MAX_PROPERTIES, Part};
use super::slot::Slot;
use super::{merge, pattern};
use crate::openapi::parse::refs::{Lost, Refs};

/// How many schemas may hold together. Deep hierarchies have a dozen.
const MAX_PARTS: usize = 64;
const MAX_STEPS: usize = 256;

/// What a tool may cost a model: some ten thousand tokens.
const MAX_BYTES: usize = 64 * 1024;

/// What there is for each at least, however many there are.
const LEAST_BYTES: usize = 2 * 1024;

/// All schemas of a document together; in memory each byte is ten.
const ALL_BYTES: usize = 16 * 1024 * 1024;

/// How many places in other documents are told apart.
const MAX_UNREAD: usize = 1000;

/// What all patterns of a document may cost to be tried: about a second.
const ALL_PATTERNS: usize = 1_000_000;

/// What it takes to read schemas of one document.
pub(in crate::openapi::parse) struct Reader<'d> {
    pub(in crate::openapi::parse) refs: Refs<'d>,
    /// What stands beside a `$ref` counts: so it is since 3.1.
    pub(in crate::openapi::parse) siblings: bool,
    patterns: RefCell<HashMap<String, bool>>,
    patterns_left: Cell<usize>,
    /// How many bytes all schemas of this document may still have.
    left: Cell<usize>,
    /// How many schemas are still to come.
    to_come: Cell<usize>,
    /// Places in other documents that a schema was to be at, each once.
    unread: RefCell<Vec<String>>,
}

/// The objects a schema consists of, before they are read.
#[derive(Default)]
struct Heap<'d> {
    plain: Vec<Plain<'d>>,
    made_of: Vec<*const Value>,
    steps: usize,
    notes: Vec<String>,
    /// It is what it stands in; its type.
    again: Option<&'d str>,
}

/// Whether null is one of the values, as 3.0 says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Null {
    Allowed,
    Forbidden,
    Unsaid,
}

impl Null {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unsaid, other) | (other, Self::Unsaid) => other,
            (Self::Allowed, Self::Allowed) => Self::Allowed,
            (Self::Forbidden, _) | (_, Self::Forbidden) => Self::Forbidden,
        }
    }
}

struct Plain<'d> {
    value: &'d Value,
    object: &'d Map<String, Value>,
    only_annotations: bool,
}

impl<'d> Reader<'d> {
    pub(in crate::openapi::parse) fn new(refs: Refs<'d>, siblings: bool) -> Self {
        Self {
            refs,
            siblings,
            patterns: RefCell::default(),
            patterns_left: Cell::new(ALL_PATTERNS),
            left: Cell::new(ALL_BYTES),
            to_come: Cell::new(0),
            unread: RefCell::default(),
        }
    }

    /// Says how many inputs share what there is.
    pub(in crate::openapi::parse) fn expect(&self, inputs: usize) {
        self.to_come.set(inputs);
    }

    /// How many bytes the next input may have. Most need little, so that one may have
    /// several times its share.
    pub(in crate::openapi::parse) fn limit(&self) -> usize {
        let share = self.left.get() / self.to_come.get().max(1);
        (4 * share).clamp(LEAST_BYTES, MAX_BYTES)
    }

    pub(in crate::openapi::parse) fn spend(&self, bytes: usize) {
        self.left.set(self.left.get().saturating_sub(bytes));
        self.to_come.set(self.to_come.get().saturating_sub(1));
    }

    /// Makes one of schemas that all hold. `is_above` knows the components around them.
    pub(in crate::openapi::parse) fn flatten(
        &self,
        sources: &[&'d Value],
        detail: Detail,
        is_above: &dyn Fn(*const Value) -> bool,
    ) -> Flat<'d> {
        let mut heap = Heap::default();
        let mut null = Null::Unsaid;
        for source in sources {
            null = null.and(self.gather(source, is_above, &mut heap));
        }
        let mut flat = Flat::default();
        let mut closed = false;
        let mut with_fields = 0;
        let mut has_more = false;
        let mut hidden = Vec::new();
        for plain in &heap.plain {
            if flat.children.len() + hidden.len() > MAX_PROPERTIES {
                has_more = true;
                break;
            }
            let detail = match plain.only_annotations {
                true => Detail::Annotations,
                false => detail,
            };
            let part = Part::read(self, plain.object, detail);
            has_more |= part.has_more || !part.hidden.is_empty();
            closed |= part.closed;
            let has_fields = |(slot, _): &(Slot<'_>, _)| matches!(slot, Slot::Property(_));
            with_fields += usize::from(part.closed || part.children.iter().any(has_fields));
            hidden.extend(part.hidden.iter().copied());
            flat.is_file |= part.is_file;
            if let Err(clash) = merge::add(&mut flat.words, &mut flat.children, part) {
                let merge::Contradiction = clash;
                flat.children.push((Slot::All, vec![plain.value]));
            }
        }
        flat.made_of = heap.made_of;
        // With fields of several schemas together, none of them can forbid the others'.
        if closed && with_fields == 1 && !has_more {
            flat.words
                .insert("additionalProperties".into(), false.into());
        }
        flat.hide(&hidden);
        flat.complete();
        if let Some(kind) = heap.again {
            flat.words.entry("type").or_insert_with(|| kind.into());
            flat.note("The same again as what it is in: its fields are not repeated here.");
        }
        for note in heap.notes {
            flat.note(&note);
        }
        if null == Null::Allowed {
            flat.allow_null();
        }
        flat
    }

    /// Finds all objects that hold, and what they say about null.
    fn gather(
        &self,
        source: &'d Value,
        is_above: &dyn Fn(*const Value) -> bool,
        heap: &mut Heap<'d>,
    ) -> Null {
        heap.steps += 1;
        let Value::Object(object) = source else {
            return Null::Unsaid;
        };
        if heap.steps > MAX_STEPS || heap.plain.len() >= MAX_PARTS {
            return Null::Unsaid;
        }
        let reference = object.get("$ref").and_then(Value::as_str);
        if reference.is_none() || object.len() > 1 {
            heap.plain.push(Plain {
                value: source,
                object,
                only_annotations: reference.is_some() && !self.siblings,
            });
        }
        let mut parts = Null::Unsaid;
        if let Some(place) = reference
            && let Some(target) = self.follow(place, is_above, heap)
        {
            parts = parts.and(self.gather(target, is_above, heap));
        }
        if let Some(Value::Array(list)) = object.get("allOf")
            && (reference.is_none() || self.siblings)
        {
            for part in list.iter().take(MAX_PARTS) {
                parts = parts.and(self.gather(part, is_above, heap));
            }
        }
        // What is said outside is said about the whole.
        match object.get("nullable") == Some(&Value::Bool(true)) {
            true => Null::Allowed,
            false if reference.is_none() && object.contains_key("type") => Null::Forbidden,
            false => parts,
        }
    }

    fn follow(
        &self,
        place: &'d str,
        is_above: &dyn Fn(*const Value) -> bool,
        heap: &mut Heap<'d>,
    ) -> Option<&'d Value> {
        let target = match self.refs.find(place) {
            Ok(target) => target,
            Err(lost) => {
                heap.notes.push(match lost {
                    Lost::Elsewhere { place, .. } => {
                        self.note_unread(&place);
                        format!("What it is like is said in another document: `{place}`.")
                    }
                    Lost::Missing(_) | Lost::Circle(_) => {
                        "The document does not say what it is like.".into()
                    }
                });
                return None;
            }
        };
        let component = std::ptr::from_ref(target);
        if heap.made_of.contains(&component) {
            return None;
        }
        if is_above(component) {
            // A part of an `allOf` that stands above already holds there.
            if heap.steps == 1 {
                let kind = target.get("type").and_then(Value::as_str);
                let kind = kind.filter(|kind| ["array", "string"].contains(kind));
                heap.again = Some(kind.unwrap_or("object"));
            }
            return None;
        }
        heap.made_of.push(component);
        Some(target)
    }

    /// The places in other documents that schemas were to be at.
    pub(in crate::openapi::parse) fn unread(&self) -> Vec<String> {
        self.unread.borrow().clone()
    }

    fn note_unread(&self, place: &str) {
        let mut unread = self.unread.borrow_mut();
        if unread.len() < MAX_UNREAD && !unread.iter().any(|known| known == place) {
            unread.push(place.to_owned());
        }
    }

    pub(super) fn is_pattern(&self, pattern: &str) -> bool {
        let Some(cost) = pattern::cost(pattern) else {
            return false;
        };
        let mut patterns = self.patterns.borrow_mut();
        if let Some(known) = patterns.get(pattern) {
            return *known;
        }
        let Some(left) = self.patterns_left.get().checked_sub(cost) else {
            return false;
        };
        self.patterns_left.set(left);
        let is_pattern = tenon_tools::is_pattern(pattern);
        patterns.insert(pattern.to_owned(), is_pattern);
        is_pattern
    }

    pub(super) fn is_read_only(&self, schema: &'d Value) -> bool {
        let says_so = |value: &Value| value.get("readOnly") == Some(&Value::Bool(true));
        says_so(schema) || self.refs.follow(schema).is_ok_and(says_so)
    }
}
