//! The body of a request as the arguments of a tool, checked as mcpo's form models check it.
//!
//! This is only what FastAPI would say of fields, their presence and their types; the tool's whole
//! schema is checked where every call is.

use serde_json::{Map, Value, json};
use tenon_domain::InputSchema;

/// The fields of a tool's form, or of an object in it.
#[derive(Debug, Default)]
pub(crate) struct ArgumentForm {
    fields: Vec<ArgumentField>,
}

#[derive(Debug)]
struct ArgumentField {
    name: String,
    is_required: bool,
    /// None: whatever the schema says.
    kind: Option<ArgumentKind>,
}

#[derive(Debug)]
enum ArgumentKind {
    String,
    Integer,
    Number,
    Boolean,
    /// Of what, if that is known.
    Array(Option<Box<ArgumentKind>>),
    Object(ArgumentForm),
}

/// What FastAPI would say of an argument.
#[derive(Debug, PartialEq)]
pub(crate) struct ArgumentError {
    kind: &'static str,
    /// Names and indices below the body.
    location: Vec<Value>,
    message: &'static str,
    input: Value,
    /// What the JSON parser said.
    cause: Option<String>,
}

impl ArgumentForm {
    pub(crate) fn new(schema: &InputSchema) -> Self {
        Self::of(&schema.value())
    }

    fn of(schema: &Value) -> Self {
        let required = schema.get("required").and_then(Value::as_array);
        let is_required =
            |name: &str| required.is_some_and(|names| names.iter().any(|one| one == name));
        let Some(Value::Object(properties)) = schema.get("properties") else {
            return Self::default();
        };
        let fields = properties.iter().map(|(name, property)| ArgumentField {
            is_required: is_required(name),
            kind: ArgumentKind::of(property),
            name: name.clone(),
        });
        Self {
            fields: fields.collect(),
        }
    }

    /// The arguments in a body. Null stands for an argument that was left out.
    pub(crate) fn read(&self, body: &[u8], is_json: bool) -> Result<Value, Vec<ArgumentError>> {
        if self.fields.is_empty() {
            // FastAPI gives such a tool no body parameter, so any body is accepted.
            let arguments = serde_json::from_slice::<Map<String, Value>>(body);
            return Ok(Value::Object(arguments.unwrap_or_default()));
        }
        if body.is_empty() {
            return Err(vec![ArgumentError::new(MISSING, &[])]);
        }
        if !is_json {
            let text = String::from_utf8_lossy(body).into_owned();
            return Err(vec![ArgumentError::no_object(Value::String(text))]);
        }
        match serde_json::from_slice(body) {
            Ok(Value::Object(mut arguments)) => {
                let mut errors = Vec::new();
                self.check(&mut arguments, &mut Vec::new(), &mut errors);
                if errors.is_empty() {
                    Ok(Value::Object(arguments))
                } else {
                    Err(errors)
                }
            }
            Ok(other) => Err(vec![ArgumentError::no_object(other)]),
            Err(error) => Err(vec![ArgumentError::no_json(body, &error)]),
        }
    }

    fn check(
        &self,
        arguments: &mut Map<String, Value>,
        location: &mut Vec<Value>,
        errors: &mut Vec<ArgumentError>,
    ) {
        for field in &self.fields {
            location.push(json!(field.name));
            match (arguments.get_mut(&field.name), &field.kind) {
                (Some(Value::Null), _) if !field.is_required => {
                    arguments.shift_remove(&field.name);
                }
                (Some(value), Some(kind)) => kind.check(value, location, errors),
                (None, _) if field.is_required => errors.push(ArgumentError {
                    input: Value::Object(arguments.clone()),
                    ..ArgumentError::new(MISSING, location)
                }),
                (Some(_), None) | (None, _) => {}
            }
            location.pop();
        }
    }
}

impl ArgumentKind {
    fn of(schema: &Value) -> Option<Self> {
        // Alternatives are checked by the schema alone.
        if schema.get("anyOf").is_some() || schema.get("oneOf").is_some() {
            return None;
        }
        match schema.get("type")?.as_str()? {
            "string" => Some(Self::String),
            "integer" => Some(Self::Integer),
            "number" => Some(Self::Number),
            "boolean" => Some(Self::Boolean),
            "array" => {
                let items = schema.get("items").and_then(Self::of);
                Some(Self::Array(items.map(Box::new)))
            }
            "object" => Some(Self::Object(ArgumentForm::of(schema))),
            _ => None,
        }
    }

