//! A stretch of a message that may ask for one thing, and where to cut between two.

use std::cmp::Ordering;
use std::ops::Range;

use crate::lexer::{MessageToken, TokenKind, tokens};
use crate::sums::{self, Sum};
use crate::vocabulary::{self, has_word};

/// A longer message is one clause: nobody types a plan of this size.
const MAX_PLAN_BYTES: usize = 4_000;
const MAX_PIECES: usize = 12;

/// Tokens among which words with a meaning are looked for: further on it is content.
pub(crate) const MAX_HEAD_TOKENS: usize = 400;

/// Words after which something new may begin.
const CONJUNCTIONS: &str =
    "and then afterwards 然后 然後 再 接着 接著 并 并且 並 並且 之后 之後 最后 最後";

#[derive(Debug)]
pub(crate) struct Clause<'a> {
    pub(crate) text: &'a str,
    pub(crate) tokens: Vec<MessageToken<'a>>,
    pub(crate) sum: Option<Sum>,
}

/// The language to answer in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplyLanguage {
    English,
    Simplified,
    Traditional,
}

/// How many messages back the script of a chat is looked for.
const MAX_TEXTS: usize = 20;

/// Frequent characters that are written in one script only, pair by pair.
const SIMPLIFIED_CHARACTERS: &str = "这个们说为时请问对开关东车马门长来国会学发后么还过点经样现让话书写读录间网络错误设置务码账户显询务号帮给谁谢吗气预报实时删创选项单词语义认识计算钟几两周岁师传万与价";
const TRADITIONAL_CHARACTERS: &str = "這個們說為時請問對開關東車馬門長來國會學發後麼還過點經樣現讓話書寫讀錄間網絡錯誤設置務碼賬戶顯詢務號幫給誰謝嗎氣預報實時刪創選項單詞語義認識計算鐘幾兩週歲師傳萬與價";

/// What a message does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Intent {
    /// Asks or commands, as far as one can tell.
    Request,
    /// Tells something: a tool needs more than a word in common with it.
    Statement,
    Thanks,
    Greeting,
    /// Takes back what was asked before, or says what not to do.
    Cancel,
}

