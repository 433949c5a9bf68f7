//! Working out an expression with `fend-core`: exact fractions, whole numbers
//! of any size, units. What it lacks is added in front of it: the characters
//! people type in Chinese, functions over lists, and limits.

use std::time::{Duration, Instant};

use super::super::blocking::StopSignal;

/// Deeper than any formula; shallow enough for the stack below.
const MAX_DEPTH: usize = 100;

/// Deadline of one expression: a result that takes longer is a number nobody can read.
const TIMEOUT: Duration = Duration::from_secs(2);

/// What an expression is written with beside letters and digits. `fend` is a
/// small language with functions and assignments, in which a line can run for
/// ever or overflow any stack; none of that can be written with these. Its
/// shifts, which do not look at the clock, cannot either.
const SIGNS: &str = "+-*/^!%().,_×÷−π°µ$€£¥";

/// Characters that may end a question and are ignored.
const PROMPT_CHARS: [char; 2] = ['=', '?'];

/// The parser recurses on signs and powers too, which the length of an
/// expression bounds but its depth does not. Only what is touched is paid for.
const STACK: usize = 64 * 1024 * 1024;

/// Why an expression has no result; the sentence says what would be right.
#[derive(Debug, thiserror::Error)]
pub(super) enum ExpressionError {
    #[error("The expression is empty. Write one such as `(17+4)*23`.")]
    Empty,
    #[error("`{0}` is not part of arithmetic.")]
    UnknownSign(char),
    #[error("More than {MAX_DEPTH} levels of brackets: work it out in parts.")]
    TooDeep,
    #[error("`=` and `?` may only stand at the end.")]
    QuestionInside,
    #[error("Write floor(a / b) for division without remainder.")]
    FloorDivision,
    #[error("A bracket is never closed.")]
    UnclosedBracket,
    #[error("A list of arguments has an empty place.")]
    EmptyArgument,
    #[error("Write numbers in lists without commas for thousands.")]
    CommaInList,
    #[error(
        "A comma may only separate thousands, as in 1,234, or the arguments of max, min, sum and avg. \
         Write decimals with a point."
    )]
    Comma,
    #[error("The result is too large to be worked out in time. Use smaller numbers.")]
    TooLarge,
    #[error("The expression cannot be worked out: {0}.")]
    Unsolvable(String),
    #[error("No thread could be had to work it out: {0}.")]
    NoThread(std::io::Error),
}

type Result<T> = std::result::Result<T, ExpressionError>;

/// What a function over a list comes to, as an expression.
type List = fn(&[&str], &EvaluationLimits<'_>) -> Result<String>;

/// Functions over lists, which `fend` does not have.
const LISTS: [(&str, List); 4] = [
    ("max", greatest),
    ("min", least),
    ("sum", sum),
    ("avg", average),
];

pub(super) fn evaluate(expression: &str, stop: &StopSignal) -> Result<String> {
    let work = || {
        let limits = EvaluationLimits {
            until: Instant::now() + TIMEOUT,
            stop,
        };
        let plain = plain(expression)?;
        let expanded = expand_lists(plain, &limits)?;
        let expression = check_commas(&expanded)?;
        let result = fend(&expression, &limits)?;
        // In `17% * 4300` people want 731, not 73100%.
        if result.ends_with('%') && expression.contains(['*', '×']) {
            return fend(&format!("({expression}) to unitless"), &limits);
        }
        Ok(result)
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, work);
        match thread.map(|thread| thread.join()) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => Err(ExpressionError::NoThread(error)),
        }
    })
}

struct EvaluationLimits<'a> {
    until: Instant,
    stop: &'a StopSignal,
}

impl fend_core::Interrupt for EvaluationLimits<'_> {
    fn should_interrupt(&self) -> bool {
        Instant::now() > self.until || self.stop.check().is_err()
    }
}

fn fend(expression: &str, limits: &EvaluationLimits<'_>) -> Result<String> {
    let mut context = fend_core::Context::new();
    match fend_core::evaluate_with_interrupt(expression, &mut context, limits) {
        Ok(result) => Ok(result.get_main_result().to_owned()),
        // The only sign of it that `fend` gives.
        Err(reason) if reason == "interrupted" => Err(ExpressionError::TooLarge),
        Err(reason) => Err(ExpressionError::Unsolvable(reason)),
    }
}

