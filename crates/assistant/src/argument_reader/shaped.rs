//! Values that show by their form what they are (an address, a path, a number, a place, a
//! quote), and those that are only what nothing else explains.

use std::ops::Range;

use serde_json::Value;

use super::values::{outline, value_of};
use super::{ArgumentReader, SpanValue, TokenRole};
use crate::lexer::TokenKind;
use crate::parameters::{ParameterRole, ParameterType, ToolParameter};
use crate::vocabulary::{self, has_word};

impl ArgumentReader<'_> {
    /// An optional value only where nothing else can be meant.
    pub(super) fn shaped(&mut self, one: &ToolParameter) -> Option<SpanValue> {
        let clause = self.clause;
        let free_of = |kind| self.free().find(|at| clause.tokens[*at].kind == kind);
        let at = match (&one.value_type, one.role) {
            (ParameterType::Number | ParameterType::Integer, _) if one.required => {
                let span = self.number_from(free_of(TokenKind::Number)?, one);
                return Some(self.span_value(one, span));
            }
            (ParameterType::Boolean, _) => return self.switch(one),
            (ParameterType::OneOf(_), _) => clause.head().find(|at| {
                let is_open = one.required || self.roles[*at] == TokenRole::Free;
                is_open && value_of(one, clause.tokens[*at].text).is_some()
            }),
            (ParameterType::Text, ParameterRole::Url) => free_of(TokenKind::Url),
            (ParameterType::Text, ParameterRole::Time) => free_of(TokenKind::Time),
            (ParameterType::Text, ParameterRole::Path) => return self.path(one),
            (ParameterType::Text, ParameterRole::Expression) => {
                let sum = clause.sum.as_ref()?;
                return Some((sum.tokens.clone(), Some(sum.expression.as_str().into())));
            }
            (ParameterType::Text, ParameterRole::Place) if one.required || !self.wants_text() => {
                return Some(self.span_value(one, self.place()?));
            }
            _ => None,
        }?;
        Some(self.span_value(one, at..at + 1))
    }

    /// A number and the unit of time behind it.
    pub(super) fn number_from(&self, from: usize, one: &ToolParameter) -> Range<usize> {
        let has_unit = matches!(one.role, ParameterRole::Duration(_))
            && vocabulary::seconds_in(self.clause.lower(from + 1)).is_some();
        from..from + 1 + usize::from(has_unit)
    }

    /// A switch is on where its name is said; "add …" is another word for `append`.
    fn switch(&self, one: &ToolParameter) -> Option<SpanValue> {
        let says = |at: &usize| {
            let word = self.clause.lower(*at);
            vocabulary::means(word, &one.name) || word == one.name.to_lowercase()
        };
        let at = self.clause.head().find(says)?;
        let is_denied = has_word("not no without 不", self.clause.before(at));
        // The verb stays the verb.
        let taken = usize::from(self.roles[at] == TokenRole::Free);
        Some((at..at + taken, Some(Value::Bool(!is_denied))))
    }

    /// A path; one that is not required is read where nothing else can be meant: "in src/",
    /// "the folder docs", or the only thing there is.
    fn path(&self, one: &ToolParameter) -> Option<SpanValue> {
        let clause = self.clause;
        let is_wanted = one.required || !self.wants_text();
        let found = self.free().find(|at| {
            let (token, before) = (&clause.tokens[*at], clause.before(*at));
            let is_inside = vocabulary::is_in("insides", before);
            let is_folder = token.kind == TokenKind::Word && vocabulary::means(before, "folder");
            (token.is_path() && (is_wanted || is_inside)) || (is_folder && !one.required)
        });
        let points_back = one.required && (clause.has_pronoun() || self.context.continues);
        match (found, &self.context.path) {
            (Some(at), _) => Some(self.span_value(one, at..at + 1)),
            (None, Some(path)) if points_back => Some((0..0, Some(path.as_str().into()))),
            _ => None,
        }
    }

    /// A place: a time zone, what stands behind a preposition, or what is written like a name.
    fn place(&self) -> Option<Range<usize>> {
        let clause = self.clause;
        let is_preposition = |at: &usize| clause.is_in(*at, "prepositions");
        let is_filler = |at: &usize| clause.is_in(*at, "place fillers");
        let prepositions = clause.head().filter(is_preposition);
        let behind =
            prepositions.filter_map(|at| (at + 1..self.roles.len()).find(|at| !is_filler(at)));
        let looks_like_name = |at: &usize| {
            let token = &clause.tokens[*at];
            let is_long = token.text.chars().nth(1).is_some();
            token.is_capitalised() || (token.is_unspaced() && is_long)
        };
        let names = self.free().filter(looks_like_name);
        let zones = self.free().filter(|at| self.is_zone(*at));
        zones
            .chain(behind)
            .chain(names)
            .find_map(|at| self.name_from(at))
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

    /// A name from here: words go on until a stop word, ideograms until a known word.
    pub(super) fn name_from(&self, from: usize) -> Option<Range<usize>> {
        let tokens = &self.clause.tokens;
        let first = tokens.get(from)?;
        if self.is_zone(from) {
            return Some(from..from + 1);
        }
        let is_part = |at: &usize| {
            self.roles[*at] == TokenRole::Free
                && tokens[*at].kind == TokenKind::Word
                && !self.clause.is_in(*at, "other times")
        };
        let goes_on = |at: &usize| {
            let is_alike = tokens[*at].is_capitalised() || !first.is_capitalised();
            is_part(at) && is_alike && !first.is_unspaced() && !tokens[*at].is_unspaced()
        };
        let words = 1 + (from + 1..tokens.len()).take_while(goes_on).count();
        is_part(&from).then_some(from..from + words)
    }

    /// "and in Paris", "、巴黎" behind a place, written as the first one is: for calls of their own.
    pub(super) fn take_joined_places(&mut self, one: &ToolParameter, first: Range<usize>) {
        let (tokens, mut last) = (&self.clause.tokens, first.clone());
        let is_joint = |at: usize| {
            let joins = has_word("and 和 与 與 跟 以及", self.clause.lower(at));
            joins || tokens.get(at).is_some_and(|token| token.is_mark("、,，&"))
        };
        let is_filler = |at: &usize| has_word("and in at for the 在", self.clause.lower(*at));
        while is_joint(last.end)
            && let Some(from) = (last.end + 1..tokens.len()).find(|at| !is_filler(at))
            && tokens[from].is_capitalised() == tokens[first.start].is_capitalised()
            && let Some(next) = self.name_from(from)
        {
            let place = self.clause.slice(next.clone()).into();
            self.more_places.push((one.name.clone(), place));
            self.take(next.clone());
            last = next;
        }
    }

    /// What nothing else explains.
    pub(super) fn remaining(&mut self, one: &ToolParameter) -> Option<SpanValue> {
        let words = if one.is_text() && one.role == ParameterRole::Place {
            self.place_in_lower_case(one.required)
        } else if !one.required || !one.is_free_text() {
            return None;
        } else if let Some(said) = self.quote().or_else(|| self.body()) {
            return Some(self.span_value(one, said));
        } else if one.role == ParameterRole::Query {
            self.unexplained()
        } else {
            self.behind_verb()
        };
        if let Some(words) = words {
            self.guessed = true;
            return Some(self.span_value(one, words));
        }
        let result = self.context.result.as_ref()?;
        let points_back = one.is_free_text() && self.clause.has_pronoun();
        points_back.then(|| (0..0, value_of(one, result)))
    }

    fn quote(&self) -> Option<Range<usize>> {
        let mut free = self.free();
        let at = free.find(|at| self.clause.tokens[*at].kind == TokenKind::Quoted)?;
        Some(at..at + 1)
    }

    /// Everything behind a colon or the first line: "write to a.txt: …".
    fn body(&self) -> Option<Range<usize>> {
        let clause = self.clause;
        let begins = |at: &usize| {
            let (before, token) = (&clause.tokens[*at - 1], &clause.tokens[*at]);
            before.is_mark(":：") || clause.text[before.end..token.start].contains('\n')
        };
        let from = clause.head().skip(1).find(begins)?;
        let end = self.next_taken(from);
        (end == self.roles.len()).then_some(from..end)
    }

    /// The first free words, up to what is taken.
    fn unexplained(&self) -> Option<Range<usize>> {
        let from = self.free().next()?;
        let end = self.next_taken(from);
        let last = self.free().take_while(|at| *at < end).last()?;
        Some(from..last + 1)
    }

    /// What is plainly to be written: "write hello to a.txt", "把 hello 写入 a.txt".
    fn behind_verb(&self) -> Option<Range<usize>> {
        let clause = self.clause;
        let is_verb = |at: &usize| {
            self.roles[*at] == TokenRole::ToolName || has_word("把 将 將", clause.lower(*at))
        };
        let verb = clause.head().find(is_verb)?;
        let is_end = |at: &usize| self.is_value(*at) || self.roles[*at] == TokenRole::ToolName;
        let end = (verb + 1..self.roles.len()).find(is_end);
        let trails = |at: &usize| {
            let is_mark = clause.tokens[*at].kind == TokenKind::Mark;
            is_mark || clause.is_in(*at, "destinations")
        };
        let last = (verb + 1..end.unwrap_or(self.roles.len())).rfind(|at| !trails(at))?;
        let words = verb + 1..last + 1;
        // What is made is a thing; only where its text is known by its kind is it written.
        let is_thing = vocabulary::means(clause.lower(verb), "make")
            && outline(clause.slice(words.clone())).is_none();
        (!is_thing && !clause.is_in(verb + 1, "references")).then_some(words)
    }

    /// Written small and without a preposition: "weather oslo", "tokyo time?".
    fn place_in_lower_case(&self, is_required: bool) -> Option<Range<usize>> {
        let words = self.unexplained()?;
        let is_asked = self.clause.tokens.last()?.is_mark("?？");
        let is_before_tool =
            words.start == 0 && self.roles.get(words.end) == Some(&TokenRole::ToolName);
        let is_place = is_required || (is_asked && is_before_tool);
        (is_place && !self.wants_text() && self.leftover() <= 3).then_some(words)
    }
}
