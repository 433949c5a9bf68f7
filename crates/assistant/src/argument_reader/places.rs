//! Places: "in Tokyo", "New York", "东京", "Asia/Tokyo", and several at once.

use serde_json::Value;

use super::{ArgumentReader, TokenRole};
use crate::lexer::TokenKind;
use crate::parameters::ToolParameter;
use crate::vocabulary::{self, has_word};

/// First and last token of a name.
type Span = (usize, usize);

/// A longer name is none of a place.
const MAX_NAME_TOKENS: usize = 5;

impl ArgumentReader<'_> {
    /// The place a sentence speaks of; further ones are kept for calls of their own.
    pub(super) fn place(&mut self, parameter: &ToolParameter, wants_text: bool) -> Option<Value> {
        let zone = self.free().find(|at| self.is_zone(*at));
        let found = zone
            .map(|at| (at, at))
            .or_else(|| self.place_after_preposition())
            .or_else(|| self.place_by_looks());
        let (from, to) = match found {
            Some(found) => found,
            None if wants_text => return None,
            None => self.place_in_lower_case(parameter.required)?,
        };
        let place = self.take_text(from, to);
        let mut last = to;
        while let Some((next, to)) = self.joined_place(from, last) {
            let another = self.take_text(next, to);
            self.more_places
                .push((parameter.name.clone(), another.into()));
            last = to;
        }
        Some(place.into())
    }

    /// `Asia/Tokyo` is a path by its looks and a time zone by its capitals.
    fn is_zone(&self, at: usize) -> bool {
        let token = &self.clause.tokens[at];
        let is_capitalised = |part: &str| part.starts_with(|c: char| c.is_ascii_uppercase());
        match token.kind {
            TokenKind::Path => token.text.split('/').all(is_capitalised),
            TokenKind::Quoted => token.text.len() <= 60,
            _ => false,
        }
    }

    fn place_after_preposition(&self) -> Option<Span> {
        let clause = self.clause;
        let is_preposition = |at: &usize| has_word("in at for of near 在", clause.lower(*at));
        clause
            .head()
            .filter(is_preposition)
            .find_map(|preposition| {
                let is_filler = |at: &usize| has_word("the my our city of", clause.lower(*at));
                let from = (preposition + 1..self.roles.len()).find(|at| !is_filler(at))?;
                self.name_from(from)
            })
    }

    /// A capital, or a name in a script that has none: "东京现在几点".
    fn place_by_looks(&self) -> Option<Span> {
        let looks_like_name = |at: &usize| {
            let token = &self.clause.tokens[*at];
            let is_long = token.text.chars().nth(1).is_some();
            token.is_capitalised() || (token.is_unspaced() && is_long)
        };
        self.free()
            .filter(looks_like_name)
            .find_map(|from| self.name_from(from))
    }

    /// Written small and without a preposition: "weather oslo", "tokyo time?".
    fn place_in_lower_case(&mut self, is_required: bool) -> Option<Span> {
        let (from, to) = self.leftover()?;
        let is_asked = self.clause.tokens.last()?.is_mark("?？");
        let is_before_tool = from == 0 && self.role(to + 1) == Some(TokenRole::ToolName);
        let is_place = is_required || (is_asked && is_before_tool);
        if !is_place || self.free().count() > 3 {
            return None;
        }
        self.guessed = true;
        Some((from, to))
    }

    fn begins_name(&self, at: usize) -> bool {
        self.role(at) == Some(TokenRole::Free)
            && self.clause.tokens[at].kind == TokenKind::Word
            && !vocabulary::is_other_time(self.clause.lower(at))
    }

    /// A name from here: words go on until a stop word, ideograms until a known word.
    fn name_from(&self, from: usize) -> Option<Span> {
        let first = self.clause.tokens.get(from)?;
        let goes_on = |at: &usize| {
            let token = &self.clause.tokens[*at];
            self.begins_name(*at)
                && !first.is_unspaced()
                && !token.is_unspaced()
                && (token.is_capitalised() || !first.is_capitalised())
        };
        let rest = from + 1..self.roles.len().min(from + MAX_NAME_TOKENS);
        let to = rest.take_while(goes_on).last().unwrap_or(from);
        self.begins_name(from).then_some((from, to))
    }

    /// "and in Paris", "、巴黎" behind a place, written as the first one is.
    fn joined_place(&self, first: usize, last: usize) -> Option<Span> {
        let tokens = &self.clause.tokens;
        let joint = tokens.get(last + 1)?;
        if !joint.is_mark("、,，&") && !has_word("and 和 与 與 跟 以及", &joint.lower) {
            return None;
        }
        let is_filler = |at: &usize| has_word("and in at for the 在", self.clause.lower(*at));
        let from = (last + 2..tokens.len()).find(|at| !is_filler(at))?;
        let is_alike = tokens[from].is_capitalised() == tokens[first].is_capitalised();
        self.name_from(from).filter(|_| is_alike)
    }
}
