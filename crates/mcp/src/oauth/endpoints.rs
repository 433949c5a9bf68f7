//! The addresses an authorization server names, checked before they are used.

use url::Url;

use super::discovery::ServerMetadata;
use super::error::{AddressFlaw, LoginError, UntrustedLogin, quote};
use super::http::OAuthHttp;

/// The length that browsers and servers commonly accept in a URL.
const MAX_URL_BYTES: usize = 2000;

#[derive(Debug)]
pub(super) struct OAuthEndpoints {
    pub(super) authorization: Url,
    pub(super) token: Url,
    pub(super) registration: Option<Url>,
    pub(super) revocation: Option<Url>,
}

impl OAuthEndpoints {
    /// All of them, before anything is sent to any.
    pub(super) fn check(
        http: &OAuthHttp,
        server: &Url,
        metadata: &ServerMetadata,
    ) -> Result<Self, LoginError> {
        let check = |text: &String| check_url(http, server, text);
        Ok(Self {
            authorization: check(&metadata.authorization_endpoint)?,
            token: check(&metadata.token_endpoint)?,
            registration: metadata
                .registration_endpoint
                .as_ref()
                .map(check)
                .transpose()?,
            revocation: metadata
                .revocation_endpoint
                .as_ref()
                .map(check)
                .transpose()?,
        })
    }
}

/// On the web, where requests are allowed, and https if the server itself is.
fn check_url(http: &OAuthHttp, server: &Url, text: &str) -> Result<Url, LoginError> {
    let refuse = |flaw: AddressFlaw| {
        let address = quote(text);
        LoginError::Untrusted(UntrustedLogin::NamedAddress { flaw, address })
    };
    if text.len() > MAX_URL_BYTES {
        return Err(refuse(AddressFlaw::TooLong));
    }
    let url = Url::parse(text).map_err(|_| refuse(AddressFlaw::Invalid))?;
    if server.scheme() == "https" && url.scheme() != "https" {
        return Err(refuse(AddressFlaw::NotHttps));
    }
    http.check(&url)
        .map_err(|why| LoginError::Untrusted(UntrustedLogin::NamedAddressRefused(why)))?;
    if !http.is_allowed_by(server, &url) {
        return Err(refuse(AddressFlaw::Local));
    }
    Ok(url)
}
