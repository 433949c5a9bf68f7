//! `multipart/form-data`: each field is a part, and the boundary occurs in none of them.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;
use tenon_net::percent::PercentEncodeSet;

use super::style::{StyleWriter, plain};
use super::{BuildError, file, header, media};
use crate::operation::{FormField, Serialization};

pub(super) struct MultipartPart {
    name: String,
    file_name: Option<String>,
    media_type: Option<String>,
    bytes: Vec<u8>,
}

/// By itself a list is one part for each member, and an object is JSON.
pub(super) fn parts(
    fields: &[FormField],
    object: &[(&str, &Value)],
) -> Result<Vec<MultipartPart>, BuildError> {
    let mut parts = Vec::new();
    for (name, value) in object.iter().filter(|(_, value)| !value.is_null()) {
        let field = fields.iter().find(|field| field.name == *name);
        let serialization = field.and_then(|field| field.serialization.as_ref());
        let is_file = field.is_some_and(|field| field.is_file);
        match (serialization, value) {
            (_, Value::Array(members)) if is_file => {
                for member in members {
                    parts.push(file(name, field, member)?);
                }
            }
            (_, value) if is_file => parts.push(file(name, field, value)?),
            (Some(Serialization::Styled { style, explode, .. }), value) => {
                let writer = StyleWriter {
                    style: *style,
                    explode: *explode,
                    keep: PercentEncodeSet::Everything,
                };
                let pairs = writer.pairs(name, value).into_iter();
                parts.extend(pairs.map(|(name, text)| MultipartPart {
                    name,
                    file_name: None,
                    media_type: declared_media_type(field),
                    bytes: text.into_bytes(),
                }));
            }
            (Some(Serialization::Media(media_type)), value) => parts.push(MultipartPart {
                name: (*name).to_owned(),
                file_name: None,
                media_type: Some(media_type.clone()).filter(|kind| is_definite(kind)),
                bytes: media(media_type, value).into_bytes(),
            }),
            (None, Value::Array(members)) => {
                let members = members.iter().filter(|member| !member.is_null());
                parts.extend(members.map(|member| usual(name, field, member)));
            }
            (None, value) => parts.push(usual(name, field, value)),
        }
    }
    Ok(parts)
}

fn usual(name: &str, field: Option<&FormField>, value: &Value) -> MultipartPart {
    let by_itself = match value {
        Value::Array(_) | Value::Object(_) => Some("application/json".to_owned()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    };
    MultipartPart {
        name: name.to_owned(),
        file_name: None,
        media_type: declared_media_type(field).or(by_itself),
        bytes: plain(value).unwrap_or_default().into_owned().into_bytes(),
    }
}

fn file(name: &str, field: Option<&FormField>, value: &Value) -> Result<MultipartPart, BuildError> {
    let file = file::read(name, value)?;
    let media_type = file.media_type.filter(|kind| is_definite(kind));
    let media_type = media_type
        .or_else(|| declared_media_type(field))
        .unwrap_or_else(|| "application/octet-stream".to_owned());
    // Without a name many servers take it for a text.
    let file_name = file.name.filter(|name| !name.is_empty());
    let file_name = file_name.unwrap_or_else(|| format!("{name}{}", file::extension(&media_type)));
    Ok(MultipartPart {
        name: name.to_owned(),
        file_name: Some(file_name),
        media_type: Some(media_type),
        bytes: file.bytes,
    })
}

/// The first type a document names for a field, if it is one and not a range.
fn declared_media_type(field: Option<&FormField>) -> Option<String> {
    let media_types = field?.media_type.as_deref()?.split(',').map(str::trim);
    let mut definite = media_types.filter(|kind| is_definite(kind));
    definite.next().map(str::to_owned)
}

fn is_definite(media_type: &str) -> bool {
    media_type.contains('/') && !media_type.contains('*') && header::value(media_type).is_some()
}

/// A boundary that occurs in no part. It is derived from the parts, so that the same input makes
/// the same request.
pub(super) fn boundary(parts: &[MultipartPart]) -> String {
    let mut hasher = DefaultHasher::new();
    for part in parts {
        part.bytes.hash(&mut hasher);
    }
    loop {
        let boundary = format!("part-{:016x}", hasher.finish());
        let occurs = |part: &MultipartPart| holds(&part.bytes, boundary.as_bytes());
        if !parts.iter().any(occurs) {
            return boundary;
        }
        boundary.hash(&mut hasher);
    }
}

fn holds(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

pub(super) fn write(parts: &[MultipartPart], boundary: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for part in parts {
        let mut head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"",
            quoted(&part.name)
        );
        if let Some(name) = &part.file_name {
            head.push_str(&format!("; filename=\"{}\"", quoted(name)));
        }
        if let Some(media_type) = &part.media_type {
            head.push_str(&format!("\r\nContent-Type: {media_type}"));
        }
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(b"\r\n\r\n");
        out.extend_from_slice(&part.bytes);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    out
}

/// As browsers write it: what would end the name or the line is encoded.
fn quoted(name: &str) -> String {
    let name = name.replace('"', "%22");
    let name = name.replace('\r', "%0D").replace('\n', "%0A");
    name.chars().filter(|c| !c.is_control()).collect()
}
