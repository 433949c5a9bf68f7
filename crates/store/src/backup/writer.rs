//! The lines of a backup, compressed and hashed as they are written.

use std::io::{BufWriter, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use tenon_domain::text::hex;

use super::{BackupLine, BackupTrailer, broken};
use crate::Result;

/// What a backup holds, and what it does not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BackupSummary {
    pub rows: u64,
    pub files: u64,
    /// Files that are not in it, with the reason.
    pub skipped: Vec<(String, String)>,
}

pub(super) struct BackupWriter<W: Write> {
    out: GzEncoder<BufWriter<W>>,
    hash: Sha256,
    pub(super) made: BackupSummary,
}

impl<W: Write> BackupWriter<W> {
    pub(super) fn new(out: W) -> Self {
        Self {
            out: GzEncoder::new(BufWriter::new(out), Compression::fast()),
            hash: Sha256::new(),
            made: BackupSummary::default(),
        }
    }

    pub(super) fn line(&mut self, line: &BackupLine) -> Result<()> {
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        self.hash.update(&bytes);
        self.write(&bytes)
    }

    pub(super) fn finish(mut self) -> Result<BackupSummary> {
        let end = BackupLine::End(BackupTrailer {
            rows: self.made.rows,
            files: self.made.files,
            sha256: hex(&self.hash.clone().finalize()),
        });
        let mut bytes = serde_json::to_vec(&end)?;
        bytes.push(b'\n');
        self.write(&bytes)?;
        let ended = self.out.finish().and_then(|mut out| out.flush());
        ended.map_err(broken("the backup cannot be written"))?;
        Ok(self.made)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.out.write_all(bytes);
        written.map_err(broken("the backup cannot be written"))
    }
}
