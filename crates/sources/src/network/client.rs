//! What every client of ours begins with.

use std::sync::Arc;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};

use super::Network;
use super::resolve::Resolver;

/// Reaches no address it should not. It follows no redirect: who wants that says
/// which, and checks each of them.
pub(crate) fn client(network: Network) -> ClientBuilder {
    let builder = Client::builder()
        .user_agent(concat!("Tenon/", env!("CARGO_PKG_VERSION")))
        .referer(false)
        .redirect(Policy::none())
        .dns_resolver(Arc::new(Resolver { network }));
    match network {
        // A proxy would resolve names itself, out of sight of the resolver above.
        Network::PublicOnly => builder.no_proxy(),
        Network::Anywhere => builder,
    }
}
