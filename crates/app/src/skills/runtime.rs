//! Skills that are in the registry, made to match what is stored.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};

use tenon_domain::{CodedError, SourceId, SourceState};
use tenon_sources::skill::package::{SkillPackage, SkillToolRun, diff};
use tenon_sources::skill::{InstalledSkill, SetupStatus, SkillHost, SkillRevision};
use tenon_store::{ChangeTopic, LOCAL, Store, StoredSkill, Vault};
use tenon_tools::{Connection, Registry, ToolSource};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::values::{self, StoredUserSettings};
use super::version;
use super::view::{SkillCodeView, SkillToolKind, SkillToolView, SkillView};
use super::{SkillFault, Skills, is_of, require_rights};
use crate::auth::CurrentUser;
use crate::lock::lock;
use tenon_domain::ToolId;
use tenon_sources::skill::package::script::SkillScript;

/// Ids of tools, by skill and native name.
pub(super) type ToolIds = HashMap<(SourceId, String), ToolId>;

pub(super) struct SkillRuntime {
    /// Where versions are as files: `ID/HASH/files`.
    folder: PathBuf,
    running: Mutex<BTreeMap<SourceId, RunningSkill>>,
    /// Skills whose files cannot be used, and why.
    broken: Mutex<BTreeMap<SourceId, tenon_domain::ErrorDetail>>,
    /// How far each version is set up, by its folder.
    setups: Mutex<HashMap<PathBuf, Arc<watch::Sender<SetupStatus>>>>,
    /// Packages that were read, by hash.
    packages: Mutex<HashMap<String, Arc<SkillPackage>>>,
    /// One pass at a time: of many that are asked for at once, each sees what was stored before it.
    passes: tokio::sync::Mutex<()>,
    _stops_following: DropGuard,
}

struct RunningSkill {
    row: StoredSkill,
    is_trusted: bool,
    source: Arc<InstalledSkill>,
    /// Keeps it in the registry.
    _connection: Connection,
}

impl Skills {
    /// With what is stored, in the registry when this returns. What another process changes follows.
    pub(crate) async fn open(
        (store, vault): (Store, Arc<Vault>),
        registry: Arc<Registry>,
        folder: PathBuf,
        builtin: Vec<Arc<dyn ToolSource>>,
    ) -> Result<Self, SkillFault> {
        let user_settings = Arc::new(StoredUserSettings {
            store: store.clone(),
            vault: vault.clone(),
        });
        let sandbox = tenon_sources::skill::Sandbox::current_exe();
        let runners = folder.join("runners");
        let host = SkillHost::new(sandbox, runners, builtin, user_settings);
        let dropped = CancellationToken::new();
        let runtime = SkillRuntime {
            folder,
            running: Mutex::default(),
            broken: Mutex::default(),
            setups: Mutex::default(),
            packages: Mutex::default(),
            passes: tokio::sync::Mutex::default(),
            _stops_following: dropped.clone().drop_guard(),
        };
        let skills = Self {
            store,
            vault,
            registry,
            host: Arc::new(host),
            runtime: Arc::new(runtime),
        };
        skills.sync().await?;
        tokio::spawn(follow(
            skills.clone(),
            Arc::downgrade(&skills.runtime),
            dropped,
        ));
        Ok(skills)
    }

    /// The package of the version that a skill uses.
    pub(super) async fn package(&self, row: &StoredSkill) -> Result<Arc<SkillPackage>, SkillFault> {
        if let Some(package) = lock(&self.runtime.packages).get(&row.hash) {
            return Ok(package.clone());
        }
        let archive = self.store.skill_archive(&row.id, &row.hash).await?;
        let bundle = version::unpack(archive, &row.name).await?;
        let package = Arc::new(bundle.package);
        lock(&self.runtime.packages).insert(row.hash.clone(), package.clone());
        Ok(package)
    }