impl<'a> Clause<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let tokens = tokens(text);
        let sum = sums::find(text, &tokens);
        Self { text, tokens, sum }
    }

    pub(crate) fn lower(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| &token.lower)
    }

    /// The word before a token.
    pub(crate) fn before(&self, at: usize) -> &str {
        at.checked_sub(1).map_or("", |before| self.lower(before))
    }

    /// The tokens that words with a meaning are looked for among.
    pub(crate) fn head(&self) -> std::ops::Range<usize> {
        0..self.tokens.len().min(MAX_HEAD_TOKENS)
    }

    pub(crate) fn is_stop_word(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| match token.kind {
            TokenKind::Mark => true,
            TokenKind::Word => vocabulary::is_stop_word(&token.lower),
            _ => false,
        })
    }

    pub(crate) fn has(&self, kind: TokenKind) -> bool {
        self.tokens.iter().any(|token| token.kind == kind)
    }

    pub(crate) fn has_pronoun(&self) -> bool {
        self.head().any(|at| vocabulary::is_pronoun(self.lower(at)))
    }

    /// A token that speaks of another time than now: "tomorrow", "in 3 hours", "小时后".
    pub(crate) fn other_time(&self) -> Option<usize> {
        self.head().find(|at| {
            let next = self.tokens.get(at + 1);
            let is_counted = next.is_some_and(|next| next.kind == TokenKind::Number);
            vocabulary::is_other_time(self.lower(*at))
                || (is_counted && matches!(self.lower(*at), "in" | "after"))
        })
    }

    /// The words as written; of a single quote, what is inside.
    pub(crate) fn slice(&self, span: Range<usize>) -> &'a str {
        match self.tokens.get(span) {
            Some([quote]) if quote.kind == TokenKind::Quoted => quote.text,
            Some([first, .., last]) => &self.text[first.start..last.end],
            Some([only]) => only.text,
            _ => "",
        }
    }

    /// The stretches between conjunctions and sentences. Which of them stand alone is for the
    /// caller to find out: "bread and butter" has a conjunction too.
    pub(crate) fn pieces(&self) -> Vec<&'a str> {
        if self.text.len() > MAX_PLAN_BYTES {
            return vec![self.text];
        }
        let mut pieces = Vec::new();
        let (mut from, mut depth) = (0, 0_usize);
        for (at, token) in self.tokens.iter().enumerate() {
            if token.is_mark("([{（") {
                depth += 1;
            } else if token.is_mark(")]}）") {
                depth = depth.saturating_sub(1);
            }
            let next = self.tokens.get(at + 1);
            let is_before_space = next.is_some_and(|next| next.start > token.end);
            let joins = token.is_mark(";；。,，、？！")
                || (token.is_mark(".!?") && is_before_space)
                || has_word(CONJUNCTIONS, &token.lower);
            if joins && depth == 0 && pieces.len() + 1 < MAX_PIECES && token.start >= from {
                // The conjunction stays with what follows, so that pieces can be joined again.
                pieces.push(&self.text[from..token.start]);
                from = token.start;
            }
        }
        pieces.push(&self.text[from..]);
        pieces
    }

    pub(crate) fn intent(&self) -> Intent {
        const CANCEL: &str = "cancel|never mind|nevermind|forget it|stop|no|算了|取消|不用了|不用";
        let text = &self.text[..self.text.floor_char_boundary(40)];
        let plain = text.trim_matches(|c: char| !c.is_alphanumeric());
        let plain = plain.to_lowercase();
        let first = self.lower(0);
        if CANCEL.split('|').any(|phrase| phrase == plain)
            || has_word("don't never 别 別 不要", first)
            || plain.starts_with("do not ")
        {
            Intent::Cancel
        } else if has_word("thanks thank thx 谢谢 謝謝 感谢 感謝 多谢 多謝", first) {
            Intent::Thanks
        } else if has_word("hello hi hey 你好 您好 早上好 晚上好", first) && self.tokens.len() <= 3
        {
            Intent::Greeting
        } else if self.is_statement() {
            Intent::Statement
        } else {
            Intent::Request
        }
    }

    fn is_statement(&self) -> bool {
        let mut marks = self.tokens.iter().take(200);
        if marks.any(|token| token.is_mark("?？")) {
            return false;
        }
        let (first, second) = (self.lower(0), self.lower(1));
        match first {
            "i" | "we" => !has_word("want need would wish must have should", second),
            "我" | "我们" | "我們" => {
                !has_word("想 要 想要 需要 有", second) || self.text.ends_with('了')
            }
            "the" | "this" | "that" | "my" | "our" => {
                (0..12).any(|at| has_word("is are was has", self.lower(at)))
            }
            "i'm" | "i've" | "he" | "she" | "they" | "you" | "it" | "it's" => true,
            // "Time is money"
            _ => has_word("is are was", second) && !has_word("what where who how", first),
        }
    }
}

/// The language of the last of these texts, outside of its quotes. Where its characters are
/// written alike in both scripts of Chinese, those of the texts before it decide.
pub(crate) fn language<'a>(texts: impl DoubleEndedIterator<Item = &'a str>) -> ReplyLanguage {
    let mut scripts = texts.rev().take(MAX_TEXTS).map(script);
    match scripts.next() {
        None | Some(TextScript::Latin) => ReplyLanguage::English,
        Some(TextScript::Chinese(Some(language))) => language,
        Some(TextScript::Chinese(None)) => {
            let decided = scripts.find_map(|script| match script {
                TextScript::Chinese(language) => language,
                TextScript::Latin => None,
            });
            decided.unwrap_or(ReplyLanguage::Simplified)
        }
    }
}

