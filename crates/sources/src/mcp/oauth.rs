//! Logging in at servers where everybody comes as themself (OAuth 2.1, as MCP wants it).
//!
//! Somebody is sent away with [`begin`] and comes back to [`end`] with a code,
//! which becomes a [`Grant`]. From then on a [`Pass`] answers with a token that
//! is good, and gets a new one when it is not.
//!
//! `rmcp` finds out where to log in, introduces us there and makes the address
//! to open. What it does afterwards is done here instead, for these reasons: it
//! keeps a whole manager alive while somebody is away and logs the code they
//! bring; it asks the server anew where to refresh, so that whoever holds the
//! server by then is sent the refresh token; of many who wait for a refresh each
//! makes one; it forgets the client's secret; and it revokes nothing.
//!
//! Whatever is heard on the way is a stranger's word. Every request has a
//! deadline and every answer a bound, no redirect leads anywhere, and an address
//! in an answer is checked before it is used: see [`endpoints`].

mod begin;
mod end;
mod endpoints;
mod grant;
mod http;
mod pass;
mod scopes;
mod token;
mod trouble;

pub use begin::{Asking, Departure, begin};
pub use end::{Away, Return, end};
pub use grant::{Client, Grant, Grants};
pub use http::Http;
pub use pass::{Pass, Standing};
pub use trouble::Trouble;
