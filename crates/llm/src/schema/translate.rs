//! A schema output again in few words, its references inlined.
//!
//! Everything that is read or copied is paid for from a budget: a few lines of
//! references can stand for more than any machine could hold.

use serde_json::{Map, Value, json};

use super::keyword::{
    accept_null, alternatives, distinct, is_filled, other_properties, plain_keywords, schemas,
    types,
};
use super::merge::merge;
use super::normalize::implied_type;
use super::reference::SchemaDocument;
use super::{Detail, Dialect, MAX_DEPTH, MAX_NODES, SchemaError, max_scanned_chars, readable};

/// Bytes read or copied. Generous beside what may come out, because merging drops much.
const MAX_WORK: usize = 1_000_000;

pub(super) struct Translator<'a> {
    document: SchemaDocument<'a>,
    root: &'a Value,
    dialect: Dialect,
    repeats: usize,
    /// The targets of references that are being written out just now.
    open: Vec<OpenReference<'a>>,
    nodes: usize,
    work: usize,
}

struct OpenReference<'a> {
    target: &'a Value,
    depth: usize,
}

/// Where in the work a schema is met.
#[derive(Clone, Copy)]
struct Position {
    /// How far into the value described: a property or an item is one further.
    depth: usize,
    /// How far into the schema, for the stack's sake: a reference counts as well.
    level: usize,
}

impl Position {
    fn inside(self) -> Self {
        Self {
            depth: self.depth + 1,
            level: self.level + 1,
        }
    }

    fn beside(self) -> Self {
        Self {
            level: self.level + 1,
            ..self
        }
    }
}

/// `None` is the schema that nothing fits.
type TranslateResult = Result<Option<Map<String, Value>>, SchemaError>;

impl<'a> Translator<'a> {
    pub(super) fn new(root: &'a Value, dialect: Dialect, repeats: usize) -> Self {
        Self {
            document: SchemaDocument::new(root),
            root,
            dialect,
            repeats,
            open: Vec::new(),
            nodes: 0,
            work: 0,
        }
    }

    pub(super) fn root(&mut self) -> TranslateResult {
        let at = Position { depth: 0, level: 0 };
        self.inline(self.root, at)
    }

    fn schema(&mut self, schema: &'a Value, at: Position) -> TranslateResult {
        self.enter(at)?;
        let keywords = match schema {
            Value::Object(keywords) => keywords,
            Value::Bool(false) => return Ok(None),
            // `true`, and what is no schema at all, say nothing.
            _ => return Ok(Some(Map::new())),
        };
        let mut output = plain_keywords(keywords, self.dialect);
        self.copy_texts(keywords, &mut output)?;
        self.copy_values(keywords, &mut output)?;
        self.translate_object(keywords, &mut output, at)?;
        self.translate_array(keywords, &mut output, at)?;

        let branches = alternatives(keywords);
        if !branches.is_empty() {
            let forms = self.forms(branches, at.beside())?;
            if forms.is_empty() {
                return Ok(None);
            }
            output.insert("anyOf".into(), Value::Array(forms));
        }
        if let Some(Value::String(reference)) = keywords.get("$ref") {
            match self.reference(reference, at)? {
                Some(base) => output = merge(base, output),
                None => return Ok(None),
            }
        }
        for part in schemas(keywords, "allOf") {
            match self.schema(part, at.beside())? {
                Some(base) => output = merge(base, output),
                None => return Ok(None),
            }
        }
        if keywords.get("nullable") == Some(&Value::Bool(true)) {
            accept_null(&mut output);
        }
        Ok(Some(output))
    }

    fn reference(&mut self, reference: &str, at: Position) -> TranslateResult {
        self.spend(reference.len())?;
        let target = self.document.resolve(reference)?;
        let same = |open: &&OpenReference<'_>| std::ptr::eq(open.target, target);
        // The reference points to its own ancestor at this depth, so inlining would never end.
        if self.open.iter().filter(same).any(|o| o.depth == at.depth) {
            return Err(SchemaError::Recursive);
        }
        if self.open.iter().filter(same).count() >= self.repeats {
            return self.stub(target, at);
        }
        self.inline(target, at.beside())
    }

    fn inline(&mut self, target: &'a Value, at: Position) -> TranslateResult {
        self.open.push(OpenReference {
            target,
            depth: at.depth,
        });
        let output = self.schema(target, at);
        self.open.pop();
        output
    }

    /// A stub in place of a schema that has been inlined often enough.
    fn stub(&mut self, target: &'a Value, at: Position) -> TranslateResult {
        self.enter(at)?;
        let mut output = Map::new();
        if let Value::Object(keywords) = target {
            self.copy_texts(keywords, &mut output)?;
            if let Some(kind) = types(keywords.get("type")) {
                output.insert("type".into(), kind);
            } else if let Some(kind) = implied_type(keywords) {
                output.insert("type".into(), json!(kind));
            }
        }
        Ok(Some(output))
    }

    /// The schemas among these that something fits.
    fn forms(
        &mut self,
        schemas: impl IntoIterator<Item = &'a Value>,
        at: Position,
    ) -> Result<Vec<Value>, SchemaError> {
        let mut forms = Vec::new();
        for schema in schemas {
            forms.extend(self.schema(schema, at)?.map(Value::Object));
        }
        Ok(forms)
    }

