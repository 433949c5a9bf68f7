//! Values that are words: behind a marker, in quotes, or all that is left.

use serde_json::Value;

use super::forms::value_of_text;
use super::{ArgumentReader, TokenRole};
use crate::lexer::TokenKind;
use crate::parameters::{ParameterRole, ParameterType, ToolParameter};
use crate::vocabulary::{self, has_word};

const CONTENT_MARKERS: &str =
    "with containing contains saying 内容 內容 内容是 内容为 內容是 內容為 写着 寫著";
const TITLE_MARKERS: &str =
    "titled called named entitled 标题 標題 标题是 标题为 標題是 標題為 名为 名為 叫 叫做";
const QUERY_MARKERS: &str = "about 关于 關於 for";

/// Words between a marker and the text it announces.
const FILLERS: &str = "the text content contents following words message body 为 為 是";
const ARTICLES: &str = "the a an my our some any";

/// Words that lead from a text to where it goes, and so end it.
const DESTINATIONS: &str = "to in into on onto at as from of for inside under please the a an my \
    到 入 进 進 在 里 裡 中 去";
/// Words that speak of a text without saying it: "save my notes".
const REFERENCES: &str = "my our your his her their this that these those it them its all what \
    everything something anything 我的 你的 这 這 那";

/// Kinds of text that somebody would have to write, and it is not us.
const UNWRITTEN: &str =
    "email poem story essay letter summary list joke haiku report article recipe plan song speech";
const MAX_KIND_CHARS: usize = 40;

impl ArgumentReader<'_> {
    /// Words that a marker announces: "with …", "titled …", "关于 …".
    pub(super) fn marked_text(&mut self, one: &ToolParameter) -> Option<Value> {
        let markers = match one.role {
            ParameterRole::Content => CONTENT_MARKERS,
            ParameterRole::Title => TITLE_MARKERS,
            ParameterRole::Query if one.required => QUERY_MARKERS,
            _ => return None,
        };
        let is_marker = |at: &usize| {
            self.roles[*at] != TokenRole::Taken && has_word(markers, self.clause.lower(*at))
        };
        let at = self.clause.head().find(is_marker)?;
        let (from, to) = self.words_behind(at, one.role)?;
        self.take_words(from, to, one)
    }

    /// A required text without a marker.
    pub(super) fn required_text(&mut self, one: &ToolParameter) -> Option<Value> {
        let is_free_text = one.is_free_text();
        if is_free_text && let Some(at) = self.free_of(TokenKind::Quoted) {
            return self.take_words(at, at, one);
        }
        // A place, written small: "weather oslo".
        let is_place = one.role == ParameterRole::Place && self.free().count() <= 3;
        if !is_free_text && !is_place {
            return None;
        }
        if is_free_text && let Some(body) = self.body(one) {
            return Some(body);
        }
        let is_made = self.changes_something && is_free_text && one.role != ParameterRole::Query;
        let said = if is_made {
            self.object_of_verb()
        } else {
            self.longest_leftover()
        };
        if let Some((from, to)) = said {
            self.guessed = true;
            return self.take_words(from, to, one);
        }
        let result = self.context.result.clone();
        let points_back = is_free_text && self.clause.has_pronoun();
        result
            .filter(|_| points_back)
            .and_then(|text| text_value(one, text))
    }

    /// Everything behind a colon or the first line: "write to a.txt: …".
    fn body(&mut self, one: &ToolParameter) -> Option<Value> {
        let clause = self.clause;
        let ends_head = |at: &usize| {
            let token = &clause.tokens[*at];
            let next = clause
                .tokens
                .get(at + 1)
                .map_or(token.end, |next| next.start);
            token.is_mark(":：") || clause.text[token.end..next].contains('\n')
        };
        let colon = clause.head().find(ends_head)?;
        let is_taken = self.roles[colon + 1..].contains(&TokenRole::Taken);
        let text = &clause.text[clause.tokens[colon].end..];
        let value = value_of_text(one, text).filter(|_| !is_taken)?;
        self.take(colon, self.roles.len());
        Some(value)
    }

    /// The tokens behind a marker up to what is already taken, without loose ends.
    fn words_behind(&self, marker: usize, role: ParameterRole) -> Option<(usize, usize)> {
        let clause = self.clause;
        let is_filler = |at: &usize| {
            let word = clause.lower(*at);
            let is_article = has_word(ARTICLES, word) || has_word(QUERY_MARKERS, word);
            let is_tool = role == ParameterRole::Query && self.roles[*at] == TokenRole::ToolName;
            has_word(FILLERS, word)
                || clause.tokens[*at].is_mark(":：")
                || (is_article && role != ParameterRole::Content)
                || is_tool
        };
        let from = (marker + 1..self.roles.len()).find(|at| !is_filler(at))?;
        let is_end = |at: &usize| match role {
            ParameterRole::Content => clause.tokens[*at].is_mark("?？;；,，"),
            // "for launch in my files": the end says where, not what.
            ParameterRole::Query => self.roles[*at] != TokenRole::Free,
            _ => clause.is_stop_word(*at),
        };
        let last = (from..self.next_taken(from)).rev().find(|at| !is_end(at))?;
        Some((from, last))
    }

    fn next_taken(&self, from: usize) -> usize {
        let taken = (from..self.roles.len()).find(|at| self.roles[*at] == TokenRole::Taken);
        taken.unwrap_or(self.roles.len())
    }

    /// What is plainly to be written: "write hello to a.txt", "把 hello 写入 a.txt".
    fn object_of_verb(&self) -> Option<(usize, usize)> {
        let clause = self.clause;
        let means_any = |at: usize, meant: &str| {
            let mut meant = meant.split(' ');
            meant.any(|meant| vocabulary::means(clause.lower(at), meant))
        };
        let verb = clause
            .head()
            .find(|at| means_any(*at, "save append send translate remember"));
        let anchor = verb.or_else(|| clause.head().find(|at| means_any(*at, "make")))?;
        let before = (0..anchor).find(|at| matches!(clause.lower(*at), "把" | "将" | "將"));
        let (from, end) = match before {
            Some(before) => (before + 1, anchor),
            None => (anchor + 1, self.roles.len()),
        };
        let from = (from..end).find(|at| !matches!(clause.lower(*at), "me" | "down"))?;
        let trails = |at: &usize| {
            self.roles[*at] == TokenRole::ToolName
                || clause.tokens[*at].kind == TokenKind::Mark
                || has_word(DESTINATIONS, clause.lower(*at))
        };
        let end = end.min(self.next_taken(from));
        let last = (from..end).rev().find(|at| !trails(at))?;
        let is_article = |at: &usize| matches!(clause.lower(*at), "the" | "a" | "an" | "some");
        let first = (from..=last).find(|at| !is_article(at))?;
        let is_said = !trails(&first) && !has_word(REFERENCES, clause.lower(first));
        // What is made is a thing; only where its text is known by its kind is it written.
        let is_text = verb.is_some() || outline(clause.slice(from, last)).is_some();
        (is_said && is_text).then_some((from, last))
    }

    /// The longest stretch of free words that nothing taken interrupts.
    fn longest_leftover(&self) -> Option<(usize, usize)> {
        let stretches = self.roles.split(|role| *role == TokenRole::Taken);
        let mut start = 0;
        let mut best: Option<(usize, usize, usize)> = None;
        for stretch in stretches {
            let is_free = |role: &TokenRole| *role == TokenRole::Free;
            let count = stretch.iter().filter(|role| is_free(role)).count();
            let ends = (
                stretch.iter().position(is_free),
                stretch.iter().rposition(is_free),
            );
            if let (Some(first), Some(last)) = ends
                && best.is_none_or(|(.., most)| count > most)
            {
                best = Some((start + first, start + last, count));
            }
            start += stretch.len() + 1;
        }
        best.map(|(from, to, _)| (from, to))
    }

    fn take_words(&mut self, from: usize, to: usize, one: &ToolParameter) -> Option<Value> {
        // Taken even if nobody has written it yet: what was asked for is not a text itself.
        self.take(from, to);
        let first = &self.clause.tokens[from];
        let is_quote = first.kind == TokenKind::Quoted;
        let text = if is_quote {
            first.text
        } else {
            self.clause.slice(from, to)
        };
        let is_content = one.role == ParameterRole::Content && !is_quote;
        let text = if is_content {
            draft(text)?
        } else {
            text.to_owned()
        };
        text_value(one, text)
    }
}

