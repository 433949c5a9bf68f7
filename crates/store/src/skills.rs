//! Installed skills: who sees them, their versions, and the tools of the one that is used.
//!
//! The files of a version are in the database, packed, so that a backup has them and every process
//! finds them ([`versions`]). Ids of tools are in the id book: a tool that goes and comes back has
//! the same id.

mod versions;

use sea_orm::ActiveValue::{Set, Unchanged};
use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, Condition, DatabaseTransaction, EntityTrait, PaginatorTrait,
    QueryFilter, QueryOrder, QuerySelect,
};
use tenon_domain::{SourceId, SourceInfo, SourceKind, UserId, Visibility};

use crate::connect::one_at_a_time;
use crate::entity::{
    expert_skills, skill_tools, skill_user_settings, skill_versions, skills, tools,
};
use crate::{Error, Result, Store, StoreChange, enum_column, fresh_id, now, read_owner, text};

pub use versions::{NewSkillVersion, SkillToolRow, SkillVersionRow};

use versions::{add_version, forget_old_versions};

/// Of one owner.
const MAX_SKILLS: u64 = 500;

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

    /// Another version of a skill, which is used from now on: one that is new, or one that was
    /// there before. What the tools were is gone with the same transaction.
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

    /// Changes a skill in a transaction that locks it. Name and version stay.
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

/// Deletes a user's private skills; shared ones stay with the team.
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

/// Deletes a skill, except the ids of its tools, which are never reused.
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
