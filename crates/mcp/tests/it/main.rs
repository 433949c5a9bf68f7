//! Log-ins, against an authorization server in this process; and the server half, as clients that
//! nobody here wrote see it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "../../../../tests/peers/authority.rs"]
mod authority;

#[path = "../../../../tests/peers/peer.rs"]
#[expect(dead_code, reason = "shared with tests that start other peers")]
mod peer;

// What is served: the same as in the program that other tests start.
#[path = "../../examples/fixture/service.rs"]
mod service;
#[path = "../../examples/fixture/tools.rs"]
mod tools;

mod clients;
mod conformance;
mod http_client;
mod oauth;
mod server;