/// A text as it is, or the value that it names.
pub(super) fn text_value(one: &ToolParameter, text: String) -> Option<Value> {
    match one.value_type {
        ParameterType::Text => Some(Value::String(text)),
        _ => value_of_text(one, &text),
    }
}

/// A text that was said, or an outline of the kind that was asked for. Without a language
/// model nothing is made up: for "a poem" the answer is to ask for the words.
pub(super) fn draft(phrase: &str) -> Option<String> {
    let lower = phrase.to_lowercase();
    let mut words = lower.split_whitespace();
    let has_article = matches!(words.next(), Some("a" | "an" | "some" | "me"));
    let is_kind = has_article && words.take(3).any(|word| has_word(UNWRITTEN, word));
    let measures = ["一首", "一篇", "一封", "一段"];
    let is_counted = measures.iter().any(|measure| lower.starts_with(measure));
    // A kind is named in a few words; anything longer is the text itself.
    let is_short = phrase.chars().count() <= MAX_KIND_CHARS;
    let is_unwritten = is_short && (is_kind || is_counted);
    outline(phrase).or_else(|| (!is_unwritten).then(|| phrase.to_owned()))
}

/// Honest empty lines for a list that was only asked for by its kind.
fn outline(phrase: &str) -> Option<String> {
    let plain = phrase
        .trim()
        .trim_end_matches(['.', '!', '。'])
        .to_lowercase();
    let mut articles = ["a ", "my ", "the ", "一个", "一個", "一份"].iter();
    let noun = articles.find_map(|article| plain.strip_prefix(article));
    let (title, items) = match noun.unwrap_or(&plain) {
        "to-do list" | "todo list" | "to do list" | "to-do" | "todo" | "checklist" => {
            ("To-do", ["First task", "Second task", "Third task"])
        }
        "待办" | "待办清单" | "待办事项" | "待辦" | "待辦清單" | "待辦事項" => {
            ("待办", ["第一件事", "第二件事", "第三件事"])
        }
        _ => return None,
    };
    let items = items.map(|item| format!("- [ ] {item}\n"));
    Some(format!("# {title}\n\n{}", items.concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_outlined_and_poems_are_not_invented() {
        let todo = "# To-do\n\n- [ ] First task\n- [ ] Second task\n- [ ] Third task\n";
        let check = |phrase: &str, expected: Option<&str>| {
            assert_eq!(draft(phrase).as_deref(), expected, "{phrase}");
        };
        check("a to-do list", Some(todo));
        check("to-do list.", Some(todo));
        check("a poem about cats", None);
        check("me a poem", None);
        check("an email to Bob", None);
        check("一首诗", None);
        check("hello world", Some("hello world"));
        check("a nice day", Some("a nice day"));
    }
}
