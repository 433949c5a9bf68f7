//! Is a `pattern` a regular expression for everybody?
//!
//! Providers read patterns with engines that differ. What all of them
//! understand alike is kept; a pattern that only some do is better not sent, as
//! the model loses a hint and not the tool.

use std::iter::Peekable;
use std::str::Chars;

/// Longer ones are seldom read by a model and sometimes refused by a provider.
const MAX_PATTERN_CHARS: usize = 200;

/// What the stricter engines allow in `{…}`.
const MAX_REPETITION: u32 = 1000;

pub(super) fn is_plain(pattern: &str) -> bool {
    pattern.chars().nth(MAX_PATTERN_CHARS).is_none()
        && !pattern.chars().any(char::is_control)
        && reads(pattern).is_some()
}

/// Whether a plain pattern says all of a text, and says it without shorthands.
pub(super) fn is_anchored(pattern: &str) -> bool {
    let Some(inside) = pattern.strip_prefix('^').and_then(|p| p.strip_suffix('$')) else {
        return false;
    };
    let mut chars = inside.chars();
    while let Some(c) = chars.next() {
        let is_fine = match c {
            // Nothing follows when it was the last `$` that is escaped.
            '\\' => chars.next().is_some_and(|c| r"^$.[](){}|*+?\-".contains(c)),
            _ => true,
        };
        if !is_fine {
            return false;
        }
    }
    true
}

/// `Some` when the whole pattern was understood.
fn reads(pattern: &str) -> Option<()> {
    let mut chars = pattern.chars().peekable();
    let mut groups = 0_usize;
    // Whether something stands before that can be repeated.
    let mut repeatable = false;
    while let Some(c) = chars.next() {
        match c {
            '*' | '+' | '?' | '{' => {
                if !repeatable {
                    return None;
                }
                if c == '{' {
                    repetition(&mut chars)?;
                }
                chars.next_if_eq(&'?');
                repeatable = false;
            }
            '(' => {
                // `(?` begins lookaround, flags and names, each engine's own.
                if chars.peek() == Some(&'?') {
                    return None;
                }
                groups += 1;
                repeatable = false;
            }
            ')' => {
                groups = groups.checked_sub(1)?;
                repeatable = true;
            }
            '[' => {
                class(&mut chars)?;
                repeatable = true;
            }
            '\\' => {
                let escaped = escaped(&mut chars)?;
                repeatable = !matches!(escaped, 'b' | 'B');
            }
            ']' | '}' => return None,
            '|' | '^' | '$' => repeatable = false,
            _ => repeatable = true,
        }
    }
    (groups == 0).then_some(())
}

/// The rest of `{2}`, `{2,}` or `{2,4}`.
fn repetition(chars: &mut Peekable<Chars<'_>>) -> Option<()> {
    let mut inside = String::new();
    while let Some(c) = chars.next_if(|c| *c != '}') {
        inside.push(c);
    }
    chars.next()?;
    let number = |text: &str| -> Option<u32> {
        let is_number = text.bytes().all(|b| b.is_ascii_digit());
        let number = text.parse().ok().filter(|_| is_number)?;
        (number <= MAX_REPETITION).then_some(number)
    };
    let fits = match inside.split_once(',') {
        None => number(&inside).is_some(),
        Some((least, "")) => number(least).is_some(),
        Some((least, most)) => number(least)? <= number(most)?,
    };
    fits.then_some(())
}

/// The character after a `\`, if it means the same to everybody.
fn escaped(chars: &mut Peekable<Chars<'_>>) -> Option<char> {
    chars
        .next()
        .filter(|c| c.is_ascii_punctuation() || "dDwWsSbBnrtfv".contains(*c))
}

/// What stood last in a class, and so may begin a range.
enum ClassMember {
    Nothing,
    One(char),
    Many,
}

/// The rest of `[…]`.
fn class(chars: &mut Peekable<Chars<'_>>) -> Option<()> {
    chars.next_if_eq(&'^');
    // `[]` is empty to some and a bracket to others.
    if chars.peek() == Some(&']') {
        return None;
    }
    let mut last = ClassMember::Nothing;
    loop {
        let c = chars.next()?;
        let ends = matches!(chars.peek(), Some(']') | None);
        last = match (c, last) {
            (']', _) => return Some(()),
            ('-', ClassMember::One(from)) if !ends => {
                let next = chars.next()?;
                match member(next, chars)? {
                    ClassMember::One(to) if from <= to => ClassMember::Nothing,
                    ClassMember::One(_) | ClassMember::Many | ClassMember::Nothing => return None,
                }
            }
            ('-', ClassMember::Many) if !ends => return None,
            (c, _) => member(c, chars)?,
        };
    }
}

fn member(c: char, chars: &mut Peekable<Chars<'_>>) -> Option<ClassMember> {
    match c {
        // Some engines nest classes, so a bracket has to be escaped to be one.
        '[' => None,
        '\\' => match escaped(chars)? {
            'b' | 'B' => None,
            'd' | 'D' | 'w' | 'W' | 's' | 'S' => Some(ClassMember::Many),
            other => Some(ClassMember::One(other)),
        },
        other => Some(ClassMember::One(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, expected: bool) {
        assert_eq!(is_plain(pattern), expected, "{pattern}");
    }

    #[test]
    fn what_every_engine_understands_alike_is_plain() {
        check("", true);
        check("^[a-z0-9_-]{1,64}$", true);
        check(r"^\d{4}-\d{2}-\d{2}$", true);
        check(r"^(GET|POST)\s+/.*?$", true);
        check(r"^[^\]\\/]+\.(png|jpe?g)$", true);
        check(r"^[\w.-]+@[\w-]+$", true);
        check("^größe$", true);
        check(&"a".repeat(200), true);
    }

    #[test]
    fn an_anchored_pattern_needs_no_shorthands() {
        let check = |pattern: &str, expected: bool| {
            assert!(is_plain(pattern), "{pattern}");
            assert_eq!(is_anchored(pattern), expected, "{pattern}");
        };
        check("^[a-z0-9_-]{1,64}$", true);
        check(r"^v[0-9]+\.[0-9]+(\-rc)?$", true);
        check(r"^a\\$", true);
        check("^$", true);
        check("", false);
        check("a", false);
        check("^a", false);
        check("a$", false);
        check(r"^a\$", false);
        check(r"^\d+$", false);
        check(r"^[^\s]+$", false);
        check(r"^a\/b$", false);
    }

    #[test]
    fn what_only_some_understand_or_nobody_is_not() {
        check("(?=a)", false);
        check("(?i)a", false);
        check("(?P<n>a)", false);
        check(r"(a)\1", false);
        check(r"\p{L}", false);
        check(r"a\Z", false);
        check("(", false);
        check("a)", false);
        check("[a", false);
        check("[]a]", false);
        check("[z-a]", false);
        check(r"[\w-.]", false);
        check("[[:alpha:]]", false);
        check("*a", false);
        check("a**", false);
        check("a{2,1}", false);
        check("a{,3}", false);
        check("a{+3}", false);
        check("a{9999}", false);
        check("a{1", false);
        check("\\", false);
        check("a\0", false);
        check(&"a".repeat(201), false);
    }
}