    pub(super) async fn tool_ids(&self, rows: &[StoredSkill]) -> Result<ToolIds, SkillFault> {
        let ids: Vec<&SourceId> = rows.iter().map(|row| &row.id).collect();
        Ok(self.store.tool_ids_of(&ids).await?)
    }

    pub(super) fn view(
        &self,
        user: &CurrentUser,
        row: &StoredSkill,
        package: &SkillPackage,
        ids: &ToolIds,
    ) -> SkillView {
        let running = lock(&self.runtime.running);
        let revision = running.get(&row.id).map(|skill| skill.source.revision());
        drop(running);
        let broken = lock(&self.runtime.broken).get(&row.id).cloned();
        let state = match (&revision, broken) {
            (_, Some(why)) => SourceState::Failed { why },
            (Some(revision), None) => revision.state(),
            (None, None) if row.enabled => SourceState::Starting,
            (None, None) => SourceState::Off,
        };
        let progress = revision
            .as_ref()
            .and_then(|revision| match &*revision.setup.borrow() {
                SetupStatus::Running { progress } => Some(progress.clone()),
                SetupStatus::Ready | SetupStatus::Failed(_) => None,
            });
        let tools = tool_views(row, package, revision.as_deref(), ids);
        let uses = |tool: &&SkillToolView| tool.kind == SkillToolKind::Instructions;
        SkillView {
            id: row.id.clone(),
            name: row.name.clone(),
            title: row.title.clone(),
            description: package.description.clone(),
            version: package.version.clone(),
            hash: row.hash.clone(),
            visibility: row.visibility,
            mine: is_of(&user.id, row),
            can_change: require_rights(user, row).is_ok(),
            enabled: row.enabled,
            state,
            progress: progress.filter(|progress| !progress.is_empty()),
            use_tool_id: tools.iter().find(uses).map(|tool| tool.tool_id.clone()),
            tools,
            permissions: package.permissions.clone(),
            network_allowed: row.network_allowed,
            origin: row.origin.clone().filter(|_| user.administers()),
            code: version::only_module(package).and_then(|(script, file)| match script {
                SkillScript::Module { language, .. } => Some(SkillCodeView {
                    language: *language,
                    file: file.to_owned(),
                }),
                SkillScript::Command(_) => None,
            }),
        }
    }
}

fn tool_views(
    row: &StoredSkill,
    package: &SkillPackage,
    revision: Option<&SkillRevision>,
    ids: &ToolIds,
) -> Vec<SkillToolView> {
    let id = |name: &str| ids.get(&(row.id.clone(), name.to_owned())).cloned();
    let declared = package.tools.iter().filter_map(|tool| {
        Some(SkillToolView {
            tool_id: id(&tool.name)?,
            name: tool.name.clone(),
            title: tool.title.clone().unwrap_or_else(|| tool.name.clone()),
            description: tool.description.clone(),
            kind: match &tool.run {
                SkillToolRun::Http(_) => SkillToolKind::Http,
                SkillToolRun::Script(_) => SkillToolKind::Script,
                SkillToolRun::Builtin { .. } => SkillToolKind::Builtin,
            },
            target: diff::target(&tool.run),
            parameters: tool.parameters.clone(),
        })
    });
    let own = [
        (
            revision.and_then(SkillRevision::instructions_tool),
            SkillToolKind::Instructions,
        ),
        (
            revision.and_then(SkillRevision::runner_tool),
            SkillToolKind::Runner,
        ),
    ];
    let own = own.into_iter().filter_map(|(name, kind)| {
        let name = name?;
        Some(SkillToolView {
            tool_id: id(&name)?,
            title: name.clone(),
            name,
            description: String::new(),
            kind,
            target: String::new(),
            parameters: serde_json::Value::Null,
        })
    });
    declared.chain(own).collect()
}

