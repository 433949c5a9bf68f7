//! A document as tools: one for each operation.
//!
//! Nothing in a document is trusted to be what it should be, or to be short. What is
//! broken costs the operation it belongs to and no other, and says why; what is too
//! long is cut. Nothing is fetched: what stands in another document is known only
//! where that was bundled with this one.

mod body;
mod input;
mod names;
mod notes;
mod operations;
mod parameters;
mod refs;
mod schema;
mod security;
mod servers;

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use super::document::Wrong;
use super::operation::Parsed;
use crate::text;
use refs::Refs;
use schema::Reader;

/// More than any server has; the rest is counted and left out.
pub const MAX_OPERATIONS: usize = 10_000;

const MAX_TITLE: usize = 200;
const MAX_DESCRIPTION: usize = 4000;

/// In which language a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    Swagger2,
    Openapi30,
    /// And what came after it.
    Openapi31,
}

/// What it takes to read one document.
struct Reading<'d> {
    document: &'d Map<String, Value>,
    version: Version,
    reader: Reader<'d>,
}

pub fn parse(document: &Value) -> Result<Parsed, Wrong> {
    let Value::Object(object) = document else {
        return Err(Wrong::new(
            "The document is not an OpenAPI description: `#` is not an object.",
        ));
    };
    let version = version(object)?;
    let reading = Reading {
        document: object,
        version,
        reader: Reader::new(Refs::new(document), version == Version::Openapi31),
    };
    let empty = Map::new();
    let paths = match object.get("paths") {
        Some(Value::Object(paths)) => paths,
        None | Some(Value::Null) => &empty,
        Some(_) => {
            return Err(Wrong::new(
                "The document is not an OpenAPI description: `#/paths` is not an object.",
            ));
        }
    };
    let operations::OperationList {
        operations,
        skipped,
        mut notes,
    } = operations::read(&reading, paths);
    notes.extend(notes::unread_schemas(&reading.reader.unread()));
    let info = |word| object.get("info").and_then(|info| info.get(word));
    let text = |word| match info(word) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    Ok(Parsed {
        title: text::line(&text("title"), MAX_TITLE),
        version: text::line(&text("version"), MAX_TITLE),
        // Whole: servers may be listed in it.
        description: text::block(&text("description"), 16 * MAX_DESCRIPTION),
        operations,
        skipped,
        notes,
        schemes: security::schemes(&reading.reader.refs, object),
    })
}

fn version(document: &Map<String, Value>) -> Result<Version, Wrong> {
    let said = |word| match document.get(word) {
        Some(Value::String(text)) => Some(text.trim().to_owned()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    match (
        said("openapi"),
        said("swagger").or_else(|| said("swaggerVersion")),
    ) {
        (Some(version), _) if version.starts_with("3.0") => Ok(Version::Openapi30),
        (Some(_), _) => Ok(Version::Openapi31),
        (None, Some(version)) if version.starts_with('1') => Err(Wrong::new(format!(
            "The document is Swagger {}: only 2.0 and OpenAPI 3 are read.",
            text::line(&version, 20)
        ))),
        (None, Some(_)) => Ok(Version::Swagger2),
        (None, None) if !document.get("paths").is_some_and(Value::is_object) => Err(Wrong::new(
            "The document is not an OpenAPI description: `#` has neither `openapi` nor `swagger` nor `paths`.",
        )),
        (None, None) if document.contains_key("definitions") => Ok(Version::Swagger2),
        (None, None) => Ok(Version::Openapi30),
    }
}
