//! Log-ins, against an authorization server in this process.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "../../../../tests/peers/authority.rs"]
mod authority;

mod http_client;
mod oauth;