impl SkillRuntime {
    pub(super) async fn sync(&self, skills: &Skills) -> tenon_store::Result<()> {
        let _pass = self.passes.lock().await;
        let rows = skills.store.skills().await?;
        if rows.is_empty() && lock(&self.running).is_empty() {
            return Ok(());
        }
        // Whether hints of skills can be trusted depends on the walls.
        let _ = skills.host.support().await;
        let gone: Vec<SourceId> = {
            let running = lock(&self.running);
            let is_gone = |id: &&SourceId| !rows.iter().any(|row| row.id == **id && row.enabled);
            running.keys().filter(is_gone).cloned().collect()
        };
        for id in gone {
            if let Some(removed) = lock(&self.running).remove(&id) {
                removed.source.remove();
            }
            if !rows.iter().any(|row| row.id == id) {
                self.delete_files(&id).await;
            }
        }
        let is_used = |hash: &String| rows.iter().any(|row| row.hash == *hash);
        lock(&self.packages).retain(|hash, _| is_used(hash));
        lock(&self.broken).clear();
        for row in rows.into_iter().filter(|row| row.enabled) {
            let id = row.id.clone();
            if let Err(error) = self.apply(skills, row).await {
                tracing::warn!(skill = %id, error = %error.detail().message, "a skill cannot be used");
                lock(&self.broken).insert(id, error.detail());
            }
        }
        Ok(())
    }

    /// Makes one run as it is stored.
    async fn apply(&self, skills: &Skills, row: StoredSkill) -> Result<(), SkillFault> {
        let is_trusted = is_trusted(&skills.store, &row).await?;
        let is_same =
            |running: &RunningSkill| running.row == row && running.is_trusted == is_trusted;
        if lock(&self.running).get(&row.id).is_some_and(is_same) {
            return Ok(());
        }
        let revision = Arc::new(self.load(skills, &row, is_trusted).await?);
        let info = row.source();
        let current = {
            let running = lock(&self.running);
            let same_place = running
                .get(&row.id)
                .filter(|running| *running.source.info() == info);
            same_place.map(|running| running.source.clone())
        };
        let source = current.unwrap_or_else(|| {
            Arc::new(InstalledSkill::new(
                info,
                skills.host.clone(),
                revision.clone(),
            ))
        });
        source.update(revision.clone());
        let unlisted = |error: tenon_tools::Error| SkillFault::Files {
            why: error.to_string().into(),
        };
        // Connected anew, so that one swap replaces all of its tools.
        let connection = skills
            .registry
            .connect(source.clone())
            .await
            .map_err(unlisted)?;
        let running = RunningSkill {
            row: row.clone(),
            is_trusted,
            source,
            _connection: connection,
        };
        let before = lock(&self.running).insert(row.id, running);
        // Toolsets that were made before still hold it where its title or owner has changed.
        if let Some(before) = before {
            before.source.update(revision);
        }
        Ok(())
    }

    async fn load(
        &self,
        skills: &Skills,
        row: &StoredSkill,
        is_trusted: bool,
    ) -> Result<SkillRevision, SkillFault> {
        let folder = self.folder.join(&row.id.0).join(&row.hash);
        let is_written = folder.join("files").is_dir();
        let known = lock(&self.packages).get(&row.hash).cloned();
        let package = match known.filter(|_| is_written) {
            Some(package) => package,
            None => {
                let archive = skills.store.skill_archive(&row.id, &row.hash).await?;
                let bundle = version::unpack(archive, &row.name).await?;
                version::write(bundle.files, &folder).await?;
                let package = Arc::new(bundle.package);
                lock(&self.packages).insert(row.hash.clone(), package.clone());
                package
            }
        };
        let values = values::open(&skills.vault, row)?.complete(&package);
        Ok(SkillRevision {
            network: package.permissions.network && row.network_allowed,
            setup: self.setup(skills, &folder, &package),
            package: SkillPackage::clone(&package),
            folder,
            values,
            is_trusted,
        })
    }

