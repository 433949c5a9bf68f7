//! What a server asks a person in the middle of a call.
//!
//! The question comes from outside and is cleaned before anybody sees it. The
//! answer has to fit it before the server gets it.

use serde_json::{Map, Value, json};
use tenon_domain::form::fields::Fields;
use tenon_domain::{FormAnswer, FormWants};
use tenon_tools::CallContext;
use url::Url;

use super::text;

const MAX_MESSAGE: usize = 4000;
const MAX_FIELDS: usize = 50;
const MAX_CHOICES: usize = 500;

/// What a field may say of itself beside its title and description.
const SIMPLE: &[&str] = &[
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

/// Asks whoever made the call, and gives what to tell the server.
pub(super) async fn answer(context: &CallContext, asked: &Value) -> Value {
    let Some(wants) = wants(asked) else {
        return json!({ "action": "decline" });
    };
    let message = asked.get("message").and_then(Value::as_str);
    let message = text::block(message.unwrap_or_default(), MAX_MESSAGE);
    match (context.ask(message, wants.clone()).await, wants) {
        (FormAnswer::Accept { content }, FormWants::Fields { schema }) => {
            match Fields::read(&schema).and_then(|fields| fields.fit(content)) {
                Ok(content) => json!({ "action": "accept", "content": content }),
                // Rather no answer than a wrong one.
                Err(_) => json!({ "action": "cancel" }),
            }
        }
        (FormAnswer::Accept { .. }, FormWants::Visit { .. }) => json!({ "action": "accept" }),
        (FormAnswer::Decline, _) => json!({ "action": "decline" }),
        (FormAnswer::Cancel, _) => json!({ "action": "cancel" }),
    }
}

/// None: this cannot be asked.
fn wants(asked: &Value) -> Option<FormWants> {
    if asked.get("mode").and_then(Value::as_str) == Some("url") {
        let url = Url::parse(asked.get("url")?.as_str()?).ok()?;
        let web = matches!(url.scheme(), "https" | "http") && url.host().is_some();
        let url = url.to_string();
        return web.then_some(FormWants::Visit { url });
    }
    let schema = asked.get("requestedSchema")?.as_object()?;
    let properties = schema.get("properties")?.as_object()?;
    if properties.len() > MAX_FIELDS {
        return None;
    }
    let mut fields = Map::new();
    for (name, property) in properties {
        fields.insert(name.clone(), field(property.as_object()?)?);
    }
    let required = schema.get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten().filter_map(Value::as_str);
    let required: Vec<&str> = required.filter(|name| fields.contains_key(*name)).collect();
    let schema = json!({ "type": "object", "properties": fields, "required": required });
    Some(FormWants::Fields { schema })
}

fn field(property: &Map<String, Value>) -> Option<Value> {
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
        if let Some(said) = property.get(key).and_then(Value::as_str) {
            field.insert(key.into(), text::line(said, 1000).into());
        }
    }
    for key in SIMPLE {
        if let Some(value) = property.get(*key) {
            field.insert((*key).into(), value.clone());
        }
    }
    if kind == "array" {
        // Several of a list of choices; of anything else nobody can be asked.
        let items = property.get("items")?.as_object()?;
        let choices = choices_of(items)?;
        field.insert(
            "items".into(),
            json!({ "type": "string", "oneOf": choices }),
        );
    } else if choices {
        field.insert("oneOf".into(), choices_of(property)?.into());
    }
    Some(Value::Object(field))
}

