//! Texts that are cut to save space, and say so.

use std::borrow::Cow;

use serde_json::Value;
use tenon_domain::text::chars_after;

/// Shortens a text at a character boundary and adds a note; a text only slightly too long is kept.
pub(super) fn shorten_with_note(text: &str, chars: usize) -> Cow<'_, str> {
    let end = chars_after(text, 0, chars);
    let left = text[end..].chars().count();
    let note = format!("… [{left} more characters were left out to save space]");
    if left > note.chars().count() {
        Cow::Owned(format!("{}{note}", &text[..end]))
    } else {
        Cow::Borrowed(text)
    }
}

/// The same for every text in a value.
pub(super) fn shorten_strings(value: &mut Value, chars: usize) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(short) = shorten_with_note(text, chars) {
                *text = short;
            }
        }
        Value::Array(values) => values
            .iter_mut()
            .for_each(|value| shorten_strings(value, chars)),
        Value::Object(values) => values
            .values_mut()
            .for_each(|value| shorten_strings(value, chars)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
