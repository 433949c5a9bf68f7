//! Why a file cannot be attached.

use tenon_documents::ExtractError;
use tenon_domain::coded_errors;
use tenon_tools::OverQuota;

use crate::budget::BudgetError;

coded_errors! {
    /// Why a file cannot be attached.
    #[derive(Debug)]
    pub enum AttachmentError {
        Empty = "file_empty" => "This file is empty.",
        TooLarge { mb: usize } = "file_too_large" => "A file has {mb} MB at most. Attach a smaller one, or put it where a tool can read it.",
        ImageTooLarge { mb: usize } = "file_image_too_large" => "A picture has {mb} MB at most, because models accept no larger ones. Make it smaller.",
        TooMany { max: usize } = "file_too_many" => "A message has {max} files at most.",
        ExportTooLarge { mb: usize } = "files_too_large_to_export" => "The files of this chat take more than {mb} MB. Export it without them.",
        Encrypted = "file_encrypted" => "This document is protected with a password. Save it without one and attach it again.",
        Damaged = "file_damaged" => "This document cannot be read: it is damaged, or of another format than its name says.",
        NoText = "file_without_text" => "This document has no text, only pictures of pages. Attach its pages as pictures instead.",
        Unpacked = "file_unpacks_too_large" => "This document is too large when it is unpacked.",
        TooSlow { seconds: u64 } = "file_too_slow" => "The text of this document could not be read within {seconds} s. Attach a part of it.",
        Busy = "file_reader_busy" => "Other documents are being read. Attach this one again in a minute.",
        Reader { why: String } = "file_reader" => "Documents cannot be read on this server: {why}",
        NotWritten { why: String } = "file_not_written" => "The file cannot be put into the folder of this chat: {why}",
    }
    wraps {
        Quota(OverQuota),
        Memory(BudgetError),
        Store(tenon_store::Error),
    }
}

impl From<BudgetError> for AttachmentError {
    fn from(error: BudgetError) -> Self {
        Self::Memory(error)
    }
}

impl From<tenon_store::Error> for AttachmentError {
    fn from(error: tenon_store::Error) -> Self {
        Self::Store(error)
    }
}

impl From<ExtractError> for AttachmentError {
    fn from(error: ExtractError) -> Self {
        match error {
            ExtractError::Encrypted => Self::Encrypted,
            ExtractError::Damaged => Self::Damaged,
            ExtractError::NoText => Self::NoText,
            ExtractError::TooLarge => Self::Unpacked,
        }
    }
}
