//! The trait of a source: something that offers tools and executes them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tenon_domain::{
    CallId, ChatId, ErrorDetail, FormAnswer, FormRequest, InputSchema, MessageId, SourceInfo,
    SourceState, ToolDefinition, ToolId, ToolResult, UserId,
};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::call_client::{CallClient, ProgressUpdate};
use crate::call_timer::CallTimer;
use crate::context_source::ContextSource;

/// A source of tools: built-ins, a server, a browser.
///
/// An implementation owes its caller three things. `tools` and `state` answer
/// at once, from memory. `call` may be dropped at any moment, and dropping it
/// stops the work: that is how deadlines and the stop button reach it. And
/// whatever goes wrong inside becomes a `ToolError` in words a model can use;
/// a panic is caught, but is a bug.
#[async_trait]
pub trait ToolSource: Send + Sync {
    fn info(&self) -> &SourceInfo;

    /// What it offers now. After a change, `Registry::refresh` asks again.
    fn tools(&self) -> Vec<ToolDefinition>;

    /// Further words to find a tool by, in other languages for example. They are for search; no
    /// model is told of them.
    fn keywords(&self, _tool: &str) -> &str {
        ""
    }

    /// The schema of a tool's structured results, where it has told one.
    fn output_schema(&self, _tool: &str) -> Option<InputSchema> {
        None
    }

    /// When a model is offered a tool.
    fn relevance(&self, _tool: &str) -> Relevance {
        Relevance::Always
    }

    fn state(&self) -> SourceState {
        SourceState::Ready
    }

    /// Whether a call has a chance now. More than the state says where a call itself can
    /// bring the source back.
    fn can_be_called(&self) -> bool {
        self.state().can_be_called()
    }

    /// Why its tools cannot be called now and what to do instead, as an error of
    /// its own. Asked for where the state keeps calls off; without it, the state is quoted.
    fn unavailable(&self) -> Option<ErrorDetail> {
        None
    }

    /// Whether an admin trusts what it says of its own tools. Otherwise a hint such as "it only
    /// reads" allows nothing.
    fn has_trusted_hints(&self) -> bool {
        false
    }

    /// Whether whoever brought it along makes its calls: they reach it, and Tenon does not.
    fn is_run_by_client(&self) -> bool {
        false
    }

    /// The computer of a person that it runs on, by its id.
    fn device(&self) -> Option<&str> {
        None
    }

    /// The idle timeout of a tool, where it differs from the default.
    fn deadline(&self, _tool: &str) -> Option<Duration> {
        None
    }

    /// The address that a call would go to because its input says so, where it would go there at
    /// all. Whoever lets an input choose among all addresses tells it here: a model could be talked
    /// into choosing one that carries away what it knows, so by default an address that the
    /// conversation does not know is asked about. Redirects are no choice of the input.
    fn address(&self, _tool: &str, _input: &Value) -> Option<Url> {
        None
    }

    /// The built-in tool that a call becomes, by its native name: what is denied, asked or switched
    /// off there is so here, too.
    fn wraps(&self, _tool: &str) -> Option<String> {
        None
    }

    /// Its resources and prompts, if it is of a kind that has any.
    fn context(&self) -> Option<&dyn ContextSource> {
        None
    }

    /// Runs a tool by its native name. The input fits the schema the source gave.
    async fn call(&self, tool: &str, input: Value, context: &CallContext) -> ToolResult;
}

/// When a model is offered a tool. One that the user names, chose or switched on is always offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relevance {
    Always,
    /// Describes its source, such as the instructions of a skill: offered before other tools.
    TellsOfSource,
    /// Models with little room are offered it only where the user speaks of what it does.
    OnDemand,
    /// Once an output of the conversation was too long to show.
    AfterCutOutput,
    WhenNamed,
}

/// On whose behalf, and with what at hand, a call is made.
#[derive(Debug, Clone)]
pub struct CallContext {
    pub call_id: CallId,
    pub origin: CallOrigin,
    pub user: UserId,
    /// The folder the call may work in. None: there is none, and file tools say so.
    pub workspace: Option<PathBuf>,
    /// Fires when the call is no longer wanted.
    pub cancel: CancellationToken,
    /// Receives its progress and answers its elicitations.
    pub client: Arc<dyn CallClient>,
    pub timer: CallTimer,
}

impl CallContext {
    /// Reports progress, which restarts the idle timeout.
    pub fn progress(&self, progress: ProgressUpdate) {
        self.timer.reset();
        self.client.progress(progress);
    }

    /// Reports that the call is still at work, which restarts the idle timeout.
    pub fn keep_alive(&self) {
        self.timer.reset();
        self.client.keep_alive();
    }

    /// Asks a person. The timeouts of the call are paused meanwhile.
    pub async fn ask(&self, message: String, wants: FormRequest) -> FormAnswer {
        let _pause = self.timer.pause();
        self.client.ask(message, wants).await
    }

    /// Asks the model of whoever made the call. The timeouts of the call are paused meanwhile.
    pub async fn sample(&self, params: Value) -> Option<Value> {
        let _pause = self.timer.pause();
        self.client.sample(params).await
    }
}

/// Where a call comes from, for sources that pass it on to a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallOrigin {
    pub tool_id: Option<ToolId>,
    pub chat_id: Option<ChatId>,
    pub message_id: Option<MessageId>,
}
