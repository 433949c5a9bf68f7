//! Bytes in an input: base64, alone or as a `data:` URL that says what it is.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::Value;
use tenon_net::media_type::image_type;
use tenon_net::percent::decode;

use super::BuildError;

/// Models leave the padding out, or not.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

#[derive(Debug, PartialEq, Eq)]
pub(super) struct FileInput {
    pub(super) bytes: Vec<u8>,
    /// As far as it was said or can be seen.
    pub(super) media_type: Option<String>,
    pub(super) name: Option<String>,
}

/// `field` is what the input calls it.
pub(super) fn read(field: &str, value: &Value) -> Result<FileInput, BuildError> {
    let text = value.as_str().ok_or_else(|| not_base64(field))?;
    let mut file = FileInput {
        bytes: Vec::new(),
        media_type: None,
        name: None,
    };
    let mut data = text.trim();
    if let Some((head, rest)) = data
        .strip_prefix("data:")
        .and_then(|url| url.split_once(','))
    {
        let head = head
            .strip_suffix(";base64")
            .ok_or_else(|| not_base64(field))?;
        let mut pieces = head.split(';');
        let media_type = pieces
            .next()
            .map(str::trim)
            .filter(|kind| kind.contains('/'));
        file.media_type = media_type.map(str::to_owned);
        file.name = pieces.find_map(|piece| {
            let (key, value) = piece.trim().split_once('=')?;
            let value = matches!(key, "name" | "filename").then_some(value)?;
            Some(String::from_utf8_lossy(&decode(value)).into_owned())
        });
        data = rest;
    }
    let standard = data
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(|byte| match byte {
            b'-' => b'+',
            b'_' => b'/',
            byte => byte,
        });
    let standard: Vec<u8> = standard.collect();
    let bytes = LENIENT.decode(standard);
    file.bytes = bytes.map_err(|_| not_base64(field))?;
    if file.media_type.is_none() {
        file.media_type = image_type(&file.bytes).map(str::to_owned);
    }
    Ok(file)
}

/// The extension of file names of a type: many servers go by that alone.
pub(super) fn extension(media_type: &str) -> &'static str {
    match media_type {
        "image/png" => ".png",
        "image/jpeg" => ".jpg",
        "image/gif" => ".gif",
        "image/webp" => ".webp",
        "application/pdf" => ".pdf",
        "application/json" => ".json",
        "application/zip" => ".zip",
        "audio/mpeg" => ".mp3",
        "audio/wav" => ".wav",
        "text/csv" => ".csv",
        "text/plain" => ".txt",
        _ => "",
    }
}

fn not_base64(field: &str) -> BuildError {
    BuildError::NotAFile(field.to_owned())
}
