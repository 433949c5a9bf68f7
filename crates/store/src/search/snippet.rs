//! Some of a text around what was found in it.

use std::ops::Range;

use tenon_domain::text::{chars_after, chars_before};
use tenon_domain::tokenizer::{Letter, Script, TextRun, runs};

use super::tokenizer::{SearchTerm, word};

/// About two lines of a side bar.
const SNIPPET_CHARS: usize = 120;

/// How far into a text something may be found for its beginning to be shown,
/// and how much comes before what is found further on.
const HEAD_CHARS: usize = 60;
const LEAD_CHARS: usize = 30;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnippetPart {
    pub text: String,
    /// This is what was looked for.
    pub found: bool,
}

/// The text around the first of the terms that occurs. None does: how the text begins.
pub(crate) fn snippet(text: &str, terms: &[SearchTerm]) -> Vec<SnippetPart> {
    let text = text.trim_end();
    let found = found(text, terms);
    let first = found.first().map_or(0, |range| range.start);
    let start = match chars_before(text, first, HEAD_CHARS) {
        0 => 0,
        _ => chars_before(text, first, LEAD_CHARS),
    };
    let end = chars_after(text, start, SNIPPET_CHARS);
    let mut parts = Vec::new();
    if start > 0 {
        push(&mut parts, "…", false);
    }
    let mut at = start;
    for range in found {
        let (from, to) = (range.start.clamp(at, end), range.end.clamp(at, end));
        push(&mut parts, &line(&text[at..from]), false);
        push(&mut parts, &line(&text[from..to]), true);
        at = to;
    }
    push(&mut parts, &line(&text[at..end]), false);
    if end < text.len() {
        push(&mut parts, "…", false);
    }
    parts
}

/// Where the terms occur, from the first to the last, none inside another.
fn found(text: &str, terms: &[SearchTerm]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = runs(text)
        .flat_map(|run| {
            let in_run = |term: &SearchTerm| matches(&run, term);
            terms.iter().flat_map(in_run).collect::<Vec<_>>()
        })
        .collect();
    found.sort_by_key(|range| (range.start, range.end));
    let mut apart: Vec<Range<usize>> = Vec::with_capacity(found.len());
    for range in found {
        match apart.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => apart.push(range),
        }
    }
    apart
}

fn matches(run: &TextRun<'_>, term: &SearchTerm) -> Vec<Range<usize>> {
    let span = |first: usize, count: usize| {
        let letters: Vec<Letter> = run.letters().skip(first).take(count).collect();
        let (first, last) = (letters.first()?, letters.last()?);
        Some(first.at.start..last.at.end)
    };
    match (run.script, term) {
        (Script::Spaced, SearchTerm::Word(wanted)) if word(run) == *wanted => {
            span(0, usize::MAX).into_iter().collect()
        }
        (Script::Spaced, SearchTerm::Prefix(wanted)) if word(run).starts_with(wanted) => {
            span(0, wanted.chars().count()).into_iter().collect()
        }
        (Script::Unspaced, SearchTerm::Phrase(phrase)) => {
            let letters: Vec<Letter> = run.letters().collect();
            let windows = letters.windows(phrase.len());
            windows
                .filter(|window| {
                    window
                        .iter()
                        .map(|one| one.letter)
                        .eq(phrase.iter().copied())
                })
                .map(|window| window[0].at.start..window[window.len() - 1].at.end)
                .collect()
        }
        _ => Vec::new(),
    }
}

/// The same in one line.
fn line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        let gap = c.is_whitespace() || c.is_control();
        if !gap {
            line.push(c);
        } else if !line.ends_with(' ') {
            line.push(' ');
        }
    }
    line
}

fn push(parts: &mut Vec<SnippetPart>, text: &str, found: bool) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(last) if last.found == found => last.text.push_str(text),
        _ => parts.push(SnippetPart {
            text: text.into(),
            found,
        }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tokenizer::terms;
    use super::*;

    /// What was found in brackets.
    fn shown(text: &str, question: &str) -> String {
        let parts = snippet(text, &terms(question)).into_iter();
        let parts = parts.map(|piece| match piece.found {
            true => format!("[{}]", piece.text),
            false => piece.text,
        });
        parts.collect()
    }

    #[test]
    fn what_was_found_is_marked() {
        let check = |text: &str, question: &str, expected: &str| {
            assert_eq!(shown(text, question), expected, "{text:?} {question:?}");
        };
        check("", "x", "");
        check("nothing here", "x", "nothing here");
        check("The Rust book", "rust", "The [Rust] book");
        check("The Rusty book", "rust", "The [Rust]y book");
        check("rusty RUST", "rust book", "rusty [RUST]");
        check("我们去东京塔。", "东京塔", "我们去[东京塔]。");
        check("东东东", "东东", "[东东东]");
        check("塔，塔", "塔", "[塔]，[塔]");
        check("two\n\n  lines\n", "lines", "two [lines]");
        check("İstanbul", "i", "[İ]stanbul");
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let text = format!("{}找到{}", "前".repeat(500), "后".repeat(500));
        let expected = format!(
            "…{}[找到]{}…",
            "前".repeat(LEAD_CHARS),
            "后".repeat(SNIPPET_CHARS - LEAD_CHARS - 2)
        );
        assert_eq!(shown(&text, "找到"), expected);
    }

    proptest! {
        #[test]
        fn any_text_can_be_shown(text in any::<String>(), question in any::<String>()) {
            let parts = snippet(&text, &terms(&question));
            let length: usize = parts.iter().map(|piece| piece.text.chars().count()).sum();
            prop_assert!(length <= SNIPPET_CHARS + 2);
        }
    }
}
