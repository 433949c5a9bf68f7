//! OAuth 2.1 as MCP wants it: log-ins of people at servers.
//!
//! [`start_login`] finds the authorization server, registers the client where that is
//! needed and gives the address to open. Whoever comes back from there brings a code to
//! [`finish_login`], which exchanges it for a [`Grant`]. From then on a [`TokenManager`]
//! gives out access tokens and refreshes them.
//!
//! Whatever a server says on the way is untrusted. Every request has a timeout and every
//! body a bound, no redirect leads to another origin, and an address in a document is
//! checked before it is used: see `endpoints` and `discovery`.

mod callback;
mod challenge;
mod discovery;
mod endpoints;
mod error;
mod grant;
mod http;
mod login;
mod registration;
mod scopes;
mod token_client;
mod token_manager;

pub use callback::{LoginCallback, PendingLogin, finish_login};
pub use error::{
    AddressFlaw, EndedLogin, HostFailure, LoginError, RefusedLogin, RegistrationRefusal,
    UnreachableLogin, UntrustedLogin,
};
pub use grant::{Grant, GrantStorage, GrantStorageError, TokenPair};
pub use http::OAuthHttp;
pub use login::{AuthorizationRedirect, LoginRequest, start_login};
pub use tenon_net::oauth::{ClientAuth, OAuthClient};
pub use token_manager::{GrantStatus, TokenManager};
