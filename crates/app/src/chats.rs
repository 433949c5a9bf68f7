//! Chats as lists show them, and as files: JSON that Tenon reads again, Markdown for people.

mod export;
mod exported_files;
mod exported_settings;
mod import;
mod import_error;
mod markdown;
mod summary;

pub use export::{ExportedChat, ExportedFile, ExportedMessage, ExportedTurn, export};
pub use exported_files::export_files;
pub use exported_settings::ExportedSettings;
pub use import::{MAX_IMPORT_BYTES, MAX_TITLE_CHARS, read};
pub use import_error::ImportError;
pub use markdown::write as write_markdown;
pub use summary::{ChatSummary, summaries};