    fn check(&self, value: &mut Value, location: &mut Vec<Value>, errors: &mut Vec<ArgumentError>) {
        match (self, &mut *value) {
            (Self::Array(Some(kind)), Value::Array(items)) => {
                for (index, item) in items.iter_mut().enumerate() {
                    location.push(json!(index));
                    kind.check(item, location, errors);
                    location.pop();
                }
            }
            (Self::Object(form), Value::Object(members)) => form.check(members, location, errors),
            _ => {
                if let Err(mistake) = self.coerce(value) {
                    errors.push(ArgumentError {
                        input: value.clone(),
                        ..ArgumentError::new(mistake, location)
                    });
                }
            }
        }
    }

    /// Makes a value what it was meant to be, as pydantic does: "5" is a number where one is
    /// wanted.
    fn coerce(&self, value: &mut Value) -> Result<(), Mistake> {
        match (self, &*value) {
            (Self::String, Value::String(_))
            | (Self::Number, Value::Number(_))
            | (Self::Boolean, Value::Bool(_))
            | (Self::Array(_), Value::Array(_))
            | (Self::Object(_), Value::Object(_)) => return Ok(()),
            (Self::Integer, Value::Number(number)) => {
                let is_whole = number.as_f64().is_some_and(|number| number.fract() == 0.0);
                return if is_whole { Ok(()) } else { Err(NOT_WHOLE) };
            }
            _ => {}
        }
        let text = value.as_str().map(str::trim);
        let meant = match self {
            Self::Integer => text
                .and_then(|text| text.parse::<i64>().ok())
                .map(Value::from),
            Self::Number => text
                .and_then(|text| text.parse::<f64>().ok())
                .filter(|number| number.is_finite())
                .map(Value::from),
            Self::Boolean => text.and_then(boolean).map(Value::from),
            Self::String | Self::Array(_) | Self::Object(_) => None,
        };
        match meant {
            Some(meant) => {
                *value = meant;
                Ok(())
            }
            None => Err(self.mistake(text.is_some())),
        }
    }

    fn mistake(&self, is_text: bool) -> Mistake {
        match (self, is_text) {
            (Self::String, _) => ("string_type", "Input should be a valid string"),
            (Self::Integer, true) => (
                "int_parsing",
                "Input should be a valid integer, unable to parse string as an integer",
            ),
            (Self::Integer, false) => ("int_type", "Input should be a valid integer"),
            (Self::Number, true) => (
                "float_parsing",
                "Input should be a valid number, unable to parse string as a number",
            ),
            (Self::Number, false) => ("float_type", "Input should be a valid number"),
            (Self::Boolean, true) => (
                "bool_parsing",
                "Input should be a valid boolean, unable to interpret input",
            ),
            (Self::Boolean, false) => ("bool_type", "Input should be a valid boolean"),
            (Self::Array(_), _) => ("list_type", "Input should be a valid list"),
            (Self::Object(form), _) if form.fields.is_empty() => {
                ("dict_type", "Input should be a valid dictionary")
            }
            (Self::Object(_), _) => NO_OBJECT,
        }
    }
}

/// A kind of error of pydantic, and what it says.
type Mistake = (&'static str, &'static str);

const MISSING: Mistake = ("missing", "Field required");
const NO_OBJECT: Mistake = (
    "model_attributes_type",
    "Input should be a valid dictionary or object to extract fields from",
);
const NOT_WHOLE: Mistake = (
    "int_from_float",
    "Input should be a valid integer, got a number with a fractional part",
);

fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "t" | "yes" | "y" | "on" | "1" => Some(true),
        "false" | "f" | "no" | "n" | "off" | "0" => Some(false),
        _ => None,
    }
}

impl ArgumentError {
    fn new((kind, message): Mistake, location: &[Value]) -> Self {
        Self {
            kind,
            location: location.to_vec(),
            message,
            input: Value::Null,
            cause: None,
        }
    }

