//! Prompts of the servers behind, for the page: what they are called, and their text.

use std::time::Duration;

use serde_json::{Map, Value};
use tenon_mcp::RpcError;
use tenon_mcp::server::PromptRequest;
use tenon_tools::Toolset;

use crate::mcp_context::McpContext;
use crate::wire::{PromptArgument, ServerPromptView};

/// A person waits for it in front of the composer.
const FILL_TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) async fn server_prompts(toolset: &Toolset) -> Vec<ServerPromptView> {
    let context = McpContext::of_all(&toolset.context_sources());
    let prompts = context.prompt_fields().await.into_iter();
    prompts.filter_map(|fields| view(&fields)).collect()
}

/// The texts of its messages. Pictures and sounds have no place in a message that is being written.
pub(crate) async fn fill_prompt(
    toolset: &Toolset,
    name: String,
    arguments: Map<String, Value>,
) -> Result<String, RpcError> {
    let context = McpContext::of_all(&toolset.context_sources());
    let filled = context.get_prompt(PromptRequest { name, arguments });
    let filled = tokio::time::timeout(FILL_TIMEOUT, filled).await;
    let filled = filled.map_err(|_late| {
        RpcError::new(
            RpcError::INTERNAL_ERROR,
            "The server did not answer in time. Try again in a moment.",
        )
    })??;
    let messages = filled.get("messages").and_then(Value::as_array);
    let texts = messages.into_iter().flatten().filter_map(|message| {
        let content = &message["content"];
        let text = content["text"].as_str();
        text.or_else(|| content["resource"]["text"].as_str())
    });
    Ok(texts.collect::<Vec<_>>().join("\n\n"))
}

fn view(fields: &Map<String, Value>) -> Option<ServerPromptView> {
    let text = |fields: &Map<String, Value>, name: &str| {
        let text = fields.get(name).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let arguments = fields.get("arguments").and_then(Value::as_array);
    let arguments = arguments.into_iter().flatten().filter_map(Value::as_object);
    Some(ServerPromptView {
        name: fields.get("name")?.as_str()?.to_owned(),
        title: text(fields, "title"),
        description: text(fields, "description"),
        arguments: arguments
            .map(|argument| PromptArgument {
                name: text(argument, "name"),
                description: text(argument, "description"),
                required: argument.get("required") == Some(&Value::Bool(true)),
            })
            .collect(),
    })
}
