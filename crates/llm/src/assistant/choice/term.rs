//! The words of a clause that can say what is wanted, and what tools may call them.

use std::collections::HashSet;

use tenon_domain::search::words;

use super::super::arguments::Context;
use super::super::clause::Clause;
use super::super::lexicon::{self, Sense, stem};
use super::super::maths;
use super::super::token::Kind;

/// Words of a clause that are looked at to choose.
pub(super) const MOST_TERMS: usize = 64;

/// Words behind which no tool is named any more, only what it is to do its work on.
const CONTENT_BEGINS: &[&str] = &[
    "with",
    "containing",
    "saying",
    "titled",
    "called",
    "named",
    "about",
    "内容",
    "內容",
    "内容是",
    "内容为",
    "內容是",
    "內容為",
    "标题",
    "標題",
    "名为",
    "名為",
    "关于",
    "關於",
];

/// A content word of the clause and what tools may call it.
pub(super) struct Term {
    pub(super) token: usize,
    /// Stems, each with how much it says.
    pub(super) stems: Vec<(String, f32)>,
    /// Says what is to be done, or what it is about.
    pub(super) sense: Option<Sense>,
}

impl Term {
    pub(super) fn is_deed(&self) -> bool {
        self.sense == Some(Sense::Deed)
    }

    /// How much this word says of what is in a set.
    pub(super) fn hit(&self, set: &HashSet<String>) -> f32 {
        let hits = self.stems.iter().filter(|(stem, _)| set.contains(stem));
        hits.map(|(_, weight)| *weight).fold(0.0, f32::max)
    }
}

/// The words of a clause that can say what is wanted.
pub(super) fn terms(clause: &Clause<'_>, context: &Context) -> Vec<Term> {
    let mut terms = Vec::new();
    let sum = maths::find(clause.text, &clause.tokens);
    if let Some(sum) = &sum {
        let token = clause
            .tokens
            .iter()
            .position(|token| token.end > sum.start)
            .unwrap_or(0);
        terms.push(term(
            token,
            &["calculate compute evaluate math expression"],
            0.9,
        ));
    }
    for (at, token) in clause.tokens.iter().enumerate() {
        let word = clause.lower(at);
        let content = CONTENT_BEGINS.contains(&word) || (token.is_mark(":：") && at > 0);
        if terms.len() >= MOST_TERMS || (content && !terms.is_empty()) {
            break;
        }
        match token.kind {
            Kind::Url => terms.push(term(at, &["url fetch web page"], 0.8)),
            Kind::Path => {
                let named = token
                    .text
                    .rsplit(['/', '\\'])
                    .next()
                    .is_some_and(|last| last.contains('.'));
                let mut one = term(at, &["file"], 0.8);
                one.stems
                    .push((stem(if named { "read" } else { "list" }), 0.1));
                terms.push(one);
            }
            // "convert 5 km to miles" is a sum, whatever else converts.
            Kind::Word if sum.is_some() && is_convert(word) => {}
            Kind::Word if !clause.is_stop(at) && !is_list_of(clause, at) => {
                terms.push(word_term(at, word, token.text))
            }
            Kind::Word | Kind::Quoted | Kind::Number | Kind::Moment | Kind::Mark => {}
        }
    }
    if let Some(pronoun) = shown_again(clause, context) {
        terms.push(term(pronoun, &["file"], 0.8));
    }
    terms.sort_by_key(|term| term.token);
    terms
}

/// "show me it": the word for a file that was spoken of before.
fn shown_again(clause: &Clause<'_>, context: &Context) -> Option<usize> {
    context.path.as_ref()?;
    let mut tokens = 0..clause.tokens.len().min(MOST_TERMS);
    let shows = tokens.clone().any(|at| {
        lexicon::synonyms(clause.lower(at))
            .is_some_and(|(meant, sense)| sense == Sense::Hint && meant.contains("read"))
    });
    let named = || clause.tokens.iter().any(|token| token.kind == Kind::Path);
    if !shows || named() {
        return None;
    }
    tokens.find(|at| lexicon::is_pronoun(clause.lower(*at)))
}

fn is_convert(word: &str) -> bool {
    lexicon::synonyms(word).is_some_and(|(meant, _)| meant == "convert")
}

/// "a to-do list" is a thing, not a wish to list.
fn is_list_of(clause: &Clause<'_>, at: usize) -> bool {
    matches!(clause.lower(at), "list" | "清单" | "清單" | "列表")
        && at > 0
        && !clause.is_stop(at - 1)
}

fn word_term(at: usize, lower: &str, text: &str) -> Term {
    let mut one = term(at, &[lower, &text[..text.floor_char_boundary(80)]], 1.0);
    if let Some((meant, sense)) = lexicon::synonyms(lower) {
        let strength = if sense == Sense::Hint { 0.5 } else { 0.8 };
        one.sense = Some(sense);
        one.stems.extend(stems(meant).map(|stem| (stem, strength)));
    }
    one
}

fn term(token: usize, texts: &[&str], strength: f32) -> Term {
    let mut stems: Vec<(String, f32)> = texts
        .iter()
        .flat_map(|text| stems(text))
        .map(|stem| (stem, strength))
        .collect();
    stems.dedup();
    Term {
        token,
        stems,
        sense: None,
    }
}

pub(super) fn stems(text: &str) -> impl Iterator<Item = String> {
    words(text).into_iter().map(|word| stem(&word))
}

pub(super) fn stemmed(text: &str) -> String {
    stems(text).collect::<Vec<_>>().join(" ")
}
