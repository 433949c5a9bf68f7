//! Every way a call can go wrong ends in a result the model can act on.

use std::sync::Arc;

use serde_json::json;
use tenon_domain::{
    Content, ErrorKind, Layer, Policy, ToolError, ToolId, ToolOutput, ToolResult, ToolSetting,
    ToolSettings,
};
use tenon_tools::{Connection, OutputStore, PreparedCall};

use crate::hub::{Hub, Odd, ada, by_model, call, context};

async fn hub() -> (Hub, Connection) {
    let hub = Hub::new();
    let odd = Odd::new(
        "odd",
        &["echo", "hang", "panic", "flood", "garbage", "fail"],
    );
    let connected = hub.registry.connect(Arc::new(odd)).await.unwrap();
    (hub, connected)
}

fn error(result: ToolResult) -> (ErrorKind, String) {
    let ToolError { kind, message, .. } = result.unwrap_err();
    (kind, message)
}

#[tokio::test]
async fn a_good_call_gets_its_answer() {
    let (hub, _connected) = hub().await;
    assert_eq!(
        hub.call("mcp_odd_echo", json!({"text": "hi"})).await,
        Ok(ToolOutput::text("hi"))
    );
}

#[tokio::test]
async fn an_unknown_tool_is_answered_with_the_nearest() {
    let (hub, connected) = hub().await;
    let (kind, message) = error(hub.call("mcp_odd_ecko", json!({})).await);
    assert_eq!(kind, ErrorKind::UnknownTool);
    assert_eq!(
        message,
        "There is no tool `mcp_odd_ecko`. The nearest is `mcp_odd_echo`."
    );

    let (_, message) = error(hub.call("hang", json!({})).await);
    assert_eq!(
        message,
        "There is no tool `hang`. The nearest is `mcp_odd_hang`."
    );

    drop(connected);
    let (_, message) = error(hub.call("mcp_odd_echo", json!({})).await);
    assert_eq!(
        message,
        "There is no tool `mcp_odd_echo`. No tools are available now; answer without them."
    );
}

#[tokio::test]
async fn an_input_that_does_not_fit_is_answered_with_what_would() {
    let (hub, _connected) = hub().await;
    let (kind, message) = error(hub.call("mcp_odd_echo", json!({})).await);
    assert_eq!(kind, ErrorKind::InvalidInput);
    assert_eq!(
        message,
        "The input does not fit the tool's schema: `text` is missing."
    );
    let (kind, message) = error(hub.call("mcp_odd_echo", json!("{\"text\": \"unfin")).await);
    assert_eq!(kind, ErrorKind::InvalidInput);
    assert!(
        message.starts_with("The arguments are not a JSON object: EOF"),
        "{message}"
    );
}

#[tokio::test]
async fn a_tool_that_never_returns_meets_its_deadline() {
    let (hub, _connected) = hub().await;
    let (kind, message) = error(hub.call("mcp_odd_hang", json!({"text": ""})).await);
    assert_eq!(kind, ErrorKind::TimedOut);
    assert_eq!(
        message,
        "The odd/hang did not answer within 0.05 s and was stopped."
    );
}

