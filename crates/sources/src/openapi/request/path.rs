//! The path of a request, with its parameters filled in.
//!
//! No value leaves its segment: what means something in a path is encoded, and
//! what would mean the folder above however it is written is refused.

use serde_json::{Map, Value};
use tenon_domain::ToolError;

use super::style::Manner;
use super::{media, missing};
use crate::openapi::operation::{Operation, Parameter, Place, Written};
use tenon_net::percent::{Keep, decode, encode};

/// What a document writes as one: "/pets/{id}?expand".
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Filled {
    pub(super) path: String,
    /// What some documents write behind it.
    pub(super) query: Option<String>,
}

pub(super) fn fill(operation: &Operation, input: &Map<String, Value>) -> Result<Filled, ToolError> {
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
        match filled != segment && is_dots(&filled) {
            true => Err(ToolError::invalid_input(format!(
                "The path {} cannot be made: a part of it would be `.` or `..`. Give another value.",
                operation.path
            ))),
            false => Ok(filled),
        }
    });
    let segments: Vec<String> = segments.collect::<Result<_, _>>()?;
    let query = query
        .map(|query| expand(query, operation, input))
        .transpose()?;
    Ok(Filled {
        path: segments.join("/"),
        query: query.filter(|query| !query.is_empty()),
    })
}

fn expand(
    template: &str,
    operation: &Operation,
    input: &Map<String, Value>,
) -> Result<String, ToolError> {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, name, after)) = next(rest) {
        out.push_str(before);
        let parameter = operation
            .parameters
            .iter()
            .find(|parameter| parameter.place == Place::Path && parameter.name == name);
        let parameter = parameter.ok_or_else(|| {
            ToolError::failed(format!(
                "This tool cannot be called: its description does not say what {{{name}}} in {} is.",
                operation.path
            ))
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

fn write(parameter: &Parameter, input: &Map<String, Value>) -> Result<String, ToolError> {
    let value = input.get(&parameter.input).unwrap_or(&Value::Null);
    if value.is_null() {
        return Err(missing(&parameter.input));
    }
    let written = match &parameter.written {
        Written::As {
            style,
            explode,
            reserved,
        } => Manner::new(*style, *explode, reserved.then_some(Keep::ReservedInPath))
            .text(&parameter.name, value),
        Written::Media(media_type) => Some(encode(&media(media_type, value), Keep::Unreserved)),
    };
    written.filter(|text| !text.is_empty()).ok_or_else(|| {
        ToolError::invalid_input(format!(
            "`{}` is empty, but it is part of the address: give a value.",
            parameter.input
        ))
    })
}

fn is_dots(segment: &str) -> bool {
    matches!(decode(segment).as_slice(), b"." | b"..")
}
