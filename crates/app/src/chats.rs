//! Chats as lists show them, and as files: JSON that Tenon reads again, Markdown for people.

mod export;
mod exported_files;
mod import;
mod markdown;
mod summary;

pub use export::{ExportedChat, ExportedFile, ExportedMessage, ExportedTurn, export};
pub use exported_files::export_files;
pub use import::{ImportError, MAX_TITLE_CHARS, read};
pub use markdown::write as write_markdown;
pub use summary::{ChatSummary, summaries};
