//! What a request of the stateless era says twice: in its body and, for those
//! who route it without reading that, in its headers.

use std::collections::{HashMap, HashSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

use super::talk::Post;

/// The arguments of each tool that go into headers as well, by the tool's name.
pub(super) type Mirrors = HashMap<String, Vec<Mirrored>>;

/// Says which of an object's properties goes into a header.
const MARK: &str = "x-mcp-header";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mirrored {
    path: Vec<String>,
    header: HeaderName,
}

/// What a tool's schema wants in headers. The error says why it is not a schema of MCP.
pub(super) fn read(schema: &Map<String, Value>) -> Result<Vec<Mirrored>, String> {
    if schema.contains_key(MARK) {
        return Err(format!("{MARK} must mark a property, not the whole input"));
    }
    let mut found = Vec::new();
    collect(schema, &mut Vec::new(), &mut found)?;
    if count(schema) != found.len() {
        return Err(format!(
            "{MARK} must mark a property of an object, and nothing else"
        ));
    }
    let mut seen = HashSet::new();
    match found
        .iter()
        .find(|mirrored| !seen.insert(mirrored.header.clone()))
    {
        Some(twice) => Err(format!("{MARK} names `{}` twice", twice.header)),
        None => Ok(found),
    }
}

/// Writes the headers of one request.
pub(super) fn write(post: &Post<'_>, mirrors: &Mirrors, headers: &mut HeaderMap) {
    let mut put = |name: HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::try_from(encode(value)) {
            headers.insert(name, value);
        }
    };
    put(HeaderName::from_static("mcp-method"), post.method);
    let Some(name) = post.name else {
        return;
    };
    put(HeaderName::from_static("mcp-name"), name);
    for mirrored in mirrors.get(name).into_iter().flatten() {
        let steps = &mut mirrored.path.iter();
        let value = post
            .arguments
            .and_then(|arguments| steps.try_fold(arguments, |value, key| value.get(key)));
        let text = match value {
            Some(Value::String(text)) => text.clone(),
            Some(value @ (Value::Bool(_) | Value::Number(_))) => value.to_string(),
            _ => continue,
        };
        put(mirrored.header.clone(), &text);
    }
}

fn collect(
    schema: &Map<String, Value>,
    path: &mut Vec<String>,
    found: &mut Vec<Mirrored>,
) -> Result<(), String> {
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
            let header =
                header.ok_or(format!("{MARK} of `{name}` cannot be the name of a header"))?;
            let kind = property.get("type").and_then(Value::as_str);
            if !matches!(kind, Some("string" | "integer" | "boolean")) {
                return Err(format!(
                    "{MARK} marks `{name}`, which is no text, whole number or truth value"
                ));
            }
            let path = path.clone();
            found.push(Mirrored { path, header });
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
    let plain = value.chars().all(|c| matches!(c, ' '..='~'))
        && value.trim() == value
        && !(value.starts_with("=?base64?") && value.ends_with("?="));
    match plain {
        true => value.to_owned(),
        false => format!("=?base64?{}?=", STANDARD.encode(value)),
    }
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
        assert_eq!(read, expected.map_err(str::to_owned), "{schema}");
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
            Err("x-mcp-header marks `a`, which is no text, whole number or truth value"),
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
    }
}
