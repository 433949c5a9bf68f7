//! A document in a folder, with the files below it that it refers to.

use std::io::Read;
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use serde_json::Value;
use tenon_net::percent::decode;
use url::Url;

use super::{Bundle, BundleScope, FileError, may_have_files};
use crate::document;

/// All files together.
const MAX_BYTES: u64 = document::MAX_BYTES as u64;

/// Base URL of the folder: paths that leave it do not start with this.
const ROOT: &str = "folder://here/root/";

/// The text of a document in a file with all that it refers to in files beside or below
/// it. The same text, if that is nothing or it is no document. Neither `..` nor a link
/// leads out of the folder. Takes its time: not for a thread that others wait for.
pub fn bundled(file: &Path, text: String) -> String {
    if !may_have_files(text.as_bytes()) {
        return text;
    }
    let (Some(folder), Some(name)) = (file.parent(), file.file_name().and_then(|n| n.to_str()))
    else {
        return text;
    };
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let document = document::read(text.as_bytes()).ok();
    let document = document.filter(document::is_document);
    let folder = Dir::open_ambient_dir(folder, ambient_authority());
    match (document, folder, address(name)) {
        (Some(document), Ok(folder), Some(at)) => read_all(&folder, document, at).unwrap_or(text),
        _ => text,
    }
}

/// What a file in the folder is called by.
fn address(name: &str) -> Option<Url> {
    let mut at = Url::parse(ROOT).ok()?;
    at.path_segments_mut().ok()?.pop_if_empty().push(name);
    Some(at)
}

/// None: it would say nothing more than the document alone, or could not be read again.
fn read_all(folder: &Dir, document: Value, at: Url) -> Option<String> {
    let mut bundle = Bundle::new(document, at, BundleScope::Folder);
    let mut left = MAX_BYTES;
    loop {
        let wanted = bundle.wanted();
        if wanted.is_empty() {
            break;
        }
        for url in wanted {
            let file = read(folder, &url, &mut left);
            bundle.add(&url, file);
        }
    }
    if bundle.is_unchanged() {
        return None;
    }
    let text = serde_json::to_string(&bundle.into_document()).ok()?;
    document::read(text.as_bytes()).is_ok().then_some(text)
}

fn read(folder: &Dir, url: &Url, left: &mut u64) -> Result<Value, FileError> {
    let name = relative(url).ok_or(FileError::NotAFile)?;
    let unreadable = |error: std::io::Error| FileError::Read(error.to_string());
    // Opening a FIFO or device could block forever.
    let is_file = folder.metadata(&name).map_err(unreadable)?.is_file();
    if !is_file {
        return Err(FileError::NotAFile);
    }
    let file = folder.open(&name).map_err(unreadable)?;
    let mut bytes = Vec::new();
    let read = file.take(*left + 1).read_to_end(&mut bytes);
    read.map_err(unreadable)?;
    *left = left
        .checked_sub(bytes.len() as u64)
        .ok_or(FileError::TooLarge)?;
    Ok(document::read(&bytes)?)
}

/// The path of a file below the folder.
pub(super) fn relative(url: &Url) -> Option<String> {
    let path = url.as_str().strip_prefix(ROOT)?;
    let path = path.split(['?', '#']).next()?;
    Some(String::from_utf8_lossy(&decode(path)).into_owned())
}
