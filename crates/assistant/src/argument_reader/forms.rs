//! Values that are named (`limit 5`, `path: a.txt`), and those that show by their form what they are.

use serde_json::{Number, Value};
use tenon_domain::search::words;

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

impl ArgumentReader<'_> {
    /// `limit 5`, `limit=5`, `path: a.txt`, `from Tokyo`.
    pub(super) fn named(&mut self, one: &ToolParameter, all: &[ToolParameter]) -> Option<Value> {
        let clause = self.clause;
        let names = |at: usize| Some((at, self.names(at, &one.name)?));
        let (at, length) = clause.head().find_map(names)?;
        let next = clause.tokens.get(at + length)?;
        let is_explicit = next.is_mark("=:：＝");
        let is_linked = is_explicit || matches!(next.lower.as_str(), "is" | "为" | "為" | "是");
        let from = at + length + usize::from(is_linked);
        let is_text = matches!(one.value_type, ParameterType::Text | ParameterType::List(_));
        let is_loose = self.role(at)? == TokenRole::ToolName || self.role(from)? != TokenRole::Free;
        // "what time is it": a word of the tool's name says nothing about the argument.
        if self.role(from)? == TokenRole::Taken || (is_text && is_loose && !is_explicit) {
            return None;
        }
        let is_single = !is_text || one.role <= ParameterRole::Id;
        let to = match one.role {
            _ if is_single || clause.tokens[from].kind == TokenKind::Quoted => from,
            ParameterRole::Content if is_explicit => self.roles.len() - 1,
            _ => self.end_before_named(one, all, from)?,
        };
        let found = if is_text {
            value_of_text(one, clause.slice(from, to))
        } else if let ParameterType::OneOf(values) = &one.value_type {
            self.choice_at(values, from).map(|(value, _)| value)
        } else {
            value_of_text(one, clause.slice(from, self.roles.len().min(from + 2) - 1))
        }?;
        self.take(at, to);
        Some(found)
    }

    /// How many tokens from here say this name: `blob_id` and "blob id" both do.
    fn names(&self, at: usize, name: &str) -> Option<usize> {
        let said = self.clause.lower(at);
        if said.is_empty() || self.role(at) == Some(TokenRole::Taken) {
            return None;
        }
        let is_said = said.eq_ignore_ascii_case(name);
        if is_said {
            Some(1)
        } else {
            self.says_words(at, name)
        }
    }

    fn says_words(&self, at: usize, text: &str) -> Option<usize> {
        let parts = words(text);
        let says_all = (0..parts.len()).all(|part| self.clause.lower(at + part) == parts[part]);
        (parts.len() > 1 && says_all).then_some(parts.len())
    }

    /// The last word before the next named argument.
    fn end_before_named(
        &self,
        one: &ToolParameter,
        all: &[ToolParameter],
        from: usize,
    ) -> Option<usize> {
        let names_another = |at: usize| {
            let mut others = all.iter().filter(|other| other.name != one.name);
            at > from && others.any(|other| self.names(at, &other.name).is_some())
        };
        let ends = |at: &usize| {
            self.roles[*at] == TokenRole::Taken
                || self.clause.tokens[*at].is_mark(";；")
                || (self.clause.head().contains(at) && names_another(*at))
        };
        let end = (from..self.roles.len())
            .find(ends)
            .unwrap_or(self.roles.len());
        (from..end).rev().find(|at| !self.clause.is_stop_word(*at))
    }

    /// A value that its form gives away; an optional one only where nothing else can be meant.
    pub(super) fn by_form(&mut self, one: &ToolParameter, wants_text: bool) -> Option<Value> {
        let clause = self.clause;
        match (&one.value_type, one.role) {
            (ParameterType::Number | ParameterType::Integer, _) if one.required => {
                // "one" is a number where something is counted, and otherwise just a word.
                let counts = |at: &usize| vocabulary::seconds_in(clause.lower(at + 1)).is_some();
                let at = self.free_of(TokenKind::Number);
                let at = at.or_else(|| clause.head().find(counts))?;
                let (value, tokens) = number(one, &clause.tokens[at..])?;
                self.take(at, at + tokens - 1);
                Some(value)
            }
            (ParameterType::Boolean, _) => {
                // "add …" is another word for `append`.
                let says = |at: &usize| {
                    let word = clause.lower(*at);
                    let is_verb = vocabulary::is_deed(word) && vocabulary::means(word, &one.name);
                    self.names(*at, &one.name).is_some() || is_verb
                };
                let at = clause.head().find(says)?;
                self.take(at, at);
                Some(Value::Bool(!matches!(
                    clause.before(at),
                    "not" | "no" | "without" | "不"
                )))
            }
            (ParameterType::OneOf(values), _) => {
                let is_open = |at: usize| one.required || self.roles[at] == TokenRole::Free;
                let said = |at: usize| Some((at, self.choice_at(values, at)?));
                let (at, (value, length)) =
                    clause.head().filter(|at| is_open(*at)).find_map(said)?;
                self.take(at, at + length - 1);
                Some(value)
            }
            (ParameterType::Text, ParameterRole::Url) => self.url(),
            (ParameterType::Text, ParameterRole::Path) => self.path(one.required, wants_text),
            (ParameterType::Text, ParameterRole::Expression) => {
                let sum = clause.sum.clone()?;
                self.take(sum.first_token, sum.last_token);
                Some(Value::String(sum.expression))
            }
            (ParameterType::Text, ParameterRole::Time) => {
                self.free_of(TokenKind::Time).map(|at| self.take_text(at))
            }
            (ParameterType::Text, ParameterRole::Place) if one.required || !wants_text => {
                self.place(one)
            }
            (ParameterType::Text, ParameterRole::Id) if one.required => {
                let has_digit = |at: &usize| {
                    clause.tokens[*at]
                        .text
                        .contains(|c: char| c.is_ascii_digit())
                };
                let at = self.free().find(has_digit)?;
                Some(self.take_text(at))
            }
            _ => None,
        }
    }

    fn url(&mut self) -> Option<Value> {
        let Some(at) = self.free_of(TokenKind::Url) else {
            let before = self.context.url.clone();
            return before
                .filter(|_| self.clause.has_pronoun())
                .map(Value::String);
        };
        self.take(at, at);
        let text = self.clause.tokens[at].text;
        let scheme = if text.contains("://") { "" } else { "https://" };
        Some(format!("{scheme}{text}").into())
    }

    /// A path; one that is not required is read where nothing else can be meant: "in src/",
    /// "the folder docs", or the only thing there is.
    fn path(&mut self, is_required: bool, wants_text: bool) -> Option<Value> {
        let clause = self.clause;
        let is_folder = |word: &str| vocabulary::means(word, "folder");
        let found = self.free().find(|at| {
            let (before, after) = (clause.before(*at), clause.lower(at + 1));
            let is_inside = matches!(before, "in" | "under" | "inside" | "within" | "from" | "在");
            let is_named = matches!(before, "called" | "named" | "名为" | "名為" | "叫" | "叫做");
            let token = &clause.tokens[*at];
            let is_last = at + 1 == self.roles.len() && !token.is_unspaced();
            let is_name = is_folder(before) || is_folder(after) || (is_inside && is_last);
            match (token.is_path(), is_required) {
                (true, _) => is_required || is_inside || !wants_text,
                (false, true) => is_named,
                (false, false) => token.kind == TokenKind::Word && is_name,
            }
        });
        if let Some(at) = found {
            return Some(self.take_text(at));
        }
        let points_back = is_required && (clause.has_pronoun() || self.context.continues);
        let path = self.context.path.clone();
        path.filter(|_| points_back).map(Value::String)
    }

    /// The one of these values that is said from here on, and in how many tokens.
    fn choice_at(&self, values: &[Value], at: usize) -> Option<(Value, usize)> {
        let token = self.clause.tokens.get(at)?;
        if token.kind == TokenKind::Mark || self.role(at) == Some(TokenRole::Taken) {
            return None;
        }
        values.iter().find_map(|value| {
            let is_said = says_value(&token.text.to_lowercase(), value);
            let plain = || value.as_str().and_then(|text| self.says_words(at, text));
            Some((value.clone(), if is_said { 1 } else { plain()? }))
        })
    }
}

