//! The chats of a user: created, listed with a cursor, pinned, archived.
//!
//! Deleted chats are in `deleted_chats.rs`; nothing here finds them.

use std::time::Duration;

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, Select,
};
use tenon_domain::{ChatId, ChatSettings, ExpertId, FolderId, TitledBy, TurnId, UserId};

use crate::chat_owner::of;
use crate::entity::{chats, turns};
use crate::{Error, Result, Store, StoreChange, enum_column, fresh_id, now, search, to_column};

/// More pinned chats than this are no longer a choice.
const MAX_PINNED: u64 = 500;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chat {
    pub id: ChatId,
    pub title: String,
    /// The number of its newest event.
    pub last_seq: i64,
    pub created_at: i64,
    pub updated_at: i64,
    pub pinned: bool,
    pub archived: bool,
    /// Who answers in it; None: the general one.
    pub expert: Option<ExpertId>,
    pub folder: Option<FolderId>,
    /// In no list, and deleted a while after it was last used.
    pub temporary: bool,
}

/// Which chats of a user are listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatQuery {
    pub limit: u64,
    /// Those older than this one. None: from the newest on.
    pub before: Option<ChatCursor>,
    pub filter: ChatFilter,
    /// Those in this folder alone.
    pub folder: Option<FolderId>,
}

/// A cursor: after this chat, at its position then, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatCursor {
    pub updated_at: i64,
    pub id: ChatId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatFilter {
    Current,
    Archived,
}

/// What changes about a chat's place in the list. None: nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChatFlags {
    pub pinned: Option<bool>,
    pub archived: Option<bool>,
    pub temporary: Option<bool>,
}

impl ChatQuery {
    /// The newest chats in use.
    pub fn newest(limit: u64) -> Self {
        Self {
            limit,
            before: None,
            filter: ChatFilter::Current,
            folder: None,
        }
    }
}

impl Store {
    pub async fn create_chat(&self, user: &UserId, title: &str) -> Result<Chat> {
        let id = ChatId(fresh_id());
        let _change = self.changing_chat(user, &id);
        let row = chats::ActiveModel {
            title: Set(crate::text(title)),
            ..blank(id.clone(), user, now())?
        };
        let transaction = self.begin().await?;
        let row = row.insert(&transaction).await?;
        search::index_title(&transaction, &row.id, title).await?;
        transaction.commit().await?;
        Ok(row.into())
    }

    pub async fn chat(&self, user: &UserId, chat: &ChatId) -> Result<Chat> {
        let row = of(user)
            .filter(chats::Column::Id.eq(&chat.0))
            .one(&self.read)
            .await?;
        row.map(Chat::from).ok_or(Error::NotFound("chat"))
    }

    /// The existing ones of these chats, each with its owner.
    pub async fn chats_with_owners(&self, ids: &[ChatId]) -> Result<Vec<(UserId, Chat)>> {
        let rows = chats::Entity::find()
            .filter(chats::Column::Id.is_in(ids.iter().map(|id| &id.0)))
            .filter(chats::Column::DeletedAt.is_null())
            .all(&self.read)
            .await?;
        let owned = |row: chats::Model| (UserId(row.user_id.clone()), Chat::from(row));
        Ok(rows.into_iter().map(owned).collect())
    }

    /// A page of a user's chats, newest first. Those in use begin with all
    /// the pinned ones, which count for no page.
    pub async fn chats(&self, user: &UserId, query: &ChatQuery) -> Result<Vec<Chat>> {
        let newest_first = |chats: Select<chats::Entity>| {
            chats
                .order_by_desc(chats::Column::UpdatedAt)
                .order_by_desc(chats::Column::Id)
        };
        let mut rows = Vec::new();
        let mut listed = of(user).filter(chats::Column::Temporary.eq(false));
        if let Some(folder) = &query.folder {
            listed = listed.filter(chats::Column::FolderId.eq(crate::text(&folder.0)));
        }
        let mut page = match query.filter {
            ChatFilter::Archived => listed.filter(chats::Column::ArchivedAt.is_not_null()),
            ChatFilter::Current => {
                let current = listed.filter(chats::Column::ArchivedAt.is_null());
                if query.before.is_none() {
                    let pinned = current
                        .clone()
                        .filter(chats::Column::PinnedAt.is_not_null())
                        .limit(MAX_PINNED);
                    rows = newest_first(pinned).all(&self.read).await?;
                }
                current.filter(chats::Column::PinnedAt.is_null())
            }
        };
        if let Some(before) = &query.before {
            let place = Expr::tuple([
                Expr::col(chats::Column::UpdatedAt),
                Expr::col(chats::Column::Id),
            ]);
            let from = Expr::tuple([
                Expr::value(before.updated_at),
                Expr::value(before.id.0.clone()),
            ]);
            page = page.filter(place.lt(from));
        }
        let page = newest_first(page).limit(query.limit);
        rows.extend(page.all(&self.read).await?);
        Ok(rows.into_iter().map(Chat::from).collect())
    }