    /// Begins to install the packages of a version, unless that is done or under way.
    fn setup(
        &self,
        skills: &Skills,
        folder: &Path,
        package: &Arc<SkillPackage>,
    ) -> Arc<watch::Sender<SetupStatus>> {
        let mut setups = lock(&self.setups);
        if let Some(known) = setups.get(folder)
            && !matches!(&*known.borrow(), SetupStatus::Failed(_))
        {
            return known.clone();
        }
        let requirements = package.permissions.requirements.clone();
        if SkillHost::is_set_up(folder, &requirements) {
            let ready = Arc::new(watch::Sender::new(SetupStatus::Ready));
            setups.insert(folder.to_owned(), ready.clone());
            return ready;
        }
        let progress = String::new();
        let status = Arc::new(watch::Sender::new(SetupStatus::Running { progress }));
        setups.insert(folder.to_owned(), status.clone());
        drop(setups);
        let (host, folder, told) = (skills.host.clone(), folder.to_owned(), status.clone());
        tokio::spawn(async move { host.set_up(&folder, &requirements, &told).await });
        status
    }

    pub(super) async fn settled(
        &self,
        id: &SourceId,
        on_progress: &mut impl FnMut(&str),
    ) -> SourceState {
        let revision = {
            let running = lock(&self.running);
            running.get(id).map(|skill| skill.source.revision())
        };
        let Some(revision) = revision else {
            let why = lock(&self.broken).get(id).cloned();
            return why.map_or(SourceState::Off, |why| SourceState::Failed { why });
        };
        let mut status = revision.setup.subscribe();
        loop {
            match &*status.borrow_and_update() {
                SetupStatus::Running { progress } if progress.is_empty() => {}
                SetupStatus::Running { progress } => on_progress(progress),
                SetupStatus::Ready | SetupStatus::Failed(_) => return revision.state(),
            }
            if status.changed().await.is_err() {
                return revision.state();
            }
        }
    }

    async fn delete_files(&self, id: &SourceId) {
        let folder = self.folder.join(&id.0);
        lock(&self.setups).retain(|known, _| !known.starts_with(&folder));
        if let Err(error) = tokio::fs::remove_dir_all(&folder).await
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(folder = %folder.display(), %error, "the files of a removed skill are still there");
        }
    }
}

/// Whether an admin installed it, or it is the team's.
async fn is_trusted(store: &Store, row: &StoredSkill) -> tenon_store::Result<bool> {
    let Some(owner) = &row.owner else {
        return Ok(true);
    };
    if owner.as_str() == LOCAL {
        return Ok(true);
    }
    let account = store.active_user(owner).await?;
    Ok(account.is_some_and(|account| account.role.is_admin()))
}

/// Follows what other processes change, until the last handle is dropped.
async fn follow(skills: Skills, runtime: Weak<SkillRuntime>, dropped: CancellationToken) {
    let mut changes = skills.store.subscribe();
    let (store, vault, registry, host) = (
        skills.store.clone(),
        skills.vault.clone(),
        skills.registry.clone(),
        skills.host.clone(),
    );
    drop(skills);
    let mut seen = None;
    loop {
        let change = tokio::select! {
            change = changes.recv() => change,
            () = dropped.cancelled() => return,
        };
        match change {
            Ok(change) if change.topic() != ChangeTopic::Skills => continue,
            Ok(_) | Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
        let Some(runtime) = runtime.upgrade() else {
            return;
        };
        let version = store.version(ChangeTopic::Skills);
        if version.is_some() && version == seen {
            continue;
        }
        seen = version;
        let skills = Skills {
            store: store.clone(),
            vault: vault.clone(),
            registry: registry.clone(),
            host: host.clone(),
            runtime,
        };
        if let Err(error) = skills.sync().await {
            tracing::warn!(error = %error.detail().message, "skills cannot be looked after");
        }
    }
}
