//! Values that are named: `limit 5`, `limit=5`, `path: a.txt`, `from Tokyo`.

use serde_json::Value;
use tenon_domain::search::words;

use super::super::schema::{Hint, Parameter, Shape};
use super::super::token::Kind;
use super::form::{HEAD, switch};
use super::{Reader, Role};

impl Reader<'_> {
    /// `limit 5`, `limit=5`, `path: a.txt`, `from Tokyo`.
    pub(super) fn named(&mut self, parameter: &Parameter, all: &[Parameter]) -> Option<Value> {
        let (at, length) = (0..self.roles.len().min(HEAD))
            .find_map(|at| Some((at, self.names(at, &parameter.name)?)))?;
        let mut value = at + length;
        let explicit = self
            .clause
            .tokens
            .get(value)
            .is_some_and(|token| token.is_mark("=:：＝"));
        let linked = matches!(self.clause.lower(value), "is" | "为" | "為" | "是");
        if !explicit && self.role(at) == Some(Role::Tool) && is_worded(parameter) {
            // "what time is it", "time is money": a word of the tool's name says
            // nothing about the argument of that name.
            return None;
        }
        if explicit || linked {
            value += 1;
        }
        let begins = self.role(value)?;
        if begins == Role::Taken || (!explicit && begins != Role::Free && is_worded(parameter)) {
            return None;
        }
        let found = self.value_at(parameter, all, value, explicit)?;
        self.take(at, value);
        Some(found)
    }

    /// How many tokens from here say this name: `blob_id` and "blob id" both do.
    pub(super) fn names(&self, at: usize, name: &str) -> Option<usize> {
        let said = self.clause.lower(at);
        if said.is_empty() || self.role(at) == Some(Role::Taken) {
            return None;
        }
        if said.eq_ignore_ascii_case(name) {
            return Some(1);
        }
        let parts = words(name);
        let together = parts.len() > 1
            && (0..parts.len()).all(|part| self.clause.lower(at + part) == parts[part]);
        together.then_some(parts.len())
    }

    fn value_at(
        &mut self,
        parameter: &Parameter,
        all: &[Parameter],
        at: usize,
        explicit: bool,
    ) -> Option<Value> {
        match &parameter.shape {
            Shape::Number | Shape::Integer => self.number_at(parameter, at),
            Shape::Boolean => switch(self.clause.lower(at)).map(Value::Bool),
            Shape::OneOf(values) => self.choice_at(values, at).map(|(value, _)| value),
            Shape::Object(_) => None,
            Shape::List(item) => {
                let text = self.run_until_named(parameter, all, at);
                super::text::list(&text, item)
            }
            Shape::Text => {
                let token = *self.clause.tokens.get(at)?;
                let single = matches!(
                    parameter.hint,
                    Hint::Url | Hint::Path | Hint::Moment | Hint::Id | Hint::Email
                );
                if single || token.kind == Kind::Quoted {
                    return (token.kind != Kind::Mark).then(|| self.take_text(at));
                }
                if parameter.hint == Hint::Content && explicit {
                    let last = self.roles.len() - 1;
                    let text = self.clause.text[token.start..].trim_end().to_owned();
                    self.take(at, last);
                    return Some(Value::String(text));
                }
                let text = self.run_until_named(parameter, all, at);
                (!text.is_empty()).then_some(Value::String(text))
            }
        }
    }

    /// The words from here to the next named argument, without loose ends.
    fn run_until_named(&mut self, parameter: &Parameter, all: &[Parameter], from: usize) -> String {
        let others: Vec<&str> = all
            .iter()
            .map(|one| one.name.as_str())
            .filter(|name| *name != parameter.name)
            .collect();
        let ends = |at: &usize| {
            self.roles[*at] == Role::Taken
                || (*at > from
                    && *at < HEAD
                    && others.iter().any(|name| self.names(*at, name).is_some()))
                || self.clause.tokens[*at].is_mark(";；")
        };
        let end = (from..self.roles.len())
            .find(ends)
            .unwrap_or(self.roles.len());
        let Some(last) = (from..end).rev().find(|at| !self.clause.is_stop(*at)) else {
            return String::new();
        };
        let text = self.clause.slice(from, last).to_owned();
        self.take(from, last);
        text
    }
}

/// Whether the value is words, which stop words may be part of.
fn is_worded(parameter: &Parameter) -> bool {
    matches!(parameter.shape, Shape::Text | Shape::List(_))
}
