//! OAuth 2 as MCP servers, OpenAPI servers and OpenID Connect use it: PKCE, requests of any
//! grant to a token endpoint, its responses, and one refresh for all who wait for it.
//!
//! It sends nothing itself: [`TokenRequest::encode`] gives what to post and
//! [`TokenResponse::parse`] reads what came back, so that each user keeps its own HTTP
//! client with its own limits.

mod pkce;
mod single_flight;
mod token_request;
mod token_response;

pub use pkce::{NoRandomness, Pkce, random_token};
pub use single_flight::SingleFlight;
pub use token_request::{ClientAuth, EncodedRequest, OAuthClient, TokenRequest};
pub use token_response::{TokenError, TokenResponse};
