//! Timeouts of a server, and how often it is polled.

use std::time::Duration;

/// Each of these ends a wait, so that nothing waits for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerTimeouts {
    /// For connecting to a server at an address.
    pub start: Duration,
    /// For starting a program: `npx` and `uvx` may have to install it first, and
    /// one that is ended meanwhile leaves half of it behind. A server may say otherwise.
    pub launch: Duration,
    /// For the list of tools.
    pub list: Duration,
    /// How long one that is being started keeps its start slot from others. Shorter than
    /// `launch`: a few that hang must not hold up all the rest.
    pub start_slot: Duration,
    /// How long after a failed start of a program a call may ask for another one.
    pub retry: Duration,
    /// How often one that does not tell of changes is asked for its tools: while somebody has
    /// a page open, and otherwise.
    pub watched_poll: Duration,
    pub poll: Duration,
    /// Uptime after which earlier failures are forgotten.
    pub steady: Duration,
    /// For ending it, until the process and its children are gone.
    pub end: Duration,
}

impl Default for ServerTimeouts {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(60),
            list: Duration::from_secs(30),
            launch: Duration::from_secs(5 * 60),
            start_slot: Duration::from_secs(30),
            retry: Duration::from_secs(10),
            watched_poll: Duration::from_secs(30),
            poll: Duration::from_secs(5 * 60),
            steady: Duration::from_secs(30),
            end: Duration::from_secs(15),
        }
    }
}
