//! Values that show by their form what they are.

use serde_json::{Number, Value};
use tenon_domain::search::words;

use super::super::lexicon::{self, Sense};
use super::super::maths;
use super::super::schema::{Hint, Parameter, Shape};
use super::super::token::Kind;
use super::{Reader, Role};

/// Tokens among which names of arguments are looked for: further on it is content.
pub(super) const HEAD: usize = 400;

/// Ways to say the values that switches have.
const SWITCHES: &[(&str, &str)] = &[
    ("on", "on 开 開 打开 打開 开启 開啟"),
    ("off", "off 关 關 关闭 關閉 关掉 關掉"),
    ("true", "true yes 是"),
    ("false", "false no 否"),
];

impl Reader<'_> {
    /// A required value, wherever it stands.
    pub(super) fn required_form(&mut self, parameter: &Parameter) -> Option<Value> {
        match &parameter.shape {
            Shape::Number | Shape::Integer => {
                let counted = |at: &usize| lexicon::seconds_in(self.clause.lower(at + 1)).is_some();
                let at = self.free_of(Kind::Number).or_else(|| {
                    // "one" is a number where something is counted, and otherwise just a word.
                    let mut words = 0..self.roles.len().min(HEAD);
                    words.find(|at| counted(at) && self.clause.tokens[*at].number().is_some())
                })?;
                self.number_at(parameter, at)
            }
            Shape::Boolean => (0..self.roles.len()).find_map(|at| {
                let value = switch(self.clause.lower(at))?;
                self.roles[at] = Role::Taken;
                Some(Value::Bool(value))
            }),
            Shape::OneOf(values) => {
                let tokens = 0..self.roles.len();
                let (at, (value, length)) = tokens
                    .into_iter()
                    .find_map(|at| Some((at, self.choice_at(values, at)?)))?;
                self.take(at, at + length - 1);
                Some(value)
            }
            Shape::List(item) => self.list_by_form(item),
            Shape::Object(_) => None,
            Shape::Text => self.text_by_form(parameter),
        }
    }

    /// An optional value: only where nothing else can be meant.
    pub(super) fn optional_form(
        &mut self,
        parameter: &Parameter,
        texts_wanted: bool,
    ) -> Option<Value> {
        match &parameter.shape {
            Shape::Number | Shape::Integer if parameter.hint == Hint::Count => {
                let at = self.free().find(|at| self.counts(*at))?;
                self.number_at(parameter, at)
            }
            Shape::Boolean => {
                // "add …" is another word for `append`.
                let meant = |at: usize| {
                    let (meant, sense) = lexicon::synonyms(self.clause.lower(at))?;
                    let same = meant.split(' ').any(|word| word == parameter.name);
                    (same && sense == Sense::Deed).then_some(1)
                };
                let mut tokens = 0..self.roles.len().min(HEAD);
                let said = |at: usize| self.names(at, &parameter.name).or_else(|| meant(at));
                let at = tokens.find(|at| said(*at).is_some())?;
                self.take(at, at);
                let before = at
                    .checked_sub(1)
                    .map_or("", |before| self.clause.lower(before));
                Some(Value::Bool(!matches!(
                    before,
                    "not" | "no" | "without" | "不"
                )))
            }
            Shape::OneOf(values) => {
                let (at, (value, length)) = self
                    .free()
                    .find_map(|at| Some((at, self.choice_at(values, at)?)))?;
                self.take(at, at + length - 1);
                Some(value)
            }
            Shape::Text => match parameter.hint {
                Hint::Url | Hint::Expression | Hint::Moment => self.text_by_form(parameter),
                Hint::Path => self.optional_path(texts_wanted),
                Hint::Place if !texts_wanted => self.place(parameter),
                Hint::Place
                | Hint::Duration(_)
                | Hint::Count
                | Hint::Id
                | Hint::Email
                | Hint::Query
                | Hint::Title
                | Hint::Content
                | Hint::Other => None,
            },
            Shape::Number | Shape::Integer | Shape::List(_) | Shape::Object(_) => None,
        }
    }

    fn text_by_form(&mut self, parameter: &Parameter) -> Option<Value> {
        match parameter.hint {
            Hint::Url => self.url(),
            Hint::Path => self.path(),
            Hint::Expression => self.expression(),
            Hint::Moment => self.free_of(Kind::Moment).map(|at| self.take_text(at)),
            Hint::Place => self.place(parameter),
            Hint::Id => {
                let at = self.free().find(|at| {
                    let token = &self.clause.tokens[*at];
                    token.kind != Kind::Mark && token.text.chars().any(|c| c.is_ascii_digit())
                })?;
                Some(self.take_text(at))
            }
            Hint::Email => {
                let at = self
                    .free()
                    .find(|at| self.clause.tokens[*at].text.contains('@'))?;
                Some(self.take_text(at))
            }
            Hint::Duration(_)
            | Hint::Count
            | Hint::Query
            | Hint::Title
            | Hint::Content
            | Hint::Other => None,
        }
    }

    fn url(&mut self) -> Option<Value> {
        let quoted = |at: &usize| {
            let token = &self.clause.tokens[*at];
            token.kind == Kind::Quoted && token.text.contains("://")
        };
        let Some(at) = self.free_of(Kind::Url).or_else(|| self.free().find(quoted)) else {
            return self
                .context
                .url
                .clone()
                .filter(|_| self.points_back())
                .map(Value::String);
        };
        let text = self.clause.tokens[at].text;
        self.take(at, at);
        Some(Value::String(if text.contains("://") {
            text.to_owned()
        } else {
            format!("https://{text}")
        }))
    }

    fn path(&mut self) -> Option<Value> {
        let written = self.free().find(|at| self.clause.tokens[*at].is_path());
        if let Some(at) = written {
            return Some(self.take_text(at));
        }
        let names = |at: &usize| {
            *at > 0
                && matches!(
                    self.clause.lower(at - 1),
                    "called" | "named" | "名为" | "名為" | "叫" | "叫做"
                )
        };
        let named = self.free().find(names);
        if let Some(at) = named {
            self.take(at - 1, at);
            return Some(self.take_text(at));
        }
        self.context
            .path
            .clone()
            .filter(|_| self.points_back() || self.context.goes_on)
            .map(Value::String)
    }

    /// A path that is not asked for: "in src/", or the only thing there is.
    fn optional_path(&mut self, texts_wanted: bool) -> Option<Value> {
        let at = self.free().find(|at| {
            let before = at
                .checked_sub(1)
                .map_or("", |before| self.clause.lower(before));
            let after = self.clause.lower(at + 1);
            let inside = matches!(before, "in" | "under" | "inside" | "within" | "from" | "在");
            let folder = matches!(
                after,
                "folder" | "directory" | "dir" | "目录" | "目錄" | "文件夹" | "資料夾"
            );
            let token = &self.clause.tokens[*at];
            let last = at + 1 == self.roles.len();
            let folder = folder || matches!(before, "folder" | "directory");
            let plain =
                token.kind == Kind::Word && (folder || (inside && last && !token.is_ideographic()));
            (token.is_path() && (inside || !texts_wanted)) || plain
        })?;
        Some(self.take_text(at))
    }

    fn expression(&mut self) -> Option<Value> {
        let sum = maths::find(self.clause.text, &self.clause.tokens)?;
        for (at, token) in self.clause.tokens.iter().enumerate() {
            if token.start < sum.end && token.end > sum.start {
                self.roles[at] = Role::Taken;
            }
        }
        Some(Value::String(sum.expression))
    }

    /// The number at a token, in the unit the parameter counts in.
    pub(super) fn number_at(&mut self, parameter: &Parameter, at: usize) -> Option<Value> {
        let token = self.clause.tokens.get(at)?;
        if token.is_mark("-−") {
            // A sign of its own.
            let Value::Number(number) = self.number_at(parameter, at + 1)? else {
                return None;
            };
            return number_value(parameter, -number.as_f64()?);
        }
        let mut number = token.number()?;
        let mut last = at;
        if let (Hint::Duration(unit), Some(seconds)) = (
            parameter.hint,
            lexicon::seconds_in(self.clause.lower(at + 1)),
        ) {
            number = number * seconds * 1_000.0 / f64::from(unit);
            last += 1;
        }
        let signed = at > 0 && {
            let before = &self.clause.tokens[at - 1];
            let apart = at == 1 || self.clause.tokens[at - 2].end < before.start;
            before.is_mark("-−") && before.end == token.start && apart
        };
        let value = number_value(parameter, if signed { -number } else { number })?;
        self.take(at, last);
        Some(value)
    }

    /// "5 results", "top 5", "前 5 条".
    fn counts(&self, at: usize) -> bool {
        let before = at
            .checked_sub(1)
            .map_or("", |before| self.clause.lower(before));
        let counted = matches!(
            self.clause.lower(at + 1),
            "results"
                | "result"
                | "items"
                | "entries"
                | "lines"
                | "hits"
                | "条"
                | "條"
                | "个"
                | "個"
                | "件"
                | "行"
        );
        self.clause.tokens[at].kind == Kind::Number
            && (counted || matches!(before, "top" | "first" | "最多" | "前"))
    }

    /// The one of these values that is said from here on, and in how many tokens.
    pub(super) fn choice_at(&self, values: &[Value], at: usize) -> Option<(Value, usize)> {
        let token = self.clause.tokens.get(at)?;
        if token.kind == Kind::Mark || self.role(at) == Some(Role::Taken) {
            return None;
        }
        let says = |value: &Value| {
            let plain = match value {
                Value::String(text) => text.clone(),
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::Array(_)
                | Value::Object(_) => value.to_string(),
            };
            let said = if token.kind == Kind::Word {
                self.clause.lower(at)
            } else {
                token.text
            };
            if said.eq_ignore_ascii_case(&plain) || is_switch(said, &plain) {
                return Some(1);
            }
            let parts = words(&plain);
            let all = parts.len() > 1
                && (0..parts.len()).all(|part| self.clause.lower(at + part) == parts[part]);
            all.then_some(parts.len())
        };
        values
            .iter()
            .find_map(|value| Some((value.clone(), says(value)?)))
    }

    fn list_by_form(&mut self, item: &Parameter) -> Option<Value> {
        let mut found = Vec::new();
        // Bounded, so that a list of a million numbers stays linear.
        while found.len() < 64 {
            let value = match (&item.shape, item.hint) {
                (Shape::Number | Shape::Integer | Shape::OneOf(_) | Shape::Boolean, _)
                | (Shape::Text, Hint::Url) => self.required_form(item),
                (Shape::Text, Hint::Path) => {
                    let at = self.free().find(|at| self.clause.tokens[*at].is_path());
                    at.map(|at| self.take_text(at))
                }
                (Shape::Text | Shape::List(_) | Shape::Object(_), _) => None,
            };
            let Some(value) = value else { break };
            // The same thing pointed back at twice would never end.
            if found.contains(&value) {
                break;
            }
            found.push(value);
        }
        (!found.is_empty()).then_some(Value::Array(found))
    }

    pub(super) fn points_back(&self) -> bool {
        self.clause.has_pronoun()
    }
}

fn number_value(parameter: &Parameter, number: f64) -> Option<Value> {
    /// Beyond this, floats skip whole numbers.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() < EXACT {
        return Some(Value::from(number as i64));
    }
    match parameter.shape {
        Shape::Integer => None,
        _ => Number::from_f64(number).map(Value::Number),
    }
}

fn is_switch(said: &str, value: &str) -> bool {
    SWITCHES.iter().any(|(name, ways)| {
        value.eq_ignore_ascii_case(name) && ways.split_whitespace().any(|way| way == said)
    })
}

pub(super) fn switch(said: &str) -> Option<bool> {
    if is_switch(said, "true") || is_switch(said, "on") {
        Some(true)
    } else if is_switch(said, "false") || is_switch(said, "off") {
        Some(false)
    } else {
        None
    }
}
