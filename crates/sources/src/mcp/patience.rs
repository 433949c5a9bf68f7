//! How long a server is waited for.

use std::time::Duration;

/// Each of these ends a wait, so that nothing waits for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// For the first words. `npx` and `uvx` may have to download a server first.
    pub start: Duration,
    /// For the list of tools.
    pub list: Duration,
    /// How long one that is being started keeps others from being started. Shorter than
    /// `start`: a few that hang must not hold up all the rest.
    pub turn: Duration,
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
            turn: Duration::from_secs(10),
            steady: Duration::from_secs(30),
            end: Duration::from_secs(15),
        }
    }
}
