//! The words of a clause that can say what is wanted, and what tools may call them.

use std::collections::HashSet;

use crate::argument_reader::Context;
use crate::clause::Clause;
use crate::lexer::TokenKind;
use crate::vocabulary::{self, Sense, stem, stems};

/// Words of a clause that are looked at to choose.
pub(super) const MAX_TERMS: usize = 64;

/// Words behind which no tool is named any more, only what it is to do its work on.
const CONTENT_BEGINS: &str = "with containing saying titled called named about 内容 內容 内容是 内容为 內容是 內容為 \
    标题 標題 名为 名為 关于 關於";

/// A content word of the clause and what tools may call it.
pub(super) struct ClauseTerm {
    pub(super) token: usize,
    /// Stems, each with how much it says.
    pub(super) stems: Vec<(String, f32)>,
    pub(super) sense: Option<Sense>,
}

impl ClauseTerm {
    pub(super) fn is_deed(&self) -> bool {
        self.sense == Some(Sense::Deed)
    }

    /// How much this word says of what is in a set.
    pub(super) fn weight_in(&self, set: &HashSet<String>) -> f32 {
        let hits = self.stems.iter().filter(|(stem, _)| set.contains(stem));
        hits.map(|(_, weight)| *weight).fold(0.0, f32::max)
    }
}

/// The words of a clause that can say what is wanted, in their order.
pub(super) fn terms(clause: &Clause<'_>, context: &Context) -> Vec<ClauseTerm> {
    let mut terms = Vec::new();
    let in_sum = |at: usize| {
        let sum = clause.sum.as_ref();
        sum.is_some_and(|sum| (sum.first_token..=sum.last_token).contains(&at))
    };
    for (at, token) in clause.tokens.iter().enumerate() {
        let word = token.lower.as_str();
        let begins_content = CONTENT_BEGINS.split_whitespace().any(|one| one == word)
            || (token.is_mark(":：") && at > 0);
        if terms.len() >= MAX_TERMS || (begins_content && !terms.is_empty()) {
            break;
        }
        let converts = clause.sum.is_some() && vocabulary::means(word, "convert");
        match token.kind {
            TokenKind::Url => terms.push(term(at, "url web page", 0.8)),
            TokenKind::Path => terms.push(term(at, "file", 0.8)),
            // "show me it": the file that was spoken of before.
            TokenKind::Word
                if context.path.is_some() && vocabulary::is_pronoun(word) && shows(clause) =>
            {
                terms.push(term(at, "file", 0.8));
            }
            // "convert 5 km to miles" is a sum, whatever else converts; "a to-do list" is a
            // thing, not a wish to list.
            TokenKind::Word
                if !clause.is_stop_word(at)
                    && !converts
                    && !in_sum(at)
                    && !is_list_of(clause, at) =>
            {
                terms.push(word_term(at, word, token.text));
            }
            _ => {}
        }
    }
    terms
}

fn shows(clause: &Clause<'_>) -> bool {
    let has_path = clause
        .tokens
        .iter()
        .any(|token| token.kind == TokenKind::Path);
    !has_path
        && clause
            .head()
            .any(|at| vocabulary::means(clause.lower(at), "show"))
}

fn is_list_of(clause: &Clause<'_>, at: usize) -> bool {
    let is_list = matches!(clause.lower(at), "list" | "清单" | "清單" | "列表");
    is_list && at > 0 && !clause.is_stop_word(at - 1)
}

fn word_term(at: usize, lower: &str, text: &str) -> ClauseTerm {
    // As written too: `getPet` has two words in it, `getpet` one.
    let mut one = term(at, &text[..text.floor_char_boundary(80)], 1.0);
    if !lower.is_empty() && one.stems.len() > 1 {
        one.stems.push((stem(lower), 1.0));
    }
    if let Some(synonyms) = vocabulary::synonyms(lower) {
        let weight = if synonyms.sense == Sense::Hint {
            0.5
        } else {
            0.8
        };
        one.sense = Some(synonyms.sense);
        one.stems
            .extend(stems(synonyms.meant).map(|stem| (stem, weight)));
    }
    one
}

fn term(token: usize, text: &str, weight: f32) -> ClauseTerm {
    ClauseTerm {
        token,
        stems: stems(text).map(|stem| (stem, weight)).collect(),
        sense: None,
    }
}
