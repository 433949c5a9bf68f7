//! Tools that people write in the page, or bring from Open WebUI: a module that becomes a skill.

use std::path::Path;

use futures::Stream;
use tenon_domain::{SourceId, Visibility};
use tenon_sources::skill::package::SkillPackage;
use tenon_sources::skill::package::module::{ModuleDescription, ModuleFaultKind};
use tenon_sources::skill::package::requirements::Requirements;
use tenon_sources::skill::package::script::ModuleLanguage;
use tenon_sources::skill::package::source::SkillBundle;
use tenon_sources::skill::{ModuleTrial, SetupStatus, SkillHost, TrialEvent};
use tokio::sync::{mpsc, watch};

use super::module_view::{ModuleCode, ModuleView, NewModule, TryEvent, TryModule};
use super::view::SkillDetail;
use super::{InstallChoice, SkillFault, Skills, require_rights};
use crate::auth::CurrentUser;

/// Far longer than a tool that somebody wrote.
const MAX_CODE_BYTES: usize = 1024 * 1024;

/// How many events of a trial may wait for a page that reads slowly.
const EVENT_QUEUE: usize = 256;

impl Skills {
    /// Which tools code has. Only an admin runs code on the server.
    pub async fn describe(
        &self,
        user: &CurrentUser,
        code: ModuleCode,
    ) -> Result<ModuleView, SkillFault> {
        let language = checked(user, &code)?;
        let description = self.describe_code(user, language, &code.code, None).await?;
        Ok(ModuleView::new(language, description))
    }

    /// Calls a tool of code that is not installed.
    pub fn try_code(
        &self,
        user: &CurrentUser,
        trial: TryModule,
    ) -> Result<impl Stream<Item = TryEvent> + Send + use<>, SkillFault> {
        let language = checked(user, &trial.module)?;
        let trial = ModuleTrial {
            user: user.id.clone(),
            language,
            code: trial.module.code,
            tool: trial.tool,
            arguments: trial.arguments,
            settings: trial.settings.unwrap_or_default(),
        };
        let (sender, mut receiver) = mpsc::channel(EVENT_QUEUE);
        let host = self.0.host.clone();
        let task = tokio::spawn(async move {
            let send = |event: TrialEvent| {
                let is_last = matches!(event, TrialEvent::Result { .. } | TrialEvent::Error { .. });
                // A page that does not read misses lines, and never the end.
                if is_last || sender.capacity() > 1 {
                    let _ = sender.try_send(TryEvent::from(event));
                }
            };
            host.try_module(trial, send).await;
        });
        let stops = AbortOnDrop(task.abort_handle());
        Ok(futures::stream::poll_fn(move |context| {
            let _stops = &stops;
            receiver.poll_recv(context)
        }))
    }

    /// Makes a skill of code, or its next version.
    pub async fn create(
        &self,
        user: &CurrentUser,
        new: NewModule,
    ) -> Result<SkillDetail, SkillFault> {
        let language = checked(user, &new.module)?;
        if new.visibility == Some(Visibility::Team) && !user.administers() {
            return Err(SkillFault::TeamForAdmins);
        }
        let former = match &new.skill_id {
            Some(id) => {
                let row = self.0.store.skill(&user.id, id).await?;
                require_rights(user, &row)?;
                Some(row)
            }
            None => None,
        };
        let description = self.described(user, language, &new.module.code).await?;
        let name = new.name.as_deref().map(str::trim);
        let title = former.as_ref().map(|row| row.title.as_str());
        let name = name.filter(|name| !name.is_empty()).or(title);
        let files = description
            .package(language, name, &new.module.code)
            .map_err(|error| SkillFault::Code {
                why: error.to_string().into(),
            })?;
        let package = SkillPackage::read(&files, None)?;
        let bundle = SkillBundle {
            folder: String::new(),
            package,
            files,
        };
        let choice = InstallChoice {
            visibility: new.visibility,
            allow_network: new.allow_network,
            origin: None,
            update_of: new.skill_id,
        };
        let row = self.put(user, bundle, choice).await?;
        self.sync().await?;
        self.show(user, &SourceId::clone(&row.id)).await
    }

    async fn describe_code(
        &self,
        user: &CurrentUser,
        language: ModuleLanguage,
        code: &str,
        packages: Option<&Path>,
    ) -> Result<ModuleDescription, SkillFault> {
        let described = self.0.host.describe(&user.id, (language, code), packages);
        Ok(described.await?)
    }

    /// The description of code, with its packages installed where it cannot be loaded without them.
    async fn described(
        &self,
        user: &CurrentUser,
        language: ModuleLanguage,
        code: &str,
    ) -> Result<ModuleDescription, SkillFault> {
        let description = self.describe_code(user, language, code, None).await?;
        let is_missing = |description: &ModuleDescription| {
            let fault = description.error.as_ref();
            fault.is_some_and(|fault| fault.kind == ModuleFaultKind::MissingModule)
        };
        if description.requirements.is_empty() || !is_missing(&description) {
            return Ok(description);
        }
        let mut requirements = Requirements::default();
        match language {
            ModuleLanguage::Python => requirements.python = description.requirements.clone(),
            ModuleLanguage::Node => requirements.node = description.requirements.clone(),
        }
        let folder = tempfile::tempdir().map_err(|error| SkillFault::Files {
            why: error.to_string().into(),
        })?;
        let progress = String::new();
        let status = watch::Sender::new(SetupStatus::Running { progress });
        SkillHost::set_up(&self.0.host, folder.path(), &requirements, &status).await;
        if let SetupStatus::Failed(why) = &*status.borrow() {
            let why = why.message.as_str().into();
            return Err(SkillFault::Code { why });
        }
        let packages = Some(folder.path());
        self.describe_code(user, language, code, packages).await
    }
}

/// The language of code that somebody may run.
fn checked(user: &CurrentUser, code: &ModuleCode) -> Result<ModuleLanguage, SkillFault> {
    if !user.administers() {
        let name = "What you write here".into();
        return Err(SkillFault::ProgramsForAdmins { name });
    }
    if code.code.len() > MAX_CODE_BYTES {
        let max = MAX_CODE_BYTES;
        return Err(SkillFault::CodeTooLong { max });
    }
    let guessed = || {
        let mut lines = code.code.lines().map(str::trim_start);
        lines.find_map(|line| {
            let is_node = ["export ", "const ", "function ", "async function "]
                .iter()
                .any(|start| line.starts_with(start));
            let is_python = ["class ", "def ", "async def ", "from "]
                .iter()
                .any(|start| line.starts_with(start));
            match (is_python, is_node) {
                (true, _) => Some(ModuleLanguage::Python),
                (_, true) => Some(ModuleLanguage::Node),
                _ => None,
            }
        })
    };
    code.language.or_else(guessed).ok_or(SkillFault::Language)
}

struct AbortOnDrop(tokio::task::AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl From<TrialEvent> for TryEvent {
    fn from(event: TrialEvent) -> Self {
        let millis =
            |took: std::time::Duration| u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        match event {
            TrialEvent::Line(line) => Self::Line { line },
            TrialEvent::Event(event) => Self::Event { event },
            TrialEvent::Result { value, took } => Self::Result {
                result: value,
                duration_ms: millis(took),
            },
            TrialEvent::Error {
                message,
                line,
                took,
            } => Self::Error {
                message,
                line,
                duration_ms: millis(took),
            },
        }
    }
}
