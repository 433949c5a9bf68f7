//! Prompts that people saved, to be put into a message by their command.

use sea_orm::ActiveValue::{Set, Unchanged};
use sea_orm::sea_query::Expr;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, Condition, DatabaseTransaction, EntityTrait, PaginatorTrait,
    QueryFilter, QueryOrder,
};
use tenon_domain::{PromptId, UserId, Visibility};

use crate::connect::one_at_a_time;
use crate::entity::prompts;
use crate::{Error, Result, Store, StoreChange, enum_column, fresh_id, now, read_owner, text};

/// Of one owner: all of them are read for the menu of the composer.
const MAX_PROMPTS: u64 = 500;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPrompt {
    pub id: PromptId,
    /// Who made it. None: it is the team's, and its owner is gone.
    pub owner: Option<UserId>,
    pub visibility: Visibility,
    pub command: String,
    pub title: String,
    pub text: String,
    pub updated_at: i64,
}

/// A prompt to be kept.
#[derive(Debug, Clone, Copy)]
pub struct NewPromptRow<'a> {
    pub visibility: Visibility,
    pub command: &'a str,
    pub title: &'a str,
    pub text: &'a str,
}

impl Store {
    /// A user's own and the team's, by command.
    pub async fn prompts(&self, user: &UserId) -> Result<Vec<StoredPrompt>> {
        let rows = prompts::Entity::find()
            .filter(visible_to(user)?)
            .order_by_asc(prompts::Column::Command)
            .order_by_asc(prompts::Column::Id)
            .all(&self.read)
            .await?;
        rows.into_iter().map(StoredPrompt::try_from).collect()
    }

    pub async fn add_prompt(&self, owner: &UserId, new: NewPromptRow<'_>) -> Result<StoredPrompt> {
        let _change = self.changing(StoreChange::Experts(None));
        let transaction = self.begin().await?;
        one_at_a_time(&transaction, "prompts").await?;
        let own = prompts::Entity::find().filter(prompts::Column::Owner.eq(text(&owner.0)));
        if own.count(&transaction).await? >= MAX_PROMPTS {
            return Err(Error::TooMany("prompts"));
        }
        let (id, at) = (fresh_id(), now());
        let row = prompts::ActiveModel {
            id: Set(id.clone()),
            owner: Set(text(&owner.0)),
            visibility: Set(enum_column::write(new.visibility)?),
            command: Set(text(new.command)),
            title: Set(text(new.title)),
            text: Set(text(new.text)),
            created_at: Set(at),
            updated_at: Set(at),
        };
        let row: StoredPrompt = row.insert(&transaction).await?.try_into()?;
        check_command(&transaction, &row).await?;
        transaction.commit().await?;
        Ok(row)
    }

    /// Changes a prompt visible to this user, in a transaction that locks it.
    pub async fn change_prompt<E: From<Error>>(
        &self,
        user: &UserId,
        id: &PromptId,
        change: impl FnOnce(StoredPrompt) -> std::result::Result<StoredPrompt, E>,
    ) -> std::result::Result<StoredPrompt, E> {
        let _change = self.changing(StoreChange::Experts(None));
        let transaction = self.begin().await?;
        one_at_a_time(&transaction, "prompts").await?;
        let found = prompts::Entity::find_by_id(text(&id.0)).filter(visible_to(user)?);
        let found = found.one(&transaction).await.map_err(Error::from)?;
        let old: StoredPrompt = found.ok_or(Error::NotFound("prompt"))?.try_into()?;
        let before = old.updated_at;
        let changed = change(old)?;
        check_command(&transaction, &changed).await?;
        let row = prompts::ActiveModel {
            id: Unchanged(text(&id.0)),
            visibility: Set(enum_column::write(changed.visibility)?),
            command: Set(text(&changed.command)),
            title: Set(text(&changed.title)),
            text: Set(text(&changed.text)),
            updated_at: Set(now().max(before + 1)),
            ..Default::default()
        };
        let row = row.update(&transaction).await.map_err(Error::from)?;
        transaction.commit().await.map_err(Error::from)?;
        Ok(row.try_into()?)
    }

    /// One that this user sees.
    pub async fn prompt(&self, user: &UserId, id: &PromptId) -> Result<StoredPrompt> {
        let found = prompts::Entity::find_by_id(text(&id.0)).filter(visible_to(user)?);
        let found = found.one(&self.read).await?;
        found.ok_or(Error::NotFound("prompt"))?.try_into()
    }

    pub async fn delete_prompt(&self, id: &PromptId) -> Result<()> {
        let _change = self.changing(StoreChange::Experts(None));
        let deleted = prompts::Entity::delete_by_id(text(&id.0))
            .exec(&self.write)
            .await?;
        match deleted.rows_affected {
            0 => Err(Error::NotFound("prompt")),
            _ => Ok(()),
        }
    }
}

/// Deletes a user's private items; shared ones stay with the team.
pub(crate) async fn forget_user(transaction: &DatabaseTransaction, user: &UserId) -> Result<()> {
    let own = prompts::Column::Owner.eq(text(&user.0));
    prompts::Entity::delete_many()
        .filter(own.clone())
        .filter(prompts::Column::Visibility.eq(enum_column::write(Visibility::Private)?))
        .exec(transaction)
        .await?;
    prompts::Entity::update_many()
        .col_expr(prompts::Column::Owner, Expr::value(""))
        .filter(own)
        .exec(transaction)
        .await?;
    Ok(())
}

fn visible_to(user: &UserId) -> Result<Condition> {
    Ok(Condition::any()
        .add(prompts::Column::Owner.eq(text(&user.0)))
        .add(prompts::Column::Visibility.eq(enum_column::write(Visibility::Team)?)))
}

/// A command is used once by the team, and once by each owner for themself.
async fn check_command(transaction: &DatabaseTransaction, prompt: &StoredPrompt) -> Result<()> {
    let mut same = prompts::Entity::find()
        .filter(prompts::Column::Command.eq(text(&prompt.command)))
        .filter(prompts::Column::Visibility.eq(enum_column::write(prompt.visibility)?))
        .filter(prompts::Column::Id.ne(text(&prompt.id.0)));
    if prompt.visibility == Visibility::Private {
        let owner = prompt.owner.as_ref().map_or("", UserId::as_str);
        same = same.filter(prompts::Column::Owner.eq(text(owner)));
    }
    match same.one(transaction).await? {
        Some(_) => Err(Error::Taken("prompt")),
        None => Ok(()),
    }
}

impl TryFrom<prompts::Model> for StoredPrompt {
    type Error = Error;

    fn try_from(row: prompts::Model) -> Result<Self> {
        Ok(Self {
            id: PromptId(row.id),
            owner: read_owner(row.owner),
            visibility: enum_column::read(&row.visibility)?,
            command: row.command,
            title: row.title,
            text: row.text,
            updated_at: row.updated_at,
        })
    }
}
