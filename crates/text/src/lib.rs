//! Texts from outside, cleaned and shortened for display, and searched.
//!
//! The one place that cuts a text for a reader: always between characters, and
//! with an ellipsis where something is missing.

pub mod search;
pub mod tokenizer;

use std::borrow::Cow;
use std::ops::Range;

/// The text, or its first `max_chars` characters and an ellipsis.
pub fn shorten(text: &str, max_chars: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max_chars) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", text[..end].trim_end())),
    }
}

/// The text, or as much of its beginning as `max_bytes` hold, and an ellipsis.
pub fn shorten_to_bytes(text: &str, max_bytes: usize) -> Cow<'_, str> {
    if text.len() <= max_bytes {
        return Cow::Borrowed(text);
    }
    let end = text.floor_char_boundary(max_bytes);
    Cow::Owned(format!("{}…", text[..end].trim_end()))
}

/// A range of a text, with an ellipsis on each side where something is missing.
pub fn excerpt(text: &str, range: Range<usize>) -> String {
    let ellipsis = |is_cut: bool| if is_cut { "…" } else { "" };
    format!(
        "{}{}{}",
        ellipsis(range.start > 0),
        &text[range.clone()],
        ellipsis(range.end < text.len())
    )
}

/// The byte index `chars` characters before another one, or where the text begins.
pub fn chars_before(text: &str, index: usize, chars: usize) -> usize {
    let before = text[..index].char_indices().rev();
    before.take(chars).last().map_or(index, |(at, _)| at)
}

/// The byte index `chars` characters after another one, or where the text ends.
pub fn chars_after(text: &str, index: usize, chars: usize) -> usize {
    let after = text[index..].char_indices().nth(chars);
    after.map_or(text.len(), |(at, _)| index + at)
}

/// One line of at most `max_chars` characters and an ellipsis, with single spaces between
/// words and without control, bidirectional or invisible characters.
pub fn line(text: &str, max_chars: usize) -> String {
    let spaced = text
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c });
    let mut previous = ' ';
    let visible = spaced.filter(|c| !is_unwanted(*c)).filter(|c| {
        let is_wanted = (previous, *c) != (' ', ' ');
        previous = *c;
        is_wanted
    });
    shortened(visible, max_chars).trim().to_owned()
}

/// At most `max_chars` characters and an ellipsis, with line breaks, spaces and tabs kept.
pub fn block(text: &str, max_chars: usize) -> String {
    let text = text.trim();
    let is_plain = |byte: u8| matches!(byte, b'\n' | b'\t' | b' '..=b'~');
    // The fast path: documents have thousands of short ASCII descriptions.
    if text.len() <= max_chars && text.bytes().all(is_plain) {
        return text.to_owned();
    }
    let is_wanted = |c: &char| matches!(c, '\n' | '\t') || !is_unwanted(*c);
    shortened(text.chars().filter(is_wanted), max_chars)
        .trim()
        .to_owned()
}

/// The whole text without control characters (line breaks and tabs stay), so that it cannot
/// send escape sequences to a terminal.
pub fn without_controls(text: &str) -> String {
    let is_kept = |c: &char| matches!(c, '\n' | '\t') || !c.is_control();
    text.chars().filter(is_kept).collect()
}

/// Bytes in hexadecimal digits, as hashes are written.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // A string takes whatever is written.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Control characters, bidirectional overrides and isolates, and invisible characters.
pub fn is_unwanted(c: char) -> bool {
    let is_bidirectional = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_invisible = matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}'
            | '\u{206a}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
    );
    c.is_control() || is_bidirectional || is_invisible
}

/// [`shorten`] for characters that come one by one: what is past the limit is never read.
fn shortened(characters: impl Iterator<Item = char>, max_chars: usize) -> String {
    let mut text = String::new();
    for (number, c) in characters.enumerate() {
        if number == max_chars {
            text.truncate(text.trim_end().len());
            text.push('…');
            break;
        }
        text.push(c);
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_writing_is_left_out() {
        assert_eq!(line("a\nb\t\u{1b}[31mc\u{0} ", 80), "a b [31mc");
        assert_eq!(block("a\nb\t\u{1b}[31mc\r\n", 80), "a\nb\t[31mc");
        assert_eq!(line("  a \t\u{200b} b  ", 80), "a b");
        assert_eq!(line("pay\u{202e}lap", 80), "paylap");
        assert_eq!(line("pa\u{200b}y\u{2060}\u{e0041}", 80), "pay");
        assert_eq!(without_controls("a\r\n\tb\u{1b}[31m"), "a\n\tb[31m");
        assert_eq!(line("你好吗", 2), "你好…");
        assert_eq!(line("你好", 2), "你好");
    }

    #[test]
    fn a_text_is_cut_between_characters_and_says_so() {
        let check = |text: &str, max_chars, expected: &str| {
            assert_eq!(shorten(text, max_chars), expected);
            assert_eq!(block(text, max_chars), expected);
        };
        check("", 0, "");
        check("a", 0, "…");
        check("ab", 1, "a…");
        check("a bc", 2, "a…");
        check("日本語", 3, "日本語");
        check("日本語です", 3, "日本語…");
    }

    #[test]
    fn each_byte_is_two_digits() {
        assert_eq!(hex(&[0x00, 0x0f, 0xa0, 0xff]), "000fa0ff");
    }

    #[test]
    fn a_bound_in_bytes_cuts_between_characters() {
        assert_eq!(shorten_to_bytes("日本語", 9), "日本語");
        assert_eq!(shorten_to_bytes("日本語", 8), "日本…");
        assert_eq!(shorten_to_bytes("ab cd", 3), "ab…");
    }

    #[test]
    fn an_excerpt_shows_where_it_was_cut() {
        let text = "日本語です";
        let around =
            |index, chars| chars_before(text, index, chars)..chars_after(text, index, chars);
        assert_eq!(around(6, 0), 6..6);
        assert_eq!(excerpt(text, around(6, 1)), "…本語…");
        assert_eq!(excerpt(text, around(3, 2)), "日本語…");
        assert_eq!(excerpt(text, around(6, 9)), text);
    }

    proptest! {
        #[test]
        fn a_shortened_text_is_a_beginning(text in any::<String>(), max in 0_usize..20) {
            let short = shorten(&text, max);
            prop_assert!(short.chars().count() <= max + 1);
            prop_assert!(short == text || short.ends_with('…'));
            prop_assert!(text.starts_with(short.trim_end_matches('…')));
        }
    }
}
