//! The agent loop: a model step, then the tool calls it asked for, until there are none.
//!
//! This crate knows `Toolset`, `Provider` and `Store`; it knows nothing of MCP, OpenAPI or
//! browsers.

pub mod feed;
pub mod request;

mod agent_loop;
mod client_stream;
mod completion;
mod context_window;
mod model_step;
mod recorder;
mod step_cache;
mod step_request;
mod step_trace;
mod turn;

mod activity;
mod approvals;
mod branch;
mod forms;
mod metrics;
mod other_servers;
mod title;

mod lock;
mod prompt;
mod running_turns;

mod delete;
mod estimate;
mod recover;
mod store_backoff;
mod turn_end;
mod turn_fault;
mod turn_span;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tenon_bus::Bus;
use tenon_domain::{ChatId, ErrorDetail, Message, TurnId, Usage, coded_errors};
use tenon_store::{Result as StoreResult, Store};
use tenon_tools::{FreeSpace, NoSpace, Registry};
use tokio::sync::broadcast;

pub use client_stream::{CompletionPart, CompletionStream};
pub use completion::Completion;
pub use context_window::{ContextStatus, ContextWindow};
pub use delete::remove_folder;
pub use estimate::DraftMessage;
pub use feed::Feed;
pub use metrics::RunCount;
pub use request::{ModelTools, TurnMessage, TurnModel, TurnOverrides, TurnProfile, TurnRequest};
pub use turn::ClientResults;
pub use turn_fault::TurnFault;

use approvals::Approvals;
use forms::Forms;
use metrics::RunMetrics;
use recover::AdoptedTurns;
use running_turns::RunningTurns;
use step_cache::StepCache;
use turn::ClientSessions;

/// Runs turns. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Agent {
    store: Store,
    feed: Feed,
    registry: Arc<Registry>,
    running: RunningTurns,
    approvals: Approvals,
    forms: Forms,
    metrics: RunMetrics,
    clients: ClientSessions,
    step_cache: StepCache,
    adopted: AdoptedTurns,
    bus: Bus,
    settings: Arc<AgentSettings>,
}

#[derive(Debug)]
pub struct AgentSettings {
    /// How often a model may be asked in one turn. Enough for long work, an
    /// end for a model that goes in circles.
    pub step_limit: usize,
    /// How many calls of one step run at once.
    pub parallel_calls: usize,
    /// How long a model may send nothing, not even a keep-alive, before the step fails.
    pub model_silence: Duration,
    /// The same before the first word of a model on somebody's own machine: reading a long prompt
    /// takes such a machine minutes, in which most servers say nothing.
    pub local_first_word: Duration,
    /// How long one step may take, and how long its reply may be.
    pub model_time: Duration,
    pub reply_bytes: usize,
    /// How many calls it may ask for in one step.
    pub calls_per_step: usize,
    /// How long a call waits for a person before it is refused.
    pub approval_wait: Duration,
    /// How long a tool waits for a person to fill in its form.
    pub form_wait: Duration,
    /// Whether a real model gives a chat its name.
    pub model_titles: bool,
    /// Whether what is sent to models is kept for a while, for the traces of turns.
    pub keeps_requests: bool,
    /// Each chat gets a work folder of its own in here.
    pub workspaces: PathBuf,
    /// Free disk space that is required to start something new.
    pub free_space: FreeSpace,
    /// The way to other servers.
    pub bus: Bus,
}

coded_errors! {
    /// Why a turn could not begin, or a call or a form not be answered. What goes wrong later
    /// is the turn's outcome.
    #[derive(Debug)]
    pub enum Error {
        Busy = "busy" => "This chat is still answering. Wait for it or stop it first.",
        Closing = "closing" => "Tenon is shutting down and accepts no new messages.",
        Empty = "message_empty" in "text" => "The message is empty. Write something first.",
        TooLong { max: usize } = "message_too_long" in "text" => "The message is longer than {max} bytes. Put the text into a file of the chat instead.",
        ImagesTooLong { max: usize } = "message_images_too_long" in "messages" => "The pictures of a message are longer than {max} bytes as Base64. Send smaller ones.",
        TurnIdTaken = "turn_id_taken" in "turnId" => "This turn id belongs to another message already. Choose a new one.",
        NotWaiting = "not_waiting" => "This call is no longer waiting for an answer.",
        NoPendingCalls = "no_pending_calls" in "messages" => "This chat is no longer waiting for the results of these calls. Send the next message of the user instead.",
        Unreachable = "turn_unreachable" => "The server that gives this answer cannot be reached for now. Try again in a few seconds.",
        FormClosed = "form_closed" => "This form is no longer waiting for an answer.",
    }
    wraps {
        /// The answer does not fit the form; it says which field and why.
        Misfit(ErrorDetail),
        /// Nothing new begins before the disk is full: what runs has to be stored.
        NoSpace(NoSpace),
        Store(tenon_store::Error),
    }
}

