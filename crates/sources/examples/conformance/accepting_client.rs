//! A client that accepts every form with its defaults.

use async_trait::async_trait;
use serde_json::{Map, Value};
use tenon_domain::{FormAnswer, FormRequest};
use tenon_tools::{CallClient, ProgressUpdate};

#[derive(Debug)]
pub struct AcceptingClient;

#[async_trait]
impl CallClient for AcceptingClient {
    fn progress(&self, _progress: ProgressUpdate) {}

    async fn ask(&self, _message: String, request: FormRequest) -> FormAnswer {
        let content = match request {
            FormRequest::Fields { schema } => defaults(&schema),
            FormRequest::Visit { .. } => Value::Null,
        };
        FormAnswer::Accept { content }
    }
}

/// What stands in the fields before anybody has touched them.
fn defaults(schema: &Value) -> Value {
    let fields = schema["properties"].as_object();
    let fields = fields.into_iter().flatten();
    let filled =
        fields.filter_map(|(name, field)| Some((name.clone(), field.get("default")?.clone())));
    Value::Object(filled.collect::<Map<_, _>>())
}
