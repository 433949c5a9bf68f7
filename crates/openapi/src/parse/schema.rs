//! A schema of the document as JSON Schema 2020-12 that stands on its own.
//!
//! It is grown from the root: first what every input needs, then what is optional in
//! that, and so on; of these level by level. So where it gets too long what can be done
//! without is cut first, then the deep parts, and not the late ones. Whatever is cut or
//! cannot be said makes the schema allow more, never less: an input the server takes must
//! not be refused here.

mod flat;
mod keywords;
mod merge;
mod pattern_cache;
mod reader;
mod slot;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use serde_json::{Map, Value, json};

pub(super) use flat::FlatSchema;
pub(super) use keywords::SchemaDetail;
pub(super) use reader::SchemaReader;
pub(super) use slot::SchemaSlot;

use tenon_text as text;

/// Deeper than a model fills in by itself.
const MAX_DEPTH: usize = 20;

/// How much of a description stays in a part that was cut.
const BARE_DESCRIPTION: usize = 120;

const BASE64_NOTE: &str = "The content of a file, as base64.";

/// A schema in the making.
pub(super) struct SchemaTree<'d> {
    nodes: Vec<SchemaNode<'d>>,
    /// Those that are still to be read, by how many optional parts they are in, and then by
    /// their depth.
    queue: BinaryHeap<Reverse<(usize, usize, usize)>>,
    bytes: usize,
    limit: usize,
}

/// One schema below another, not yet read: all of its sources hold.
pub(super) struct SchemaBranch<'d> {
    pub(super) sources: Vec<&'d Value>,
    /// Keywords from outside; they override its own.
    pub(super) annotations: Map<String, Value>,
    /// Strings in it are files.
    pub(super) is_file: bool,
}

struct SchemaNode<'d> {
    words: Map<String, Value>,
    children: Vec<(SchemaSlot<'d>, usize)>,
    /// Or null; in a way that `type` cannot say.
    or_null: bool,
    /// The components it was made of.
    made_of: Vec<*const Value>,
    parent: Option<usize>,
    depth: usize,
    /// In how many optional parts it is.
    optional: usize,
    branch: Option<SchemaBranch<'d>>,
}

impl<'d> SchemaBranch<'d> {
    pub(super) fn of(sources: Vec<&'d Value>) -> Self {
        Self {
            sources,
            annotations: Map::new(),
            is_file: false,
        }
    }
}

impl<'d> SchemaTree<'d> {
    /// A root with these words; `made_of` are the components they came from.
    pub(super) fn new(words: Map<String, Value>, made_of: Vec<*const Value>, limit: usize) -> Self {
        let root = SchemaNode {
            words,
            children: Vec::new(),
            or_null: false,
            made_of,
            parent: None,
            depth: 0,
            optional: 0,
            branch: None,
        };
        Self {
            nodes: vec![root],
            queue: BinaryHeap::new(),
            bytes: 0,
            limit,
        }
    }

    /// Adds all that is below the root.
    pub(super) fn add(&mut self, branches: Vec<(SchemaSlot<'d>, SchemaBranch<'d>)>) {
        let words = self.nodes.first().map(|root| &root.words);
        let required = words.map(required).unwrap_or_default();
        for (slot, branch) in branches {
            self.attach(0, slot, branch, &required);
        }
    }

    /// Approximate size in bytes, for memory accounting.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Reads all branches, the most needed first.
    pub(super) fn read_all(&mut self, reader: &SchemaReader<'d>) {
        while let Some(Reverse((_, _, at))) = self.queue.pop() {
            let node = self.nodes.get_mut(at);
            if let Some(branch) = node.and_then(|node| node.branch.take()) {
                self.read(at, branch, reader);
            }
        }
    }

    pub(super) fn into_value(mut self) -> Value {
        build(&mut self.nodes, 0)
    }

    /// `required` are the names of the fields that its parent must have.
    fn attach(
        &mut self,
        parent: usize,
        slot: SchemaSlot<'d>,
        branch: SchemaBranch<'d>,
        required: &HashSet<String>,
    ) {
        let child = self.nodes.len();
        let Some(node) = self.nodes.get_mut(parent) else {
            return;
        };
        let optional = node.optional + usize::from(!slot.is_needed(required));
        node.children.push((slot, child));
        let depth = node.depth + 1;
        self.queue.push(Reverse((optional, depth, child)));
        self.nodes.push(SchemaNode {
            words: Map::new(),
            children: Vec::new(),
            or_null: false,
            made_of: Vec::new(),
            parent: Some(parent),
            depth,
            optional,
            branch: Some(branch),
        });
    }

    fn read(&mut self, at: usize, branch: SchemaBranch<'d>, reader: &SchemaReader<'d>) {
        let Some(node) = self.nodes.get(at) else {
            return;
        };
        let is_bare = self.bytes >= self.limit / 4 * 3 || node.depth >= MAX_DEPTH;
        let parent = node.parent;
        let is_above = |component| self.is_above(parent, component);
        let detail = if is_bare {
            SchemaDetail::Bare
        } else {
            SchemaDetail::All
        };
        let mut flat = reader.flatten(&branch.sources, detail, &is_above);
        flat.override_keywords(branch.annotations);
        if branch.is_file && !flat.is_array() {
            flat.become_file(BASE64_NOTE);
        }
        if is_bare {
            let is_over = self.bytes >= self.limit;
            flat.strip(if is_over { 0 } else { BARE_DESCRIPTION });
        }
        self.bytes += flat.weight();
        let required = required(&flat.words);
        let children = self.affordable(&mut flat, &required);
        if let Some(node) = self.nodes.get_mut(at) {
            node.words = flat.words;
            node.or_null = flat.or_null;
            node.made_of = flat.made_of;
        }
        for (slot, sources) in children {
            let mut child = SchemaBranch::of(sources);
            child.is_file = branch.is_file && slot == SchemaSlot::Items;
            self.attach(at, slot, child, &required);
        }
    }

