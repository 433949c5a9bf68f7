//! Full-text search in chats.
//!
//! Every title, message and call is an entry with its words, written in the
//! transaction of the event it comes from. Newer entries have greater numbers,
//! so that the newest are found first without sorting. The entries say where;
//! what is shown is read from the chat itself.

mod engine;
mod index;
mod rebuild;
mod snippet;
mod tokenizer;

use std::collections::{HashMap, HashSet};

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};
use serde::Deserialize;
use tenon_domain::{ChatId, TurnId, UserId};

use crate::chat_owner::of;
use crate::entity::{chats, messages, tool_calls};
use crate::{Result, Store, enum_column};

use engine::SearchEntry;
use tokenizer::SearchTerm;

pub(crate) use index::{index_call, index_message, index_title};
pub use snippet::SnippetPart;

/// How many entries are looked at at a time, and how often: a word that is in
/// everything must not keep anybody waiting for the thirtieth chat it is in.
const BATCH_ROWS: u64 = 1_000;
const MAX_BATCHES: usize = 20;

/// A place where all the words occur.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchMatch {
    pub chat: ChatId,
    pub title: String,
    pub kind: MatchKind,
    /// None for a title.
    pub turn: Option<TurnId>,
    pub snippet: Vec<SnippetPart>,
    pub at: i64,
    pub archived: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MatchKind {
    Title,
    Message,
    Call,
}

/// What an entry points to.
struct IndexedText {
    text: String,
    turn: Option<TurnId>,
    at: i64,
}

impl Store {
    /// Where a user's chats speak of this: the newest first, each chat once
    /// for its title, its messages and its calls.
    pub async fn search(
        &self,
        user: &UserId,
        question: &str,
        limit: usize,
    ) -> Result<Vec<SearchMatch>> {
        let terms = tokenizer::terms(question);
        if terms.is_empty() {
            return Ok(Vec::new());
        }
        let (entries, chats) = self.matching(user, &terms, limit).await?;
        let mut subjects = self.subjects(&entries).await?;
        let mut hits = Vec::with_capacity(entries.len());
        for entry in entries {
            let Some(chat) = chats.get(&entry.chat_id) else {
                continue;
            };
            let kind: MatchKind = enum_column::read(&entry.kind)?;
            let subject = match kind {
                MatchKind::Title => Some(IndexedText {
                    text: chat.title.clone(),
                    turn: None,
                    at: chat.updated_at,
                }),
                MatchKind::Message | MatchKind::Call => subjects.remove(&entry.subject),
            };
            // The item was deleted during the search.
            let Some(subject) = subject else { continue };
            hits.push(SearchMatch {
                chat: ChatId(entry.chat_id),
                title: chat.title.clone(),
                kind,
                turn: subject.turn,
                snippet: snippet::snippet(&subject.text, &terms),
                at: subject.at,
                archived: chat.archived_at.is_some(),
            });
        }
        Ok(hits)
    }

    /// The entries to show, and the chats they are in. Whose a chat is, the
    /// chat itself says; the words only make the way shorter.
    async fn matching(
        &self,
        user: &UserId,
        terms: &[SearchTerm],
        limit: usize,
    ) -> Result<(Vec<SearchEntry>, HashMap<String, chats::Model>)> {
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        let (mut chats, mut asked) = (HashMap::new(), HashSet::new());
        let mut before = i64::MAX;
        for _ in 0..MAX_BATCHES {
            let entries = engine::matching(&self.read, user, terms, before, BATCH_ROWS).await?;
            let more = entries.len() as u64 == BATCH_ROWS;
            before = entries.last().map_or(before, |entry| entry.id);

            let new = entries.iter().map(|entry| entry.chat_id.clone());
            let new: Vec<String> = new.filter(|chat| asked.insert(chat.clone())).collect();
            let rows = of(user)
                .filter(chats::Column::Temporary.eq(false))
                .filter(chats::Column::Id.is_in(new));
            let rows = rows.all(&self.read).await?;
            chats.extend(rows.into_iter().map(|row| (row.id.clone(), row)));

            let theirs = entries.into_iter().filter(|entry| {
                chats.contains_key(&entry.chat_id)
                    && seen.insert((entry.chat_id.clone(), entry.kind.clone()))
            });
            found.extend(theirs);
            found.truncate(limit);
            if !more || found.len() == limit {
                break;
            }
        }
        Ok((found, chats))
    }

    /// The messages and calls that entries point to.
    async fn subjects(&self, entries: &[SearchEntry]) -> Result<HashMap<String, IndexedText>> {
        let named = |kind: MatchKind| {
            let of_kind = entries.iter().filter(move |e| e.kind == kind.as_str());
            of_kind.map(|entry| entry.subject.clone())
        };
        let calls = tool_calls::Entity::find()
            .filter(tool_calls::Column::Id.is_in(named(MatchKind::Call)))
            .all(&self.read)
            .await?;
        let said_in = calls.iter().map(|call| call.message_id.clone());
        let messages = messages::Entity::find()
            .filter(messages::Column::Id.is_in(named(MatchKind::Message).chain(said_in)))
            .all(&self.read)
            .await?;
        let turns: HashMap<&str, TurnId> = messages
            .iter()
            .map(|message| (message.id.as_str(), TurnId(message.turn_id.clone())))
            .collect();
        let mut subjects = HashMap::new();
        for call in &calls {
            let subject = IndexedText {
                text: index::call_text(call)?,
                turn: turns.get(call.message_id.as_str()).cloned(),
                at: call.requested_at,
            };
            subjects.insert(call.id.clone(), subject);
        }
        for message in &messages {
            let parts: Vec<_> = serde_json::from_str(&message.parts)?;
            let subject = IndexedText {
                text: index::message_text(&parts),
                turn: Some(TurnId(message.turn_id.clone())),
                at: message.created_at,
            };
            subjects.insert(message.id.clone(), subject);
        }
        Ok(subjects)
    }
}

impl MatchKind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Message => "message",
            Self::Call => "call",
        }
    }
}
