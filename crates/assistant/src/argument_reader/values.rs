//! Values that are named (`limit 5`, `path: a.txt`), and those that show by their form what they are.

use serde_json::{Number, Value};

use super::{ArgumentReader, TokenRole};
use crate::lexer::{MessageToken, TokenKind, tokens};
use crate::parameters::{ParameterRole, ParameterType, ToolParameter};
use crate::vocabulary::{self, has_word};

/// Ways to say the values that switches have.
const SWITCHES: [(&str, &str); 4] = [
    ("on", "on 开 開 打开 打開 开启 開啟"),
    ("off", "off 关 關 关闭 關閉 关掉 關掉"),
    ("true", "true yes 是 on"),
    ("false", "false no 否 off"),
];

const MAX_LIST_ITEMS: usize = 64;
/// Behind a named text, the name of another is looked for among so many tokens.
const MAX_NAMED_TOKENS: usize = 100;

impl ArgumentReader<'_> {
    /// `limit 5`, `limit=5`, `path: a.txt`, `from Tokyo`.
    pub(super) fn named(&mut self, one: &ToolParameter, names: &[&str]) -> Option<Value> {
        let clause = self.clause;
        let at = clause.head().find(|at| self.names(*at, &one.name))?;
        let next = clause.tokens.get(at + 1)?;
        let is_explicit = next.is_mark("=:：＝");
        let is_linked = is_explicit || has_word("is 为 為 是", &next.lower);
        let from = at + 1 + usize::from(is_linked);
        let is_loose = self.role(at)? == TokenRole::ToolName || self.role(from)? != TokenRole::Free;
        // "what time is it": a word of the tool's name says nothing about the argument.
        if self.role(from)? == TokenRole::Taken || (one.is_text() && is_loose && !is_explicit) {
            return None;
        }
        let is_single = !one.is_text() || one.role <= ParameterRole::Id;
        let to = if is_single || clause.tokens[from].kind == TokenKind::Quoted {
            from
        } else if is_explicit && one.role == ParameterRole::Content {
            self.roles.len() - 1
        } else {
            let names_another = |at: &usize| names.iter().any(|name| self.names(*at, name));
            let end = self.next_taken(from);
            let mut near = from + 1..end.min(from + MAX_NAMED_TOKENS);
            let end = near.find(names_another).unwrap_or(end);
            (from..end).rev().find(|at| !clause.is_stop_word(*at))?
        };
        // A number may have a unit behind it.
        let end = if one.is_text() { to } else { to + 1 };
        let end = end.min(self.roles.len() - 1);
        let value = value_of_text(one, clause.slice(from, end))?;
        self.take(at, to);
        Some(value)
    }

    fn names(&self, at: usize, name: &str) -> bool {
        let is_taken = self.role(at) == Some(TokenRole::Taken);
        !is_taken && self.clause.lower(at) == name.to_lowercase()
    }

    /// A value that its form gives away; an optional one only where nothing else can be meant.
    pub(super) fn by_form(&mut self, one: &ToolParameter, wants_text: bool) -> Option<Value> {
        let clause = self.clause;
        match (&one.value_type, one.role) {
            (ParameterType::Number | ParameterType::Integer, _) if one.required => {
                let at = self.free_of(TokenKind::Number)?;
                let (value, tokens) = number(one, &clause.tokens[at..])?;
                self.take(at, at + tokens - 1);
                Some(value)
            }
            (ParameterType::Boolean, _) => {
                // "add …" is another word for `append`.
                let says = |at: &usize| {
                    let is_synonym = vocabulary::means(clause.lower(*at), &one.name);
                    is_synonym || self.names(*at, &one.name)
                };
                let at = clause.head().find(says)?;
                self.take(at, at);
                let is_denied = has_word("not no without 不", clause.before(at));
                Some(Value::Bool(!is_denied))
            }
            (ParameterType::OneOf(_), _) => {
                let is_open = |at: &usize| one.required || self.roles[*at] == TokenRole::Free;
                let value = |at: usize| Some((at, value_of_text(one, clause.tokens[at].text)?));
                let (at, value) = clause.head().filter(is_open).find_map(value)?;
                self.take(at, at);
                Some(value)
            }
            (ParameterType::Text, ParameterRole::Url) => {
                let at = self.free_of(TokenKind::Url)?;
                let text = self.take_text(at, at);
                let scheme = if text.contains("://") { "" } else { "https://" };
                Some(format!("{scheme}{text}").into())
            }
            (ParameterType::Text, ParameterRole::Path) => self.path(one.required, wants_text),
            (ParameterType::Text, ParameterRole::Expression) => {
                let sum = clause.sum.clone()?;
                self.take(sum.first_token, sum.last_token);
                Some(Value::String(sum.expression))
            }
            (ParameterType::Text, ParameterRole::Time) => {
                let at = self.free_of(TokenKind::Time)?;
                Some(self.take_text(at, at).into())
            }
            (ParameterType::Text, ParameterRole::Place) if one.required || !wants_text => {
                self.place(one, wants_text)
            }
            _ => None,
        }
    }

    /// A path; one that is not required is read where nothing else can be meant: "in src/",
    /// "the folder docs", or the only thing there is.
    fn path(&mut self, is_required: bool, wants_text: bool) -> Option<Value> {
        let clause = self.clause;
        let found = self.free().find(|at| {
            let before = clause.before(*at);
            let token = &clause.tokens[*at];
            if token.is_path() {
                let is_inside = has_word("in under inside within from 在", before);
                return is_required || is_inside || !wants_text;
            }
            let is_folder = vocabulary::means(before, "folder");
            !is_required && token.kind == TokenKind::Word && is_folder
        });
        if let Some(at) = found {
            return Some(self.take_text(at, at).into());
        }
        let points_back = is_required && (clause.has_pronoun() || self.context.continues);
        let path = self.context.path.clone();
        path.filter(|_| points_back).map(Value::String)
    }
}

