//! Why a program ended or does not answer, by what it wrote in its last run.
//!
//! What it wrote last is seldom why: runtimes and installers end with stacks, with
//! versions and with where their own logs are. The lines that name an error are
//! kept, with what follows them, and what usually helps is said beside them.

use std::collections::HashSet;

mod advice;

pub use advice::Advice;

/// Limit of lines shown at a glance; the log has the rest.
const MAX_LINES: usize = 6;
const MAX_LINE_CHARS: usize = 300;

/// How many lines after one with an error still belong to it.
const FOLLOWING_LINES: usize = 2;

/// The cause of a failed run, as shown to a person.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cause {
    /// The program's own words, oldest first.
    pub lines: Vec<String>,
    /// The usual remedy, if one is known.
    pub advice: Option<Advice>,
}

impl Cause {
    /// Reads the cause from the lines that a program wrote. Lines keep their indentation, which
    /// tells continuation lines apart.
    pub(crate) fn of(written: &[String]) -> Self {
        let telling = telling(written);
        let is_error = |words: &[&str]| {
            let is_error = |line: &&&str| contains_any(&line.to_lowercase(), words);
            telling.iter().any(|line| is_error(&line))
        };
        let words = if is_error(ERROR_WORDS) {
            ERROR_WORDS
        } else {
            COMPLAINT_WORDS
        };
        let mut lines: Vec<&str> = Vec::new();
        let mut following = 0;
        for line in &telling {
            let is_error = contains_any(&line.to_lowercase(), words);
            following = if is_error { FOLLOWING_LINES } else { following };
            if is_error || following > 0 {
                lines.push(line);
            }
            following = following.saturating_sub(usize::from(!is_error));
        }
        if lines.is_empty() {
            // No line names an error: the last lines are the best hint there is.
            lines = telling;
            lines.drain(..lines.len().saturating_sub(FOLLOWING_LINES));
        }
        let lines = without_repeats(&lines);
        let first = lines.len().saturating_sub(MAX_LINES);
        let shown = lines[first..].iter();
        Self {
            advice: Advice::of(written),
            lines: shown
                .map(|line| tenon_domain::text::line(line, MAX_LINE_CHARS))
                .collect(),
        }
    }
}

/// Words that name an error for sure.
const ERROR_WORDS: &[&str] = &[
    "error",
    "exception",
    "fatal",
    "panic",
    "cause:",
    "×",
    "usage:",
];

/// Words of programs that complain without calling it an error.
const COMPLAINT_WORDS: &[&str] = &[
    "already in use",
    "cannot",
    "can't",
    "could not",
    "couldn't",
    "denied",
    "does not exist",
    "expected",
    "failed",
    "failure",
    "invalid",
    "killed",
    "missing",
    "must ",
    "no module named",
    "no such",
    "not found",
    "not set",
    "please ",
    "refused",
    "required",
    "timed out",
    "unable to",
    "unauthorized",
    "unexpected",
    "unknown",
    "unsupported",
];

fn contains_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

/// The lines that may say why, without those that every error of a runtime comes with.
fn telling(written: &[String]) -> Vec<&str> {
    let mut is_noise: Vec<bool> = written.iter().map(|line| is_noise(line)).collect();
    let mut in_traceback = false;
    for (at, line) in written.iter().enumerate() {
        let is_indented = line.starts_with([' ', '\t']);
        // A Python traceback ends with the first line that is not indented: the exception.
        in_traceback =
            line.trim_start().starts_with("Traceback (most recent") || in_traceback && is_indented;
        is_noise[at] |= in_traceback;
        // A caret points at the line of source above it, and Node names the file above that.
        if is_caret(line) {
            for above in [at.checked_sub(1), at.checked_sub(2)].into_iter().flatten() {
                let is_source = above + 1 == at || ends_with_line_number(&written[above]);
                is_noise[above] |= is_source;
            }
        }
    }
    let lines = written.iter().zip(is_noise);
    let kept = lines.filter(|(_, is_noise)| !is_noise);
    kept.map(|(line, _)| line.trim()).collect()
}

fn is_noise(line: &str) -> bool {
    const BEGINNINGS: &[&str] = &[
        "File \"",
        "Node.js v",
        "node:",
        "throw ",
        "npm warn",
        "npm WARN",
        "npm notice",
        "npm error code",
        "npm error errno",
        "npm error syscall",
        "npm error 404 Note that",
        "npm error 404 tarball",
        "npm error A complete log",
        "Emitted 'error' event",
        "Require stack:",
        "During handling of the above exception",
        "The above exception was the direct cause",
        // The fields that Node shows of an error.
        "code: '",
        "errno: -",
        "syscall: '",
        "spawnargs: [",
        "path: '",
        "address: '",
        "port: ",
        "requireStack:",
    ];
    // Older ones of npm say "npm ERR!".
    let line = line.trim().replace("npm ERR!", "npm error");
    let line = line.as_str();
    let has_words = line.chars().any(char::is_alphanumeric);
    // Most lines of npm repeat its name and a number.
    let rest = line.strip_prefix("npm error").unwrap_or(line).trim();
    let is_bare = rest.is_empty() || rest == "404";
    // `at Object.<anonymous> (file.js:1:2)`
    let is_frame = line.starts_with("at ") && line.contains(':');
    !has_words || is_bare || is_frame || BEGINNINGS.iter().any(|begin| line.starts_with(begin))
}

fn is_caret(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && line.chars().all(|c| matches!(c, '^' | '~'))
}

/// `file.js:12`
fn ends_with_line_number(line: &str) -> bool {
    let number = line.trim().rsplit_once(':').map(|(_, number)| number);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// The last of those that differ in nothing but numbers: of attempts, of processes, of times.
fn without_repeats<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    let is_new = |line: &&&str| {
        let letters: String = line.chars().filter(|c| !c.is_ascii_digit()).collect();
        seen.insert(letters)
    };
    let mut kept: Vec<&str> = lines.iter().rev().filter(is_new).copied().collect();
    kept.reverse();
    kept
}

#[cfg(test)]
mod tests;
