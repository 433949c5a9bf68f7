//! The words the assistant knows: what to pass over, what means the same, what points back,
//! what counts. English and Chinese, simplified and traditional.
//!
//! The lists are data beside this file. Nothing in them names a tool: synonyms lead to the
//! plain English words that tools of any source are called by.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use tenon_domain::search::words;

/// How much a word says about the tool that is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sense {
    /// What it is about.
    Thing,
    /// What is to be done: a tool that does something else is not meant.
    Deed,
    /// A verb so general ("show", "打开") that it chooses no tool by itself.
    Hint,
}

static LISTS: LazyLock<HashMap<&str, HashSet<&str>>> = LazyLock::new(|| {
    let mut lists: HashMap<&str, HashSet<&str>> = HashMap::new();
    let mut name = "";
    for line in include_str!("vocabulary/lists.txt").lines() {
        let words = match line.split_once(": ") {
            _ if line.starts_with('#') => continue,
            Some((list, words)) => {
                name = list;
                words
            }
            None => line,
        };
        lists
            .entry(name)
            .or_default()
            .extend(words.split_whitespace());
    }
    lists
});

static SYNONYMS: LazyLock<HashMap<&str, (Sense, &str)>> = LazyLock::new(|| {
    let mut synonyms = HashMap::new();
    for line in include_str!("vocabulary/synonyms.txt").lines() {
        let (sense, rest) = line.split_once(": ").unwrap_or_default();
        let (said, meant) = rest.split_once(" => ").unwrap_or_default();
        let sense = match sense {
            "thing" => Sense::Thing,
            "deed" => Sense::Deed,
            _ => Sense::Hint,
        };
        let words = said.split_whitespace();
        synonyms.extend(words.map(|word| (word, (sense, meant))));
    }
    synonyms
});

/// The Chinese words.
static DICTIONARY: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    // 公里 must not end in the particle 里; single characters are parts of names.
    let signs = signs().map(|(_, said)| said);
    let signs = signs.filter(|said| said.chars().count() > 1);
    let words = LISTS.values().flatten().chain(SYNONYMS.keys()).copied();
    let words = words.chain(signs);
    words.filter(|word| !word.is_ascii()).collect()
});

/// No word of the [`DICTIONARY`] has more characters.
const MAX_WORD_CHARS: usize = 8;

/// The signs and units of a sum, and how they are said.
pub(crate) fn signs() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = include_str!("vocabulary/signs.txt").lines();
    let lines = lines.filter_map(|line| line.split_once(" = "));
    lines.flat_map(|(sign, said)| said.split(" | ").map(move |said| (sign, said)))
}

/// Whether a word, in lower case, is on one of the lists of `lists.txt`.
pub(crate) fn is_in(list: &str, word: &str) -> bool {
    let words = LISTS.get(list);
    debug_assert!(words.is_some(), "there is no list of {list}");
    words.is_some_and(|words| words.contains(word))
}

/// Whether a word, in lower case, says nothing about what is wanted.
pub(crate) fn is_stop_word(word: &str) -> bool {
    is_in("stop words", word)
}

/// What tools call a word that is given in lower case.
pub(crate) fn synonyms(word: &str) -> Option<(Sense, &'static str)> {
    SYNONYMS.get(word).copied()
}

/// Whether a word, in lower case, is another one for `meant`.
pub(crate) fn means(word: &str, meant: &str) -> bool {
    synonyms(word).is_some_and(|(_, words)| has_word(words, meant))
}

/// How many seconds a unit has: its list is called so.
pub(crate) fn seconds_in(unit: &str) -> Option<f64> {
    let mut lists = LISTS.iter().filter(|(_, words)| words.contains(unit));
    lists.find_map(|(list, _)| list.strip_prefix("seconds ")?.parse().ok())
}

/// Whether a text, in lower case, asks for nothing although it sounds like a request.
pub(crate) fn is_small_talk(text: &str) -> bool {
    let phrases = include_str!("vocabulary/small_talk.txt");
    { phrases.trim_end().split('|') }.any(|phrase| text.contains(phrase))
}

/// The length in bytes of the longest known word that a Chinese text begins with.
pub(crate) fn longest_word(text: &str) -> Option<usize> {
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let known = ends
        .take(MAX_WORD_CHARS)
        .filter(|end| DICTIONARY.contains(&text[..*end]));
    known.last()
}

