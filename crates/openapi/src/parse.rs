//! Parses a document into its operations.
//!
//! Documents are untrusted input of any size. What is broken costs the operation it belongs
//! to and no other, with a reason; what is too long is cut. Nothing is fetched: other files
//! are known only where they were [bundled](crate::bundle) with this document.

mod body;
mod input;
mod names;
mod notes;
mod operations;
mod parameters;
mod references;
mod schema;
mod security;
mod servers;

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use crate::document::DocumentError;
use crate::operation::ParsedDocument;
use references::ReferenceResolver;
use schema::SchemaReader;
use tenon_text as text;

/// Bounds the tools of one document, above those of the largest public APIs. The rest is
/// counted and left out.
pub const MAX_OPERATIONS: usize = 10_000;

/// A path no server has.
const MAX_PATH_BYTES: usize = 2000;

/// Nobody fills in more.
const MAX_PARAMETERS: usize = 1000;

const MAX_TITLE_CHARS: usize = 200;
const MAX_DESCRIPTION_CHARS: usize = 4000;

/// Which specification a document follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SpecVersion {
    Swagger2,
    Openapi30,
    /// And what came after it.
    Openapi31,
}

/// What all parts of the parser share.
struct ParseContext<'d> {
    document: &'d Map<String, Value>,
    version: SpecVersion,
    reader: SchemaReader<'d>,
}

pub fn parse(document: &Value) -> Result<ParsedDocument, DocumentError> {
    let Value::Object(object) = document else {
        return Err(DocumentError::NotAnObject);
    };
    let version = version(object)?;
    let reading = ParseContext {
        document: object,
        version,
        reader: SchemaReader::new(
            ReferenceResolver::new(document),
            version == SpecVersion::Openapi31,
        ),
    };
    let empty = Map::new();
    let paths = match object.get("paths") {
        Some(Value::Object(paths)) => paths,
        None | Some(Value::Null) => &empty,
        Some(_) => return Err(DocumentError::PathsNotAnObject),
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
    Ok(ParsedDocument {
        title: text::line(&text("title"), MAX_TITLE_CHARS),
        version: text::line(&text("version"), MAX_TITLE_CHARS),
        // Whole: servers may be listed in it.
        description: text::block(&text("description"), 16 * MAX_DESCRIPTION_CHARS),
        operations,
        skipped,
        notes,
        schemes: security::schemes(&reading.reader.references, object),
    })
}

fn version(document: &Map<String, Value>) -> Result<SpecVersion, DocumentError> {
    let declared = |word| match document.get(word) {
        Some(Value::String(text)) => Some(text.trim().to_owned()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    };
    match (
        declared("openapi"),
        declared("swagger").or_else(|| declared("swaggerVersion")),
    ) {
        (Some(version), _) if version.starts_with("3.0") => Ok(SpecVersion::Openapi30),
        (Some(_), _) => Ok(SpecVersion::Openapi31),
        (None, Some(version)) if version.starts_with('1') => {
            Err(DocumentError::UnsupportedVersion {
                version: text::line(&version, 20),
            })
        }
        (None, Some(_)) => Ok(SpecVersion::Swagger2),
        (None, None) if !document.get("paths").is_some_and(Value::is_object) => {
            Err(DocumentError::NotOpenapi)
        }
        (None, None) if document.contains_key("definitions") => Ok(SpecVersion::Swagger2),
        (None, None) => Ok(SpecVersion::Openapi30),
    }
}
