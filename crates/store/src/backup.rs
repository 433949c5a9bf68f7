//! Backup of everything into one file, and restore.
//!
//! A backup is gzip of JSON lines: a header, each row of each table as its
//! entity writes it, the files of the chats, a trailer. Nothing in it belongs
//! to one engine, so what SQLite gave PostgreSQL takes. The trailer carries a
//! hash of all before it: a file that was cut or changed is never restored.
//!
//! Deliberately not in it: sessions (people log in again), the search index
//! (it is made anew), which process runs what, and, unless asked for, the keys.

mod files;
mod read;
mod restore;
mod tables;
mod write;
mod writer;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Error;

pub use read::VerifiedBackup;
pub use restore::RestoreSummary;
pub use write::{BackupInput, ExistingFile};
pub use writer::BackupSummary;

/// Grows when older programs could not read a backup rightly for another
/// reason than new tables and columns.
const FORMAT: u32 = 1;

/// What a backup is, before anything of it is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupHeader {
    pub format: u32,
    /// How many migrations the tables had seen.
    pub schema: usize,
    /// Which Tenon wrote it.
    pub software: String,
    pub made_at: i64,
    /// How many rows of each table follow.
    pub rows: BTreeMap<String, u64>,
}

impl BackupHeader {
    pub fn total(&self) -> u64 {
        self.rows.values().sum()
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum BackupLine {
    Backup(BackupHeader),
    Row(String, Value),
    /// The lines of the key file.
    Keys(String),
    File(FileChunk),
    /// What came of this file so far is not all of it: it changed meanwhile.
    Skipped(String),
    End(BackupTrailer),
}

/// A stretch of a file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FileChunk {
    /// From the folder of all chats, with `/` between the names.
    path: String,
    #[serde(with = "crate::entity::bytes")]
    data: Vec<u8>,
    is_last: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct BackupTrailer {
    rows: u64,
    files: u64,
    /// Of every byte before this line, as hex.
    sha256: String,
}

/// Something went wrong with a file of a backup; `doing` is a sentence without its end.
fn broken(doing: impl fmt::Display) -> impl FnOnce(std::io::Error) -> Error {
    move |error| Error::Backup(format!("{doing}: {error}"))
}

#[cfg(test)]
mod tests;
