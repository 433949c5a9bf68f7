//! The terms by which documents are indexed and found.
//!
//! Identifiers are cut where their parts begin (`createPaymentIntent`, `list_repo_issues`,
//! `HTTPServer`, `CoreV1`). Chinese, Japanese and Korean are cut into overlapping pairs of
//! characters, Chinese ones in simplified characters.

use super::traditional::simplified;
use crate::tokenizer::{Script, narrow, runs};

/// Longer words are no words: keys, hashes, encoded data. Their beginning is kept.
const MAX_TERM_CHARS: usize = 32;

/// Calls `on_term` with the terms of a text, in order and in lower case.
pub(super) fn for_each_term(text: &str, mut on_term: impl FnMut(&str)) {
    let mut term = String::new();
    // The fast path: most descriptions are ASCII, and an index reads thousands of them.
    if text.is_ascii() {
        for word in text.split(|c: char| !c.is_ascii_alphanumeric()) {
            for_each_ascii_part(word, &mut term, &mut on_term);
        }
        return;
    }
    for run in runs(text) {
        match run.script {
            Script::Spaced => for_each_part(run.text, &mut term, &mut on_term),
            Script::Unspaced => {
                let mut before = None;
                for letter in run.letters() {
                    let letter = simplified(letter.letter);
                    if let Some(before) = before.replace(letter) {
                        term.clear();
                        term.extend([before, letter]);
                        on_term(&term);
                    }
                }
                if let Some(only) = before.filter(|only| run.text.len() == only.len_utf8()) {
                    term.clear();
                    term.push(only);
                    on_term(&term);
                }
            }
        }
    }
}

/// The parts of an identifier without separators: a capital begins a part, and so does the last
/// capital of an acronym that is followed by a small letter.
fn for_each_part(name: &str, part: &mut String, on_part: &mut impl FnMut(&str)) {
    part.clear();
    let mut part_chars = 0;
    let mut previous: Option<char> = None;
    let mut letters = name.chars();
    while let Some(c) = letters.next().map(narrow) {
        // The plural of an acronym is one word: "URLs".
        let rest = letters.as_str();
        let next_is_small = rest != "s" && rest.starts_with(char::is_lowercase);
        let is_beginning = c.is_uppercase()
            && previous.is_some_and(|previous| !previous.is_uppercase() || next_is_small);
        if is_beginning && part_chars > 0 {
            on_part(part);
            part.clear();
            part_chars = 0;
        }
        if part_chars < MAX_TERM_CHARS {
            part.extend(c.to_lowercase());
            part_chars += 1;
        }
        previous = Some(c);
    }
    if !part.is_empty() {
        on_part(part);
    }
}

/// [`for_each_part`] where each byte is a letter or digit.
fn for_each_ascii_part(name: &str, part: &mut String, on_part: &mut impl FnMut(&str)) {
    let bytes = name.as_bytes();
    let is_beginning = |at: usize| {
        let rest = &bytes[at + 1..];
        let next_is_small = rest != b"s" && rest.first().is_some_and(u8::is_ascii_lowercase);
        bytes[at].is_ascii_uppercase() && (!bytes[at - 1].is_ascii_uppercase() || next_is_small)
    };
    let mut start = 0;
    while start < name.len() {
        let next = (start + 1..name.len()).find(|at| is_beginning(*at));
        let end = next.unwrap_or(name.len());
        part.clear();
        part.push_str(&name[start..end.min(start + MAX_TERM_CHARS)]);
        part.make_ascii_lowercase();
        on_part(part);
        start = end;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn identifiers_are_cut_where_their_parts_begin() {
        let check = |text: &str, expected: &[&str]| {
            let mut found = Vec::new();
            for_each_term(text, |term| found.push(term.to_owned()));
            assert_eq!(found, expected, "{text}");
        };
        check(
            "createPaymentIntent list_repo_issues",
            &["create", "payment", "intent", "list", "repo", "issues"],
        );
        check("HTTPServer getURL", &["http", "server", "get", "url"]);
        check("URLs HTTPs", &["urls", "https"]);
        check("listCoreV1Node", &["list", "core", "v1", "node"]);
        check("S3Bucket ＡＢＣ", &["s3", "bucket", "abc"]);
        check("东京现在 看", &["东京", "京现", "现在", "看"]);
        check("檔案", &["档案"]);
        check("🙂 ", &[]);
        check(&"x".repeat(1_000_000), &[&"x".repeat(MAX_TERM_CHARS)]);
    }

    proptest! {
        #[test]
        fn the_fast_path_cuts_as_the_other_does(name in "[a-zA-Z0-9]{0,50}") {
            let (mut fast, mut slow) = (Vec::new(), Vec::new());
            for_each_ascii_part(&name, &mut String::new(), &mut |part| fast.push(part.to_owned()));
            for_each_part(&name, &mut String::new(), &mut |part| slow.push(part.to_owned()));
            prop_assert_eq!(fast, slow);
        }
    }
}
