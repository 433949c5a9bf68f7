//! Values behind a word that announces them: the parameter's own name (`limit=5`, "from Tokyo")
//! or a marker of its role ("titled …", "关于 …").

use std::ops::Range;

use super::{ArgumentReader, SpanValue, TokenRole};
use crate::lexer::TokenKind;
use crate::parameters::{ParameterRole, ParameterType, ToolParameter};

const SIGNS: &str = "=:：＝";

impl ArgumentReader<'_> {
    /// `limit 5`, `path: a.txt`, "from Tokyo".
    pub(super) fn named(&mut self, one: &ToolParameter) -> Option<SpanValue> {
        let is_name = |at: &usize| !self.is_value(*at) && self.names(*at, one);
        self.behind(self.clause.head().find(is_name)?, one)
    }

    /// "titled …", "with …". An optional query is too little to take "for …" as its own.
    pub(super) fn marked(&mut self, one: &ToolParameter) -> Option<SpanValue> {
        let is_marker = |at: &usize| !self.is_value(*at) && self.marks(*at, one);
        let is_open = one.required || one.role != ParameterRole::Query;
        let marker = self.clause.head().find(is_marker).filter(|_| is_open)?;
        self.behind(marker, one)
    }

    fn names(&self, at: usize, one: &ToolParameter) -> bool {
        self.clause.lower(at) == one.name.to_lowercase()
    }

    fn marks(&self, at: usize, one: &ToolParameter) -> bool {
        let list = match one.role {
            ParameterRole::Content => "content markers",
            ParameterRole::Title => "title markers",
            ParameterRole::Query => "query markers",
            _ => return false,
        };
        self.clause.is_in(at, list)
    }

    fn behind(&self, marker: usize, one: &ToolParameter) -> Option<SpanValue> {
        let tokens = &self.clause.tokens;
        let is_filler = |at: &usize| {
            tokens[*at].is_mark(SIGNS)
                || self.clause.is_in(*at, "fillers")
                || (one.role != ParameterRole::Content && self.clause.is_in(*at, "articles"))
                || (one.role == ParameterRole::Query && self.roles[*at] == TokenRole::ToolName)
        };
        let from = (marker + 1..tokens.len()).find(|at| !is_filler(at))?;
        let is_explicit = tokens[marker + 1].is_mark(SIGNS);
        let is_loose =
            self.roles[marker] == TokenRole::ToolName || self.roles[from] != TokenRole::Free;
        // "what time is it": a word of the tool's name says nothing about the argument.
        let is_accident = self.names(marker, one) && one.is_text() && is_loose && !is_explicit;
        if self.is_value(from) || is_accident {
            return None;
        }
        let (span, value) = self.span_value(one, self.span_from(from, one)?);
        // Words for a kind of text announce it too; words for a number say none.
        let is_said = value.is_some() || one.role == ParameterRole::Content;
        is_said.then_some((marker..span.end, value))
    }

    /// As much as can be one value of the parameter.
    fn span_from(&self, from: usize, one: &ToolParameter) -> Option<Range<usize>> {
        let is_quote = self.clause.tokens[from].kind == TokenKind::Quoted;
        match one.value_type {
            ParameterType::Number | ParameterType::Integer => Some(self.number_from(from, one)),
            ParameterType::List(_) | ParameterType::Object => self.text_from(from, one),
            ParameterType::Text if one.role == ParameterRole::Place => {
                self.name_from(from).or(Some(from..from + 1))
            }
            ParameterType::Text if !is_quote && one.role >= ParameterRole::Expression => {
                self.text_from(from, one)
            }
            _ => Some(from..from + 1),
        }
    }

    fn text_from(&self, from: usize, one: &ToolParameter) -> Option<Range<usize>> {
        let taken = self.next_taken(from);
        let end = (from + 1..taken).find(|at| self.announces_another(*at, one));
        let trails = |at: &usize| match one.role {
            ParameterRole::Content | ParameterRole::Expression => {
                self.clause.tokens[*at].is_mark("?？;；,，")
            }
            // "for launch in my files": the end says where, not what.
            ParameterRole::Query => self.roles[*at] != TokenRole::Free,
            _ => self.clause.is_stop_word(*at),
        };
        let last = (from..end.unwrap_or(taken)).rfind(|at| !trails(at))?;
        Some(from..last + 1)
    }

    /// A value ends where another is announced; a content only where that is spelled out
    /// (`labels: …`).
    fn announces_another(&self, at: usize, one: &ToolParameter) -> bool {
        let next = self.clause.tokens.get(at + 1);
        let is_explicit = next.is_some_and(|next| next.is_mark(SIGNS));
        let is_content = one.role == ParameterRole::Content;
        self.parameters.iter().any(|other| {
            let is_named = self.names(at, other) && (is_explicit || !is_content);
            other.name != one.name && (is_named || (!is_content && self.marks(at, other)))
        })
    }
}
