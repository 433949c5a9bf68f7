//! Archives into memory: only files and folders, inside, once, and no more than they should be.

use std::io::{Cursor, Read};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use tar::EntryType;
use zip::ZipArchive;

use crate::error::{PackageFileProblem, SkillError};
use crate::file_tree::{FileTree, MAX_FILES, MAX_TOTAL_BYTES, normalized};

/// Text shrinks to a tenth, a file of zeros to a thousandth.
const MAX_RATIO: u64 = 200;

/// What is smaller does no harm at any ratio.
const RATIO_FREE_BYTES: u64 = 1024 * 1024;

/// Files and folders.
const MAX_ENTRIES: usize = 2 * MAX_FILES;

pub(super) fn unpack_zip(name: &str, bytes: &[u8]) -> Result<FileTree, SkillError> {
    let broken = |error: zip::result::ZipError| {
        SkillError::file(name, PackageFileProblem::BrokenArchive(error.to_string()))
    };
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(broken)?;
    if archive.len() > MAX_ENTRIES {
        return Err(SkillError::file(
            name,
            PackageFileProblem::TooManyFiles { max: MAX_ENTRIES },
        ));
    }
    if archive.has_duplicate_names() {
        return Err(SkillError::file(name, PackageFileProblem::Duplicate));
    }
    let mut files = FileTree::default();
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(broken)?;
        let path = String::from_utf8_lossy(entry.name_raw()).into_owned();
        let refuse = |problem| SkillError::file(&path, problem);
        if entry.encrypted() {
            return Err(refuse(PackageFileProblem::Encrypted));
        }
        // Of the mode only the type; archives from Windows have none.
        let mode = entry.unix_mode().unwrap_or(0o100_644);
        match mode & 0o170_000 {
            0o120_000 => return Err(refuse(PackageFileProblem::Link)),
            0 | 0o040_000 | 0o100_000 => {}
            _ => return Err(refuse(PackageFileProblem::Special)),
        }
        if entry.is_dir() {
            normalized(path.trim_end_matches('/')).map_err(refuse)?;
            continue;
        }
        let packed = entry.compressed_size();
        let bytes = read(&path, entry, packed, files.bytes_left())?;
        files.insert(&path, bytes, mode & 0o111 != 0)?;
    }
    Ok(files)
}

pub(super) fn unpack_tar_gz(name: &str, bytes: &[u8]) -> Result<FileTree, SkillError> {
    let broken = |error: std::io::Error| {
        SkillError::file(name, PackageFileProblem::BrokenArchive(error.to_string()))
    };
    // Headers and padding come on top of the files.
    let most = MAX_TOTAL_BYTES + 2048 * MAX_ENTRIES as u64;
    let unpacked = MultiGzDecoder::new(bytes).take(most);
    let mut archive = tar::Archive::new(unpacked);
    let mut files = FileTree::default();
    for (index, entry) in archive.entries().map_err(broken)?.enumerate() {
        if index >= MAX_ENTRIES {
            return Err(SkillError::file(
                name,
                PackageFileProblem::TooManyFiles { max: MAX_ENTRIES },
            ));
        }
        let entry = entry.map_err(broken)?;
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let refuse = |problem| SkillError::file(&path, problem);
        match entry.header().entry_type() {
            EntryType::Regular | EntryType::Continuous => {}
            EntryType::Directory => {
                let folder = path.trim_end_matches('/');
                if folder != "." {
                    normalized(folder).map_err(refuse)?;
                }
                continue;
            }
            // What `git archive` writes about the whole.
            EntryType::XGlobalHeader => continue,
            EntryType::Symlink | EntryType::Link => return Err(refuse(PackageFileProblem::Link)),
            _ => return Err(refuse(PackageFileProblem::Special)),
        }
        let is_executable = entry.header().mode().unwrap_or(0o644) & 0o111 != 0;
        let content = read(&path, entry, bytes.len() as u64, files.bytes_left())?;
        files.insert(&path, content, is_executable)?;
    }
    Ok(files)
}

/// What [`unpack_tar_gz`] reads: the same files give the same bytes.
pub(super) fn pack_tar_gz(files: &FileTree) -> std::io::Result<Vec<u8>> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    for (path, file) in files.iter() {
        let mut header = tar::Header::new_gnu();
        header.set_size(file.bytes.len() as u64);
        header.set_mode(if file.is_executable { 0o755 } else { 0o644 });
        archive.append_data(&mut header, path, file.bytes.as_slice())?;
    }
    archive.into_inner()?.finish()
}

/// The content of an entry; more than `left` bytes are cut, to be refused by the tree.
fn read(path: &str, entry: impl Read, packed: u64, left: u64) -> Result<Vec<u8>, SkillError> {
    let most = RATIO_FREE_BYTES.max(packed.saturating_mul(MAX_RATIO));
    let limit = most.min(left) + 1;
    let mut bytes = Vec::new();
    entry.take(limit).read_to_end(&mut bytes).map_err(|error| {
        SkillError::file(path, PackageFileProblem::BrokenArchive(error.to_string()))
    })?;
    if bytes.len() as u64 > most && most < left {
        return Err(SkillError::file(
            path,
            PackageFileProblem::Ratio { max: MAX_RATIO },
        ));
    }
    Ok(bytes)
}
