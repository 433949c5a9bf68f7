//! What a tool gave, in the pieces a model can be shown.

use std::borrow::Cow;

use serde_json::{Value, json};
use tenon_domain::{Content, ToolResult};

/// The kinds of picture every provider takes.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// More of a picture no provider takes.
const MAX_IMAGE: usize = 5 * 1024 * 1024;

/// Arguments that were no JSON are quoted back up to here.
const MAX_RAW: usize = 2_000;

pub(crate) enum Piece<'a> {
    Text(String),
    /// Base64.
    Image {
        media_type: &'a str,
        data: &'a str,
    },
}

/// A failure is a result like any other: words that say what to do.
pub(crate) fn pieces(result: &ToolResult, sees_images: bool) -> Vec<Piece<'_>> {
    let output = match result {
        Ok(output) => output,
        Err(error) => return vec![Piece::Text(format!("Error: {error}"))],
    };
    let pieces = output.content.iter().map(|content| match content {
        Content::Image { media_type, data }
            if sees_images && IMAGES.contains(&media_type.as_str()) && data.len() <= MAX_IMAGE =>
        {
            Piece::Image { media_type, data }
        }
        other => Piece::Text(other.to_text()),
    });
    let pieces: Vec<Piece<'_>> = pieces
        .filter(|piece| !matches!(piece, Piece::Text(text) if text.trim().is_empty()))
        .collect();
    match pieces.is_empty() {
        true => vec![Piece::Text("(no output)".into())],
        false => pieces,
    }
}

/// The arguments of a call as the object every provider wants to see.
pub(crate) fn object(input: &Value) -> Cow<'_, Value> {
    match input {
        Value::Object(_) => Cow::Borrowed(input),
        Value::String(raw) => {
            let end = raw
                .char_indices()
                .nth(MAX_RAW)
                .map_or(raw.len(), |(end, _)| end);
            Cow::Owned(json!({"not_json": raw[..end]}))
        }
        other => Cow::Owned(json!({"not_an_object": other})),
    }
}
