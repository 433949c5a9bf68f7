//! Links to chats, for whoever has them. A chat has one or none; it shows one
//! branch up to the turn that was the last one to have ended when the link was made.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{OnConflict, Query};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use tenon_domain::{ChatId, TurnId, UserId};

use crate::entity::{chats, shares, turns, users};
use crate::random::random_bytes;
use crate::transcript::TranscriptScope;
use crate::{Chat, Error, Result, Store, Transcript, now};

/// Bytes of chance in a link: it cannot be guessed, and is the only thing asked for.
const TOKEN_BYTES: usize = 24;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    pub token: String,
    /// What tools were given and gave is shown too.
    pub with_tools: bool,
    /// The files that were attached can be read too.
    pub with_files: bool,
    pub created_at: i64,
    /// Another turn is the last one by now.
    pub behind: bool,
}

/// What a link shows besides what was said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ShareScope {
    pub with_tools: bool,
    pub with_files: bool,
}

impl Store {
    /// The link to a chat, where it has one.
    pub async fn share(&self, user: &UserId, chat: &ChatId) -> Result<Option<Share>> {
        let chat = self.row_of(user, chat).await?;
        let row = shares::Entity::find()
            .filter(shares::Column::ChatId.eq(&chat.id))
            .one(&self.read)
            .await?;
        Ok(row.map(|row| share(row, &chat)))
    }

    /// Makes a link, or lets the one there is show all up to now. None: there
    /// is nothing to show, for nothing has ended yet.
    pub async fn share_chat(
        &self,
        user: &UserId,
        chat: &ChatId,
        scope: ShareScope,
    ) -> Result<Option<Share>> {
        let chat = self.row_of(user, chat).await?;
        let Some(head) = self.last_ended(&ChatId::new(&chat.id)).await? else {
            return Ok(None);
        };
        let row = shares::ActiveModel {
            token: Set(token()),
            chat_id: Set(chat.id.clone()),
            head: Set(head.0),
            title: Set(chat.title.clone()),
            with_tools: Set(scope.with_tools),
            with_files: Set(scope.with_files),
            created_at: Set(now()),
        };
        let renew = OnConflict::column(shares::Column::ChatId)
            .update_columns([
                shares::Column::Head,
                shares::Column::Title,
                shares::Column::WithTools,
                shares::Column::WithFiles,
            ])
            .to_owned();
        let row = shares::Entity::insert(row)
            .on_conflict(renew)
            .exec_with_returning(&self.write)
            .await?;
        Ok(Some(share(row, &chat)))
    }

    /// Takes the link back, and tells whether there was one: that there is none is no mistake.
    pub async fn unshare_chat(&self, user: &UserId, chat: &ChatId) -> Result<bool> {
        let chat = self.row_of(user, chat).await?;
        let deleted = shares::Entity::delete_many()
            .filter(shares::Column::ChatId.eq(chat.id))
            .exec(&self.write)
            .await?;
        Ok(deleted.rows_affected > 0)
    }

    /// A user's own links, newest first.
    pub async fn shares(&self, user: &UserId) -> Result<Vec<(Chat, Share)>> {
        let rows: Vec<(shares::Model, Option<chats::Model>)> = shares::Entity::find()
            .find_also_related(chats::Entity)
            .filter(chats::Column::UserId.eq(&user.0))
            .filter(chats::Column::DeletedAt.is_null())
            .order_by_desc(shares::Column::CreatedAt)
            .order_by_asc(shares::Column::Token)
            .all(&self.read)
            .await?;
        let rows = rows.into_iter().filter_map(|(row, chat)| {
            let chat = chat?;
            let share = share(row, &chat);
            Some((Chat::from(chat), share))
        });
        Ok(rows.collect())
    }

    /// The transcript of a share link, and its scope. Links of a disabled user show nothing.
    pub async fn shared(&self, token: &str) -> Result<(Transcript, ShareScope)> {
        let (row, chat) = self.shared_row(token).await?;
        let chat = chats::Model {
            title: row.title,
            ..chat
        };
        let until = TurnId(row.head);
        let transcript = self
            .build_transcript(chat, TranscriptScope::Until(&until))
            .await?;
        let scope = ShareScope {
            with_tools: row.with_tools,
            with_files: row.with_files,
        };
        Ok((transcript, scope))
    }

    /// The chat that a link shows with its files.
    pub async fn chat_with_shared_files(&self, token: &str) -> Result<ChatId> {
        let (row, chat) = self.shared_row(token).await?;
        row.with_files
            .then_some(ChatId(chat.id))
            .ok_or(Error::NotFound("file"))
    }

    async fn shared_row(&self, token: &str) -> Result<(shares::Model, chats::Model)> {
        let disabled = Query::select()
            .column(users::Column::Id)
            .from(users::Entity)
            .and_where(users::Column::Disabled.eq(true))
            .to_owned();
        let row = shares::Entity::find_by_id(token)
            .find_also_related(chats::Entity)
            .filter(chats::Column::DeletedAt.is_null())
            .filter(chats::Column::UserId.not_in_subquery(disabled))
            .one(&self.read)
            .await?;
        match row {
            Some((row, Some(chat))) => Ok((row, chat)),
            Some((_, None)) | None => Err(Error::NotFound("link")),
        }
    }

    /// The last turn of the branch on show that nothing still running comes before.
    async fn last_ended(&self, chat: &ChatId) -> Result<Option<TurnId>> {
        let shown = self.branches(chat).await?.shown();
        let open: Vec<String> = turns::Entity::find()
            .filter(turns::Column::ChatId.eq(&chat.0))
            .filter(turns::Column::Outcome.is_null())
            .select_only()
            .column(turns::Column::Id)
            .into_tuple()
            .all(&self.read)
            .await?;
        let ended = shown.into_iter().take_while(|turn| !open.contains(&turn.0));
        Ok(ended.last())
    }
}

fn share(row: shares::Model, chat: &chats::Model) -> Share {
    Share {
        behind: chat.head.as_ref() != Some(&row.head),
        token: row.token,
        with_tools: row.with_tools,
        with_files: row.with_files,
        created_at: row.created_at,
    }
}

fn token() -> String {
    BASE64_URL_SAFE_NO_PAD.encode(random_bytes::<TOKEN_BYTES>())
}
