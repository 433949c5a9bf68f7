//! Tool settings by layer: which tools are on, and which need approval.
//!
//! Settings stay while a tool or source is away, because it may come back.

use std::borrow::Cow;
use std::sync::Arc;

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, Condition, ConnectionTrait, EntityTrait, PaginatorTrait, QueryFilter};
use tenon_domain::{
    ChatId, ExpertId, Layer, Policy, SettingTarget, SourceId, ToolId, ToolSetting, ToolSettings,
    UserId,
};

use crate::chat_owner::owner_of;
use crate::entity::{chats, tool_settings};
use crate::read_caches::SettingsKey;
use crate::{Error, Result, Store, StoreChange, enum_column, text};

/// What a row about a source has before its id; no tool id has a colon.
const SOURCE_PREFIX: &str = "source:";

/// A change of one layer's setting for a tool or for all tools of a source. An outer None keeps the
/// current value; an inner None removes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolSettingChange {
    pub target: SettingTarget,
    pub enabled: Option<Option<bool>>,
    pub policy: Option<Option<Policy>>,
}

impl Store {
    /// The settings of all layers for a user and, if given, an expert and a chat. Without an
    /// expert, the chat's expert applies.
    pub async fn tool_settings(
        &self,
        user: &UserId,
        expert: Option<&ExpertId>,
        chat: Option<&ChatId>,
    ) -> Result<Arc<ToolSettings>> {
        let key = SettingsKey {
            user: user.clone(),
            expert: expert.cloned(),
            chat: chat.cloned(),
        };
        let load = || self.load_tool_settings(user, expert, chat);
        let cache = &self.caches.tool_settings;
        cache.get_or_load(&self.changes, key, load).await
    }

    async fn load_tool_settings(
        &self,
        user: &UserId,
        expert: Option<&ExpertId>,
        chat: Option<&ChatId>,
    ) -> Result<Arc<ToolSettings>> {
        let expert = match (expert, chat) {
            (Some(expert), _) => Some(expert.clone()),
            (None, Some(chat)) => self.expert_of(chat).await?,
            (None, None) => None,
        };
        let mut layers = Condition::any()
            .add(of(Layer::Organisation, "")?)
            .add(of(Layer::User, user.as_str())?);
        if let Some(expert) = expert {
            layers = layers.add(of(Layer::Expert, expert.as_str())?);
        }
        if let Some(chat) = chat {
            layers = layers.add(of(Layer::Chat, chat.as_str())?);
        }
        let rows = tool_settings::Entity::find()
            .filter(layers)
            .all(&self.read)
            .await?;
        let settings: Vec<_> = rows.into_iter().map(setting_of).collect::<Result<_>>()?;
        Ok(Arc::new(ToolSettings::new(settings)))
    }

    async fn expert_of(&self, chat: &ChatId) -> Result<Option<ExpertId>> {
        let chat = chats::Entity::find_by_id(&chat.0).one(&self.read).await?;
        Ok(chat.and_then(|chat| chat.expert_id).map(ExpertId))
    }

    /// Changes what a layer says; `owner` is the user, expert or chat whose layer
    /// it is, and empty for the organisation. All of it or nothing.
    pub async fn set_tools(
        &self,
        layer: Layer,
        owner: &str,
        changes: impl IntoIterator<Item = ToolSettingChange>,
    ) -> Result<()> {
        let transaction = self.begin().await?;
        let user = match layer {
            Layer::User => Some(UserId::new(owner)),
            Layer::Chat => match owner_of(&transaction, owner).await {
                Ok(user) => Some(user),
                Err(Error::NotFound(_)) => None,
                Err(other) => return Err(other),
            },
            Layer::Organisation | Layer::Expert => None,
        };
        let _change = self.changing(StoreChange::ToolSettings(user));
        for change in changes {
            put(&transaction, layer, owner, change).await?;
        }
        tidy(&transaction, layer, owner).await?;
        Ok(transaction.commit().await?)
    }
}

pub(crate) async fn put(
    db: &impl ConnectionTrait,
    layer: Layer,
    owner: &str,
    change: ToolSettingChange,
) -> Result<()> {
    let mut changed = Vec::new();
    if change.enabled.is_some() {
        changed.push(tool_settings::Column::Enabled);
    }
    if change.policy.is_some() {
        changed.push(tool_settings::Column::Policy);
    }
    if changed.is_empty() {
        return Ok(());
    }
    let row = tool_settings::ActiveModel {
        layer: Set(enum_column::write(layer)?),
        owner: Set(text(owner)),
        tool_id: Set(text(&column_of(&change.target))),
        enabled: Set(change.enabled.flatten()),
        policy: Set(change
            .policy
            .flatten()
            .map(enum_column::write)
            .transpose()?),
    };
    let known = OnConflict::columns([
        tool_settings::Column::Layer,
        tool_settings::Column::Owner,
        tool_settings::Column::ToolId,
    ])
    .update_columns(changed)
    .to_owned();
    tool_settings::Entity::insert(row)
        .on_conflict(known)
        .exec_without_returning(db)
        .await?;
    Ok(())
}

/// Whether a layer has a policy for whole sources.
pub(crate) async fn has_source_policies(
    db: &impl ConnectionTrait,
    layer: Layer,
    owner: &str,
) -> Result<bool> {
    let rows = tool_settings::Entity::find()
        .filter(of(layer, owner)?)
        .filter(tool_settings::Column::ToolId.starts_with(SOURCE_PREFIX))
        .filter(tool_settings::Column::Policy.is_not_null());
    Ok(rows.count(db).await? > 0)
}

fn column_of(target: &SettingTarget) -> Cow<'_, str> {
    match target {
        SettingTarget::Tool(tool) => tool.as_str().into(),
        SettingTarget::Source(source) => format!("{SOURCE_PREFIX}{source}").into(),
    }
}

/// Removes rows that say nothing any more.
pub(crate) async fn tidy(db: &impl ConnectionTrait, layer: Layer, owner: &str) -> Result<()> {
    tool_settings::Entity::delete_many()
        .filter(of(layer, owner)?)
        .filter(tool_settings::Column::Enabled.is_null())
        .filter(tool_settings::Column::Policy.is_null())
        .exec(db)
        .await?;
    Ok(())
}

/// Forgets a layer whose owner is gone.
pub(crate) async fn forget(db: &impl ConnectionTrait, layer: Layer, owner: &str) -> Result<()> {
    tool_settings::Entity::delete_many()
        .filter(of(layer, owner)?)
        .exec(db)
        .await?;
    Ok(())
}

fn of(layer: Layer, owner: &str) -> Result<Condition> {
    Ok(Condition::all()
        .add(tool_settings::Column::Layer.eq(enum_column::write(layer)?))
        .add(tool_settings::Column::Owner.eq(text(owner))))
}

fn setting_of(row: tool_settings::Model) -> Result<(Layer, SettingTarget, ToolSetting)> {
    let setting = ToolSetting {
        enabled: row.enabled,
        policy: row.policy.as_deref().map(enum_column::read).transpose()?,
    };
    let target = match row.tool_id.strip_prefix(SOURCE_PREFIX) {
        Some(source) => SettingTarget::Source(SourceId::new(source)),
        None => SettingTarget::Tool(ToolId(row.tool_id)),
    };
    Ok((enum_column::read(&row.layer)?, target, setting))
}
