//! How long a server is waited for, and how often it is looked at.

use std::time::Duration;

/// Each of these ends a wait, so that nothing waits for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For the first words of a server at an address.
    pub start: Duration,
    /// For those of a program that runs: `npx` and `uvx` may have to install it first, and
    /// one that is ended meanwhile leaves half of it behind. A server may say otherwise.
    pub launch: Duration,
    /// For the list of tools.
    pub list: Duration,
    /// How long one that is being started keeps others from being started. Shorter than
    /// `launch`: a few that hang must not hold up all the rest.
    pub turn: Duration,
    /// How long after a failed start of a program a call may ask for another one.
    pub retry: Duration,
    /// How often one that does not tell of changes is asked for its tools: while somebody has
    /// a page open, and otherwise.
    pub watched_poll: Duration,
    pub poll: Duration,
    /// One that ran this long has worked: what it did before is forgotten.
    pub steady: Duration,
    /// For saying goodbye, until the process and its children are gone.
    pub end: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(60),
            list: Duration::from_secs(30),
            launch: Duration::from_secs(5 * 60),
            turn: Duration::from_secs(30),
            retry: Duration::from_secs(10),
            watched_poll: Duration::from_secs(30),
            poll: Duration::from_secs(5 * 60),
            steady: Duration::from_secs(30),
            end: Duration::from_secs(15),
        }
    }
}
