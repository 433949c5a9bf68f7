//! OAuth 2 at a token endpoint: requests of any grant, responses, expiry, and one
//! refresh for all who wait for it.
//!
//! It sends nothing itself: [`TokenRequest::encode`] gives what to post and
//! [`TokenResponse::parse`] reads what came back, so that each user keeps its own HTTP
//! client with its own limits.

mod single_flight;
mod token_request;
mod token_response;

pub use single_flight::SingleFlight;
pub use token_request::{ClientAuth, EncodedRequest, OAuthClient, TokenRequest};
pub use token_response::{TokenError, TokenResponse};