#[tokio::test]
async fn a_tool_that_panics_is_a_failed_tool_and_nothing_more() {
    let (hub, _connected) = hub().await;
    let (kind, message) = error(hub.call("mcp_odd_panic", json!({"text": ""})).await);
    assert_eq!(kind, ErrorKind::Failed);
    assert_eq!(
        message,
        "The odd/panic crashed on this input. Try other arguments or another tool."
    );
    assert!(
        hub.call("mcp_odd_echo", json!({"text": "alive"}))
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn fifty_megabytes_are_capped_and_kept_whole() {
    let (hub, _connected) = hub().await;
    let output = hub
        .call("mcp_odd_flood", json!({"text": ""}))
        .await
        .unwrap();
    let [Content::Text { text }, Content::Blob { blob_id, bytes, .. }] = &output.content[..] else {
        panic!("{:?}", output.content.len());
    };
    assert!(text.starts_with("好\n好\n"));
    assert!(text.len() < 400, "{}", text.len());
    assert_eq!(*bytes, 50 * 1024 * 1024);

    let whole = hub.outputs.get(&ada(), blob_id).await.unwrap().unwrap();
    assert!(whole == "好\n".repeat(50 * 1024 * 1024 / 4).as_bytes());
    let bob = tenon_domain::UserId::new("bob");
    assert_eq!(hub.outputs.get(&bob, blob_id).await.unwrap(), None);
}

#[tokio::test]
async fn an_error_of_any_length_is_cut_too() {
    let (hub, _connected) = hub().await;
    let (_, message) = error(hub.call("mcp_odd_fail", json!({"text": ""})).await);
    assert_eq!(
        message,
        format!(
            "{}… [cut: the message was 10000 bytes long]",
            "x".repeat(100)
        )
    );
}

#[tokio::test]
async fn bytes_that_are_no_text_do_not_lose_the_rest() {
    let (hub, _connected) = hub().await;
    let output = hub
        .call("mcp_odd_garbage", json!({"text": ""}))
        .await
        .unwrap();
    assert!(
        output.to_text().ends_with("good \u{FFFD}\u{FFFD} bad"),
        "{}",
        output.to_text()
    );
    assert!(output.to_text().starts_with("[not valid UTF-8"));
}

#[tokio::test]
async fn a_call_that_is_no_longer_wanted_ends_at_once() {
    let (hub, _connected) = hub().await;
    let toolset = hub.registry.toolset(by_model());
    let context = context();
    context.cancel.cancel();
    let result = toolset
        .call(&call("mcp_odd_hang", json!({"text": ""})), &context)
        .await;
    assert_eq!(result, Err(ToolError::cancelled()));
}

#[tokio::test]
async fn a_person_is_asked_between_the_two_halves_of_the_road() {
    let (hub, _connected) = hub().await;
    let settings = said(&[
        ("mcp_odd_echo", Policy::Ask),
        ("mcp_odd_hang", Policy::Deny),
    ]);
    let toolset = hub.registry.toolset(by_model().with_settings(settings));

    let echo = call("mcp_odd_echo", json!({"text": "hi"}));
    let cancel = &context().cancel;
    let prepared = toolset.prepare(&echo, cancel).await;
    let Ok(PreparedCall::Ask(question)) = prepared else {
        panic!("nobody is asked")
    };
    assert_eq!(
        question.approved().run(&context()).await,
        Ok(ToolOutput::text("hi"))
    );
    // Nobody is asked about what cannot be made.
    let refused = async |tool: &str, input| {
        let call = call(tool, input);
        let prepared = toolset.prepare(&call, cancel).await;
        prepared.map(drop).unwrap_err().kind
    };
    let kind = refused("mcp_odd_echo", json!({"text": 7})).await;
    assert_eq!(kind, ErrorKind::InvalidInput);
    let kind = refused("mcp_odd_hang", json!({"text": ""})).await;
    assert_eq!(kind, ErrorKind::Denied);
    let kind = refused("nothing", json!({})).await;
    assert_eq!(kind, ErrorKind::UnknownTool);

    // What is denied is not offered, but people still see it.
    let ids = |tools: Vec<String>| tools.contains(&"mcp_odd_hang".to_owned());
    assert!(!ids(toolset
        .specs()
        .iter()
        .map(|spec| spec.id.0.clone())
        .collect()));
    assert!(ids(toolset
        .tools()
        .iter()
        .map(|tool| tool.spec.id.0.clone())
        .collect()));
}

fn said(policies: &[(&str, Policy)]) -> ToolSettings {
    ToolSettings::new(policies.iter().map(|(tool, policy)| {
        let setting = ToolSetting {
            enabled: None,
            policy: Some(*policy),
        };
        (Layer::User, ToolId::new(*tool), setting)
    }))
}
