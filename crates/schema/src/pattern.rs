//! Regular expressions in schemas: whether one is valid, and what it costs to compile.
//!
//! `\S{1,8192}` is short to write and takes a tenth of a second to compile, for each
//! schema that has it. Callers leave such patterns out: what they say is mostly a length.

use serde_json::json;

/// A few milliseconds of compilation.
const MAX_COST: usize = 10_000;

const MAX_COSTED_BYTES: usize = 500;

/// Of any pattern, however short.
const BASE_COST: usize = 50;

/// A Unicode class is an automaton of its own.
const CLASS_COST: usize = 20;

/// Whether this is a regular expression of ECMA-262, whatever engine it needs.
pub fn is_regex(pattern: &str) -> bool {
    let schema = json!({ "pattern": pattern });
    jsonschema::options().build(&schema).is_ok()
}

/// About how many states the compiled pattern has; None if that is too many.
pub fn cost(pattern: &str) -> Option<usize> {
    if pattern.len() > MAX_COSTED_BYTES {
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
                Some('d' | 'D' | 'w' | 'W' | 's' | 'S' | 'p' | 'P') => CLASS_COST,
                _ => 1,
            },
            '.' => CLASS_COST,
            '[' => {
                let mut cost = 2;
                let mut first = true;
                while let Some(c) = chars.next() {
                    match c {
                        '^' if first => cost = CLASS_COST,
                        '\\' if chars.next().is_some_and(|c| "dDwWsSpP".contains(c)) => {
                            cost = CLASS_COST
                        }
                        ']' if !first => break,
                        _ if !c.is_ascii() => cost = CLASS_COST,
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
    let cost = open.into_iter().fold(BASE_COST, usize::saturating_add);
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
