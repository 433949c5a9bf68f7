//! Parses a configuration: lenient JSON, or YAML.
//!
//! Comments and commas too many are blanked where they stand, so that an error is where
//! it says. What is pasted without its outermost braces gets them back.

use serde_json::Value;
use tenon_domain::ErrorDetail;
use tenon_openapi::{SyntaxError, strict_yaml};

use super::error::ConfigReadError;
use super::note::ImportNote;

const MAX_DOCUMENTS: usize = 100;

pub(super) struct ParsedConfig {
    pub(super) values: Vec<Value>,
    pub(super) notes: Vec<ErrorDetail>,
}

/// What is in a text. What cannot be JSON may still be YAML, if there is something `useful` in it.
pub(super) fn parse(
    text: &str,
    useful: &dyn Fn(&[Value]) -> bool,
) -> Result<ParsedConfig, ConfigReadError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lenient = LenientJson::new(text);
    if lenient.text.trim().is_empty() {
        return Err(ConfigReadError::Empty);
    }
    if !lenient.text.trim_start().starts_with(['{', '[', '"']) {
        return yaml(text);
    }
    json(&lenient).or_else(|error| match yaml(text) {
        Ok(documents) if useful(&documents.values) => Ok(documents),
        _ => Err(error),
    })
}

fn json(lenient: &LenientJson) -> Result<ParsedConfig, ConfigReadError> {
    let error = match serde_json::from_str(&lenient.text) {
        Ok(value) => {
            return Ok(ParsedConfig {
                values: vec![value],
                notes: Vec::new(),
            });
        }
        Err(error) => error,
    };
    if let Some(repaired) = lenient.repaired()
        && let Ok(value) = serde_json::from_str(&repaired)
    {
        return Ok(ParsedConfig {
            values: vec![value],
            notes: vec![ImportNote::Braces.into()],
        });
    }
    Err(SyntaxError::from(error).into())
}

fn yaml(text: &str) -> Result<ParsedConfig, ConfigReadError> {
    match serde_saphyr::from_multiple_with_options(text, strict_yaml(MAX_DOCUMENTS)) {
        Ok(values) => Ok(ParsedConfig {
            values,
            notes: Vec::new(),
        }),
        Err(error) => Err(SyntaxError::from(error).into()),
    }
}

impl From<SyntaxError> for ConfigReadError {
    fn from(error: SyntaxError) -> Self {
        Self::Syntax {
            line: error.line,
            column: error.column,
            why: error.reason.into(),
        }
    }
}

/// A JSON text without comments and commas too many, every other character where it was.
struct LenientJson {
    text: String,
    /// What is open at the end, outermost first.
    open: Vec<u8>,
    /// Where the first closing brace stands that closes nothing.
    unmatched: Option<usize>,
}

impl LenientJson {
    fn new(text: &str) -> Self {
        let mut bytes = text.as_bytes().to_vec();
        blank_comments(&mut bytes);
        let mut open = Vec::new();
        let mut unmatched = None;
        let mut comma = None;
        let mut at = 0;
        while at < bytes.len() {
            match bytes[at] {
                b'"' => {
                    comma = None;
                    at = end_of_string(&bytes, at);
                    continue;
                }
                b',' => comma = Some(at),
                opening @ (b'{' | b'[') => {
                    comma = None;
                    open.push(opening);
                }
                b'}' | b']' => {
                    if let Some(comma) = comma.take() {
                        bytes[comma] = b' ';
                    }
                    if open.pop().is_none() {
                        unmatched = unmatched.or(Some(at));
                    }
                }
                byte if byte.is_ascii_whitespace() => {}
                _ => comma = None,
            }
            at += 1;
        }
        // A trailing comma, as left by text that was copied out of the middle of a list.
        if let Some(comma) = comma {
            bytes[comma] = b' ';
        }
        Self {
            // Only whole characters were blanked.
            text: String::from_utf8(bytes).unwrap_or_default(),
            open,
            unmatched,
        }
    }

    /// The same with outermost braces that match. None where something inside is missing:
    /// half a server is not a server.
    fn repaired(&self) -> Option<String> {
        let text = match self.unmatched {
            Some(at) => {
                let closing = |c: char| matches!(c, '}' | ']' | ',' | ';') || c.is_whitespace();
                let (kept, rest) = self.text.split_at(at);
                rest.chars().all(closing).then_some(kept)?
            }
            None => &self.text,
        };
        let text = text.trim().trim_end_matches(',');
        let prefix = if text.starts_with('"') { "{" } else { "" };
        let missing = match self.unmatched {
            Some(_) => 0,
            None if self.open.contains(&b'[') || !text.ends_with('}') => return None,
            None => self.open.len(),
        };
        let suffix = "}".repeat(missing + prefix.len());
        Some(format!("{prefix}{text}{suffix}"))
    }
}

fn blank_comments(bytes: &mut [u8]) {
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'"', _) => at = end_of_string(bytes, at),
            (b'/', Some(b'/')) => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    bytes[at] = b' ';
                    at += 1;
                }
            }
            (b'/', Some(b'*')) => {
                let rest = &bytes[at + 2..];
                let length = rest.windows(2).position(|pair| pair == b"*/");
                let end = length.map_or(bytes.len(), |length| at + 2 + length + 2);
                for byte in &mut bytes[at..end] {
                    if *byte != b'\n' {
                        *byte = b' ';
                    }
                }
                at = end;
            }
            _ => at += 1,
        }
    }
}

/// What follows the string that begins at `start`. A string ends with its line at the latest.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            b'\n' => return at,
            _ => at += 1,
        }
    }
    bytes.len()
}
