//! Values that are words: behind a marker, in quotes, or all that is left.

use serde_json::Value;

use super::super::draft::{self, Draft};
use super::super::lexicon;
use super::super::schema::{Hint, Parameter, Shape};
use super::super::token::Kind;
use super::form::HEAD;
use super::{Effect, Reader, Role, is_free_text};

const BEFORE_CONTENT: &[&str] = &[
    "with",
    "containing",
    "contains",
    "saying",
    "内容",
    "內容",
    "内容是",
    "内容为",
    "內容是",
    "內容為",
    "写着",
    "寫著",
];
const BEFORE_TITLE: &[&str] = &[
    "titled",
    "called",
    "named",
    "entitled",
    "标题",
    "標題",
    "标题是",
    "标题为",
    "標題是",
    "標題為",
    "名为",
    "名為",
    "叫",
    "叫做",
];
const BEFORE_QUERY: &[&str] = &["about", "关于", "關於", "for"];

/// Words between a marker and the text it announces.
const FILLERS: &[&str] = &[
    "the",
    "text",
    "content",
    "contents",
    "following",
    "words",
    "message",
    "body",
    "为",
    "為",
    "是",
];
const ARTICLES: &[&str] = &["the", "a", "an", "my", "our", "some", "any"];

/// Words that lead from a text to where it goes, and so end it.
const WHERE: &[&str] = &[
    "to", "in", "into", "on", "onto", "at", "as", "from", "of", "for", "inside", "under", "please",
    "the", "a", "an", "my", "到", "入", "进", "進", "在", "里", "裡", "中", "去",
];
/// Words that speak of a text without saying it: "save my notes".
const ELSEWHERE: &[&str] = &[
    "my",
    "our",
    "your",
    "his",
    "her",
    "their",
    "this",
    "that",
    "these",
    "those",
    "it",
    "them",
    "its",
    "all",
    "everything",
    "something",
    "anything",
    "what",
    "我的",
    "你的",
    "这",
    "這",
    "那",
];

