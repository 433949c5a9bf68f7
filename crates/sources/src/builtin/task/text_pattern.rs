//! A pattern that a model wrote, looked for in text.

use std::ops::Range;

use regex::{Regex, RegexBuilder};
use serde_json::{Value, json};

/// The compiled size of a pattern. `regex` takes time linear in the text, whatever the pattern.
const MAX_PATTERN_BYTES: usize = 1024 * 1024;

/// A case-insensitive regular expression. An invalid one is searched as plain text.
#[derive(Debug, Clone)]
pub struct TextPattern(Regex);

impl TextPattern {
    /// A pattern as a property of a tool's input.
    pub fn property() -> Value {
        json!({
            "type": "string",
            "description": "A regular expression, whatever the case of the text.",
            "minLength": 1,
            "maxLength": 1000,
            "examples": ["error|failed"],
        })
    }

    /// None for an empty pattern, which would be found everywhere.
    pub fn new(pattern: &str) -> Option<Self> {
        if pattern.is_empty() {
            return None;
        }
        let compiled = compile(pattern).or_else(|_| compile(&regex::escape(pattern)));
        compiled.ok().map(Self)
    }

    /// Plain text.
    pub fn literal(text: &str) -> Option<Self> {
        let compiled = (!text.is_empty()).then(|| compile(&regex::escape(text)));
        compiled?.ok().map(Self)
    }

    /// The byte ranges of all places, from left to right, none of them empty.
    pub fn find_all<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
        let places = self.0.find_iter(text).map(|place| place.range());
        places.filter(|place| !place.is_empty())
    }
}

fn compile(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern)
        .case_insensitive(true)
        .multi_line(true)
        .size_limit(MAX_PATTERN_BYTES)
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, text: &str, expected: &[&str]) {
        let found = TextPattern::new(pattern).unwrap();
        let found: Vec<&str> = found.find_all(text).map(|place| &text[place]).collect();
        assert_eq!(found, expected, "{pattern}");
    }

    #[test]
    fn patterns_find_what_they_mean() {
        check("err(or)?", "Error, err", &["Error", "err"]);
        check("^a$", "b\na\nc", &["a"]);
        check("a(b", "xa(b", &["a(b"]);
        check("(a{1000}){1000}", "(A{1000}){1000}", &["(A{1000}){1000}"]);
        check("x*", "axx", &["xx"]);
        check("数据", "有数据", &["数据"]);
        assert!(TextPattern::new("").is_none() && TextPattern::literal("").is_none());
    }
}
