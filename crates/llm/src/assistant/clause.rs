//! A stretch of a message that may ask for one thing, and where to cut between two.

use super::lexicon;
use super::token::{Kind, Token, tokens};

/// A longer message is one clause: nobody types a plan of this size.
const LONGEST_PLAN: usize = 4_000;
const MOST_PIECES: usize = 12;

/// Words after which something new may begin.
const JOINTS: [&str; 16] = [
    "and",
    "then",
    "afterwards",
    "然后",
    "然後",
    "再",
    "接着",
    "接著",
    "并",
    "并且",
    "並",
    "並且",
    "之后",
    "之後",
    "最后",
    "最後",
];

#[derive(Debug)]
pub(super) struct Clause<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: Vec<Token<'a>>,
    /// The tokens in lower case, in the same order.
    lower: Vec<String>,
}

impl<'a> Clause<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let tokens = tokens(text);
        let lower = tokens.iter().map(lower).collect();
        Self {
            text,
            tokens,
            lower,
        }
    }

    pub(super) fn lower(&self, at: usize) -> &str {
        self.lower.get(at).map_or("", String::as_str)
    }

    pub(super) fn is_stop(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| match token.kind {
            Kind::Mark => true,
            Kind::Word => lexicon::is_stop(self.lower(at)),
            Kind::Quoted | Kind::Url | Kind::Path | Kind::Number | Kind::Moment => false,
        })
    }

    pub(super) fn has_pronoun(&self) -> bool {
        self.lower
            .iter()
            .take(200)
            .any(|word| lexicon::is_pronoun(word))
    }

    /// Whether it speaks of another time than now: "tomorrow", "in 3 hours", "下周一".
    pub(super) fn is_of_another_day(&self) -> bool {
        const PERIODS: &str =
            "monday tuesday wednesday thursday friday saturday sunday week month year weekend";
        const SHIFTS: [&str; 11] = [
            "ago", "from", "later", "before", "后", "後", "之后", "之後", "以后", "以後", "前",
        ];
        let spans = |at: usize| {
            self.tokens
                .get(at)
                .is_some_and(|token| token.number().is_some())
                && lexicon::seconds_in(self.lower(at + 1)).is_some()
        };
        (0..self.tokens.len().min(200)).any(|at| {
            let period = || PERIODS.split(' ').any(|one| one == self.lower(at + 1));
            match self.lower(at) {
                "next" | "last" | "coming" => period(),
                "in" | "after" => spans(at + 1),
                word if lexicon::is_other_day(word) => true,
                _ => spans(at) && SHIFTS.contains(&self.lower(at + 2)),
            }
        })
    }

    /// The words as written, from one token to another, both included.
    pub(super) fn slice(&self, from: usize, to: usize) -> &'a str {
        match (self.tokens.get(from), self.tokens.get(to)) {
            (Some(first), Some(last)) => self.text.get(first.start..last.end).unwrap_or_default(),
            _ => "",
        }
    }

    /// The stretches between joints. Which of them stand alone is for the
    /// caller to find out: "bread and butter" has a joint too.
    pub(super) fn pieces(&self) -> Vec<&'a str> {
        if self.text.len() > LONGEST_PLAN {
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
            let breaks = token.is_mark(";；。,，、") || self.is_full_stop(at);
            let joint = depth == 0 && (breaks || JOINTS.contains(&self.lower(at)));
            if joint && pieces.len() + 1 < MOST_PIECES && token.start >= from {
                pieces.push(&self.text[from..token.start]);
                // The joint stays with what follows, so that pieces can be put together again.
                from = token.start;
            }
        }
        pieces.push(&self.text[from..]);
        pieces
    }

    fn is_full_stop(&self, at: usize) -> bool {
        let token = &self.tokens[at];
        let next = self.tokens.get(at + 1);
        token.is_mark(".!?！？") && next.is_some_and(|next| next.start > token.end)
    }
}

fn lower(token: &Token<'_>) -> String {
    // No word that is known here is longer; a megabyte without a space need not be copied.
    match token.kind {
        Kind::Word if token.text.len() <= 80 => token.text.to_lowercase().replace('’', "'"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_cut_at_its_joints() {
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
    fn another_day_is_not_now() {
        let check = |text: &str, expected: bool| {
            assert_eq!(Clause::new(text).is_of_another_day(), expected, "{text}")
        };
        check("what is the date tomorrow", true);
        check("what day is next Monday", true);
        check("what time will it be in 3 hours", true);
        check("what time was it 20 minutes ago", true);
        check("下周一是几号", true);
        check("三小时后几点", true);
        check("what time is it in Tokyo", false);
        check("东京今天几号", false);
    }
}
