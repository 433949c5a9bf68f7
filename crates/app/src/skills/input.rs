//! Where skills are installed from.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tenon_sources::skill::package::SkillSource;

use super::view::SkillInput;
use super::{SkillFault, Skills};
use crate::auth::CurrentUser;

/// What was read, as far as it can be read again.
#[derive(Debug)]
pub(super) enum SkillOrigin {
    Uploaded,
    Archive(PathBuf),
    Folder(PathBuf),
}

impl SkillOrigin {
    /// The path of the skill in this folder, from which it can be read again.
    pub(super) fn path_of(&self, folder: &str) -> Option<String> {
        match self {
            Self::Uploaded => None,
            Self::Archive(path) => Some(path.display().to_string()),
            Self::Folder(path) if folder.is_empty() => Some(path.display().to_string()),
            Self::Folder(path) => Some(path.join(folder).display().to_string()),
        }
    }
}

impl Skills {
    pub(super) async fn read(
        &self,
        user: &CurrentUser,
        input: SkillInput,
    ) -> Result<(SkillSource, SkillOrigin), SkillFault> {
        if let Some(id) = &input.skill_id {
            let row = self.0.store.skill(&user.id, id).await?;
            super::require_rights(user, &row)?;
            let origin = row.origin.ok_or(SkillFault::NoOrigin)?;
            return read_path(user, origin).await;
        }
        if let Some(path) = input.path {
            return read_path(user, path).await;
        }
        let (Some(name), Some(content)) = (input.file_name, input.content) else {
            return Err(SkillFault::NoInput);
        };
        let read = move || {
            let bytes = STANDARD.decode(content.trim());
            let bytes = bytes.map_err(|_| SkillFault::Content)?;
            Ok::<_, SkillFault>(SkillSource::from_bytes(&name, &bytes)?)
        };
        Ok((blocking(read).await?, SkillOrigin::Uploaded))
    }
}

async fn read_path(
    user: &CurrentUser,
    path: String,
) -> Result<(SkillSource, SkillOrigin), SkillFault> {
    if !user.administers() {
        return Err(SkillFault::PathForAdmins);
    }
    let read = move || {
        let path = std::path::absolute(Path::new(path.trim()));
        let path = path.map_err(|_| SkillFault::NoInput)?;
        if !path.exists() {
            let path = path.display().to_string().into();
            return Err(SkillFault::NoSuchPath { path });
        }
        let source = SkillSource::open(&path)?;
        let origin = if path.is_dir() {
            SkillOrigin::Folder(path)
        } else {
            SkillOrigin::Archive(path)
        };
        Ok::<_, SkillFault>((source, origin))
    };
    blocking(read).await
}

/// Files and archives take their time.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SkillFault> + Send + 'static,
) -> Result<T, SkillFault> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(SkillFault::Files {
            why: error.to_string().into(),
        }),
    }
}
