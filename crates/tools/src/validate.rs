//! Does an input fit a tool's schema, and if not, what would be right?
//!
//! The one place that knows the `jsonschema` crate. It is built without its
//! retrievers: a schema comes from outside, and a `$ref` in it must never make
//! Tenon fetch anything.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;
use tenon_domain::{ToolError, ToolSpec};

/// A model can mend a handful of mistakes at a time; a list of hundreds helps nobody.
const MAX_PROBLEMS: usize = 5;

/// A value quoted back at the model is cut to this, so that a mistake in a
/// megabyte of input does not cost another megabyte.
const MAX_QUOTE: usize = 80;

/// A compiled input schema.
#[derive(Debug)]
pub(crate) enum Schema {
    Compiled(Box<Validator>),
    /// The schema itself is broken. Its tool may still work: the source decides.
    Broken,
}

impl Schema {
    pub(crate) fn compile(tool: &ToolSpec) -> Self {
        match jsonschema::options().build(&tool.input_schema) {
            Ok(validator) => Self::Compiled(Box::new(validator)),
            Err(error) => {
                tracing::warn!(
                    tool = tool.display_name,
                    id = %tool.id,
                    error = shorten(&error.to_string()),
                    "the tool's input schema is not valid: calls go to it unchecked"
                );
                Self::Broken
            }
        }
    }

    pub(crate) fn check(&self, input: &Value) -> Result<(), ToolError> {
        match input {
            Value::Object(_) => {}
            Value::String(raw) => return Err(not_json(raw)),
            other => {
                return Err(ToolError::invalid_input(format!(
                    "The arguments must be one JSON object, not {}.",
                    quote(other)
                )));
            }
        }
        match self {
            Self::Broken => Ok(()),
            Self::Compiled(validator) if validator.is_valid(input) => Ok(()),
            Self::Compiled(validator) => Err(explain(validator, input)),
        }
    }
}

/// Whether inputs could be checked against this regular expression. One that could not
/// makes the whole schema around it unusable.
pub fn is_pattern(pattern: &str) -> bool {
    let schema = serde_json::json!({ "pattern": pattern });
    jsonschema::options().build(&schema).is_ok()
}

fn not_json(raw: &str) -> ToolError {
    let reason = match serde_json::from_str::<Value>(raw) {
        Err(error) => error.to_string(),
        Ok(_) => "they are a JSON string".into(),
    };
    ToolError::invalid_input(format!(
        "The arguments are not a JSON object: {reason}. Send one JSON object that fits the tool's schema."
    ))
}

fn explain(validator: &Validator, input: &Value) -> ToolError {
    let mut errors = validator.iter_errors(input);
    let mut problems: Vec<String> = errors
        .by_ref()
        .take(MAX_PROBLEMS)
        .map(|e| problem(&e))
        .collect();
    if errors.next().is_some() {
        problems.push("and more".into());
    }
    ToolError::invalid_input(format!(
        "The input does not fit the tool's schema: {}.",
        problems.join("; ")
    ))
}

fn problem(error: &ValidationError<'_>) -> String {
    let path = field(error.instance_path().as_str());
    // Errors about the whole object name the field themselves.
    let at = |field: &str| match path.as_str() {
        "" => format!("`{field}`"),
        parent => format!("`{parent}.{field}`"),
    };
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            format!("{} is missing", at(property.as_str().unwrap_or_default()))
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            let names: Vec<String> = unexpected
                .iter()
                .take(MAX_PROBLEMS)
                .map(|n| at(&shorten(n)))
                .collect();
            format!("{} is not known here", names.join(", "))
        }
        ValidationErrorKind::Enum { options } => {
            format!(
                "`{path}` must be one of {}, not {}",
                shorten(&options.to_string()),
                quote(error.instance())
            )
        }
        _ if path.is_empty() => shorten(&error.masked_with("the input").to_string()),
        _ => format!(
            "`{path}`: {}",
            shorten(&error.masked_with(quote(error.instance())).to_string())
        ),
    }
}

/// "/items/0/name" as people write it: `items.0.name`.
fn field(pointer: &str) -> String {
    let field = pointer.trim_start_matches('/').replace('/', ".");
    shorten(&field.replace("~1", "/").replace("~0", "~"))
}

fn quote(value: &Value) -> String {
    shorten(&value.to_string())
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTE) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use tenon_domain::{Annotations, RunsOn, ToolId};

    fn schema(input_schema: Value) -> Schema {
        Schema::compile(&ToolSpec {
            id: ToolId::new("t"),
            name: "t".into(),
            title: "t".into(),
            display_name: "t".into(),
            description: String::new(),
            input_schema,
            annotations: Annotations::default(),
            runs_on: RunsOn::Server,
        })
    }

    #[track_caller]
    fn check(schema_json: Value, input: Value, expected: &str) {
        let said = match schema(schema_json).check(&input) {
            Ok(()) => "fits".to_owned(),
            Err(error) => error.message,
        };
        assert_eq!(said, expected);
    }

    #[test]
    fn a_wrong_input_is_told_what_would_be_right() {
        let path = json!({"type": "object", "properties": {"path": {"type": "string"}},
                          "required": ["path"], "additionalProperties": false});
        check(path.clone(), json!({"path": "a"}), "fits");
        check(
            path.clone(),
            json!({}),
            "The input does not fit the tool's schema: `path` is missing.",
        );
        check(
            path.clone(),
            json!({"path": "a", "pth": 1}),
            "The input does not fit the tool's schema: `pth` is not known here.",
        );
        check(
            path.clone(),
            json!({"path": 5}),
            "The input does not fit the tool's schema: `path`: 5 is not of type \"string\".",
        );
        check(
            path.clone(),
            json!([1]),
            "The arguments must be one JSON object, not [1].",
        );
        check(
            path,
            json!("{\"path\": "),
            "The arguments are not a JSON object: EOF while parsing a value at line 1 column 9. \
             Send one JSON object that fits the tool's schema.",
        );
        check(
            json!({"properties": {"state": {"enum": ["on", "off"]}}}),
            json!({"state": "of"}),
            "The input does not fit the tool's schema: `state` must be one of [\"on\",\"off\"], not \"of\".",
        );
        check(
            json!({"properties": {"a": {"properties": {"b": {}}, "required": ["b"]}}}),
            json!({"a": {}}),
            "The input does not fit the tool's schema: `a.b` is missing.",
        );
    }

    #[test]
    fn hostile_schemas_fetch_nothing_and_break_nothing() {
        check(
            json!({"$ref": "http://127.0.0.1:1/schema.json"}),
            json!({}),
            "fits",
        );
        check(json!({"$ref": "file:///etc/passwd"}), json!({}), "fits");
        check(json!({"type": 12}), json!({"a": 1}), "fits");
        check(json!(true), json!({"a": 1}), "fits");
        check(json!(null), json!({}), "fits");
        check(json!({"$ref": "#"}), json!({}), "fits");
        check(json!({"allOf": [{"$ref": "#"}]}), json!({}), "fits");
        check(
            json!({"not": {"$ref": "#"}}),
            json!({}),
            "The input does not fit the tool's schema: {\"$ref\":\"#\"} is not allowed for the input.",
        );
        check(
            json!({"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"}),
            json!({}),
            "fits",
        );
        check(
            json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}),
            json!({}),
            "fits",
        );
    }
}
