//! Imports a chat: its events are written with the times they happened at.

use sea_orm::ActiveModelTrait;
use sea_orm::ActiveValue::Set;
use tenon_domain::{ChatId, ChatSettings, Event, EventBody, ExpertId, UserId};

use crate::chats::blank;
use crate::entity::chats;
use crate::events::write;
use crate::files::{FileContent, insert};
use crate::projection::EventOrigin;
use crate::{Chat, Result, Store, StoreChange, folders, now, text};

/// What is to become a chat.
#[derive(Debug, Clone, PartialEq)]
pub struct NewChat {
    /// Fresh, like all ids in what happened.
    pub id: ChatId,
    pub created_at: i64,
    /// With the time of each, none before the one it follows. All of it has
    /// ended, and nobody was asked: what a person answers becomes a setting.
    pub happened: Vec<(i64, EventBody)>,
    /// The files that its messages have, with their ids.
    pub files: Vec<FileContent>,
    pub state: NewChatState,
}

/// What is set for a chat from its beginning.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewChatState {
    pub settings: ChatSettings,
    pub expert: Option<ExpertId>,
    /// The name of one of its user, which is made where there is none.
    pub folder: Option<String>,
    pub pinned: bool,
    pub archived: bool,
}

impl Store {
    /// All of it or nothing.
    pub async fn import_chat(&self, user: &UserId, chat: NewChat) -> Result<Chat> {
        let numbered = (1..).zip(chat.happened);
        let events: Vec<Event> = numbered
            .map(|(seq, (at, body))| Event {
                chat_id: chat.id.clone(),
                seq,
                at,
                body,
            })
            .collect();
        let state = chat.state;
        let settings = (state.settings != ChatSettings::default())
            .then(|| serde_json::to_string(&state.settings))
            .transpose()?;
        let mut row = chats::ActiveModel {
            settings: Set(settings.as_deref().map(text)),
            expert_id: Set(state.expert.map(|expert| text(&expert.0))),
            pinned_at: Set(state.pinned.then(now)),
            archived_at: Set(state.archived.then(now)),
            last_seq: Set(events.len() as i64),
            updated_at: Set(events.last().map_or(chat.created_at, |event| event.at)),
            ..blank(chat.id.clone(), user, chat.created_at)?
        };
        let _change = self.changing_chat(user, &chat.id);
        let preferences = || self.changing(StoreChange::Preferences(Some(user.clone())));
        let _folders = state.folder.is_some().then(preferences);
        let transaction = self.begin().await?;
        if let Some(name) = &state.folder {
            let folder = folders::named(&transaction, user, name).await?;
            row.folder_id = Set(Some(text(&folder.0)));
        }
        row.insert(&transaction).await?;
        write(&transaction, EventOrigin::File, &events).await?;
        for file in chat.files {
            insert(&transaction, user, file, Some(&chat.id)).await?;
        }
        transaction.commit().await?;
        self.chat(user, &chat.id).await
    }
}
