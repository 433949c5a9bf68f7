//! The chat completion request of OpenAI's API, and what Tenon reads from it.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use tenon_domain::text::shorten;
use tenon_domain::{Annotations, Message, RunsOn, ToolId, ToolSpec, tool_id};

use super::conversation::{self, ClientMessage};
use super::error::{bad_request, too_long};
use super::request_tools::{RequestServer, RequestServerError};
use crate::error::ApiError;

/// About two million tokens: beyond the context window of current models.
const MAX_TEXT_BYTES: usize = 8 * 1024 * 1024;

/// Eight times OpenAI's limit of 128. Every tool costs a compiled schema.
const MAX_TOOLS: usize = 1024;

/// As many as OpenAI takes, and as long as any is.
const MAX_STOPS: usize = 4;
const MAX_STOP_BYTES: usize = 1024;

/// What is not named here is about how a model speaks, which the model's own
/// settings in Tenon say. Clients write `null` where they mean nothing.
#[derive(Deserialize)]
pub(super) struct ChatCompletionRequest {
    model: Option<String>,
    messages: Vec<ClientMessage>,
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    tools: Option<Vec<ClientTool>>,
    tool_choice: Option<Value>,
    /// What `tools` were called once.
    functions: Option<Vec<Value>>,
    n: Option<u64>,
    stop: Option<OneOrMany>,
    response_format: Option<RequestedFormat>,
    tool_ids: Option<Vec<ToolId>>,
    tool_servers: Option<Vec<Value>>,
    /// Where some clients put the same two.
    metadata: Option<TenonTools>,
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
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

#[derive(Deserialize)]
struct RequestedFormat {
    r#type: String,
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
    pub(super) stream: bool,
    pub(super) with_usage: bool,
    /// The client's own tools.
    pub(super) theirs: Option<Vec<Arc<ToolSpec>>>,
    /// None: all that are switched on.
    pub(super) ids: Option<Vec<ToolId>>,
    /// Servers that come along, or why one cannot be used.
    pub(super) servers: Vec<Result<RequestServer, RequestServerError>>,
    /// Where the answer is to end.
    pub(super) stops: Vec<String>,
}

impl ChatCompletionRequest {
    /// Takes its time where documents come along.
    pub(super) fn read(mut self) -> Result<CompletionRequest, ApiError> {
        self.check()?;
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
        // A model cannot be made to call something, but it can be kept from all else.
        match (&self.tool_choice, &mut theirs) {
            (Some(Value::String(choice)), Some(theirs)) if choice == "none" => theirs.clear(),
            (Some(Value::String(choice)), None) if choice == "none" => {
                (ids, servers) = (Some(Vec::new()), None);
            }
            (Some(Value::Object(choice)), Some(theirs)) => {
                let name = choice
                    .get("function")
                    .and_then(|function| function["name"].as_str());
                if let Some(name) = name {
                    theirs.retain(|tool| tool.name == name);
                }
            }
            _ => {}
        }
        let (system, messages) = conversation::read(self.messages)?;
        let servers = servers.unwrap_or_default().into_iter();
        Ok(CompletionRequest {
            model: self
                .model
                .filter(|model| !model.is_empty() && model != "default"),
            system,
            messages,
            stream: self.stream.unwrap_or_default(),
            with_usage: self
                .stream_options
                .is_some_and(|options| options.include_usage.unwrap_or_default()),
            theirs,
            ids,
            servers: servers.map(RequestServer::read).collect(),
            stops: match self.stop {
                None => Vec::new(),
                Some(OneOrMany::One(one)) => vec![one],
                Some(OneOrMany::Many(many)) => many,
            },
        })
    }

    /// What would be answered otherwise than it was meant is refused.
    fn check(&mut self) -> Result<(), ApiError> {
        let refuse = |why: &str| Err(bad_request(why));
        if self.n.is_some_and(|n| n != 1) {
            return refuse("`n` can only be 1: there is one answer.");
        }
        if self.functions.as_ref().is_some_and(|old| !old.is_empty()) {
            return refuse("`functions` are called `tools` now. Send those.");
        }
        let format = self.response_format.as_ref();
        if format.is_some_and(|format| format.r#type == "json_schema") {
            return refuse(
                "An answer cannot be held to a `json_schema`. Ask for JSON in words, or give the \
                 schema as a function in `tools`.",
            );
        }
        if self
            .tools
            .as_ref()
            .is_some_and(|tools| tools.len() > MAX_TOOLS)
        {
            return refuse("There are too many `tools`.");
        }
        if let Some(OneOrMany::Many(many)) = &mut self.stop {
            many.retain(|one| !one.is_empty());
        }
        let stops = match &self.stop {
            None => &[][..],
            Some(OneOrMany::One(one)) => std::slice::from_ref(one),
            Some(OneOrMany::Many(many)) => many,
        };
        let fits = |one: &String| (1..=MAX_STOP_BYTES).contains(&one.len());
        if stops.len() > MAX_STOPS || !stops.iter().all(fits) {
            return refuse("`stop` is a text that is not empty, or up to four of them.");
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
