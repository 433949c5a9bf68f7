//! Versions of skills with their files, and the tools of the one that is used.

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{
    ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter, QueryOrder, QuerySelect,
};
use tenon_domain::{SourceId, ToolId};

use super::StoredSkill;
use crate::entity::{skill_tools, skill_versions};
use crate::{Error, Result, Store, text, tool_ids};

/// Of one skill. The oldest go first; the one that is used never does.
const MAX_VERSIONS: u64 = 10;

/// One version of a skill, as it is installed.
#[derive(Debug, Clone)]
pub struct NewSkillVersion {
    pub name: String,
    pub title: String,
    pub version: Option<String>,
    pub hash: String,
    pub archive: Vec<u8>,
    pub tools: Vec<SkillToolRow>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillToolRow {
    pub name: String,
    pub title: Option<String>,
    pub description: String,
    /// "http", "script" or "builtin".
    pub kind: &'static str,
    /// A JSON Schema.
    pub parameters: String,
    pub command: Option<String>,
    pub endpoint: Option<String>,
    pub method: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillVersionRow {
    pub hash: String,
    pub version: Option<String>,
    pub installed_at: i64,
}

impl Store {
    /// The newest first.
    pub async fn skill_versions(&self, id: &SourceId) -> Result<Vec<SkillVersionRow>> {
        let rows: Vec<(String, Option<String>, i64)> = skill_versions::Entity::find()
            .filter(skill_versions::Column::SkillId.eq(text(&id.0)))
            .order_by_desc(skill_versions::Column::InstalledAt)
            .select_only()
            .columns([
                skill_versions::Column::Hash,
                skill_versions::Column::Version,
                skill_versions::Column::InstalledAt,
            ])
            .into_tuple()
            .all(&self.read)
            .await?;
        let rows = rows
            .into_iter()
            .map(|(hash, version, installed_at)| SkillVersionRow {
                hash,
                version,
                installed_at,
            });
        Ok(rows.collect())
    }

    /// The packed files of a version.
    pub async fn skill_archive(&self, id: &SourceId, hash: &str) -> Result<Vec<u8>> {
        let key = (text(&id.0), text(hash));
        let row = skill_versions::Entity::find_by_id(key)
            .one(&self.read)
            .await?;
        Ok(row.ok_or(Error::NotFound("version of this skill"))?.archive)
    }
}

/// Stores a version, and its tools in the place of those before.
pub(super) async fn add_version(
    transaction: &DatabaseTransaction,
    skill: &StoredSkill,
    new: NewSkillVersion,
) -> Result<()> {
    let row = skill_versions::ActiveModel {
        skill_id: Set(text(&skill.id.0)),
        hash: Set(text(&new.hash)),
        version: Set(new.version.as_deref().map(text)),
        archive: Set(new.archive),
        installed_at: Set(skill.updated_at),
    };
    // The same files again are the same version, which is the newest now.
    let known = OnConflict::columns([
        skill_versions::Column::SkillId,
        skill_versions::Column::Hash,
    ])
    .update_column(skill_versions::Column::InstalledAt)
    .to_owned();
    skill_versions::Entity::insert(row)
        .on_conflict(known)
        .exec_without_returning(transaction)
        .await?;
    skill_tools::Entity::delete_many()
        .filter(skill_tools::Column::SkillId.eq(text(&skill.id.0)))
        .exec(transaction)
        .await?;
    let names: Vec<&str> = new.tools.iter().map(|tool| tool.name.as_str()).collect();
    let ids = tool_ids::give(transaction, &skill.source(), &names).await?;
    if ids.is_empty() {
        return Ok(());
    }
    let rows = ids.into_iter().zip(&new.tools);
    let rows = rows.map(|(id, tool)| tool_row(&skill.id, id, tool));
    skill_tools::Entity::insert_many(rows)
        .exec_without_returning(transaction)
        .await?;
    Ok(())
}

fn tool_row(skill: &SourceId, id: ToolId, tool: &SkillToolRow) -> skill_tools::ActiveModel {
    let optional = |value: &Option<String>| Set(value.as_deref().map(text));
    skill_tools::ActiveModel {
        id: Set(id.0),
        skill_id: Set(text(&skill.0)),
        name: Set(text(&tool.name)),
        title: optional(&tool.title),
        description: Set(text(&tool.description)),
        kind: Set(tool.kind.to_owned()),
        parameters: Set(text(&tool.parameters)),
        command: optional(&tool.command),
        endpoint: optional(&tool.endpoint),
        method: optional(&tool.method),
    }
}

pub(super) async fn forget_old_versions(
    transaction: &DatabaseTransaction,
    skill: &StoredSkill,
) -> Result<()> {
    let of_skill = skill_versions::Column::SkillId.eq(text(&skill.id.0));
    let kept: Vec<String> = skill_versions::Entity::find()
        .filter(of_skill.clone())
        .order_by_desc(skill_versions::Column::InstalledAt)
        .limit(MAX_VERSIONS)
        .select_only()
        .column(skill_versions::Column::Hash)
        .into_tuple()
        .all(transaction)
        .await?;
    skill_versions::Entity::delete_many()
        .filter(of_skill)
        .filter(skill_versions::Column::Hash.is_not_in(kept))
        .exec(transaction)
        .await?;
    Ok(())
}
