//! Models in: one trait, one module per wire format. Only this room knows provider JSON.

pub mod assemble;
pub mod chat_span;

pub mod scripted;

pub mod discover;
pub mod embeddings;
pub mod evaluation;
pub mod probe;
pub mod remote;

pub mod history;
pub mod schema;

mod estimate;
mod fault;
mod model_list;
mod options;
mod server_facts;
mod tool_result;

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::{Stream, StreamExt};
use tenon_domain::{
    CallId, ErrorDetail, Message, OmittedTool, PageLanguage, ProviderBlock, StopReason, ToolId,
    ToolSpec, Usage,
};

pub use assemble::{Assembler, ModelReply};
pub use chat_span::ModelIdentity;
pub use estimate::{RequestEstimate, tool_tokens};
pub use fault::{ExclusionReason, ModelFault};
pub use options::{GenerationOptions, OptionFault, OutputFormat, SAMPLING_OPTIONS, ToolChoice};
pub use remote::{AttemptContent, AttemptLog, MaskedExchange, ModelAttempt, Remote, connect};
pub use scripted::Scripted;
pub use server_facts::ServerFacts;

/// Something that can speak and ask for tools.
///
/// An implementation owes its caller a stream that ends: with a
/// [`ModelDelta::Stop`], or with an error after which nothing follows. Dropping the
/// stream stops the model. Calls may come in fragments of any size; whole text
/// is never held back.
#[async_trait]
pub trait Provider: Send + Sync {
    /// For people: "Built-in assistant", "gpt-x at OpenAI".
    fn name(&self) -> &str;

    /// The name of the model and its provider in traces.
    fn identity(&self) -> ModelIdentity {
        ModelIdentity {
            provider: "tenon",
            model: self.name().to_owned(),
            server: None,
        }
    }

    /// Whether the tools of a request are put before the model at all.
    fn offers_tools(&self) -> bool {
        true
    }

    /// Whether the model should be told of few tools, and in short.
    fn is_small(&self) -> bool {
        false
    }

    /// How much it reads and writes at most in one request, where that is known.
    fn context_tokens(&self) -> Option<u64> {
        None
    }

    /// Whether the user may show it pictures. That a server takes none may only come out when it is
    /// asked.
    fn takes_images(&self) -> bool {
        true
    }

    async fn stream(&self, request: ModelRequest) -> Result<ModelStream, Error>;

    /// About what a request would take, and which tools it would not have.
    async fn estimate(&self, request: &ModelRequest) -> RequestEstimate {
        RequestEstimate::of(request)
    }

    /// More tools than this it is not told of. None: any number.
    fn max_tools(&self) -> Option<usize> {
        None
    }

    /// How many tokens its tools may take. Where they take more, it is told of some, and finds the
    /// others itself. None: any number.
    fn tool_budget(&self) -> Option<usize> {
        None
    }

    /// Whether it runs on somebody's own machine, where it may take minutes to read a long prompt.
    fn is_local(&self) -> bool {
        false
    }

    /// The option, under its name in OpenAI's API, that a request with these cannot have, and why.
    /// `None`: all of them count.
    fn unsupported_option(
        &self,
        _options: &GenerationOptions,
        _has_tools: bool,
    ) -> Option<OptionFault> {
        None
    }
}

pub type ModelStream = Pin<Box<dyn Stream<Item = Result<ModelDelta, Error>> + Send>>;

/// Everything a model is told in one step.
#[derive(Debug, Clone, Default)]
pub struct ModelRequest {
    pub system: String,
    /// Language of the page that shows the answer, if there is one. Language models learn of it
    /// from `system`.
    pub language: Option<PageLanguage>,
    pub messages: Vec<Message>,
    pub tools: Vec<Arc<ToolSpec>>,
    /// Tools that the model can only find by searching.
    pub deferred: DeferredTools,
    pub options: GenerationOptions,
    /// Where a provider that asks a server writes down how that went.
    pub attempts: AttemptLog,
}

/// Tools that a model is not told of and can find.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DeferredTools {
    pub tools: Vec<Arc<ToolSpec>>,
    /// The tools of the request that find them, for models whose servers do not.
    pub finders: Vec<ToolId>,
}

/// What a model says, as it says it.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelDelta {
    Text(String),
    Thinking(String),
    Call(CallFragment),
    /// The last part that something was added to is whole: told back to its
    /// maker, it has to be this. What follows is another part.
    Keep(ProviderBlock),
    /// A part that only its maker can read.
    Opaque(ProviderBlock),
    /// These tools could not be put before the model. Comes before all words.
    OmittedTool(Vec<OmittedTool>),
    /// The model is there, though it has nothing to say yet.
    Alive,
    /// How many tokens of the prompt it has read so far.
    PromptProgress {
        processed: u64,
        total: u64,
    },
    /// Nothing was said yet and the model will be asked again after this long.
    Retry(Duration),
    /// The figures so far; the last one counts.
    Usage(Usage),
    Stop(StopReason),
}

/// A piece of a tool call. Servers number, name and repeat these in every way
/// there is; [`Assembler`] makes whole calls of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallFragment {
    /// The provider's number for the call: a key, not a position. May be missing.
    pub index: Option<u64>,
    /// The provider's own id. May be missing, and may repeat.
    pub id: Option<String>,
    /// The tool's id, whole or in pieces.
    pub name: Option<String>,
    /// The next piece of the arguments' JSON text.
    pub arguments: String,
    /// Opaque data that must be sent back with the call, beside name and arguments.
    pub provider_block: Option<ProviderBlock>,
}

/// Runs a request and collects the whole reply.
pub async fn complete(provider: &dyn Provider, request: ModelRequest) -> Result<ModelReply, Error> {
    let mut deltas = chat_span::stream(provider, request).await?;
    let mut assembler = Assembler::default();
    while let Some(delta) = deltas.next().await {
        assembler.push(delta?);
    }
    let mut number = 0;
    Ok(assembler.finish(|| {
        number += 1;
        CallId(format!("call_{number}"))
    }))
}

/// Why a model could not be used: a [`ModelFault`], or what an admin alone may read taken out of
/// one.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The model said no, or answered nonsense.
    #[error("{0}")]
    Refused(ErrorDetail),
    /// The request may succeed later: the server is busy or unreachable.
    #[error("{0}")]
    Busy(ErrorDetail),
    /// The stream broke off; what was said before it stands.
    #[error("{0}")]
    Interrupted(ErrorDetail),
}

impl Error {
    pub fn detail(self) -> ErrorDetail {
        let (Self::Refused(detail) | Self::Busy(detail) | Self::Interrupted(detail)) = self;
        detail
    }
}

/// Asking again would not help.
impl From<ModelFault> for Error {
    fn from(fault: ModelFault) -> Self {
        Self::Refused(fault.into())
    }
}
