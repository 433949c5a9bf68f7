//! The client that fetches what people and models point at on the web.

use std::sync::OnceLock;

use reqwest::Client;
use reqwest::redirect::{Action, Attempt, Policy};
use url::Url;

use crate::address::{Network, UrlError, check_url, parse_url};
use crate::client;

const MAX_REDIRECTS: usize = 5;

/// Follows redirects, as far as each leads where its network allows.
#[derive(Debug)]
pub struct WebClient {
    network: Network,
    /// Made at the first request: making it reads certificates and may fail.
    client: OnceLock<Client>,
}

impl WebClient {
    pub fn new(network: Network) -> Self {
        Self {
            network,
            client: OnceLock::new(),
        }
    }

    /// An address that may be fetched.
    pub fn parse_url(&self, text: &str) -> Result<Url, UrlError> {
        parse_url(text, self.network)
    }

    pub fn get(&self) -> Result<&Client, reqwest::Error> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let network = self.network;
        let policy = Policy::custom(move |attempt| follow(attempt, network));
        let client = client(network).redirect(policy).build()?;
        Ok(self.client.get_or_init(|| client))
    }
}

/// Where a redirect leads is not asked about, even if the conversation does not know the address:
/// it is the choice of the server that was asked, which can pass on only what it was sent, and
/// that was an address the user or a result had named. It must lead where `network` allows.
fn follow(attempt: Attempt<'_>, network: Network) -> Action {
    if attempt.previous().len() > MAX_REDIRECTS {
        return attempt.error(UrlError::TooManyRedirects(MAX_REDIRECTS));
    }
    match check_url(attempt.url(), network) {
        Ok(()) => attempt.follow(),
        Err(refusal) => attempt.error(refusal),
    }
}
