//! How far whoever wrote a configuration is trusted.

/// Whether whoever wrote it may use what is not theirs alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// An admin's: everybody's secrets, and the environment.
    Full,
    /// Only what is the user's own. Everybody's secrets would go to a server they chose.
    Own,
}
