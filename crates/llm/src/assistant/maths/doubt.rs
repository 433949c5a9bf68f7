//! Whether what looks like a sum is one.

use super::super::token::{chinese_numeral, narrow};
use super::{HEAD, Item, Placed};

/// Whether what was taken is cut out of something longer: a name, or digits set apart some other way.
pub(super) fn is_part(text: &str, start: usize, end: usize) -> bool {
    let mut before = text[..start].chars().rev();
    let mut after = text[end..].chars();
    let digit = |c: Option<char>| c.is_some_and(|c| narrow(c).is_ascii_digit());
    let touches = |c: Option<char>, next: Option<char>| {
        digit(c) || (c.is_some_and(|c| ",，.".contains(c)) && digit(next))
    };
    // 周三, 第三: a day and a place in a row, no number.
    let counts = chinese_numeral(&text[start..end]) > 0
        && text[..start].ends_with(['第', '周', '週', '期', '拜']);
    counts || touches(before.next(), before.next()) || touches(after.next(), after.next())
}

/// Whether it might as well be a date, a score or a telephone number: 11/15, 555-1234.
pub(super) fn is_bare(text: &str, items: &[Placed]) -> bool {
    items.iter().all(|(item, start, end)| match item {
        Item::Number => !text[*start..*end].contains('.'),
        Item::Operator(_) => matches!(&text[*start..*end], "-" | "/" | "–"),
        Item::Numeral
        | Item::Constant(_)
        | Item::Function(_)
        | Item::After(_)
        | Item::Of
        | Item::Open
        | Item::Close
        | Item::Other => false,
    })
}

/// Whether a sum is asked for: by a word, or by standing there alone.
pub(super) fn is_asked(text: &str, start: usize, end: usize) -> bool {
    const ANYWHERE: [&str; 11] = [
        "calculat",
        "comput",
        "evaluat",
        "solve",
        "work out",
        "计算",
        "計算",
        "算一下",
        "算算",
        "帮我算",
        "幫我算",
    ];
    const BEFORE: [&str; 11] = [
        "what is",
        "what's",
        "whats",
        "what’s",
        "how much is",
        "result of",
        "value of",
        "answer to",
        "equals",
        "=",
        "请问",
    ];
    const AFTER: [&str; 8] = [
        "=",
        "＝",
        "equals",
        "是多少",
        "等于",
        "等於",
        "得多少",
        "是几",
    ];
    const POLITE: [&str; 6] = ["please", "and", "then", "thanks", "请", "請"];
    let before = text[text.ceil_char_boundary(start.saturating_sub(HEAD))..start].to_lowercase();
    let after = text[end..text.floor_char_boundary(end.saturating_add(HEAD))].to_lowercase();
    let silent = |text: &str| {
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        words.all(|word| word.is_empty() || POLITE.contains(&word))
    };
    let (before, after) = (
        before.trim_end_matches([' ', ':', '：']),
        after.trim_start(),
    );
    (silent(before) && silent(after))
        || ANYWHERE.iter().any(|word| before.contains(word))
        || before.ends_with('算') && !before.ends_with("打算")
        || BEFORE.iter().any(|words| before.ends_with(words))
        || AFTER.iter().any(|words| after.starts_with(words))
}
