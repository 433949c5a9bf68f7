//! Values that are words: behind a marker, in quotes, or all that is left.

use serde_json::Value;

use super::values::value_of_text;
use super::{ArgumentReader, TokenRole};
use crate::lexer::TokenKind;
use crate::parameters::{ParameterRole, ParameterType, ToolParameter};
use crate::vocabulary::{self, has_word};

/// Words that announce a text of a role.
const MARKERS: [(ParameterRole, &str); 3] = [
    (
        ParameterRole::Content,
        "with containing contains saying 内容 內容 内容是 内容为 內容是 內容為 写着 寫著",
    ),
    (
        ParameterRole::Title,
        "titled called named entitled 标题 標題 标题是 标题为 標題是 標題為 名为 名為 叫 叫做",
    ),
    (ParameterRole::Query, "about for 关于 關於"),
];

/// Words between a marker and the text it announces.
const FILLERS: &str = "the text content contents following words message body 为 為 是";
const ARTICLES: &str = "the a an my our some any about for";

/// Words that lead from a text to where it goes, and so end it.
const DESTINATIONS: &str = "to in into on onto at as from of for inside under please the a an my \
    到 入 进 進 在 里 裡 中 去";
/// Words that speak of a text without saying it: "save my notes".
const REFERENCES: &str = "my our your his her their this that these those it them its all what \
    everything something anything 我的 你的 这 這 那";

/// Kinds of text that somebody would have to write, and it is not us.
const UNWRITTEN: &str =
    "email poem story essay letter summary list joke report article recipe plan";

impl ArgumentReader<'_> {
    /// Words that a marker announces: "with …", "titled …", "关于 …".
    pub(super) fn marked_text(&mut self, one: &ToolParameter) -> Option<Value> {
        let clause = self.clause;
        let is_query = one.role == ParameterRole::Query;
        let is_content = one.role == ParameterRole::Content;
        if is_query && !one.required {
            return None;
        }
        let is_taken = |at: &usize| self.roles[*at] == TokenRole::Taken;
        let is_marker =
            |at: &usize| !is_taken(at) && marker_role(clause.lower(*at)) == Some(one.role);
        let marker = clause.head().find(is_marker)?;
        let is_filler = |at: &usize| {
            let word = clause.lower(*at);
            has_word(FILLERS, word)
                || clause.tokens[*at].is_mark(":：")
                || (!is_content && has_word(ARTICLES, word))
                || (is_query && self.roles[*at] == TokenRole::ToolName)
        };
        let from = (marker + 1..self.roles.len()).find(|at| !is_filler(at))?;
        let is_end = |at: &usize| {
            if is_content {
                clause.tokens[*at].is_mark("?？;；,，")
            } else if is_query {
                // "for launch in my files": the end says where, not what.
                self.roles[*at] != TokenRole::Free
            } else {
                clause.is_stop_word(*at)
            }
        };
        let to = (from..self.next_taken(from)).rev().find(|at| !is_end(at))?;
        self.take_words(from, to, one)
    }

    /// A required text without a marker.
    pub(super) fn required_text(&mut self, one: &ToolParameter) -> Option<Value> {
        if !one.is_free_text() {
            return None;
        }
        if let Some(at) = self.free_of(TokenKind::Quoted) {
            return self.take_words(at, at, one);
        }
        if let Some(body) = self.body(one) {
            return Some(body);
        }
        let is_made = self.changes_something && one.role != ParameterRole::Query;
        let said = if is_made {
            self.object_of_verb()
        } else {
            self.leftover()
        };
        if let Some((from, to)) = said {
            self.guessed = true;
            return self.take_words(from, to, one);
        }
        let result = self.context.result.clone();
        text_value(one, result.filter(|_| self.clause.has_pronoun())?)
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
        let text = &clause.text[clause.tokens[colon].end..];
        let is_free = self.next_taken(colon + 1) == self.roles.len();
        let value = value_of_text(one, text).filter(|_| is_free)?;
        self.take(colon, self.roles.len());
        Some(value)
    }

    /// What is plainly to be written: "write hello to a.txt", "把 hello 写入 a.txt".
    fn object_of_verb(&self) -> Option<(usize, usize)> {
        let clause = self.clause;
        let verbs = ["save", "append", "send", "translate", "remember", "make"];
        let is_verb = |at: &usize| {
            let mut verbs = verbs.iter();
            verbs.any(|verb| vocabulary::means(clause.lower(*at), verb))
        };
        let anchor = clause.head().find(is_verb)?;
        let before = (0..anchor).find(|at| has_word("把 将 將", clause.lower(*at)));
        let (from, end) = match before {
            Some(before) => (before + 1, anchor),
            None => (anchor + 1, self.roles.len()),
        };
        let trails = |at: &usize| {
            self.roles[*at] == TokenRole::ToolName
                || clause.tokens[*at].kind == TokenKind::Mark
                || has_word(DESTINATIONS, clause.lower(*at))
        };
        let end = end.min(self.next_taken(from));
        let last = (from..end).rev().find(|at| !trails(at))?;
        let is_article = |at: &usize| has_word("the a an some", clause.lower(*at));
        let first = (from..=last).find(|at| !is_article(at))?;
        let is_said = !trails(&first) && !has_word(REFERENCES, clause.lower(first));
        // What is made is a thing; only where its text is known by its kind is it written.
        let is_made = vocabulary::means(clause.lower(anchor), "make");
        let is_text = !is_made || outline(clause.slice(from, last)).is_some();
        (is_said && is_text).then_some((from, last))
    }

    fn take_words(&mut self, from: usize, to: usize, one: &ToolParameter) -> Option<Value> {
        // Taken even if nobody has written it yet: what was asked for is not a text itself.
        let text = self.take_text(from, to);
        let is_quote = self.clause.tokens[from].kind == TokenKind::Quoted;
        if one.role == ParameterRole::Content && !is_quote {
            text_value(one, draft(text)?)
        } else {
            text_value(one, text.to_owned())
        }
    }
}

/// The role of the text that a word, in lower case, announces.
pub(crate) fn marker_role(word: &str) -> Option<ParameterRole> {
    let announces = |(_, words): &&(ParameterRole, &str)| has_word(words, word);
    MARKERS.iter().find(announces).map(|(role, _)| *role)
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
    let is_unwritten = is_kind || is_counted;
    outline(&lower).or_else(|| (!is_unwritten).then(|| phrase.to_owned()))
}

/// Honest empty lines for a list that was only asked for by its kind.
fn outline(phrase: &str) -> Option<String> {
    let plain = phrase.trim().trim_end_matches(['.', '!', '。']);
    let plain = plain.trim_start_matches("a ").trim_start_matches("my ");
    let (title, items) = match plain {
        "to-do list" | "todo list" | "to-do" | "todo" | "checklist" => {
            ("To-do", ["First task", "Second task", "Third task"])
        }
        "待办" | "待办清单" | "待办事项" | "待辦清單" | "待辦事項" => {
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