/// A value in the words that somebody gave for it.
pub(super) fn value_of_text(one: &ToolParameter, text: &str) -> Option<Value> {
    let text = text.trim();
    match &one.value_type {
        ParameterType::Text => {
            let text = match tokens(text).as_slice() {
                [only] if only.kind == TokenKind::Quoted => only.text,
                _ => text,
            };
            (!text.is_empty()).then(|| text.into())
        }
        ParameterType::Number | ParameterType::Integer => Some(number(one, &tokens(text))?.0),
        ParameterType::Boolean => one_of(&[Value::Bool(true), Value::Bool(false)], text),
        ParameterType::OneOf(values) => one_of(values, text),
        ParameterType::List(item) => {
            let plain = text.replace(" and ", ",");
            let entries = plain.split([',', '，', '、', ';', '；', '\n']);
            let entries = entries.filter(|entry| !entry.trim().is_empty());
            let values = entries.take(MAX_LIST_ITEMS);
            let values: Option<Vec<Value>> = values.map(|one| value_of_text(item, one)).collect();
            values.filter(|values| !values.is_empty()).map(Value::Array)
        }
        ParameterType::Object => serde_json::from_str(text).ok().filter(Value::is_object),
    }
}

/// The number that tokens begin with, in the unit that the parameter counts in, and how many
/// tokens it takes.
fn number(one: &ToolParameter, tokens: &[MessageToken<'_>]) -> Option<(Value, usize)> {
    /// Beyond this, floats skip whole numbers.
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
    let (mut number, mut length) = (tokens.first()?.number()?, 1);
    let unit = tokens.get(1).map_or("", |unit| &unit.lower);
    if let ParameterRole::Duration(counted_in) = one.role
        && let Some(seconds) = vocabulary::seconds_in(unit)
    {
        number *= seconds * 1_000.0 / f64::from(counted_in);
        length = 2;
    }
    let is_whole = number.fract() == 0.0 && number < MAX_EXACT;
    let value = match one.value_type {
        _ if is_whole => Value::from(number as i64),
        ParameterType::Integer => return None,
        _ => Value::Number(Number::from_f64(number)?),
    };
    Some((value, length))
}

/// The value that a text is, or that one of its words says.
fn one_of(values: &[Value], text: &str) -> Option<Value> {
    let lower = text.to_lowercase();
    let says = |said: &str, value: &Value| {
        let plain = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_lowercase);
        let mut switches = SWITCHES.iter().filter(|(name, _)| plain == *name);
        plain == said || switches.any(|(_, words)| has_word(words, said))
    };
    let find = |said: &str| values.iter().find(|value| says(said, value));
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    find(&lower).or_else(|| words.find_map(find)).cloned()
}
