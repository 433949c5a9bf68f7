//! Folders that people put their chats into.

use sea_orm::ActiveValue::{Set, Unchanged};
use sea_orm::sea_query::Expr;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait,
    PaginatorTrait, QueryFilter, QueryOrder, Select,
};
use tenon_domain::{ChatId, ExpertId, FolderId, UserId};

use crate::connect::one_at_a_time;
use crate::entity::{chats, folders};
use crate::{Error, Result, Store, StoreChange, fresh_id, now, text};

/// Of one user: all of them are in the side bar.
const MAX_FOLDERS: u64 = 200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    pub id: FolderId,
    pub name: String,
    /// For the chats in it.
    pub instructions: String,
    /// Who answers in its new chats. None: the general one.
    pub expert: Option<ExpertId>,
}

/// What a folder is to be; what is None stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FolderEdit {
    pub name: Option<String>,
    pub instructions: Option<String>,
    pub expert: Option<Option<ExpertId>>,
}

impl Store {
    /// By name.
    pub async fn folders(&self, user: &UserId) -> Result<Vec<Folder>> {
        let rows = of_user(user)
            .order_by_asc(folders::Column::Name)
            .order_by_asc(folders::Column::Id)
            .all(&self.read)
            .await?;
        Ok(rows.into_iter().map(Folder::from).collect())
    }

    pub async fn folder(&self, user: &UserId, id: &FolderId) -> Result<Folder> {
        Ok(find(&self.read, user, id).await?.into())
    }

    pub async fn add_folder(&self, user: &UserId, new: FolderEdit) -> Result<Folder> {
        let _change = self.changing(StoreChange::Preferences(Some(user.clone())));
        let transaction = self.begin().await?;
        one_at_a_time(&transaction, "folders").await?;
        let row = insert(&transaction, user, new).await?;
        transaction.commit().await?;
        Ok(row.into())
    }

    pub async fn change_folder(
        &self,
        user: &UserId,
        id: &FolderId,
        edit: FolderEdit,
    ) -> Result<Folder> {
        let _change = self.changing(StoreChange::Preferences(Some(user.clone())));
        let old = find(&self.write, user, id).await?;
        let row = folders::ActiveModel {
            id: Unchanged(old.id),
            name: Set(edit.name.map_or(old.name, |name| text(&name))),
            instructions: Set(edit
                .instructions
                .map_or(old.instructions, |instructions| text(&instructions))),
            expert_id: Set(match edit.expert {
                Some(expert) => expert.map(|expert| text(&expert.0)),
                None => old.expert_id,
            }),
            ..Default::default()
        };
        Ok(row.update(&self.write).await?.into())
    }

    /// Its chats stay, in no folder.
    pub async fn delete_folder(&self, user: &UserId, id: &FolderId) -> Result<()> {
        let _change = self.changing(StoreChange::Preferences(Some(user.clone())));
        let _chats = self.changing(StoreChange::Chats);
        let transaction = self.begin().await?;
        let folder = find(&transaction, user, id).await?;
        chats::Entity::update_many()
            .col_expr(chats::Column::FolderId, Expr::value(None::<String>))
            .filter(chats::Column::FolderId.eq(&folder.id))
            .exec(&transaction)
            .await?;
        folders::Entity::delete_by_id(folder.id)
            .exec(&transaction)
            .await?;
        Ok(transaction.commit().await?)
    }

    /// Puts a chat into a folder of its user. None: out of any.
    pub async fn move_chat(
        &self,
        user: &UserId,
        chat: &ChatId,
        folder: Option<&FolderId>,
    ) -> Result<()> {
        let _change = self.changing_chat(user, chat);
        let transaction = self.begin().await?;
        let folder = match folder {
            Some(id) => Some(find(&transaction, user, id).await?.id),
            None => None,
        };
        let moved = chats::Entity::update_many()
            .col_expr(chats::Column::FolderId, Expr::value(folder))
            .filter(chats::Column::Id.eq(&chat.0))
            .filter(chats::Column::UserId.eq(&user.0))
            .filter(chats::Column::DeletedAt.is_null())
            .exec(&transaction)
            .await?;
        if moved.rows_affected == 0 {
            return Err(Error::NotFound("chat"));
        }
        Ok(transaction.commit().await?)
    }
}

/// The folder of that name, which is made where there is none. Within a transaction.
pub(crate) async fn named(
    transaction: &DatabaseTransaction,
    user: &UserId,
    name: &str,
) -> Result<FolderId> {
    let known = async || {
        let known = of_user(user).filter(folders::Column::Name.eq(text(name)));
        let known = known.order_by_asc(folders::Column::Id);
        known.one(transaction).await
    };
    // An import is long: others need not wait for it where there is nothing to make.
    if let Some(row) = known().await? {
        return Ok(FolderId(row.id));
    }
    one_at_a_time(transaction, "folders").await?;
    let row = match known().await? {
        Some(row) => row,
        None => {
            let name = Some(name.to_owned());
            let new = FolderEdit {
                name,
                ..FolderEdit::default()
            };
            insert(transaction, user, new).await?
        }
    };
    Ok(FolderId(row.id))
}

/// Within a transaction that has the folders to itself.
async fn insert(
    transaction: &DatabaseTransaction,
    user: &UserId,
    new: FolderEdit,
) -> Result<folders::Model> {
    if of_user(user).count(transaction).await? >= MAX_FOLDERS {
        return Err(Error::TooMany("folders"));
    }
    let row = folders::ActiveModel {
        id: Set(fresh_id()),
        owner: Set(text(&user.0)),
        name: Set(text(&new.name.unwrap_or_default())),
        instructions: Set(text(&new.instructions.unwrap_or_default())),
        expert_id: Set(new.expert.flatten().map(|expert| text(&expert.0))),
        created_at: Set(now()),
    };
    Ok(row.insert(transaction).await?)
}

fn of_user(user: &UserId) -> Select<folders::Entity> {
    folders::Entity::find().filter(folders::Column::Owner.eq(text(&user.0)))
}

async fn find(db: &impl ConnectionTrait, user: &UserId, id: &FolderId) -> Result<folders::Model> {
    let found = folders::Entity::find_by_id(text(&id.0))
        .filter(folders::Column::Owner.eq(text(&user.0)))
        .one(db)
        .await?;
    found.ok_or(Error::NotFound("folder"))
}

/// Their folders go; their chats are seen to elsewhere.
pub(crate) async fn forget_user(transaction: &DatabaseTransaction, user: &UserId) -> Result<()> {
    folders::Entity::delete_many()
        .filter(folders::Column::Owner.eq(text(&user.0)))
        .exec(transaction)
        .await?;
    Ok(())
}

impl From<folders::Model> for Folder {
    fn from(row: folders::Model) -> Self {
        Self {
            id: FolderId(row.id),
            name: row.name,
            instructions: row.instructions,
            expert: row.expert_id.map(ExpertId),
        }
    }
}
