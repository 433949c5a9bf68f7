//! A stretch of a message that may ask for one thing, and where to cut between two.

use std::ops::Range;

use crate::lexer::{MessageToken, TokenKind, tokens};
use crate::sums::{self, Sum};
use crate::vocabulary::{self, has_word};

/// A longer message is one clause: nobody types a plan of this size.
const MAX_PLAN_BYTES: usize = 4_000;
const MAX_PIECES: usize = 12;

/// Tokens among which words with a meaning are looked for: further on it is content.
pub(crate) const MAX_HEAD_TOKENS: usize = 400;

#[derive(Debug)]
pub(crate) struct Clause<'a> {
    pub(crate) text: &'a str,
    pub(crate) tokens: Vec<MessageToken<'a>>,
    pub(crate) sum: Option<Sum>,
}

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

    /// Whether a word is on a list of the vocabulary.
    pub(crate) fn is_in(&self, at: usize, list: &str) -> bool {
        vocabulary::is_in(list, self.lower(at))
    }

    /// The word before a token.
    pub(crate) fn before(&self, at: usize) -> &str {
        at.checked_sub(1).map_or("", |before| self.lower(before))
    }

    /// The tokens that words with a meaning are looked for among.
    pub(crate) fn head(&self) -> Range<usize> {
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
        self.head().any(|at| self.is_in(at, "pronouns"))
    }

    /// A token that speaks of another time than now: "tomorrow", "in 3 hours", "小时后".
    pub(crate) fn other_time(&self) -> Option<usize> {
        self.head().find(|at| {
            let next = self.tokens.get(at + 1);
            let is_counted = next.is_some_and(|next| next.kind == TokenKind::Number);
            self.is_in(*at, "other times")
                || (is_counted && matches!(self.lower(*at), "in" | "after"))
        })
    }

    /// The words as written; of a single quote, what is inside.
    pub(crate) fn slice(&self, span: Range<usize>) -> &'a str {
        match self.tokens.get(span) {
            Some([only]) => only.text,
            Some([first, .., last]) => &self.text[first.start..last.end],
            _ => "",
        }
    }

    /// The stretches between conjunctions and sentences. Which of them stand alone is for the
    /// caller to find out: "bread and butter" has a conjunction too.
    pub(crate) fn pieces(&self) -> Vec<&'a str> {
        let has_json = self.text.contains("{\"");
        if has_json || self.text.len() > MAX_PLAN_BYTES {
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
                || self.is_in(at, "conjunctions");
            if joins && depth == 0 && pieces.len() + 1 < MAX_PIECES {
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
}
