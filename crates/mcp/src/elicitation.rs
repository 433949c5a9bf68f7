//! Elicitation: what a server asks a person in the middle of a call.
//!
//! A request comes from outside and is cleaned and bounded before anybody sees it. What
//! cannot be asked is declined.

use serde_json::{Map, Value, json};
use tenon_text as text;
use url::Url;

use crate::handler::{CallHandler, Elicitation, ElicitationAnswer, ElicitationMode};

const MAX_MESSAGE_CHARS: usize = 4000;
const MAX_FIELDS: usize = 50;
const MAX_CHOICES: usize = 500;

/// What a field may say of itself beside its title and description.
const SIMPLE_KEYWORDS: &[&str] = &[
    "format",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "default",
];

/// Asks whoever made the call, and gives the result to send to the server.
pub(crate) async fn answer(handler: &dyn CallHandler, params: &Value) -> Value {
    let Some(mode) = read_mode(params) else {
        return json!({ "action": "decline" });
    };
    let message = params.get("message").and_then(Value::as_str);
    let message = text::block(message.unwrap_or_default(), MAX_MESSAGE_CHARS);
    let has_fields = matches!(mode, ElicitationMode::Form { .. });
    match handler.elicit(Elicitation { message, mode }).await {
        ElicitationAnswer::Accept { content } if has_fields => {
            json!({ "action": "accept", "content": content })
        }
        ElicitationAnswer::Accept { .. } => json!({ "action": "accept" }),
        ElicitationAnswer::Decline => json!({ "action": "decline" }),
        ElicitationAnswer::Cancel => json!({ "action": "cancel" }),
    }
}

/// None: this cannot be asked.
fn read_mode(params: &Value) -> Option<ElicitationMode> {
    if params.get("mode").and_then(Value::as_str) == Some("url") {
        let url = Url::parse(params.get("url")?.as_str()?).ok()?;
        let is_web = matches!(url.scheme(), "https" | "http") && url.host().is_some();
        let url = url.to_string();
        return is_web.then_some(ElicitationMode::Url { url });
    }
    let schema = params.get("requestedSchema")?.as_object()?;
    let properties = schema.get("properties")?.as_object()?;
    if properties.len() > MAX_FIELDS {
        return None;
    }
    let mut fields = Map::new();
    for (name, property) in properties {
        fields.insert(name.clone(), read_field(property.as_object()?)?);
    }
    let required = schema.get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten().filter_map(Value::as_str);
    let required: Vec<&str> = required.filter(|name| fields.contains_key(*name)).collect();
    let schema = json!({ "type": "object", "properties": fields, "required": required });
    Some(ElicitationMode::Form { schema })
}

fn read_field(property: &Map<String, Value>) -> Option<Value> {
    let mut field = Map::new();
    let choices = ["enum", "oneOf", "anyOf"]
        .iter()
        .any(|key| property.contains_key(*key));
    let kind = match property.get("type").and_then(Value::as_str) {
        Some(kind @ ("string" | "number" | "integer" | "boolean" | "array")) => kind,
        None if choices => "string",
        _ => return None,
    };
    field.insert("type".into(), kind.into());
    for key in ["title", "description"] {
        if let Some(text) = property.get(key).and_then(Value::as_str) {
            field.insert(key.into(), text::line(text, 1000).into());
        }
    }
    for key in SIMPLE_KEYWORDS {
        if let Some(value) = property.get(*key) {
            field.insert((*key).into(), value.clone());
        }
    }
    if kind == "array" {
        // Only lists of choices can be asked for, not lists of other values.
        let items = property.get("items")?.as_object()?;
        let mut choices = choices_of(items, "anyOf")?;
        if choices.contains_key("enum") {
            choices.insert("type".into(), "string".into());
        }
        field.insert("items".into(), choices.into());
    } else if choices {
        field.extend(choices_of(property, "oneOf")?);
    }
    Some(Value::Object(field))
}

/// Choices in the way they were written, so that whoever they are passed on to knows it: `enum`, perhaps
/// with `enumNames`, or constants below this keyword, each with a title.
fn choices_of(property: &Map<String, Value>, keyword: &str) -> Option<Map<String, Value>> {
    let mut choices = Map::new();
    if let Some(values) = property.get("enum").and_then(Value::as_array) {
        check_count(values.len())?;
        choices.insert("enum".into(), values.clone().into());
        if let Some(names) = property.get("enumNames").and_then(Value::as_array) {
            let names = names.iter().take(values.len());
            let names = names.map(|name| text::line(name.as_str().unwrap_or_default(), 200));
            choices.insert("enumNames".into(), names.collect());
        }
        return Some(choices);
    }
    let listed = property.get("oneOf").or_else(|| property.get("anyOf"))?;
    let listed = listed.as_array()?;
    check_count(listed.len())?;
    let titled = listed.iter().map(|one| {
        let value = one.get("const")?;
        let title = one.get("title").and_then(Value::as_str);
        let title = title.or(value.as_str()).unwrap_or_default();
        Some(json!({ "const": value, "title": text::line(title, 200) }))
    });
    choices.insert(keyword.into(), titled.collect::<Option<Value>>()?);
    Some(choices)
}

fn check_count(choices: usize) -> Option<()> {
    (1..=MAX_CHOICES).contains(&choices).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(properties: Value, required: Value) -> Option<Value> {
        let params = json!({ "message": "?", "requestedSchema": { "type": "object", "properties": properties, "required": required } });
        match read_mode(&params)? {
            ElicitationMode::Form { schema } => Some(schema),
            ElicitationMode::Url { .. } => None,
        }
    }

    #[test]
    fn choices_stay_as_they_are_written_and_constants_get_titles() {
        let listed = json!([{ "const": "r", "title": "Red" }, { "const": "b" }]);
        let titled = json!([{ "const": "r", "title": "Red" }, { "const": "b", "title": "b" }]);
        let check = |written: Value, expected: Value| {
            let read = fields(json!({ "c": written }), json!([])).unwrap();
            assert_eq!(read["properties"]["c"], expected, "{written}");
        };
        let named = json!({ "type": "string", "enum": ["r", "b"], "enumNames": ["Red"] });
        check(named.clone(), named);
        let untyped = json!({ "enum": ["r"] });
        check(untyped, json!({ "type": "string", "enum": ["r"] }));
        check(
            json!({ "type": "string", "oneOf": listed }),
            json!({ "type": "string", "oneOf": titled }),
        );
        check(
            json!({ "type": "array", "items": { "anyOf": listed } }),
            json!({ "type": "array", "items": { "anyOf": titled } }),
        );
        let several = json!({ "type": "array", "items": { "type": "string", "enum": ["r"] } });
        check(several.clone(), several);
        let none = json!({ "c": { "type": "string", "enum": [] } });
        assert_eq!(fields(none, json!([])), None);
    }

    #[test]
    fn what_nobody_can_be_asked_is_not_asked() {
        assert_eq!(
            fields(json!({ "a": { "type": "object" } }), json!([])),
            None
        );
        assert_eq!(
            fields(
                json!({ "a": { "type": "array", "items": { "type": "object" } } }),
                json!([])
            ),
            None
        );
        let visit = |url: &str| read_mode(&json!({ "mode": "url", "url": url, "message": "" }));
        assert!(visit("https://example.com/x").is_some());
        assert_eq!(visit("javascript:alert(1)"), None);
        assert_eq!(visit("file:///etc/passwd"), None);
    }
}