/// All three ways to write choices, as the newest of them.
fn choices_of(property: &Map<String, Value>) -> Option<Vec<Value>> {
    let choice = |value: &Value, title: Option<&str>| {
        let shown = title.or(value.as_str()).unwrap_or_default();
        json!({ "const": value, "title": text::line(shown, 200) })
    };
    let choices: Vec<Value> = match property.get("enum").and_then(Value::as_array) {
        Some(values) => {
            let names = property.get("enumNames").and_then(Value::as_array);
            let name = |at: usize| {
                names
                    .and_then(|names| names.get(at))
                    .and_then(Value::as_str)
            };
            let values = values.iter().enumerate();
            values.map(|(at, value)| choice(value, name(at))).collect()
        }
        None => {
            let listed = property.get("oneOf").or_else(|| property.get("anyOf"))?;
            let listed = listed.as_array()?.iter();
            let listed = listed.map(|one| {
                let title = one.get("title").and_then(Value::as_str);
                one.get("const").map(|value| choice(value, title))
            });
            listed.collect::<Option<_>>()?
        }
    };
    (1..=MAX_CHOICES)
        .contains(&choices.len())
        .then_some(choices)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use async_trait::async_trait;
    use tenon_domain::{CallId, UserId};
    use tenon_tools::{Asker, Attendant, Errand, Progress, Pulse};
    use tokio_util::sync::CancellationToken;

    use super::*;

    #[derive(Debug)]
    struct Says(FormAnswer);

    #[async_trait]
    impl Attendant for Says {
        fn progress(&self, _progress: Progress) {}

        async fn ask(&self, _message: String, _wants: FormWants) -> FormAnswer {
            self.0.clone()
        }
    }

    #[tokio::test]
    async fn only_an_answer_that_fits_is_given() {
        let name = json!({ "type": "string", "minLength": 1 });
        let schema = json!({ "properties": { "name": name }, "required": ["name"] });
        let asked = json!({ "message": "?", "requestedSchema": schema });
        let check = async |said: FormAnswer, expected: Value| {
            let context = CallContext {
                call_id: CallId::new("call"),
                errand: Errand::default(),
                user: UserId::new("ada"),
                asker: Asker::Person,
                workspace: None,
                cancel: CancellationToken::new(),
                attendant: Arc::new(Says(said.clone())),
                pulse: Pulse::default(),
            };
            assert_eq!(answer(&context, &asked).await, expected, "{said:?}");
        };
        let accept = |content: Value| FormAnswer::Accept { content };
        let cancel = json!({ "action": "cancel" });
        let ada = json!({ "name": "Ada" });
        let given = json!({ "action": "accept", "content": ada });
        check(accept(ada), given).await;
        check(accept(json!({})), cancel.clone()).await;
        check(accept(json!({ "name": "" })), cancel.clone()).await;
        check(accept(json!({ "name": "Ada", "age": 1 })), cancel.clone()).await;
        check(FormAnswer::Cancel, cancel).await;
        check(FormAnswer::Decline, json!({ "action": "decline" })).await;
    }

    fn fields(properties: Value, required: Value) -> Option<Value> {
        let asked = json!({ "message": "?", "requestedSchema": { "type": "object", "properties": properties, "required": required } });
        match wants(&asked)? {
            FormWants::Fields { schema } => Some(schema),
            FormWants::Visit { .. } => None,
        }
    }

    #[test]
    fn choices_are_read_however_they_are_written() {
        let choices = json!([{ "const": "r", "title": "Red" }, { "const": "b", "title": "b" }]);
        let expected = json!({ "type": "string", "oneOf": choices });
        let several = json!({ "type": "array", "items": { "type": "string", "oneOf": choices } });
        for (written, expected) in [
            (
                json!({ "type": "string", "enum": ["r", "b"], "enumNames": ["Red"] }),
                &expected,
            ),
            (
                json!({ "type": "string", "oneOf": [{ "const": "r", "title": "Red" }, { "const": "b" }] }),
                &expected,
            ),
            (
                json!({ "type": "array", "items": { "anyOf": [{ "const": "r", "title": "Red" }, { "const": "b" }] } }),
                &several,
            ),
        ] {
            let read = fields(json!({ "c": written }), json!([])).unwrap();
            assert_eq!(&read["properties"]["c"], expected, "{written}");
        }
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
        let visit = |url: &str| wants(&json!({ "mode": "url", "url": url, "message": "" }));
        assert!(visit("https://example.com/x").is_some());
        assert_eq!(visit("javascript:alert(1)"), None);
        assert_eq!(visit("file:///etc/passwd"), None);
    }
}
