//! The HTTP client that every other one is built from.

use std::sync::Arc;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};

use crate::address::Network;
use crate::resolver::Resolver;

pub const USER_AGENT: &str = concat!("Tenon/", env!("CARGO_PKG_VERSION"));

/// A client that connects only where `network` allows. It follows no redirect: whoever
/// wants that sets a policy that checks each of them.
pub fn client(network: Network) -> ClientBuilder {
    let builder = Client::builder()
        .user_agent(USER_AGENT)
        .referer(false)
        .redirect(Policy::none())
        .dns_resolver(Arc::new(Resolver { network }));
    match network {
        // A proxy would resolve names itself, out of sight of the resolver above.
        Network::PublicOnly => builder.no_proxy(),
        Network::Anywhere => builder,
    }
}
