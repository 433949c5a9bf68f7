//! Experts that people made. Each is private, or the team's; those that come with Tenon have no
//! row.

use std::collections::HashMap;

use sea_orm::ActiveValue::{Set, Unchanged};
use sea_orm::sea_query::Expr;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, Condition, ConnectionTrait, DatabaseTransaction, EntityTrait,
    PaginatorTrait, QueryFilter, QueryOrder,
};
use tenon_domain::{ExpertDefinition, ExpertId, Layer, ModelId, SourceId, UserId, Visibility};

use crate::connect::one_at_a_time;
use crate::entity::{expert_skills, experts};
use crate::{
    Error, Result, Store, StoreChange, enum_column, fresh_id, now, read_owner, text, tool_settings,
};

/// Of one owner. More is no longer a choice, and each is read with every list.
const MAX_EXPERTS: u64 = 200;

#[derive(Debug, Clone, PartialEq)]
pub struct StoredExpert {
    pub id: ExpertId,
    /// Who made it. None: it is the team's, and its owner is gone.
    pub owner: Option<UserId>,
    pub visibility: Visibility,
    pub definition: ExpertDefinition,
    pub created_at: i64,
    pub updated_at: i64,
}

impl Store {
    /// A user's own and the team's, by title.
    pub async fn experts(&self, user: &UserId) -> Result<Vec<StoredExpert>> {
        let rows = experts::Entity::find()
            .filter(visible_to(user)?)
            .order_by_asc(experts::Column::Title)
            .order_by_asc(experts::Column::Id)
            .all(&self.read)
            .await?;
        with_skills(&self.read, rows).await
    }

    /// One that this user sees.
    pub async fn expert(&self, user: &UserId, id: &ExpertId) -> Result<StoredExpert> {
        let row = experts::Entity::find_by_id(text(&id.0)).filter(visible_to(user)?);
        only(&self.read, row.one(&self.read).await?).await
    }

    /// The same by its name: of two, a user's own counts before the team's.
    pub async fn expert_named(&self, user: &UserId, name: &str) -> Result<StoredExpert> {
        let rows = experts::Entity::find()
            .filter(visible_to(user)?)
            .filter(experts::Column::Name.eq(text(name)))
            .order_by_asc(experts::Column::Visibility)
            .order_by_asc(experts::Column::CreatedAt)
            .all(&self.read)
            .await?;
        only(&self.read, rows.into_iter().next()).await
    }

    pub async fn add_expert(
        &self,
        owner: &UserId,
        visibility: Visibility,
        definition: &ExpertDefinition,
    ) -> Result<StoredExpert> {
        let _change = self.changing(change_of(Some(owner), [visibility]));
        let transaction = self.begin().await?;
        one_at_a_time(&transaction, "experts").await?;
        let own = experts::Entity::find().filter(experts::Column::Owner.eq(text(&owner.0)));
        if own.count(&transaction).await? >= MAX_EXPERTS {
            return Err(Error::TooMany("experts"));
        }
        let (id, at) = (fresh_id(), now());
        check_name(&transaction, &id, owner, visibility, &definition.name).await?;
        let row = experts::ActiveModel {
            id: Set(id.clone()),
            owner: Set(text(&owner.0)),
            visibility: Set(enum_column::write(visibility)?),
            created_at: Set(at),
            updated_at: Set(at),
            ..fields(definition)?
        };
        let row = row.insert(&transaction).await?;
        set_skills(&transaction, &id, &definition.skills).await?;
        let added = only(&transaction, Some(row)).await?;
        transaction.commit().await?;
        Ok(added)
    }

