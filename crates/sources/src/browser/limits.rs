//! How much of browsers is taken in.

/// Devices of one user.
pub(super) const MAX_DEVICES: usize = 50;

/// Local servers of one browser.
pub(super) const MAX_SERVERS: usize = 64;

/// The tools of one server.
pub(super) const MAX_TOOLS_BYTES: usize = 8 * 1024 * 1024;
