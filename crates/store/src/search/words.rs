//! Text as words, the same for both engines and for what is looked for.
//!
//! Letters and digits make words; everything else parts them. Han, kana and
//! hangul are written without spaces: there every two neighbours are a word,
//! and the last character of a stretch is one more, which keeps it apart from
//! the next stretch. How words begin is kept beside them: looking for one
//! character, or for the first letters of a word, must not mean looking
//! through all words that begin so.

use std::collections::BTreeSet;
use std::iter::Peekable;
use std::ops::Range;
use std::str::CharIndices;

/// What is longer is no word that anybody types: a key, a picture as text. Its beginning counts.
const MAX_WORD: usize = 64;

/// Beginnings up to this length are kept; the words that share a longer one are few.
pub(crate) const BEGINNING: usize = 3;

/// How much of a question is looked for.
const MAX_TERMS: usize = 16;
const MAX_PHRASE: usize = 32;

/// What an engine is given of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Words {
    pub(crate) in_order: Vec<String>,
    /// How words begin, and single characters of those without spaces.
    pub(crate) beginnings: BTreeSet<String>,
}

/// A stretch of text without a gap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) script: Script,
    pub(crate) letters: Vec<Letter>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Script {
    /// With spaces between words.
    Spaced,
    Unspaced,
}

/// A letter in lower case, and the bytes of the text it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Letter {
    pub(crate) letter: char,
    pub(crate) at: Range<usize>,
}

/// What must occur.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Term {
    Word(String),
    /// A word that begins like this.
    Beginning(String),
    /// These characters, one after the other.
    Phrase(Vec<char>),
}

/// The runs of a text, in order.
pub(crate) fn runs(text: &str) -> impl Iterator<Item = Run> {
    let mut chars = text.char_indices().peekable();
    std::iter::from_fn(move || next_run(&mut chars))
}

pub(crate) fn words(text: &str) -> Words {
    let mut words = Words::default();
    for run in runs(text) {
        let letters: Vec<char> = run.chars().collect();
        match run.script {
            Script::Spaced => {
                let begins = (1..=BEGINNING.min(letters.len())).map(|n| &letters[..n]);
                words.beginnings.extend(begins.map(String::from_iter));
                words.in_order.push(run.word());
            }
            Script::Unspaced => {
                words.beginnings.extend(letters.iter().map(char::to_string));
                words.in_order.extend(pairs(&letters));
                words.in_order.extend(letters.last().map(char::to_string));
            }
        }
    }
    words
}

/// The terms of a question. None of them: there is nothing to look for.
pub(crate) fn terms(question: &str) -> Vec<Term> {
    let mut terms: Vec<Term> = runs(question)
        .take(MAX_TERMS)
        .map(|run| match run.script {
            Script::Spaced => Term::Word(run.word()),
            Script::Unspaced => Term::Phrase(run.chars().take(MAX_PHRASE).collect()),
        })
        .collect();
    // Who is still typing has only the beginning of the last word.
    let last = terms.iter_mut().rfind(|term| matches!(term, Term::Word(_)));
    if let Some(term) = last
        && let Term::Word(word) = term
    {
        *term = Term::Beginning(std::mem::take(word));
    }
    terms
}

/// Every two neighbours.
pub(crate) fn pairs(letters: &[char]) -> impl Iterator<Item = String> {
    letters.windows(2).map(String::from_iter)
}

impl Run {
    pub(crate) fn chars(&self) -> impl Iterator<Item = char> {
        self.letters.iter().map(|letter| letter.letter)
    }

    pub(crate) fn word(&self) -> String {
        self.chars().take(MAX_WORD).collect()
    }
}

fn next_run(chars: &mut Peekable<CharIndices>) -> Option<Run> {
    while chars.next_if(|(_, c)| script(*c).is_none()).is_some() {}
    let kind = script(chars.peek()?.1)?;
    let mut letters = Vec::new();
    while let Some((start, c)) = chars.next_if(|(_, c)| script(*c) == Some(kind)) {
        let at = start..start + c.len_utf8();
        letters.extend(narrow(c).to_lowercase().map(|letter| Letter {
            letter,
            at: at.clone(),
        }));
    }
    Some(Run {
        script: kind,
        letters,
    })
}

