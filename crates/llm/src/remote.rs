//! A model behind an address.

pub mod anthropic;
pub mod openai;
pub mod responses;

mod attempt;
mod body;
mod capabilities;
mod compiled_tool;
mod constrained;
mod deferral;
pub(crate) mod http;
mod identity;
mod model_size;
pub(crate) mod provider_error;
mod request_plan;
mod response_reader;
mod result_request;
mod retrying_stream;
mod stop_deltas;
mod surrogates;
mod text_calls;
mod tool_compiler;

use std::fmt;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Map, Value};
use tenon_domain::{ProviderBlock, ToolUse, WireFormat};
use tenon_net::sse::SseEvent;
use url::Url;

use crate::remote::provider_error::ProviderError;
use crate::{
    Error, GenerationOptions, ModelDelta, ModelIdentity, ModelRequest, ModelStream, OptionFault,
    Provider, RequestEstimate,
};

pub use attempt::{AttemptContent, AttemptLog, MaskedExchange, ModelAttempt};
pub use model_size::{is_small, is_small_model};
pub use response_reader::{ResponseFormat, replay};

pub(crate) use body::ModelRequestBody;
pub(crate) use capabilities::{Capabilities, CapabilityChange, says_no_images, says_no_tools};
use deferral::TOOL_SEARCH_PARAMETER;
pub(crate) use request_plan::RequestPlan;
pub(crate) use text_calls::is_text_call;
pub(crate) use tool_compiler::ToolCompiler;
use tool_compiler::{CompileCount, MAX_TOOLS};

use retrying_stream::RetryingStream;

/// Context size assumed if neither settings nor server tell one.
const USUAL_CONTEXT_TOKENS: u64 = 128_000;

/// The part of a context that tools may take: one token in so many, but no less than a handful of
/// tools needs.
const TOOL_SHARE: u64 = 10;
const MIN_TOOL_BUDGET: u64 = 4_000;

/// Fields of the request itself, which no model parameter may override.
pub const RESERVED: [&str; 6] = [
    "model",
    "messages",
    "input",
    "instructions",
    "stream",
    "tools",
];

/// Where a model is and how it is asked.
#[derive(Clone, PartialEq)]
pub struct Remote {
    /// For people.
    pub name: String,
    pub format: WireFormat,
    /// Up to and without `/chat/completions`, `/responses` or `/v1/messages`.
    pub base_url: String,
    pub key: Option<String>,
    /// What the server calls it.
    pub model: String,
    /// Sent with every request as they are.
    pub parameters: Map<String, Value>,
    pub tools: ToolUse,
    pub context_tokens: Option<u64>,
    /// How many tokens its tools may take. None: a tenth of its context.
    pub tool_budget: Option<u64>,
    /// Whether its server can report how far it has read the prompt.
    pub reports_progress: bool,
}

/// A model that can be asked.
pub fn connect(remote: Remote) -> Arc<dyn Provider> {
    Arc::new(RemoteProvider::new(remote))
}

/// Reads what one request sets off: one implementation per wire format.
pub(crate) trait Decode: Send {
    fn event(&mut self, event: &SseEvent, out: &mut Vec<ModelDelta>) -> Result<(), ProviderError>;

    /// The stream is over.
    fn end(&mut self, out: &mut Vec<ModelDelta>);

    /// All was said: what the server still sends is of no interest.
    fn is_done(&self) -> bool;
}

pub(crate) struct RemoteProvider {
    remote: Remote,
    known: Arc<ServerKnowledge>,
}

impl RemoteProvider {
    pub(crate) fn new(remote: Remote) -> Self {
        Self {
            remote,
            known: Arc::default(),
        }
    }

    /// Whether the server took the tools of every request so far.
    pub(crate) fn takes_tools(&self) -> bool {
        retrying_stream::lock(&self.known.capabilities).takes_tools
    }
}

/// Knowledge about a model's server, learned at run time and shared by its requests.
#[derive(Debug, Default)]
pub(crate) struct ServerKnowledge {
    capabilities: Mutex<Capabilities>,
    compiler: ToolCompiler,
}

#[async_trait]
impl Provider for RemoteProvider {
    fn name(&self) -> &str {
        &self.remote.name
    }

    fn identity(&self) -> ModelIdentity {
        self.remote.identity()
    }

    fn offers_tools(&self) -> bool {
        self.remote.tools != ToolUse::None
    }

    fn is_small(&self) -> bool {
        is_small(&self.remote)
    }