    /// Changes an expert visible to this user, in a transaction that locks it.
    pub async fn change_expert<E: From<Error>>(
        &self,
        user: &UserId,
        id: &ExpertId,
        change: impl FnOnce(StoredExpert) -> std::result::Result<StoredExpert, E>,
    ) -> std::result::Result<StoredExpert, E> {
        let transaction = self.begin().await?;
        one_at_a_time(&transaction, "experts").await?;
        let row = experts::Entity::find_by_id(text(&id.0)).filter(visible_to(user)?);
        let row = row.one(&transaction).await.map_err(Error::from)?;
        let old = only(&transaction, row).await?;
        let (owner, before) = (old.owner.clone(), (old.visibility, old.updated_at));
        let changed = change(old)?;
        let visibilities = [before.0, changed.visibility];
        let _change = self.changing(change_of(owner.as_ref(), visibilities));
        let (definition, nobody) = (&changed.definition, UserId::new(""));
        check_name(
            &transaction,
            &id.0,
            owner.as_ref().unwrap_or(&nobody),
            changed.visibility,
            &definition.name,
        )
        .await?;
        let row = experts::ActiveModel {
            id: Unchanged(text(&id.0)),
            visibility: Set(enum_column::write(changed.visibility)?),
            updated_at: Set(now().max(before.1 + 1)),
            ..fields(definition)?
        };
        let row = row.update(&transaction).await.map_err(Error::from)?;
        set_skills(&transaction, &id.0, &definition.skills).await?;
        let changed = only(&transaction, Some(row)).await?;
        transaction.commit().await.map_err(Error::from)?;
        Ok(changed)
    }

    /// Deletes one, with its settings of tools. Chats that have it keep its id, and say that it is
    /// gone.
    pub async fn delete_expert(&self, id: &ExpertId) -> Result<()> {
        let _change = self.changing(StoreChange::Experts(None));
        let _settings = self.changing(StoreChange::ToolSettings(None));
        let transaction = self.begin().await?;
        let deleted = experts::Entity::delete_by_id(text(&id.0))
            .exec(&transaction)
            .await?;
        if deleted.rows_affected == 0 {
            return Err(Error::NotFound("expert"));
        }
        forget(&transaction, &id.0).await?;
        Ok(transaction.commit().await?)
    }
}

/// Deletes a user's private items; shared ones stay with the team.
pub(crate) async fn forget_user(transaction: &DatabaseTransaction, user: &UserId) -> Result<()> {
    let own = Condition::all().add(experts::Column::Owner.eq(text(&user.0)));
    let private = experts::Column::Visibility.eq(enum_column::write(Visibility::Private)?);
    let rows = experts::Entity::find()
        .filter(own.clone())
        .filter(private.clone())
        .all(transaction)
        .await?;
    for row in rows {
        forget(transaction, &row.id).await?;
    }
    experts::Entity::delete_many()
        .filter(own.clone())
        .filter(private)
        .exec(transaction)
        .await?;
    experts::Entity::update_many()
        .col_expr(experts::Column::Owner, Expr::value(""))
        .filter(own)
        .exec(transaction)
        .await?;
    Ok(())
}

/// Forgets what is kept about an expert besides its row.
async fn forget(transaction: &DatabaseTransaction, id: &str) -> Result<()> {
    set_skills(transaction, id, &[]).await?;
    tool_settings::forget(transaction, Layer::Expert, id).await
}

/// Those of the team are everybody's to read.
fn change_of(
    owner: Option<&UserId>,
    visibilities: impl IntoIterator<Item = Visibility>,
) -> StoreChange {
    let mut visibilities = visibilities.into_iter();
    let is_private = visibilities.all(|visibility| visibility == Visibility::Private);
    StoreChange::Experts(owner.filter(|_| is_private).cloned())
}

fn visible_to(user: &UserId) -> Result<Condition> {
    Ok(Condition::any()
        .add(experts::Column::Owner.eq(text(&user.0)))
        .add(experts::Column::Visibility.eq(enum_column::write(Visibility::Team)?)))
}

