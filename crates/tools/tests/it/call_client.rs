//! Signs of life and questions keep a call's clock, and sources that are down keep calls off.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use tenon_domain::{
    Caller, ErrorDetail, ErrorKind, FormAnswer, FormRequest, SourceState, ToolAccess, ToolOutput,
    ToolResult,
};
use tenon_tools::{CallClient, CallContext, Connection, ProgressUpdate};

use crate::hub::{Hub, Odd, ada, by_model, call, context};

/// Takes its time to answer, and writes down what it hears.
#[derive(Debug, Default)]
struct SlowClient {
    heard: Mutex<Vec<f64>>,
    asked: Mutex<Vec<String>>,
    takes: Duration,
}

#[async_trait]
impl CallClient for SlowClient {
    fn progress(&self, progress: ProgressUpdate) {
        self.heard.lock().unwrap().push(progress.progress);
    }

    async fn ask(&self, message: String, _wants: FormRequest) -> FormAnswer {
        self.asked.lock().unwrap().push(message);
        tokio::time::sleep(self.takes).await;
        FormAnswer::Cancel
    }
}

async fn hub() -> (Hub, Arc<Odd>, Connection) {
    let hub = Hub::new();
    let odd = Arc::new(Odd::new("odd", &["echo", "work", "inquire"]));
    let connected = hub.registry.connect(odd.clone()).await.unwrap();
    (hub, odd, connected)
}

async fn attended(hub: &Hub, slow_client: &Arc<SlowClient>, tool: &str, text: &str) -> ToolResult {
    let context = CallContext {
        client: slow_client.clone(),
        ..context()
    };
    let toolset = hub.registry.toolset(by_model());
    toolset
        .call(&call(tool, json!({"text": text})), &context)
        .await
}

#[tokio::test]
async fn a_call_that_tells_how_far_it_is_outlives_its_deadline() {
    let (hub, _odd, _connected) = hub().await;
    let slow_client = Arc::new(SlowClient::default());
    // 400 ms, where 250 of silence are too many.
    let result = attended(&hub, &slow_client, "mcp_odd_work", "40").await;
    assert_eq!(result, Ok(ToolOutput::text("done")));
    let heard = slow_client.heard.lock().unwrap();
    assert_eq!(*heard, (0..40).map(f64::from).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_call_that_tells_for_ever_how_far_it_is_ends_all_the_same() {
    let (hub, _odd, _connected) = hub().await;
    let slow_client = Arc::new(SlowClient::default());
    let result = attended(&hub, &slow_client, "mcp_odd_work", "100000").await;
    let expected = "The odd/work did not finish within 1 s and was stopped.";
    let error = result.unwrap_err();
    assert_eq!(
        (error.kind, error.message.as_str()),
        (ErrorKind::TimedOut, expected)
    );
}

#[tokio::test]
async fn a_person_may_think_longer_than_a_call_may_take() {
    let (hub, _odd, _connected) = hub().await;
    let slow_client = Arc::new(SlowClient {
        takes: Duration::from_millis(1200),
        ..SlowClient::default()
    });
    let result = attended(&hub, &slow_client, "mcp_odd_inquire", "who?").await;
    assert_eq!(result, Ok(ToolOutput::text("Cancelled")));
    assert_eq!(*slow_client.asked.lock().unwrap(), ["who?"]);
}

#[tokio::test]
async fn where_nobody_is_there_a_question_is_declined() {
    let (hub, _odd, _connected) = hub().await;
    let result = hub.call("mcp_odd_inquire", json!({"text": "who?"})).await;
    assert_eq!(result, Ok(ToolOutput::text("Declined")));
}

#[tokio::test]
async fn a_source_that_cannot_be_called_is_listed_but_not_offered_and_says_why() {
    let (hub, odd, _connected) = hub().await;
    let check = async |state: SourceState, expected: Option<&str>| {
        *odd.state.lock().unwrap() = state.clone();
        for caller in [Caller::chat_model(), Caller::Person] {
            let toolset = hub.registry.toolset(ToolAccess::all(&ada(), caller));
            assert_eq!(toolset.tools().len(), 3, "{state:?}");
            let offered = toolset.specs().len();
            assert_eq!(offered, expected.map_or(3, |_| 0), "{state:?}");
            // Nobody has to get an input right that goes nowhere.
            let input = expected.map_or(json!({"text": "hi"}), |_| json!({}));
            let call = call("mcp_odd_echo", input);
            let result = toolset.call(&call, &context()).await;
            let result = result.map_err(|error| (error.kind, error.message));
            let expected = match expected {
                None => Ok(ToolOutput::text("hi")),
                Some(why) => Err((ErrorKind::Unavailable, why.to_owned())),
            };
            assert_eq!(result, expected, "{state:?}");
        }
    };
    check(SourceState::Starting, None).await;
    check(SourceState::Ready, None).await;
    check(SourceState::Sleeping, None).await;
    let why = ErrorDetail::other("It is slow.");
    check(SourceState::Degraded { why }, None).await;
    let off = "The odd/echo is switched off. Do without it.";
    check(SourceState::Off, Some(off)).await;
    let why = ErrorDetail::other("It ended at once.");
    let failed = "The odd/echo cannot be used now: It ended at once. Do without it.";
    check(SourceState::Failed { why }, Some(failed)).await;
    let why = ErrorDetail::other("It ended. Its last words: sk-1");
    let own = "The odd rests. Ask again tomorrow.";
    *odd.unavailable.lock().unwrap() = Some(ErrorDetail::other(own));
    check(SourceState::Failed { why }, Some(own)).await;
    check(SourceState::Ready, None).await;
}
