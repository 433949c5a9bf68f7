//! A schema said again in few words, its references inlined.
//!
//! Everything that is read or copied is paid for from a budget: a few lines of
//! references can stand for more than any machine could hold.

use serde_json::{Map, Value, json};

use super::keyword::{
    accept_null, alternatives, distinct, is_filled, other_properties, plain_keywords, schemas,
    types,
};
use super::merge::merge;
use super::reference::Document;
use super::tidy::implied_type;
use super::{Dialect, Fault, MAX_DEPTH, MAX_NODES, describe, looked_at};

/// Bytes read or copied. Generous beside what may come out, because merging drops much.
const MAX_WORK: usize = 1_000_000;

pub(super) struct Translator<'a> {
    document: Document<'a>,
    root: &'a Value,
    dialect: Dialect,
    repeats: usize,
    /// The targets of references that are being written out just now.
    open: Vec<Open<'a>>,
    nodes: usize,
    work: usize,
}

struct Open<'a> {
    target: &'a Value,
    depth: usize,
}

/// Where in the work a schema is met.
#[derive(Clone, Copy)]
struct Place {
    /// How far into the value described: a property or an item is one further.
    depth: usize,
    /// How far into the schema, for the stack's sake: a reference counts as well.
    level: usize,
}

impl Place {
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
type Translated = Result<Option<Map<String, Value>>, Fault>;

impl<'a> Translator<'a> {
    pub(super) fn new(root: &'a Value, dialect: Dialect, repeats: usize) -> Self {
        Self {
            document: Document::new(root),
            root,
            dialect,
            repeats,
            open: Vec::new(),
            nodes: 0,
            work: 0,
        }
    }

    pub(super) fn root(&mut self) -> Translated {
        let at = Place { depth: 0, level: 0 };
        self.write_out(self.root, at)
    }

    fn schema(&mut self, schema: &'a Value, at: Place) -> Translated {
        self.enter(at)?;
        let keywords = match schema {
            Value::Object(keywords) => keywords,
            Value::Bool(false) => return Ok(None),
            // `true`, and what is no schema at all, say nothing.
            _ => return Ok(Some(Map::new())),
        };
        let mut said = plain_keywords(keywords, self.dialect);
        self.say_texts(keywords, &mut said)?;
        self.say_values(keywords, &mut said)?;
        self.say_object(keywords, &mut said, at)?;
        self.say_array(keywords, &mut said, at)?;

        let branches = alternatives(keywords);
        if !branches.is_empty() {
            let forms = self.forms(branches, at.beside())?;
            if forms.is_empty() {
                return Ok(None);
            }
            said.insert("anyOf".into(), Value::Array(forms));
        }
        if let Some(Value::String(reference)) = keywords.get("$ref") {
            match self.referred(reference, at)? {
                Some(base) => said = merge(base, said),
                None => return Ok(None),
            }
        }
        for part in schemas(keywords, "allOf") {
            match self.schema(part, at.beside())? {
                Some(base) => said = merge(base, said),
                None => return Ok(None),
            }
        }
        if keywords.get("nullable") == Some(&Value::Bool(true)) {
            accept_null(&mut said);
        }
        Ok(Some(said))
    }

    fn referred(&mut self, reference: &str, at: Place) -> Translated {
        self.spend(reference.len())?;
        let target = self.document.resolve(reference)?;
        let same = |open: &&Open<'_>| std::ptr::eq(open.target, target);
        // It would have to be written out before it is written out.
        if self.open.iter().filter(same).any(|o| o.depth == at.depth) {
            return Err(Fault::Endless);
        }
        if self.open.iter().filter(same).count() >= self.repeats {
            return self.stub(target, at);
        }
        self.write_out(target, at.beside())
    }

    fn write_out(&mut self, target: &'a Value, at: Place) -> Translated {
        self.open.push(Open {
            target,
            depth: at.depth,
        });
        let said = self.schema(target, at);
        self.open.pop();
        said
    }

