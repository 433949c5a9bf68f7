//! The reconciler of skills: makes what runs the same as what is stored, on request and where
//! another process has changed it. A new version whose packages have to be installed takes over when
//! they are; until then, and where they cannot be installed, the one before it goes on.

mod version_before;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tenon_domain::{CodedError, SourceId, SourceState, Visibility};
use tenon_sources::skill::package::SkillPackage;
use tenon_sources::skill::{InstalledSkill, Sandbox, SetupStatus, SkillHost, SkillRevision};
use tenon_store::{ChangeTopic, LOCAL, Store, StoreChange, StoredSkill, Vault};
use tenon_tools::{Connection, Quota, Registry, ToolSource};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

use super::values::{self, StoredSkillUsers};
use super::{Inner, SkillFault, Skills, version};
use crate::config::Config;
use crate::lock::lock;
use version_before::LAST_USED;

/// What decides which skills run, and with which rights.
const TOPICS: [ChangeTopic; 2] = [ChangeTopic::Skills, ChangeTopic::Accounts];

/// After a pass that failed.
const RETRY_DELAY: Duration = Duration::from_secs(2);

/// A version as it is on this machine.
struct VersionFolder {
    package: Arc<SkillPackage>,
    folder: PathBuf,
    setup: Arc<watch::Sender<SetupStatus>>,
}

/// A skill in the registry, and what it was made from.
pub(super) struct RunningSkill {
    row: StoredSkill,
    is_trusted: bool,
    pub(super) source: Arc<InstalledSkill>,
    /// How far the version is set up that is to take over.
    pub(super) update: Option<Arc<watch::Sender<SetupStatus>>>,
    /// Keeps it in the registry.
    _connection: Connection,
}

impl Skills {
    /// With what is stored, in the registry when this returns. What another process changes
    /// follows.
    pub(crate) async fn open(
        (store, vault): (Store, Arc<Vault>),
        registry: Arc<Registry>,
        folder: PathBuf,
        config: &Config,
        builtin: Vec<Arc<dyn ToolSource>>,
        quota: Arc<Quota>,
    ) -> Result<Self, SkillFault> {
        let users = Arc::new(StoredSkillUsers {
            store: store.clone(),
            vault: vault.clone(),
        });
        let sandbox = config.sandbox_helper.as_deref();
        let sandbox = sandbox.map_or_else(Sandbox::current_exe, Sandbox::with_helper);
        let runners = folder.join("runners");
        let idle_time = config.skill_idle_seconds.map(Duration::from_secs);
        let host = SkillHost::new(sandbox, runners, builtin, users, quota, idle_time);
        let skills = Self(Arc::new(Inner {
            store,
            vault,
            registry,
            host: Arc::new(host),
            folder,
            running: Mutex::default(),
            broken: Mutex::default(),
            setups: Mutex::default(),
            packages: Mutex::default(),
            passes: tokio::sync::Mutex::default(),
        }));
        skills.sync().await?;
        tokio::spawn(follow(
            Arc::downgrade(&skills.0),
            skills.0.store.subscribe(),
        ));
        Ok(skills)
    }

    /// Reconciles running skills with the stored ones.
    pub(super) async fn sync(&self) -> tenon_store::Result<()> {
        let _pass = self.0.passes.lock().await;
        let rows = self.0.store.skills().await?;
        if rows.is_empty() && lock(&self.0.running).is_empty() {
            return Ok(());
        }
        // Whether hints of skills can be trusted depends on the walls.
        let _ = self.0.host.support().await;
        let gone: Vec<SourceId> = {
            let running = lock(&self.0.running);
            let is_gone = |id: &&SourceId| !rows.iter().any(|row| row.id == **id && row.enabled);
            running.keys().filter(is_gone).cloned().collect()
        };
        for id in gone {
            if let Some(removed) = lock(&self.0.running).remove(&id) {
                removed.source.remove();
            }
            if !rows.iter().any(|row| row.id == id) {
                self.delete_files(&id).await;
            }
        }
        let is_used = |hash: &String| rows.iter().any(|row| row.hash == *hash);
        lock(&self.0.packages).retain(|hash, _| is_used(hash));
        lock(&self.0.broken).clear();
        for row in rows.into_iter().filter(|row| row.enabled) {
            let id = row.id.clone();
            if let Err(error) = self.apply(row).await {
                tracing::warn!(skill = %id, error = %error.detail().message, "a skill cannot be used");
                if let Some(removed) = lock(&self.0.running).remove(&id) {
                    removed.source.remove();
                }
                lock(&self.0.broken).insert(id, error.detail());
            }
        }
        Ok(())
    }

