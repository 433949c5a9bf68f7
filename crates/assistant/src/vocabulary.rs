//! The words the assistant knows: what to pass over, what means the same, what points back,
//! what counts time. English and Chinese, simplified and traditional.
//!
//! The lists are data beside this file. Nothing in them names a tool: synonyms lead to the
//! plain English words that tools of any source are called by.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use tenon_domain::search::words;

/// Days other than this one.
const OTHER_DAYS: &str = "tomorrow yesterday tonight 明天 昨天 后天 後天 前天 明日 昨日 明年 去年 \
    下周 下週 上周 上週 下周一 下星期 上星期 下个月 下個月 上个月 上個月";

/// How many seconds a unit has.
const SECONDS: &[(&str, f64)] = &[
    ("ms millisecond milliseconds 毫秒", 0.001),
    ("s sec secs second seconds 秒 秒钟 秒鐘", 1.0),
    ("m min mins minute minutes 分 分钟 分鐘", 60.0),
    ("h hr hrs hour hours 小时 小時 个小时 個小時", 3600.0),
    ("d days 天", 86400.0),
];

/// Words that point at what was just spoken of.
const PRONOUNS: &str =
    "it that this them those result 它 它们 它們 这个 這個 那个 那個 结果 結果 该文件";

/// What tools are named with that says nothing about them.
const NEUTRAL: &str =
    "get current do run the by id for of a to in tool execute perform with my all and";

/// Phrases that only sound like a request.
const PLEASANTRIES: &str = "have a nice|have a good|have a great|good day|good time|long time no see|\
    take your time|this time|next time|last time|sleep well|good night|time flies|any time|all the time|\
    once upon a time|nice to meet|how are you|how do you do|i am done|i'm done|well done|all done|\
    great time|see you|what can i|what can you|好久不见|辛苦了|浪费时间|浪費時間|没时间|沒時間|没有时间|\
    有时间|有時間|花时间|时间过得|時間過得";

/// Whole messages that ask for nothing.
const SMALL_TALK: &str = "save me|help me|wait, what|wait what|wait a moment|wait a minute|wait a second|\
    hold on|等一下|等等|等会|等一会|稍等|稍等一下|请等一下|請等一下";

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

/// What tools call a word.
#[derive(Debug)]
pub(crate) struct Synonyms {
    pub(crate) sense: Sense,
    pub(crate) meant: &'static str,
}

static STOP_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let words = include_str!("vocabulary/stop_words.txt");
    words.split_whitespace().collect()
});

static SYNONYMS: LazyLock<HashMap<&str, Synonyms>> = LazyLock::new(|| {
    let mut synonyms = HashMap::new();
    for line in include_str!("vocabulary/synonyms.txt").lines() {
        let Some((sense, (said, meant))) = line
            .split_once(": ")
            .and_then(|(sense, rest)| Some((sense, rest.split_once(" => ")?)))
        else {
            continue;
        };
        let sense = match sense {
            "thing" => Sense::Thing,
            "deed" => Sense::Deed,
            "hint" => Sense::Hint,
            _ => continue,
        };
        let words = said.split_whitespace();
        synonyms.extend(words.map(|word| (word, Synonyms { sense, meant })));
    }
    synonyms
});

/// The Chinese words, and how many characters the longest of them has.
static DICTIONARY: LazyLock<(HashSet<&str>, usize)> = LazyLock::new(|| {
    let units = SECONDS.iter().map(|(names, _)| *names);
    let words: HashSet<&str> = [PRONOUNS, OTHER_DAYS]
        .into_iter()
        .chain(units)
        .flat_map(str::split_whitespace)
        .chain(STOP_WORDS.iter().copied())
        .chain(SYNONYMS.keys().copied())
        // 公里 must not end in the particle 里; single characters are parts of names.
        .chain(
            signs()
                .map(|(said, _)| said)
                .filter(|said| said.chars().count() > 1),
        )
        .filter(|word| !word.is_ascii())
        .collect();
    let longest = words.iter().map(|word| word.chars().count()).max();
    (words, longest.unwrap_or(0))
});

/// How the signs and units of a sum are said, and how they are written.
pub(crate) fn signs() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = include_str!("vocabulary/signs.txt").lines();
    lines.filter_map(|line| line.split_once(" => "))
}

/// Whether a word, in lower case, says nothing about what is wanted.
pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(word)
}

/// What tools call a word that is given in lower case.
pub(crate) fn synonyms(word: &str) -> Option<&'static Synonyms> {
    SYNONYMS.get(word)
}

/// Whether a word, in lower case, is another one for `meant`.
pub(crate) fn means(word: &str, meant: &str) -> bool {
    synonyms(word).is_some_and(|one| one.meant.split(' ').any(|word| word == meant))
}

/// Whether a word, in lower case, says what is to be done.
pub(crate) fn is_deed(word: &str) -> bool {
    synonyms(word).is_some_and(|one| one.sense == Sense::Deed)
}

pub(crate) fn seconds_in(unit: &str) -> Option<f64> {
    let named = |(names, _): &&(&str, f64)| has_word(names, unit);
    SECONDS.iter().find(named).map(|(_, seconds)| *seconds)
}

pub(crate) fn is_pronoun(word: &str) -> bool {
    has_word(PRONOUNS, word)
}

pub(crate) fn is_other_day(word: &str) -> bool {
    has_word(OTHER_DAYS, word)
}

/// Whether a word, as a stem, says nothing about the tool that is named with it.
pub(crate) fn is_neutral(word: &str) -> bool {
    NEUTRAL.split(' ').any(|neutral| stem(neutral) == word)
}

/// Whether a text, in lower case, asks for nothing although it sounds like a request.
pub(crate) fn is_small_talk(text: &str) -> bool {
    let plain = text.trim_matches(|c: char| !c.is_alphanumeric());
    SMALL_TALK.split('|').any(|phrase| phrase == plain)
        || PLEASANTRIES.split('|').any(|phrase| text.contains(phrase))
}

/// The length in bytes of the longest known word that a Chinese text begins with.
pub(crate) fn longest_word(text: &str) -> Option<usize> {
    let (words, longest) = &*DICTIONARY;
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let ends: Vec<usize> = ends.take(*longest).collect();
    ends.into_iter()
        .rev()
        .find(|end| words.contains(&text[..*end]))
}

/// The stems of the words of a text.
pub(crate) fn stems(text: &str) -> impl Iterator<Item = String> {
    words(text).into_iter().map(|word| stem(&word))
}

/// A word without its ending, so that "files" finds "file" and "creating" finds "create".
pub(crate) fn stem(word: &str) -> String {
    let without = |ending: &str| word.strip_suffix(ending).filter(|rest| rest.len() >= 3);
    if !word.is_ascii() {
        return word.to_owned();
    }
    let base = if word.ends_with("ss") {
        word
    } else {
        let endings = ["ies", "ing", "ed", "s"].into_iter();
        endings.filter_map(without).next().unwrap_or(word)
    };
    if base.len() > 3 {
        base.trim_end_matches(['e', 'y']).to_owned()
    } else {
        base.to_owned()
    }
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
    fn the_longest_known_word_wins() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(longest_word(text).map(|end| &text[..end]), expected);
        };
        check("现在几点", Some("现在"));
        check("几点了", Some("几点了"));
        check("东京", None);
        check("算了", Some("算了"));
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
