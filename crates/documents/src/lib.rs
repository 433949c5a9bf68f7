//! The text of documents, for models to read. Knows nothing of Tenon.
//!
//! A document is untrusted input and its readers are large, so [`helper_main`] reads one from
//! standard input in a process of its own: whoever starts it gives it walls and limits. What is
//! unpacked has a bound of its own.

mod error;
mod opendocument;
mod package;
mod pdf;
mod presentation;
mod spreadsheet;
mod text_builder;
mod word;
mod xml;

use std::io::Read;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use error::ExtractError;
use package::Package;
use text_builder::TextBuilder;

/// The first argument of a process that is to read a document. The second is its kind, the third
/// the most characters that are wanted.
pub const HELPER_ARGUMENT: &str = "document-text";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentKind {
    Pdf,
    Word,
    Presentation,
    Spreadsheet,
    OpenDocument,
}

/// The text of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentText {
    pub text: String,
    /// There is more of it.
    pub truncated: bool,
}

impl DocumentKind {
    const ALL: [(Self, &'static str); 5] = [
        (Self::Pdf, "pdf"),
        (Self::Word, "word"),
        (Self::Presentation, "presentation"),
        (Self::Spreadsheet, "spreadsheet"),
        (Self::OpenDocument, "opendocument"),
    ];

    pub fn as_str(self) -> &'static str {
        let named = Self::ALL.iter().find(|(kind, _)| *kind == self);
        named.map_or("", |(_, name)| name)
    }

    /// By the name of a file. None: no document that can be read.
    pub fn of_file(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "pdf" => Some(Self::Pdf),
            "docx" | "docm" => Some(Self::Word),
            "pptx" | "pptm" => Some(Self::Presentation),
            "xlsx" | "xlsm" => Some(Self::Spreadsheet),
            "odt" | "ods" | "odp" => Some(Self::OpenDocument),
            _ => None,
        }
    }
}

impl FromStr for DocumentKind {
    type Err = ExtractError;

    fn from_str(name: &str) -> Result<Self, ExtractError> {
        let found = Self::ALL.iter().find(|(_, known)| *known == name);
        found.map(|(kind, _)| *kind).ok_or(ExtractError::Damaged)
    }
}

/// The text of a document, at most `max_chars` characters of it.
pub fn extract(
    kind: DocumentKind,
    bytes: &[u8],
    max_chars: usize,
) -> Result<DocumentText, ExtractError> {
    let mut out = TextBuilder::new(max_chars);
    match kind {
        DocumentKind::Pdf => pdf::read(bytes, &mut out)?,
        DocumentKind::Word => word::read(&mut Package::open(bytes)?, &mut out)?,
        DocumentKind::Presentation => presentation::read(&mut Package::open(bytes)?, &mut out)?,
        DocumentKind::Spreadsheet => spreadsheet::read(&mut Package::open(bytes)?, &mut out)?,
        DocumentKind::OpenDocument => opendocument::read(&mut Package::open(bytes)?, &mut out)?,
    }
    Ok(out.finish())
}

/// Reads a document from standard input and writes what [`parse_answer`] reads, if this process was
/// started for that, and then does not return. To be called before there is a second thread.
pub fn helper_main() {
    let mut args = std::env::args().skip(1);
    if args.next().as_deref() != Some(HELPER_ARGUMENT) {
        return;
    }
    let answer = read_input(args.next(), args.next());
    let answer = serde_json::to_string(&answer).unwrap_or_default();
    // The last line: a reader of PDF may print some of its own.
    #[expect(clippy::print_stdout, reason = "the answer of this process")]
    {
        println!("\n{answer}");
    }
    std::process::exit(0);
}

fn read_input(
    kind: Option<String>,
    max_chars: Option<String>,
) -> Result<DocumentText, ExtractError> {
    let kind = kind.unwrap_or_default().parse()?;
    let max_chars = max_chars.and_then(|max| max.parse().ok());
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|_| ExtractError::Damaged)?;
    extract(kind, &bytes, max_chars.unwrap_or_default())
}

/// What such a process has written. One that broke off has met a document it cannot read.
pub fn parse_answer(output: &[u8]) -> Result<DocumentText, ExtractError> {
    let lines = output.split(|byte| *byte == b'\n');
    let last = lines.rev().find(|line| !line.is_empty());
    let answer = last.and_then(|line| serde_json::from_slice(line).ok());
    answer.unwrap_or(Err(ExtractError::Damaged))
}
