//! The body of a request: which part of the input it is, and how it is written.

use std::borrow::Cow;

use http::header::HeaderValue;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::style::plain;
use super::{BuildError, file, header, missing, multipart, query};
use crate::operation::{
    BodyInput, BodyKind, FormField, Operation, ParameterStyle, RequestBody, Serialization,
};

pub(super) struct EncodedBody {
    pub(super) media_type: HeaderValue,
    pub(super) bytes: Vec<u8>,
}

/// The part of the input that is the body.
enum BodyValue<'a> {
    Whole(&'a Value),
    Merged(BodyFields<'a>),
}

/// The fields of an object, each under the name it is sent by.
type BodyFields<'a> = Vec<(&'a str, &'a Value)>;

/// None where an operation takes no body, or may do without one.
pub(super) fn encode(
    operation: &Operation,
    input: &Map<String, Value>,
) -> Result<Option<EncodedBody>, BuildError> {
    let Some(body) = &operation.body else {
        return Ok(None);
    };
    let Some(value) = body_value(operation, body, input)? else {
        return Ok(None);
    };
    let (media_type, bytes) = match &body.kind {
        BodyKind::Json => (media_type_or(body, "application/json"), json(&value)),
        BodyKind::Form(fields) => (
            media_type_or(body, "application/x-www-form-urlencoded"),
            form(fields, &value.fields(body)?).into_bytes(),
        ),
        BodyKind::Multipart(fields) => {
            let parts = multipart::parts(fields, &value.fields(body)?)?;
            let boundary = multipart::boundary(&parts);
            let media_type = media_type_or(body, "multipart/form-data");
            let bytes = multipart::write(&parts, &boundary);
            (format!("{media_type}; boundary={boundary}").into(), bytes)
        }
        BodyKind::Text => {
            let text = match &value {
                BodyValue::Whole(text) => plain(text).unwrap_or_default().into_owned().into_bytes(),
                BodyValue::Merged(_) => json(&value),
            };
            (with_charset(media_type_or(body, "text/plain")), text)
        }
        BodyKind::Bytes => {
            let file = match &value {
                BodyValue::Whole(value) => file::read(name(body), value)?,
                BodyValue::Merged(_) => file::read(name(body), &Value::Null)?,
            };
            let media_type = match media_type_or(body, "") {
                none if none.is_empty() => file.media_type.map(Cow::Owned),
                declared => Some(declared),
            };
            let media_type = media_type.unwrap_or(Cow::Borrowed("application/octet-stream"));
            (media_type, file.bytes)
        }
    };
    let media_type = header::value(&media_type)
        .unwrap_or_else(|| HeaderValue::from_static("application/octet-stream"));
    Ok(Some(EncodedBody { media_type, bytes }))
}

fn body_value<'a>(
    operation: &'a Operation,
    body: &'a RequestBody,
    input: &'a Map<String, Value>,
) -> Result<Option<BodyValue<'a>>, BuildError> {
    match &body.input {
        BodyInput::Whole(name) => match input.get(name) {
            None if body.required => Err(missing(name)),
            // A null for an optional body means no body.
            None => Ok(None),
            Some(Value::Null) if !body.required => Ok(None),
            Some(value) => Ok(Some(BodyValue::Whole(value))),
        },
        BodyInput::Merged(properties) => {
            let mut fields = BodyFields::with_capacity(input.len());
            for (name, value) in input {
                let property = properties.iter().find(|(input, _)| input == name);
                let is_parameter = || operation.parameters.iter().any(|one| one.input == *name);
                // The field is already sent under its other name in the input.
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
            Ok(is_sent.then_some(BodyValue::Merged(fields)))
        }
    }
}

impl<'a> BodyValue<'a> {
    fn fields(&self, body: &RequestBody) -> Result<BodyFields<'a>, BuildError> {
        match self {
            Self::Merged(fields) => Ok(fields.clone()),
            Self::Whole(Value::Object(fields)) => Ok(fields
                .iter()
                .map(|(name, value)| (name.as_str(), value))
                .collect()),
            Self::Whole(_) => Err(BuildError::NotAForm(name(body).to_owned())),
        }
    }
}

impl Serialize for BodyValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Whole(value) => value.serialize(serializer),
            Self::Merged(fields) => serializer.collect_map(fields.iter().copied()),
        }
    }
}

/// Values that were parsed from JSON can always be serialised.
fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

fn name(body: &RequestBody) -> &str {
    match &body.input {
        BodyInput::Whole(name) => name,
        BodyInput::Merged(_) => "the body",
    }
}

/// The media type of the document, or the usual one where it names a range or none.
fn media_type_or<'a>(body: &'a RequestBody, usual: &'a str) -> Cow<'a, str> {
    let media_type = body.media_type.trim();
    let is_definite = media_type.contains('/') && !media_type.contains('*');
    if is_definite && header::value(media_type).is_some() {
        Cow::Borrowed(media_type)
    } else {
        Cow::Borrowed(usual)
    }
}

fn with_charset(media_type: Cow<'_, str>) -> Cow<'_, str> {
    if media_type.starts_with("text/") && !media_type.contains("charset") {
        Cow::Owned(format!("{media_type}; charset=utf-8"))
    } else {
        media_type
    }
}

/// A form written like a query. By itself a list is its members one by one, and
/// an object is JSON.
fn form(fields: &[FormField], object: &BodyFields<'_>) -> String {
    let mut pairs = Vec::new();
    for (name, value) in object.iter().filter(|(_, value)| !value.is_null()) {
        let field = fields.iter().find(|field| field.name == *name);
        let serialization = match field.and_then(|field| field.serialization.clone()) {
            Some(serialization) => serialization,
            None if value.is_object() => Serialization::Media("application/json".to_owned()),
            None => Serialization::Styled {
                style: ParameterStyle::Form,
                explode: true,
                reserved: false,
            },
        };
        pairs.extend(query::pairs(name, value, &serialization));
    }
    query::joined(&pairs)
}
