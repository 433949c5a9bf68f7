//! One request, and what came back, as far as it was wanted.

use std::error::Error as StdError;
use std::io;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, StatusCode};
use tenon_domain::{ErrorKind, ToolError};
use url::Url;

use super::address::{self, Reach, Refusal};

/// More than any page; enough for most files a model can do something with.
pub(super) const MAX_BODY: usize = 5 * 1024 * 1024;

const MAX_REDIRECTS: usize = 5;

/// What a server answered with.
#[derive(Debug)]
pub(super) struct Fetched {
    /// After all redirects.
    pub(super) url: Url,
    pub(super) redirected: bool,
    pub(super) status: StatusCode,
    /// As the server wrote it; empty if it said nothing.
    pub(super) content_type: String,
    pub(super) body: Vec<u8>,
    /// The body went on after `MAX_BODY`.
    pub(super) cut: bool,
}

pub(super) fn client(reach: Reach) -> Result<Client, reqwest::Error> {
    let builder = Client::builder()
        .user_agent(concat!("Tenon/", env!("CARGO_PKG_VERSION")))
        .referer(false)
        .redirect(Policy::custom(move |attempt| follow(attempt, reach)))
        .dns_resolver(Arc::new(Resolver { reach }));
    match reach {
        // A proxy would resolve names itself, out of sight of the resolver above.
        Reach::PublicOnly => builder.no_proxy().build(),
        Reach::Everything => builder.build(),
    }
}

pub(super) async fn fetch(client: &Client, url: Url) -> Result<Fetched, ToolError> {
    let mut response = client
        .get(url.clone())
        .send()
        .await
        .map_err(|error| explain(&error, &url))?;
    let content_type = response
        .headers()
        .get(CONTENT_TYPE)
        .map(HeaderValue::as_bytes)
        .unwrap_or_default();
    let mut fetched = Fetched {
        redirected: *response.url() != url,
        url: response.url().clone(),
        status: response.status(),
        content_type: String::from_utf8_lossy(content_type).into_owned(),
        body: Vec::new(),
        cut: false,
    };
    while let Some(chunk) = response
        .chunk()
        .await
        .map_err(|error| explain(&error, &url))?
    {
        let room = MAX_BODY - fetched.body.len();
        fetched
            .body
            .extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            fetched.cut = true;
            break;
        }
    }
    Ok(fetched)
}

fn follow(attempt: Attempt<'_>, reach: Reach) -> reqwest::redirect::Action {
    if attempt.previous().len() > MAX_REDIRECTS {
        return attempt.error(Refusal::TooManyRedirects(MAX_REDIRECTS));
    }
    match address::check(attempt.url(), reach) {
        Ok(()) => attempt.follow(),
        Err(refusal) => attempt.error(refusal),
    }
}

/// Resolves names and forgets the addresses that may not be reached. The
/// connection is made to what is returned here, so a name cannot change its
/// mind between the check and the request.
struct Resolver {
    reach: Reach,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let reach = self.reach;
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let unknown = || Refusal::UnknownHost(host.clone());
            let found: Vec<_> = tokio::net::lookup_host((host.as_str(), 0))
                .await
                .map_err(|_| unknown())?
                .collect();
            if found.is_empty() {
                return Err(unknown().into());
            }
            let allowed = permitted(found, reach);
            if allowed.is_empty() {
                return Err(Refusal::Private(host).into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

fn permitted(found: Vec<std::net::SocketAddr>, reach: Reach) -> Vec<std::net::SocketAddr> {
    match reach {
        Reach::Everything => found,
        Reach::PublicOnly => found
            .into_iter()
            .filter(|found| address::is_public(found.ip()))
            .collect(),
    }
}

/// The one sentence of a chain of causes that a model can use.
fn explain(error: &reqwest::Error, url: &Url) -> ToolError {
    let host = url.host_str().unwrap_or_default();
    let causes = || std::iter::successors(Some(error as &dyn StdError), |cause| (*cause).source());
    if let Some(refusal) = causes().find_map(|cause| cause.downcast_ref::<Refusal>()) {
        return refusal.clone().into();
    }
    if error.is_timeout() {
        return ToolError::new(
            ErrorKind::TimedOut,
            format!("{host} did not answer in time."),
        );
    }
    let io = causes()
        .find_map(|cause| cause.downcast_ref::<io::Error>())
        .map(innermost);
    match io.map(|io| (io.kind(), io)) {
        Some((io::ErrorKind::ConnectionRefused, _)) => ToolError::failed(format!(
            "{host} refuses connections at port {}.",
            url.port_or_known_default().unwrap_or_default()
        )),
        Some((io::ErrorKind::InvalidData, io)) if error.is_connect() => ToolError::failed(format!(
            "No secure connection to {host} could be made: {io}."
        )),
        Some((_, io)) => ToolError::failed(format!("The connection to {host} failed: {io}.")),
        None => {
            let last = causes().last().map(ToString::to_string).unwrap_or_default();
            ToolError::failed(format!("{host} gave no usable answer: {last}."))
        }
    }
}

/// An error of TLS comes as an IO error inside another.
fn innermost(error: &io::Error) -> &io::Error {
    let inner = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<io::Error>());
    inner.map_or(error, innermost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_only_its_public_addresses() {
        let found: Vec<std::net::SocketAddr> =
            ["127.0.0.1:0", "8.8.8.8:0", "[::1]:0", "[fd00::1]:0"]
                .map(|address| address.parse().unwrap())
                .into();
        assert_eq!(
            permitted(found.clone(), Reach::PublicOnly),
            ["8.8.8.8:0".parse().unwrap()]
        );
        assert_eq!(permitted(found.clone(), Reach::Everything), found);
    }

    #[tokio::test]
    async fn a_name_that_only_leads_inside_is_refused_when_it_is_resolved() {
        // Past the check of the URL, as a name under somebody else's control would be.
        let resolver = Resolver {
            reach: Reach::PublicOnly,
        };
        let Err(error) = resolver.resolve("localhost".parse().unwrap()).await else {
            panic!("localhost must not be resolved");
        };
        assert_eq!(
            error.downcast_ref(),
            Some(&Refusal::Private("localhost".into()))
        );
    }
}
