//! Parameters and body as the one object that is a tool's input.

use serde_json::{Map, Value};

use super::Reading;
use super::body::{Content, Family, JSON, Sent, Shape, field, form_field};
use super::names::Fields;
use super::parameters::{Given, is_required, said};
use super::schema::{Branch, Detail, Flat, Slot, Tree};
use crate::openapi::operation::{Body, BodyInput, BodyKind, Field, Parameter, Place};

/// A body with more fields stands as a whole.
const MAX_MERGED: usize = 500;

pub(super) struct Input {
    pub(super) schema: Value,
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Option<Body>,
}

/// What is hung into the schema's root, and what must be there.
struct Root<'d> {
    names: Fields,
    branches: Vec<(Slot<'d>, Branch<'d>)>,
    required: Vec<Value>,
    made_of: Vec<*const Value>,
    /// Nothing but what is listed.
    closed: bool,
}

pub(super) fn assemble<'d>(
    reading: &Reading<'d>,
    given: Vec<Given<'d>>,
    sent: Option<Sent<'d>>,
) -> Input {
    let mut root = Root {
        names: Fields::default(),
        branches: Vec::new(),
        required: Vec::new(),
        made_of: Vec::new(),
        closed: true,
    };
    let mut parameters = Vec::with_capacity(given.len());
    for given in given {
        let place = match given.place {
            Place::Path => "path",
            Place::Query => "query",
            Place::Header => "header",
            Place::Cookie => "cookie",
        };
        let input = root.names.give(&given.name, place);
        let branch = Branch {
            sources: given.schema,
            said: given.said,
            is_file: false,
        };
        root.field(&input, branch, given.required);
        parameters.push(Parameter {
            input,
            name: given.name,
            place: given.place,
            written: given.written,
            required: given.required,
        });
    }
    let body = sent.map(|sent| root.body(reading, sent));
    Input {
        schema: root.schema(reading),
        parameters,
        body,
    }
}

impl<'d> Root<'d> {
    fn schema(self, reading: &Reading<'d>) -> Value {
        let mut words = Map::new();
        words.insert("type".into(), "object".into());
        words.insert("properties".into(), Value::Object(Map::new()));
        if !self.required.is_empty() {
            words.insert("required".into(), self.required.into());
        }
        let limit = reading.reader.limit();
        let mut tree = Tree::new(words, self.made_of, limit);
        tree.add(self.branches);
        tree.grow(&reading.reader);
        reading.reader.spend(tree.bytes());
        let mut schema = tree.into_value();
        if let Value::Object(words) = &mut schema
            && self.closed
        {
            words.insert("additionalProperties".into(), false.into());
        }
        schema
    }

    fn field(&mut self, input: &str, branch: Branch<'d>, required: bool) {
        let slot = Slot::Property(input.to_owned().into());
        self.branches.push((slot, branch));
        if required {
            self.required.push(input.into());
        }
    }

    fn body(&mut self, reading: &Reading<'d>, sent: Sent<'d>) -> Body {
        match sent.content {
            Content::Fields(ref fields) => {
                let fields = fields.clone();
                self.form(reading, sent, &fields)
            }
            Content::Schema { schema, encoding } => self.described(reading, sent, schema, encoding),
        }
    }

