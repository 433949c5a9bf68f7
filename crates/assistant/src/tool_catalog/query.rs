//! A clause as a query for tools: the words that can say what is wanted.

use std::collections::HashSet;

use crate::argument_reader::{Context, marker_role};
use crate::clause::Clause;
use crate::lexer::TokenKind;
use crate::vocabulary::{self, Sense, stems};

/// Words of a clause that are looked at to choose.
pub(super) const MAX_TERMS: usize = 64;

/// A clause, and all there is to know to read it.
pub(super) struct Query<'q> {
    pub(super) clause: &'q Clause<'q>,
    pub(super) context: &'q Context,
    pub(super) terms: Vec<ClauseTerm>,
}

/// A content word of the clause and what tools may call it.
pub(super) struct ClauseTerm {
    pub(super) token: usize,
    /// Stems, each with how much it says.
    pub(super) stems: Vec<(String, f32)>,
    pub(super) sense: Option<Sense>,
}

impl ClauseTerm {
    fn new(token: usize, text: &str, weight: f32) -> Self {
        Self {
            token,
            stems: stems(text).map(|stem| (stem, weight)).collect(),
            sense: None,
        }
    }

    fn of_word(token: usize, lower: &str, text: &str) -> Self {
        let mut one = Self::new(token, &text[..text.floor_char_boundary(80)], 1.0);
        if let Some((sense, meant)) = vocabulary::synonyms(lower) {
            let weight = if sense == Sense::Hint { 0.5 } else { 0.8 };
            one.sense = Some(sense);
            one.stems.extend(stems(meant).map(|stem| (stem, weight)));
        }
        one
    }

    pub(super) fn is_deed(&self) -> bool {
        self.sense == Some(Sense::Deed)
    }

    /// How much this word says of what is in a set.
    pub(super) fn weight_in(&self, set: &HashSet<String>) -> f32 {
        let hits = self.stems.iter().filter(|(stem, _)| set.contains(stem));
        hits.map(|(_, weight)| *weight).fold(0.0, f32::max)
    }
}

impl<'q> Query<'q> {
    pub(super) fn new(clause: &'q Clause<'q>, context: &'q Context) -> Self {
        // "show me it": the file that was spoken of before.
        let shows = |at: usize| vocabulary::means(clause.lower(at), "show");
        let shows_file =
            context.path.is_some() && !clause.has(TokenKind::Path) && clause.head().any(shows);
        let mut terms = Vec::new();
        for (at, token) in clause.tokens.iter().enumerate() {
            let word = token.lower.as_str();
            // Behind these no tool is named any more, only what it is to do its work on.
            let is_marker = word != "for" && marker_role(word).is_some();
            let begins_content = is_marker || (token.is_mark(":：") && at > 0);
            if terms.len() >= MAX_TERMS || (begins_content && !terms.is_empty()) {
                break;
            }
            match token.kind {
                TokenKind::Url => terms.push(ClauseTerm::new(at, "url web page", 0.8)),
                TokenKind::Path => terms.push(ClauseTerm::new(at, "file", 0.8)),
                TokenKind::Word if shows_file && vocabulary::is_pronoun(word) => {
                    terms.push(ClauseTerm::new(at, "file", 0.8));
                }
                TokenKind::Word if is_content_word(clause, at) => {
                    terms.push(ClauseTerm::of_word(at, word, token.text));
                }
                _ => {}
            }
        }
        Self {
            clause,
            context,
            terms,
        }
    }

    /// The term that says what to do.
    pub(super) fn lead(&self) -> Option<&ClauseTerm> {
        self.terms.first()
    }

    /// What it is to be done to: the first word, or the one behind the verb.
    pub(super) fn objects(&self) -> impl Iterator<Item = &ClauseTerm> {
        let deed = self.terms.iter().position(ClauseTerm::is_deed);
        let behind = deed.and_then(|deed| self.terms.get(deed + 1));
        let candidates = self.terms.first().into_iter().chain(behind);
        let is_pronoun = |term: &ClauseTerm| vocabulary::is_pronoun(self.clause.lower(term.token));
        candidates.filter(move |term| term.sense == Some(Sense::Thing) && !is_pronoun(term))
    }
}

fn is_content_word(clause: &Clause<'_>, at: usize) -> bool {
    // "convert 5 km to miles" is a sum, whatever else converts.
    let in_sum = clause.sum.as_ref().is_some_and(|sum| {
        let is_inside = (sum.first_token..=sum.last_token).contains(&at);
        is_inside || vocabulary::means(clause.lower(at), "convert")
    });
    !clause.is_stop_word(at) && !in_sum
}