    /// Pins a chat or files it away. It keeps its age.
    pub async fn set_chat_flags(
        &self,
        user: &UserId,
        chat: &ChatId,
        flags: ChatFlags,
    ) -> Result<()> {
        if flags == ChatFlags::default() {
            return self.chat(user, chat).await.map(drop);
        }
        let _change = self.changing_chat(user, chat);
        let since = |yes: bool| Expr::value(yes.then(now));
        let mut update = chats::Entity::update_many()
            .filter(chats::Column::Id.eq(&chat.0))
            .filter(chats::Column::UserId.eq(&user.0))
            .filter(chats::Column::DeletedAt.is_null());
        if let Some(pinned) = flags.pinned {
            update = update.col_expr(chats::Column::PinnedAt, since(pinned));
        }
        if let Some(archived) = flags.archived {
            update = update.col_expr(chats::Column::ArchivedAt, since(archived));
        }
        if let Some(temporary) = flags.temporary {
            update = update.col_expr(chats::Column::Temporary, Expr::value(temporary));
        }
        match update.exec(&self.write).await?.rows_affected {
            0 => Err(Error::NotFound("chat")),
            _ => Ok(()),
        }
    }

    /// Has another expert answer in a chat from now on; None: the general one.
    pub async fn set_chat_expert(
        &self,
        user: &UserId,
        chat: &ChatId,
        expert: Option<&ExpertId>,
    ) -> Result<()> {
        let _change = self.changing_chat(user, chat);
        // An expert has settings of tools.
        let _settings = self.changing(StoreChange::ToolSettings(Some(user.clone())));
        let expert = expert.map(|expert| crate::text(&expert.0));
        let updated = chats::Entity::update_many()
            .col_expr(chats::Column::ExpertId, Expr::value(expert))
            .filter(chats::Column::Id.eq(&chat.0))
            .filter(chats::Column::UserId.eq(&user.0))
            .filter(chats::Column::DeletedAt.is_null())
            .exec(&self.write)
            .await?;
        match updated.rows_affected {
            0 => Err(Error::NotFound("chat")),
            _ => Ok(()),
        }
    }

    /// What a chat is set to.
    pub async fn chat_settings(&self, user: &UserId, chat: &ChatId) -> Result<ChatSettings> {
        let row = of(user).filter(chats::Column::Id.eq(&chat.0));
        let row = row.one(&self.read).await?.ok_or(Error::NotFound("chat"))?;
        let settings = row.settings.as_deref().map(serde_json::from_str);
        Ok(settings.transpose()?.unwrap_or_default())
    }

    pub async fn set_chat_settings(
        &self,
        user: &UserId,
        chat: &ChatId,
        settings: &ChatSettings,
    ) -> Result<()> {
        let _change = self.changing_chat(user, chat);
        let settings = crate::text(&serde_json::to_string(settings)?);
        let updated = chats::Entity::update_many()
            .col_expr(chats::Column::Settings, Expr::value(settings))
            .filter(chats::Column::Id.eq(&chat.0))
            .filter(chats::Column::UserId.eq(&user.0))
            .filter(chats::Column::DeletedAt.is_null())
            .exec(&self.write)
            .await?;
        match updated.rows_affected {
            0 => Err(Error::NotFound("chat")),
            _ => Ok(()),
        }
    }

    /// Temporary chats in which nothing has happened for so long.
    pub async fn stale_temporary_chats(&self, age: Duration) -> Result<Vec<(UserId, ChatId)>> {
        let since = now().saturating_sub(to_column(age.as_millis() as u64));
        let rows: Vec<(String, String)> = chats::Entity::find()
            .filter(chats::Column::Temporary.eq(true))
            .filter(chats::Column::DeletedAt.is_null())
            .filter(chats::Column::UpdatedAt.lt(since))
            .select_only()
            .columns([chats::Column::UserId, chats::Column::Id])
            .into_tuple()
            .all(&self.read)
            .await?;
        let chat = |(user, chat)| (UserId(user), ChatId(chat));
        Ok(rows.into_iter().map(chat).collect())
    }

    /// The chat a turn belongs to, if it is this user's.
    pub async fn chat_of_turn(&self, user: &UserId, turn: &TurnId) -> Result<ChatId> {
        let turn = turns::Entity::find_by_id(&turn.0).one(&self.read).await?;
        let chat = ChatId(turn.ok_or(Error::NotFound("turn"))?.chat_id);
        match self.chat(user, &chat).await {
            Ok(chat) => Ok(chat.id),
            Err(Error::NotFound(_)) => Err(Error::NotFound("turn")),
            Err(other) => Err(other),
        }
    }
}

/// A chat in which nothing has happened yet.
pub(crate) fn blank(id: ChatId, user: &UserId, at: i64) -> Result<chats::ActiveModel> {
    Ok(chats::ActiveModel {
        id: Set(id.0),
        user_id: Set(user.0.clone()),
        title: Set(String::new()),
        last_seq: Set(0),
        created_at: Set(at),
        updated_at: Set(at),
        pinned_at: Set(None),
        archived_at: Set(None),
        deleted_at: Set(None),
        titled_by: Set(enum_column::write(TitledBy::Person)?),
        head: Set(None),
        expert_id: Set(None),
        folder_id: Set(None),
        settings: Set(None),
        temporary: Set(false),
    })
}

impl From<chats::Model> for Chat {
    fn from(row: chats::Model) -> Self {
        Self {
            id: ChatId(row.id),
            title: row.title,
            last_seq: row.last_seq,
            created_at: row.created_at,
            updated_at: row.updated_at,
            pinned: row.pinned_at.is_some(),
            archived: row.archived_at.is_some(),
            expert: row.expert_id.map(ExpertId),
            folder: row.folder_id.map(FolderId),
            temporary: row.temporary,
        }
    }
}
