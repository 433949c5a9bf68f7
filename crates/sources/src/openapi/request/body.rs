//! The body of a request: which part of the input it is, and how it is written.

use reqwest::header::HeaderValue;
use serde_json::{Map, Value};
use tenon_domain::ToolError;

use super::style::plain;
use super::{file, header, missing, multipart, query};
use crate::openapi::operation::{Body, BodyInput, BodyKind, Field, Operation, Style, Written};

pub(super) struct Made {
    pub(super) media_type: HeaderValue,
    pub(super) bytes: Vec<u8>,
}

/// None where an operation takes no body, or may do without one.
pub(super) fn make(
    operation: &Operation,
    input: &Map<String, Value>,
) -> Result<Option<Made>, ToolError> {
    let Some(body) = &operation.body else {
        return Ok(None);
    };
    let Some(value) = taken(operation, body, input)? else {
        return Ok(None);
    };
    let (media_type, bytes) = match &body.kind {
        BodyKind::Json => (
            said(body, "application/json"),
            value.to_string().into_bytes(),
        ),
        BodyKind::Form(fields) => (
            said(body, "application/x-www-form-urlencoded"),
            form(fields, object(body, &value)?).into_bytes(),
        ),
        BodyKind::Multipart(fields) => {
            let parts = multipart::parts(fields, object(body, &value)?)?;
            let boundary = multipart::boundary(&parts);
            let media_type = said(body, "multipart/form-data");
            let bytes = multipart::write(&parts, &boundary);
            (format!("{media_type}; boundary={boundary}"), bytes)
        }
        BodyKind::Text => {
            let text = plain(&value).unwrap_or_default().into_owned();
            (with_charset(said(body, "text/plain")), text.into_bytes())
        }
        BodyKind::Bytes => {
            let file = file::read(name(body), &value)?;
            let said = said(body, "");
            let media_type = match said.is_empty() {
                true => file.media_type,
                false => Some(said),
            };
            let media_type = media_type.unwrap_or_else(|| "application/octet-stream".to_owned());
            (media_type, file.bytes)
        }
    };
    let media_type = header::value(&media_type)
        .unwrap_or_else(|| HeaderValue::from_static("application/octet-stream"));
    Ok(Some(Made { media_type, bytes }))
}

/// The part of the input that is the body.
fn taken(
    operation: &Operation,
    body: &Body,
    input: &Map<String, Value>,
) -> Result<Option<Value>, ToolError> {
    match &body.input {
        BodyInput::Whole(name) => match input.get(name) {
            None if body.required => Err(missing(name)),
            // A null where nothing is needed stands for nothing.
            None => Ok(None),
            Some(Value::Null) if !body.required => Ok(None),
            Some(value) => Ok(Some(value.clone())),
        },
        BodyInput::Merged(properties) => {
            let mut whole = Map::new();
            for (name, value) in input {
                let property = properties.iter().find(|(input, _)| input == name);
                let is_parameter = || operation.parameters.iter().any(|one| one.input == *name);
                let property = match property {
                    Some((_, property)) => property,
                    None if is_parameter() => continue,
                    None => name,
                };
                whole.insert(property.clone(), value.clone());
            }
            let is_sent = body.required || !whole.is_empty();
            Ok(is_sent.then_some(Value::Object(whole)))
        }
    }
}

fn object<'a>(body: &Body, value: &'a Value) -> Result<&'a Map<String, Value>, ToolError> {
    value.as_object().ok_or_else(|| {
        ToolError::invalid_input(format!(
            "`{}` is a form: an object with a value for each field.",
            name(body)
        ))
    })
}

fn name(body: &Body) -> &str {
    match &body.input {
        BodyInput::Whole(name) => name,
        BodyInput::Merged(_) => "the body",
    }
}

/// As the document says it, or what is usual where it says nothing definite.
fn said(body: &Body, usual: &str) -> String {
    let media_type = body.media_type.trim();
    match media_type.contains('/')
        && !media_type.contains('*')
        && header::value(media_type).is_some()
    {
        true => media_type.to_owned(),
        false => usual.to_owned(),
    }
}

fn with_charset(media_type: String) -> String {
    match media_type.starts_with("text/") && !media_type.contains("charset") {
        true => format!("{media_type}; charset=utf-8"),
        false => media_type,
    }
}

/// A form written like a query. By itself a list is its members one by one, and
/// an object is JSON.
fn form(fields: &[Field], object: &Map<String, Value>) -> String {
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
