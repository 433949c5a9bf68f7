//! Installed skills: who sees them, their versions, and the tools of the one that is used.
//!
//! The files of a version are in the database, packed, so that a backup has them and every process
//! finds them. Ids of tools are in the id book: a tool that goes and comes back has the same id.

use sea_orm::ActiveValue::{Set, Unchanged};
use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, Condition, DatabaseTransaction, EntityTrait, PaginatorTrait,
    QueryFilter, QueryOrder, QuerySelect,
};
use tenon_domain::{SourceId, SourceInfo, SourceKind, ToolId, UserId, Visibility};

use crate::connect::one_at_a_time;
use crate::entity::{
    expert_skills, skill_tools, skill_user_settings, skill_versions, skills, tools,
};
use crate::{
    Error, Result, Store, StoreChange, enum_column, fresh_id, now, read_owner, text, tool_ids,
};

/// Of one owner.
const MAX_SKILLS: u64 = 500;

/// Of one skill. The oldest go first; the one that is used never does.
const MAX_VERSIONS: u64 = 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSkill {
    /// Also of its source in the registry.
    pub id: SourceId,
    /// Who installed it. None: it is the team's, and its owner is gone.
    pub owner: Option<UserId>,
    pub visibility: Visibility,
    pub name: String,
    pub title: String,
    pub enabled: bool,
    /// Of the version that is used.
    pub hash: String,
    /// Whether an admin agreed that its scripts use the network.
    pub network_allowed: bool,
    /// Variables and settings, sealed about `skill:ID`.
    pub sealed_values: Option<String>,
    pub origin: Option<String>,
    pub created_at: i64,
    pub updated_at: i64,
}

