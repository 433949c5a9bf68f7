//! Installed skills: packages of instructions and tools, in the registry as sources.
//!
//! A skill is somebody's own or the team's. What it is made of is in the store; the [`reconciler`]
//! makes what runs match that, also where another process changed it. Whoever installs a skill sees
//! first what it runs and asks for ([`Skills::preview`]); one that runs programs takes an admin.

mod error;
mod input;
mod module_packages;
mod module_view;
mod modules;
mod read_model;
mod reconciler;
mod trial;
mod values;
mod version;
mod view;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tenon_domain::{ErrorDetail, SourceId, Visibility};
use tenon_sources::skill::package::diff::diff;
use tenon_sources::skill::package::source::SkillBundle;
use tenon_sources::skill::package::{SkillPackage, SkillTool, SkillToolRun};
use tenon_sources::skill::{SetupStatus, SkillHost};
use tenon_store::{Store, StoredSkill, Vault};
use tenon_tools::Registry;
use tokio::sync::watch;

use crate::auth::CurrentUser;

pub use error::SkillFault;
pub use module_view::{
    CreateEvent, ModuleCode, ModuleFaultView, ModuleFunctionView, ModuleMeta, ModuleView,
    ModuleWarningView, NewModule, TryEvent, TryModule,
};
pub use trial::{SkillTestReport, TestedCall, TestedSkill};
pub use view::{
    RefusedSkillView, SandboxView, SkillChange, SkillCodeView, SkillDetail, SkillFileView,
    SkillInput, SkillInstall, SkillPreview, SkillPreviewItem, SkillToolKind, SkillToolView,
    SkillValueView, SkillVersionChoice, SkillVersionView, SkillView, WallView,
};

use reconciler::RunningSkill;

/// Cheap to clone.
#[derive(Clone)]
pub struct Skills(Arc<Inner>);

struct Inner {
    store: Store,
    vault: Arc<Vault>,
    registry: Arc<Registry>,
    host: Arc<SkillHost>,
    /// Where versions are as files: `ID/HASH/files`.
    folder: PathBuf,
    running: Mutex<BTreeMap<SourceId, RunningSkill>>,
    /// Skills that cannot be used, and why.
    broken: Mutex<BTreeMap<SourceId, ErrorDetail>>,
    /// How far each version is set up, by its folder.
    setups: Mutex<HashMap<PathBuf, Arc<watch::Sender<SetupStatus>>>>,
    /// Packages that were read, by hash.
    packages: Mutex<HashMap<String, Arc<SkillPackage>>>,
    /// One pass at a time: of many that are asked for at once, each sees what was stored before it.
    passes: tokio::sync::Mutex<()>,
}

impl Skills {
    /// Previews an installation without changing anything.
    pub async fn preview(
        &self,
        user: &CurrentUser,
        input: SkillInput,
    ) -> Result<SkillPreview, SkillFault> {
        let (source, _) = self.read(user, input).await?;
        let known = self.0.store.skills_of(&user.id).await?;
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

    /// Installs skills, or new versions of those that are there. They can be called when this
    /// returns, unless packages have to be installed first.
    pub async fn install(
        &self,
        user: &CurrentUser,
        install: SkillInstall,
    ) -> Result<Vec<SkillView>, SkillFault> {
        let reads_again = install.input.skill_id.clone();
        let (mut source, origin) = self.read(user, install.input).await?;
        if let Some(id) = &reads_again {
            let name = self.0.store.skill(&user.id, id).await?.name;
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
        // Check all first: a refusal in the middle would leave half of them installed.
        for bundle in &source.skills {
            self.check(user, &bundle.package, install.visibility)?;
        }
        let mut installed = Vec::new();
        for bundle in source.skills {
            let choice = InstallChoice {
                visibility: install.visibility,
                allow_network: install.allow_network,
                origin: origin.path_of(&bundle.folder),
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
        let known = self.0.store.skills_of(&user.id).await?;
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
            let updated = self.0.store.update_skill(&old.id, origin, allowed, new);
            return Ok(updated.await?);
        }
        let visibility = choice
            .visibility
            .unwrap_or_else(|| default_visibility(user));
        let new = version::new_version(bundle).await?;
        let added = self
            .0
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
                && self.0.host.builtin(builtin).is_none()
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
        let row = self.0.store.skill(&user.id, id).await?;
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
                    values::change(&self.0.vault, &mut row, &package, &mut change)?;
                }
                Ok::<_, SkillFault>(row)
            };
            self.0.store.change_skill(id, changed).await?;
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
        let row = self.0.store.skill(&user.id, id).await?;
        require_rights(user, &row)?;
        let archive = match self.0.store.skill_archive(id, hash).await {
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
        let row = self.0.store.skill(&user.id, id).await?;
        require_rights(user, &row)?;
        self.0.store.remove_skill(id).await?;
        Ok(self.sync().await?)
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
    /// Updates this skill, even if the name of the package differs.
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

/// The installed skill that a package of this name would update: one that the user may change, of
/// the chosen visibility or of any.
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

impl std::fmt::Debug for Skills {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Skills").finish_non_exhaustive()
    }
}
