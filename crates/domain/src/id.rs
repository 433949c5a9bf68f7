//! Ids are types, so that a chat can never be passed where a call is meant.
//!
//! This room only carries them: fresh ones need a clock or a source of
//! randomness and are made by `store`, which is where they are kept.

use std::borrow::Borrow;
use std::fmt;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
        #[ts(type = "string")]
        pub struct $name(pub String);

        impl $name {
            pub fn new(id: impl Into<String>) -> Self {
                Self(id.into())
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    )*};
}

ids! {
    /// A person with an account.
    UserId
    /// One conversation.
    ChatId
    /// One user message and everything it sets off.
    TurnId
    /// One thing said, by a person or by a model.
    MessageId
    /// One tool call. Unique for ever, whatever the model numbered it.
    CallId
    /// One attempt to have a model answer.
    ModelCallId
    /// A model that can be chosen: "builtin", "ollama:llama3.2", or the id of a row.
    ModelId
    /// An expert: the name of one that comes with Tenon, or the id of a row.
    ExpertId
    /// A prompt that somebody saved.
    PromptId
    /// A folder of chats.
    FolderId
    /// A file that somebody attached to a message.
    FileId
    /// What offers tools: a table of built-ins, a server, a browser.
    SourceId
    /// Bytes too large to stand in a row.
    BlobId
    /// A question that a tool asks a person while it runs.
    FormId
    /// A log-in that lasts: one browser of one person.
    SessionId
    /// A key for programs that act for a person.
    KeyId
    /// An invitation to make an account.
    InviteId
    /// The name a model calls a tool by: `[A-Za-z0-9_-]{1,64}`. Looked up, never parsed.
    ToolId
}
