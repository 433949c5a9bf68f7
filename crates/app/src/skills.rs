//! Installed skills: packages of instructions and tools, in the registry as sources.
//!
//! A skill is somebody's own or the team's. What it is made of is in the store; [`runtime`] makes
//! what runs match that, also where another process changed it. Whoever installs a skill sees first
//! what it runs and asks for ([`Skills::preview`]); one that runs programs takes an admin.

mod error;
mod input;
mod modules;
mod runtime;
mod trial;
mod values;
mod version;
mod view;

use std::sync::Arc;

use tenon_domain::{CodedError, SourceId, UserId, Visibility};
use tenon_sources::skill::SkillHost;
use tenon_sources::skill::package::diff::diff;
use tenon_sources::skill::package::source::SkillBundle;
use tenon_sources::skill::package::{SkillPackage, SkillTool, SkillToolRun};
use tenon_store::{Store, StoredSkill, Vault};
use tenon_tools::Registry;

use crate::auth::CurrentUser;

pub use error::SkillFault;
pub use trial::{SkillTestReport, TestedCall, TestedSkill};
pub use view::{
    ModuleCode, ModuleFaultView, ModuleFunctionView, ModuleView, NewModule, RefusedSkillView,
    SandboxView, SkillChange, SkillCodeView, SkillDetail, SkillFileView, SkillInput, SkillInstall,
    SkillPreview, SkillPreviewItem, SkillToolKind, SkillToolView, SkillValueView,
    SkillVersionChoice, SkillVersionView, SkillView, TryEvent, TryModule, WallView,
};

use runtime::SkillRuntime;

/// What is longer is no text that a person reads in a page.
const MAX_SHOWN_FILE_BYTES: u64 = 512 * 1024;

/// Cheap to clone.
#[derive(Clone)]
pub struct Skills {
    store: Store,
    vault: Arc<Vault>,
    registry: Arc<Registry>,
    host: Arc<SkillHost>,
    runtime: Arc<SkillRuntime>,
}

impl Skills {
    /// All that somebody sees.
    pub async fn list(&self, user: &CurrentUser) -> Result<Vec<SkillView>, SkillFault> {
        let rows = self.store.skills_of(&user.id).await?;
        let mut views = Vec::with_capacity(rows.len());
        let ids = self.tool_ids(&rows).await?;
        for row in &rows {
            // One that cannot be read does not hide the others.
            match self.package(row).await {
                Ok(package) => views.push(self.view(user, row, &package, &ids)),
                Err(error) => {
                    tracing::warn!(skill = %row.id, error = %error.detail().message, "a skill cannot be read");
                }
            }
        }
        Ok(views)
    }

    pub async fn show(&self, user: &CurrentUser, id: &SourceId) -> Result<SkillDetail, SkillFault> {
        let row = self.store.skill(&user.id, id).await?;
        self.detail(user, &row).await
    }

    /// What installing would do, without doing it.
    pub async fn preview(
        &self,
        user: &CurrentUser,
        input: SkillInput,
    ) -> Result<SkillPreview, SkillFault> {
        let (source, _) = self.read(user, input).await?;
        let known = self.store.skills_of(&user.id).await?;
        let mut skills = Vec::new();
        for bundle in source.skills {
            let package = bundle.package;
            let installed = same_name(user, &known, &package.name, None);
            let old = match installed {
                Some(row) => Some(self.package(row).await?),
                None => None,
            };
            skills.push(SkillPreviewItem {
                diff: diff(old.as_deref(), &package),
                installed: installed.map(|row| row.id.clone()),
                needs_admin: needs_admin(&package),
                name: package.name,
                title: package.title,
                description: package.description,
                version: package.version,
                folder: bundle.folder,
                hash: package.hash,
                permissions: package.permissions,
            });
        }
        let refused = source.refused.into_iter().map(RefusedSkillView::from);
        Ok(SkillPreview {
            skills,
            refused: refused.collect(),
        })
    }

    /// Installs skills, or new versions of those that are there. They can be called when this returns,
    /// unless packages have to be installed first.
    pub async fn install(
        &self,
        user: &CurrentUser,
        install: SkillInstall,
    ) -> Result<Vec<SkillView>, SkillFault> {
        let reads_again = install.input.skill_id.clone();
        let (mut source, origin) = self.read(user, install.input).await?;
        if let Some(id) = &reads_again {
            let name = self.store.skill(&user.id, id).await?.name;
            source.skills.retain(|bundle| bundle.package.name == name);
        }
        if let Some(hashes) = &install.hashes {
            let chosen = |bundle: &SkillBundle| hashes.contains(&bundle.package.hash);
            source.skills.retain(chosen);
        }
        if source.skills.is_empty() {
            return Err(match source.refused.into_iter().next() {
                Some(refused) if install.hashes.is_none() => refused.error.into(),
                _ => SkillFault::NothingChosen,
            });
        }
        // All or none: what is refused later would leave half of them.
        for bundle in &source.skills {
            self.check(user, &bundle.package, install.visibility)?;
        }
        let mut installed = Vec::new();
        for bundle in source.skills {
            let choice = InstallChoice {
                visibility: install.visibility,
                allow_network: install.allow_network,
                origin: origin.of(&bundle.folder),
                update_of: None,
            };
            installed.push(self.put(user, bundle, choice).await?);
        }
        self.sync().await?;
        let ids = self.tool_ids(&installed).await?;
        let mut views = Vec::new();
        for row in &installed {
            views.push(self.view(user, row, &*self.package(row).await?, &ids));
        }
        Ok(views)
    }