    /// Starts or updates one skill as it is stored.
    async fn apply(&self, row: StoredSkill) -> Result<(), SkillFault> {
        let is_trusted = is_trusted(&self.0.store, &row).await?;
        let is_same = |running: &RunningSkill| {
            running.row == row && running.is_trusted == is_trusted && !running.has_update()
        };
        if lock(&self.0.running).get(&row.id).is_some_and(is_same) {
            return Ok(());
        }
        let newest = self.load(&row, is_trusted).await?;
        let (revision, update) = match self.version_before(&row, &newest, is_trusted).await {
            Some(before) => (before, Some(newest.setup)),
            None => (newest, None),
        };
        self.store_last_used(&row.id, &revision).await;
        let revision = Arc::new(revision);
        let info = row.source();
        let current = {
            let running = lock(&self.0.running);
            let same_place = running
                .get(&row.id)
                .filter(|running| *running.source.info() == info);
            same_place.map(|running| running.source.clone())
        };
        let source = current.unwrap_or_else(|| {
            Arc::new(InstalledSkill::new(
                info,
                self.0.host.clone(),
                revision.clone(),
            ))
        });
        source.update(revision.clone());
        let unlisted = |error: tenon_tools::Error| SkillFault::Files {
            why: error.to_string().into(),
        };
        // Connected as a new source, so that one swap replaces all of its tools.
        let connection = self
            .0
            .registry
            .connect(source.clone())
            .await
            .map_err(unlisted)?;
        let running = RunningSkill {
            row: row.clone(),
            is_trusted,
            source,
            update,
            _connection: connection,
        };
        let before = lock(&self.0.running).insert(row.id, running);
        // Toolsets that were made before still hold it where its title or owner has changed.
        if let Some(before) = before {
            before.source.update(revision);
        }
        Ok(())
    }

    async fn load(&self, row: &StoredSkill, is_trusted: bool) -> Result<SkillRevision, SkillFault> {
        let folder = self.0.folder.join(&row.id.0).join(&row.hash);
        let is_written = folder.join("files").is_dir();
        let known = lock(&self.0.packages).get(&row.hash).cloned();
        let package = match known.filter(|_| is_written) {
            Some(package) => package,
            None => {
                let archive = self.0.store.skill_archive(&row.id, &row.hash).await?;
                let bundle = version::unpack(archive, &row.name).await?;
                version::write(bundle.files, &folder).await?;
                self.delete_old_versions(&row.id).await?;
                let package = Arc::new(bundle.package);
                lock(&self.0.packages).insert(row.hash.clone(), package.clone());
                package
            }
        };
        require_trust(&package, is_trusted)?;
        let version = VersionFolder {
            setup: self.setup(&folder, &package),
            package,
            folder,
        };
        self.revision(row, is_trusted, version)
    }

    /// A version, with what is set now.
    fn revision(
        &self,
        row: &StoredSkill,
        is_trusted: bool,
        version: VersionFolder,
    ) -> Result<SkillRevision, SkillFault> {
        let VersionFolder {
            package,
            folder,
            setup,
        } = version;
        require_trust(&package, is_trusted)?;
        let values = values::open(&self.0.vault, row)?.complete(&package);
        Ok(SkillRevision {
            network: package.permissions.network && row.network_allowed,
            setup,
            package,
            folder,
            values,
            is_trusted,
        })
    }