impl StoredSkill {
    /// As the registry knows it.
    pub fn source(&self) -> SourceInfo {
        SourceInfo {
            id: self.id.clone(),
            kind: SourceKind::Skill,
            name: self.name.clone(),
            title: self.title.clone(),
            owner: match self.visibility {
                Visibility::Private => self.owner.clone(),
                Visibility::Team => None,
            },
        }
    }
}

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
    /// All of them, by title.
    pub async fn skills(&self) -> Result<Vec<StoredSkill>> {
        self.find_skills(Condition::all()).await
    }

    /// A user's own and the team's, by title.
    pub async fn skills_of(&self, user: &UserId) -> Result<Vec<StoredSkill>> {
        self.find_skills(visible_to(user)?).await
    }

    /// One that this user sees.
    pub async fn skill(&self, user: &UserId, id: &SourceId) -> Result<StoredSkill> {
        let of_id = Condition::all().add(skills::Column::Id.eq(text(&id.0)));
        let found = self.find_skills(of_id.add(visible_to(user)?)).await?;
        found.into_iter().next().ok_or(Error::NotFound("skill"))
    }

    async fn find_skills(&self, condition: Condition) -> Result<Vec<StoredSkill>> {
        let rows = skills::Entity::find()
            .filter(condition)
            .order_by_asc(skills::Column::Title)
            .order_by_asc(skills::Column::Id)
            .all(&self.read)
            .await?;
        rows.into_iter().map(stored).collect()
    }

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

    /// A skill that is new here. Its tools have their ids when this returns.
    pub async fn add_skill(
        &self,
        owner: &UserId,
        visibility: Visibility,
        origin: Option<&str>,
        network_allowed: bool,
        new: NewSkillVersion,
    ) -> Result<StoredSkill> {
        let _change = self.changing(StoreChange::Skills);
        let transaction = self.begin().await?;
        one_at_a_time(&transaction, "skills").await?;
        let own = skills::Entity::find().filter(skills::Column::Owner.eq(text(&owner.0)));
        if own.count(&transaction).await? >= MAX_SKILLS {
            return Err(Error::TooMany("skills"));
        }
        let (id, at) = (fresh_id(), now());
        check_name(&transaction, &id, owner, visibility, &new.name).await?;
        let row = skills::ActiveModel {
            id: Set(id),
            owner: Set(text(&owner.0)),
            visibility: Set(enum_column::write(visibility)?),
            name: Set(text(&new.name)),
            title: Set(text(&new.title)),
            enabled: Set(true),
            hash: Set(text(&new.hash)),
            network_allowed: Set(network_allowed),
            sealed_values: Set(None),
            origin: Set(origin.map(text)),
            created_at: Set(at),
            updated_at: Set(at),
        };
        let skill = stored(row.insert(&transaction).await?)?;
        add_version(&transaction, &skill, new).await?;
        transaction.commit().await?;
        Ok(skill)
    }

    /// Another version of a skill, which is used from now on: one that is new, or one that was there
    /// before. What the tools were is gone with the same transaction.
    pub async fn update_skill(
        &self,
        id: &SourceId,
        origin: Option<&str>,
        network_allowed: bool,
        new: NewSkillVersion,
    ) -> Result<StoredSkill> {
        let _change = self.changing(StoreChange::Skills);
        let transaction = self.begin().await?;
        one_at_a_time(&transaction, "skills").await?;
        let old = only(&transaction, id).await?;
        let mut row = skills::ActiveModel {
            id: Unchanged(text(&id.0)),
            title: Set(text(&new.title)),
            hash: Set(text(&new.hash)),
            network_allowed: Set(network_allowed),
            updated_at: Set(now().max(old.updated_at + 1)),
            ..Default::default()
        };
        if let Some(origin) = origin {
            row.origin = Set(Some(text(origin)));
        }
        let skill = stored(row.update(&transaction).await?)?;
        add_version(&transaction, &skill, new).await?;
        forget_old_versions(&transaction, &skill).await?;
        transaction.commit().await?;
        Ok(skill)
    }

    /// Changes one as it is now: nobody else changes it meanwhile. Its name and version stay.
    pub async fn change_skill<E: From<Error>>(
        &self,
        id: &SourceId,
        change: impl FnOnce(StoredSkill) -> std::result::Result<StoredSkill, E>,
    ) -> std::result::Result<StoredSkill, E> {
        let _change = self.changing(StoreChange::Skills);
        let transaction = self.begin().await?;
        one_at_a_time(&transaction, "skills").await?;
        let old = only(&transaction, id).await?;
        let (before, updated_at) = (old.source(), old.updated_at);
        let changed = change(old)?;
        let nobody = UserId::new("");
        let owner = changed.owner.as_ref().unwrap_or(&nobody);
        let (name, visibility) = (&changed.name, changed.visibility);
        check_name(&transaction, &id.0, owner, visibility, name).await?;
        let row = skills::ActiveModel {
            id: Unchanged(text(&id.0)),
            visibility: Set(enum_column::write(visibility)?),
            enabled: Set(changed.enabled),
            network_allowed: Set(changed.network_allowed),
            sealed_values: Set(changed.sealed_values.clone()),
            updated_at: Set(now().max(updated_at + 1)),
            ..Default::default()
        };
        let row = row.update(&transaction).await.map_err(Error::from)?;
        let skill = stored(row)?;
        let after = skill.source();
        if before.owner != after.owner {
            move_tool_ids(&transaction, &after).await?;
        }
        transaction.commit().await.map_err(Error::from)?;
        Ok(skill)
    }

    /// Removes a skill with its files, its settings, and where experts name it.
    pub async fn remove_skill(&self, id: &SourceId) -> Result<()> {
        let _change = self.changing(StoreChange::Skills);
        let _experts = self.changing(StoreChange::Experts(None));
        let transaction = self.begin().await?;
        one_at_a_time(&transaction, "skills").await?;
        only(&transaction, id).await?;
        forget(&transaction, &id.0).await?;
        Ok(transaction.commit().await?)
    }

    /// What a user set for themself, sealed about `skill-user:ID` with the id beside it.
    pub async fn skill_user_settings(
        &self,
        skill: &SourceId,
        user: &UserId,
    ) -> Result<Option<(String, String)>> {
        let row = of_user(skill, user).one(&self.read).await?;
        Ok(row.and_then(|row| Some((row.id, row.sealed_values?))))
    }

    /// `seal` seals the settings about the id it is given.
    pub async fn put_skill_user_settings(
        &self,
        skill: &SourceId,
        user: &UserId,
        seal: impl FnOnce(&str) -> String,
    ) -> Result<()> {
        let _change = self.changing(StoreChange::Skills);
        let transaction = self.begin().await?;
        one_at_a_time(&transaction, "skill_user_settings").await?;
        let known = of_user(skill, user).one(&transaction).await?;
        let id = known.map_or_else(fresh_id, |row| row.id);
        let row = skill_user_settings::ActiveModel {
            sealed_values: Set(Some(seal(&id))),
            id: Set(id),
            skill_id: Set(text(&skill.0)),
            user_id: Set(text(&user.0)),
        };
        let changed = OnConflict::column(skill_user_settings::Column::Id)
            .update_column(skill_user_settings::Column::SealedValues)
            .to_owned();
        skill_user_settings::Entity::insert(row)
            .on_conflict(changed)
            .exec_without_returning(&transaction)
            .await?;
        Ok(transaction.commit().await?)
    }
}

