//! The context of a call, as the protocol wants to reach it.

use async_trait::async_trait;
use serde_json::Value;
use serde_json::value::RawValue;
use tenon_domain::form::fields::FormFields;
use tenon_domain::{FormAnswer, FormRequest};
use tenon_mcp::{
    CallHandler, Elicitation, ElicitationAnswer, ElicitationMode, ProgressNotification,
};
use tenon_tools::{CallContext, ProgressUpdate, RemoteReply};

#[derive(Debug)]
pub(super) struct ContextHandler(pub(super) CallContext);

#[async_trait]
impl CallHandler for ContextHandler {
    fn owner(&self) -> &str {
        self.0.user.as_str()
    }

    fn progress(&self, notification: ProgressNotification) {
        self.0.progress(ProgressUpdate {
            progress: notification.progress,
            total: notification.total,
            message: notification.message,
        });
    }

    fn is_alive(&self) {
        self.0.timer.reset();
    }

    fn headers(&self) -> &[(String, String)] {
        self.0.client.headers()
    }

    fn result(&self, raw: &RawValue) {
        self.0.client.remote_reply(RemoteReply::Result(raw));
    }

    async fn elicit(&self, request: Elicitation) -> ElicitationAnswer {
        let wants = match request.mode {
            ElicitationMode::Form { schema } => FormRequest::Fields { schema },
            ElicitationMode::Url { url } => FormRequest::Visit { url },
        };
        match (self.0.ask(request.message, wants.clone()).await, wants) {
            (FormAnswer::Accept { content }, FormRequest::Fields { schema }) => {
                let fields = FormFields::read(&schema).ok();
                let content = fields.and_then(|fields| fields.fit(content).ok());
                // Rather no answer than a wrong one.
                content.map_or(ElicitationAnswer::Cancel, |content| {
                    ElicitationAnswer::Accept { content }
                })
            }
            (FormAnswer::Accept { content }, FormRequest::Visit { .. }) => {
                ElicitationAnswer::Accept { content }
            }
            (FormAnswer::Decline, _) => ElicitationAnswer::Decline,
            (FormAnswer::Cancel, _) => ElicitationAnswer::Cancel,
        }
    }

    async fn sample(&self, params: Value) -> Option<Value> {
        self.0.sample(params).await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use tenon_domain::{CallId, UserId};
    use tenon_tools::{CallClient, CallOrigin, CallTimer};
    use tokio_util::sync::CancellationToken;

    use super::*;

    #[derive(Debug)]
    struct FixedAnswer(FormAnswer);

    #[async_trait]
    impl CallClient for FixedAnswer {
        fn progress(&self, _progress: ProgressUpdate) {}

        async fn ask(&self, _message: String, _wants: FormRequest) -> FormAnswer {
            self.0.clone()
        }
    }

    #[tokio::test]
    async fn only_an_answer_that_fits_is_given() {
        let name = json!({ "type": "string", "minLength": 1 });
        let schema =
            json!({ "type": "object", "properties": { "name": name }, "required": ["name"] });
        let check = async |said: FormAnswer, expected: ElicitationAnswer| {
            let handler = ContextHandler(CallContext {
                call_id: CallId::new("call"),
                origin: CallOrigin::default(),
                user: UserId::new("ada"),
                workspace: None,
                cancel: CancellationToken::new(),
                client: Arc::new(FixedAnswer(said.clone())),
                timer: CallTimer::default(),
            });
            let mode = ElicitationMode::Form {
                schema: schema.clone(),
            };
            let message = "?".to_owned();
            let answer = handler.elicit(Elicitation { message, mode }).await;
            assert_eq!(answer, expected, "{said:?}");
        };
        let accept = |content: Value| FormAnswer::Accept { content };
        let ada = json!({ "name": "Ada" });
        let accepted = ElicitationAnswer::Accept {
            content: ada.clone(),
        };
        check(accept(ada), accepted).await;
        let cancel = ElicitationAnswer::Cancel;
        check(accept(json!({})), cancel.clone()).await;
        check(accept(json!({ "name": "" })), cancel.clone()).await;
        check(accept(json!({ "name": "Ada", "age": 1 })), cancel.clone()).await;
        check(FormAnswer::Cancel, cancel).await;
        check(FormAnswer::Decline, ElicitationAnswer::Decline).await;
    }
}
