//! Why a document has no text.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum ExtractError {
    #[error("the document is encrypted")]
    Encrypted,
    /// Or of another format than its name says.
    #[error("the document is damaged")]
    Damaged,
    /// Pictures of pages, most often.
    #[error("the document has no text")]
    NoText,
    /// Unpacked it is more than is read.
    #[error("the document is too large when it is unpacked")]
    TooLarge,
}
