//! Parameters and body as the one object that is a tool's input.

use serde_json::{Map, Value};

use super::ParseContext;
use super::body::{BodySource, DeclaredBody, FieldShape, JSON, MediaFamily, field, form_field};
use super::names::FieldNames;
use super::parameters::{DeclaredParameter, annotations, is_required};
use super::schema::{FlatSchema, SchemaBranch, SchemaDetail, SchemaSlot, SchemaTree};
use crate::operation::{
    BodyInput, BodyKind, FormField, OpenapiParameter, ParameterLocation, RequestBody,
};

/// A body with more fields stands as a whole.
const MAX_MERGED: usize = 500;

pub(super) struct OperationInput {
    pub(super) schema: Value,
    pub(super) parameters: Vec<OpenapiParameter>,
    pub(super) body: Option<RequestBody>,
}

/// What is hung into the schema's root, and what must be there.
struct InputBuilder<'d> {
    names: FieldNames,
    branches: Vec<(SchemaSlot<'d>, SchemaBranch<'d>)>,
    required: Vec<Value>,
    made_of: Vec<*const Value>,
    /// Nothing but what is listed.
    closed: bool,
}

pub(super) fn assemble<'d>(
    reading: &ParseContext<'d>,
    given: Vec<DeclaredParameter<'d>>,
    sent: Option<DeclaredBody<'d>>,
) -> OperationInput {
    let mut root = InputBuilder {
        names: FieldNames::default(),
        branches: Vec::new(),
        required: Vec::new(),
        made_of: Vec::new(),
        closed: true,
    };
    let mut parameters = Vec::with_capacity(given.len());
    for given in given {
        let location = match given.location {
            ParameterLocation::Path => "path",
            ParameterLocation::Query => "query",
            ParameterLocation::Header => "header",
            ParameterLocation::Cookie => "cookie",
        };
        let input = root.names.give(&given.name, location);
        let branch = SchemaBranch {
            sources: given.schema,
            annotations: given.annotations,
            is_file: false,
        };
        root.field(&input, branch, given.required);
        parameters.push(OpenapiParameter {
            input,
            name: given.name,
            location: given.location,
            serialization: given.serialization,
            required: given.required,
        });
    }
    let body = sent.map(|sent| root.body(reading, sent));
    OperationInput {
        schema: root.schema(reading),
        parameters,
        body,
    }
}

impl<'d> InputBuilder<'d> {
    fn schema(self, reading: &ParseContext<'d>) -> Value {
        let mut words = Map::new();
        words.insert("type".into(), "object".into());
        words.insert("properties".into(), Value::Object(Map::new()));
        if !self.required.is_empty() {
            words.insert("required".into(), self.required.into());
        }
        let limit = reading.reader.limit();
        let mut tree = SchemaTree::new(words, self.made_of, limit);
        tree.add(self.branches);
        tree.read_all(&reading.reader);
        reading.reader.spend(tree.bytes());
        let mut schema = tree.into_value();
        if let Value::Object(words) = &mut schema
            && self.closed
        {
            words.insert("additionalProperties".into(), false.into());
        }
        schema
    }

    fn field(&mut self, input: &str, branch: SchemaBranch<'d>, required: bool) {
        let slot = SchemaSlot::Property(input.to_owned().into());
        self.branches.push((slot, branch));
        if required {
            self.required.push(input.into());
        }
    }

    fn body(&mut self, reading: &ParseContext<'d>, sent: DeclaredBody<'d>) -> RequestBody {
        match sent.content {
            BodySource::Fields(ref fields) => {
                let fields = fields.clone();
                self.form(reading, sent, &fields)
            }
            BodySource::Schema { schema, encoding } => {
                self.described(reading, sent, schema, encoding)
            }
        }
    }

    fn form(
        &mut self,
        reading: &ParseContext<'d>,
        sent: DeclaredBody<'d>,
        fields: &[&'d Value],
    ) -> RequestBody {
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
            let branch = SchemaBranch {
                sources: vec![object.get("schema").unwrap_or(value)],
                annotations: annotations(object),
                is_file: field.as_ref().is_some_and(|field| field.is_file),
            };
            peculiar.extend(field);
            self.field(&input, branch, is_required(object));
            merged.push((input, name.to_owned()));
        }
        RequestBody {
            kind: kind(sent.family, peculiar),
            media_type: sent.media_type,
            required: sent.required == Some(true),
            input: BodyInput::Merged(merged),
        }
    }

