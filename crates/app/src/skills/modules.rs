//! Tools that people write in the page, or bring from Open WebUI: a module that becomes a skill.

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::Stream;
use sha2::{Digest, Sha256};
use tenon_domain::text::hex;
use tenon_domain::{CodedError, SourceId, Visibility};
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
        let language = check_code(user, &code)?;
        let description = self.describe_installed(user, language, &code.code).await?;
        Ok(ModuleView::new(language, description))
    }

    /// Calls a tool of code that is not installed.
    pub fn try_code(
        &self,
        user: &CurrentUser,
        trial: TryModule,
    ) -> Result<impl Stream<Item = TryEvent> + Send + use<>, SkillFault> {
        let language = check_code(user, &trial.module)?;
        let (sender, mut receiver) = mpsc::channel(EVENT_QUEUE);
        let (skills, user) = (self.clone(), user.clone());
        let task = tokio::spawn(async move {
            let send = |event: TryEvent| {
                let is_last = matches!(event, TryEvent::Result { .. } | TryEvent::Error { .. });
                // A page that does not read misses lines, and never the end.
                if is_last || sender.capacity() > 1 {
                    let _ = sender.try_send(event);
                }
            };
            let tell = |line: String| send(TryEvent::Line { line });
            let code = &trial.module.code;
            let installed = skills.install_and_describe(&user, language, code, tell);
            let packages = match installed.await {
                Ok((_, packages)) => packages,
                Err(fault) => {
                    let detail = fault.detail();
                    return send(TryEvent::Error {
                        message: detail.message.clone(),
                        detail: Some(detail),
                        line: None,
                        duration_ms: 0,
                    });
                }
            };
            let trial = ModuleTrial {
                user: user.id,
                language,
                code: trial.module.code,
                tool: trial.tool,
                arguments: trial.arguments,
                settings: trial.settings.unwrap_or_default(),
                packages,
            };
            let host = skills.0.host.clone();
            host.try_module(trial, |event| send(event.into())).await;
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
        let language = check_code(user, &new.module)?;
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
        let mut description = self
            .install_and_describe(user, language, &new.module.code, |_| {})
            .await?
            .0;
        description.description = description
            .description
            .or_else(|| new.meta.and_then(|meta| meta.description));
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

    /// Deletes the packages of code that nobody has tried for long.
    pub async fn delete_unused_packages(&self) {
        SkillHost::delete_unused_packages(self.all_packages()).await;
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

    /// What code has, with the packages that were installed for it where that was done before.
    async fn describe_installed(
        &self,
        user: &CurrentUser,
        language: ModuleLanguage,
        code: &str,
    ) -> Result<ModuleDescription, SkillFault> {
        let mut description = self.describe_code(user, language, code, None).await?;
        description.require_usual_packages();
        let (folder, requirements) = self.packages_of(language, &description);
        if requirements.is_empty() || !SkillHost::is_set_up(&folder, &requirements) {
            return Ok(description);
        }
        self.describe_with(user, (language, code), description, &folder)
            .await
    }

    /// The same with its packages, which are installed where they are not, and the folder that has
    /// them. No package mends code that is wrong in another way.
    async fn install_and_describe(
        &self,
        user: &CurrentUser,
        language: ModuleLanguage,
        code: &str,
        tell: impl Fn(String),
    ) -> Result<(ModuleDescription, Option<PathBuf>), SkillFault> {
        let mut description = self.describe_code(user, language, code, None).await?;
        let fault = description.error.as_ref().map(|fault| fault.kind);
        if !matches!(fault, None | Some(ModuleFaultKind::MissingModule)) {
            return Ok((description, None));
        }
        description.require_usual_packages();
        let (folder, requirements) = self.packages_of(language, &description);
        if requirements.is_empty() {
            return Ok((description, None));
        }
        self.set_up_packages(&folder, &requirements, tell).await?;
        let described = self.describe_with(user, (language, code), description, &folder);
        Ok((described.await?, Some(folder)))
    }

    /// `before` is what code says without its packages.
    async fn describe_with(
        &self,
        user: &CurrentUser,
        (language, code): (ModuleLanguage, &str),
        before: ModuleDescription,
        packages: &Path,
    ) -> Result<ModuleDescription, SkillFault> {
        let description = self.describe_code(user, language, code, Some(packages));
        Ok(ModuleDescription {
            requirements: before.requirements,
            ..description.await?
        })
    }

    async fn set_up_packages(
        &self,
        folder: &Path,
        requirements: &Requirements,
        tell: impl Fn(String),
    ) -> Result<(), SkillFault> {
        let files = |error: std::io::Error| SkillFault::Files {
            why: error.to_string().into(),
        };
        tokio::fs::create_dir_all(folder).await.map_err(files)?;
        let progress = String::new();
        let status = watch::Sender::new(SetupStatus::Running { progress });
        let mut changes = status.subscribe();
        let setting_up = self.0.host.set_up(folder, requirements, &status);
        let mut setting_up = std::pin::pin!(setting_up);
        loop {
            tokio::select! {
                () = &mut setting_up => break,
                Ok(()) = changes.changed() => {
                    if let SetupStatus::Running { progress } = &*changes.borrow_and_update() {
                        tell(progress.clone());
                    }
                }
            }
        }
        match &*status.borrow() {
            SetupStatus::Failed(why) => Err(SkillFault::Host(why.clone())),
            SetupStatus::Ready | SetupStatus::Running { .. } => Ok(()),
        }
    }

    /// The folder for the packages of a module that is not installed, and what belongs there.
    fn packages_of(
        &self,
        language: ModuleLanguage,
        description: &ModuleDescription,
    ) -> (PathBuf, Requirements) {
        let mut requirements = Requirements::default();
        let (packages, name) = match language {
            ModuleLanguage::Python => (&mut requirements.python, "python"),
            ModuleLanguage::Node => (&mut requirements.node, "node"),
        };
        packages.clone_from(&description.requirements);
        let hash = hex(&Sha256::digest(packages.join("\n"))[..8]);
        let folder = self.all_packages().join(format!("{name}-{hash}"));
        (folder, requirements)
    }

    fn all_packages(&self) -> PathBuf {
        self.0.folder.join("packages")
    }
}

/// The language of code that somebody may run.
fn check_code(user: &CurrentUser, code: &ModuleCode) -> Result<ModuleLanguage, SkillFault> {
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
        let millis = |took: Duration| u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
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
                detail: None,
                line,
                duration_ms: millis(took),
            },
        }
    }
}
