//! The tokenizer of the search index, the same for both engines and for queries.
//!
//! Letters and digits make words; everything else parts them. Han, kana and
//! hangul are written without spaces: there every two neighbours are a word,
//! and the last character of a stretch is one more, which keeps it apart from
//! the next stretch. How words begin is kept beside them: looking for one
//! character, or for the first letters of a word, must not mean looking
//! through all words that begin so.

use std::collections::BTreeSet;

use tenon_domain::tokenizer::{Script, TextRun, bigrams, runs};

/// Longer words are keys or encoded data that nobody types; only their beginning is indexed.
const MAX_WORD_CHARS: usize = 64;

/// Beginnings up to this length are kept; the words that share a longer one are few.
pub(crate) const MAX_PREFIX_CHARS: usize = 3;

/// How much of a question is looked for.
const MAX_TERMS: usize = 16;
const MAX_PHRASE_CHARS: usize = 32;

/// What an engine is given of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct IndexTokens {
    pub(crate) in_order: Vec<String>,
    /// How words begin, and single characters of those without spaces.
    pub(crate) prefixes: BTreeSet<String>,
}

/// What must occur.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SearchTerm {
    Word(String),
    /// A word that begins like this.
    Prefix(String),
    /// These characters, one after the other.
    Phrase(Vec<char>),
}

pub(crate) fn words(text: &str) -> IndexTokens {
    let mut words = IndexTokens::default();
    for run in runs(text) {
        let letters: Vec<char> = chars(&run).collect();
        match run.script {
            Script::Spaced => {
                let begins = (1..=MAX_PREFIX_CHARS.min(letters.len())).map(|n| &letters[..n]);
                words.prefixes.extend(begins.map(String::from_iter));
                words.in_order.push(word(&run));
            }
            Script::Unspaced => {
                words.prefixes.extend(letters.iter().map(char::to_string));
                words.in_order.extend(bigrams(&letters));
                words.in_order.extend(letters.last().map(char::to_string));
            }
        }
    }
    words
}

/// The terms of a question. None of them: there is nothing to look for.
pub(crate) fn terms(question: &str) -> Vec<SearchTerm> {
    let mut terms: Vec<SearchTerm> = runs(question)
        .take(MAX_TERMS)
        .map(|run| match run.script {
            Script::Spaced => SearchTerm::Word(word(&run)),
            Script::Unspaced => SearchTerm::Phrase(chars(&run).take(MAX_PHRASE_CHARS).collect()),
        })
        .collect();
    // The last word of a query may be incomplete, so it is matched as a prefix.
    let last = terms
        .iter_mut()
        .rfind(|term| matches!(term, SearchTerm::Word(_)));
    if let Some(term) = last
        && let SearchTerm::Word(word) = term
    {
        *term = SearchTerm::Prefix(std::mem::take(word));
    }
    terms
}

pub(crate) fn chars(run: &TextRun<'_>) -> impl Iterator<Item = char> {
    run.letters().map(|letter| letter.letter)
}

pub(crate) fn word(run: &TextRun<'_>) -> String {
    chars(run).take(MAX_WORD_CHARS).collect()
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
        assert_eq!(
            words(&"x".repeat(500)).in_order,
            ["x".repeat(MAX_WORD_CHARS)]
        );
    }

    #[test]
    fn how_words_begin_is_kept_once() {
        let check = |text: &str, expected: &str| {
            let prefixes: Vec<String> = words(text).prefixes.into_iter().collect();
            assert_eq!(prefixes.join(" "), expected, "{text:?}");
        };
        check("", "");
        check("There THEN a", "a t th the");
        check("塔上塔", "上 塔");
        check("ab 东京", "a ab 东 京");
    }

    #[test]
    fn a_question_is_what_must_occur() {
        let word = |word: &str| SearchTerm::Word(word.into());
        let prefix_token = |word: &str| SearchTerm::Prefix(word.into());
        let phrase = |phrase: &str| SearchTerm::Phrase(phrase.chars().collect());
        let check = |question: &str, expected: &[SearchTerm]| {
            assert_eq!(terms(question), expected, "{question:?}");
        };
        check("", &[]);
        check("\"*' -:", &[]);
        check("Rust", &[prefix_token("rust")]);
        check(
            "the RUST book",
            &[word("the"), word("rust"), prefix_token("book")],
        );
        check("东", &[phrase("东")]);
        check("东京塔", &[phrase("东京塔")]);
        check("rust 东京", &[prefix_token("rust"), phrase("东京")]);
        check("a OR \"b\"", &[word("a"), word("or"), prefix_token("b")]);
        assert_eq!(terms(&"x ".repeat(500)).len(), MAX_TERMS);
        check(&"字".repeat(500), &[phrase(&"字".repeat(MAX_PHRASE_CHARS))]);
    }

    proptest! {
        #[test]
        fn any_text_has_words(text in any::<String>()) {
            let words = words(&text);
            for word in words.in_order.iter().chain(&words.prefixes) {
                prop_assert!(!word.is_empty());
                // `İ` in lower case is a letter and a mark.
                prop_assert!(word.chars().all(|c| c.is_alphanumeric() || c == '\u{307}'), "{word:?}");
            }
            terms(&text);
        }
    }
}
