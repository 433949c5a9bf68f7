//! What a task needs before its first step: a work folder, its servers and its local tools.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tenon_agent::{ContextWindow, TurnModel};
use tenon_domain::source::WebSearchConfig;
use tenon_domain::{Caller, ChatId, ToolAccess, ToolId};
use tenon_sources::mcp::McpServer;
use tenon_tools::{RequestTools, ToolSource};

use super::TaskRunner;
use crate::tasks::folder::TaskFolder;
use crate::tasks::servers::ServerVariables;
use crate::tasks::task_builtins::{self, TaskBuiltin, TaskBuiltinContext};
use crate::tasks::{Task, TaskError, TaskTools};

/// What a task may call, and what that stands on.
pub(super) struct PreparedTools {
    pub(super) request_tools: RequestTools,
    /// Of the hub. None: all.
    pub(super) hub: Option<Vec<ToolId>>,
    pub(super) servers: Vec<Arc<McpServer>>,
}

impl TaskRunner {
    /// A fresh work folder, with a copy of what the task brings along.
    pub(super) async fn prepare_workspace(
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

    pub(super) async fn prepare_tools(
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
        if web_search.is_none() && local.contains(&TaskBuiltin::WebSearch) {
            notes.push("web_search is left out: SERPER_API_KEY is not set.".into());
        }
        let builtin_context = TaskBuiltinContext {
            outputs: self.app.outputs.clone(),
            builtin: self.app.builtin.clone(),
            web_search,
            context: context.clone(),
            model: model.provider.clone(),
        };
        let mut sources = task_builtins::sources(local, &builtin_context);
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
}