    /// Stores one version of one skill.
    async fn put(
        &self,
        user: &CurrentUser,
        bundle: SkillBundle,
        choice: InstallChoice,
    ) -> Result<StoredSkill, SkillFault> {
        let known = self.store.skills_of(&user.id).await?;
        let package = &bundle.package;
        let old = match &choice.update_of {
            Some(id) => known.iter().find(|row| row.id == *id),
            None => same_name(user, &known, &package.name, choice.visibility),
        };
        let asks = package.permissions.network;
        let agrees = choice.allow_network.unwrap_or(false) && user.administers();
        let origin = choice.origin.as_deref();
        if let Some(old) = old {
            require_rights(user, old)?;
            let allowed = asks && (agrees || old.network_allowed);
            let mut new = version::new_version(bundle).await?;
            // A skill keeps its name, whatever its new code would be called.
            new.name.clone_from(&old.name);
            let updated = self.store.update_skill(&old.id, origin, allowed, new);
            return Ok(updated.await?);
        }
        let visibility = choice
            .visibility
            .unwrap_or_else(|| default_visibility(user));
        let new = version::new_version(bundle).await?;
        let added = self
            .store
            .add_skill(&user.id, visibility, origin, asks && agrees, new);
        Ok(added.await?)
    }

    /// Whether somebody may install this.
    fn check(
        &self,
        user: &CurrentUser,
        package: &SkillPackage,
        visibility: Option<Visibility>,
    ) -> Result<(), SkillFault> {
        if needs_admin(package) && !user.administers() {
            let name = package.title.as_str().into();
            return Err(SkillFault::ProgramsForAdmins { name });
        }
        if visibility == Some(Visibility::Team) && !user.administers() {
            return Err(SkillFault::TeamForAdmins);
        }
        for tool in &package.tools {
            if let SkillToolRun::Builtin { tool: builtin, .. } = &tool.run
                && self.host.builtin(builtin).is_none()
            {
                return Err(SkillFault::NoSuchBuiltin {
                    tool: tool.name.as_str().into(),
                    builtin: builtin.as_str().into(),
                });
            }
        }
        Ok(())
    }

    pub async fn change(
        &self,
        user: &CurrentUser,
        id: &SourceId,
        mut change: SkillChange,
    ) -> Result<SkillDetail, SkillFault> {
        let row = self.store.skill(&user.id, id).await?;
        let own_settings = change.user_settings.take();
        let changes_skill = change.enabled.is_some()
            || change.visibility.is_some()
            || change.network_allowed.is_some()
            || change.variables.is_some()
            || change.settings.is_some();
        if changes_skill {
            require_rights(user, &row)?;
            if change.visibility.is_some() && !user.administers() {
                return Err(SkillFault::TeamForAdmins);
            }
            if change.network_allowed.is_some() && !user.administers() {
                return Err(SkillFault::NetworkForAdmins);
            }
            let package = self.package(&row).await?;
            let changed = |mut row: StoredSkill| {
                row.enabled = change.enabled.unwrap_or(row.enabled);
                row.visibility = change.visibility.unwrap_or(row.visibility);
                row.network_allowed = change.network_allowed.unwrap_or(row.network_allowed);
                if change.variables.is_some() || change.settings.is_some() {
                    values::change(&self.vault, &mut row, &package, &mut change)?;
                }
                Ok::<_, SkillFault>(row)
            };
            self.store.change_skill(id, changed).await?;
        }
        if let Some(settings) = own_settings {
            self.set_user_settings(user, &row, settings).await?;
        }
        self.sync().await?;
        self.show(user, id).await
    }

    /// Uses another version that is kept: going back, or forward again.
    pub async fn use_version(
        &self,
        user: &CurrentUser,
        id: &SourceId,
        hash: &str,
    ) -> Result<SkillDetail, SkillFault> {
        let row = self.store.skill(&user.id, id).await?;
        require_rights(user, &row)?;
        let archive = match self.store.skill_archive(id, hash).await {
            Err(tenon_store::Error::NotFound(_)) => return Err(SkillFault::NoSuchVersion),
            archive => archive?,
        };
        let bundle = version::unpack(archive, &row.name).await?;
        self.check(user, &bundle.package, None)?;
        let choice = InstallChoice {
            update_of: Some(id.clone()),
            ..InstallChoice::default()
        };
        self.put(user, bundle, choice).await?;
        self.sync().await?;
        self.show(user, id).await
    }

    /// Calls that run end; its files are deleted.
    pub async fn remove(&self, user: &CurrentUser, id: &SourceId) -> Result<(), SkillFault> {
        let row = self.store.skill(&user.id, id).await?;
        require_rights(user, &row)?;
        self.store.remove_skill(id).await?;
        self.sync().await
    }

