//! The ZIP archive that an office document is.

use std::io::{Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::ExtractError;

/// Of one part, unpacked.
const MAX_PART_BYTES: u64 = 64 * 1024 * 1024;

/// Of all parts that are read.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

pub(crate) struct Package<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    room: u64,
}

impl<'a> Package<'a> {
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, ExtractError> {
        // What Office encrypts is no archive, but its own format for files.
        if bytes.starts_with(&[0xd0, 0xcf, 0x11, 0xe0]) {
            return Err(ExtractError::Encrypted);
        }
        let archive = ZipArchive::new(Cursor::new(bytes));
        Ok(Self {
            archive: archive.map_err(|_| ExtractError::Damaged)?,
            room: MAX_BYTES,
        })
    }

    /// A part that the document must have.
    pub(crate) fn part(&mut self, name: &str) -> Result<String, ExtractError> {
        self.optional(name)?.ok_or(ExtractError::Damaged)
    }

    pub(crate) fn optional(&mut self, name: &str) -> Result<Option<String>, ExtractError> {
        let part = match self.archive.by_name(name) {
            Ok(part) => part,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED)) => {
                return Err(ExtractError::Encrypted);
            }
            Err(_) => return Err(ExtractError::Damaged),
        };
        let limit = MAX_PART_BYTES.min(self.room);
        let mut bytes = Vec::new();
        let mut bounded = part.take(limit + 1);
        let read = bounded.read_to_end(&mut bytes);
        read.map_err(|_| ExtractError::Damaged)?;
        if bytes.len() as u64 > limit {
            return Err(ExtractError::TooLarge);
        }
        self.room -= bytes.len() as u64;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// The numbers `n` for which there is a part `{prefix}{n}.xml`, in order.
    pub(crate) fn numbers(&self, prefix: &str) -> Vec<u32> {
        let names = self.archive.file_names();
        let number = |name: &str| {
            name.strip_prefix(prefix)?
                .strip_suffix(".xml")?
                .parse()
                .ok()
        };
        let mut numbers: Vec<u32> = names.flatten().filter_map(|name| number(&name)).collect();
        numbers.sort_unstable();
        numbers
    }
}
