//! Packages of code that is not installed yet: trying it needs them too.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tenon_domain::text::hex;
use tenon_sources::skill::package::module::{ModuleDescription, ModuleFaultKind};
use tenon_sources::skill::package::requirements::Requirements;
use tenon_sources::skill::package::script::ModuleLanguage;
use tenon_sources::skill::{SetupStatus, SkillHost};
use tokio::sync::watch;

use super::{SkillFault, Skills};
use crate::auth::CurrentUser;

impl Skills {
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
    pub(super) async fn describe_installed(
        &self,
        user: &CurrentUser,
        language: ModuleLanguage,
        code: &str,
    ) -> Result<ModuleDescription, SkillFault> {
        let mut description = self.describe_code(user, language, code, None).await?;
        description.require_usual_packages(language);
        let (folder, requirements) = self.packages_of(language, &description);
        if requirements.is_empty() || !SkillHost::is_set_up(&folder, &requirements) {
            return Ok(description);
        }
        self.describe_with(user, (language, code), description, &folder)
            .await
    }

    /// The same with its packages, which are installed where they are not, and the folder that has
    /// them. No package mends code that is wrong in another way.
    pub(super) async fn install_and_describe(
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
        description.require_usual_packages(language);
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
