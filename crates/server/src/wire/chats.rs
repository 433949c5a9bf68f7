//! The JSON of chats, search and shares.

use serde::{Deserialize, Serialize};
use tenon_app::chats::ExportedTurn;
use tenon_app::json::double_option;
use tenon_domain::{
    CallRecord, ChatId, ExpertId, FileId, FolderId, MessageId, ModelId, OmittedTool, PageLanguage,
    Part, Role, ToolId, TurnId, Verdict,
};
use ts_rs::TS;

/// `POST /api/chats`, `PATCH /api/chats/{id}`
#[derive(Debug, Default, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ChatChange {
    #[ts(optional)]
    pub title: Option<String>,
    #[ts(optional)]
    pub pinned: Option<bool>,
    #[ts(optional)]
    pub archived: Option<bool>,
    /// Who answers from now on.
    #[ts(optional)]
    pub expert_id: Option<ExpertId>,
    /// Null: out of any folder.
    #[ts(optional, type = "FolderId | null")]
    #[serde(default, deserialize_with = "double_option")]
    pub folder_id: Option<Option<FolderId>>,
    /// In no list, and deleted a day after it was last used.
    #[ts(optional)]
    pub temporary: Option<bool>,
}

/// `POST /api/context`: a message that is about to be sent.
#[derive(Debug, Deserialize, TS)]
#[ts(optional_fields)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[derive(Default)]
pub struct ContextQuery {
    /// Left out, a new chat.
    pub chat_id: Option<ChatId>,
    /// Of a new chat.
    pub expert_id: Option<ExpertId>,
    /// Of a new chat.
    pub folder_id: Option<FolderId>,
    pub model_id: Option<ModelId>,
    pub text: Option<String>,
    pub device_id: Option<String>,
}

/// About what it would send to the model.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ContextView {
    /// How much the model reads and writes at most, where that is known.
    #[ts(optional, type = "number")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    #[ts(type = "number")]
    pub system_tokens: usize,
    #[ts(type = "number")]
    pub tool_tokens: usize,
    /// With the message.
    #[ts(type = "number")]
    pub history_tokens: usize,
    /// The tools that the model is told of, beside those that find others.
    pub tools: Vec<ToolId>,
    /// Those that it is not, though they are switched on.
    pub left_out: Vec<OmittedTool>,
    /// How many more it can find by searching.
    #[ts(type = "number")]
    pub deferred: usize,
}

/// `/api/me/instructions`
#[derive(Debug, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UserInstructions {
    /// For models, in all one's chats.
    pub instructions: String,
}

/// `POST /api/chats/{id}/turns`
#[derive(Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StartTurn {
    /// A UUID that the client chooses, so that sending the same message twice is one turn: the
    /// second time the response is the same. 409 where it is another message's. Left out, the
    /// server chooses one.
    #[ts(optional)]
    pub turn_id: Option<TurnId>,
    /// May be left out together with `replaces`: the same again.
    #[serde(default)]
    #[ts(optional, as = "Option<String>")]
    pub text: Option<String>,
    /// These tools alone; left out, those that are switched on.
    #[ts(optional)]
    pub tool_ids: Option<Vec<ToolId>>,
    /// Left out, that of the chat's expert, or the default one.
    #[ts(optional)]
    pub model_id: Option<ModelId>,
    /// The language of the page: which script of Chinese is answered in, where the message is
    /// written alike in both.
    #[ts(optional)]
    pub language: Option<PageLanguage>,
    /// The computer it is said at, by the id of its local tools: where it has any, the model is
    /// not offered those of other computers.
    #[ts(optional)]
    pub device_id: Option<String>,
    /// Files that were sent before, to go with this message.
    #[serde(default)]
    #[ts(optional, as = "Option<Vec<FileId>>")]
    pub file_ids: Vec<FileId>,
    /// Begins a branch beside this turn: what was said there stays, on its own branch.
    #[ts(optional)]
    pub replaces: Option<TurnId>,
}

/// 202 of `POST /api/chats/{id}/turns`
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TurnStarted {
    pub turn_id: TurnId,
}

/// `POST /api/chats/{id}/branch`: shows the branch this turn is on (204).
#[derive(Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChooseBranch {
    pub turn_id: TurnId,
}

/// `POST /api/calls/{id}/answer`: decides about a call that waits (204). 409
/// where it no longer waits. Not for keys with less than full access.
#[derive(Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AnswerCall {
    pub verdict: Verdict,
}

/// `GET /api/chats/{id}/messages`: the branch on show.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MessageView {
    pub id: MessageId,
    pub turn_id: TurnId,
    pub role: Role,
    pub text: String,
    pub parts: Vec<Part>,
    pub tool_calls: Vec<CallRecord>,
    #[ts(type = "number")]
    pub created_at: i64,
}

/// `GET /api/search?q=&limit=`, newest first, at most one hit for each chat and kind.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SearchHit {
    pub chat_id: ChatId,
    pub title: String,
    pub kind: SearchHitKind,
    /// Where in the chat; absent for its title.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// Some of the text around what was found.
    pub snippet: Vec<SnippetPiece>,
    #[ts(type = "number")]
    pub at: i64,
    pub archived: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
pub struct SnippetPiece {
    pub text: String,
    /// These are the words that were looked for.
    pub found: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "lowercase")]
pub enum SearchHitKind {
    Title,
    Message,
    Call,
}

/// `GET /api/chats/{id}/share` (null where it is not shared), `POST` makes or
/// renews the link up to the last turn on show that has ended (400 where there
/// is none), `DELETE` takes it back. The page's address for it is `#/shared/<token>`.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ShareView {
    pub token: String,
    /// What tools were given and what they gave is shown too.
    pub with_tools: bool,
    /// The files that were attached can be read too.
    pub files: bool,
    #[ts(type = "number")]
    pub created_at: i64,
    /// Something was said since, which the link does not show.
    pub behind: bool,
}

/// `GET /api/shares`: a user's own links.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct OwnShare {
    pub chat_id: ChatId,
    pub title: String,
    #[serde(flatten)]
    pub share: ShareView,
}

/// `POST /api/chats/{id}/share`
#[derive(Debug, Default, Deserialize, TS)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NewShare {
    #[ts(optional, as = "Option<bool>")]
    pub with_tools: bool,
    /// With the files that were attached.
    #[ts(optional, as = "Option<bool>")]
    pub files: bool,
}

/// `GET /api/shared/{token}`, for whoever has the link.
#[derive(Debug, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SharedChat {
    pub title: String,
    #[ts(type = "number")]
    pub created_at: i64,
    /// One branch, from the first turn to the last.
    pub turns: Vec<ExportedTurn>,
}
