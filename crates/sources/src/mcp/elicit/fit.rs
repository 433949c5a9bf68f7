//! Makes what a person said fit what was asked.

use serde_json::{Map, Value, json};

/// The answer with exactly the fields that were asked for. None: it does not fit.
pub(super) fn fitting(schema: &Value, content: &Value) -> Option<Value> {
    let fields = schema.get("properties")?.as_object()?;
    let required = schema.get("required")?.as_array()?;
    let mut fitted = Map::new();
    for (name, field) in fields {
        let given = content.get(name).filter(|given| !given.is_null());
        // An empty line in a form is no answer.
        let empty = given.is_some_and(|given| given == "")
            && field.get("minLength").is_none_or(|min| min != 0);
        let optional = !required.iter().any(|required| required == name);
        let given =
            given.filter(|_| !(empty && (optional || field.get("type") != Some(&json!("string")))));
        match given.or_else(|| field.get("default")) {
            Some(given) => drop(fitted.insert(name.clone(), fit(field, given)?)),
            None if optional => {}
            None => return None,
        }
    }
    Some(Value::Object(fitted))
}

fn fit(field: &Value, given: &Value) -> Option<Value> {
    let bound = |name: &str| field.get(name).and_then(Value::as_f64);
    let between = |size: f64, least: &str, most: &str| {
        bound(least).is_none_or(|least| size >= least)
            && bound(most).is_none_or(|most| size <= most)
    };
    let chosen = |of: &Value, value: &Value| match of.get("oneOf").and_then(Value::as_array) {
        Some(choices) => choices
            .iter()
            .any(|choice| choice.get("const") == Some(value)),
        None => true,
    };
    let value = match (field.get("type").and_then(Value::as_str)?, given) {
        ("string", Value::String(_)) => given.clone(),
        // Forms give texts.
        ("number" | "integer", Value::String(text)) => {
            text.trim().parse::<serde_json::Number>().ok()?.into()
        }
        ("number" | "integer", Value::Number(_)) => given.clone(),
        ("boolean", Value::Bool(_)) => given.clone(),
        ("boolean", Value::String(text)) => text.parse::<bool>().ok()?.into(),
        ("array", Value::Array(_)) => given.clone(),
        _ => return None,
    };
    let fits = match &value {
        Value::String(text) => between(text.chars().count() as f64, "minLength", "maxLength"),
        Value::Number(number) => {
            let whole = number.is_i64()
                || number.is_u64()
                || number.as_f64().is_some_and(|n| n.fract() == 0.0);
            let whole = whole || field.get("type") != Some(&json!("integer"));
            whole && between(number.as_f64()?, "minimum", "maximum")
        }
        Value::Array(several) => {
            let items = field.get("items")?;
            between(several.len() as f64, "minItems", "maxItems")
                && several.iter().all(|one| chosen(items, one))
        }
        _ => true,
    };
    (fits && chosen(field, &value)).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(content: Value, expected: Option<Value>) {
        let schema = json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "minLength": 1, "maxLength": 5 },
                "age": { "type": "integer", "minimum": 0 },
                "colour": { "type": "string", "oneOf": [{ "const": "red" }, { "const": "blue" }], "default": "red" },
                "sure": { "type": "boolean" },
            },
            "required": ["name"],
        });
        assert_eq!(fitting(&schema, &content), expected, "{content}");
    }

    #[test]
    fn an_answer_has_the_fields_that_were_asked_for_and_fits_them() {
        check(
            json!({ "name": "Ada" }),
            Some(json!({ "name": "Ada", "colour": "red" })),
        );
        check(
            json!({ "name": "Ada", "age": "36", "sure": "true", "colour": "blue", "more": 1 }),
            Some(json!({ "name": "Ada", "age": 36, "colour": "blue", "sure": true })),
        );
        check(
            json!({ "name": "Ada", "age": "" }),
            Some(json!({ "name": "Ada", "colour": "red" })),
        );
        check(json!({}), None);
        check(json!({ "name": "" }), None);
        check(json!({ "name": "Ada Lovelace" }), None);
        check(json!({ "name": "Ada", "age": 1.5 }), None);
        check(json!({ "name": "Ada", "age": -1 }), None);
        check(json!({ "name": "Ada", "colour": "green" }), None);
    }
}
