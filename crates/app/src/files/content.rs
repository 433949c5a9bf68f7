//! What a file is, by its bytes and its name, and the text in it.

use encoding_rs::{Encoding, GB18030, UTF_8};
use tenon_documents::DocumentKind;
use tenon_domain::text::chars_after;
use tenon_domain::{AttachedFile, FileId, FileKind};
use tenon_net::media_type::image_type;
use tenon_store::FileContent;

use super::document_reader::DocumentReader;
use super::{AttachmentError, MAX_FILE_BYTES};
use crate::budget::run_blocking;

/// Of the text of one file: more than most models read at once.
const MAX_TEXT_CHARS: usize = 400_000;

/// As Base64 it is what every provider takes.
const MAX_IMAGE_BYTES: usize = 3_750_000;

const MAX_NAME_CHARS: usize = 120;

/// How a document of the Rich Text Format begins.
const RTF_SIGNATURE: &[u8] = b"{\\rtf";

pub(super) async fn read(
    documents: &DocumentReader,
    name: &str,
    mut data: Vec<u8>,
) -> Result<FileContent, AttachmentError> {
    if data.is_empty() {
        return Err(AttachmentError::Empty);
    }
    if data.len() > MAX_FILE_BYTES {
        let mb = MAX_FILE_BYTES / (1024 * 1024);
        return Err(AttachmentError::TooLarge { mb });
    }
    let name = file_name(name);
    let (kind, media_type, text, truncated) = if let Some(media_type) = image_type(&data) {
        if data.len() > MAX_IMAGE_BYTES {
            let mb = MAX_IMAGE_BYTES / 1_000_000;
            return Err(AttachmentError::ImageTooLarge { mb });
        }
        (FileKind::Image, media_type, None, false)
    } else if let Some(kind) = DocumentKind::of_file(&name) {
        let read = documents.read(kind, &data, MAX_TEXT_CHARS).await?;
        let media_type = document_type(kind);
        (
            FileKind::Document,
            media_type,
            Some(read.text),
            read.truncated,
        )
    } else if data.starts_with(RTF_SIGNATURE) {
        // Its text stands between marks that would fill the context of a model.
        (FileKind::Other, "application/octet-stream", None, false)
    } else {
        let decoded;
        // Megabytes are decoded where nobody waits for the thread.
        (data, decoded) = run_blocking(move || {
            let decoded = decode(&data).map(beginning);
            (data, decoded)
        })
        .await?;
        match decoded {
            Some((text, truncated)) => (FileKind::Text, "text/plain", Some(text), truncated),
            None => (FileKind::Other, "application/octet-stream", None, false),
        }
    };
    let chars = text.as_deref().map(|text| text.chars().count() as u64);
    Ok(FileContent {
        file: AttachedFile {
            // The store gives it one.
            id: FileId::new(""),
            name,
            media_type: media_type.to_owned(),
            size: data.len() as u64,
            kind,
            text_chars: chars,
            truncated,
        },
        data,
        text,
    })
}

/// What an imported file says of itself, as far as its bytes bear it out.
pub(crate) fn checked(file: AttachedFile, data: &[u8]) -> AttachedFile {
    let image = image_type(data);
    let kind = match (file.kind, image) {
        (FileKind::Image, None) => FileKind::Other,
        (kind, _) => kind,
    };
    AttachedFile {
        name: file_name(&file.name),
        media_type: match (kind, image) {
            (FileKind::Image, Some(media_type)) => media_type.to_owned(),
            (FileKind::Text, _) => "text/plain".to_owned(),
            (FileKind::Image | FileKind::Document | FileKind::Other, _) => {
                "application/octet-stream".to_owned()
            }
        },
        size: data.len() as u64,
        kind,
        ..file
    }
}

/// The last part of a path, on one line, that every file system takes.
fn file_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_kept = |char: &char| !char.is_control() && !"<>:\"|?*".contains(*char);
    let clean: String = last.chars().filter(is_kept).collect();
    let clean = clean.trim().trim_start_matches('.');
    if clean.is_empty() {
        return "file".to_owned();
    }
    let (stem, extension) = match clean.rsplit_once('.') {
        Some((stem, extension)) if extension.len() <= 10 => (stem, format!(".{extension}")),
        Some(_) | None => (clean, String::new()),
    };
    let end = chars_after(stem, 0, MAX_NAME_CHARS);
    format!("{}{extension}", &stem[..end])
}

fn document_type(kind: DocumentKind) -> &'static str {
    match kind {
        DocumentKind::Pdf => "application/pdf",
        DocumentKind::Word
        | DocumentKind::Presentation
        | DocumentKind::Spreadsheet
        | DocumentKind::OpenDocument => "application/octet-stream",
    }
}

/// As much of a text as is kept, and whether that is not all of it.
fn beginning(mut text: String) -> (String, bool) {
    let end = chars_after(&text, 0, MAX_TEXT_CHARS);
    let is_truncated = end < text.len();
    text.truncate(end);
    text.shrink_to_fit();
    (text, is_truncated)
}

/// Text in UTF-8, UTF-16 with a byte order mark, or GB18030, which older Chinese files are in.
/// None: it is no text.
fn decode(data: &[u8]) -> Option<String> {
    let marked = Encoding::for_bom(data).map(|(encoding, _)| encoding);
    let candidates = marked.into_iter().chain([UTF_8, GB18030]);
    let mut decoded = candidates.filter_map(|encoding| {
        let (text, _, had_errors) = encoding.decode(data);
        let is_text =
            |char: char| !char.is_control() || matches!(char, '\n' | '\r' | '\t' | '\u{c}');
        (!had_errors && text.chars().all(is_text)).then(|| text.into_owned())
    });
    decoded.next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_that_every_file_system_takes() {
        let check = |name: &str, expected: &str| assert_eq!(file_name(name), expected, "{name:?}");
        check("report.pdf", "report.pdf");
        check("报告 2026.docx", "报告 2026.docx");
        check("../../etc/passwd", "passwd");
        check("C:\\Users\\ada\\notes.txt", "notes.txt");
        check("a\nb\0.txt", "ab.txt");
        check(".bashrc", "bashrc");
        check("..", "file");
        check("", "file");
        let long = format!("{}.txt", "长".repeat(300));
        check(&long, &format!("{}.txt", "长".repeat(120)));
    }

    #[test]
    fn text_is_read_in_the_encodings_that_people_have() {
        let check = |data: &[u8], expected: Option<&str>| {
            assert_eq!(decode(data).as_deref(), expected, "{data:?}");
        };
        check("你好\n".as_bytes(), Some("你好\n"));
        check(b"\xef\xbb\xbfhi", Some("hi"));
        check(b"\xff\xfeh\0i\0", Some("hi"));
        check(b"\xc4\xe3\xba\xc3", Some("你好"));
        check(b"PK\x03\x04\0\0", None);
        check(b"\xff\xfe\xff", None);
    }
}