    /// The children that fit into the size limit, even if only their names do.
    fn affordable(
        &mut self,
        flat: &mut FlatSchema<'d>,
        required: &HashSet<String>,
    ) -> Vec<(SchemaSlot<'d>, Vec<&'d Value>)> {
        let most = self.limit;
        let mut children = std::mem::take(&mut flat.children);
        let cost: usize = children.iter().map(|(slot, _)| slot.cost()).sum();
        if self.bytes + cost <= most {
            self.bytes += cost;
            return children;
        }
        // Alternatives are kept all or not at all: a missing one would be forbidden.
        children.retain(|(slot, _)| matches!(slot, SchemaSlot::Property(_)));
        let mut fits = vec![false; children.len()];
        for needed in [true, false] {
            for ((slot, _), fits) in children.iter().zip(&mut fits) {
                if slot.is_needed(required) == needed && self.bytes + slot.cost() <= most {
                    self.bytes += slot.cost();
                    *fits = true;
                }
            }
        }
        flat.words.remove("additionalProperties");
        flat.note("More fields than are listed here.");
        let kept = children.into_iter().zip(fits);
        kept.filter_map(|(child, fits)| fits.then_some(child))
            .collect()
    }

    fn is_above(&self, from: Option<usize>, component: *const Value) -> bool {
        let mut at = from;
        while let Some(node) = at.and_then(|at| self.nodes.get(at)) {
            if node.made_of.contains(&component) {
                return true;
            }
            at = node.parent;
        }
        false
    }
}

/// The fields that an object must have.
fn required(words: &Map<String, Value>) -> HashSet<String> {
    let names = words.get("required").and_then(Value::as_array);
    let names = names.into_iter().flatten().filter_map(Value::as_str);
    names.map(str::to_owned).collect()
}

/// As deep as the tree, which is bounded.
fn build(nodes: &mut [SchemaNode<'_>], at: usize) -> Value {
    let Some(node) = nodes.get_mut(at) else {
        return json!({});
    };
    let mut words = std::mem::take(&mut node.words);
    let children = std::mem::take(&mut node.children);
    let or_null = node.or_null;
    // Read first what it demands, then what it has.
    let required = words.shift_remove("required");
    for (slot, child) in children {
        let child = build(nodes, child);
        slot.put(&mut words, child);
    }
    if let Some(required) = required {
        words.insert("required".into(), required);
    }
    if or_null {
        Value::Object(with_null(words))
    } else {
        Value::Object(words)
    }
}

fn with_null(mut words: Map<String, Value>) -> Map<String, Value> {
    let mut outside = Map::new();
    for word in ["title", "description", "default", "deprecated"] {
        if let Some(value) = words.shift_remove(word) {
            outside.insert(word.into(), value);
        }
    }
    let null = json!({ "type": "null" });
    let choices = match words.remove("anyOf") {
        Some(Value::Array(mut choices)) if words.is_empty() => {
            choices.push(null);
            choices
        }
        choice => {
            words.extend(choice.map(|choice| ("anyOf".to_owned(), choice)));
            vec![Value::Object(words), null]
        }
    };
    outside.insert("anyOf".into(), Value::Array(choices));
    outside
}

/// About how many bytes a value has as JSON.
fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(_) => 8,
        Value::String(text) => text.len() + 3,
        Value::Array(list) => 2 + list.iter().map(weight).sum::<usize>(),
        Value::Object(object) => weight_of(object),
    }
}

fn weight_of(object: &Map<String, Value>) -> usize {
    let members = object
        .iter()
        .map(|(key, value)| key.len() + 4 + weight(value));
    2 + members.sum::<usize>()
}

/// Whether a value has at most this many bytes, approximately. Stops counting there.
fn is_light(value: &Value, most: usize) -> bool {
    fn spend(value: &Value, left: &mut usize, depth: usize) -> Option<()> {
        let own = match value {
            Value::String(text) => text.len() + 3,
            _ => 5,
        };
        *left = left.checked_sub(own)?;
        if depth > MAX_DEPTH {
            return None;
        }
        match value {
            Value::Array(list) => list.iter().try_for_each(|v| spend(v, left, depth + 1)),
            Value::Object(object) => object.iter().try_for_each(|(key, value)| {
                *left = left.checked_sub(key.len() + 4)?;
                spend(value, left, depth + 1)
            }),
            _ => Some(()),
        }
    }
    let mut left = most;
    spend(value, &mut left, 0).is_some()
}

/// What a description adds to another.
fn joined(description: &str, note: &str) -> String {
    match description.trim_end() {
        "" => note.to_owned(),
        description if description.ends_with(['.', '!', '?', '…', ':', ';']) => {
            format!("{description} {note}")
        }
        description => format!("{description}. {note}"),
    }
}

fn described(text: &str) -> String {
    text::block(text, keywords::MAX_DESCRIPTION_CHARS)
}
