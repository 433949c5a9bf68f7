//! Runs a task as a turn of a chat.

mod prepare;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use chrono::Local;
use futures::future::BoxFuture;
use tenon_agent::feed::ChatWatch;
use tenon_agent::{
    ContextWindow, ModelTools, TurnModel, TurnOverrides, TurnRequest, remove_folder,
};
use tenon_domain::pattern::Pattern;
use tenon_domain::{Caller, ChatId, EntryPoint, ToolAccess, ToolSpec, TurnId};
use tenon_sources::mcp::McpServer;

use self::prepare::PreparedTools;
use super::report::{TaskOutcome, TaskProgress, TaskReport};
use super::servers::{ServerFolder, ServerStarter, stop_all};
use super::trajectory::{self, write_json};
use super::{Task, TaskError, TaskTools};
use crate::app::App;
use crate::auth::CurrentUser;

/// Long work needs many; a model that goes in circles ends.
const DEFAULT_MAX_TURNS: usize = 100;

const MAX_TURNS: usize = 10_000;

/// What all tasks of a run have in common.
#[derive(Default)]
pub struct RunSettings {
    /// Instead of the tasks' own.
    pub model: Option<String>,
    /// Tools that may be used without asking.
    pub granted: Vec<Pattern>,
    pub servers: ServerFolder,
    /// The values of `${token.NAME}` and of other variables.
    pub tokens: BTreeMap<String, String>,
    pub variables: BTreeMap<String, String>,
    /// Instead of the tasks' own.
    pub max_turns: Option<usize>,
    /// Where each task gets a folder with its work folder and its trajectory.
    pub out: Option<PathBuf>,
    /// Whether the chats stay when the tasks are over.
    pub keeps_chats: bool,
}

pub struct TaskRunner {
    pub app: App,
    pub user: CurrentUser,
    settings: RunSettings,
    starter: ServerStarter,
}

/// A task that runs. Its servers end when it is dropped.
pub struct ActiveTask {
    pub name: String,
    pub chat: ChatId,
    pub turn: TurnId,
    /// What its model was told and what that took, live.
    pub context: Arc<ContextWindow>,
    /// What is worth knowing before it begins.
    pub notes: Vec<String>,
    must_claim: bool,
    model: String,
    system: String,
    tools: Vec<Arc<ToolSpec>>,
    workspace: PathBuf,
    servers: Vec<Arc<McpServer>>,
    started: Instant,
}

impl TaskRunner {
    pub fn new(app: App, user: CurrentUser, settings: RunSettings) -> Self {
        Self {
            app,
            user,
            settings,
            starter: ServerStarter::new(),
        }
    }

    /// Whether a task needs servers that are configured in the hub.
    pub fn needs_hub(&self, task: &Task) -> bool {
        match &task.tools {
            TaskTools::OfUser => true,
            TaskTools::Named { servers, .. } => {
                servers.iter().any(|name| !self.settings.servers.has(name))
            }
        }
    }

