//! Places: "in Tokyo", "New York", "东京", "Asia/Tokyo", and several at once.

use serde_json::Value;
use tenon_domain::search::is_ideogram;

use super::super::lexicon;
use super::super::schema::Parameter;
use super::super::token::{Kind, Token};
use super::form::HEAD;
use super::{Reader, Role};

impl Reader<'_> {
    /// The place a sentence speaks of; further ones are kept for calls of their own.
    pub(super) fn place(&mut self, parameter: &Parameter) -> Option<Value> {
        let (from, to) = self
            .zone()
            .or_else(|| self.place_of_a_time(parameter))
            .or_else(|| self.place_after_preposition())
            .or_else(|| self.place_by_its_looks())
            .or_else(|| self.place_beside_the_tool())?;
        let first = self.clause.slice(from, to).to_owned();
        self.take(from, to);
        let mut others = Vec::new();
        let mut last = to;
        while let Some((from, to)) = self
            .joined_place(last)
            .or_else(|| self.place_asked_after(last))
        {
            others.push(self.clause.slice(from, to).to_owned());
            self.take(from, to);
            last = to;
        }
        if !others.is_empty() {
            self.places.get_or_insert((parameter.name.clone(), others));
        }
        Some(Value::String(first))
    }

    /// `Asia/Tokyo` is a path by its looks and a time zone by its capitals.
    fn zone(&self) -> Option<(usize, usize)> {
        let at = self.free().find(|at| {
            let token = &self.clause.tokens[*at];
            let capitals = || {
                token
                    .text
                    .split('/')
                    .all(|part| part.starts_with(|c: char| c.is_ascii_uppercase()))
            };
            match token.kind {
                Kind::Path => capitals(),
                Kind::Quoted => token.text.chars().count() <= 60,
                Kind::Word | Kind::Url | Kind::Number | Kind::Moment | Kind::Mark => false,
            }
        })?;
        // A quote is a place only when nothing else is said to be one.
        let quoted = self.clause.tokens[at].kind == Kind::Quoted;
        if quoted && self.place_after_preposition().is_some() {
            return None;
        }
        Some((at, at))
    }

    /// "14:30 Tokyo time in Paris": where a time is from, if that is asked for.
    fn place_of_a_time(&self, parameter: &Parameter) -> Option<(usize, usize)> {
        if parameter.name != "from" {
            return None;
        }
        let time = |at: usize| matches!(self.clause.lower(at), "time" | "时间" | "時間");
        let names = self.free().take(HEAD).filter(|at| self.begins_name(*at));
        names
            .map(|from| (from, self.end_of_name(from)))
            .find(|(_, to)| time(to + 1))
    }

    fn place_after_preposition(&self) -> Option<(usize, usize)> {
        let prepositions = (0..self.roles.len()).filter(|at| {
            matches!(
                self.clause.lower(*at),
                "in" | "at" | "for" | "of" | "near" | "在"
            )
        });
        for preposition in prepositions.take(32) {
            let mut from = preposition + 1;
            while matches!(
                self.clause.lower(from),
                "the" | "my" | "our" | "city" | "of"
            ) {
                from += 1;
            }
            if self.begins_name(from) {
                return Some((from, self.end_of_name(from)));
            }
        }
        None
    }

    /// A capital, or a name in a script that has none.
    fn place_by_its_looks(&self) -> Option<(usize, usize)> {
        let from = self.free().find(|at| {
            let token = &self.clause.tokens[*at];
            self.begins_name(*at)
                && (token.is_capitalised()
                    || (token.is_ideographic() && self.is_beside_the_tool(*at)))
        })?;
        Some((from, self.end_of_name(from)))
    }

    /// "东京现在几点", "现在东京几点", "时间：东京": right before the word that
    /// names the tool, or apart behind it. 时间过得真快 names no place.
    fn is_beside_the_tool(&self, at: usize) -> bool {
        let tokens = &self.clause.tokens;
        // 东京那边明天几点: small words and days may stand between.
        let between = |other: &usize| {
            let word = self.clause.lower(*other);
            self.roles[*other] == Role::Stop
                || lexicon::is_other_day(word)
                || (self.roles[*other] == Role::Free && is_one_ideogram(word))
        };
        let next = (at + 1..self.roles.len()).find(|next| !between(next));
        let leads = next.is_some_and(|next| self.roles[next] == Role::Tool);
        let last = (0..at).rev().find(|last| !between(last));
        let follows = last.is_some_and(|last| self.roles[last] == Role::Tool)
            && (tokens[at - 1].kind == Kind::Mark || tokens[at - 1].end < tokens[at].start);
        let named = !is_one_ideogram(tokens[at].text);
        named && (leads || follows || self.is_between_places(at))
    }

    /// "东京和巴黎现在几点": the word after the next may be beside the tool.
    fn is_between_places(&self, at: usize) -> bool {
        self.joins(at + 1) && self.begins_name(at + 2)
    }

    /// "tokyo time": the only word there is beside the one that names the tool.
    fn place_beside_the_tool(&self) -> Option<(usize, usize)> {
        let mut free = self.free();
        let (only, None) = (free.next()?, free.next()) else {
            return None;
        };
        let beside = self.role(only + 1) == Some(Role::Tool);
        (beside && only == 0 && self.begins_name(only)).then_some((only, only))
    }

    fn begins_name(&self, at: usize) -> bool {
        self.role(at) == Some(Role::Free)
            && self.clause.tokens[at].kind == Kind::Word
            && !lexicon::is_other_day(self.clause.lower(at))
    }

    /// The last token of a name: words go on until a stop word, ideograms until a known word.
    fn end_of_name(&self, from: usize) -> usize {
        let first = &self.clause.tokens[from];
        let capitals = first.is_capitalised();
        let mut to = from;
        while to + 1 < self.roles.len()
            && to - from < 4
            && self.begins_name(to + 1)
            && !first.is_ideographic()
        {
            let next = &self.clause.tokens[to + 1];
            if next.is_ideographic() || (capitals && !next.is_capitalised()) {
                break;
            }
            to += 1;
        }
        // "GMT+8", "UTC-5".
        let offset = |at: usize| {
            self.clause
                .tokens
                .get(at)
                .is_some_and(|token| token.is_mark("+-−"))
                && self
                    .clause
                    .tokens
                    .get(at + 1)
                    .is_some_and(|token| token.kind == Kind::Number)
        };
        if matches!(self.clause.lower(to), "gmt" | "utc") && offset(to + 1) {
            to + 2
        } else {
            to
        }
    }

    /// "and in Paris", "、巴黎" behind a place.
    fn joined_place(&self, after: usize) -> Option<(usize, usize)> {
        let joint = after + 1;
        if !self.joins(joint) {
            return None;
        }
        let mut from = joint + 1;
        while matches!(
            self.clause.lower(from),
            "and" | "in" | "at" | "for" | "the" | "在"
        ) {
            from += 1;
        }
        if !self.begins_name(from) {
            return None;
        }
        let to = self.end_of_name(from);
        // Written small it is a name only if nothing but names follows.
        let ends = || {
            self.role(to + 1).is_none()
                || self.joins(to + 1)
                || self.clause.tokens[to + 1].is_mark("?？.!。！")
        };
        let known = self.clause.tokens[from]
            .text
            .starts_with(|c: char| c.is_uppercase() || is_ideogram(c));
        (known || ends()).then_some((from, to))
    }

    /// "…，伦敦呢": asked after in a sentence of its own.
    fn place_asked_after(&self, after: usize) -> Option<(usize, usize)> {
        let at = (after + 1..self.roles.len().min(HEAD)).find(|at| {
            self.begins_name(*at)
                && self.clause.lower(at + 1) == "呢"
                && self.clause.tokens[at - 1].kind == Kind::Mark
        })?;
        Some((at, at))
    }

    fn joins(&self, at: usize) -> bool {
        let word = matches!(
            self.clause.lower(at),
            "and" | "和" | "与" | "與" | "跟" | "以及"
        );
        let mark = |token: &Token<'_>| token.is_mark("、,，&");
        word || self.clause.tokens.get(at).is_some_and(mark)
    }
}

fn is_one_ideogram(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(is_ideogram) && chars.next().is_none()
}
