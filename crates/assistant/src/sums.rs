//! A sum or a conversion of units that a message asks for: "what is (17+4)*23?", "3 加 4",
//! "5 feet in cm", "1公里等于多少米".
//!
//! Words are replaced by signs, and `fend` decides whether the rest is an expression. What
//! might as well be a date or a telephone number is none, unless it is asked for.

use std::time::{Duration, Instant};

use tenon_domain::tokenizer::narrow;

use crate::lexer::{MessageToken, TokenKind, chinese_number, is_chinese_numeral};
use crate::vocabulary;

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
    pub(crate) first_token: usize,
    pub(crate) last_token: usize,
}

/// The sum that a clause consists of, beside the words that ask for it.
pub(crate) fn find(text: &str, tokens: &[MessageToken<'_>]) -> Option<Sum> {
    let asks = |token: &MessageToken<'_>| {
        let word = token.lower.as_str();
        let measures = matches!(word, "long" | "far" | "heavy" | "old");
        vocabulary::is_stop_word(word) || is_calculation(word) || measures
    };
    let first = tokens
        .iter()
        .position(|token| !asks(token) && !token.is_mark(":：,，;；.。"))?;
    let last = tokens
        .iter()
        .rposition(|token| !asks(token) && !token.is_mark("?？=。.!！,，;；"))?;
    let core = tokens.get(first..=last)?;
    let is_sum = |token: &MessageToken<'_>| {
        matches!(
            token.kind,
            TokenKind::Word | TokenKind::Number | TokenKind::Mark
        )
    };
    let text_of_core = text.get(tokens[first].start..tokens[last].end)?;
    let is_short = text_of_core.len() <= 3 * MAX_EXPRESSION_CHARS;
    if !is_short || !core.iter().all(is_sum) {
        return None;
    }
    let expression = expression(text_of_core)?;
    // "555-1234" and "24/7" are seldom meant to be worked out.
    let is_bare = expression
        .chars()
        .all(|c| c.is_ascii_digit() || "-/".contains(c));
    let is_asked = tokens.iter().any(|token| {
        token.is_mark("?？=") || is_calculation(&token.lower) || is_question(&token.lower)
    });
    if (is_bare && !is_asked) || !evaluates(&expression) {
        return None;
    }
    Some(Sum {
        expression,
        first_token: first,
        last_token: last,
    })
}

fn is_calculation(word: &str) -> bool {
    vocabulary::means(word, "calculate") || vocabulary::means(word, "convert")
}

fn is_question(word: &str) -> bool {
    matches!(
        word,
        "what" | "what's" | "whats" | "much" | "多少" | "是多少" | "等于多少"
    )
}

/// The text in the signs of a calculator; none if it has no operation.
fn expression(text: &str) -> Option<String> {
    let mut plain: String = format!(" {} ", text.to_lowercase())
        .chars()
        .map(narrow)
        .collect();
    for (said, sign) in vocabulary::signs() {
        // A word is a sign only with something on both sides of it.
        let is_word = said.is_ascii() && said != "**";
        let said = if is_word {
            format!(" {said} ")
        } else {
            said.to_owned()
        };
        if plain.contains(&said) {
            let is_unit_or_word = sign.contains(|c: char| c.is_ascii_alphabetic());
            let sign = if is_word || is_unit_or_word {
                format!(" {sign} ")
            } else {
                sign.to_owned()
            };
            plain = plain.replace(&said, &sign);
        }
    }
    plain = plain.replace(" in ", " to ").replace(" ^", "^");
    let mut plain = share(&numerals(&plain));
    // Thousands set apart: 1,250.
    while let Some(comma) = thousands_comma(&plain) {
        plain.remove(comma);
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

/// Chinese numerals as digits.
fn numerals(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(is_chinese_numeral) {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.find(|c| !is_chinese_numeral(c)).unwrap_or(rest.len());
        match chinese_number(&rest[..end]) {
            Some(number) => plain.push_str(&number.to_string()),
            None => plain.push_str(&rest[..end]),
        }
        rest = &rest[end..];
    }
    plain + rest
}

/// `100的15%` is `15% of 100`.
fn share(text: &str) -> String {
    match text.split_once('的') {
        Some((whole, part)) if part.trim_end().ends_with('%') => format!("{part} of {whole}"),
        _ => text.to_owned(),
    }
}

fn thousands_comma(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let separates = |at: &usize| {
        *at > 0 && is_digit(at - 1) && (1..=3).all(|next| is_digit(at + next)) && !is_digit(at + 4)
    };
    text.match_indices(',').map(|(at, _)| at).find(separates)
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
        check("三加五等于多少", Some("3+5"));
        check("12.5 % of 80", Some("12.5 % of 80"));
        check("100的15%是多少", Some("15% of 100"));
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
