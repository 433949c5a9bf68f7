//! Chats as files: JSON that Tenon reads again, Markdown for people.

mod export;
mod import;
mod markdown;

pub use export::{ExportedChat, ExportedMessage, ExportedTurn, export};
pub use import::{ImportError, MAX_TITLE_CHARS, read};
pub use markdown::write as write_markdown;
