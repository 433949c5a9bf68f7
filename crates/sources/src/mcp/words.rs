//! What is said about a server that cannot be used, to those who wanted to.

use tenon_domain::{ErrorKind, ToolError};

use super::state::Closed;
use super::text;

/// What comes before the words of a server itself. They are put together and
/// taken apart here and nowhere else.
const LAST_WORDS: &str = " Its last words:";
const SAID: &str = " It said:";

/// A sentence, and what the server wrote to its log last.
pub(super) fn with_last_words(sentence: &str, words: &str) -> String {
    format!("{sentence}{LAST_WORDS} {words}")
}

/// A sentence, and what the server answered.
pub(super) fn with_said(sentence: &str, said: &str) -> String {
    format!("{sentence}{SAID} {said}")
}

/// What everybody may know of why a server cannot be used. What it wrote is for
/// those who may read its log.
pub fn public_part(why: &str) -> &str {
    let quotes = [LAST_WORDS, SAID].into_iter();
    let first = quotes.filter_map(|quote| why.find(quote)).min();
    first.map_or(why, |at| &why[..at])
}

/// What there was between a call and its server.
pub(super) struct Words<'a> {
    /// The server's title.
    pub(super) title: &'a str,
}

impl Words<'_> {
    pub(super) fn closed(&self, closed: &Closed) -> ToolError {
        match closed {
            Closed::Failed(why) => self.failed(why),
            Closed::LogIn => self.log_in(),
            Closed::Off => self.off(),
        }
    }

    fn failed(&self, why: &str) -> ToolError {
        unavailable(format!(
            "{} cannot be used now: {} Do without it, or tell the user that its log and a button \
             to restart it are under Settings → Tool servers.",
            self.title,
            sentence(public_part(why))
        ))
    }

    fn log_in(&self) -> ToolError {
        unavailable(format!(
            "{} asks for a log-in. The user has to log in there under Settings → Tool servers; until \
             then do without it.",
            self.title
        ))
    }

    fn off(&self) -> ToolError {
        unavailable(format!(
            "{} has been switched off or removed. Do without it.",
            self.title
        ))
    }

    pub(super) fn still_starting(&self) -> ToolError {
        unavailable(format!(
            "{} is still starting, and the time of this call is up. Nothing was done; try again \
             in a minute.",
            self.title
        ))
    }

    pub(super) fn broken(&self, tool: &str, why: &str) -> ToolError {
        unavailable(format!(
            "{} stopped while `{}` was running; whether it took effect is not known. {} Check \
             before repeating the call.",
            self.title,
            text::line(tool, 80),
            sentence(public_part(why))
        ))
    }
}

/// With a capital and a full stop.
fn sentence(text: &str) -> String {
    let text = text.trim();
    let mut chars = text.chars();
    let mut sentence: String = match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => return "Nothing is known about why.".into(),
    };
    if !sentence.ends_with(['.', '!', '?', '…']) {
        sentence.push('.');
    }
    sentence
}

fn unavailable(message: String) -> ToolError {
    ToolError::new(ErrorKind::Unavailable, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_wrote_is_not_for_everybody() {
        let check = |why: &str, public: &str| assert_eq!(public_part(why), public);
        check("It did not list its tools.", "It did not list its tools.");
        check(&with_last_words("`a` ended.", "key sk-1"), "`a` ended.");
        check("`a` ended. Its last words: x It said: y", "`a` ended.");
        let both = with_last_words(&with_said("HTTP 500.", "a."), "b");
        assert_eq!(both, "HTTP 500. It said: a. Its last words: b");
        check(&both, "HTTP 500.");
        check("", "");

        let words = Words { title: "Test" };
        let why = with_last_words("`a` ended.", "key sk-1");
        let failed = words.closed(&Closed::Failed(why.clone()));
        for error in [failed, words.broken("echo", &why)] {
            assert!(error.message.contains("`a` ended. "), "{error}");
            assert!(!error.message.contains("sk-1"), "{error}");
        }
    }

    #[test]
    fn a_reason_becomes_a_sentence() {
        assert_eq!(sentence("it ended"), "It ended.");
        assert_eq!(sentence("Why?"), "Why?");
        assert_eq!(sentence(""), "Nothing is known about why.");
    }
}