/// The expression in the characters a parser knows.
fn plain(expression: &str) -> Result<String> {
    let mut plain = String::with_capacity(expression.len());
    let mut depth = 0usize;
    for c in expression.chars() {
        // Full-width forms are one block in the order of ASCII.
        let c = match c {
            '\u{ff01}'..='\u{ff5e}' => {
                char::from_u32(u32::from(c) - 0xff01 + u32::from('!')).unwrap_or(c)
            }
            '\u{3000}' => ' ',
            '·' | '⋅' => '*',
            '–' | '—' => '-',
            '²' => {
                plain.push_str("^2");
                continue;
            }
            '³' => {
                plain.push_str("^3");
                continue;
            }
            '√' => {
                plain.push_str("sqrt ");
                continue;
            }
            other => other,
        };
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if !(c.is_ascii_alphanumeric()
            || c.is_whitespace()
            || SIGNS.contains(c)
            || PROMPT_CHARS.contains(&c))
        {
            return Err(ExpressionError::UnknownSign(c));
        }
        if depth > MAX_DEPTH {
            return Err(ExpressionError::TooDeep);
        }
        plain.push(c);
    }
    // "6*7 = ?" asks for what comes after.
    let plain = plain
        .trim()
        .trim_end_matches([' ', PROMPT_CHARS[0], PROMPT_CHARS[1]]);
    if plain.contains(PROMPT_CHARS) {
        return Err(ExpressionError::QuestionInside);
    }
    if plain.contains("//") {
        return Err(ExpressionError::FloorDivision);
    }
    if plain.is_empty() {
        return Err(ExpressionError::Empty);
    }
    Ok(plain.to_owned())
}

/// Replaces each function over a list by its expression, innermost first.
fn expand_lists(mut text: String, limits: &EvaluationLimits<'_>) -> Result<String> {
    while let Some((start, open, apply)) = last_list(&text) {
        let (arguments, end) = arguments(&text, open)?;
        let expanded = apply(&arguments, limits)?;
        text.replace_range(start..end, &format!("({expanded})"));
    }
    Ok(text)
}

/// The last call of a function over a list: where it begins, where its bracket
/// opens. Nothing to its right is another, so none stands inside it.
fn last_list(text: &str) -> Option<(usize, usize, List)> {
    let lower = text.to_ascii_lowercase();
    let calls = LISTS.iter().filter_map(|(name, apply)| {
        let is_call = |start: &usize| {
            let stands_alone =
                !lower[..*start].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            stands_alone && lower[start + name.len()..].trim_start().starts_with('(')
        };
        let start = lower
            .rmatch_indices(name)
            .map(|(start, _)| start)
            .find(is_call)?;
        let open = start + lower[start..].find('(')?;
        Some((start, open, *apply))
    });
    calls.max_by_key(|(start, _, _)| *start)
}

/// The arguments between a bracket and its partner, and where the partner ends.
fn arguments(text: &str, open: usize) -> Result<(Vec<&str>, usize)> {
    let mut depth = 0;
    let mut from = open + 1;
    let mut arguments = Vec::new();
    for (at, c) in text.char_indices().skip_while(|(at, _)| *at < open) {
        match c {
            '(' => depth += 1,
            ',' if depth == 1 => {
                arguments.push(&text[from..at]);
                from = at + 1;
            }
            ')' if depth == 1 => {
                arguments.push(&text[from..at]);
                return check_arguments(&arguments).map(|()| (arguments, at + 1));
            }
            ')' => depth -= 1,
            _ => {}
        }
    }
    Err(ExpressionError::UnclosedBracket)
}

fn check_arguments(arguments: &[&str]) -> Result<()> {
    for argument in arguments.iter().map(|argument| argument.trim()) {
        if argument.is_empty() {
            return Err(ExpressionError::EmptyArgument);
        }
        // In "min(1, 1,000)" the comma may be a thousands separator.
        if argument.len() > 1
            && argument.starts_with('0')
            && argument.bytes().all(|b| b.is_ascii_digit())
        {
            return Err(ExpressionError::CommaInList);
        }
    }
    Ok(())
}

fn greatest(arguments: &[&str], limits: &EvaluationLimits<'_>) -> Result<String> {
    extreme(arguments, limits, |difference| difference.starts_with('-'))
}

fn least(arguments: &[&str], limits: &EvaluationLimits<'_>) -> Result<String> {
    extreme(arguments, limits, |difference| !difference.starts_with('-'))
}

/// The smallest or largest argument, exactly as written, so that nothing is rounded.
fn extreme(
    arguments: &[&str],
    limits: &EvaluationLimits<'_>,
    loses: impl Fn(&str) -> bool,
) -> Result<String> {
    let (first, others) = arguments
        .split_first()
        .ok_or(ExpressionError::EmptyArgument)?;
    let mut best = *first;
    for other in others {
        let difference = fend(&check_commas(&format!("({best}) - ({other})"))?, limits)?;
        if loses(difference.trim_start_matches("approx. ")) {
            best = other;
        }
    }
    Ok(best.to_owned())
}

fn sum(arguments: &[&str], _limits: &EvaluationLimits<'_>) -> Result<String> {
    let terms: Vec<String> = arguments
        .iter()
        .map(|argument| format!("({argument})"))
        .collect();
    Ok(terms.join("+"))
}

fn average(arguments: &[&str], limits: &EvaluationLimits<'_>) -> Result<String> {
    Ok(format!("({})/{}", sum(arguments, limits)?, arguments.len()))
}