/// What somebody installed for themself goes with them; what they shared stays the team's.
pub(crate) async fn forget_user(transaction: &DatabaseTransaction, user: &UserId) -> Result<()> {
    let own = Condition::all().add(skills::Column::Owner.eq(text(&user.0)));
    let private = skills::Column::Visibility.eq(enum_column::write(Visibility::Private)?);
    let ids: Vec<String> = skills::Entity::find()
        .filter(own.clone())
        .filter(private)
        .select_only()
        .column(skills::Column::Id)
        .into_tuple()
        .all(transaction)
        .await?;
    for id in ids {
        forget(transaction, &id).await?;
    }
    skills::Entity::update_many()
        .col_expr(skills::Column::Owner, Expr::value(""))
        .filter(own)
        .exec(transaction)
        .await?;
    skill_user_settings::Entity::delete_many()
        .filter(skill_user_settings::Column::UserId.eq(text(&user.0)))
        .exec(transaction)
        .await?;
    Ok(())
}

/// All of a skill but the ids of its tools, which are nobody else's for ever.
async fn forget(transaction: &DatabaseTransaction, id: &str) -> Result<()> {
    skills::Entity::delete_by_id(id).exec(transaction).await?;
    skill_versions::Entity::delete_many()
        .filter(skill_versions::Column::SkillId.eq(id))
        .exec(transaction)
        .await?;
    skill_tools::Entity::delete_many()
        .filter(skill_tools::Column::SkillId.eq(id))
        .exec(transaction)
        .await?;
    skill_user_settings::Entity::delete_many()
        .filter(skill_user_settings::Column::SkillId.eq(id))
        .exec(transaction)
        .await?;
    expert_skills::Entity::delete_many()
        .filter(expert_skills::Column::SkillId.eq(id))
        .exec(transaction)
        .await?;
    Ok(())
}

/// The tools of a skill follow it where it becomes the team's, or somebody's own.
async fn move_tool_ids(transaction: &DatabaseTransaction, source: &SourceInfo) -> Result<()> {
    let owner = crate::owner_column(source.owner.as_ref());
    tools::Entity::update_many()
        .col_expr(tools::Column::Owner, Expr::value(owner))
        .filter(tools::Column::SourceId.eq(text(&source.id.0)))
        .exec(transaction)
        .await?;
    Ok(())
}

async fn add_version(
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

async fn forget_old_versions(transaction: &DatabaseTransaction, skill: &StoredSkill) -> Result<()> {
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

async fn only(transaction: &DatabaseTransaction, id: &SourceId) -> Result<StoredSkill> {
    let row = skills::Entity::find_by_id(text(&id.0))
        .one(transaction)
        .await?;
    stored(row.ok_or(Error::NotFound("skill"))?)
}

fn visible_to(user: &UserId) -> Result<Condition> {
    Ok(Condition::any()
        .add(skills::Column::Owner.eq(text(&user.0)))
        .add(skills::Column::Visibility.eq(enum_column::write(Visibility::Team)?)))
}

fn of_user(skill: &SourceId, user: &UserId) -> sea_orm::Select<skill_user_settings::Entity> {
    skill_user_settings::Entity::find()
        .filter(skill_user_settings::Column::SkillId.eq(text(&skill.0)))
        .filter(skill_user_settings::Column::UserId.eq(text(&user.0)))
}

/// A name is used once by the team, and once by each owner for themself.
async fn check_name(
    transaction: &DatabaseTransaction,
    id: &str,
    owner: &UserId,
    visibility: Visibility,
    name: &str,
) -> Result<()> {
    let mut same = skills::Entity::find()
        .filter(skills::Column::Name.eq(text(name)))
        .filter(skills::Column::Visibility.eq(enum_column::write(visibility)?))
        .filter(skills::Column::Id.ne(text(id)));
    if visibility == Visibility::Private {
        same = same.filter(skills::Column::Owner.eq(text(&owner.0)));
    }
    match same.one(transaction).await? {
        Some(_) => Err(Error::Taken("skill")),
        None => Ok(()),
    }
}

fn stored(row: skills::Model) -> Result<StoredSkill> {
    Ok(StoredSkill {
        id: SourceId(row.id),
        owner: read_owner(row.owner),
        visibility: enum_column::read(&row.visibility)?,
        name: row.name,
        title: row.title,
        enabled: row.enabled,
        hash: row.hash,
        network_allowed: row.network_allowed,
        sealed_values: row.sealed_values,
        origin: row.origin,
        created_at: row.created_at,
        updated_at: row.updated_at,
    })
}
