//! What is said about a server that cannot be used, to those who wanted to.

use tenon_domain::{ErrorKind, ToolError};

use super::text;

/// What comes before the words of a server itself: what it wrote to its log, what it answered.
const QUOTES: [&str; 2] = [" Its last words:", " It said:"];

/// What everybody may know of why a server cannot be used. What it wrote is for
/// those who may read its log.
pub fn public_part(why: &str) -> &str {
    let quotes = QUOTES.iter().filter_map(|quote| why.find(quote));
    quotes.min().map_or(why, |at| &why[..at])
}

/// What there was between a call and its server.
pub(super) struct Words<'a> {
    /// The server's title.
    pub(super) title: &'a str,
}

impl Words<'_> {
    pub(super) fn failed(&self, why: &str) -> ToolError {
        unavailable(format!(
            "{} cannot be used now: {} Do without it, or tell the user that its log and a button \
             to restart it are under Settings → Tools.",
            self.title,
            sentence(why)
        ))
    }

    pub(super) fn log_in(&self) -> ToolError {
        unavailable(format!(
            "{} asks for a log-in. The user has to log in there under Settings → Tools; until \
             then do without it.",
            self.title
        ))
    }

    pub(super) fn off(&self) -> ToolError {
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
            sentence(why)
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
        check("`a` ended. Its last words: key sk-1", "`a` ended.");
        check("HTTP 500. It said: a. Its last words: b", "HTTP 500.");
        check("`a` ended. Its last words: x It said: y", "`a` ended.");
        check("", "");
    }

    #[test]
    fn a_reason_becomes_a_sentence() {
        assert_eq!(sentence("it ended"), "It ended.");
        assert_eq!(sentence("Why?"), "Why?");
        assert_eq!(sentence(""), "Nothing is known about why.");
    }
}
