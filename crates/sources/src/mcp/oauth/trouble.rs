//! What can go wrong with a log-in, in sentences for the person who tries it.

use crate::text::line;

/// As much of what a stranger says as is repeated.
const MAX_SAID: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    #[error("The server has not asked for a log-in, or does not say where. Check its address.")]
    NoLogin,
    #[error("{0} Try again in a moment.")]
    Unreachable(String),
    #[error(
        "The server cannot be logged in at by itself: {0} Have Tenon registered there, and add the client id it gets to the server's settings."
    )]
    NotRegistered(String),
    #[error("{0} Nothing was sent there.")]
    Untrusted(String),
    #[error("The log-in was refused there: {0}")]
    Refused(String),
    /// What was granted is not good any more.
    #[error("The log-in there has ended ({0}). Log in again.")]
    Ended(String),
    #[error("This log-in was not begun here, is too old, or was used already. Begin it again.")]
    Expired,
    #[error("What the log-in gave cannot be kept: {0}")]
    Storage(String),
}

impl Trouble {
    /// Whether it may be over by itself in a while.
    pub(super) fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Storage(_) => true,
            Self::NoLogin
            | Self::NotRegistered(_)
            | Self::Untrusted(_)
            | Self::Refused(_)
            | Self::Ended(_)
            | Self::Expired => false,
        }
    }
}

/// What a stranger said, in one short line.
pub(super) fn said(text: &str) -> String {
    line(text, MAX_SAID)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stranger_says_one_short_line() {
        let check = |text: &str, expected: &str| assert_eq!(said(text), expected);
        check("access_denied", "access_denied");
        check("no\nline\u{1b}[31m", "no line[31m");
        check("  spaces \t and tabs ", "spaces and tabs");
        check(&"x".repeat(5000), &format!("{}…", "x".repeat(MAX_SAID)));
    }
}
