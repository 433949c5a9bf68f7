//! Texts as words, in scripts with and without spaces between them.
//!
//! The one tokenizer: search over tools, the index of chats and the
//! built-in assistant all cut by these rules. Letters and digits make runs, everything else
//! separates them. Han, kana and hangul are written without spaces, so a run of them is
//! looked at by bigrams (every two neighbours) where no dictionary is at hand.

use std::ops::Range;

/// Letters and digits of one kind of script, without a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextRun<'a> {
    pub script: Script,
    pub text: &'a str,
    /// Where it begins in the whole text, in bytes.
    pub start: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Script {
    /// With spaces between words.
    Spaced,
    /// Chinese, Japanese and Korean.
    Unspaced,
}

/// A letter in lower case and half width, and the bytes of the text it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    pub letter: char,
    pub at: Range<usize>,
}

/// The runs of a text, in order.
pub fn runs(text: &str) -> impl Iterator<Item = TextRun<'_>> {
    let mut chars = text.char_indices().peekable();
    std::iter::from_fn(move || {
        while chars.next_if(|(_, c)| script(*c).is_none()).is_some() {}
        let &(start, first) = chars.peek()?;
        let script_of_run = script(first)?;
        let mut end = start;
        while let Some((at, c)) = chars.next_if(|(_, c)| script(*c) == Some(script_of_run)) {
            end = at + c.len_utf8();
        }
        Some(TextRun {
            script: script_of_run,
            text: &text[start..end],
            start,
        })
    })
}

impl TextRun<'_> {
    pub fn letters(&self) -> impl Iterator<Item = Letter> {
        self.text.char_indices().flat_map(|(at, c)| {
            let start = self.start + at;
            let at = start..start + c.len_utf8();
            narrow(c).to_lowercase().map(move |letter| Letter {
                letter,
                at: at.clone(),
            })
        })
    }
}

/// Every two neighbours.
pub fn bigrams(letters: &[char]) -> impl Iterator<Item = String> {
    letters.windows(2).map(String::from_iter)
}

/// Whether a character belongs to a script that is written without spaces.
pub fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11FF}' // Hangul Jamo
        | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{31FF}' // Kana, Bopomofo, Hangul
        | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{A960}'..='\u{A97F}'
        | '\u{AC00}'..='\u{D7FF}' // Hangul
        | '\u{F900}'..='\u{FAFF}'
        | '\u{FF66}'..='\u{FFDC}' // Kana and Hangul, half width
        | '\u{20000}'..='\u{3FFFF}')
        && c.is_alphanumeric()
}

/// Full-width Latin letters, digits and signs, as Chinese keyboards write them, in half width.
pub fn narrow(c: char) -> char {
    match c {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(c as u32 - 0xFEE0).unwrap_or(c),
        other => other,
    }
}

/// None for what separates words.
fn script(c: char) -> Option<Script> {
    if !c.is_alphanumeric() {
        None
    } else if is_unspaced(c) {
        Some(Script::Unspaced)
    } else {
        Some(Script::Spaced)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_is_cut_where_its_script_changes() {
        let check = |text: &str, expected: &[&str]| {
            let found: Vec<&str> = runs(text).map(|run| run.text).collect();
            assert_eq!(found, expected, "{text:?}");
        };
        check("", &[]);
        check(" \0\n…!? 🗼", &[]);
        check("snake_case a.b", &["snake", "case", "a", "b"]);
        check("去东京Tower看", &["去东京", "Tower", "看"]);
        check("안녕 하세요", &["안녕", "하세요"]);
    }

    #[test]
    fn letters_are_lower_case_and_half_width() {
        let check = |text: &str, expected: &str| {
            let found: String = runs(text)
                .flat_map(|run| run.letters().map(|one| one.letter).collect::<Vec<_>>())
                .collect();
            assert_eq!(found, expected, "{text:?}");
        };
        check("ＡＢＣ１２", "abc12");
        check("ÄRGER İ", "ärgeri\u{307}");
    }

    proptest! {
        #[test]
        fn letters_stand_for_characters_of_the_text(text in any::<String>()) {
            for run in runs(&text) {
                prop_assert_eq!(&text[run.start..run.start + run.text.len()], run.text);
                for letter in run.letters() {
                    prop_assert!(text.get(letter.at).is_some());
                }
            }
        }
    }
}
