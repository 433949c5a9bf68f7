//! The attached files of a chat that is exported.

use tenon_domain::{ChatId, FileId};
use tenon_store::{FileContent, Store};

use crate::files::AttachmentError;

/// Of the files in one export, with the texts of them: it is built in memory, and an import has to
/// have room for it beside what was said.
const MAX_EXPORT_BYTES: usize = 20 * 1024 * 1024;

/// The files of a chat, as far as one export holds them.
pub async fn export_files(
    store: &Store,
    chat: &ChatId,
    ids: Vec<FileId>,
) -> Result<Vec<FileContent>, AttachmentError> {
    let (mut files, mut bytes) = (Vec::new(), 0);
    for id in ids {
        let content = match store.file_of_chat(chat, &id).await {
            Ok(content) => content,
            // The chat was imported without it.
            Err(tenon_store::Error::NotFound(_)) => continue,
            Err(error) => return Err(error.into()),
        };
        bytes += content.data.len() + content.text.as_ref().map_or(0, String::len);
        if bytes > MAX_EXPORT_BYTES {
            let mb = MAX_EXPORT_BYTES / (1024 * 1024);
            return Err(AttachmentError::ExportTooLarge { mb });
        }
        files.push(content);
    }
    Ok(files)
}
