//! What a regular expression costs whoever checks with it.
//!
//! `\S{1,8192}` is short to write and takes a tenth of a second to prepare, for each
//! tool that has it. Such patterns are left out: what they say is mostly a length.

/// A few milliseconds.
pub(super) const MAX_COST: usize = 10_000;

const MAX_LENGTH: usize = 500;

/// Looking at a pattern at all.
const BASE: usize = 50;

/// A class of Unicode is a machine of its own.
const CLASS: usize = 20;

/// About how many states it takes; None if that is too many.
pub(super) fn cost(pattern: &str) -> Option<usize> {
    if pattern.len() > MAX_LENGTH {
        return None;
    }
    let mut chars = pattern.chars().peekable();
    // What each open group has so far, the pattern itself first.
    let mut open = vec![0_usize];
    // What a repetition would repeat.
    let mut last = 0_usize;
    while let Some(c) = chars.next() {
        let atom = match c {
            '\\' => match chars.next() {
                Some('d' | 'D' | 'w' | 'W' | 's' | 'S' | 'p' | 'P') => CLASS,
                _ => 1,
            },
            '.' => CLASS,
            '[' => {
                let mut cost = 2;
                let mut first = true;
                while let Some(c) = chars.next() {
                    match c {
                        '^' if first => cost = CLASS,
                        '\\' if chars.next().is_some_and(|c| "dDwWsSpP".contains(c)) => {
                            cost = CLASS
                        }
                        ']' if !first => break,
                        _ if !c.is_ascii() => cost = CLASS,
                        _ => {}
                    }
                    first = false;
                }
                cost
            }
            '(' => {
                open.push(0);
                last = 0;
                continue;
            }
            ')' => {
                last = if open.len() > 1 { open.pop()? } else { 0 };
                let around = open.last_mut()?;
                *around = around.saturating_add(last);
                continue;
            }
            '{' => {
                let inside: String = std::iter::from_fn(|| chars.next_if(|c| *c != '}')).collect();
                chars.next();
                let counts = inside
                    .split(',')
                    .filter_map(|count| count.trim().parse().ok());
                let most: usize = counts.max().unwrap_or(1);
                let more = last.saturating_mul(most.saturating_sub(1));
                let around = open.last_mut()?;
                *around = around.saturating_add(more);
                last = last.saturating_add(more);
                continue;
            }
            _ => 1,
        };
        last = atom;
        let around = open.last_mut()?;
        *around = around.saturating_add(atom);
    }
    let cost = open.into_iter().fold(BASE, usize::saturating_add);
    (cost <= MAX_COST).then_some(cost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_of_classes_are_dear() {
        let check = |pattern: &str, expected| assert_eq!(cost(pattern), expected, "{pattern}");
        check("", Some(50));
        check("abc", Some(53));
        check("^[a-z]{1,63}$", Some(50 + 2 + 2 * 63));
        check(r"\S{1,80}", Some(50 + 20 * 80));
        check(r"\S{1,8192}", None);
        check("(a{1,100}){1,100}", None);
        check("(ab){10}", Some(50 + 20));
        check("(((", Some(50));
        check("a)b)", Some(52));
        check("a{99999999999999999999}", Some(51));
        check("[^:]{1,100}", Some(50 + 20 * 100));
        check(&"a".repeat(600), None);
    }
}
