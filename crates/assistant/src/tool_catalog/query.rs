//! A clause as a query for tools: the words that can say what is wanted.

use std::collections::HashSet;

use super::CatalogTool;
use crate::argument_reader::Context;
use crate::clause::Clause;
use crate::lexer::{MessageToken, TokenKind};
use crate::parameters::ParameterRole;
use crate::vocabulary::{self, Sense, stems};

/// What a word of a tool's name says that is meant by a synonym.
pub(super) const ONE_WORD: f32 = 0.8;
/// Words of a clause that are looked at.
const MAX_TERMS: usize = 30;

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
    /// `word`, in lower case, stands for what the text is: "file" for a path.
    fn new(token: usize, word: &str, text: &str) -> Self {
        let (sense, meant) = vocabulary::synonyms(word).unzip();
        let weight = match sense {
            Some(Sense::Hint) => 0.5,
            _ => ONE_WORD,
        };
        let own = stems(text).map(|stem| (stem, 1.0));
        let meant = stems(meant.unwrap_or_default()).map(|stem| (stem, weight));
        Self {
            token,
            stems: own.chain(meant).collect(),
            sense,
        }
    }

    pub(super) fn says(&self, words: &HashSet<String>) -> bool {
        self.stems.iter().any(|(stem, _)| words.contains(stem))
    }
}

impl<'q> Query<'q> {
    pub(super) fn new(clause: &'q Clause<'q>, context: &'q Context) -> Self {
        let term = |(at, token): (usize, &MessageToken<'_>)| {
            // "show me it": the file that was spoken of before.
            let is_file = context.path.is_some() && clause.is_in(at, "pronouns");
            match token.kind {
                TokenKind::Url => Some(ClauseTerm::new(at, "url", "")),
                TokenKind::Path => Some(ClauseTerm::new(at, "file", "")),
                TokenKind::Word if is_file => Some(ClauseTerm::new(at, "file", "")),
                TokenKind::Word if is_content_word(clause, at) => {
                    Some(ClauseTerm::new(at, &token.lower, token.text))
                }
                _ => None,
            }
        };
        let terms = clause.tokens.iter().enumerate().filter_map(term);
        Self {
            clause,
            context,
            terms: terms.take(MAX_TERMS).collect(),
        }
    }

    /// How many words and values speak of a tool, those of its name twice.
    pub(super) fn hits(&self, tool: &CatalogTool<'_>) -> usize {
        let said = |words| self.terms.iter().filter(|term| term.says(words)).count();
        let has_value = self.value_weight(tool) > 0.0;
        said(&tool.name) * 2 + said(&tool.description) + usize::from(has_value)
    }

    /// A value whose form says what it is for: a sum needs no verb.
    pub(super) fn value_weight(&self, tool: &CatalogTool<'_>) -> f32 {
        let required = || tool.parameters.iter().filter(|one| one.required);
        let needs = |role| required().any(|one| one.role == role);
        if self.clause.sum.is_some() && needs(ParameterRole::Expression) {
            1.0
        } else if self.clause.has(TokenKind::Url) && needs(ParameterRole::Url) {
            ONE_WORD
        } else {
            0.0
        }
    }
}

fn is_content_word(clause: &Clause<'_>, at: usize) -> bool {
    // "convert 5 km to miles" is a sum, whatever else converts.
    let in_sum = clause.sum.as_ref().is_some_and(|sum| {
        sum.tokens.contains(&at) || vocabulary::means(clause.lower(at), "convert")
    });
    !clause.lower(at).is_empty() && !clause.is_stop_word(at) && !in_sum
}
