//! Chats as lists show them: what is stored, and what happens in them now.

use serde::Serialize;
use tenon_agent::Agent;
use tenon_domain::{ChatId, ExpertId, FolderId, TurnId};
use tenon_store::{Chat, Result, Store};
use ts_rs::TS;

/// One row of a list of chats: the pinned ones first, then the newest. The pinned ones are
/// on the first page alone, where they come on top of its limit; among the archived ones
/// they are like others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ChatSummary {
    pub id: ChatId,
    /// Empty until the first message gives it one.
    pub title: String,
    #[ts(type = "number")]
    pub created_at: i64,
    #[ts(type = "number")]
    pub updated_at: i64,
    pub pinned: bool,
    pub archived: bool,
    /// Who answers in it; absent: the general one.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expert_id: Option<ExpertId>,
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder_id: Option<FolderId>,
    /// In no list, and deleted a day after it was last used.
    pub temporary: bool,
    /// The turn that is running now.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub running: Option<TurnId>,
    /// A call waits for somebody: to allow it, or to fill in its form.
    pub asking: bool,
}

/// One query for all of them.
pub async fn summaries(
    store: &Store,
    agent: &Agent,
    chats: impl IntoIterator<Item = Chat>,
) -> Result<Vec<ChatSummary>> {
    let chats: Vec<Chat> = chats.into_iter().collect();
    let ids: Vec<ChatId> = chats.iter().map(|chat| chat.id.clone()).collect();
    let mut asking = store.chats_awaiting_approval(&ids).await?;
    asking.extend(agent.chats_with_forms());
    let elsewhere = store.turns_elsewhere(&ids).await?;
    let summaries = chats.into_iter().map(|chat| ChatSummary {
        running: agent
            .running(&chat.id)
            .or_else(|| elsewhere.get(&chat.id).cloned()),
        asking: asking.contains(&chat.id),
        id: chat.id,
        title: chat.title,
        created_at: chat.created_at,
        updated_at: chat.updated_at,
        pinned: chat.pinned,
        archived: chat.archived,
        expert_id: chat.expert,
        folder_id: chat.folder,
        temporary: chat.temporary,
    });
    Ok(summaries.collect())
}