impl Reader<'_> {
    /// Words that a marker announces: "with …", "titled …", "关于 …".
    pub(super) fn marked_text(&mut self, parameter: &Parameter) -> Option<Value> {
        if parameter.shape != Shape::Text {
            return None;
        }
        let markers = match parameter.hint {
            Hint::Content => BEFORE_CONTENT,
            Hint::Title => BEFORE_TITLE,
            Hint::Query if parameter.required => BEFORE_QUERY,
            Hint::Query
            | Hint::Url
            | Hint::Path
            | Hint::Expression
            | Hint::Place
            | Hint::Duration(_)
            | Hint::Count
            | Hint::Moment
            | Hint::Id
            | Hint::Email
            | Hint::Other => return None,
        };
        let at = markers.iter().find_map(|marker| {
            let places = 0..self.roles.len().min(400);
            places
                .into_iter()
                .find(|at| self.clause.lower(*at) == *marker && self.roles[*at] != Role::Taken)
        })?;
        let (from, to) = self.run_after(at, parameter.hint)?;
        self.words_between(from, to, parameter)
    }

    /// A required text without a marker.
    pub(super) fn required_text(&mut self, parameter: &Parameter) -> Option<Value> {
        let item = match &parameter.shape {
            Shape::Text => parameter,
            Shape::List(item) if item.shape == Shape::Text => item,
            Shape::List(_)
            | Shape::Number
            | Shape::Integer
            | Shape::Boolean
            | Shape::OneOf(_)
            | Shape::Object(_) => return None,
        };
        let wordy = is_free_text(item);
        if wordy && let Some(at) = self.free_of(Kind::Quoted) {
            let value = self.take_text(at);
            return Some(if item == parameter {
                value
            } else {
                Value::Array(vec![value])
            });
        }
        // A place, written small: "weather oslo".
        let short_place = item.hint == Hint::Place && self.free().count() <= 3;
        if !wordy && !short_place {
            return None;
        }
        if wordy && let Some(value) = self.body(parameter) {
            return Some(value);
        }
        let said = match (self.effect, item.hint) {
            (Effect::Changes, Hint::Content | Hint::Title | Hint::Other) => self.object_of_verb(),
            _ => self.longest_leftover(item.hint),
        };
        if let Some((from, to)) = said {
            self.bare = Some(item.hint);
            if item != parameter {
                let text = self.clause.slice(from, to).to_owned();
                self.take(from, to);
                return list(&text, item);
            }
            return self.words_between(from, to, parameter);
        }
        let result = self
            .context
            .result
            .clone()
            .filter(|_| wordy && item == parameter && self.points_back())?;
        Some(Value::String(result))
    }

    /// Everything behind a colon or the first line: "write to a.txt: …".
    fn body(&mut self, parameter: &Parameter) -> Option<Value> {
        let colon = (0..self.roles.len().min(400)).find(|at| {
            let token = &self.clause.tokens[*at];
            let line_follows = || {
                let next = self
                    .clause
                    .tokens
                    .get(at + 1)
                    .map_or(token.end, |next| next.start);
                self.clause.text[token.end..next].contains('\n')
            };
            token.is_mark(":：") || line_follows()
        })?;
        let from = self.clause.tokens[colon].end;
        let text = self.clause.text[from..].trim();
        let untaken = self.roles[colon + 1..]
            .iter()
            .all(|role| *role != Role::Taken);
        if text.is_empty() || !untaken || parameter.shape != Shape::Text {
            return None;
        }
        let text = text.to_owned();
        self.take(colon, self.roles.len());
        Some(Value::String(text))
    }

    /// The tokens behind a marker up to what is already taken, without loose ends.
    fn run_after(&self, marker: usize, hint: Hint) -> Option<(usize, usize)> {
        let mut from = marker + 1;
        loop {
            let word = self.clause.lower(from);
            let filler = match hint {
                Hint::Content => FILLERS.contains(&word),
                _ => {
                    ARTICLES.contains(&word)
                        || FILLERS.contains(&word)
                        || BEFORE_QUERY.contains(&word)
                }
            };
            let colon = self.clause.tokens.get(from)?.is_mark(":：");
            let tool = hint == Hint::Query && self.roles[from] == Role::Tool;
            if !(filler || colon || tool) {
                break;
            }
            from += 1;
        }
        let end = (from..self.roles.len())
            .find(|at| self.roles[*at] == Role::Taken)
            .unwrap_or(self.roles.len());
        let mut last = (from..end).rev().find(|at| match hint {
            Hint::Content => !self.clause.tokens[*at].is_mark("?？;；,，"),
            _ => !self.clause.is_stop(*at),
        })?;
        // "for launch in my files": the end says where, not what.
        let said = |at: &usize| self.roles[*at] == Role::Free;
        if hint == Hint::Query
            && let Some(free) = (from..=last).rev().find(said)
            && free < last
            && self.roles[free + 1] == Role::Stop
        {
            last = free;
        }
        Some((from, last))
    }

    /// What is plainly to be written: "write hello to a.txt", "把 hello 写入 a.txt".
    fn object_of_verb(&self) -> Option<(usize, usize)> {
        let head = || 0..self.roles.len().min(HEAD);
        let makes = |at: &usize| {
            lexicon::synonyms(self.clause.lower(*at))
                .is_some_and(|(meant, _)| meant.contains("create"))
        };
        let verb = head().find(|at| lexicon::takes_text(self.clause.lower(*at)));
        let verb_or_maker = verb.or_else(|| head().find(makes))?;
        let before = head()
            .take(verb_or_maker)
            .find(|at| matches!(self.clause.lower(*at), "把" | "将" | "將"));
        let (mut from, end) = match before {
            Some(before) => (before + 1, verb_or_maker),
            None => (verb_or_maker + 1, self.roles.len()),
        };
        while from < end && matches!(self.clause.lower(from), "me" | "down") {
            from += 1;
        }
        let end = (from..end)
            .find(|at| self.roles[*at] == Role::Taken)
            .unwrap_or(end);
        let trails = |at: &usize| {
            self.clause.tokens[*at].kind == Kind::Mark
                || self.roles[*at] == Role::Tool
                || WHERE.contains(&self.clause.lower(*at))
        };
        let last = (from..end).rev().find(|at| !trails(at))?;
        let article = |at: &usize| matches!(self.clause.lower(*at), "the" | "a" | "an" | "some");
        let first = (from..=last).find(|at| !article(at))?;
        let opening = self.clause.lower(first);
        let told = self.roles[first] != Role::Tool
            && self.clause.tokens[first].kind != Kind::Mark
            && !WHERE.contains(&opening)
            && !ELSEWHERE.contains(&opening)
            && !lexicon::is_pronoun(opening);
        // What is made is a thing; only where its text is known by its kind is it written.
        let known = || matches!(draft::of(self.clause.slice(from, last)), Draft::Outline(_));
        (told && (verb.is_some() || known())).then_some((from, last))
    }

    /// The longest stretch of free words that nothing taken interrupts.
    fn longest_leftover(&self, hint: Hint) -> Option<(usize, usize)> {
        let mut best: Option<(usize, usize, usize)> = None;
        let mut open: Option<(usize, usize, usize)> = None;
        for (at, role) in self.roles.iter().enumerate() {
            match role {
                Role::Taken => open = None,
                Role::Stop | Role::Tool => {}
                Role::Free => {
                    let (from, count) = open.map_or((at, 0), |(from, _, count)| (from, count));
                    open = Some((from, at, count + 1));
                    if best.is_none_or(|(.., most)| count + 1 > most) {
                        best = open;
                    }
                }
            }
        }
        let (mut from, to, _) = best?;
        // A text keeps its articles: "write the quick brown fox".
        let opens_text = |at: usize| {
            self.roles[at] == Role::Stop
                && self.clause.tokens[at].kind == Kind::Word
                && !self.clause.tokens[at].is_ideographic()
        };
        while hint == Hint::Content && from > 0 && opens_text(from - 1) {
            from -= 1;
        }
        Some((from, to))
    }

    fn words_between(&mut self, from: usize, to: usize, parameter: &Parameter) -> Option<Value> {
        let quote = (from..=to).find(|at| self.clause.tokens[*at].kind == Kind::Quoted);
        let text = match quote {
            Some(quote) if quote == from => self.clause.tokens[quote].text,
            _ => self.clause.slice(from, to),
        };
        // Taken even if nobody has written it yet: what was asked for is not a text itself.
        self.take(from, to);
        let text = match (parameter.hint, quote) {
            (Hint::Content, None) => drafted(text)?,
            _ => text.to_owned(),
        };
        (!text.is_empty()).then_some(Value::String(text))
    }
}

