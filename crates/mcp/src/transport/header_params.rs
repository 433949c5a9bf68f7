//! Arguments that a request of the stateless era repeats in its headers, for those who
//! route it without reading its body (`x-mcp-header`).

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

use super::Outgoing;
use crate::message::{METHOD, NAME};

/// The arguments of each tool that go into headers as well, by the tool's name.
pub(crate) type HeaderParams = HashMap<String, Vec<HeaderParam>>;

/// The keyword that marks a property that goes into a header.
const MARK: &str = "x-mcp-header";

/// Why the marks of a schema are not those of MCP.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeaderParamError {
    #[error("x-mcp-header must mark a property, not the whole input")]
    OnInput,
    #[error("x-mcp-header must mark a property of an object, and nothing else")]
    Elsewhere,
    #[error("x-mcp-header names `{0}` twice")]
    Twice(String),
    #[error("x-mcp-header of `{0}` cannot be the name of a header")]
    Name(String),
    #[error("x-mcp-header marks `{0}`, which is not a string, an integer or a boolean")]
    Type(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeaderParam {
    path: Vec<String>,
    header: HeaderName,
}

impl HeaderParam {
    pub(crate) fn header(&self) -> &HeaderName {
        &self.header
    }

    /// None: the arguments do not have it.
    pub(crate) fn header_value(&self, arguments: &Value) -> Option<String> {
        let value = self
            .path
            .iter()
            .try_fold(arguments, |value, key| value.get(key));
        match value {
            Some(Value::String(text)) => Some(text.clone()),
            Some(value @ (Value::Bool(_) | Value::Number(_))) => Some(value.to_string()),
            _ => None,
        }
    }
}

/// The parameters that a tool's schema marks for headers.
pub(crate) fn read(schema: &Map<String, Value>) -> Result<Vec<HeaderParam>, HeaderParamError> {
    if schema.contains_key(MARK) {
        return Err(HeaderParamError::OnInput);
    }
    let mut found = Vec::new();
    collect(schema, &mut Vec::new(), &mut found)?;
    if count(schema) != found.len() {
        return Err(HeaderParamError::Elsewhere);
    }
    let mut seen = HashSet::new();
    match found
        .iter()
        .find(|param| !seen.insert(param.header.clone()))
    {
        Some(twice) => Err(HeaderParamError::Twice(twice.header.to_string())),
        None => Ok(found),
    }
}

/// What a request of the stateless era repeats of its body in headers.
pub fn routing_headers(method: &str, name: Option<&str>) -> HeaderMap {
    let headers = [(METHOD, Some(method)), (NAME, name)].into_iter();
    let written = headers.filter_map(|(header, value)| {
        let value = HeaderValue::try_from(encode(value?)).ok()?;
        Some((header, value))
    });
    written.collect()
}

/// Writes the headers of one request.
pub(crate) fn write(
    outgoing: &Outgoing<'_>,
    header_params: &HeaderParams,
    headers: &mut HeaderMap,
) {
    headers.extend(routing_headers(outgoing.method, outgoing.name));
    let mut put = |name: HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::try_from(encode(value)) {
            headers.insert(name, value);
        }
    };
    let Some(name) = outgoing.name else {
        return;
    };
    for param in header_params.get(name).into_iter().flatten() {
        let arguments = outgoing.arguments;
        if let Some(text) = arguments.and_then(|arguments| param.header_value(arguments)) {
            put(param.header.clone(), &text);
        }
    }
}

fn collect(
    schema: &Map<String, Value>,
    path: &mut Vec<String>,
    found: &mut Vec<HeaderParam>,
) -> Result<(), HeaderParamError> {
    let Some(Value::Object(properties)) = schema.get("properties") else {
        return Ok(());
    };
    for (name, property) in properties {
        let Value::Object(property) = property else {
            continue;
        };
        path.push(name.clone());
        if let Some(mark) = property.get(MARK) {
            let header = mark.as_str().filter(|mark| !mark.is_empty());
            let header =
                header.and_then(|mark| HeaderName::try_from(format!("mcp-param-{mark}")).ok());
            let header = header.ok_or_else(|| HeaderParamError::Name(name.clone()))?;
            let kind = property.get("type").and_then(Value::as_str);
            if !matches!(kind, Some("string" | "integer" | "boolean")) {
                return Err(HeaderParamError::Type(name.clone()));
            }
            let path = path.clone();
            found.push(HeaderParam { path, header });
        }
        collect(property, path, found)?;
        path.pop();
    }
    Ok(())
}