    fn no_object(input: Value) -> Self {
        Self {
            input,
            ..Self::new(NO_OBJECT, &[])
        }
    }

    fn no_json(body: &[u8], error: &serde_json::Error) -> Self {
        let lines = body.split_inclusive(|byte| *byte == b'\n');
        let before: usize = lines
            .take(error.line().saturating_sub(1))
            .map(<[u8]>::len)
            .sum();
        let offset = before + error.column().saturating_sub(1);
        Self {
            input: json!({}),
            cause: Some(error.to_string()),
            ..Self::new(("json_invalid", "JSON decode error"), &[json!(offset)])
        }
    }

    pub(super) fn into_json(self) -> Value {
        let mut location = vec![json!("body")];
        location.extend(self.location);
        let mut error = json!({
            "type": self.kind,
            "loc": location,
            "msg": self.message,
            "input": self.input,
        });
        if let Some(cause) = self.cause {
            error["ctx"] = json!({ "error": cause });
        }
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form() -> ArgumentForm {
        let schema = json!({
            "type": "object",
            "properties": {
                "zone": { "type": "string" },
                "count": { "type": "integer" },
                "ratio": { "type": "number" },
                "deep": { "type": "boolean" },
                "any": {},
                "many": {
                    "type": "array",
                    "items": { "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] },
                },
            },
            "required": ["zone"],
        });
        ArgumentForm::new(&schema.into())
    }

    #[track_caller]
    fn check(body: &str, expected: Result<Value, Value>) {
        let read = form().read(body.as_bytes(), true);
        let read =
            read.map_err(|errors| errors.into_iter().map(ArgumentError::into_json).collect());
        assert_eq!(read, expected, "{body}");
    }

    #[test]
    fn arguments_are_read_as_fastapi_reads_them() {
        check(
            r#"{"zone":"UTC","count":null,"ratio":"0.5","deep":"yes","any":null,"more":null}"#,
            Ok(json!({ "zone": "UTC", "ratio": 0.5, "deep": true, "more": null })),
        );
        check(
            r#"{"zone":"UTC","count":"5"}"#,
            Ok(json!({ "zone": "UTC", "count": 5 })),
        );
    }

    #[test]
    fn mistakes_are_told_as_fastapi_tells_them() {
        let missing = json!({ "type": "missing", "loc": ["body", "zone"], "msg": "Field required", "input": {} });
        check("{}", Err(json!([missing])));
        let no_body =
            json!({ "type": "missing", "loc": ["body"], "msg": "Field required", "input": null });
        check("", Err(json!([no_body])));
        check(
            r#"{"zone":5,"count":"many"}"#,
            Err(json!([
                { "type": "string_type", "loc": ["body", "zone"], "msg": "Input should be a valid string", "input": 5 },
                {
                    "type": "int_parsing",
                    "loc": ["body", "count"],
                    "msg": "Input should be a valid integer, unable to parse string as an integer",
                    "input": "many",
                },
            ])),
        );
        check(
            r#"{"zone":"UTC","many":[{"name":"a"},{}]}"#,
            Err(
                json!([{ "type": "missing", "loc": ["body", "many", 1, "name"], "msg": "Field required", "input": {} }]),
            ),
        );
        check(
            "[1]",
            Err(json!([{
                "type": "model_attributes_type",
                "loc": ["body"],
                "msg": "Input should be a valid dictionary or object to extract fields from",
                "input": [1],
            }])),
        );
        let broken = form()
            .read(b"{bad", true)
            .unwrap_err()
            .remove(0)
            .into_json();
        assert_eq!(broken["type"], "json_invalid");
        assert_eq!(broken["loc"], json!(["body", 1]));
    }

    #[test]
    fn a_tool_without_fields_takes_any_body() {
        let form = ArgumentForm::new(&json!({ "type": "object" }).into());
        assert_eq!(form.read(b"", true), Ok(json!({})));
        assert_eq!(form.read(b"what", false), Ok(json!({})));
        assert_eq!(form.read(b"{\"a\":1}", true), Ok(json!({ "a": 1 })));
    }
}