/// A text, or the outline of the kind of text a phrase asks for.
pub(super) fn drafted(phrase: &str) -> Option<String> {
    match draft::of(phrase) {
        Draft::Literal => Some(phrase.to_owned()),
        Draft::Outline(outline) => Some(outline),
        Draft::Unwritten => None,
    }
}

/// "a, b and c" as a list.
pub(super) fn list(text: &str, item: &Parameter) -> Option<Value> {
    let plain = text
        .replace(" and ", ",")
        .replace([',', '，', '、', ';', '；', '和', '\n'], ",");
    let entries = plain
        .split(',')
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
        .take(64);
    let values: Option<Vec<Value>> = entries
        .map(|entry| match &item.shape {
            Shape::Text => Some(Value::String(
                entry.trim_matches(['"', '\'', '“', '”', '`']).to_owned(),
            )),
            Shape::Number => entry.parse::<f64>().ok().map(Value::from),
            Shape::Integer => entry.parse::<i64>().ok().map(Value::from),
            Shape::OneOf(values) => values
                .iter()
                .find(|value| {
                    value
                        .as_str()
                        .is_some_and(|text| text.eq_ignore_ascii_case(entry))
                })
                .cloned(),
            Shape::Boolean | Shape::List(_) | Shape::Object(_) => None,
        })
        .collect();
    values.filter(|values| !values.is_empty()).map(Value::Array)
}
