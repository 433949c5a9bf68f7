//! Bundles a document with the files it refers to into one document.
//!
//! A `$ref` into another file becomes one inside the document: the contents of files are
//! members of [`FILES`], by file name. Nothing is read here. The caller asks which files are
//! [`Bundle::wanted`], reads them by its own rules, and adds them.

pub mod folder;
mod references;

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use serde_json::{Map, Value};
use url::Url;

use crate::document::DocumentError;
use references::KeyKind;

/// Where files are in a document that was bundled, by their names.
const FILES: &str = "x-bundled-files";

/// Those that could not be read, each with why.
const UNREAD_FILES: &str = "x-unread-files";

/// More than the largest description is split into.
const MAX_FILES: usize = 3000;

/// In all files together: as many as one document may have. A small file can have a great
/// many, and each takes a hundred bytes.
const MAX_VALUES: usize = 1_000_000;

/// A document that is being bundled.
#[derive(Debug)]
pub struct Bundle {
    /// Where the document is.
    at: Url,
    scope: BundleScope,
    document: Value,
    files: Map<String, Value>,
    unread: Map<String, Value>,
    wanted: Vec<Url>,
    known: HashSet<Url>,
    /// How many more values files may have.
    values_left: usize,
    /// Whether anything is written otherwise than it came.
    is_changed: bool,
}

/// Which files are near enough to a document to be read with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BundleScope {
    /// All of the same site.
    Origin,
    /// Those below a folder, which is the first part of every path.
    Folder,
}

/// Why a file of a bundle could not be read; as text it is the end of a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    #[error("all files together have too many values")]
    TooManyValues,
    #[error("all files together are too large")]
    TooLarge,
    #[error("only the first {MAX_FILES} files are")]
    TooManyFiles,
    #[error("it is no file")]
    NotAFile,
    #[error("it was not sent in time")]
    TimedOut,
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// Of the file system or of HTTP.
    #[error("{0}")]
    Read(String),
}

impl Bundle {
    pub fn new(document: Value, at: Url, scope: BundleScope) -> Self {
        let mut bundle = Self {
            at: at.clone(),
            scope,
            document: Value::Null,
            files: Map::new(),
            unread: Map::new(),
            wanted: Vec::new(),
            known: HashSet::new(),
            values_left: MAX_VALUES,
            is_changed: false,
        };
        bundle.document = bundle.rewritten(document, &at, KeyKind::Keywords);
        bundle
    }

    /// The files that are to be read next. Each is named once.
    pub fn wanted(&mut self) -> Vec<Url> {
        std::mem::take(&mut self.wanted)
    }

    /// A file that was wanted, or why it could not be read.
    pub fn add(&mut self, url: &Url, file: Result<Value, FileError>) {
        let name = self.name(url);
        let file = file.and_then(|file| {
            let left = self.values_left.checked_sub(references::values(&file));
            self.values_left = left.ok_or(FileError::TooManyValues)?;
            Ok(file)
        });
        match file {
            Ok(file) => {
                let file = self.rewritten(file, url, KeyKind::File);
                self.files.insert(name, file);
            }
            Err(error) => {
                let error = error.to_string();
                self.unread.insert(name, error.trim_end_matches('.').into());
            }
        }
    }

    /// Whether nothing is different from the document as it came.
    pub fn is_unchanged(&self) -> bool {
        !self.is_changed
    }

    /// Whether all files could be read.
    pub fn is_complete(&self) -> bool {
        self.unread.is_empty() && self.wanted.is_empty()
    }

    pub fn into_document(mut self) -> Value {
        if let Value::Object(document) = &mut self.document {
            document.insert(FILES.into(), self.files.into());
            if !self.unread.is_empty() {
                document.insert(UNREAD_FILES.into(), self.unread.into());
            }
        }
        self.document
    }

    /// Returns the content of a file with its references rewritten to the bundle.
    fn rewritten(&mut self, mut value: Value, base: &Url, keys: KeyKind) -> Value {
        references::each(&mut value, keys, &mut |reference| {
            if let Some(inside) = self.inside(reference, base) {
                self.is_changed = true;
                *reference = inside;
            }
        });
        value
    }

