//! Builds the prompt of a model: the system prompt and the history of the chat.

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use tenon_domain::{
    AttachedFile, CallId, CallRecord, ChatId, FileKind, Message, MessageRecord, PageLanguage, Role,
    ToolAnswer, ToolCall, ToolError, TurnId, UserFile, UserImage,
};
use tenon_store::{Error as StoreError, Result, Store};

/// Which of Tenon's system prompts is used, if the caller gives none of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SystemPrompt {
    Full,
    /// For a model that reads slowly and has little room.
    Short,
    /// A model that is promised tools and has none invents their results.
    WithoutTools,
    /// For a model that has called tools and must not call any more.
    AnswerOnly,
}

/// For text that is the same in both Chinese scripts, models answer in Simplified.
const TRADITIONAL: &str =
    " Where that is Chinese, write Traditional characters unless the user writes Simplified ones.";

impl SystemPrompt {
    pub(crate) fn text(self, language: Option<PageLanguage>) -> String {
        let script = match language {
            Some(PageLanguage::Traditional) => TRADITIONAL,
            Some(PageLanguage::English | PageLanguage::Simplified) | None => "",
        };
        format!("{}{script}", self.template())
    }

    /// Deliberately without date, names or lists: a prompt that never changes is cached by providers.
    fn template(self) -> &'static str {
        match self {
            Self::Full => {
                "You are Tenon, a careful assistant with tools. \
                 Use a tool when it can find out or do what the user asks; do not guess what a tool can tell. \
                 When a call fails, read why, mend the call or say what is in the way. \
                 Answer in the language of the user."
            }
            // Measured with Qwen2.5-Coder-1.5B: without the third sentence it answers a greeting with a call. Behind the list
            // of tools the same sentence keeps it from calls that it needs.
            Self::Short => {
                "You are Tenon, a careful assistant with tools. \
                 Use a tool when it can find out or do what the user asks. \
                 Call a tool only if one fits the question; answer greetings and general knowledge in words. \
                 Answer in the language of the user."
            }
            Self::WithoutTools => {
                "You are Tenon, a careful assistant. \
                 You have no tools in this conversation: do not guess what only a tool could tell, such as the time, files or the web, \
                 but say that you cannot look it up. \
                 Answer in the language of the user."
            }
            Self::AnswerOnly => {
                "You are Tenon, a careful assistant. \
                 Answer the user in a sentence or two, with the results of the tools that were called. \
                 Answer in the language of the user."
            }
        }
    }
}

/// How much of attached pictures is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PictureData {
    Whole,
    /// Pictures are counted but not read, which is enough for an estimate.
    Absent,
}

/// The messages that lead to a turn and those of the turn so far, without other branches. Valid for
/// every provider: each call has a result, and a call that never ended is answered as lost.
pub(crate) async fn history(
    store: &Store,
    (chat, turn): (&ChatId, &TurnId),
    pictures: PictureData,
) -> Result<Vec<Message>> {
    let path = store.branches(chat).await?.path(Some(turn));
    let messages = store.messages_of(chat, &path).await?;
    let calls = store.calls(chat).await?;
    let calls: HashMap<CallId, CallRecord> = calls
        .into_iter()
        .map(|call| (call.id.clone(), call))
        .collect();

    let mut history = Vec::new();
    for message in messages {
        match message.role {
            Role::User => history.push(user_message(store, message, pictures).await?),
            Role::Assistant => history.extend(assistant_messages(message, &calls)),
        }
    }
    Ok(history)
}

/// A message of the user with the text of its attached files.
async fn user_message(
    store: &Store,
    message: MessageRecord,
    pictures: PictureData,
) -> Result<Message> {
    let (mut images, mut files) = (message.images(), Vec::new());
    for file in message.files() {
        let read = match file.kind {
            FileKind::Image => {
                let picture = picture(store, &message.chat_id, file, pictures).await;
                picture.map(|picture| images.push(picture))
            }
            FileKind::Text | FileKind::Document | FileKind::Other => {
                let text = store.file_text(&message.chat_id, &file.id).await;
                text.map(|text| files.push(user_file(file, text)))
            }
        };
        match read {
            Ok(()) => {}
            // The chat was imported without it.
            Err(StoreError::NotFound(_)) => {
                let gone = "(This file is not kept any more.)".to_owned();
                files.push(user_file(file, Some(gone)));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Message::User {
        text: message.text(),
        images,
        files,
    })
}

async fn picture(
    store: &Store,
    chat: &ChatId,
    file: &AttachedFile,
    pictures: PictureData,
) -> Result<UserImage> {
    let (media_type, data) = match pictures {
        PictureData::Whole => {
            let content = store.file_of_chat(chat, &file.id).await?;
            (content.file.media_type, STANDARD.encode(content.data))
        }
        PictureData::Absent => {
            // It has no text; whether it is kept is all that is asked.
            store.file_text(chat, &file.id).await?;
            (file.media_type.clone(), String::new())
        }
    };
    Ok(UserImage {
        media_type,
        data: data.into(),
        name: Some(file.name.clone()),
    })
}

fn user_file(file: &AttachedFile, text: Option<String>) -> UserFile {
    UserFile {
        name: file.name.clone(),
        text: text.map(Into::into),
    }
}

fn assistant_messages(message: MessageRecord, calls: &HashMap<CallId, CallRecord>) -> Vec<Message> {
    let answers: Vec<ToolAnswer> = message
        .parts
        .iter()
        .filter_map(|part| part.as_call())
        .map(|call| answer(call, calls))
        .collect();
    let mut messages = Vec::new();
    // A turn stopped before the first word leaves a message without any.
    if !message.parts.is_empty() {
        messages.push(Message::Assistant {
            parts: message.parts,
        });
    }
    if !answers.is_empty() {
        messages.push(Message::Tools { answers });
    }
    messages
}

fn answer(call: &ToolCall, calls: &HashMap<CallId, CallRecord>) -> ToolAnswer {
    let result = match calls.get(&call.id) {
        Some(record) => record.result(),
        None => Err(ToolError::lost()),
    };
    ToolAnswer {
        call_id: call.id.clone(),
        tool_id: call.tool_id.clone(),
        result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_of_traditional_chinese_are_not_answered_in_simplified() {
        let text = |language| SystemPrompt::Full.text(language);
        let plain = SystemPrompt::Full.template();
        assert_eq!(text(None), plain);
        assert_eq!(text(Some(PageLanguage::Simplified)), plain);
        let expected = format!("{plain}{TRADITIONAL}");
        assert_eq!(text(Some(PageLanguage::Traditional)), expected);
    }
}
