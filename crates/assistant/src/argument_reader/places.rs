//! Places: "in Tokyo", "New York", "东京", "Asia/Tokyo", and several at once.

use serde_json::Value;
use tenon_domain::tokenizer::is_unspaced;

use super::{ArgumentReader, TokenRole};
use crate::lexer::TokenKind;
use crate::parameters::ToolParameter;
use crate::vocabulary;

/// First and last token of a name.
type Span = (usize, usize);

/// A longer name is none of a place.
const MAX_NAME_TOKENS: usize = 5;

impl ArgumentReader<'_> {
    /// The place a sentence speaks of; further ones are kept for calls of their own.
    pub(super) fn place(&mut self, parameter: &ToolParameter) -> Option<Value> {
        let (from, to) = self
            .zone_or_quote()
            .or_else(|| self.place_after_preposition())
            .or_else(|| self.place_by_looks())
            .or_else(|| self.only_word_beside_tool())?;
        self.take(from, to);
        let mut others = Vec::new();
        let mut last = to;
        while let Some((from, to)) = self.joined_place(last) {
            others.push(self.clause.slice(from, to).to_owned());
            self.take(from, to);
            last = to;
        }
        if !others.is_empty() {
            self.more_places
                .get_or_insert((parameter.name.clone(), others));
        }
        let is_quote = self.clause.tokens[from].kind == TokenKind::Quoted;
        let text = if is_quote {
            self.clause.tokens[from].text
        } else {
            self.clause.slice(from, to)
        };
        Some(text.into())
    }

    /// `Asia/Tokyo` is a path by its looks and a time zone by its capitals.
    fn zone_or_quote(&self) -> Option<Span> {
        let at = self.free().find(|at| {
            let token = &self.clause.tokens[*at];
            let mut parts = token.text.split('/');
            match token.kind {
                TokenKind::Path => {
                    parts.all(|part| part.starts_with(|c: char| c.is_ascii_uppercase()))
                }
                TokenKind::Quoted => token.text.chars().count() <= 60,
                _ => false,
            }
        })?;
        Some((at, at))
    }

    fn place_after_preposition(&self) -> Option<Span> {
        let is_preposition = |at: &usize| {
            matches!(
                self.clause.lower(*at),
                "in" | "at" | "for" | "of" | "near" | "在"
            )
        };
        self.clause
            .head()
            .filter(is_preposition)
            .find_map(|preposition| {
                let is_filler = |at: &usize| {
                    matches!(self.clause.lower(*at), "the" | "my" | "our" | "city" | "of")
                };
                let from = (preposition + 1..self.roles.len()).find(|at| !is_filler(at))?;
                self.begins_name(from)
                    .then(|| (from, self.end_of_name(from)))
            })
    }

    /// A capital, or a name in a script that has none, beside the word that names the tool:
    /// "东京现在几点", "现在东京几点", "时间：东京". 时间过得真快 names no place.
    fn place_by_looks(&self) -> Option<Span> {
        let from = self.free().find(|at| {
            let token = &self.clause.tokens[*at];
            let is_name =
                token.is_capitalised() || (token.is_unspaced() && self.is_beside_tool(*at));
            self.begins_name(*at) && is_name
        })?;
        Some((from, self.end_of_name(from)))
    }

    fn is_beside_tool(&self, at: usize) -> bool {
        let tokens = &self.clause.tokens;
        // 东京那边明天几点: small words and days may stand between.
        let is_between = |other: &usize| {
            let word = self.clause.lower(*other);
            self.roles[*other] == TokenRole::StopWord
                || vocabulary::is_other_day(word)
                || is_one_character(word)
        };
        let is_tool = |at: usize| self.roles[at] == TokenRole::ToolName;
        let next = (at + 1..self.roles.len()).find(|next| is_tool(*next) || !is_between(next));
        let last = (0..at)
            .rev()
            .find(|last| is_tool(*last) || !is_between(last));
        let is_apart = at > 0
            && (tokens[at - 1].kind == TokenKind::Mark || tokens[at - 1].end < tokens[at].start);
        let is_listed = self.joins(at + 1) && self.begins_name(at + 2);
        !is_one_character(tokens[at].text)
            && (next.is_some_and(is_tool) || (last.is_some_and(is_tool) && is_apart) || is_listed)
    }

    /// "tokyo time"
    fn only_word_beside_tool(&self) -> Option<Span> {
        let mut free = self.free();
        let (only, None) = (free.next()?, free.next()) else {
            return None;
        };
        let is_beside = self.role(only + 1) == Some(TokenRole::ToolName);
        (only == 0 && is_beside && self.begins_name(only)).then_some((only, only))
    }

    fn begins_name(&self, at: usize) -> bool {
        self.role(at) == Some(TokenRole::Free)
            && self.clause.tokens[at].kind == TokenKind::Word
            && !vocabulary::is_other_day(self.clause.lower(at))
    }

    /// The last token of a name: words go on until a stop word, ideograms until a known word.
    fn end_of_name(&self, from: usize) -> usize {
        let first = &self.clause.tokens[from];
        let goes_on = |at: &usize| {
            let token = &self.clause.tokens[*at];
            self.begins_name(*at)
                && !first.is_unspaced()
                && !token.is_unspaced()
                && (token.is_capitalised() || !first.is_capitalised())
        };
        let rest = from + 1..self.roles.len().min(from + MAX_NAME_TOKENS);
        rest.take_while(goes_on).last().unwrap_or(from)
    }

    /// "and in Paris", "、巴黎" behind a place.
    fn joined_place(&self, after: usize) -> Option<Span> {
        if !self.joins(after + 1) {
            return None;
        }
        let is_filler = |at: &usize| {
            matches!(
                self.clause.lower(*at),
                "and" | "in" | "at" | "for" | "the" | "在"
            )
        };
        let from = (after + 2..self.roles.len()).find(|at| !is_filler(at))?;
        if !self.begins_name(from) {
            return None;
        }
        let to = self.end_of_name(from);
        // Written small it is a name only if nothing but names follows.
        let next = self.clause.tokens.get(to + 1);
        let ends = next.is_none_or(|next| next.is_mark("?？.!。！")) || self.joins(to + 1);
        let first = &self.clause.tokens[from];
        (first.is_capitalised() || first.is_unspaced() || ends).then_some((from, to))
    }

    fn joins(&self, at: usize) -> bool {
        let Some(token) = self.clause.tokens.get(at) else {
            return false;
        };
        token.is_mark("、,，&")
            || matches!(
                token.lower.as_str(),
                "and" | "和" | "与" | "與" | "跟" | "以及"
            )
    }
}

fn is_one_character(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(is_unspaced) && chars.next().is_none()
}
