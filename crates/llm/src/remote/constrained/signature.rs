//! A tool's arguments on one line, as TypeScript would write them:
//! `{path: string (The file), depth?: integer}`.
//!
//! Half as long as the schema, and small models fill it in as well. What it does not say, the
//! grammar that the server makes of the schema enforces.

use serde_json::{Map, Value};

/// Of a compiled schema, in the order of its properties.
pub(super) fn signature(schema: &Value) -> String {
    match schema {
        Value::Object(keywords) => type_of(keywords),
        _ => "any".to_owned(),
    }
}

fn type_of(keywords: &Map<String, Value>) -> String {
    if let Some(Value::Array(values)) = keywords.get("enum") {
        return union(values.iter().map(Value::to_string));
    }
    if let Some(Value::Array(branches)) = keywords.get("anyOf") {
        return union(branches.iter().map(signature));
    }
    match keywords.get("type") {
        Some(Value::Array(kinds)) => union(kinds.iter().map(|kind| of_kind(kind, keywords))),
        Some(kind) => of_kind(kind, keywords),
        None => "any".to_owned(),
    }
}

fn of_kind(kind: &Value, keywords: &Map<String, Value>) -> String {
    match kind.as_str() {
        Some("object") => object(keywords),
        Some("array") => match keywords.get("items").map(signature) {
            Some(items) if items.contains(' ') && !items.starts_with('{') => format!("({items})[]"),
            Some(items) => format!("{items}[]"),
            None => "any[]".to_owned(),
        },
        Some(kind) => kind.to_owned(),
        None => "any".to_owned(),
    }
}

fn object(keywords: &Map<String, Value>) -> String {
    let properties = keywords.get("properties").and_then(Value::as_object);
    let fields = properties.into_iter().flatten().map(|(name, schema)| {
        let description = schema.get("description").and_then(Value::as_str);
        let description = description.map_or_else(String::new, |text| {
            format!(" ({})", text.trim_end_matches(['.', '。']))
        });
        let optional = if is_required(name, keywords) { "" } else { "?" };
        format!("{name}{optional}: {}{description}", signature(schema))
    });
    let fields: Vec<String> = fields.collect();
    if fields.is_empty() && keywords.contains_key("additionalProperties") {
        return "object".to_owned();
    }
    format!("{{{}}}", fields.join(", "))
}

fn is_required(name: &str, keywords: &Map<String, Value>) -> bool {
    let required = keywords.get("required").and_then(Value::as_array);
    required.is_some_and(|required| required.iter().any(|required| required == name))
}

fn union(types: impl Iterator<Item = String>) -> String {
    types.collect::<Vec<_>>().join(" | ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(schema: Value, expected: &str) {
        assert_eq!(signature(&schema), expected);
    }

    #[test]
    fn arguments_are_written_as_types() {
        check(json!({"type": "object", "properties": {}}), "{}");
        check(
            json!({"type": "object", "properties": {
                "path": {"type": "string", "description": "The file."},
                "depth": {"type": "integer", "minimum": 1},
                "unit": {"type": "string", "enum": ["c", "f"], "description": "Unit"},
            }, "required": ["path"]}),
            r#"{path: string (The file), depth?: integer, unit?: "c" | "f" (Unit)}"#,
        );
        check(
            json!({"type": "object", "properties": {
                "tags": {"type": "array", "items": {"type": "string"}},
                "ids": {"type": "array", "items": {"type": ["string", "null"]}},
                "rows": {"type": "array", "items": {"type": "object", "properties": {"a": {}}}},
                "any": {"anyOf": [{"type": "string"}, {"type": "number"}]},
                "map": {"type": "object", "properties": {}, "additionalProperties": {"type": "string"}},
            }}),
            "{tags?: string[], ids?: (string | null)[], rows?: {a?: any}[], any?: string | number, map?: object}",
        );
    }
}