enum TextScript {
    Latin,
    /// None: all its characters are written alike.
    Chinese(Option<ReplyLanguage>),
}

fn script(text: &str) -> TextScript {
    let text = &text[..text.floor_char_boundary(6_000)];
    let tokens = tokens(text);
    let unquoted = tokens
        .iter()
        .filter(|token| token.kind != TokenKind::Quoted);
    let (mut is_chinese, mut simplified, mut traditional) = (false, 0, 0);
    for char in unquoted.flat_map(|token| token.text.chars()) {
        is_chinese |= matches!(char, '\u{4e00}'..='\u{9fff}');
        let is_in = |characters: &str| characters.contains(char);
        match (is_in(SIMPLIFIED_CHARACTERS), is_in(TRADITIONAL_CHARACTERS)) {
            (true, false) => simplified += 1,
            (false, true) => traditional += 1,
            // Some of a pair are words of the other script as well.
            (true, true) | (false, false) => {}
        }
    }
    match simplified.cmp(&traditional) {
        _ if !is_chinese => TextScript::Latin,
        Ordering::Greater => TextScript::Chinese(Some(ReplyLanguage::Simplified)),
        Ordering::Less => TextScript::Chinese(Some(ReplyLanguage::Traditional)),
        Ordering::Equal => TextScript::Chinese(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_cut_at_its_conjunctions() {
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(Clause::new(text).pieces(), expected, "{text}")
        };
        check("do this and then that", &["do this ", "and ", "then that"]);
        check("写 a.txt，然后读", &["写 a.txt", "，", "然后读"]);
        check("say 'this; and that'", &["say 'this; and that'"]);
        check("max(1, 2)", &["max(1, 2)"]);
        check("One. Two", &["One", ". Two"]);
        check("", &[""]);
    }

    #[test]
    fn another_time_is_not_now() {
        let check = |text: &str, expected: bool| {
            assert_eq!(Clause::new(text).other_time().is_some(), expected, "{text}")
        };
        check("what is the date tomorrow", true);
        check("what day is next Monday", true);
        check("what time will it be in 3 hours", true);
        check("下周一是几号", true);
        check("三小时后几点", true);
        check("what time is it in Tokyo", false);
        check("东京今天几号", false);
    }

    #[test]
    fn telling_is_not_asking() {
        let check =
            |text: &str, expected| assert_eq!(Clause::new(text).intent(), expected, "{text}");
        check("I am done", Intent::Statement);
        check("I want to know the time", Intent::Request);
        check("the weather is lovely", Intent::Statement);
        check("the weather in Oslo", Intent::Request);
        check("Time is money", Intent::Statement);
        check("谢谢！", Intent::Thanks);
        check("我要睡了", Intent::Statement);
        check("never mind.", Intent::Cancel);
        check("don't read notes.md", Intent::Cancel);
    }

    #[test]
    fn the_language_is_the_one_outside_the_quotes() {
        let check = |text: &str, expected| {
            assert_eq!(language([text].into_iter()), expected, "{text}");
        };
        check("把“hello”写入 a.txt", ReplyLanguage::Simplified);
        check("把「hello」寫入 a.txt", ReplyLanguage::Traditional);
        check("現在幾點？", ReplyLanguage::Traditional);
        check("现在几点？", ReplyLanguage::Simplified);
        check("write “你好” to a.txt", ReplyLanguage::English);
        check("", ReplyLanguage::English);
    }

    #[test]
    fn where_both_scripts_are_alike_what_was_said_before_decides() {
        let check = |texts: &[&str], expected| {
            assert_eq!(language(texts.iter().copied()), expected, "{texts:?}");
        };
        check(&["你好"], ReplyLanguage::Simplified);
        check(&["請問現在幾點", "你好"], ReplyLanguage::Traditional);
        check(
            &["請問現在幾點", "现在几点", "你好"],
            ReplyLanguage::Simplified,
        );
        check(&["請問現在幾點", "hello"], ReplyLanguage::English);
    }
}
