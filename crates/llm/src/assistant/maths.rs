//! A sum found in a sentence, written the way a calculator reads it.
//!
//! "what is (17+4)*23?", "3 加 4", "12.5 % of 80", "square root of 16", and
//! with units: "5 feet in cm". What might as well be a date, a telephone
//! number or a part of something longer is no sum.

mod doubt;
mod unit;

use super::token::{Kind, Token, chinese_number, chinese_numeral, narrow, number_length};

/// Sums are looked for at the head of a message; nobody types one further down.
const HEAD: usize = 2_048;
/// Numbers, signs and brackets in one sum.
const LONGEST: usize = 256;

const FUNCTIONS: [&str; 14] = [
    "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "ln", "log", "log10", "log2", "exp",
    "abs", "round",
];

/// Ways to say an operator; the longest of those that fit counts.
const SAID: &[(&str, Item)] = &[
    ("multiplied by", Item::Operator("*")),
    ("divided by", Item::Operator("/")),
    ("to the power of", Item::Operator("^")),
    ("square root of", Item::Function("sqrt")),
    ("plus", Item::Operator("+")),
    ("minus", Item::Operator("-")),
    ("times", Item::Operator("*")),
    ("modulo", Item::Operator("%")),
    ("mod", Item::Operator("%")),
    ("squared", Item::After("^2")),
    ("cubed", Item::After("^3")),
    ("percent of", Item::After("/100*")),
    ("percent", Item::After("/100")),
    ("% of", Item::After("/100*")),
    ("pi", Item::Constant("pi")),
    ("加上", Item::Operator("+")),
    ("加", Item::Operator("+")),
    ("减去", Item::Operator("-")),
    ("减", Item::Operator("-")),
    ("減去", Item::Operator("-")),
    ("減", Item::Operator("-")),
    ("乘以", Item::Operator("*")),
    ("乘", Item::Operator("*")),
    ("除以", Item::Operator("/")),
    ("的", Item::Of),
    ("的平方", Item::After("^2")),
    ("的立方", Item::After("^3")),
    ("根号", Item::Function("sqrt")),
    ("**", Item::Operator("^")),
    ("×", Item::Operator("*")),
    ("·", Item::Operator("*")),
    ("÷", Item::Operator("/")),
    ("−", Item::Operator("-")),
    ("–", Item::Operator("-")),
    ("π", Item::Constant("pi")),
    ("²", Item::After("^2")),
    ("³", Item::After("^3")),
];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Item {
    Number,
    /// A number written in Chinese.
    Numeral,
    Constant(&'static str),
    Function(&'static str),
    Operator(&'static str),
    /// Follows an operand: a power, a percentage.
    After(&'static str),
    /// 的, where a percentage follows.
    Of,
    Open,
    Close,
    Other,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) expression: String,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The conversion in a message, or the longest sum that has at least one operation in it.
pub(super) fn find(text: &str, tokens: &[Token<'_>]) -> Option<Sum> {
    if let Some(conversion) = unit::conversion(text) {
        return Some(conversion);
    }
    let items = items(text, tokens);
    let mut best: Option<(usize, usize)> = None;
    let mut at = 0;
    while at < items.len() {
        let Some(end) = sum_from(&items, at) else {
            at += 1;
            continue;
        };
        if best.is_none_or(|(from, to)| end - at > to - from) {
            best = Some((at, end));
        }
        at = end;
    }
    let (from, to) = best?;
    let (start, end) = (items[from].1, items[to - 1].2);
    let items = &items[from..to];
    let ambiguous = || doubt::is_bare(text, items) && !doubt::is_asked(text, start, end);
    if doubt::is_part(text, start, end) || ambiguous() {
        return None;
    }
    let expression = match share(items) {
        Share::None => written(text, items),
        Share::Of(sign) => {
            let part = |at: usize| written(text, &items[at..=at]);
            format!("{}*(1{sign}{}/100)", part(0), part(2))
        }
        Share::Unclear => return None,
    };
    Some(Sum {
        expression,
        start,
        end,
    })
}

/// How a sum adds or takes away a percentage.
enum Share {
    None,
    /// "100 minus 15%" is less a part of the 100.
    Of(&'static str),
    /// A part of what, is anybody's guess.
    Unclear,
}

fn share(items: &[Placed]) -> Share {
    let kinds: Vec<Item> = items.iter().map(|(item, ..)| *item).collect();
    let added = |window: &[Item]| {
        matches!(
            window,
            [
                Item::Operator("+" | "-"),
                Item::Number | Item::Numeral,
                Item::After("/100")
            ]
        )
    };
    match kinds.as_slice() {
        [
            Item::Number | Item::Numeral,
            Item::Operator(sign @ ("+" | "-")),
            Item::Number | Item::Numeral,
            Item::After("/100"),
        ] => Share::Of(sign),
        kinds if kinds.len() > 3 && kinds[1..].windows(3).any(added) => Share::Unclear,
        _ => Share::None,
    }
}

type Placed = (Item, usize, usize);

fn items(text: &str, tokens: &[Token<'_>]) -> Vec<Placed> {
    let mut items = Vec::new();
    let mut masks = tokens
        .iter()
        .filter(|token| matches!(token.kind, Kind::Url | Kind::Path | Kind::Moment))
        .peekable();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next().filter(|_| at < HEAD) {
        while masks.next_if(|mask| mask.end <= at).is_some() {}
        if let Some(mask) = masks.peek().filter(|mask| mask.start <= at) {
            items.push((Item::Other, at, mask.end));
            at = mask.end;
            continue;
        }
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let (item, length) = item(&text[at..], c);
        items.push((item, at, at + length));
        at += length;
    }
    items
}

fn item(rest: &str, c: char) -> (Item, usize) {
    let said = SAID.iter().filter(|(said, _)| {
        let whole = |tail: &str| {
            !said.ends_with(|c: char| c.is_ascii_alphabetic())
                || !tail.starts_with(|c: char| c.is_ascii_alphanumeric())
        };
        rest.get(..said.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(said))
            && whole(&rest[said.len()..])
    });
    if let Some((said, item)) = said.max_by_key(|(said, _)| said.len()) {
        return (*item, said.len());
    }
    let narrowed = narrow(c);
    if narrowed.is_ascii_digit() {
        return digits(rest);
    }
    let numeral = chinese_numeral(rest);
    if numeral > 0 {
        return (Item::Numeral, numeral);
    }
    if c.is_ascii_alphabetic() {
        let length = rest
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(rest.len());
        let word = &rest[..length];
        let function = FUNCTIONS
            .iter()
            .find(|name| word.eq_ignore_ascii_case(name));
        let item = match function {
            Some(name) => Item::Function(name),
            // "6 x 7" and "6x7".
            None if word
                .strip_prefix(['x', 'X'])
                .is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit())) =>
            {
                return (Item::Operator("*"), 1);
            }
            None => Item::Other,
        };
        return (item, length);
    }
    let item = match narrowed {
        '+' => Item::Operator("+"),
        '-' => Item::Operator("-"),
        '*' => Item::Operator("*"),
        '/' => Item::Operator("/"),
        '^' => Item::Operator("^"),
        // Before a number it is what is left over, otherwise a hundredth.
        '%' if rest[c.len_utf8()..]
            .trim_start()
            .starts_with(|c: char| c.is_ascii_digit() || c == '(') =>
        {
            Item::Operator("%")
        }
        '%' => Item::After("/100"),
        '(' => Item::Open,
        ')' => Item::Close,
        _ => Item::Other,
    };
    (item, c.len_utf8())
}

fn digits(rest: &str) -> (Item, usize) {
    let length = number_length(rest);
    let tail = &rest[length..];
    let times = tail
        .strip_prefix(['x', 'X'])
        .is_some_and(|tail| tail.starts_with(|c: char| c.is_ascii_digit()));
    let goes_on = tail
        .strip_prefix('.')
        .is_some_and(|tail| tail.starts_with(|c: char| c.is_ascii_digit()));
    // "3rd", "b42" and "1.2.3" are names, not numbers.
    if goes_on || (tail.starts_with(|c: char| c.is_ascii_alphabetic()) && !times) {
        let end = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '.'))
            .unwrap_or(rest.len());
        return (Item::Other, end.max(length).max(1));
    }
    (Item::Number, length)
}

/// Where the sum that begins at an item ends; none if there is none or nothing is done in it.
fn sum_from(items: &[Placed], from: usize) -> Option<usize> {
    let (mut depth, mut operations, mut operands) = (0_usize, 0, 0);
    let mut wants_operand = true;
    let mut end = None;
    for (at, (item, ..)) in items.iter().enumerate().skip(from).take(LONGEST) {
        match item {
            Item::Number | Item::Numeral | Item::Constant(_) if wants_operand => {
                wants_operand = false;
                operands += 1;
            }
            Item::Function(_) if wants_operand => operations += 1,
            Item::Open if wants_operand => depth += 1,
            // A sign, which is no operation yet.
            Item::Operator("-" | "+") if wants_operand => {}
            Item::Of if !wants_operand && is_percentage(&items[at + 1..]) => {
                wants_operand = true;
                operations += 1;
            }
            Item::Operator(_) if !wants_operand => {
                wants_operand = true;
                operations += 1;
            }
            Item::After(sign) if !wants_operand => {
                operations += 1;
                wants_operand = sign.ends_with('*');
            }
            Item::Close if !wants_operand && depth > 0 => depth -= 1,
            Item::Number
            | Item::Numeral
            | Item::Constant(_)
            | Item::Function(_)
            | Item::Of
            | Item::Open
            | Item::Operator(_)
            | Item::After(_)
            | Item::Close
            | Item::Other => break,
        }
        if depth == 0 && !wants_operand && operations > 0 && operands > 0 {
            end = Some(at + 1);
        }
    }
    end
}

fn is_percentage(items: &[Placed]) -> bool {
    matches!(
        items,
        [
            (Item::Number | Item::Numeral, ..),
            (Item::After("/100"), ..),
            ..
        ]
    )
}

fn written(text: &str, items: &[Placed]) -> String {
    let mut expression = String::new();
    let mut pending = 0;
    let mut glued = false;
    let mut last_end = items.first().map_or(0, |(_, start, _)| *start);
    for (item, start, end) in items {
        if *start > last_end && !std::mem::take(&mut glued) {
            expression.push(' ');
        }
        last_end = *end;
        match item {
            Item::Number => {
                let plain = text[*start..*end].chars().map(narrow);
                expression.extend(plain.filter(|c| *c != ','));
            }
            Item::Numeral => {
                let number = chinese_number(&text[*start..*end]).unwrap_or_default();
                expression.push_str(&number.to_string());
            }
            Item::Of => expression.push('*'),
            Item::Constant(sign) | Item::Operator(sign) => expression.push_str(sign),
            Item::After(sign) => {
                expression.truncate(expression.trim_end().len());
                expression.push_str(sign);
                glued = sign.ends_with('*');
            }
            Item::Function(name) => {
                expression.push_str(name);
                // "square root of 16" has no brackets of its own.
                if !text[*end..].trim_start().starts_with(['(', '（']) {
                    expression.push('(');
                    pending += 1;
                }
                continue;
            }
            Item::Open => expression.push('('),
            Item::Close => expression.push(')'),
            Item::Other => {}
        }
        if matches!(item, Item::Number | Item::Numeral | Item::Constant(_)) {
            expression.extend(std::iter::repeat_n(')', std::mem::take(&mut pending)));
        }
    }
    expression.replace("( ", "(")
}

#[cfg(test)]
mod tests {
    use super::super::token::tokens;
    use super::*;

    #[test]
    fn a_sum_is_found_and_written_plainly() {
        #[track_caller]
        fn check(text: &str, expected: &str) {
            let found = find(text, &tokens(text)).map(|sum| sum.expression);
            assert_eq!(found.as_deref().unwrap_or("-"), expected, "{text}");
        }
        check("6*7", "6*7");
        check("what is (17+4)*23?", "(17+4)*23");
        check("计算 (17+4)*23", "(17+4)*23");
        check("计算（17＋4）×２３", "(17+4)*23");
        check("3 加 4", "3 + 4");
        check("3加4等于几", "3+4");
        check("6 x 7, please", "6 * 7");
        check("6x7", "6*7");
        check("100 ÷ 8", "100 / 8");
        check("12 plus 30 minus 2", "12 + 30 - 2");
        check("how much is 12.5 % of 80", "12.5/100*80");
        check("17 % 5", "17 % 5");
        check("square root of 16", "sqrt(16)");
        check("sqrt(16) + 2^3", "sqrt(16) + 2^3");
        check("2 to the power of 8", "2 ^ 8");
        check("-3 + 4", "-3 + 4");
        check("what's 1,000 * 3", "1000 * 3");
        check("what is 1,250 + 300", "1250 + 300");
        check("1，250 + 1,000,000.5", "1250 + 1000000.5");
        check("12,34 + 5", "-");
        check("3 * 1,00", "-");
        check("你好，3+4", "3+4");
        check("100的15%是多少", "100*15/100");
        check("100减去15%", "100*(1-15/100)");
        check("100 minus 15 percent", "100*(1-15/100)");
        check("80 + 10%", "80*(1+10/100)");
        check("5 + 80 - 10%", "-");
        check("我的3个", "-");
        check("三加五等于多少", "3+5");
        check("一百二十减二十", "120-20");
        check("十的平方", "10^2");
        check("周三加五个人", "-");
        check("Call 555-1234", "-");
        check("the 24/7 store", "-");
        check("on 11/15 we meet", "-");
        check("9/11 history", "-");
        check("我打算 9/11 去", "-");
        check("帮我算 9-3", "9-3");
        check("100/8", "100/8");
        check("what is 100/8?", "100/8");
        check("please calculate 10-3 for me", "10-3");
        check("10-3=", "10-3");
        check("100/8 是多少", "100/8");
        check("5", "-");
        check("on 2026-05-01 at 10:30", "-");
        check("a/b.txt and https://x.org/1-2", "-");
        check("version 1.2.3 of b42", "-");
        check("the end - or not", "-");
        check("((((", "-");
    }
}
