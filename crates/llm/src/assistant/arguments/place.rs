//! Places: "in Tokyo", "New York", "东京", "Asia/Tokyo", and several at once.

use serde_json::Value;
use tenon_domain::search::is_ideogram;

use super::super::schema::Parameter;
use super::super::token::Kind;
use super::{Reader, Role};

impl Reader<'_> {
    /// The place a sentence speaks of; further ones are kept for calls of their own.
    pub(super) fn place(&mut self, parameter: &Parameter) -> Option<Value> {
        let (from, to) = self
            .zone()
            .or_else(|| self.place_after_preposition())
            .or_else(|| self.place_by_its_looks())
            .or_else(|| self.place_beside_the_tool())?;
        let first = self.clause.slice(from, to).to_owned();
        self.take(from, to);
        let mut others = Vec::new();
        let mut last = to;
        while let Some((from, to)) = self.joined_place(last) {
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
            token.kind == Kind::Word && (token.is_capitalised() || token.is_ideographic())
        })?;
        Some((from, self.end_of_name(from)))
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
        self.role(at) == Some(Role::Free) && self.clause.tokens[at].kind == Kind::Word
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
        let joins = matches!(
            self.clause.lower(joint),
            "and" | "和" | "与" | "與" | "跟" | "以及"
        ) || self.clause.tokens.get(joint)?.is_mark("、,，&");
        if !joins {
            return None;
        }
        let mut from = joint + 1;
        while matches!(
            self.clause.lower(from),
            "and" | "in" | "at" | "for" | "the" | "在"
        ) {
            from += 1;
        }
        let known = self.begins_name(from)
            && self.clause.tokens[from]
                .text
                .starts_with(|c: char| c.is_uppercase() || is_ideogram(c));
        known.then(|| (from, self.end_of_name(from)))
    }
}
