//! The body of a request: which part of the input it is, and how it is written.

use std::borrow::Cow;

use reqwest::header::HeaderValue;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use tenon_domain::ToolError;

use super::style::plain;
use super::{file, header, missing, multipart, query};
use crate::openapi::operation::{Body, BodyInput, BodyKind, Field, Operation, Style, Written};

pub(super) struct Made {
    pub(super) media_type: HeaderValue,
    pub(super) bytes: Vec<u8>,
}

/// The part of the input that is the body.
enum Taken<'a> {
    Whole(&'a Value),
    Merged(Fields<'a>),
}

/// The fields of an object, each under the name it is sent by.
pub(super) type Fields<'a> = Vec<(&'a str, &'a Value)>;

/// None where an operation takes no body, or may do without one.
pub(super) fn make(
    operation: &Operation,
    input: &Map<String, Value>,
) -> Result<Option<Made>, ToolError> {
    let Some(body) = &operation.body else {
        return Ok(None);
    };
    let Some(taken) = taken(operation, body, input)? else {
        return Ok(None);
    };
    let (media_type, bytes) = match &body.kind {
        BodyKind::Json => (said(body, "application/json"), json(&taken)),
        BodyKind::Form(fields) => (
            said(body, "application/x-www-form-urlencoded"),
            form(fields, &taken.fields(body)?).into_bytes(),
        ),
        BodyKind::Multipart(fields) => {
            let parts = multipart::parts(fields, &taken.fields(body)?)?;
            let boundary = multipart::boundary(&parts);
            let media_type = said(body, "multipart/form-data");
            let bytes = multipart::write(&parts, &boundary);
            (format!("{media_type}; boundary={boundary}").into(), bytes)
        }
        BodyKind::Text => {
            let text = match &taken {
                Taken::Whole(value) => plain(value).unwrap_or_default().into_owned().into_bytes(),
                Taken::Merged(_) => json(&taken),
            };
            (with_charset(said(body, "text/plain")), text)
        }
        BodyKind::Bytes => {
            let file = match &taken {
                Taken::Whole(value) => file::read(name(body), value)?,
                Taken::Merged(_) => file::read(name(body), &Value::Null)?,
            };
            let media_type = match said(body, "") {
                none if none.is_empty() => file.media_type.map(Cow::Owned),
                said => Some(said),
            };
            let media_type = media_type.unwrap_or(Cow::Borrowed("application/octet-stream"));
            (media_type, file.bytes)
        }
    };
    let media_type = header::value(&media_type)
        .unwrap_or_else(|| HeaderValue::from_static("application/octet-stream"));
    Ok(Some(Made { media_type, bytes }))
}

fn taken<'a>(
    operation: &'a Operation,
    body: &'a Body,
    input: &'a Map<String, Value>,
) -> Result<Option<Taken<'a>>, ToolError> {
    match &body.input {
        BodyInput::Whole(name) => match input.get(name) {
            None if body.required => Err(missing(name)),
            // A null where nothing is needed stands for nothing.
            None => Ok(None),
            Some(Value::Null) if !body.required => Ok(None),
            Some(value) => Ok(Some(Taken::Whole(value))),
        },
        BodyInput::Merged(properties) => {
            let mut fields = Fields::with_capacity(input.len());
            for (name, value) in input {
                let property = properties.iter().find(|(input, _)| input == name);
                let is_parameter = || operation.parameters.iter().any(|one| one.input == *name);
                // What is described by another name in the input is sent by this one already.
                let is_sent = || {
                    let mut described = properties.iter();
                    described.any(|(input_name, property)| {
                        property == name && input.contains_key(input_name)
                    })
                };
                let property = match property {
                    Some((_, property)) => property,
                    None if is_parameter() || is_sent() => continue,
                    None => name,
                };
                fields.push((property, value));
            }
            let is_sent = body.required || !fields.is_empty();
            Ok(is_sent.then_some(Taken::Merged(fields)))
        }
    }
}

impl<'a> Taken<'a> {
    fn fields(&self, body: &Body) -> Result<Fields<'a>, ToolError> {
        match self {
            Self::Merged(fields) => Ok(fields.clone()),
            Self::Whole(Value::Object(fields)) => Ok(fields
                .iter()
                .map(|(name, value)| (name.as_str(), value))
                .collect()),
            Self::Whole(_) => Err(ToolError::invalid_input(format!(
                "`{}` is a form: an object with a value for each field.",
                name(body)
            ))),
        }
    }
}

impl Serialize for Taken<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Whole(value) => value.serialize(serializer),
            Self::Merged(fields) => serializer.collect_map(fields.iter().copied()),
        }
    }
}

/// What was read as JSON can be written as JSON.
fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

fn name(body: &Body) -> &str {
    match &body.input {
        BodyInput::Whole(name) => name,
        BodyInput::Merged(_) => "the body",
    }
}

/// As the document says it, or what is usual where it says nothing definite.
fn said<'a>(body: &'a Body, usual: &'a str) -> Cow<'a, str> {
    let media_type = body.media_type.trim();
    match media_type.contains('/')
        && !media_type.contains('*')
        && header::value(media_type).is_some()
    {
        true => Cow::Borrowed(media_type),
        false => Cow::Borrowed(usual),
    }
}

fn with_charset(media_type: Cow<'_, str>) -> Cow<'_, str> {
    match media_type.starts_with("text/") && !media_type.contains("charset") {
        true => Cow::Owned(format!("{media_type}; charset=utf-8")),
        false => media_type,
    }
}

/// A form written like a query. By itself a list is its members one by one, and
/// an object is JSON.
fn form(fields: &[Field], object: &Fields<'_>) -> String {
    let mut pairs = Vec::new();
    for (name, value) in object.iter().filter(|(_, value)| !value.is_null()) {
        let field = fields.iter().find(|field| field.name == *name);
        let written = match field.and_then(|field| field.written.clone()) {
            Some(written) => written,
            None if value.is_object() => Written::Media("application/json".to_owned()),
            None => Written::As {
                style: Style::Form,
                explode: true,
                reserved: false,
            },
        };
        pairs.extend(query::pairs(name, value, &written));
    }
    query::joined(&pairs)
}
