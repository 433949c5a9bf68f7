//! The words of a clause that can say what is wanted, and what tools may call them.

use std::collections::HashSet;

use crate::argument_reader::Context;
use crate::clause::Clause;
use crate::lexer::TokenKind;
use crate::vocabulary::{self, Sense, has_word, stem, stems};

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
    fn new(token: usize, text: &str, weight: f32) -> Self {
        Self {
            token,
            stems: stems(text).map(|stem| (stem, weight)).collect(),
            sense: None,
        }
    }

    fn of_word(token: usize, lower: &str, text: &str) -> Self {
        // As written too: `getPet` has two words in it, `getpet` one.
        let mut one = Self::new(token, &text[..text.floor_char_boundary(80)], 1.0);
        if !lower.is_empty() && one.stems.len() > 1 {
            one.stems.push((stem(lower), 1.0));
        }
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

/// The words of a clause that can say what is wanted, in their order.
pub(super) fn terms(clause: &Clause<'_>, context: &Context) -> Vec<ClauseTerm> {
    let mut terms = Vec::new();
    let sum = clause
        .sum
        .as_ref()
        .map(|sum| sum.first_token..=sum.last_token);
    // "show me it": the file that was spoken of before.
    let shows = |at: usize| vocabulary::means(clause.lower(at), "show");
    let shows_file =
        context.path.is_some() && !clause.has(TokenKind::Path) && clause.head().any(shows);
    for (at, token) in clause.tokens.iter().enumerate() {
        let word = token.lower.as_str();
        let begins_content = has_word(CONTENT_BEGINS, word) || (token.is_mark(":：") && at > 0);
        if terms.len() >= MAX_TERMS || (begins_content && !terms.is_empty()) {
            break;
        }
        // "convert 5 km to miles" is a sum, whatever else converts; "a to-do list" is a
        // thing, not a wish to list.
        let in_sum = sum
            .as_ref()
            .is_some_and(|sum| sum.contains(&at) || vocabulary::means(word, "convert"));
        let is_list_of =
            has_word("list 清单 清單 列表", word) && at > 0 && !clause.is_stop_word(at - 1);
        match token.kind {
            TokenKind::Url => terms.push(ClauseTerm::new(at, "url web page", 0.8)),
            TokenKind::Path => terms.push(ClauseTerm::new(at, "file", 0.8)),
            TokenKind::Word if shows_file && vocabulary::is_pronoun(word) => {
                terms.push(ClauseTerm::new(at, "file", 0.8));
            }
            TokenKind::Word if !clause.is_stop_word(at) && !in_sum && !is_list_of => {
                terms.push(ClauseTerm::of_word(at, word, token.text));
            }
            _ => {}
        }
    }
    terms
}
