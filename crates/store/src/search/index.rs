//! The searchable text: titles, messages, inputs and outputs of tools. Thinking is not indexed,
//! because nobody remembers it.

use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};
use serde_json::Value;
use tenon_domain::{Content, Part, ToolError, ToolOutput};

use super::{MatchKind, engine, tokenizer};
use crate::Result;
use crate::chat_owner::owner_of;
use crate::entity::{search_entries, tool_calls};

/// How much of a message can be found, and how much of what a tool was given
/// or gave. What is longer is data.
const MAX_MESSAGE_BYTES: usize = 64 * 1024;
const MAX_DATA_BYTES: usize = 16 * 1024;

/// A chat has one title: the new one takes the place of the former.
pub(crate) async fn index_title(db: &impl ConnectionTrait, chat: &str, title: &str) -> Result<()> {
    put(db, chat, MatchKind::Title, chat, title).await
}

pub(crate) async fn index_message(
    db: &impl ConnectionTrait,
    chat: &str,
    message: &str,
    parts: &[Part],
) -> Result<()> {
    put(db, chat, MatchKind::Message, message, &message_text(parts)).await
}

pub(crate) async fn index_call(db: &impl ConnectionTrait, call: &tool_calls::Model) -> Result<()> {
    let text = call_text(call)?;
    put(db, &call.chat_id, MatchKind::Call, &call.id, &text).await
}

/// What can be found of a message.
pub(crate) fn message_text(parts: &[Part]) -> String {
    let mut text = Part::words(parts);
    for part in parts {
        if let Part::File { file } = part {
            text.push('\n');
            text.push_str(&file.name);
        }
    }
    cut(&mut text, MAX_MESSAGE_BYTES);
    text
}

/// What can be found of a call.
pub(crate) fn call_text(call: &tool_calls::Model) -> Result<String> {
    let mut input = String::new();
    flatten(&serde_json::from_str(&call.input)?, &mut input);
    cut(&mut input, MAX_DATA_BYTES);
    let mut gave = String::new();
    if let Some(output) = &call.output {
        let output: ToolOutput = serde_json::from_str(output)?;
        for content in &output.content {
            match content {
                Content::Text { text } => gave.push_str(text),
                Content::Json { value } => flatten(value, &mut gave),
                Content::Image { .. } | Content::File { .. } | Content::Blob { .. } => {}
            }
            gave.push('\n');
        }
    }
    if let Some(error) = &call.error {
        let error: ToolError = serde_json::from_str(error)?;
        gave.push_str(&error.message);
    }
    cut(&mut gave, MAX_DATA_BYTES);
    Ok(format!("{}\n{input}\n{gave}", call.display_name))
}

async fn put(
    db: &impl ConnectionTrait,
    chat: &str,
    kind: MatchKind,
    subject: &str,
    text: &str,
) -> Result<()> {
    search_entries::Entity::delete_many()
        .filter(search_entries::Column::ChatId.eq(chat))
        .filter(search_entries::Column::Kind.eq(kind.as_str()))
        .filter(search_entries::Column::Subject.eq(subject))
        .exec(db)
        .await?;
    let words = tokenizer::words(text);
    if words.in_order.is_empty() {
        return Ok(());
    }
    let owner = owner_of(db, chat).await?;
    engine::insert(db, (chat, kind.as_str(), subject), &words, &owner).await
}

/// The words in JSON, without what makes it JSON: an escaped line break is no letter.
fn flatten(value: &Value, text: &mut String) {
    match value {
        // The rest would be cut off.
        _ if text.len() > MAX_DATA_BYTES => {}
        Value::Null => {}
        Value::Bool(yes) => text.push_str(if *yes { "true" } else { "false" }),
        Value::Number(number) => text.push_str(&number.to_string()),
        Value::String(string) => text.push_str(string),
        Value::Array(values) => {
            for value in values {
                flatten(value, text);
                text.push(' ');
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                text.push_str(name);
                text.push_str(": ");
                flatten(value, text);
                text.push(' ');
            }
        }
    }
}

/// At most so many bytes, cut between characters.
fn cut(text: &mut String, bytes: usize) {
    text.truncate(text.floor_char_boundary(bytes));
}