    /// A file of the version that is used.
    pub async fn file(
        &self,
        user: &CurrentUser,
        id: &SourceId,
        path: &str,
    ) -> Result<SkillFileView, SkillFault> {
        let row = self.store.skill(&user.id, id).await?;
        let archive = self.store.skill_archive(id, &row.hash).await?;
        let bundle = version::unpack(archive, &row.name).await?;
        let file = bundle
            .files
            .get(path)
            .ok_or_else(|| SkillFault::NoSuchFile { file: path.into() })?;
        let bytes = file.bytes.len() as u64;
        let text = Some(file.bytes.clone()).filter(|_| bytes <= MAX_SHOWN_FILE_BYTES);
        Ok(SkillFileView {
            path: path.to_owned(),
            text: text.and_then(|bytes| String::from_utf8(bytes).ok()),
            bytes,
        })
    }

    /// The walls that programs of skills have around them here.
    pub async fn sandbox(&self) -> SandboxView {
        match self.host.support().await {
            Ok(support) => SandboxView {
                walls: support
                    .walls()
                    .into_iter()
                    .map(|status| WallView {
                        wall: status.wall,
                        strength: status.strength,
                    })
                    .collect(),
                why: None,
            },
            Err(error) => SandboxView {
                walls: Vec::new(),
                why: Some(error.to_string()),
            },
        }
    }

    /// Makes what runs match what is stored.
    pub async fn sync(&self) -> Result<(), SkillFault> {
        Ok(self.runtime.sync(self).await?)
    }

    /// Waits until no skill is being set up any more; each new line of progress is told.
    pub async fn settled(
        &self,
        id: &SourceId,
        mut on_progress: impl FnMut(&str),
    ) -> tenon_domain::SourceState {
        self.runtime.settled(id, &mut on_progress).await
    }

    async fn detail(
        &self,
        user: &CurrentUser,
        row: &StoredSkill,
    ) -> Result<SkillDetail, SkillFault> {
        let package = self.package(row).await?;
        let ids = self.tool_ids(std::slice::from_ref(row)).await?;
        let versions = self.store.skill_versions(&row.id).await?.into_iter();
        let versions = versions.map(|version| SkillVersionView {
            current: version.hash == row.hash,
            hash: version.hash,
            version: version.version,
            installed_at: version.installed_at,
        });
        let values = values::open(&self.vault, row)?;
        Ok(SkillDetail {
            skill: self.view(user, row, &package, &ids),
            instructions: package.body.clone(),
            license: package.license.clone(),
            compatibility: package.compatibility.clone(),
            author: package.author.clone(),
            files: package.files.clone(),
            versions: versions.collect(),
            values: values.views(&package),
            settings: package.settings.clone(),
            // They may be secret, and are everybody's.
            setting_values: if require_rights(user, row).is_ok() {
                values.settings
            } else {
                Default::default()
            },
            user_settings: package.user_settings.clone(),
            user_setting_values: self.user_settings(&row.id, &user.id).await?,
        })
    }
}

/// Whether it runs something on the server: a program, or a built-in tool, which an admin may have
/// denied to whoever installs it.
fn needs_admin(package: &SkillPackage) -> bool {
    let is_builtin = |tool: &SkillTool| matches!(tool.run, SkillToolRun::Builtin { .. });
    package.permissions.runs_programs() || package.tools.iter().any(is_builtin)
}

/// How one skill is to be stored.
#[derive(Debug, Default)]
struct InstallChoice {
    visibility: Option<Visibility>,
    allow_network: Option<bool>,
    origin: Option<String>,
    /// Of this skill, whatever the package is called.
    update_of: Option<SourceId>,
}

/// Skills of an admin are everybody's, as servers are.
fn default_visibility(user: &CurrentUser) -> Visibility {
    if user.administers() {
        Visibility::Team
    } else {
        Visibility::Private
    }
}

/// What a package of this name would be a new version of: what somebody may change, of the
/// visibility that they chose, or of any.
fn same_name<'a>(
    user: &CurrentUser,
    known: &'a [StoredSkill],
    name: &str,
    visibility: Option<Visibility>,
) -> Option<&'a StoredSkill> {
    let same = known
        .iter()
        .filter(|row| row.name == name && require_rights(user, row).is_ok())
        .filter(|row| visibility.is_none_or(|visibility| row.visibility == visibility));
    let preferred = default_visibility(user);
    same.min_by_key(|row| row.visibility != preferred)
}

/// Refuses whoever may not change it.
fn require_rights(user: &CurrentUser, row: &StoredSkill) -> Result<(), SkillFault> {
    let is_owner = row.owner.as_ref() == Some(&user.id) && user.has_full_access();
    let is_admins = row.visibility == Visibility::Team && user.administers();
    if is_admins || (is_owner && row.visibility == Visibility::Private) {
        return Ok(());
    }
    Err(SkillFault::NotYours)
}

fn is_of(user: &UserId, row: &StoredSkill) -> bool {
    row.owner.as_ref() == Some(user)
}

impl std::fmt::Debug for Skills {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Skills").finish_non_exhaustive()
    }
}