/// A name is used once by the team, and once by each owner for themself.
async fn check_name(
    transaction: &DatabaseTransaction,
    id: &str,
    owner: &UserId,
    visibility: Visibility,
    name: &str,
) -> Result<()> {
    let mut same = experts::Entity::find()
        .filter(experts::Column::Name.eq(text(name)))
        .filter(experts::Column::Visibility.eq(enum_column::write(visibility)?))
        .filter(experts::Column::Id.ne(text(id)));
    if visibility == Visibility::Private {
        same = same.filter(experts::Column::Owner.eq(text(&owner.0)));
    }
    match same.one(transaction).await? {
        Some(_) => Err(Error::Taken("expert")),
        None => Ok(()),
    }
}

/// The columns that hold a definition.
fn fields(definition: &ExpertDefinition) -> Result<experts::ActiveModel> {
    Ok(experts::ActiveModel {
        name: Set(text(&definition.name)),
        title: Set(text(&definition.title)),
        description: Set(text(&definition.description)),
        icon: Set(text(&definition.icon)),
        model_id: Set(definition.model.as_ref().map(|model| text(&model.0))),
        parameters: Set(serde_json::to_string(&definition.parameters)?),
        system_prompt: Set(text(&definition.system_prompt)),
        tools: Set(definition
            .tools
            .as_ref()
            .map(serde_json::to_string)
            .transpose()?),
        starters: Set(serde_json::to_string(&definition.starters)?),
        ..Default::default()
    })
}

async fn set_skills(
    transaction: &DatabaseTransaction,
    expert: &str,
    skills: &[SourceId],
) -> Result<()> {
    expert_skills::Entity::delete_many()
        .filter(expert_skills::Column::ExpertId.eq(text(expert)))
        .exec(transaction)
        .await?;
    if skills.is_empty() {
        return Ok(());
    }
    let rows = skills.iter().map(|skill| expert_skills::ActiveModel {
        expert_id: Set(text(expert)),
        skill_id: Set(text(&skill.0)),
    });
    expert_skills::Entity::insert_many(rows)
        .exec_without_returning(transaction)
        .await?;
    Ok(())
}

async fn only(db: &impl ConnectionTrait, row: Option<experts::Model>) -> Result<StoredExpert> {
    let found = with_skills(db, row.into_iter().collect()).await?;
    found.into_iter().next().ok_or(Error::NotFound("expert"))
}

async fn with_skills(
    db: &impl ConnectionTrait,
    rows: Vec<experts::Model>,
) -> Result<Vec<StoredExpert>> {
    let mut skills: HashMap<String, Vec<SourceId>> = HashMap::new();
    if !rows.is_empty() {
        let ids = rows.iter().map(|row| row.id.as_str());
        let found = expert_skills::Entity::find()
            .filter(expert_skills::Column::ExpertId.is_in(ids))
            .order_by_asc(expert_skills::Column::SkillId)
            .all(db)
            .await?;
        for skill in found {
            let of_expert = skills.entry(skill.expert_id).or_default();
            of_expert.push(SourceId(skill.skill_id));
        }
    }
    let stored = rows.into_iter().map(|row| {
        let skills = skills.remove(&row.id).unwrap_or_default();
        stored(row, skills)
    });
    stored.collect()
}

fn stored(row: experts::Model, skills: Vec<SourceId>) -> Result<StoredExpert> {
    Ok(StoredExpert {
        id: ExpertId(row.id),
        owner: read_owner(row.owner),
        visibility: enum_column::read(&row.visibility)?,
        definition: ExpertDefinition {
            name: row.name,
            title: row.title,
            description: row.description,
            icon: row.icon,
            model: row.model_id.map(ModelId),
            parameters: serde_json::from_str(&row.parameters)?,
            system_prompt: row.system_prompt,
            tools: row.tools.as_deref().map(serde_json::from_str).transpose()?,
            skills,
            starters: serde_json::from_str(&row.starters)?,
        },
        created_at: row.created_at,
        updated_at: row.updated_at,
    })
}
