//! Converts the result of a tool into parts that can be shown to a model.

use std::borrow::Cow;

use serde_json::{Value, json};
use tenon_domain::{Content, ToolResult};

/// The kinds of picture every provider takes.
const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// More of a picture no provider takes.
const MAX_IMAGE_BYTES: usize = 5 * 1024 * 1024;

/// Arguments that were no JSON are quoted back up to here.
const MAX_RAW_CHARS: usize = 2_000;

pub(crate) enum ResultPart<'a> {
    Text(String),
    /// Base64.
    Image {
        media_type: &'a str,
        data: &'a str,
    },
}

/// A failure is a result like any other: words that say what to do.
pub(crate) fn result_parts(result: &ToolResult, sees_images: bool) -> Vec<ResultPart<'_>> {
    let output = match result {
        Ok(output) => output,
        Err(error) => {
            let text = match &error.reply {
                Some(reply) => reply.to_string(),
                None => format!("Error: {error}"),
            };
            return vec![ResultPart::Text(text)];
        }
    };
    let result_parts = output.content.iter().map(|content| match content {
        Content::Image { media_type, data }
            if sees_images
                && IMAGE_TYPES.contains(&media_type.as_str())
                && data.len() <= MAX_IMAGE_BYTES =>
        {
            ResultPart::Image { media_type, data }
        }
        other => ResultPart::Text(other.to_text()),
    });
    let result_parts: Vec<ResultPart<'_>> = result_parts
        .filter(|piece| !matches!(piece, ResultPart::Text(text) if text.trim().is_empty()))
        .collect();
    if result_parts.is_empty() {
        vec![ResultPart::Text("(no output)".into())]
    } else {
        result_parts
    }
}

/// The arguments of a call as the object every provider wants to see.
pub(crate) fn arguments_object(input: &Value) -> Cow<'_, Value> {
    match input {
        Value::Object(_) => Cow::Borrowed(input),
        Value::String(raw) => {
            let end = raw
                .char_indices()
                .nth(MAX_RAW_CHARS)
                .map_or(raw.len(), |(end, _)| end);
            Cow::Owned(json!({"not_json": raw[..end]}))
        }
        other => Cow::Owned(json!({"not_an_object": other})),
    }
}