/// `fend` skips commas between digits, wherever they stand: "1,5" would be 15.
/// Only those that separate thousands may pass.
fn check_commas(text: &str) -> Result<String> {
    let digits = |part: &str| part.bytes().take_while(u8::is_ascii_digit).count();
    for (at, _) in text.match_indices(',') {
        let before = text[..at]
            .bytes()
            .rev()
            .take_while(u8::is_ascii_digit)
            .count();
        let begins_number = !text[..at - before].ends_with(['.', ',']);
        let group_before = (1..=3).contains(&before) && (begins_number || before == 3);
        if !group_before || digits(&text[at + 1..]) != 3 {
            return Err(ExpressionError::Comma);
        }
    }
    Ok(text.replace(',', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expression: &str, expected: &str) {
        let said =
            evaluate(expression, &StopSignal::never()).unwrap_or_else(|error| error.to_string());
        assert_eq!(said, expected, "{expression}");
    }

    #[test]
    fn expressions_come_to_what_they_should() {
        check("6*7", "42");
        check("(17+4)*23", "483");
        check("1+2*3", "7");
        check("100/10/5", "2");
        check("2^3^2", "512");
        check("2**10", "1024");
        check("-2^2", "-4");
        check("2^-1", "0.5");
        check("3!", "6");
        check("0.1+0.2", "0.3");
        check("1/3", "approx. 0.3333333333");
        check("2^100", "1267650600228229401496703205376");
        check("123456789*987654321", "121932631112635269");
        check("7 mod 3", "1");
        check("12.5% of 80", "10");
        check("17% * 4300", "731");
        check("4300×17%", "731");
        check("5% + 3%", "8%");
        check("sqrt(16)", "4");
        check("cos(pi)", "-1");
        check("round(2.5)", "3");
        check("5 km to m", "5000 m");
    }

    #[test]
    fn what_people_type_in_chinese_is_understood() {
        check("６×７", "42");
        check("８４÷２", "42");
        check("50−8", "42");
        check("（１７＋４）＊２", "42");
        check("6·7=", "42");
        check("6*7 = ？", "42");
        check("max（1，42）", "42");
        check("3² + 4²", "25");
        check("√16", "4");
    }

    #[test]
    fn lists_and_thousands_are_told_apart() {
        check("max(1, 2, 3)", "3");
        check("MIN(3, 1, 2)", "1");
        check("max(max(1,2),max(3,4))", "4");
        check("1+max(1,min(2,3))*2", "5");
        check("max(1/3, 1/4) * 3", "1");
        check("sum(1,2,3) / avg(2, 4)", "2");
        check("max(-5, -7)", "-5");
        check("1,234*2", "2468");
        check("1,234,567+0", "1234567");
        let commas = "A comma may only separate thousands, as in 1,234, \
                      or the arguments of max, min, sum and avg. Write decimals with a point.";
        check("1,5*2", commas);
        check("1234,567", commas);
        check("1,2345", commas);
        check("round(3.14159, 2)", commas);
        check("1.5,123", commas);
        check(",", commas);
    }

    #[test]
    fn what_has_no_result_says_why() {
        check(
            "1/0",
            "The expression cannot be worked out: division by zero.",
        );
        check(
            "foo(2)",
            "The expression cannot be worked out: unknown identifier 'foo'.",
        );
        check(
            "  ",
            "The expression is empty. Write one such as `(17+4)*23`.",
        );
        check(
            "=?",
            "The expression is empty. Write one such as `(17+4)*23`.",
        );
        check("max(1,)", "A list of arguments has an empty place.");
        check("max()", "A list of arguments has an empty place.");
        check("max(1,2", "A bracket is never closed.");
        check(
            "min(1, 1,000)",
            "Write numbers in lists without commas for thousands.",
        );
        check(
            "7 // 2",
            "Write floor(a / b) for division without remainder.",
        );
        check("2=2", "`=` and `?` may only stand at the end.");
        check(
            "9^9^9^9",
            "The result is too large to be worked out in time. Use smaller numbers.",
        );
    }

    #[test]
    fn deep_and_long_expressions_break_nothing() {
        check(
            &"(".repeat(1000),
            "More than 100 levels of brackets: work it out in parts.",
        );
        check(&format!("{}1", "-".repeat(999)), "-1");
        check(&format!("{}1", "1^".repeat(499)), "1");
        check(&format!("{}1{}", "(".repeat(100), ")".repeat(100)), "1");
        check(&format!("{}1", "2 + ".repeat(240)), "481");
        let nested = format!("{}1{}", "max(1,".repeat(99), ")".repeat(99));
        check(&nested, "1");
    }

    #[test]
    fn programs_are_not_arithmetic() {
        for (program, sign) in [
            (r"(\x. x x)(\x. x x)", '\\'),
            ("f = x: f x; f 1", ':'),
            ("1 << 100000000000", '<'),
            ("1; 2", ';'),
            ("λx.x", 'λ'),
            ("@debug 1", '@'),
            ("\"a\"", '"'),
        ] {
            check(program, &format!("`{sign}` is not part of arithmetic."));
        }
    }

    #[test]
    fn nobody_waits_for_a_result_that_is_no_longer_wanted() {
        let stopped = evaluate("9^9^9^9", &StopSignal::now());
        assert!(stopped.is_err());
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(expression in "\\PC{0,60}", formula in "[0-9a-e+*/^(),.!% -]{0,40}") {
            let _ = evaluate(&expression, &StopSignal::never());
            let _ = evaluate(&formula, &StopSignal::now());
        }
    }
}