impl From<NoSpace> for Error {
    fn from(error: NoSpace) -> Self {
        Self::NoSpace(error)
    }
}

impl From<tenon_store::Error> for Error {
    fn from(error: tenon_store::Error) -> Self {
        Self::Store(error)
    }
}

impl AgentSettings {
    pub fn new(workspaces: impl Into<PathBuf>) -> Self {
        let workspaces = workspaces.into();
        Self {
            step_limit: 32,
            parallel_calls: 8,
            model_silence: Duration::from_secs(60),
            local_first_word: Duration::from_secs(10 * 60),
            model_time: Duration::from_secs(30 * 60),
            reply_bytes: 8 * 1024 * 1024,
            calls_per_step: 128,
            approval_wait: Duration::from_secs(24 * 60 * 60),
            // Something runs meanwhile, and ends with this process.
            form_wait: Duration::from_secs(10 * 60),
            model_titles: true,
            keeps_requests: true,
            free_space: FreeSpace::new(&workspaces, 0),
            workspaces,
            bus: Bus::alone(),
        }
    }
}

impl Agent {
    /// Must be called inside a Tokio runtime: the feed writes on a task of its own.
    pub fn new(store: Store, registry: Arc<Registry>, settings: AgentSettings) -> Self {
        let running = RunningTurns::default();
        tokio::spawn(recover::stop_without_lease(
            store.watch_lease(),
            running.clone(),
        ));
        let approvals = Approvals::default();
        let answers = store.foreign_chats();
        tokio::spawn(other_servers::wake_approvals(answers, approvals.clone()));
        let agent = Self {
            feed: Feed::new(store.clone(), settings.bus.clone()),
            store,
            registry,
            approvals,
            forms: Forms::new(running.activity.clone()),
            running,
            metrics: RunMetrics::default(),
            clients: ClientSessions::default(),
            step_cache: StepCache::default(),
            adopted: AdoptedTurns::default(),
            bus: settings.bus.clone(),
            settings: Arc::new(settings),
        };
        agent.serve_others();
        agent
    }

    pub fn feed(&self) -> &Feed {
        &self.feed
    }

    /// The chats in which a turn has ended or a form was closed in this process, from now on.
    pub fn activity(&self) -> broadcast::Receiver<ChatId> {
        self.running.activity.subscribe()
    }

    /// What was said in a turn and before it, valid for every provider.
    pub async fn history(&self, chat: &ChatId, turn: &TurnId) -> StoreResult<Vec<Message>> {
        prompt::history(&self.store, (chat, turn), prompt::PictureData::Whole).await
    }

    /// The turn that is running in a chat now.
    pub fn running(&self, chat: &ChatId) -> Option<TurnId> {
        self.running.turn(chat)
    }

    /// Stops a turn: its model, its tools. False: it is not running here.
    pub fn cancel(&self, turn: &TurnId) -> bool {
        self.running.cancel(turn)
    }

    /// Whether it shuts down: nothing new is begun any more.
    pub fn is_draining(&self) -> bool {
        self.running.tasks.is_closed()
    }

    /// How many turns and completions run now, with the titles that follow them.
    pub fn running_tasks(&self) -> usize {
        self.running.tasks.len()
    }

    /// How many turns and completions have ended in which outcome since the start.
    pub fn run_counts(&self) -> Vec<RunCount> {
        self.metrics.runs()
    }

    /// The tokens of turns and completions that have ended, by the name of the model.
    pub fn tokens_by_model(&self) -> BTreeMap<String, Usage> {
        self.metrics.tokens()
    }

    /// Accepts no new turns and waits for running ones; after `timeout` they are stopped. Turns
    /// that wait for a person are left at once, for the next start to resume. Forms are cancelled.
    pub async fn drain(&self, timeout: Duration) {
        self.running.drain(timeout).await;
    }

    /// The folder a chat's tools may work in. It need not exist yet.
    pub fn workspace(&self, chat: &ChatId) -> PathBuf {
        Path::new(&self.settings.workspaces).join(chat.as_str())
    }
}
