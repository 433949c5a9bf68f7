//! Chinese words in English: most tools are described in English, and asked for in any language.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::meaning::{self, Meaning};

/// Lines of English words, a colon, and the Chinese words for them in simplified characters.
const ENTRIES: &str = include_str!("lexicon.txt");

static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::new);

struct Lexicon {
    meanings: HashMap<&'static str, Meaning>,
    max_word_chars: usize,
}

impl Lexicon {
    fn new() -> Self {
        let mut meanings: HashMap<&str, Meaning> = HashMap::new();
        let entries = meaning::entries(ENTRIES).filter_map(|line| line.split_once(':'));
        for (english, chinese) in entries {
            for word in chinese.split_whitespace() {
                meaning::extend(meanings.entry(word).or_default(), english);
            }
        }
        let lengths = meanings.keys().map(|word| word.chars().count());
        Self {
            max_word_chars: lengths.max().unwrap_or_default(),
            meanings,
        }
    }

    /// The longest word that a text begins with: its length in bytes, and what it means.
    fn first_word(&self, text: &str) -> Option<(usize, &Meaning)> {
        let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
        let ends: Vec<usize> = ends.take(self.max_word_chars).collect();
        let mut longest_first = ends.into_iter().rev();
        longest_first.find_map(|end| Some((end, self.meanings.get(&text[..end])?)))
    }
}

/// What the words of a text in simplified characters mean. It is cut by longest match; characters
/// that begin no word are passed over.
pub(super) fn meanings(text: &str) -> impl Iterator<Item = &'static Meaning> {
    let lexicon: &'static Lexicon = &LEXICON;
    let mut rest = text;
    std::iter::from_fn(move || {
        while let Some(first) = rest.chars().next() {
            let found = lexicon.first_word(rest);
            let end = found.map_or(first.len_utf8(), |(end, _)| end);
            rest = &rest[end..];
            if let Some((_, meaning)) = found {
                return Some(meaning);
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::super::traditional::simplified;
    use super::*;

    #[test]
    fn a_text_is_cut_by_longest_match() {
        let check = |text: &str, expected: &[&str]| {
            let found: Vec<&str> = meanings(text)
                .map(|meaning| meaning[0][0].as_str())
                .collect();
            assert_eq!(found, expected, "{text}");
        };
        check("日历", &["calendar"]);
        check("乜删除乜日历", &["delet", "calendar"]);
        // "deploy key", not "deploy" and "key".
        check("部署密钥", &["deploi"]);
        check("部署密钥密钥", &["deploi", "secret"]);
        check("乜", &[]);
        check("", &[]);
    }

    #[test]
    fn the_lexicon_is_in_simplified_characters_and_large_enough() {
        let meanings = &LEXICON.meanings;
        assert!(meanings.len() > 1_500, "{}", meanings.len());
        for (word, meaning) in meanings {
            assert_eq!(word.chars().map(simplified).collect::<String>(), **word);
            assert!(!meaning.is_empty(), "{word}");
        }
    }
}