    /// Prepares a task and starts it. Returns once its first model step begins.
    pub fn start<'a>(
        &'a self,
        task: &'a Task,
    ) -> BoxFuture<'a, Result<(ActiveTask, ChatWatch), TaskError>> {
        Box::pin(async move {
            let started = Instant::now();
            let model = self.model(task).await?;
            let chat = self.app.store.create_chat(&self.user.id, "").await?.id;
            let begun = self.begin(task, &chat, model, started).await;
            if begun.is_err() {
                // Nothing was said in it.
                self.remove_chat(&chat).await;
            }
            begun
        })
    }

    async fn begin(
        &self,
        task: &Task,
        chat: &ChatId,
        model: TurnModel,
        started: Instant,
    ) -> Result<(ActiveTask, ChatWatch), TaskError> {
        let mut notes = task.notes.clone();
        let workspace = self.prepare_workspace(task, chat, &mut notes).await?;
        let context = Arc::new(ContextWindow::default());
        let prepared = self
            .prepare_tools(task, &workspace, &model, &context, &mut notes)
            .await?;
        let system = task.system.as_deref();
        let system = system.map(|text| fill_placeholders(text, &workspace, &task.prompt));
        let tools = self.specs(chat, &prepared).await?;
        let watch = self.app.agent.feed().watch(chat);
        let name = model.shown.name.clone();
        let request = TurnRequest {
            door: EntryPoint::Shell,
            can_ask: false,
            tools: prepared.hub.clone(),
            granted: self.settings.granted.clone(),
            overrides: TurnOverrides {
                system: system.clone(),
                tools: ModelTools::Server(prepared.request_tools.clone()),
                step_limit: Some(self.max_turns(task)),
                workspace: Some(workspace.clone()),
                context: Some(context.clone()),
                ..TurnOverrides::default()
            },
            ..TurnRequest::new(self.user.id.clone(), chat.clone(), &task.prompt, model)
        };
        let turn = self.app.agent.start(request).await?;
        let running = ActiveTask {
            name: task.name.clone(),
            chat: chat.clone(),
            turn,
            context,
            notes,
            must_claim: task.must_claim(),
            model: name,
            system: system.unwrap_or_default(),
            tools,
            workspace,
            servers: prepared.servers,
            started,
        };
        Ok((running, watch))
    }

    /// Stops the servers of a finished task, and writes its report.
    pub fn finish<'a>(
        &'a self,
        task: ActiveTask,
        progress: &'a TaskProgress,
    ) -> BoxFuture<'a, Result<TaskReport, TaskError>> {
        Box::pin(async move {
            let seconds = task.started.elapsed().as_secs_f64();
            stop_all(&task.servers).await;
            let (outcome, reason) = progress.outcome(task.must_claim);
            let keeps_workspace = self.settings.keeps_chats || self.settings.out.is_some();
            let report = TaskReport {
                task: task.name.clone(),
                outcome,
                reason,
                model: task.model.clone(),
                chat_id: self.settings.keeps_chats.then(|| task.chat.clone()),
                workspace: keeps_workspace.then(|| task.workspace.clone()),
                statistics: progress.statistics(seconds),
            };
            if let Some(folder) = self.folder_of(&task.name) {
                let messages = self.app.agent.history(&task.chat, &task.turn).await?;
                let said = (task.system.as_str(), messages.as_slice(), &*task.tools);
                trajectory::write(&folder, &report, said)?;
            }
            if !self.settings.keeps_chats {
                self.remove_chat(&task.chat).await;
            }
            Ok(report)
        })
    }

    /// Writes the reports of all tasks beside their folders.
    pub fn write_summary(&self, summary: &impl serde::Serialize) -> Result<(), TaskError> {
        match &self.settings.out {
            Some(out) => write_json(&out.join("summary.json"), summary),
            None => Ok(()),
        }
    }

    async fn model(&self, task: &Task) -> Result<TurnModel, TaskError> {
        let models = &self.app.models;
        let name = self.settings.model.as_deref().or(task.model.as_deref());
        let named = match name.filter(|name| !name.is_empty()) {
            Some(name) => Some(models.named(name).await?),
            None => None,
        };
        Ok(TurnModel {
            // The process ends with the answer, so no title is needed.
            makes_titles: false,
            ..models.choose(named.as_ref()).await?
        })
    }

    fn max_turns(&self, task: &Task) -> usize {
        let asked = self.settings.max_turns.or(task.max_turns);
        asked.unwrap_or(DEFAULT_MAX_TURNS).clamp(1, MAX_TURNS)
    }

    fn folder_of(&self, name: &str) -> Option<PathBuf> {
        self.settings.out.as_ref().map(|out| out.join(name))
    }

    /// What the model is offered, for the trajectory.
    async fn specs(
        &self,
        chat: &ChatId,
        prepared: &PreparedTools,
    ) -> Result<Vec<Arc<ToolSpec>>, TaskError> {
        let caller = Caller::UnattendedModel {
            entry: EntryPoint::Shell,
            allow: self.settings.granted.as_slice().into(),
        };
        let mut access = ToolAccess::all(&self.user.id, caller);
        if let Some(hub) = &prepared.hub {
            access = access.only(hub.clone());
        }
        let store = &self.app.store;
        let settings = store.tool_settings(&self.user.id, None, Some(chat)).await?;
        let toolset = self.app.registry.toolset(access.with_settings(settings));
        Ok(toolset.with_request_tools(&prepared.request_tools).specs())
    }

    async fn remove_chat(&self, chat: &ChatId) {
        let removed = async {
            self.app.agent.delete(&self.user.id, chat).await?;
            self.app.store.purge_chat(chat).await
        };
        if let Err(error) = removed.await {
            tracing::warn!(%error, %chat, "the chat of a task is left behind");
        }
        remove_folder(&self.app.agent.workspace(chat)).await;
    }
}

/// The placeholders of Toolathlon's prompts.
fn fill_placeholders(text: &str, workspace: &Path, prompt: &str) -> String {
    let time = Local::now().format("%Y-%m-%d %H:%M:%S %A").to_string();
    let values = [
        ("workspace_dir", workspace.to_string_lossy().into_owned()),
        ("time", time),
        // Last, so that placeholders in the prompt's own text are not replaced.
        ("task_description", prompt.to_owned()),
    ];
    let mut filled = text.to_owned();
    for (name, value) in values {
        filled = filled.replace(&format!("!!<<<<||||{name}||||>>>>!!"), &value);
    }
    filled
}

impl TaskReport {
    /// Of a task that failed before its first step, or whose end could not be written.
    pub fn from_error(task: &str, error: &TaskError) -> Self {
        Self::not_started(task, TaskOutcome::Failed, Some(error.to_string()))
    }
}

/// Without the tokens.
impl std::fmt::Debug for RunSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunSettings")
            .field("out", &self.out)
            .finish_non_exhaustive()
    }
}

impl std::fmt::Debug for TaskRunner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("TaskRunner").field(&self.user.id).finish()
    }
}

impl std::fmt::Debug for ActiveTask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ActiveTask").field(&self.name).finish()
    }
}