/// A value in the words that somebody gave for it.
pub(super) fn value_of_text(one: &ToolParameter, text: &str) -> Option<Value> {
    let text = text.trim();
    let unquoted = match tokens(text).as_slice() {
        [only] if only.kind == TokenKind::Quoted => only.text,
        _ => text,
    };
    match &one.value_type {
        ParameterType::Text => (!unquoted.is_empty()).then(|| unquoted.into()),
        ParameterType::Number | ParameterType::Integer => Some(number(one, &tokens(text))?.0),
        ParameterType::Boolean => {
            let says = |value: &&bool| says_value(&text.to_lowercase(), &Value::Bool(**value));
            [true, false]
                .iter()
                .find(says)
                .map(|value| Value::Bool(*value))
        }
        ParameterType::OneOf(values) => {
            let mut words = text.split(|c: char| !c.is_alphanumeric());
            let said = |word: &str| {
                values
                    .iter()
                    .find(|value| says_value(&word.to_lowercase(), value))
            };
            said(text).or_else(|| words.find_map(said)).cloned()
        }
        ParameterType::List(item) => {
            let plain = text
                .replace(" and ", ",")
                .replace([',', '，', '、', ';', '；', '和', '\n'], ",");
            let entries = plain
                .split(',')
                .map(str::trim)
                .filter(|entry| !entry.is_empty());
            let values = entries
                .take(MAX_LIST_ITEMS)
                .map(|entry| value_of_text(item, entry));
            let values: Option<Vec<Value>> = values.collect();
            values.filter(|values| !values.is_empty()).map(Value::Array)
        }
        ParameterType::Object(_) => serde_json::from_str(text).ok().filter(Value::is_object),
    }
}

/// The number that tokens begin with, in the unit that the parameter counts in, and how many
/// tokens it takes.
fn number(one: &ToolParameter, tokens: &[MessageToken<'_>]) -> Option<(Value, usize)> {
    /// Beyond this, floats skip whole numbers.
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;
    let is_negative = tokens.first()?.is_mark("-−");
    let at = usize::from(is_negative);
    let mut number = tokens.get(at)?.number()?;
    let mut length = at + 1;
    let unit = tokens
        .get(at + 1)
        .and_then(|unit| vocabulary::seconds_in(&unit.lower));
    if let (ParameterRole::Duration(counted_in), Some(seconds)) = (one.role, unit) {
        number *= seconds * 1_000.0 / f64::from(counted_in);
        length += 1;
    }
    let number = if is_negative { -number } else { number };
    let value = if number.fract() == 0.0 && number.abs() < MAX_EXACT {
        Value::from(number as i64)
    } else if one.value_type == ParameterType::Integer {
        return None;
    } else {
        Value::Number(Number::from_f64(number)?)
    };
    Some((value, length))
}

/// Whether a word, in lower case, is this value or another way to say it.
fn says_value(said: &str, value: &Value) -> bool {
    let plain = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    let switches = SWITCHES
        .iter()
        .filter(|(name, _)| plain.eq_ignore_ascii_case(name));
    plain.eq_ignore_ascii_case(said) || { switches }.any(|(_, words)| has_word(words, said))
}