    fn context_tokens(&self) -> Option<u64> {
        let learned = retrying_stream::lock(&self.known.capabilities).context_tokens;
        let contexts = [self.remote.context_tokens, learned];
        contexts.into_iter().flatten().min()
    }

    fn takes_images(&self) -> bool {
        retrying_stream::lock(&self.known.capabilities).sees_images
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, Error> {
        let stream = RetryingStream::new(self.remote.clone(), self.known.clone(), request);
        Ok(stream.into_stream())
    }

    async fn estimate(&self, request: &ModelRequest) -> RequestEstimate {
        let deferred = deferral::compiled_ahead(&self.remote, &request.deferred);
        ToolCompiler::prepare(&self.known, &request.tools, deferred, &self.remote).await;
        let capabilities = retrying_stream::lock(&self.known.capabilities).clone();
        let compiler = &self.known.compiler;
        match RequestPlan::new(&self.remote, compiler, capabilities, request) {
            Ok((plan, omitted)) => plan.estimate(request, omitted),
            // The request would be refused, so estimate it as it is.
            Err(_) => RequestEstimate::of(request),
        }
    }

    fn max_tools(&self) -> Option<usize> {
        Some(MAX_TOOLS)
    }

    fn tool_budget(&self) -> Option<usize> {
        let context = || self.context_tokens().unwrap_or(USUAL_CONTEXT_TOKENS);
        let share = || (context() / TOOL_SHARE).max(MIN_TOOL_BUDGET);
        let budget = self.remote.tool_budget.unwrap_or_else(share);
        Some(usize::try_from(budget).unwrap_or(usize::MAX))
    }

    fn is_local(&self) -> bool {
        http::is_local(&self.remote.base_url)
    }

    fn unsupported_option(
        &self,
        options: &GenerationOptions,
        has_tools: bool,
    ) -> Option<OptionFault> {
        self.remote.unsupported_option(options, has_tools)
    }
}

impl Remote {
    /// Identifies the model at its address. A provider block goes back only to the model that made
    /// it, because its signature is invalid elsewhere.
    pub(crate) fn maker(&self) -> String {
        let format = self.format.as_str();
        format!("{format} {} {}", self.base_url, self.model)
    }

    /// Wraps a block that this model wants back.
    pub(crate) fn provider_block(&self, block: Value) -> ProviderBlock {
        ProviderBlock {
            maker: self.maker(),
            block,
        }
    }

    fn unsupported_option(
        &self,
        options: &GenerationOptions,
        has_tools: bool,
    ) -> Option<OptionFault> {
        let model = self.name.clone();
        let unsupported = |option: &str| OptionFault::Unsupported {
            option: option.to_owned(),
            model: self.name.clone(),
        };
        // A call that is read from text cannot be required.
        let calls_freely = matches!(self.tools, ToolUse::None | ToolUse::Text);
        if has_tools && options.requires_call() && calls_freely {
            return Some(unsupported("tool_choice"));
        }
        match self.format {
            WireFormat::Openai => {
                // The form of an answer is then that of a call, or must leave room for one.
                let is_form =
                    has_tools && matches!(self.tools, ToolUse::Constrained | ToolUse::Text);
                (is_form && options.response_format.is_some()).then(|| OptionFault::WithTools {
                    option: "response_format".to_owned(),
                    model,
                })
            }
            WireFormat::Anthropic if options.temperature.is_some_and(|heat| heat > 1.0) => {
                let option = "temperature".to_owned();
                Some(OptionFault::AboveOne { option, model })
            }
            WireFormat::Responses => responses::unknown_option(options).map(unsupported),
            WireFormat::Anthropic => anthropic::unknown_option(options).map(unsupported),
        }
    }

    pub(crate) fn host(&self) -> String {
        let Ok(url) = Url::parse(&self.base_url) else {
            return self.base_url.clone();
        };
        let host = url.host_str().unwrap_or_default();
        match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }

    /// Adds the parameters set by a person, except those that would break the request.
    pub(crate) fn add_parameters(&self, body: &mut Map<String, Value>) {
        for (name, value) in &self.parameters {
            match value {
                _ if RESERVED.contains(&name.as_str()) || name == TOOL_SEARCH_PARAMETER => {}
                // `null` removes a field that is sent by default.
                Value::Null => {
                    body.remove(name);
                }
                value => {
                    body.insert(name.clone(), value.clone());
                }
            }
        }
    }
}

/// Without the key.
impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("base_url", &self.base_url)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}
