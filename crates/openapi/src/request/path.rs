//! The path of a request, with its parameters filled in.
//!
//! No value leaves its segment: what means something in a path is encoded, and
//! what would mean the folder above however it is written is refused.

use serde_json::{Map, Value};
use tenon_net::percent::{PercentEncodeSet, decode, encode};

use super::style::StyleWriter;
use super::{BuildError, media, missing};
use crate::operation::{OpenapiParameter, Operation, ParameterLocation, Serialization};

/// What a document writes as one: "/pets/{id}?expand".
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FilledPath {
    pub(super) path: String,
    /// What some documents write behind it.
    pub(super) query: Option<String>,
}

pub(super) fn fill(
    operation: &Operation,
    input: &Map<String, Value>,
) -> Result<FilledPath, BuildError> {
    // What stands behind a `#` tells apart operations of one path; it is not sent.
    let (whole, _) = operation
        .path
        .split_once('#')
        .unwrap_or((&operation.path, ""));
    let (path, query) = match whole.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (whole, None),
    };
    let segments = path.split('/').map(|segment| {
        let filled = expand(segment, operation, input)?;
        if filled != segment && is_dots(&filled) {
            return Err(BuildError::DotSegment(operation.path.clone()));
        }
        Ok(filled)
    });
    let segments: Vec<String> = segments.collect::<Result<_, _>>()?;
    let query = query
        .map(|query| expand(query, operation, input))
        .transpose()?;
    Ok(FilledPath {
        path: segments.join("/"),
        query: query.filter(|query| !query.is_empty()),
    })
}

fn expand(
    template: &str,
    operation: &Operation,
    input: &Map<String, Value>,
) -> Result<String, BuildError> {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, name, after)) = next(rest) {
        out.push_str(before);
        let parameter = operation.parameters.iter().find(|parameter| {
            parameter.location == ParameterLocation::Path && parameter.name == name
        });
        let parameter = parameter.ok_or_else(|| BuildError::UndeclaredPathParameter {
            name: name.to_owned(),
            path: operation.path.clone(),
        })?;
        out.push_str(&write(parameter, input)?);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// What stands before the next name in braces, the name, and what comes after.
fn next(template: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = template.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

fn write(parameter: &OpenapiParameter, input: &Map<String, Value>) -> Result<String, BuildError> {
    let value = input.get(&parameter.input).unwrap_or(&Value::Null);
    if value.is_null() {
        return Err(missing(&parameter.input));
    }
    let serialized = match &parameter.serialization {
        Serialization::Styled {
            style,
            explode,
            reserved,
        } => StyleWriter::new(
            *style,
            *explode,
            reserved.then_some(PercentEncodeSet::ReservedInPath),
        )
        .text(&parameter.name, value),
        Serialization::Media(media_type) => Some(encode(
            &media(media_type, value),
            PercentEncodeSet::Unreserved,
        )),
    };
    let is_there = |text: &String| !text.is_empty();
    serialized
        .filter(is_there)
        .ok_or_else(|| BuildError::EmptyPathParameter(parameter.input.clone()))
}

fn is_dots(segment: &str) -> bool {
    matches!(decode(segment).as_slice(), b"." | b"..")
}
