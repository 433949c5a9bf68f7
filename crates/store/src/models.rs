//! The models people configured. Which one a new chat begins with is kept here too.

use sea_orm::ActiveValue::{Set, Unchanged};
use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, QueryFilter, QueryOrder};
use tenon_domain::{ModelConfig, ModelId, ToolUse};

use crate::connect::one_at_a_time;
use crate::entity::models;
use crate::{Error, Result, Store, StoreChange, enum_column, now, text, to_column};

#[derive(Debug, Clone, PartialEq)]
pub struct StoredModel {
    pub config: ModelConfig,
    /// As [`crate::Vault`] sealed it, about the model's id. Without the vault's key it says
    /// nothing.
    pub sealed_key: Option<String>,
    /// The default model, used if nobody chose another.
    pub is_default: bool,
    pub created_at: i64,
    /// When its configuration or its key last changed.
    pub updated_at: i64,
}

impl Store {
    /// All models, oldest first.
    pub async fn models(&self) -> Result<Vec<StoredModel>> {
        let rows = models::Entity::find()
            .order_by_asc(models::Column::CreatedAt)
            .order_by_asc(models::Column::Id)
            .all(&self.read)
            .await?;
        rows.into_iter().map(StoredModel::try_from).collect()
    }

    pub async fn model(&self, model: &ModelId) -> Result<StoredModel> {
        let row = models::Entity::find_by_id(text(&model.0))
            .one(&self.read)
            .await?;
        row.ok_or(Error::NotFound("model"))?.try_into()
    }

    /// Adds a model, or changes the one that has this id: then all of it but
    /// its age and whether it is the default. No `sealed_key` means it has none.
    pub async fn put_model(
        &self,
        config: &ModelConfig,
        sealed_key: Option<&str>,
    ) -> Result<StoredModel> {
        let _change = self.changing(StoreChange::Models);
        let changed = OnConflict::column(models::Column::Id)
            .update_columns([
                models::Column::Name,
                models::Column::Provider,
                models::Column::BaseUrl,
                models::Column::Endpoint,
                models::Column::Model,
                models::Column::SealedKey,
                models::Column::Parameters,
                models::Column::ToolMode,
                models::Column::ToolsSeen,
                models::Column::ContextTokens,
                models::Column::Prices,
                models::Column::UpdatedAt,
            ])
            .to_owned();
        // One statement, which is a transaction in itself.
        let row = models::Entity::insert(fresh(config, sealed_key)?)
            .on_conflict(changed)
            .exec_with_returning(&self.write)
            .await?;
        row.try_into()
    }

    /// Deletes a model and its key. Turns it answered keep its name.
    pub async fn delete_model(&self, model: &ModelId) -> Result<()> {
        let _change = self.changing(StoreChange::Models);
        let deleted = models::Entity::delete_by_id(text(&model.0))
            .exec(&self.write)
            .await?;
        found(deleted.rows_affected)
    }

    /// Makes this model the default in place of the one that was; None: no model is.
    pub async fn choose_model(&self, model: Option<&ModelId>) -> Result<()> {
        let _change = self.changing(StoreChange::Models);
        let transaction = self.begin().await?;
        // Two choices at the same moment must not both stand.
        one_at_a_time(&transaction, "models").await?;
        models::Entity::update_many()
            .col_expr(models::Column::IsDefault, Expr::value(false))
            .filter(models::Column::IsDefault.eq(true))
            .exec(&transaction)
            .await?;
        if let Some(model) = model {
            let chosen = models::Entity::update_many()
                .col_expr(models::Column::IsDefault, Expr::value(true))
                .filter(models::Column::Id.eq(text(&model.0)))
                .exec(&transaction)
                .await?;
            // Returning drops the transaction: the default stays what it was.
            found(chosen.rows_affected)?;
        }
        Ok(transaction.commit().await?)
    }