/// How many marks there are anywhere, but in what is data and no schema.
fn count(schema: &Map<String, Value>) -> usize {
    let inside = |value: &Value| match value {
        Value::Object(schema) => count(schema),
        Value::Array(schemas) => schemas.iter().filter_map(Value::as_object).map(count).sum(),
        _ => 0,
    };
    let each = schema
        .iter()
        .map(|(key, value)| match (key.as_str(), value) {
            (MARK, _) => 1,
            ("default" | "const" | "enum" | "examples", _) => 0,
            // The names in these are anybody's: none of them is a mark.
            (
                "properties" | "$defs" | "definitions" | "dependentSchemas" | "patternProperties",
                Value::Object(named),
            ) => named.values().map(inside).sum(),
            _ => inside(value),
        });
    each.sum()
}

/// A value as a header can carry it.
fn encode(value: &str) -> String {
    let is_plain = value.chars().all(|c| matches!(c, ' '..='~'))
        && value.trim() == value
        && !(value.starts_with("=?base64?") && value.ends_with("?="));
    if is_plain {
        value.to_owned()
    } else {
        format!("=?base64?{}?=", STANDARD.encode(value))
    }
}

/// The value that a header carries. None: it is not encoded as it claims to be.
pub(crate) fn decode(value: &str) -> Option<Cow<'_, str>> {
    let wrapped = value
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="));
    let Some(wrapped) = wrapped else {
        return Some(Cow::Borrowed(value));
    };
    let bytes = STANDARD.decode(wrapped).ok()?;
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(schema: Value, expected: Result<&[&str], &str>) {
        let read = read(schema.as_object().unwrap());
        let read = read.map(|found| {
            found
                .into_iter()
                .map(|one| one.header.to_string())
                .collect::<Vec<_>>()
        });
        let expected = expected.map(|names| names.iter().map(ToString::to_string).collect());
        assert_eq!(
            read.map_err(|defect| defect.to_string()),
            expected.map_err(str::to_owned),
            "{schema}"
        );
    }

    #[test]
    fn marks_are_read_where_they_may_stand() {
        let text = |mark: &str| json!({ "type": "string", MARK: mark });
        check(json!({}), Ok(&[]));
        check(
            json!({ "properties": { "a": text("Region") } }),
            Ok(&["mcp-param-region"]),
        );
        let nested = json!({ "properties": { "o": { "type": "object", "properties": { "a": text("A") } } } });
        check(nested, Ok(&["mcp-param-a"]));
        // A property of that name is none.
        check(
            json!({ "properties": { MARK: { "type": "string" } } }),
            Ok(&[]),
        );
    }

    #[test]
    fn marks_elsewhere_make_a_tool_unusable() {
        let text = |mark: &str| json!({ "type": "string", MARK: mark });
        check(
            json!({ MARK: "A" }),
            Err("x-mcp-header must mark a property, not the whole input"),
        );
        check(
            json!({ "properties": { "a": text("A"), "b": text("a") } }),
            Err("x-mcp-header names `mcp-param-a` twice"),
        );
        check(
            json!({ "properties": { "a": text("no good") } }),
            Err("x-mcp-header of `a` cannot be the name of a header"),
        );
        check(
            json!({ "properties": { "a": { "type": "number", MARK: "A" } } }),
            Err("x-mcp-header marks `a`, which is not a string, an integer or a boolean"),
        );
        check(
            json!({ "properties": { "l": { "type": "array", "items": text("A") } } }),
            Err("x-mcp-header must mark a property of an object, and nothing else"),
        );
    }

    #[test]
    fn what_a_header_cannot_carry_is_wrapped() {
        assert_eq!(encode("us-west 1"), "us-west 1");
        assert_eq!(encode(" x"), "=?base64?IHg=?=");
        assert_eq!(encode("日本"), "=?base64?5pel5pys?=");
        assert_eq!(encode("=?base64?x?="), "=?base64?PT9iYXNlNjQ/eD89?=");
        for value in ["us-west 1", " x", "日本", "=?base64?x?="] {
            assert_eq!(decode(&encode(value)).as_deref(), Some(value));
        }
        assert_eq!(decode("=?base64?SGVsbG8?="), None, "the padding is missing");
    }
}
