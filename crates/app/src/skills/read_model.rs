//! Skills as they are read: listed, shown, file by file.

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;

use tenon_domain::{CodedError, SourceId, SourceState, ToolId, UserId};
use tenon_sources::skill::package::script::SkillScript;
use tenon_sources::skill::package::{SkillPackage, SkillToolRun, diff};
use tenon_sources::skill::{SetupStatus, SkillRevision};
use tenon_store::StoredSkill;

use super::reconciler::RunningSkill;
use super::view::{
    SandboxView, SkillCodeView, SkillDetail, SkillFileView, SkillToolKind, SkillToolView,
    SkillVersionView, SkillView, WallView,
};
use super::{SkillFault, Skills, require_rights, values, version};
use crate::auth::CurrentUser;
use crate::lock::lock;

/// What is longer is no text that a person reads in a page.
const MAX_SHOWN_FILE_BYTES: u64 = 512 * 1024;

/// Ids of tools, by skill and native name.
type ToolIds = HashMap<(SourceId, String), ToolId>;

impl Skills {
    /// All that somebody sees.
    pub async fn list(&self, user: &CurrentUser) -> Result<Vec<SkillView>, SkillFault> {
        let rows = self.0.store.skills_of(&user.id).await?;
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
        let row = self.0.store.skill(&user.id, id).await?;
        self.detail(user, &row).await
    }

    /// A file of the version that is used.
    pub async fn file(
        &self,
        user: &CurrentUser,
        id: &SourceId,
        path: &str,
    ) -> Result<SkillFileView, SkillFault> {
        let row = self.0.store.skill(&user.id, id).await?;
        let archive = self.0.store.skill_archive(id, &row.hash).await?;
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
        match self.0.host.support().await {
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
            Err(error) => {
                let cause = error.source().map(|cause| format!(": {cause}"));
                SandboxView {
                    walls: Vec::new(),
                    why: Some(format!("{error}{}", cause.unwrap_or_default())),
                }
            }
        }
    }

    async fn detail(
        &self,
        user: &CurrentUser,
        row: &StoredSkill,
    ) -> Result<SkillDetail, SkillFault> {
        let package = self.package(row).await?;
        let ids = self.tool_ids(std::slice::from_ref(row)).await?;
        let versions = self.0.store.skill_versions(&row.id).await?.into_iter();
        let versions = versions.map(|version| SkillVersionView {
            current: version.hash == row.hash,
            hash: version.hash,
            version: version.version,
            installed_at: version.installed_at,
        });
        let values = values::open(&self.0.vault, row)?;
        Ok(SkillDetail {
            skill: self.view(user, row, &package, &ids),
            instructions: package.body.clone(),
            license: package.license.clone(),
            compatibility: package.compatibility.clone(),
            allowed_tools: package.allowed_tools.clone(),
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
    /// The package of the version that a skill uses.
    pub(super) async fn package(&self, row: &StoredSkill) -> Result<Arc<SkillPackage>, SkillFault> {
        if let Some(package) = lock(&self.0.packages).get(&row.hash) {
            return Ok(package.clone());
        }
        let archive = self.0.store.skill_archive(&row.id, &row.hash).await?;
        let bundle = version::unpack(archive, &row.name).await?;
        let package = Arc::new(bundle.package);
        lock(&self.0.packages).insert(row.hash.clone(), package.clone());
        Ok(package)
    }

    pub(super) async fn tool_ids(&self, rows: &[StoredSkill]) -> Result<ToolIds, SkillFault> {
        let ids: Vec<&SourceId> = rows.iter().map(|row| &row.id).collect();
        Ok(self.0.store.tool_ids_of(&ids).await?)
    }

    pub(super) fn view(
        &self,
        user: &CurrentUser,
        row: &StoredSkill,
        package: &SkillPackage,
        ids: &ToolIds,
    ) -> SkillView {
        let running = lock(&self.0.running);
        let skill = running.get(&row.id);
        let revision = skill.map(|skill| skill.source.revision());
        let running_state = skill.map(RunningSkill::state);
        let setup = skill.map(RunningSkill::newest_setup);
        drop(running);
        let broken = lock(&self.0.broken).get(&row.id).cloned();
        let state = match (running_state, broken) {
            (_, Some(why)) => SourceState::Failed { why },
            (Some(state), None) => state,
            (None, None) if row.enabled => SourceState::Starting,
            (None, None) => SourceState::Off,
        };
        let progress = setup.and_then(|setup| match &*setup.borrow() {
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

fn is_of(user: &UserId, row: &StoredSkill) -> bool {
    row.owner.as_ref() == Some(user)
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