    /// Begins to install the packages of a version, unless that is done or under way.
    fn setup(&self, folder: &Path, package: &Arc<SkillPackage>) -> Arc<watch::Sender<SetupStatus>> {
        let mut setups = lock(&self.0.setups);
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
        let (host, folder, told) = (self.0.host.clone(), folder.to_owned(), status.clone());
        let skills = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            host.set_up(&folder, &requirements, &told).await;
            // A version that is set up takes over from the one before it.
            if *told.borrow() == SetupStatus::Ready {
                sync_with_retries(&skills).await;
            }
        });
        status
    }

    /// Waits until a skill is set up, or cannot be; each new line of progress is told.
    pub async fn settled(&self, id: &SourceId, mut on_progress: impl FnMut(&str)) -> SourceState {
        let setup = {
            let running = lock(&self.0.running);
            running.get(id).map(RunningSkill::newest_setup)
        };
        let Some(setup) = setup else {
            let why = lock(&self.0.broken).get(id).cloned();
            return why.map_or(SourceState::Off, |why| SourceState::Failed { why });
        };
        let mut status = setup.subscribe();
        loop {
            match &*status.borrow_and_update() {
                SetupStatus::Running { progress } if progress.is_empty() => {}
                SetupStatus::Running { progress } => on_progress(progress),
                SetupStatus::Ready | SetupStatus::Failed(_) => break,
            }
            if status.changed().await.is_err() {
                break;
            }
        }
        // A failed pass is made again by the task that set it up.
        let _ = self.sync().await;
        let running = lock(&self.0.running);
        running
            .get(id)
            .map_or(SourceState::Off, RunningSkill::state)
    }

    /// Those that the store does not keep any more. What runs of them ends as it would without
    /// files.
    async fn delete_old_versions(&self, id: &SourceId) -> Result<(), SkillFault> {
        let kept = self.0.store.skill_versions(id).await?;
        let running = {
            let running = lock(&self.0.running);
            running.get(id).map(|skill| skill.source.revision())
        };
        let folder = self.0.folder.join(&id.0);
        let Ok(mut entries) = tokio::fs::read_dir(&folder).await else {
            return Ok(());
        };
        while let Ok(Some(entry)) = entries.next_entry().await {
            let (name, path) = (entry.file_name(), entry.path());
            let is_kept = name == LAST_USED
                || kept.iter().any(|version| name == version.hash.as_str())
                || running.as_ref().is_some_and(|used| used.folder == path);
            if !is_kept {
                lock(&self.0.setups).remove(&path);
                let _ = tokio::fs::remove_dir_all(path).await;
            }
        }
        Ok(())
    }

    async fn delete_files(&self, id: &SourceId) {
        let folder = self.0.folder.join(&id.0);
        lock(&self.0.setups).retain(|known, _| !known.starts_with(&folder));
        if let Err(error) = tokio::fs::remove_dir_all(&folder).await
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(folder = %folder.display(), %error, "the files of a removed skill are still there");
        }
    }
}

impl RunningSkill {
    /// How far the version that is stored is set up.
    pub(super) fn newest_setup(&self) -> Arc<watch::Sender<SetupStatus>> {
        let own = || self.source.revision().setup.clone();
        self.update.clone().unwrap_or_else(own)
    }

    /// Whether the next version only has to take over.
    fn has_update(&self) -> bool {
        let update = self.update.as_ref();
        update.is_some_and(|update| *update.borrow() == SetupStatus::Ready)
    }

    /// For people: calls go to the version before as long as there is one.
    pub(super) fn state(&self) -> SourceState {
        let update = self.update.as_ref().map(|update| update.borrow().clone());
        match update {
            None => self.source.revision().state(),
            // One that is set up still has to take over.
            Some(SetupStatus::Running { .. } | SetupStatus::Ready) => SourceState::Starting,
            Some(SetupStatus::Failed(why)) => {
                let why = why.message.into();
                let why = SkillFault::UpdateFailed { why }.detail();
                SourceState::Degraded { why }
            }
        }
    }
}

/// Programs are an admin's to install.
fn require_trust(package: &SkillPackage, is_trusted: bool) -> Result<(), SkillFault> {
    if package.permissions.runs_programs() && !is_trusted {
        return Err(SkillFault::OwnerIsNoAdmin);
    }
    Ok(())
}

/// Whether it is the team's, which takes an admin, or its owner is one.
async fn is_trusted(store: &Store, row: &StoredSkill) -> tenon_store::Result<bool> {
    let owner = match (&row.owner, row.visibility) {
        (Some(owner), Visibility::Private) => owner,
        (_, Visibility::Team) | (None, Visibility::Private) => return Ok(true),
    };
    if owner.as_str() == LOCAL {
        return Ok(true);
    }
    let account = store.active_user(owner).await?;
    Ok(account.is_some_and(|account| account.role.is_admin()))
}

/// Reconciles until a pass succeeds: the store may be unavailable for a while.
async fn sync_with_retries(skills: &Weak<Inner>) {
    while let Some(skills) = skills.upgrade().map(Skills) {
        let Err(error) = skills.sync().await else {
            return;
        };
        drop(skills);
        tracing::warn!(error = %error.detail().message, "skills cannot be looked after");
        tokio::time::sleep(RETRY_DELAY).await;
    }
}

/// Follows what other processes change, until the last handle is dropped.
async fn follow(skills: Weak<Inner>, mut changes: broadcast::Receiver<StoreChange>) {
    let mut seen = None;
    loop {
        match changes.recv().await {
            Ok(change) if !TOPICS.contains(&change.topic()) => continue,
            Ok(_) | Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
        let Some(versions) = skills
            .upgrade()
            .map(|skills| TOPICS.map(|topic| skills.store.version(topic)))
        else {
            return;
        };
        if !versions.contains(&None) && seen == Some(versions) {
            continue;
        }
        seen = Some(versions);
        sync_with_retries(&skills).await;
    }
}
