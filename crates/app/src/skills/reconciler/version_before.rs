//! The version of a skill that goes on while the next one is set up, or because it cannot be.

use std::sync::Arc;

use tenon_domain::{CodedError, SourceId, SourceState};
use tenon_sources::skill::{SetupStatus, SkillHost, SkillRevision};
use tenon_store::StoredSkill;
use tokio::sync::watch;

use super::VersionFolder;
use crate::lock::lock;
use crate::skills::{Skills, version};

/// Beside the versions of a skill: the hash of the one that was set up last.
pub(super) const LAST_USED: &str = "last-used";

impl Skills {
    /// The version that goes on as long as the newest is not set up: the one that runs, or after a
    /// restart the one that ran.
    pub(super) async fn version_before(
        &self,
        row: &StoredSkill,
        newest: &SkillRevision,
        is_trusted: bool,
    ) -> Option<SkillRevision> {
        if newest.state() == SourceState::Ready {
            return None;
        }
        let running = {
            let running = lock(&self.0.running);
            running.get(&row.id).map(|skill| skill.source.revision())
        };
        let version = match running {
            Some(running) if running.folder == newest.folder => return None,
            Some(running) => VersionFolder {
                package: running.package.clone(),
                folder: running.folder.clone(),
                setup: running.setup.clone(),
            },
            None => self.last_used(row).await?,
        };
        if *version.setup.borrow() != SetupStatus::Ready {
            return None;
        }
        match self.revision(row, is_trusted, version) {
            Ok(before) => Some(before),
            Err(error) => {
                tracing::warn!(skill = %row.id, error = %error.detail().message, "the version before cannot go on");
                None
            }
        }
    }

    /// The version that was used when this or another process had it set up, if it still is.
    async fn last_used(&self, row: &StoredSkill) -> Option<VersionFolder> {
        let folder = self.0.folder.join(&row.id.0);
        let hash = tokio::fs::read_to_string(folder.join(LAST_USED))
            .await
            .ok()?;
        let kept = self.0.store.skill_versions(&row.id).await.ok()?;
        let is_kept = kept.iter().any(|version| version.hash == hash);
        if !is_kept || hash == row.hash {
            return None;
        }
        let folder = folder.join(&hash);
        let archive = self.0.store.skill_archive(&row.id, &hash).await.ok()?;
        let package = version::unpack(archive, &row.name).await.ok()?.package;
        let is_there = folder.join("files").is_dir()
            && SkillHost::is_set_up(&folder, &package.permissions.requirements);
        is_there.then(|| VersionFolder {
            package: Arc::new(package),
            folder,
            setup: Arc::new(watch::Sender::new(SetupStatus::Ready)),
        })
    }

    /// Writes down which version runs, for the next start.
    pub(super) async fn store_last_used(&self, id: &SourceId, revision: &SkillRevision) {
        if revision.state() == SourceState::Ready {
            let path = self.0.folder.join(&id.0).join(LAST_USED);
            if let Err(error) = tokio::fs::write(&path, &revision.package.hash).await {
                tracing::warn!(path = %path.display(), %error, "which version of a skill runs cannot be noted");
            }
        }
    }
}
