//! Files that people attach to their messages.

use std::time::Duration;

use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, Func};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait, QueryFilter, QuerySelect,
};
use tenon_domain::{AttachedFile, ChatId, FileId, UserId};

use crate::entity::files;
use crate::{Error, Result, Store, enum_column, fresh_id, now, text, to_column};

/// A file as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileContent {
    pub file: AttachedFile,
    pub data: Vec<u8>,
    /// What a model can be told of it.
    pub text: Option<String>,
}

impl Store {
    /// Keeps a file that no message has yet. Its id is made here.
    pub async fn put_file(&self, owner: &UserId, content: FileContent) -> Result<AttachedFile> {
        let file = AttachedFile {
            id: FileId(fresh_id()),
            ..content.file
        };
        let content = FileContent {
            file: file.clone(),
            ..content
        };
        insert(&self.write, owner, content, None).await?;
        Ok(file)
    }

    /// A file of this user, with its bytes.
    pub async fn file(&self, owner: &UserId, id: &FileId) -> Result<FileContent> {
        let row = files::Entity::find_by_id(text(&id.0))
            .filter(files::Column::Owner.eq(text(&owner.0)))
            .one(&self.read)
            .await?;
        row.ok_or(Error::NotFound("file"))?.try_into()
    }

    /// A file of a chat, whoever asks.
    pub async fn file_of_chat(&self, chat: &ChatId, id: &FileId) -> Result<FileContent> {
        let row = files::Entity::find_by_id(text(&id.0))
            .filter(files::Column::ChatId.eq(&chat.0))
            .one(&self.read)
            .await?;
        row.ok_or(Error::NotFound("file"))?.try_into()
    }

    /// The text of a file of a chat, without the bytes it was read from. None: it has none.
    pub async fn file_text(&self, chat: &ChatId, id: &FileId) -> Result<Option<String>> {
        let found: Option<Option<String>> = files::Entity::find_by_id(text(&id.0))
            .filter(files::Column::ChatId.eq(&chat.0))
            .select_only()
            .column(files::Column::Text)
            .into_tuple()
            .one(&self.read)
            .await?;
        found.ok_or(Error::NotFound("file"))
    }

    /// The chat that has a file of this user. None: no message has it yet.
    pub async fn chat_of_file(&self, owner: &UserId, id: &FileId) -> Result<Option<ChatId>> {
        let chat: Option<Option<String>> = files::Entity::find_by_id(text(&id.0))
            .filter(files::Column::Owner.eq(text(&owner.0)))
            .select_only()
            .column(files::Column::ChatId)
            .into_tuple()
            .one(&self.read)
            .await?;
        let chat = chat.ok_or(Error::NotFound("file"))?;
        Ok(chat.map(ChatId))
    }

    /// From now on the file belongs to a chat, and goes with it. False: another message has taken
    /// it, of this chat or another.
    pub async fn attach_file(
        &self,
        owner: &UserId,
        id: &FileId,
        chat: &ChatId,
        name: &str,
    ) -> Result<bool> {
        let updated = files::Entity::update_many()
            .col_expr(files::Column::ChatId, Expr::value(chat.0.clone()))
            .col_expr(files::Column::Name, Expr::value(text(name)))
            .filter(files::Column::Id.eq(text(&id.0)))
            .filter(files::Column::Owner.eq(text(&owner.0)))
            .filter(files::Column::ChatId.is_null())
            .exec(&self.write)
            .await?;
        Ok(updated.rows_affected > 0)
    }

    /// Forgets a file that no message has.
    pub async fn delete_file(&self, owner: &UserId, id: &FileId) -> Result<()> {
        let deleted = files::Entity::delete_many()
            .filter(files::Column::Id.eq(text(&id.0)))
            .filter(files::Column::Owner.eq(text(&owner.0)))
            .filter(files::Column::ChatId.is_null())
            .exec(&self.write)
            .await?;
        match deleted.rows_affected {
            0 => Err(Error::NotFound("file")),
            _ => Ok(()),
        }
    }

    /// How many bytes of files are kept for somebody.
    pub async fn file_bytes(&self, owner: &UserId) -> Result<u64> {
        let sum: Option<Option<i64>> = files::Entity::find()
            .filter(files::Column::Owner.eq(text(&owner.0)))
            .select_only()
            .expr(Expr::expr(Func::sum(Expr::col(files::Column::Size))).cast_as("BIGINT"))
            .into_tuple()
            .one(&self.read)
            .await?;
        Ok(u64::try_from(sum.flatten().unwrap_or_default()).unwrap_or_default())
    }

    /// Forgets files that were never sent.
    pub async fn sweep_files(&self, age: Duration) -> Result<u64> {
        let since = now().saturating_sub(to_column(age.as_millis() as u64));
        let swept = files::Entity::delete_many()
            .filter(files::Column::ChatId.is_null())
            .filter(files::Column::CreatedAt.lt(since))
            .exec(&self.write)
            .await?;
        Ok(swept.rows_affected)
    }
}

/// Under the id that it has.
pub(crate) async fn insert(
    db: &impl ConnectionTrait,
    owner: &UserId,
    content: FileContent,
    chat: Option<&ChatId>,
) -> Result<()> {
    let file = content.file;
    let row = files::ActiveModel {
        id: Set(file.id.0),
        owner: Set(text(&owner.0)),
        chat_id: Set(chat.map(|chat| chat.0.clone())),
        name: Set(text(&file.name)),
        media_type: Set(text(&file.media_type)),
        kind: Set(enum_column::write(file.kind)?),
        size: Set(to_column(file.size)),
        text: Set(content.text.as_deref().map(text)),
        truncated: Set(file.truncated),
        data: Set(content.data),
        created_at: Set(now()),
    };
    files::Entity::insert(row)
        .exec_without_returning(db)
        .await?;
    Ok(())
}

/// The files of a chat go with it.
pub(crate) async fn forget_chat(transaction: &DatabaseTransaction, chat: &ChatId) -> Result<()> {
    files::Entity::delete_many()
        .filter(files::Column::ChatId.eq(&chat.0))
        .exec(transaction)
        .await?;
    Ok(())
}

pub(crate) async fn forget_user(transaction: &DatabaseTransaction, user: &UserId) -> Result<()> {
    files::Entity::delete_many()
        .filter(files::Column::Owner.eq(text(&user.0)))
        .exec(transaction)
        .await?;
    Ok(())
}

impl TryFrom<files::Model> for FileContent {
    type Error = Error;

    fn try_from(row: files::Model) -> Result<Self> {
        let chars = row.text.as_deref().map(|text| text.chars().count() as u64);
        Ok(Self {
            file: AttachedFile {
                id: FileId(row.id),
                name: row.name,
                media_type: row.media_type,
                size: u64::try_from(row.size).unwrap_or_default(),
                kind: enum_column::read(&row.kind)?,
                text_chars: chars,
                truncated: row.truncated,
            },
            data: row.data,
            text: row.text,
        })
    }
}
