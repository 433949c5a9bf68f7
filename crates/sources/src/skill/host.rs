//! Resources that all skills share: the sandbox, HTTP clients, built-in tools and the pool of
//! workers.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::program_slots::ProgramSlots;
use super::worker_pool::WorkerPool;
use crate::openapi::OpenapiHttpClient;
use async_trait::async_trait;
use serde_json::{Map, Value};
use tenon_domain::{Account, SourceId, ToolDefinition, ToolError, UserId};
use tenon_net::Network;
use tenon_sandbox::{Error as SandboxError, Sandbox, SandboxSupport, Wall, WallStrength};
use tenon_skills::script::ModuleLanguage;
use tenon_tools::{Quota, ToolSource};

/// Looks up the account of a skill's caller and their own settings of the skill.
#[async_trait]
pub trait SkillUsers: Send + Sync {
    async fn settings(&self, skill: &SourceId, user: &UserId) -> Map<String, Value>;

    /// None in single-user mode.
    async fn account(&self, user: &UserId) -> Option<Account>;
}

pub struct SkillHost {
    pub(super) sandbox: Sandbox,
    pub(super) users: Arc<dyn SkillUsers>,
    pub(super) workers: WorkerPool,
    pub(super) programs: ProgramSlots,
    pub(super) quota: Arc<Quota>,
    builtin: Vec<Arc<dyn ToolSource>>,
    /// Where the runners of modules are written.
    runners: PathBuf,
    anywhere: OnceLock<OpenapiHttpClient>,
    public: OnceLock<OpenapiHttpClient>,
    support: OnceLock<Option<SandboxSupport>>,
}

impl SkillHost {
    /// `runners` is a folder that may be made. A worker waits for `idle_time` for its next call, or a minute.
    pub fn new(
        sandbox: Sandbox,
        runners: PathBuf,
        builtin: Vec<Arc<dyn ToolSource>>,
        users: Arc<dyn SkillUsers>,
        quota: Arc<Quota>,
        idle_time: Option<Duration>,
    ) -> Self {
        Self {
            sandbox,
            users,
            workers: WorkerPool::new(idle_time, quota.clone()),
            programs: ProgramSlots::new(),
            quota,
            builtin,
            runners,
            anywhere: OnceLock::new(),
            public: OnceLock::new(),
            support: OnceLock::new(),
        }
    }

    /// Which walls there are around programs. Looked up once, before the first skill is offered.
    pub async fn support(&self) -> Result<SandboxSupport, SandboxError> {
        let support = self.sandbox.support().await;
        let _ = self.support.set(support.as_ref().ok().cloned());
        support
    }

    /// Whether a program reaches neither files nor the network without leave.
    pub(super) fn is_contained(&self) -> bool {
        let support = self.support.get().and_then(Option::as_ref);
        support.is_some_and(|support| {
            [Wall::Files, Wall::Network]
                .iter()
                .all(|wall| support.strength(*wall) == WallStrength::Full)
        })
    }

    /// A built-in tool by its native name.
    pub fn builtin(&self, tool: &str) -> Option<(&Arc<dyn ToolSource>, ToolDefinition)> {
        self.builtin.iter().find_map(|source| {
            let mut tools = source.tools().into_iter();
            let definition = tools.find(|definition| definition.name == tool)?;
            Some((source, definition))
        })
    }

    /// For requests of a skill that an admin installed, or of one that somebody else did.
    pub(super) fn http_client(&self, is_trusted: bool) -> Result<&OpenapiHttpClient, ToolError> {
        let (cell, network) = if is_trusted {
            (&self.anywhere, Network::Anywhere)
        } else {
            (&self.public, Network::PublicOnly)
        };
        if let Some(client) = cell.get() {
            return Ok(client);
        }
        let client = OpenapiHttpClient::new(network);
        let client = client.map_err(|error| ToolError::failed(error.to_string()))?;
        Ok(cell.get_or_init(|| client))
    }

    /// The runner of a language, as a file.
    pub(super) async fn runner(&self, language: ModuleLanguage) -> std::io::Result<PathBuf> {
        let path = self.runners.join(language.runner_file());
        let text = language.runner();
        // Rewritten when another version of Tenon brings a different file.
        if tokio::fs::read(&path).await.ok().as_deref() == Some(text.as_bytes()) {
            return Ok(path);
        }
        tokio::fs::create_dir_all(&self.runners).await?;
        let new = path.with_extension(format!("{}.new", std::process::id()));
        tokio::fs::write(&new, text).await?;
        tokio::fs::rename(&new, &path).await?;
        Ok(path)
    }

    pub(super) fn runners(&self) -> &Path {
        &self.runners
    }
}

impl std::fmt::Debug for SkillHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SkillHost").finish_non_exhaustive()
    }
}