/// None for what parts words.
fn script(c: char) -> Option<Script> {
    if !c.is_alphanumeric() {
        return None;
    }
    let unspaced = matches!(c,
        '\u{1100}'..='\u{11FF}' // Hangul, in parts
        | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{31FF}' // Kana, Bopomofo, Hangul
        | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{A960}'..='\u{A97F}'
        | '\u{AC00}'..='\u{D7FF}' // Hangul
        | '\u{F900}'..='\u{FAFF}'
        | '\u{FF66}'..='\u{FFDC}' // Kana and Hangul, narrow
        | '\u{20000}'..='\u{3FFFF}');
    Some(match unspaced {
        true => Script::Unspaced,
        false => Script::Spaced,
    })
}

/// Chinese keyboards also write Latin letters and digits as wide as their own.
fn narrow(c: char) -> char {
    match c {
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(c as u32 - 0xFEE0).unwrap_or(c),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_is_cut_into_words() {
        let check = |text: &str, expected: &str| {
            assert_eq!(words(text).in_order.join(" "), expected, "{text:?}");
        };
        check("", "");
        check(" \0\n…!? 🗼", "");
        check("Hello, World", "hello world");
        check("snake_case a.b/c-d", "snake case a b c d");
        check("it's 3.14", "it s 3 14");
        check("ÄRGER Łódź İ", "ärger łódź i\u{307}");
        check("ＡＢＣ１２", "abc12");
        check("Привет мир", "привет мир");
        check("东京塔", "东京 京塔 塔");
        check("塔", "塔");
        check("去东京Tower看", "去东 东京 京 tower 看");
        check("東京タワーは", "東京 京タ タワ ワー ーは は");
        check("안녕 하세요", "안녕 녕 하세 세요 요");
        check("\u{20000}\u{20001}", "\u{20000}\u{20001} \u{20001}");
        // What marks whose words they are can never be written.
        check("a\u{E000}b", "a b");
        assert_eq!(words(&"x".repeat(500)).in_order, ["x".repeat(MAX_WORD)]);
    }

    #[test]
    fn how_words_begin_is_kept_once() {
        let check = |text: &str, expected: &str| {
            let beginnings: Vec<String> = words(text).beginnings.into_iter().collect();
            assert_eq!(beginnings.join(" "), expected, "{text:?}");
        };
        check("", "");
        check("There THEN a", "a t th the");
        check("塔上塔", "上 塔");
        check("ab 东京", "a ab 东 京");
    }

    #[test]
    fn a_question_is_what_must_occur() {
        let word = |word: &str| Term::Word(word.into());
        let beginning = |word: &str| Term::Beginning(word.into());
        let phrase = |phrase: &str| Term::Phrase(phrase.chars().collect());
        let check = |question: &str, expected: &[Term]| {
            assert_eq!(terms(question), expected, "{question:?}");
        };
        check("", &[]);
        check("\"*' -:", &[]);
        check("Rust", &[beginning("rust")]);
        check(
            "the RUST book",
            &[word("the"), word("rust"), beginning("book")],
        );
        check("东", &[phrase("东")]);
        check("东京塔", &[phrase("东京塔")]);
        check("rust 东京", &[beginning("rust"), phrase("东京")]);
        check("a OR \"b\"", &[word("a"), word("or"), beginning("b")]);
        assert_eq!(terms(&"x ".repeat(500)).len(), MAX_TERMS);
        check(&"字".repeat(500), &[phrase(&"字".repeat(MAX_PHRASE))]);
    }

    proptest! {
        #[test]
        fn any_text_has_words(text in any::<String>()) {
            let words = words(&text);
            for word in words.in_order.iter().chain(&words.beginnings) {
                prop_assert!(!word.is_empty());
                // `İ` in lower case is a letter and a mark.
                prop_assert!(word.chars().all(|c| c.is_alphanumeric() || c == '\u{307}'), "{word:?}");
            }
            for letter in runs(&text).flat_map(|run| run.letters) {
                prop_assert!(text.get(letter.at).is_some());
            }
            terms(&text);
        }
    }
}
