//! A line as it would be typed into a shell, taken apart into its words.
//!
//! Quotes and backslashes mean what they mean to a POSIX shell. Nothing is expanded and
//! nothing is run: `$`, `*`, `|` and `#` are characters like others.

use std::iter::Peekable;
use std::str::Chars;

/// A quote or a backslash at the end of a line, which waits for more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnclosedQuote;

pub(super) fn split(line: &str) -> Result<Vec<String>, UnclosedQuote> {
    let mut words = Vec::new();
    // None between words: `''` is a word too.
    let mut word: Option<String> = None;
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            c if c.is_ascii_whitespace() => words.extend(word.take()),
            '\'' => single_quoted(&mut rest, word.get_or_insert_default())?,
            '"' => double_quoted(&mut rest, word.get_or_insert_default())?,
            '\\' => match rest.next().ok_or(UnclosedQuote)? {
                // The line goes on below.
                '\n' => {}
                c => word.get_or_insert_default().push(c),
            },
            '$' if rest.peek() == Some(&'{') => {
                let word = word.get_or_insert_default();
                word.push('$');
                variable(&mut rest, word);
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

fn single_quoted(rest: &mut Peekable<Chars<'_>>, word: &mut String) -> Result<(), UnclosedQuote> {
    loop {
        match rest.next().ok_or(UnclosedQuote)? {
            '\'' => return Ok(()),
            c => word.push(c),
        }
    }
}

fn double_quoted(rest: &mut Peekable<Chars<'_>>, word: &mut String) -> Result<(), UnclosedQuote> {
    loop {
        match rest.next().ok_or(UnclosedQuote)? {
            '"' => return Ok(()),
            '\\' => match rest.next().ok_or(UnclosedQuote)? {
                '\n' => {}
                c @ ('"' | '\\' | '$' | '`') => word.push(c),
                c => word.extend(['\\', c]),
            },
            c => word.push(c),
        }
    }
}

/// The otherwise of a `${NAME:-otherwise}` may have spaces in it.
fn variable(rest: &mut Peekable<Chars<'_>>, word: &mut String) {
    let is_closed = rest.clone().any(|c| c == '}');
    while is_closed && let Some(c) = rest.next() {
        word.push(c);
        if c == '}' {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_line_is_taken_apart_as_a_shell_does() {
        let check = |line: &str, expected: &[&str]| {
            let words = split(line).unwrap();
            assert_eq!(words, expected, "{line}");
            // The judge: what a shell makes of it.
            let script = format!("for word in {line}; do printf '%s\\0' \"$word\"; done");
            let output = Command::new("sh").args(["-fc", &script]).output().unwrap();
            let told = String::from_utf8(output.stdout).unwrap();
            let told: Vec<&str> = told.split_terminator('\0').collect();
            assert_eq!(told, expected, "{line} in a shell");
        };
        check("one", &["one"]);
        check(
            "-y some-server --dir 'a b'",
            &["-y", "some-server", "--dir", "a b"],
        );
        check("  a \t b  ", &["a", "b"]);
        check("a '' \"\" b", &["a", "", "", "b"]);
        check(r#"--x="a b"c'd e'"#, &["--x=a bcd e"]);
        check(r"a\ b \'c\' \\", &["a b", "'c'", r"\"]);
        check(r#""a \" \\ \$ \b" '\n \'"#, &[r#"a " \ $ \b"#, r"\n \"]);
        check("a\\\nb \"c\\\nd\"", &["ab", "cd"]);
        check("ä 日本 a#b", &["ä", "日本", "a#b"]);
        check("--glob=* a~", &["--glob=*", "a~"]);
    }

    #[test]
    fn nothing_is_expanded_or_left_out() {
        let check = |line: &str, expected: &[&str]| {
            assert_eq!(split(line).unwrap(), expected, "{line}");
        };
        check("", &[]);
        check("\n", &[]);
        check(
            "$HOME `id` $(id) * ~ #general a|b && c",
            &[
                "$HOME", "`id`", "$(id)", "*", "~", "#general", "a|b", "&&", "c",
            ],
        );
        check("a\nb", &["a", "b"]);
        check(
            "${KEY} x${NO:-a b}y ${z",
            &["${KEY}", "x${NO:-a b}y", "${z"],
        );
        check(
            "\"${NO:-a b}\" '$${x}' $${x}",
            &["${NO:-a b}", "$${x}", "$${x}"],
        );
    }

    #[test]
    fn what_is_not_finished_is_no_line() {
        for line in ["'", "a 'b", "\"a", "\"a\\", "a\\", "it's"] {
            assert_eq!(split(line), Err(UnclosedQuote), "{line}");
        }
    }
}
