//! How far the author of a configuration is trusted.

/// Whether a configuration may use shared resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// An admin's: everybody's secrets, and the environment.
    Full,
    /// Only the user's own secrets: shared ones would go to a server that the user chose.
    Own,
}
