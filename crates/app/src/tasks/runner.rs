//! Runs a task as a turn of a chat.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use chrono::Local;
use tenon_agent::feed::ChatWatch;
use tenon_agent::{
    ContextWindow, ModelTools, TurnModel, TurnOverrides, TurnRequest, remove_folder,
};
use tenon_domain::pattern::Pattern;
use tenon_domain::source::WebSearchConfig;
use tenon_domain::{Caller, ChatId, EntryPoint, ToolAccess, ToolId, ToolSpec, TurnId};
use tenon_sources::mcp::McpServer;
use tenon_tools::{RequestTools, ToolSource};

use super::folder::TaskFolder;
use super::local_tools::{self, LocalTool, LocalToolKit};
use super::report::{TaskOutcome, TaskProgress, TaskReport};
use super::servers::{ServerFolder, ServerStarter, ServerVariables, stop_all};
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

/// What a task may call, and what that stands on.
struct PreparedTools {
    request_tools: RequestTools,
    /// Of the hub. None: all.
    hub: Option<Vec<ToolId>>,
    servers: Vec<Arc<McpServer>>,
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
    pub async fn start(&self, task: &Task) -> Result<(ActiveTask, ChatWatch), TaskError> {
        let started = Instant::now();
        let model = self.model(task).await?;
        let chat = self.app.store.create_chat(&self.user.id, "").await?.id;
        let begun = self.begin(task, &chat, model, started).await;
        if begun.is_err() {
            // Nothing was said in it.
            self.remove_chat(&chat).await;
        }
        begun
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

    /// Ends the servers of a task that is over, and writes down what came of it.
    pub async fn finish(
        &self,
        task: ActiveTask,
        progress: &TaskProgress,
    ) -> Result<TaskReport, TaskError> {
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
            // The process ends with the answer; nobody would hear of a title.
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

    /// A fresh work folder, with a copy of what the task brings along.
    async fn prepare_workspace(
        &self,
        task: &Task,
        chat: &ChatId,
        notes: &mut Vec<String>,
    ) -> Result<PathBuf, TaskError> {
        let workspace = match self.folder_of(&task.name) {
            Some(folder) => folder.join("workspace"),
            None => self.app.agent.workspace(chat),
        };
        let workspace = std::path::absolute(&workspace)
            .map_err(TaskError::io("The work folder cannot be made"))?;
        let (initial, to) = (task.workspace.clone(), workspace.clone());
        let copying = tokio::task::spawn_blocking(move || {
            let is_used = std::fs::read_dir(&to).is_ok_and(|mut entries| entries.next().is_some());
            if is_used {
                return Err(TaskError::OutputExists(to));
            }
            let failed = format!("{} cannot be made", to.display());
            std::fs::create_dir_all(&to).map_err(TaskError::io(failed))?;
            match initial {
                Some(initial) => TaskFolder::open(&initial.task_folder)?.copy(&initial.path, &to),
                None => Ok(0),
            }
        });
        let skipped = copying.await.map_err(std::io::Error::other);
        let skipped = skipped.map_err(TaskError::io("The work folder cannot be copied"))??;
        if skipped > 0 {
            notes.push(format!(
                "{skipped} links and special files of the work folder were left out."
            ));
        }
        Ok(workspace)
    }

    async fn prepare_tools(
        &self,
        task: &Task,
        workspace: &Path,
        model: &TurnModel,
        context: &Arc<ContextWindow>,
        notes: &mut Vec<String>,
    ) -> Result<PreparedTools, TaskError> {
        let TaskTools::Named { servers, local } = &task.tools else {
            return Ok(PreparedTools {
                request_tools: RequestTools::default(),
                hub: None,
                servers: Vec::new(),
            });
        };
        let tokens = [&task.tokens, &self.settings.tokens];
        let web_search = self.web_search(tokens);
        if web_search.is_none() && local.contains(&LocalTool::WebSearch) {
            notes.push("web_search is left out: SERPER_API_KEY is not set.".into());
        }
        let kit = LocalToolKit {
            outputs: self.app.outputs.clone(),
            builtin: self.app.builtin.clone(),
            web_search,
            context: context.clone(),
            model: model.provider.clone(),
        };
        let mut sources = local_tools::sources(local, &kit);
        let (own, of_hub): (Vec<&str>, Vec<&str>) = servers
            .iter()
            .map(String::as_str)
            .partition(|name| self.settings.servers.has(name));
        let hub = self.tools_of_hub(&of_hub)?;
        let variables = ServerVariables {
            workspace,
            tokens,
            set: &self.settings.variables,
            sources: &self.app.sources,
        };
        let folder = &self.settings.servers;
        let servers = self.starter.start(folder, &own, &variables).await?;
        let started = servers.iter().cloned();
        sources.extend(started.map(|server| server as Arc<dyn ToolSource>));
        Ok(PreparedTools {
            request_tools: self.app.registry.task_tools(&self.user.id, &sources),
            hub: Some(hub),
            servers,
        })
    }

    /// The tools of these sources of the hub, under the ids they have there: so what somebody has
    /// said about them counts.
    fn tools_of_hub(&self, names: &[&str]) -> Result<Vec<ToolId>, TaskError> {
        let access = ToolAccess::all(&self.user.id, Caller::Person);
        let toolset = self.app.registry.toolset(access);
        let mut ids = Vec::new();
        for name in names {
            let before = ids.len();
            let tools = toolset.tools().into_iter();
            let tools = tools.filter(|tool| tool.source.info().name == *name);
            ids.extend(tools.map(|tool| tool.spec.id.clone()));
            if ids.len() == before {
                return Err(TaskError::UnknownServer {
                    name: (*name).to_owned(),
                });
            }
        }
        Ok(ids)
    }

    /// The key of the environment, or that of a token file.
    fn web_search(&self, tokens: [&BTreeMap<String, String>; 2]) -> Option<WebSearchConfig> {
        let configured = self.app.builtin.web_search.clone();
        configured.or_else(|| {
            let key = tokens
                .iter()
                .find_map(|tokens| tokens.get("serper_api_key"));
            key.filter(|key| !key.is_empty())
                .map(|key| WebSearchConfig::new(key.clone()))
        })
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
        // Last: what it says is no placeholder.
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