    /// What stands where a schema has been repeated often enough.
    fn stub(&mut self, target: &'a Value, at: Place) -> Translated {
        self.enter(at)?;
        let mut said = Map::new();
        if let Value::Object(keywords) = target {
            self.say_texts(keywords, &mut said)?;
            if let Some(kind) = types(keywords.get("type")) {
                said.insert("type".into(), kind);
            } else if let Some(kind) = implied_type(keywords) {
                said.insert("type".into(), json!(kind));
            }
        }
        Ok(Some(said))
    }

    /// The schemas among these that something fits.
    fn forms(
        &mut self,
        schemas: impl IntoIterator<Item = &'a Value>,
        at: Place,
    ) -> Result<Vec<Value>, Fault> {
        let mut forms = Vec::new();
        for schema in schemas {
            forms.extend(self.schema(schema, at)?.map(Value::Object));
        }
        Ok(forms)
    }

    fn say_texts(
        &mut self,
        keywords: &'a Map<String, Value>,
        said: &mut Map<String, Value>,
    ) -> Result<(), Fault> {
        let max = self.dialect.max_description;
        for keyword in ["title", "description"] {
            if let Some(Value::String(text)) = keywords.get(keyword) {
                self.spend(text.len().min(looked_at(max)))?;
                let text = describe(text, max);
                if !text.is_empty() {
                    said.insert(keyword.into(), text.into());
                }
            }
        }
        Ok(())
    }

    /// Values are not schemas: whatever is in them is left alone.
    fn say_values(
        &mut self,
        keywords: &'a Map<String, Value>,
        said: &mut Map<String, Value>,
    ) -> Result<(), Fault> {
        if let Some(value) = keywords.get("default") {
            self.weigh(value)?;
            said.insert("default".into(), value.clone());
        }
        if let Some(value) = keywords.get("const") {
            self.weigh(value)?;
            said.insert("enum".into(), json!([value]));
        } else if let Some(values) = keywords.get("enum").filter(|values| is_filled(values)) {
            self.weigh(values)?;
            said.insert("enum".into(), distinct(values));
        }
        Ok(())
    }

    fn say_object(
        &mut self,
        keywords: &'a Map<String, Value>,
        said: &mut Map<String, Value>,
        at: Place,
    ) -> Result<(), Fault> {
        if let Some(Value::Object(properties)) = keywords.get("properties") {
            let mut written = Map::new();
            for (name, schema) in properties {
                self.spend(name.len())?;
                if let Some(schema) = self.schema(schema, at.inside())? {
                    written.insert(name.clone(), Value::Object(schema));
                }
            }
            said.insert("properties".into(), Value::Object(written));
        }
        if let Some(required @ Value::Array(_)) = keywords.get("required") {
            self.weigh(required)?;
            said.insert("required".into(), required.clone());
        }
        if let Some(others) = other_properties(keywords) {
            let others = match self.schema(others, at.inside())? {
                None => Value::Bool(false),
                Some(_) if others.is_boolean() => Value::Bool(true),
                Some(schema) => Value::Object(schema),
            };
            said.insert("additionalProperties".into(), others);
        }
        Ok(())
    }

    /// Every item is described by one schema; a tuple's are, by all it has.
    fn say_array(
        &mut self,
        keywords: &'a Map<String, Value>,
        said: &mut Map<String, Value>,
        at: Place,
    ) -> Result<(), Fault> {
        let items = keywords.get("items");
        let tuple = ["prefixItems", "items"]
            .into_iter()
            .find_map(|keyword| keywords.get(keyword)?.as_array());
        let Some(tuple) = tuple else {
            if let Some(items) = items
                && let Some(schema) = self.schema(items, at.inside())?
            {
                said.insert("items".into(), Value::Object(schema));
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
            said.insert("items".into(), json!({"anyOf": forms}));
        }
        Ok(())
    }

    fn enter(&mut self, at: Place) -> Result<(), Fault> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Err(Fault::TooLarge);
        }
        if at.level >= MAX_DEPTH {
            return Err(Fault::TooDeep);
        }
        Ok(())
    }

    fn spend(&mut self, bytes: usize) -> Result<(), Fault> {
        self.work = self.work.saturating_add(bytes).saturating_add(1);
        if self.work > MAX_WORK {
            return Err(Fault::TooLarge);
        }
        Ok(())
    }

    /// Pays for a copy before it is made.
    fn weigh(&mut self, value: &Value) -> Result<(), Fault> {
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
