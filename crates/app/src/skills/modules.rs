//! Tools that people write in the page, or bring from Open WebUI: a module that becomes a skill.

use std::time::Duration;

use futures::Stream;
use tenon_domain::{CodedError, SourceId, Visibility};
use tenon_sources::skill::package::SkillPackage;
use tenon_sources::skill::package::script::ModuleLanguage;
use tenon_sources::skill::package::source::SkillBundle;
use tenon_sources::skill::{ModuleTrial, TrialEvent};
use tokio::sync::mpsc;

use super::module_view::{CreateEvent, ModuleCode, ModuleView, NewModule, TryEvent, TryModule};
use super::view::{SkillDetail, SkillView};
use super::{InstallChoice, SkillFault, Skills, require_rights};
use crate::auth::CurrentUser;

/// Far longer than a tool that somebody wrote.
const MAX_CODE_BYTES: usize = 1024 * 1024;

/// How many events of a trial, or of an installation, may wait for a page that reads slowly.
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
        // Whoever saves it with the network may try it so.
        let network = trial.allow_network.unwrap_or(false) && user.administers();
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
                network,
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
        let language = check_new(user, &new)?;
        let prepared = self.prepare(user, language, new, |_| {}).await?;
        self.save(user, prepared).await
    }

    /// Creates a skill and streams its progress, because packages may take minutes. Disconnecting
    /// before they are installed saves nothing. `note` is called once it is saved.
    pub fn create_streamed<Note, Noting>(
        &self,
        user: &CurrentUser,
        new: NewModule,
        note: Note,
    ) -> Result<impl Stream<Item = CreateEvent> + Send + use<Note, Noting>, SkillFault>
    where
        Note: FnOnce(SkillView) -> Noting + Send + 'static,
        Noting: Future<Output = ()> + Send + 'static,
    {
        let language = check_new(user, &new)?;
        let (sender, mut receiver) = mpsc::channel(EVENT_QUEUE);
        let (skills, user) = (self.clone(), user.clone());
        tokio::spawn(async move {
            let tell = |line: String| {
                // A page that does not read misses lines, and never the end.
                if sender.capacity() > 1 {
                    let _ = sender.try_send(CreateEvent::Line { line });
                }
            };
            let prepared = tokio::select! {
                prepared = skills.prepare(&user, language, new, tell) => prepared,
                () = sender.closed() => return,
            };
            let saved = match prepared {
                Ok(prepared) => skills.save(&user, prepared).await,
                Err(fault) => Err(fault),
            };
            let end = match saved {
                Ok(detail) => {
                    note(detail.skill.clone()).await;
                    let skill = Box::new(detail);
                    CreateEvent::Created { skill }
                }
                Err(fault) => CreateEvent::Error {
                    detail: fault.detail(),
                },
            };
            let _ = sender.try_send(end);
        });
        Ok(futures::stream::poll_fn(move |context| {
            receiver.poll_recv(context)
        }))
    }

    /// The files of a skill that code becomes, with the packages installed that tell what it has.
    async fn prepare(
        &self,
        user: &CurrentUser,
        language: ModuleLanguage,
        new: NewModule,
        tell: impl Fn(String),
    ) -> Result<(SkillBundle, InstallChoice), SkillFault> {
        let former = match &new.skill_id {
            Some(id) => {
                let row = self.0.store.skill(&user.id, id).await?;
                require_rights(user, &row)?;
                Some(row)
            }
            None => None,
        };
        let code = &new.module.code;
        let described = self.install_and_describe(user, language, code, tell);
        let mut description = described.await?.0;
        description.description = description
            .description
            .or_else(|| new.meta.and_then(|meta| meta.description));
        let name = new.name.as_deref().map(str::trim);
        let title = former.as_ref().map(|row| row.title.as_str());
        let name = name.filter(|name| !name.is_empty()).or(title);
        let files =
            description
                .package(language, name, code)
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
        Ok((bundle, choice))
    }

    async fn save(
        &self,
        user: &CurrentUser,
        (bundle, choice): (SkillBundle, InstallChoice),
    ) -> Result<SkillDetail, SkillFault> {
        let row = self.put(user, bundle, choice).await?;
        self.sync().await?;
        self.show(user, &SourceId::clone(&row.id)).await
    }
}

/// The language of code that somebody may save as they ask.
fn check_new(user: &CurrentUser, new: &NewModule) -> Result<ModuleLanguage, SkillFault> {
    let language = check_code(user, &new.module)?;
    if new.visibility == Some(Visibility::Team) && !user.administers() {
        return Err(SkillFault::TeamForAdmins);
    }
    Ok(language)
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