    fn described(
        &mut self,
        reading: &ParseContext<'d>,
        mut sent: DeclaredBody<'d>,
        schema: Option<&'d Value>,
        encoding: Option<&'d Map<String, Value>>,
    ) -> RequestBody {
        let sources: Vec<&'d Value> = schema.into_iter().collect();
        let flat = reading
            .reader
            .flatten(&sources, SchemaDetail::All, &|_| false);
        // Most who list fields that must be there forget to say that the body must.
        let required = sent.required.unwrap_or(!flat.required().is_empty());
        // If any media type is accepted, JSON is used, unless the body is binary.
        if sent.is_any && sent.family == MediaFamily::Json {
            if flat.is_encoded() {
                sent.family = MediaFamily::Bytes
            } else {
                sent.media_type = JSON.to_owned()
            }
        }
        let is_form = matches!(sent.family, MediaFamily::Form | MediaFamily::Multipart);
        let (input, fields) =
            if (is_form || sent.family == MediaFamily::Json) && is_mergeable(&flat) {
                self.merged(reading, flat, &sent, encoding, required)
            } else {
                (self.whole(&sent, sources, flat, required), Vec::new())
            };
        RequestBody {
            kind: kind(sent.family, fields),
            media_type: sent.media_type,
            required,
            input,
        }
    }

    /// The fields of the body stand beside the parameters.
    fn merged(
        &mut self,
        reading: &ParseContext<'d>,
        flat: FlatSchema<'d>,
        sent: &DeclaredBody<'d>,
        encoding: Option<&'d Map<String, Value>>,
        required: bool,
    ) -> (BodyInput, Vec<FormField>) {
        let demanded = if required {
            flat.required()
        } else {
            Vec::new()
        };
        self.closed = flat.words.contains_key("additionalProperties");
        self.made_of = flat.made_of;
        let mut merged = Vec::new();
        let mut fields = Vec::new();
        for (slot, sources) in flat.children {
            let SchemaSlot::Property(name) = &slot else {
                self.branches.push((slot, SchemaBranch::of(sources)));
                continue;
            };
            let input = self.names.give(name, "body");
            let mut branch = SchemaBranch::of(sources);
            if matches!(sent.family, MediaFamily::Form | MediaFamily::Multipart) {
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
                self.field(&input, SchemaBranch::of(Vec::new()), true);
                merged.push((input, name.clone()));
            }
        }
        (BodyInput::Merged(merged), fields)
    }

    fn whole(
        &mut self,
        sent: &DeclaredBody<'d>,
        sources: Vec<&'d Value>,
        flat: FlatSchema<'d>,
        required: bool,
    ) -> BodyInput {
        let input = self.names.give("body", "request");
        let mut branch = SchemaBranch::of(sources);
        branch.annotations = sent.annotations.clone();
        match sent.family {
            MediaFamily::Bytes => branch.is_file = true,
            MediaFamily::Text if !flat.is_scalar() => {
                branch.sources.clear();
                branch.annotations.insert("type".into(), "string".into());
                let note = format!("As `{}`.", sent.media_type);
                let description = branch
                    .annotations
                    .entry("description")
                    .or_insert_with(|| "".into());
                *description = match description.as_str() {
                    Some("") | None => note.into(),
                    Some(text) => format!("{text} {note}").into(),
                };
            }
            MediaFamily::Json | MediaFamily::Multipart | MediaFamily::Form | MediaFamily::Text => {}
        }
        self.field(&input, branch, required);
        BodyInput::Whole(input)
    }
}

/// An object whose fields are known, and of which nothing is said that would not hold
/// for it with parameters beside its fields.
fn is_mergeable(flat: &FlatSchema<'_>) -> bool {
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
    let is_known =
        |slot: &SchemaSlot<'_>| matches!(slot, SchemaSlot::Property(_) | SchemaSlot::Additional);
    let fields = flat.children.iter();
    let fields = fields
        .filter(|(slot, _)| matches!(slot, SchemaSlot::Property(_)))
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

fn shape<'d>(reading: &ParseContext<'d>, sources: &[&'d Value]) -> FieldShape {
    let flat = reading
        .reader
        .flatten(sources, SchemaDetail::All, &|_| false);
    let items = flat
        .children
        .iter()
        .find(|(slot, _)| *slot == SchemaSlot::Items);
    let items = items.map(|(_, sources)| {
        reading
            .reader
            .flatten(sources, SchemaDetail::All, &|_| false)
    });
    FieldShape::of(&flat, items.as_ref())
}

fn kind(family: MediaFamily, fields: Vec<FormField>) -> BodyKind {
    match family {
        MediaFamily::Json => BodyKind::Json,
        MediaFamily::Form => BodyKind::Form(fields),
        MediaFamily::Multipart => BodyKind::Multipart(fields),
        MediaFamily::Text => BodyKind::Text,
        MediaFamily::Bytes => BodyKind::Bytes,
    }
}
