//! The fields of a form, read from the flat JSON Schema that a tool sends.
//!
//! It comes from outside. A form with a field that nobody could fill in is refused as a whole.

use serde_json::{Map, Value};

/// A form of a server must not fill the page or the event log.
const MAX_FIELDS: usize = 64;

/// The fields of a form, in the order of the schema.
#[derive(Debug, Clone, PartialEq)]
pub struct FormFields(pub Vec<FormInputField>);

#[derive(Debug, Clone, PartialEq)]
pub struct FormInputField {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub required: bool,
    /// Fits the field, or it would not be here.
    pub default: Option<Value>,
    pub kind: FieldKind,
}

#[derive(Debug, Clone, PartialEq)]
pub enum FieldKind {
    Text {
        /// In characters.
        shortest: usize,
        longest: usize,
        format: Option<TextFormat>,
    },
    Number {
        whole: bool,
        least: Option<f64>,
        most: Option<f64>,
    },
    YesNo,
    One(Vec<FieldChoice>),
    Several {
        choices: Vec<FieldChoice>,
        fewest: usize,
        most: usize,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFormat {
    Email,
    Uri,
    Date,
    DateTime,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FieldChoice {
    pub value: Value,
    pub title: String,
}

/// Why a schema is no form. Displayed, a sentence for the log without its full stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormSchemaError {
    #[error("`properties` is not an object")]
    Properties,
    #[error("it has more than {MAX_FIELDS} fields")]
    TooManyFields,
    /// The field of this name has a schema that no form has.
    #[error("{0:?} is no field to fill in")]
    Field(String),
}

impl FormFields {
    pub fn read(schema: &Value) -> Result<Self, FormSchemaError> {
        let nothing = Map::new();
        let properties = match schema.get("properties") {
            None => &nothing,
            Some(Value::Object(properties)) => properties,
            Some(_) => return Err(FormSchemaError::Properties),
        };
        if properties.len() > MAX_FIELDS {
            return Err(FormSchemaError::TooManyFields);
        }
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| {
            required.is_some_and(|names| names.iter().any(|one| one.as_str() == Some(name)))
        };
        let fields = properties.iter().map(|(name, schema)| {
            let kind = kind(schema).ok_or_else(|| FormSchemaError::Field(name.clone()))?;
            let mut field = FormInputField {
                name: name.clone(),
                title: text(schema, "title"),
                description: text(schema, "description"),
                required: is_required(name),
                default: None,
                kind,
            };
            field.default = schema
                .get("default")
                .filter(|value| field.check(value).is_ok())
                .cloned();
            Ok(field)
        });
        fields.collect::<Result<_, _>>().map(Self)
    }
}

impl FormInputField {
    /// What a person knows it by.
    pub fn label(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

fn kind(schema: &Value) -> Option<FieldKind> {
    if let Some(choices) = choices(schema) {
        return Some(FieldKind::One(choices));
    }
    let number = |whole| FieldKind::Number {
        whole,
        least: schema.get("minimum").and_then(Value::as_f64),
        most: schema.get("maximum").and_then(Value::as_f64),
    };
    Some(match kind_name(schema)? {
        "string" => FieldKind::Text {
            shortest: count(schema, "minLength").unwrap_or(0),
            longest: count(schema, "maxLength").unwrap_or(usize::MAX),
            format: match schema.get("format").and_then(Value::as_str) {
                Some("email") => Some(TextFormat::Email),
                Some("uri") => Some(TextFormat::Uri),
                Some("date") => Some(TextFormat::Date),
                Some("date-time") => Some(TextFormat::DateTime),
                _ => None,
            },
        },
        "number" => number(false),
        "integer" => number(true),
        "boolean" => FieldKind::YesNo,
        "array" => FieldKind::Several {
            choices: choices(schema.get("items")?)?,
            fewest: count(schema, "minItems").unwrap_or(0),
            most: count(schema, "maxItems").unwrap_or(usize::MAX),
        },
        _ => return None,
    })
}

/// Some write `["string", "null"]` for what may be left out.
fn kind_name(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::String(name) => Some(name),
        Value::Array(names) => names
            .iter()
            .filter_map(Value::as_str)
            .find(|name| *name != "null"),
        _ => None,
    }
}

/// `enum`, with `enumNames` or without, or a list of constants with titles.
fn choices(schema: &Value) -> Option<Vec<FieldChoice>> {
    let list = |key: &str| schema.get(key).and_then(Value::as_array);
    let plain = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if let Some(values) = list("enum") {
        let titles = list("enumNames");
        let choice = |(index, value): (usize, &Value)| {
            let title = titles.and_then(|titles| titles.get(index)?.as_str());
            FieldChoice {
                title: title.map_or_else(|| plain(value), str::to_owned),
                value: value.clone(),
            }
        };
        return Some(values.iter().enumerate().map(choice).collect());
    }
    let constants = list("oneOf").or_else(|| list("anyOf"))?;
    let choice = |constant: &Value| {
        let value = constant.get("const")?;
        Some(FieldChoice {
            title: text(constant, "title").unwrap_or_else(|| plain(value)),
            value: value.clone(),
        })
    };
    constants.iter().map(choice).collect()
}

fn text(schema: &Value, key: &str) -> Option<String> {
    let text = schema.get(key)?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

fn count(schema: &Value, key: &str) -> Option<usize> {
    usize::try_from(schema.get(key)?.as_u64()?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_is_what_its_schema_says() {
        let check = |schema: Value, expected: Option<FieldKind>| {
            assert_eq!(kind(&schema), expected, "{schema}");
        };
        let text = |format| FieldKind::Text {
            shortest: 0,
            longest: usize::MAX,
            format,
        };
        let choice = |value: &str, title: &str| FieldChoice {
            value: json!(value),
            title: title.into(),
        };
        check(json!({"type": "string"}), Some(text(None)));
        check(json!({"type": ["null", "string"]}), Some(text(None)));
        let date = json!({"type": "string", "format": "date"});
        check(date, Some(text(Some(TextFormat::Date))));
        let odd = json!({"type": "string", "format": "colour", "minLength": -1});
        check(odd, Some(text(None)));
        check(json!({"type": "boolean"}), Some(FieldKind::YesNo));
        check(
            json!({"type": "integer", "minimum": 1, "maximum": 2.5}),
            Some(FieldKind::Number {
                whole: true,
                least: Some(1.0),
                most: Some(2.5),
            }),
        );
        let one = FieldKind::One(vec![choice("r", "Red"), choice("g", "g")]);
        let named = json!({"type": "string", "enum": ["r", "g"], "enumNames": ["Red"]});
        check(named, Some(one.clone()));
        let titled = json!({"oneOf": [{"const": "r", "title": "Red"}, {"const": "g"}]});
        check(titled, Some(one));
        check(
            json!({"type": "array", "maxItems": 1, "items": {"anyOf": [{"const": "r", "title": "Red"}]}}),
            Some(FieldKind::Several {
                choices: vec![choice("r", "Red")],
                fewest: 0,
                most: 1,
            }),
        );
        for nothing in [
            json!({}),
            json!(true),
            json!({"type": "object"}),
            json!({"type": "array", "items": {"type": "string"}}),
            json!({"oneOf": [{"type": "string"}]}),
            json!({"$ref": "#/$defs/x"}),
        ] {
            check(nothing, None);
        }
    }

    #[test]
    fn a_form_is_read_whole_or_not_at_all() {
        let schema = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "title": "Your name", "default": 7},
                "age": {"type": "integer", "default": 42},
            },
            "required": ["name", 3],
        });
        let FormFields(fields) = FormFields::read(&schema).unwrap();
        let seen: Vec<_> = fields
            .iter()
            .map(|field| (field.label(), field.required, field.default.clone()))
            .collect();
        assert_eq!(
            seen,
            [("Your name", true, None), ("age", false, Some(json!(42)))]
        );
        assert_eq!(FormFields::read(&json!({})), Ok(FormFields(Vec::new())));

        let check = |schema: Value, expected: &str| {
            assert_eq!(FormFields::read(&schema).unwrap_err().to_string(), expected);
        };
        check(json!({"properties": 7}), "`properties` is not an object");
        let nested = json!({"properties": {"a": {"type": "string"}, "b": {"type": "object"}}});
        check(nested, "\"b\" is no field to fill in");
        let many: Map<String, Value> = (0..65)
            .map(|number| (number.to_string(), json!({"type": "string"})))
            .collect();
        check(json!({"properties": many}), "it has more than 64 fields");
    }
}
