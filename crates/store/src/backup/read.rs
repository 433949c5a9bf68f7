//! Reading a backup, and knowing that all of it is there before any of it is used.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use sea_orm_migration::MigratorTrait;
use sha2::{Digest, Sha256};
use tenon_domain::text::hex;

use super::{BackupHeader, BackupLine, FORMAT, files, tables};
use crate::migration::Migrator;
use crate::{Error, Result};

/// SQLite keeps nothing longer in one value, and as base64 that is a third more.
const MAX_LINE_BYTES: u64 = 3 << 29;

/// A backup that was read from end to end and found whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedBackup {
    pub(super) path: PathBuf,
    pub header: BackupHeader,
    pub files: u64,
    /// The lines of the key file, if they are in it.
    pub keys: Option<String>,
}

impl VerifiedBackup {
    pub fn read(path: &Path) -> Result<Self> {
        let mut reader = BackupReader::open(path)?;
        let header = reader.header.clone();
        let (mut rows, mut files, mut keys) = (0, 0, None);
        let mut unfinished = None;
        while let Some(line) = reader.next()? {
            match line {
                BackupLine::Row(table, row) => {
                    tables::check(&table, row).map_err(|error| {
                        damaged(format_args!("a row of {table} is not one: {error}"))
                    })?;
                    rows += 1;
                }
                BackupLine::Keys(lines) => keys = Some(lines),
                BackupLine::File(chunk) => {
                    files::safe(&chunk.path)?;
                    files += u64::from(chunk.is_last);
                    unfinished = (!chunk.is_last).then_some(chunk.path);
                }
                BackupLine::Skipped(path) => {
                    files::safe(&path)?;
                    unfinished = None;
                }
                BackupLine::Backup(_) | BackupLine::End(_) => {
                    return Err(damaged("it begins twice"));
                }
            }
        }
        let end = reader.end.ok_or_else(|| damaged("it has no end"))?;
        if rows != header.total() || (rows, files) != end || unfinished.is_some() {
            return Err(damaged("something is missing in it"));
        }
        Ok(Self {
            path: path.to_owned(),
            header,
            files,
            keys,
        })
    }
}

/// One line after the other, up to a trailer that fits.
pub(super) struct BackupReader {
    lines: BufReader<GzDecoder<BufReader<File>>>,
    hash: Sha256,
    pub header: BackupHeader,
    /// Rows and files, as the trailer counts them.
    end: Option<(u64, u64)>,
}

impl BackupReader {
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|error| {
            Error::Backup(format!("{} cannot be read: {error}", path.display()))
        })?;
        let mut lines = BufReader::new(GzDecoder::new(BufReader::new(file)));
        let mut hash = Sha256::new();
        let first = read_line(&mut lines).ok().flatten();
        let first = first.unwrap_or_default();
        hash.update(&first);
        let Ok(BackupLine::Backup(header)) = serde_json::from_slice(&first) else {
            return Err(Error::Backup(format!(
                "{} is not a backup of Tenon",
                path.display()
            )));
        };
        if header.format > FORMAT || header.schema > Migrator::migrations().len() {
            return Err(Error::Backup(format!(
                "the backup was made by a newer Tenon ({}); this one is {}: update it first",
                header.software,
                env!("CARGO_PKG_VERSION")
            )));
        }
        Ok(Self {
            lines,
            hash,
            header,
            end: None,
        })
    }

    /// The next line; None after the trailer.
    pub fn next(&mut self) -> Result<Option<BackupLine>> {
        let Some(bytes) = read_line(&mut self.lines)? else {
            return match self.end {
                Some(_) => Ok(None),
                None => Err(damaged("its end is missing")),
            };
        };
        if self.end.is_some() {
            return Err(damaged("something follows its end"));
        }
        let line: BackupLine = serde_json::from_slice(&bytes).map_err(damaged)?;
        if let BackupLine::End(end) = line {
            if end.sha256 != hex(&self.hash.clone().finalize()) {
                return Err(damaged("its content was changed"));
            }
            self.end = Some((end.rows, end.files));
            // Once more, for what the compression has to say about the end.
            return self.next();
        }
        self.hash.update(&bytes);
        Ok(Some(line))
    }
}

fn read_line(lines: &mut impl BufRead) -> Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let read = lines.take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes);
    match read.map_err(damaged)? {
        0 => Ok(None),
        _ if bytes.ends_with(b"\n") => Ok(Some(bytes)),
        _ => Err(damaged("a line in it does not end")),
    }
}

fn damaged(why: impl std::fmt::Display) -> Error {
    Error::Backup(format!(
        "the backup is damaged or not complete ({why}); nothing was changed"
    ))
}
