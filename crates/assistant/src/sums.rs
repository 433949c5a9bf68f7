//! A sum or a conversion of units that a message asks for: "what is (17+4)*23?", "3 加 4",
//! "5 feet in cm", "1公里等于多少米".
//!
//! Words are replaced by signs, and `fend` decides whether the rest is an expression. What
//! might as well be a date or a telephone number is none, unless it is asked for.

use std::ops::Range;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use regex::Regex;
use tenon_domain::tokenizer::narrow;

use crate::lexer::{MessageToken, TokenKind};
use crate::vocabulary::{self, has_word};

/// Nobody types a longer sum into a sentence.
const MAX_EXPRESSION_CHARS: usize = 160;
/// `fend` recurses on these.
const MAX_NESTING: usize = 12;
/// What takes longer is an expression all the same: the tool says what is wrong with it.
const MAX_TIME: Duration = Duration::from_millis(50);

/// The expression, and the tokens it was written in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sum {
    pub(crate) expression: String,
    pub(crate) tokens: Range<usize>,
}

/// The sum that a clause consists of, beside the words that ask for it.
pub(crate) fn find(text: &str, tokens: &[MessageToken<'_>]) -> Option<Sum> {
    let is_beside = |token: &MessageToken<'_>| {
        let word = token.lower.as_str();
        vocabulary::is_stop_word(word)
            || is_calculation(word)
            || has_word("long far heavy old", word)
            || token.is_mark(":：,，;；.。?？=!！")
    };
    let first = tokens.iter().position(|token| !is_beside(token))?;
    let last = tokens.iter().rposition(|token| !is_beside(token))?;
    let text = text.get(tokens[first].start..tokens[last].end)?;
    let kinds = [TokenKind::Word, TokenKind::Number, TokenKind::Mark];
    let mut core = tokens[first..=last].iter();
    if text.len() > 3 * MAX_EXPRESSION_CHARS || !core.all(|token| kinds.contains(&token.kind)) {
        return None;
    }
    let expression = expression(text)?;
    // "555-1234" and "24/7" are seldom meant to be worked out.
    let is_in_number = |c: char| c.is_ascii_digit() || "-/".contains(c);
    let asks = |token: &MessageToken<'_>| {
        let questions = "what what's whats much 多少 是多少 等于多少";
        token.is_mark("?？=") || is_calculation(&token.lower) || has_word(questions, &token.lower)
    };
    let is_asked = !expression.chars().all(is_in_number) || tokens.iter().any(asks);
    let sum = Sum {
        expression,
        tokens: first..last + 1,
    };
    (is_asked && evaluates(&sum.expression)).then_some(sum)
}

fn is_calculation(word: &str) -> bool {
    vocabulary::means(word, "calculate") || vocabulary::means(word, "convert")
}

/// The text in the signs of a calculator; none if it has no operation.
fn expression(text: &str) -> Option<String> {
    static THOUSANDS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(\d),(\d{3})\b").expect("the pattern is a constant"));
    let text = format!(" {} ", text.to_lowercase());
    let mut plain: String = text.chars().map(narrow).collect();
    for (sign, said) in vocabulary::signs() {
        // A word is a sign only with something on both sides of it.
        let is_word = said.is_ascii() && said != "**";
        if is_word {
            plain = plain.replace(&format!(" {said} "), &format!(" {sign} "));
        } else if sign.contains(|c: char| c.is_ascii_alphabetic()) {
            plain = plain.replace(said, &format!(" {sign} "));
        } else {
            plain = plain.replace(said, sign);
        }
    }
    plain = plain.replace(" in ", " to ").replace(" ^", "^");
    plain = vocabulary::with_digits(&plain);
    while THOUSANDS.is_match(&plain) {
        plain = THOUSANDS.replace_all(&plain, "$1$2").into_owned();
    }
    let expression = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let allowed = |c: char| c.is_ascii_alphanumeric() || " +-*/^!%().,".contains(c);
    let nesting = expression.matches(['(', '^', '-', '!']).count();
    let has_operation = expression.contains(['+', '-', '*', '/', '^', '!', '%'])
        || expression.contains(" to ")
        || expression.contains("sqrt");
    let is_expression = expression.len() <= MAX_EXPRESSION_CHARS
        && nesting <= MAX_NESTING
        && has_operation
        && expression.contains(|c: char| c.is_ascii_digit())
        && expression.chars().all(allowed);
    is_expression.then_some(expression)
}

struct Deadline(Instant);

impl fend_core::Interrupt for Deadline {
    fn should_interrupt(&self) -> bool {
        Instant::now() > self.0
    }
}

fn evaluates(expression: &str) -> bool {
    let deadline = Deadline(Instant::now() + MAX_TIME);
    let mut context = fend_core::Context::new();
    match fend_core::evaluate_with_interrupt(expression, &mut context, &deadline) {
        Ok(_) => true,
        Err(reason) => reason == "interrupted" || reason.contains("division by zero"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::tokens;

    #[test]
    fn a_sum_is_found_and_written_plainly() {
        #[track_caller]
        fn check(text: &str, expected: Option<&str>) {
            let sum = find(text, &tokens(text));
            assert_eq!(sum.map(|sum| sum.expression).as_deref(), expected, "{text}");
        }
        check("6*7", Some("6*7"));
        check("what is (17+4)*23?", Some("(17+4)*23"));
        check("2+2=?", Some("2+2"));
        check("1,250 + 300", Some("1250 + 300"));
        check("12.5 % of 80", Some("12.5 % of 80"));
        check("把5公里换算成英里", Some("5 km to miles"));
        check(
            "how long is 90 minutes in hours",
            Some("90 minutes to hours"),
        );
        check("what is 10/4", Some("10/4"));
        check("9^9^9^9", Some("9^9^9^9"));
        check("Call 555-1234", None);
        check("the 24/7 store", None);
        check("on 11/15 we meet", None);
        check("convert 100 USD to EUR", None);
        check("sleep for 30 seconds", None);
        check("5", None);
        check("what is love?", None);
        check("write 6*7 to a.txt", None);
        check(&"(".repeat(1_000), None);
        check(&format!("1{}", "-".repeat(100)), None);
    }
}