    /// Changes a model in a transaction that locks it.
    pub async fn change_model<E: From<Error>>(
        &self,
        model: &ModelId,
        change: impl FnOnce(StoredModel) -> std::result::Result<(ModelConfig, Option<String>), E>,
    ) -> std::result::Result<StoredModel, E> {
        let _change = self.changing(StoreChange::Models);
        let transaction = self.begin().await?;
        one_at_a_time(&transaction, "models").await?;
        let row = models::Entity::find_by_id(text(&model.0))
            .one(&transaction)
            .await
            .map_err(Error::from)?;
        let old: StoredModel = row.ok_or(Error::NotFound("model"))?.try_into()?;
        let (is_default, created_at) = (old.is_default, old.created_at);
        let (config, sealed_key) = change(old)?;
        let changed = models::ActiveModel {
            id: Unchanged(text(&model.0)),
            is_default: Unchanged(is_default),
            created_at: Unchanged(created_at),
            ..fresh(&config, sealed_key.as_deref())?
        };
        let row = changed.update(&transaction).await.map_err(Error::from)?;
        transaction.commit().await.map_err(Error::from)?;
        Ok(row.try_into()?)
    }

    /// Keeps what a test saw of a model, if it is still the same one in the
    /// same place: while the test ran, a person may have changed or deleted it.
    pub async fn set_tools_seen(&self, tested: &ModelConfig, seen: Option<ToolUse>) -> Result<()> {
        let _change = self.changing(StoreChange::Models);
        let updated = models::Entity::update_many()
            .col_expr(
                models::Column::ToolsSeen,
                Expr::value(seen.map(enum_column::write).transpose()?),
            )
            .col_expr(models::Column::UpdatedAt, Expr::value(now()))
            .filter(models::Column::Id.eq(text(&tested.id.0)))
            .filter(models::Column::Provider.eq(enum_column::write(tested.provider)?))
            .filter(models::Column::BaseUrl.eq(text(&tested.base_url)))
            .filter(models::Column::Model.eq(text(&tested.model)))
            .exec(&self.write)
            .await?;
        found(updated.rows_affected)
    }
}

impl TryFrom<models::Model> for StoredModel {
    type Error = Error;

    fn try_from(row: models::Model) -> Result<Self> {
        Ok(Self {
            config: ModelConfig {
                id: ModelId(row.id),
                name: row.name,
                provider: enum_column::read(&row.provider)?,
                base_url: row.base_url,
                endpoint: row.endpoint,
                model: row.model,
                parameters: serde_json::from_str(&row.parameters)?,
                tool_mode: enum_column::read(&row.tool_mode)?,
                tools_seen: row
                    .tools_seen
                    .as_deref()
                    .map(enum_column::read)
                    .transpose()?,
                context_tokens: row.context_tokens.map(i64::unsigned_abs),
                tool_budget: row.tool_budget.map(i64::unsigned_abs),
                prices: row
                    .prices
                    .as_deref()
                    .map(serde_json::from_str)
                    .transpose()?,
            },
            sealed_key: row.sealed_key,
            is_default: row.is_default,
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }
}

fn fresh(config: &ModelConfig, sealed_key: Option<&str>) -> Result<models::ActiveModel> {
    let at = now();
    Ok(models::ActiveModel {
        id: Set(text(&config.id.0)),
        name: Set(text(&config.name)),
        provider: Set(enum_column::write(config.provider)?),
        base_url: Set(text(&config.base_url)),
        endpoint: Set(config.endpoint.as_deref().map(text)),
        model: Set(text(&config.model)),
        sealed_key: Set(sealed_key.map(text)),
        parameters: Set(serde_json::to_string(&config.parameters)?),
        tool_mode: Set(enum_column::write(config.tool_mode)?),
        tools_seen: Set(config.tools_seen.map(enum_column::write).transpose()?),
        context_tokens: Set(config.context_tokens.map(to_column)),
        tool_budget: Set(config.tool_budget.map(to_column)),
        prices: Set(config
            .prices
            .as_ref()
            .map(serde_json::to_string)
            .transpose()?),
        is_default: Set(false),
        created_at: Set(at),
        updated_at: Set(at),
    })
}

fn found(rows: u64) -> Result<()> {
    match rows {
        0 => Err(Error::NotFound("model")),
        _ => Ok(()),
    }
}