    fn form(&mut self, reading: &Reading<'d>, sent: Sent<'d>, fields: &[&'d Value]) -> Body {
        let mut merged = Vec::new();
        let mut peculiar = Vec::new();
        for value in fields {
            let Some(object) = value.as_object() else {
                continue;
            };
            let name = object
                .get("name")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let input = self.names.give(name, "body");
            let field = form_field(reading, value, sent.family);
            let branch = Branch {
                sources: vec![object.get("schema").unwrap_or(value)],
                said: said(object),
                is_file: field.as_ref().is_some_and(|field| field.is_file),
            };
            peculiar.extend(field);
            self.field(&input, branch, is_required(object));
            merged.push((input, name.to_owned()));
        }
        Body {
            kind: kind(sent.family, peculiar),
            media_type: sent.media_type,
            required: sent.required == Some(true),
            input: BodyInput::Merged(merged),
        }
    }

    fn described(
        &mut self,
        reading: &Reading<'d>,
        mut sent: Sent<'d>,
        schema: Option<&'d Value>,
        encoding: Option<&'d Map<String, Value>>,
    ) -> Body {
        let sources: Vec<&'d Value> = schema.into_iter().collect();
        let flat = reading.reader.flatten(&sources, Detail::All, &|_| false);
        // Most who list fields that must be there forget to say that the body must.
        let required = sent.required.unwrap_or(!flat.required().is_empty());
        // Where any media type will do it is JSON, unless what is sent are bytes.
        if sent.is_any && sent.family == Family::Json {
            match flat.is_encoded() {
                true => sent.family = Family::Bytes,
                false => sent.media_type = JSON.to_owned(),
            }
        }
        let is_form = matches!(sent.family, Family::Form | Family::Multipart);
        let (input, fields) = match (is_form || sent.family == Family::Json) && is_mergeable(&flat)
        {
            true => self.merged(reading, flat, &sent, encoding, required),
            false => (self.whole(&sent, sources, flat, required), Vec::new()),
        };
        Body {
            kind: kind(sent.family, fields),
            media_type: sent.media_type,
            required,
            input,
        }
    }

    /// The fields of the body stand beside the parameters.
    fn merged(
        &mut self,
        reading: &Reading<'d>,
        flat: Flat<'d>,
        sent: &Sent<'d>,
        encoding: Option<&'d Map<String, Value>>,
        required: bool,
    ) -> (BodyInput, Vec<Field>) {
        let demanded = match required {
            true => flat.required(),
            false => Vec::new(),
        };
        self.closed = flat.words.contains_key("additionalProperties");
        self.made_of = flat.made_of;
        let mut merged = Vec::new();
        let mut fields = Vec::new();
        for (slot, sources) in flat.children {
            let Slot::Property(name) = &slot else {
                self.branches.push((slot, Branch::of(sources)));
                continue;
            };
            let input = self.names.give(name, "body");
            let mut branch = Branch::of(sources);
            if matches!(sent.family, Family::Form | Family::Multipart) {
                let shape = shape(reading, &branch.sources);
                let field = field(sent.family, name, &shape, encoding);
                branch.is_file = field.as_ref().is_some_and(|field| field.is_file);
                fields.extend(field);
            }
            self.field(&input, branch, demanded.iter().any(|other| other == name));
            merged.push((input, name.clone().into_owned()));
        }
        for name in demanded.iter().take(MAX_MERGED) {
            if !merged.iter().any(|(_, known)| known == name) {
                let input = self.names.give(name, "body");
                self.field(&input, Branch::of(Vec::new()), true);
                merged.push((input, name.clone()));
            }
        }
        (BodyInput::Merged(merged), fields)
    }

    fn whole(
        &mut self,
        sent: &Sent<'d>,
        sources: Vec<&'d Value>,
        flat: Flat<'d>,
        required: bool,
    ) -> BodyInput {
        let input = self.names.give("body", "request");
        let mut branch = Branch::of(sources);
        branch.said = sent.said.clone();
        match sent.family {
            Family::Bytes => branch.is_file = true,
            Family::Text if !flat.is_scalar() => {
                branch.sources.clear();
                branch.said.insert("type".into(), "string".into());
                let note = format!("As `{}`.", sent.media_type);
                let said = branch
                    .said
                    .entry("description")
                    .or_insert_with(|| "".into());
                *said = match said.as_str() {
                    Some("") | None => note.into(),
                    Some(text) => format!("{text} {note}").into(),
                };
            }
            Family::Json | Family::Multipart | Family::Form | Family::Text => {}
        }
        self.field(&input, branch, required);
        BodyInput::Whole(input)
    }
}

/// An object whose fields are known, and of which nothing is said that would not hold
/// for it with parameters beside its fields.
fn is_mergeable(flat: &Flat<'_>) -> bool {
    const HARMLESS: [&str; 11] = [
        "type",
        "title",
        "description",
        "default",
        "examples",
        "deprecated",
        "required",
        "additionalProperties",
        "format",
        "contentMediaType",
        "contentEncoding",
    ];
    let is_known = |slot: &Slot<'_>| matches!(slot, Slot::Property(_) | Slot::Additional);
    let fields = flat.children.iter();
    let fields = fields
        .filter(|(slot, _)| matches!(slot, Slot::Property(_)))
        .count();
    flat.is("object")
        && !flat.or_null
        && (1..=MAX_MERGED).contains(&fields)
        && flat.children.iter().all(|(slot, _)| is_known(slot))
        && flat
            .words
            .keys()
            .all(|word| HARMLESS.contains(&word.as_str()))
}

fn shape<'d>(reading: &Reading<'d>, sources: &[&'d Value]) -> Shape {
    let flat = reading.reader.flatten(sources, Detail::All, &|_| false);
    let items = flat.children.iter().find(|(slot, _)| *slot == Slot::Items);
    let items = items.map(|(_, sources)| reading.reader.flatten(sources, Detail::All, &|_| false));
    Shape::of(&flat, items.as_ref())
}

fn kind(family: Family, fields: Vec<Field>) -> BodyKind {
    match family {
        Family::Json => BodyKind::Json,
        Family::Form => BodyKind::Form(fields),
        Family::Multipart => BodyKind::Multipart(fields),
        Family::Text => BodyKind::Text,
        Family::Bytes => BodyKind::Bytes,
    }
}
