//! Plain text, looked for in other text without regard to case.

use std::ops::Range;

/// What is looked for. Finding it takes one pass over the text, however the
/// text looks: outputs of fifty megabytes on one line are searched with it.
#[derive(Debug)]
pub(super) struct CaseInsensitiveMatcher {
    folded: Vec<char>,
    /// Knuth, Morris and Pratt's table: after `n` matching characters and then
    /// a wrong one, how many of them still match.
    fallback: Vec<usize>,
}

impl CaseInsensitiveMatcher {
    /// None for an empty query, which would be found everywhere.
    pub(super) fn new(query: &str) -> Option<Self> {
        let folded: Vec<char> = query.chars().flat_map(char::to_lowercase).collect();
        if folded.is_empty() {
            return None;
        }
        let mut fallback = vec![0; folded.len()];
        let mut matched = 0;
        for end in 1..folded.len() {
            while matched > 0 && folded[end] != folded[matched] {
                matched = fallback[matched - 1];
            }
            if folded[end] == folded[matched] {
                matched += 1;
            }
            fallback[end] = matched;
        }
        Some(Self { folded, fallback })
    }

    /// The byte ranges of all places, from left to right, none overlapping another.
    pub(super) fn find_all<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        let mut chars = text.char_indices();
        let mut matched = 0;
        std::iter::from_fn(move || {
            for (start, char) in chars.by_ref() {
                let end = start + char.len_utf8();
                if char.is_ascii() {
                    matched = self.step(matched, char.to_ascii_lowercase());
                } else {
                    for folded in char.to_lowercase() {
                        matched = self.step(matched, folded);
                        if matched == self.folded.len() {
                            break;
                        }
                    }
                }
                if matched == self.folded.len() {
                    matched = 0;
                    return Some(self.start_of_match(&text[..end])..end);
                }
            }
            None
        })
    }

    fn step(&self, mut matched: usize, char: char) -> usize {
        while matched > 0 && self.folded[matched] != char {
            matched = self.fallback[matched - 1];
        }
        if self.folded[matched] == char {
            matched + 1
        } else {
            0
        }
    }

    /// Folding may change how long a text is, so the start is counted back from the end.
    fn start_of_match(&self, text: &str) -> usize {
        let mut missing = self.folded.len();
        for (start, char) in text.char_indices().rev() {
            missing = missing.saturating_sub(char.to_lowercase().count());
            if missing == 0 {
                return start;
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, text: &str, expected: &[&str]) {
        let needle = CaseInsensitiveMatcher::new(query).unwrap();
        let found: Vec<&str> = needle.find_all(text).map(|range| &text[range]).collect();
        assert_eq!(found, expected, "{query:?} in {text:?}");
    }

    #[test]
    fn text_is_found_whatever_its_case() {
        check("cat", "a Cat, a CAT", &["Cat", "CAT"]);
        check("cat", "dog", &[]);
        check("cat", "", &[]);
        check("aa", "aaaaa", &["aa", "aa"]);
        check("aab", "aaaab", &["aab"]);
        check("abab c", "ababab c", &["abab c"]);
        check("ÄRGER", "kein Ärger", &["Ärger"]);
        check("时间", "现在时间，时间", &["时间", "时间"]);
        check("i\u{307}x", "İx", &["İx"]);
        check("line two", "line one\nLine Two\n", &["Line Two"]);
    }

    #[test]
    fn an_empty_query_is_no_needle() {
        assert!(CaseInsensitiveMatcher::new("").is_none());
    }

    #[test]
    fn a_text_made_to_be_slow_is_not() {
        let needle = CaseInsensitiveMatcher::new(&format!("{}b", "a".repeat(999))).unwrap();
        assert_eq!(needle.find_all(&"a".repeat(2_000_000)).count(), 0);
    }
}
