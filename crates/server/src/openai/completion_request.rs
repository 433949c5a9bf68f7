//! The chat completion request of OpenAI's API, and what Tenon reads from it.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tenon_domain::text::shorten;
use tenon_domain::{Annotations, ChatId, Message, RunsOn, ToolId, ToolSpec, tool_id};
use tenon_llm::{GenerationOptions, ToolChoice};

use super::conversation::{self, ClientMessage, Conversation};
use super::error::{bad_request, invalid_option, too_long};
use super::images::StoredImage;
use super::options::OptionFields;
use super::request_tools::{RequestServer, RequestServerError};
use super::tool_choice;
use crate::error::ApiError;

/// About two million tokens: beyond the context window of current models.
const MAX_TEXT_BYTES: usize = 8 * 1024 * 1024;

/// Eight times OpenAI's limit of 128. Every tool costs a compiled schema.
const MAX_TOOLS: usize = 1024;

/// Clients write `null` where they mean nothing.
#[derive(Deserialize)]
pub(super) struct ChatCompletionRequest {
    model: Option<String>,
    messages: Vec<ClientMessage>,
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    tools: Option<Vec<ClientTool>>,
    tool_choice: Option<Value>,
    tool_ids: Option<Vec<ToolId>>,
    tool_servers: Option<Vec<Value>>,
    /// The chat that keeps this conversation on record.
    chat_id: Option<ChatId>,
    /// The open page that calls the servers which only the client reaches.
    session_id: Option<String>,
    /// Where some clients put `tool_ids` and `tool_servers`.
    metadata: Option<TenonTools>,
    #[serde(flatten)]
    options: Map<String, Value>,
}

/// Which of Tenon's tools the model gets.
#[derive(Deserialize, Default)]
struct TenonTools {
    tool_ids: Option<Vec<ToolId>>,
    tool_servers: Option<Vec<Value>>,
}

#[derive(Deserialize)]
struct StreamOptions {
    include_usage: Option<bool>,
}

#[derive(Deserialize)]
struct ClientTool {
    function: ClientFunction,
}

#[derive(Deserialize)]
struct ClientFunction {
    name: String,
    description: Option<String>,
    parameters: Option<Value>,
}

/// The same in Tenon's words.
pub(super) struct CompletionRequest {
    pub(super) model: Option<String>,
    pub(super) system: Option<String>,
    pub(super) messages: Vec<Message>,
    pub(super) stored_images: Vec<StoredImage>,
    pub(super) chat: Option<ChatId>,
    pub(super) page: Option<String>,
    pub(super) stream: bool,
    pub(super) with_usage: bool,
    /// The client's own tools.
    pub(super) theirs: Option<Vec<Arc<ToolSpec>>>,
    /// None: all that are switched on.
    pub(super) ids: Option<Vec<ToolId>>,
    /// Servers that come along, or why one cannot be used.
    pub(super) servers: Vec<Result<RequestServer, RequestServerError>>,
    pub(super) options: GenerationOptions,
}

impl ChatCompletionRequest {
    /// Takes its time where documents come along.
    pub(super) fn read(self) -> Result<CompletionRequest, ApiError> {
        self.check()?;
        let mut options = OptionFields::new(self.options).read()?;
        let elsewhere = self.metadata.unwrap_or_default();
        let mut ids = self.tool_ids.or(elsewhere.tool_ids);
        let mut servers = self.tool_servers.or(elsewhere.tool_servers);
        let theirs = self.tools.filter(|tools| !tools.is_empty());
        if theirs.is_some() && (ids.is_some() || servers.is_some()) {
            return Err(bad_request(
                "`tools` are run by the client, `tool_ids` and `tool_servers` by Tenon. Send either.",
            ));
        }
        let theirs = theirs.map(|tools| tools.into_iter().map(spec).collect());
        let theirs: Option<Result<Vec<_>, _>> = theirs;
        let mut theirs = theirs.transpose()?;
        let choice = self.tool_choice.filter(|choice| !choice.is_null());
        let choice = choice.map(|choice| tool_choice::read(&choice, theirs.as_deref()));
        options.tool_choice = choice.transpose()?;
        match (&options.tool_choice, &mut theirs) {
            (Some(ToolChoice::None), Some(theirs)) => theirs.clear(),
            // With `tool_choice: none` no tools are needed, so no server is asked for any.
            (Some(ToolChoice::None), None) => (ids, servers) = (Some(Vec::new()), None),
            _ => {}
        }
        let Conversation {
            system,
            messages,
            stored_images,
        } = conversation::read(self.messages)?;
        let servers = servers.unwrap_or_default().into_iter();
        let request = CompletionRequest {
            model: self
                .model
                .filter(|model| !model.is_empty() && model != "default"),
            system,
            messages,
            stored_images,
            chat: self.chat_id,
            page: self.session_id,
            stream: self.stream.unwrap_or_default(),
            with_usage: self
                .stream_options
                .is_some_and(|options| options.include_usage.unwrap_or_default()),
            theirs,
            ids,
            servers: servers.map(RequestServer::read).collect(),
            options,
        };
        let choice = &request.options.tool_choice;
        if *choice == Some(ToolChoice::Required) && !request.has_tools() {
            return Err(invalid_option(
                "tool_choice",
                "`auto` or `none` where there are no tools",
            ));
        }
        Ok(request)
    }

    fn check(&self) -> Result<(), ApiError> {
        let tools = self.tools.as_ref().map_or(0, Vec::len);
        if tools > MAX_TOOLS {
            return Err(bad_request("There are too many `tools`.").in_field("tools"));
        }
        let length: usize = self.messages.iter().map(ClientMessage::length).sum();
        if length <= MAX_TEXT_BYTES {
            Ok(())
        } else {
            Err(too_long(
                "The `messages` are longer than any model takes in.",
            ))
        }
    }
}

impl CompletionRequest {
    /// Whether the user shows pictures.
    /// Whether the message that is to be answered shows pictures: a model that sees none is told
    /// of earlier ones in words.
    pub(super) fn asks_about_images(&self) -> bool {
        let is_user = |message: &Message| matches!(message, Message::User { .. });
        let Some(last) = self.messages.iter().rposition(is_user) else {
            return false;
        };
        let is_inline =
            matches!(&self.messages[last], Message::User { images, .. } if !images.is_empty());
        is_inline || self.stored_images.iter().any(|image| image.message == last)
    }

    /// Whether the model may be offered any: which of Tenon's there are is known when it is asked.
    pub(super) fn has_tools(&self) -> bool {
        let Some(theirs) = &self.theirs else {
            let names_none = self.ids.as_ref().is_some_and(Vec::is_empty);
            return !names_none || !self.servers.is_empty();
        };
        !theirs.is_empty()
    }
}

fn spec(tool: ClientTool) -> Result<Arc<ToolSpec>, ApiError> {
    let ClientFunction {
        name,
        description,
        parameters,
    } = tool.function;
    if !tool_id::is_valid(&name) {
        let shown = shorten(&name, tool_id::MAX_ID_BYTES);
        return Err(bad_request(format!(
            "{shown:?} cannot be the name of a function: letters, digits, _ and -, at most {}.",
            tool_id::MAX_ID_BYTES
        )));
    }
    Ok(Arc::new(ToolSpec {
        id: ToolId(name.clone()),
        title: name.clone(),
        display_name: name.clone(),
        name,
        description: description.unwrap_or_default(),
        input_schema: parameters
            .unwrap_or_else(|| json!({"type": "object"}))
            .into(),
        annotations: Annotations::default(),
        runs_on: RunsOn::Server,
    }))
}