pub(crate) fn is_numeral(c: char) -> bool {
    numeral(c).is_some()
}

fn numeral(c: char) -> Option<f64> {
    const DIGITS: &str = "零一二三四五六七八九";
    let unit = match c {
        '两' | '兩' => Some(2.0),
        '十' => Some(10.0),
        '百' => Some(100.0),
        '千' => Some(1_000.0),
        '万' | '萬' => Some(10_000.0),
        '亿' | '億' => Some(100_000_000.0),
        _ => None,
    };
    unit.or_else(|| Some(DIGITS.chars().position(|digit| digit == c)? as f64))
}

/// A text with the numbers that are written in Chinese as digits: 三百二十 is 320.
pub(crate) fn with_digits(text: &str) -> String {
    let runs = text.chars().collect::<Vec<_>>();
    let runs = runs.chunk_by(|left, right| is_numeral(*left) == is_numeral(*right));
    let plain = runs.map(|run| match run {
        [first, ..] if is_numeral(*first) => value_of_numerals(run).to_string(),
        run => run.iter().collect(),
    });
    plain.collect()
}

fn value_of_numerals(run: &[char]) -> f64 {
    let (mut total, mut section, mut digits) = (0.0, 0.0, 0.0_f64);
    for value in run.iter().filter_map(|c| numeral(*c)) {
        if value < 10.0 {
            digits = digits * 10.0 + value;
        } else if value < 10_000.0 {
            section += digits.max(1.0) * value;
            digits = 0.0;
        } else {
            total += (section + digits).max(1.0) * value;
            (section, digits) = (0.0, 0.0);
        }
    }
    total + section + digits
}

/// The stems of the words of a text.
pub(crate) fn stems(text: &str) -> impl Iterator<Item = String> {
    words(text).into_iter().map(|word| stem(&word))
}

/// A word without its ending, so that "files" finds "file" and "creating" finds "create".
pub(crate) fn stem(word: &str) -> String {
    if !word.is_ascii() || word.ends_with("ss") {
        return word.to_owned();
    }
    let without = |ending| word.strip_suffix(ending).filter(|rest| rest.len() >= 3);
    let base = ["ies", "ing", "ed", "s"].into_iter().find_map(without);
    let base = base.unwrap_or(word);
    let is_long = base.len() > 3;
    base.trim_end_matches(|c| is_long && matches!(c, 'e' | 'y'))
        .to_owned()
}

/// Whether a list of words, separated by spaces, has this one.
pub(crate) fn has_word(list: &str, word: &str) -> bool {
    !word.is_empty() && list.split_whitespace().any(|one| one == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_share_a_stem() {
        let check = |left: &str, right: &str| assert_eq!(stem(left), stem(right), "{left} {right}");
        check("files", "file");
        check("creating", "create");
        check("listed", "lists");
        check("directories", "directory");
        check("文件", "文件");
        assert_ne!(stem("time"), stem("timer"));
    }

    #[test]
    fn numbers_in_chinese_are_read() {
        let check = |text: &str, expected: &str| assert_eq!(with_digits(text), expected);
        check("三", "3");
        check("十五", "15");
        check("三百二十", "320");
        check("一万零五", "10005");
        check("两亿三千万", "230000000");
        check("二零二六", "2026");
        check("3 + 五 = 八", "3 + 5 = 8");
        check("东京", "东京");
    }

    #[test]
    fn the_longest_known_word_wins() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(longest_word(text).map(|end| &text[..end]), expected);
        };
        check("现在几点", Some("现在"));
        check("几点了", Some("几点了"));
        check("东京", None);
        check("算了", Some("算了"));
        let is_short = |word: &&str| word.chars().count() <= MAX_WORD_CHARS;
        assert!(DICTIONARY.iter().all(is_short));
    }

    #[test]
    fn every_line_of_the_synonyms_is_read() {
        let lines = include_str!("vocabulary/synonyms.txt").lines();
        for line in lines.filter(|line| !line.starts_with('#')) {
            let said = line.split([' ', '=']).nth(1).unwrap_or_default();
            assert!(synonyms(said).is_some(), "{line}");
        }
    }
}
