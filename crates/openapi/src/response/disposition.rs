//! Parses `Content-Disposition` (RFC 6266): the file name, and whether the body is shown inline.

use encoding_rs::Encoding;
use http::header::{CONTENT_DISPOSITION, HeaderMap};
use tenon_net::percent::decode;

use tenon_text::is_unwanted;

/// Longer than names people give; what a file system takes at most is 255 bytes.
const MAX_NAME_CHARS: usize = 120;

/// True only for exactly one header that says `inline`; contradicting headers count as none.
pub(super) fn is_inline(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(CONTENT_DISPOSITION).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return false;
    };
    let kind = value.as_bytes().split(|byte| *byte == b';').next();
    kind.is_some_and(|kind| kind.trim_ascii().eq_ignore_ascii_case(b"inline"))
}

/// The last part of it alone: a server must not say where a file goes.
pub(super) fn name(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(CONTENT_DISPOSITION)?.as_bytes();
    // Some write UTF-8, though only Latin is meant to stand here.
    let value = match std::str::from_utf8(value) {
        Ok(value) => value.to_owned(),
        Err(_) => value.iter().map(|byte| char::from(*byte)).collect(),
    };
    let parameters = parameters(&value);
    let find = |wanted: &str| {
        let found = parameters.iter().find(|(key, _)| key == wanted);
        found.map(|(_, value)| value.as_str())
    };
    let extended = find("filename*").and_then(extended);
    let name = extended.or_else(|| find("filename").map(str::to_owned))?;
    base_name(&name)
}

/// "UTF-8'en'na%C3%AFve.txt"
fn extended(value: &str) -> Option<String> {
    let (charset, rest) = value.split_once('\'')?;
    let (_, name) = rest.split_once('\'')?;
    let encoding = Encoding::for_label(charset.as_bytes())?;
    let bytes = decode(name);
    let (name, _) = encoding.decode_without_bom_handling(&bytes);
    Some(name.into_owned())
}

/// The keys in lower case, and values without their quotes.
fn parameters(value: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = value.split_once(';').map_or("", |(_, rest)| rest);
    while let Some((key, after)) = rest.split_once('=') {
        let key = key.trim_matches([' ', '\t', ';']).to_ascii_lowercase();
        let after = after.trim_start();
        let value;
        (value, rest) = match after.strip_prefix('"') {
            Some(quoted) => unquoted(quoted),
            None => {
                let (value, rest) = after.split_once(';').unwrap_or((after, ""));
                (value.trim().to_owned(), rest)
            }
        };
        found.push((key, value));
    }
    found
}

/// What stands before the closing quote, and what comes after it.
fn unquoted(quoted: &str) -> (String, &str) {
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return (value, quoted.get(at + 1..).unwrap_or_default()),
            // A quote or a backslash; before anything else it is part of a path.
            '\\' => match characters.clone().next() {
                Some((_, escaped @ ('"' | '\\'))) => {
                    characters.next();
                    value.push(escaped);
                }
                _ => value.push('\\'),
            },
            c => value.push(c),
        }
    }
    (value, "")
}

fn base_name(name: &str) -> Option<String> {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    // Direction overrides are removed: they can make "txt.exe" look like "exe.txt".
    let shown = last.chars().filter(|c| !is_unwanted(*c));
    let kept: String = shown.take(MAX_NAME_CHARS).collect();
    let kept = kept.trim_matches([' ', '.']).to_owned();
    // The leading dot of a hidden file is dropped, so that the saved file is visible.
    (!kept.is_empty()).then_some(kept)
}
