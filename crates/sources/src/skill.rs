//! Installed skills as sources of tools.
//!
//! A [`InstalledSkill`] is what the registry holds. It keeps its place for as long as the skill is
//! installed; an update gives it another [`SkillRevision`], so a call that was planned before the
//! update runs what is there now, or learns that its tool is gone. A skill has the tools that it
//! declares, one that gives its instructions to a model ([`instructions`]), and one that runs its
//! scripts ([`scripts`]). Programs run in a sandbox, in the folder of their chat.

mod builtin_tool;
mod call_error;
mod environment;
mod host;
mod http_tool;
mod instructions;
mod module_check;
mod offer;
mod program;
mod program_slots;
mod reply;
mod revision;
mod runnable;
mod scripts;
mod setup;
mod worker;
mod worker_pool;
mod worker_request;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tenon_domain::{
    ErrorDetail, ErrorKind, SourceInfo, SourceState, ToolDefinition, ToolError, ToolResult,
};
use tenon_skills::SkillToolRun;
use tenon_skills::script::SkillScript;
use tenon_tools::{CallContext, Relevance, ToolSource};
use tokio_util::sync::CancellationToken;
use url::Url;

pub use call_error::{SkillCallError, SkillSetupError};
pub use host::{SkillHost, SkillUsers};
pub use module_check::{ModuleTrial, TrialEvent};
pub use revision::{SetupStatus, SkillRevision, SkillValues};
pub use tenon_sandbox::{Sandbox, SandboxSupport, Wall, WallStatus, WallStrength};
pub use tenon_skills as package;

use crate::lock::lock;
use reply::{envelope, failure};
use revision::OfferedTool;

/// A skill in the registry.
pub struct InstalledSkill {
    info: SourceInfo,
    host: Arc<SkillHost>,
    revision: Mutex<Arc<SkillRevision>>,
    /// Fires when it was removed or switched off.
    removed: CancellationToken,
}

impl InstalledSkill {
    pub fn new(info: SourceInfo, host: Arc<SkillHost>, revision: Arc<SkillRevision>) -> Self {
        Self {
            info,
            host,
            revision: Mutex::new(revision),
            removed: CancellationToken::new(),
        }
    }

    /// The revision in use now; it changes when the skill is updated.
    pub fn revision(&self) -> Arc<SkillRevision> {
        lock(&self.revision).clone()
    }

    /// Calls that begin from now on run this. `Registry::refresh` lists its tools.
    pub fn update(&self, revision: Arc<SkillRevision>) {
        let mut current = lock(&self.revision);
        *current = revision;
        drop(current);
        self.host.workers.forget(&self.info.id);
    }

    /// Ends its calls.
    pub fn remove(&self) {
        self.removed.cancel();
        self.host.workers.forget(&self.info.id);
    }

    async fn run(
        &self,
        revision: &Arc<SkillRevision>,
        tool: &str,
        input: Value,
        context: &CallContext,
    ) -> ToolResult {
        let call = SkillCall {
            skill: self,
            revision,
            context,
        };
        match revision.tool(tool) {
            None => Err(failure(self.error(ErrorKind::UnknownTool, |name| {
                SkillCallError::ToolGone { name }
            }))),
            Some(OfferedTool::Instructions) => instructions::read(&call, &input).await,
            Some(OfferedTool::Runner) => envelope(scripts::run(&call, &input).await),
            Some(OfferedTool::Declared(declared)) => envelope(match &declared.run {
                SkillToolRun::Http(mapping) => http_tool::call(&call, mapping, &input).await,
                SkillToolRun::Builtin { tool, arguments } => {
                    builtin_tool::call(&call, tool, arguments, input).await
                }
                SkillToolRun::Script(SkillScript::Command(words)) => {
                    program::run(&call, words, &input).await
                }
                SkillToolRun::Script(SkillScript::Module {
                    language,
                    file,
                    function,
                }) => worker::call(&call, (*language, file, function), input).await,
            }),
        }
    }

    fn error(
        &self,
        kind: ErrorKind,
        error: impl FnOnce(tenon_domain::ErrorParam) -> SkillCallError,
    ) -> ToolError {
        ToolError::coded(kind, error(self.info.title.as_str().into()))
    }
}

/// One call of one revision.
struct SkillCall<'a> {
    skill: &'a InstalledSkill,
    revision: &'a Arc<SkillRevision>,
    context: &'a CallContext,
}

impl SkillCall<'_> {
    fn host(&self) -> &SkillHost {
        &self.skill.host
    }
}

#[async_trait]
impl ToolSource for InstalledSkill {
    fn info(&self) -> &SourceInfo {
        &self.info
    }

    fn tools(&self) -> Vec<ToolDefinition> {
        self.revision().definitions(|tool| {
            let (_, definition) = self.host.builtin(tool)?;
            Some(definition.annotations)
        })
    }

    fn state(&self) -> SourceState {
        self.revision().state()
    }

    fn unavailable(&self) -> Option<ErrorDetail> {
        let name = self.info.title.as_str().into();
        match self.state() {
            SourceState::Failed { why } => {
                let why = why.message.into();
                Some(SkillCallError::NotSetUp { name, why }.into())
            }
            _ => None,
        }
    }

    fn relevance(&self, tool: &str) -> Relevance {
        if self.revision().instructions_tool().as_deref() == Some(tool) {
            Relevance::TellsOfSource
        } else {
            Relevance::Always
        }
    }

    /// A skill's hints are trusted if its programs run in a complete sandbox, because whoever
    /// installed it was shown what it runs. Without the sandbox nothing is allowed unasked.
    fn has_trusted_hints(&self) -> bool {
        self.host.is_contained()
    }

    fn deadline(&self, tool: &str) -> Option<Duration> {
        match self.revision().tool(tool)? {
            OfferedTool::Declared(declared) => declared.timeout,
            OfferedTool::Instructions | OfferedTool::Runner => None,
        }
    }

    fn address(&self, tool: &str, input: &Value) -> Option<Url> {
        match &self.revision().declared(tool)?.run {
            SkillToolRun::Builtin { tool, arguments } => {
                let input = builtin_tool::merged(arguments, input.clone());
                self.host.builtin(tool)?.0.address(tool, &input)
            }
            SkillToolRun::Http(_) | SkillToolRun::Script(_) => None,
        }
    }

    fn wraps(&self, tool: &str) -> Option<String> {
        match &self.revision().declared(tool)?.run {
            SkillToolRun::Builtin { tool, .. } => Some(tool.clone()),
            SkillToolRun::Http(_) | SkillToolRun::Script(_) => None,
        }
    }

    async fn call(&self, tool: &str, input: Value, context: &CallContext) -> ToolResult {
        let revision = self.revision();
        let removed = || {
            failure(
                self.error(ErrorKind::Unavailable, |name| SkillCallError::Removed {
                    name,
                }),
            )
        };
        if self.removed.is_cancelled() {
            return Err(removed());
        }
        let work = async {
            revision.set_up(&self.info.title).await.map_err(failure)?;
            self.run(&revision, tool, input, context).await
        };
        tokio::select! {
            biased;
            () = self.removed.cancelled() => Err(removed()),
            result = work => result,
        }
    }
}

impl std::fmt::Debug for InstalledSkill {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("InstalledSkill")
            .field(&self.info.id)
            .finish()
    }
}
