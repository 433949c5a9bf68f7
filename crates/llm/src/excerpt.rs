//! The beginning of a text, for those who need no more.

use std::borrow::Cow;

/// The text, or its beginning and `…`: never more than `max_chars` characters.
pub(crate) fn shorten(text: &str, max_chars: usize) -> Cow<'_, str> {
    if text.char_indices().nth(max_chars).is_none() {
        return Cow::Borrowed(text);
    }
    let Some(room) = max_chars.checked_sub(1) else {
        return Cow::Borrowed("");
    };
    Cow::Owned(text.chars().take(room).chain(['…']).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(shorten("", 0), "");
        assert_eq!(shorten("a", 0), "");
        assert_eq!(shorten("a", 1), "a");
        assert_eq!(shorten("ab", 1), "…");
        assert_eq!(shorten("日本語", 3), "日本語");
        assert_eq!(shorten("日本語です", 3), "日本…");
    }
}