    /// Where a reference leads to in the bundle. None: it is as it is to be.
    fn inside(&mut self, reference: &str, base: &Url) -> Option<String> {
        let (path, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        if path.is_empty() {
            let is_main = *base == self.at;
            return (!is_main).then(|| reference_to(&self.name(base), pointer));
        }
        // Some write the mere name of a component.
        let is_file = path.contains(['.', '/']);
        let url = is_file.then(|| base.join(path).ok()).flatten()?;
        if url == self.at {
            return Some(format!("#{pointer}"));
        }
        if !self.is_near(&url) {
            return None;
        }
        let name = self.name(&url);
        if self.known.insert(url.clone()) {
            if self.known.len() <= MAX_FILES {
                self.wanted.push(url);
            } else {
                let error = FileError::TooManyFiles.to_string();
                self.unread.insert(name.clone(), error.into());
            }
        }
        Some(reference_to(&name, pointer))
    }

    fn is_near(&self, url: &Url) -> bool {
        let folder = |url: &Url| {
            let mut segments = url.path_segments()?;
            segments.next().map(str::to_owned)
        };
        match self.scope {
            BundleScope::Origin => url.origin() == self.at.origin() && url.username().is_empty(),
            BundleScope::Folder => {
                url.scheme() == self.at.scheme()
                    && url.host() == self.at.host()
                    && folder(url) == folder(&self.at)
            }
        }
    }

    /// What a file is called: its path, from the site or below the folder.
    fn name(&self, url: &Url) -> String {
        let path = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        match self.scope {
            BundleScope::Origin => path,
            BundleScope::Folder => folder::relative(url).unwrap_or(path),
        }
    }
}

/// Whether a text may refer to other files. Looks for no more than that it does not begin
/// with `#`: most documents need not be read for this.
pub fn may_have_files(text: &[u8]) -> bool {
    const REF: &[u8] = b"$ref";
    let begins = |rest: &[u8]| {
        let is_between = |byte: &&u8| byte.is_ascii_whitespace() || b"\"':".contains(byte);
        rest.iter().find(|byte| !is_between(byte)).copied()
    };
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| *byte == b'$') {
        rest = rest.get(at..).unwrap_or_default();
        if let Some(after) = rest.strip_prefix(REF) {
            rest = after;
            if begins(rest).is_some_and(|first| first != b'#') {
                return true;
            }
        } else {
            rest = rest.get(1..).unwrap_or_default();
        }
    }
    false
}

/// Whether a document was made of several files.
pub fn has_files(document: &Value) -> bool {
    document.get(FILES).is_some()
}

/// The reference in the original files that one in a bundle replaces: "resources/pets.yml#/list".
pub(crate) fn original(reference: &str) -> Option<String> {
    let (file, pointer) = file_of(reference)?;
    match pointer {
        "" => Some(file),
        pointer => Some(format!("{file}#/{pointer}")),
    }
}

/// Why the file of a reference in a bundle could not be read. None: it was.
pub(crate) fn unread<'d>(document: &'d Value, reference: &str) -> Option<&'d str> {
    let (file, _) = file_of(reference)?;
    if document.get(FILES)?.get(&file).is_some() {
        return None;
    }
    let why = document.get(UNREAD_FILES)?.get(&file);
    why.and_then(Value::as_str)
}

/// The name of a file, and what stands behind it.
fn file_of(reference: &str) -> Option<(String, &str)> {
    let rest = reference.strip_prefix("#/")?.strip_prefix(FILES)?;
    let rest = rest.strip_prefix('/')?;
    let (name, pointer) = rest.split_once('/').unwrap_or((rest, ""));
    let name = name.replace("%25", "%");
    Some((name.replace("~1", "/").replace("~0", "~"), pointer))
}

fn reference_to(name: &str, pointer: &str) -> String {
    let name = tenon_schema::reference::escape(name);
    format!("#/{FILES}/{}{pointer}", name.replace('%', "%25"))
}
