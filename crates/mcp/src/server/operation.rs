//! The operation of a request, and the members of its result.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::context::RequestContext;
use super::listing::Listing;
use super::message::{ClientRequest, parse_value};
use super::request_span;
use super::service::{McpService, PromptRequest, ServerCapabilities};
use crate::jsonrpc::RpcError;

/// An operation on the service, the same in all protocol versions.
#[derive(Debug)]
pub(super) enum ServiceOperation {
    List {
        kind: ListKind,
        cursor: Option<String>,
    },
    CallTool {
        name: String,
        arguments: Value,
    },
    ReadResource {
        uri: String,
    },
    GetPrompt(PromptRequest),
    Complete(Value),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListKind {
    Tools,
    Resources,
    ResourceTemplates,
    Prompts,
}

/// The members of a result, without what the protocol version adds to them.
#[derive(Debug)]
pub(super) struct ResultMembers {
    pub(super) json: String,
    /// Says how long it may be kept, from 2026-07-28 on.
    pub(super) is_cacheable: bool,
}

impl ListKind {
    fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::ResourceTemplates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }
}

impl ServiceOperation {
    /// None: there is no such method.
    pub(super) fn read(
        request: &ClientRequest<'_>,
        capabilities: ServerCapabilities,
    ) -> Result<Option<Self>, RpcError> {
        let params = &request.params;
        let list = |kind| Self::List {
            kind,
            cursor: params.cursor.as_deref().map(str::to_owned),
        };
        let name = || required(params.name.as_deref(), "name");
        let operation = match &*request.method {
            "tools/list" if capabilities.tools => list(ListKind::Tools),
            "tools/call" if capabilities.tools => Self::CallTool {
                name: name()?,
                arguments: params.arguments()?,
            },
            "resources/list" if capabilities.resources => list(ListKind::Resources),
            "resources/templates/list" if capabilities.resources => {
                list(ListKind::ResourceTemplates)
            }
            "resources/read" if capabilities.resources => Self::ReadResource {
                uri: required(params.uri.as_deref(), "uri")?,
            },
            "prompts/list" if capabilities.prompts => list(ListKind::Prompts),
            "prompts/get" if capabilities.prompts => Self::GetPrompt(PromptRequest {
                name: name()?,
                arguments: match params.arguments()? {
                    Value::Object(arguments) => arguments,
                    _ => Map::new(),
                },
            }),
            "completion/complete" if capabilities.completions => {
                let mut params = request.raw_params.map(parse_value).transpose()?;
                if let Some(Value::Object(params)) = &mut params {
                    params.remove("_meta");
                }
                Self::Complete(params.unwrap_or_default())
            }
            _ => return Ok(None),
        };
        Ok(Some(operation))
    }

    /// Whether the client may be asked for input on the way (MRTR).
    pub(super) fn takes_input(&self) -> bool {
        match self {
            Self::CallTool { .. } | Self::ReadResource { .. } | Self::GetPrompt(_) => true,
            Self::List { .. } | Self::Complete(_) => false,
        }
    }

    /// Identifies the operation, to match a repeated request with the first one.
    pub(super) fn target(&self) -> String {
        match self {
            Self::CallTool { name, .. } => format!("tools/call {name}"),
            Self::ReadResource { uri } => format!("resources/read {uri}"),
            Self::GetPrompt(prompt) => format!("prompts/get {}", prompt.name),
            Self::List { .. } | Self::Complete(_) => String::new(),
        }
    }

    /// Everything but calls is boxed: it is rarer, and the future of a call does not carry it.
    pub(super) async fn run<S: McpService>(
        self,
        service: &S,
        context: &RequestContext<S::Caller>,
    ) -> Result<ResultMembers, RpcError> {
        let is_cacheable = matches!(self, Self::List { .. } | Self::ReadResource { .. });
        let json = match self {
            Self::List { kind, cursor } => {
                let listing = Box::pin(list(service, context.caller(), kind)).await?;
                write_page(&listing, kind, cursor.as_deref())?
            }
            Self::CallTool { name, arguments } => {
                let mut result = service.call_tool(context, &name, arguments).await?;
                if result.is_error {
                    request_span::tool_failed();
                }
                let is_object = result
                    .structured_content
                    .as_ref()
                    .is_some_and(Value::is_object);
                if !is_object && !context.client().is_stateless() {
                    // Older clients refuse structured content that is not an object.
                    result.structured_content = None;
                }
                result.write_members()
            }
            Self::ReadResource { uri } => {
                let contents = Box::pin(service.read_resource(context, &uri)).await?;
                format!(r#""contents":{}"#, Value::Array(contents))
            }
            Self::GetPrompt(prompt) => {
                let mut result = Box::pin(service.get_prompt(context, prompt)).await?;
                // The engine writes these.
                result.retain(|name, _| !matches!(name.as_str(), "_meta" | "resultType"));
                let object = Value::Object(result).to_string();
                object[1..object.len() - 1].to_owned()
            }
            Self::Complete(params) => {
                let completion = Box::pin(service.complete(context, params)).await?;
                format!(r#""completion":{completion}"#)
            }
        };
        Ok(ResultMembers { json, is_cacheable })
    }
}

async fn list<S: McpService>(
    service: &S,
    caller: &S::Caller,
    kind: ListKind,
) -> Result<Arc<Listing>, RpcError> {
    match kind {
        ListKind::Tools => service.tools(caller).await,
        ListKind::Resources => service.resources(caller).await,
        ListKind::ResourceTemplates => service.resource_templates(caller).await,
        ListKind::Prompts => service.prompts(caller).await,
    }
}

fn write_page(listing: &Listing, kind: ListKind, cursor: Option<&str>) -> Result<String, RpcError> {
    let page = listing.page(cursor);
    let (items, next) = page.ok_or_else(|| RpcError::invalid_params("Unknown cursor."))?;
    let member = kind.member();
    let mut json = String::with_capacity(items.len() + 64);
    json.push_str(&format!(r#""{member}":["#));
    json.push_str(items);
    json.push(']');
    if let Some(next) = next {
        json.push_str(&format!(r#","nextCursor":{}"#, json!(next.to_string())));
    }
    Ok(json)
}

fn required(value: Option<&str>, name: &str) -> Result<String, RpcError> {
    match value {
        Some(value) if !value.is_empty() => Ok(value.to_owned()),
        _ => Err(RpcError::invalid_params(format!("`{name}` is missing."))),
    }
}