    fn copy_texts(
        &mut self,
        keywords: &'a Map<String, Value>,
        output: &mut Map<String, Value>,
    ) -> Result<(), SchemaError> {
        let (max, detail) = (self.dialect.max_parameter_description, self.dialect.detail);
        let texts: &[&str] = match detail {
            Detail::Full => &["title", "description"],
            Detail::Compact => &["description"],
        };
        for &keyword in texts {
            if let Some(Value::String(text)) = keywords.get(keyword) {
                self.spend(text.len().min(max_scanned_chars(max)))?;
                let text = readable(text, max, detail);
                if !text.is_empty() {
                    output.insert(keyword.into(), text.into());
                }
            }
        }
        Ok(())
    }

    /// Values are not schemas: whatever is in them is left alone.
    fn copy_values(
        &mut self,
        keywords: &'a Map<String, Value>,
        output: &mut Map<String, Value>,
    ) -> Result<(), SchemaError> {
        let says_nothing = |value: &&Value| match value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(entries) => entries.is_empty(),
            Value::Bool(_) | Value::Number(_) => false,
        };
        let is_compact = self.dialect.detail == Detail::Compact;
        let default = keywords.get("default");
        if let Some(value) = default.filter(|value| !(is_compact && says_nothing(value))) {
            self.weigh(value)?;
            output.insert("default".into(), value.clone());
        }
        if let Some(value) = keywords.get("const") {
            self.weigh(value)?;
            output.insert("enum".into(), json!([value]));
        } else if let Some(values) = keywords.get("enum").filter(|values| is_filled(values)) {
            self.weigh(values)?;
            output.insert("enum".into(), distinct(values));
        }
        Ok(())
    }

    fn translate_object(
        &mut self,
        keywords: &'a Map<String, Value>,
        output: &mut Map<String, Value>,
        at: Position,
    ) -> Result<(), SchemaError> {
        if let Some(Value::Object(properties)) = keywords.get("properties") {
            let mut written = Map::new();
            for (name, schema) in properties {
                self.spend(name.len())?;
                if let Some(schema) = self.schema(schema, at.inside())? {
                    written.insert(name.clone(), Value::Object(schema));
                }
            }
            output.insert("properties".into(), Value::Object(written));
        }
        if let Some(required @ Value::Array(_)) = keywords.get("required") {
            self.weigh(required)?;
            output.insert("required".into(), required.clone());
        }
        if let Some(others) = other_properties(keywords) {
            let others = match self.schema(others, at.inside())? {
                None => Value::Bool(false),
                Some(_) if others.is_boolean() => Value::Bool(true),
                Some(schema) => Value::Object(schema),
            };
            let is_left_out =
                others == Value::Bool(false) && self.dialect.detail == Detail::Compact;
            if !is_left_out {
                output.insert("additionalProperties".into(), others);
            }
        }
        Ok(())
    }

    /// Every item is described by one schema; a tuple's are, by all it has.
    fn translate_array(
        &mut self,
        keywords: &'a Map<String, Value>,
        output: &mut Map<String, Value>,
        at: Position,
    ) -> Result<(), SchemaError> {
        let items = keywords.get("items");
        let tuple = ["prefixItems", "items"]
            .into_iter()
            .find_map(|keyword| keywords.get(keyword)?.as_array());
        let Some(tuple) = tuple else {
            if let Some(items) = items
                && let Some(schema) = self.schema(items, at.inside())?
            {
                output.insert("items".into(), Value::Object(schema));
            }
            return Ok(());
        };
        let mut forms = self.forms(tuple, at.inside())?;
        let rest = match items {
            Some(Value::Array(_)) | None => keywords.get("additionalItems"),
            items => items,
        };
        // A boolean says only whether there may be more.
        if let Some(rest @ Value::Object(_)) = rest {
            forms.extend(self.schema(rest, at.inside())?.map(Value::Object));
        }
        if !forms.is_empty() {
            output.insert("items".into(), json!({"anyOf": forms}));
        }
        Ok(())
    }

    fn enter(&mut self, at: Position) -> Result<(), SchemaError> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(SchemaError::TooLarge);
        }
        if at.level >= MAX_DEPTH {
            return Err(SchemaError::TooDeep);
        }
        Ok(())
    }

    fn spend(&mut self, bytes: usize) -> Result<(), SchemaError> {
        self.work = self.work.saturating_add(bytes).saturating_add(1);
        if self.work > MAX_WORK {
            return Err(SchemaError::TooLarge);
        }
        Ok(())
    }

    /// Pays for a copy before it is made.
    fn weigh(&mut self, value: &Value) -> Result<(), SchemaError> {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => self.spend(0),
            Value::String(text) => self.spend(text.len()),
            Value::Array(items) => {
                self.spend(0)?;
                items.iter().try_for_each(|item| self.weigh(item))
            }
            Value::Object(entries) => {
                self.spend(0)?;
                entries.iter().try_for_each(|(name, value)| {
                    self.spend(name.len())?;
                    self.weigh(value)
                })
            }
        }
    }
}
