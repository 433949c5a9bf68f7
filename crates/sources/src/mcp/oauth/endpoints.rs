//! The addresses an authorisation server names, once they are found harmless.

use rmcp::transport::auth::AuthorizationMetadata;
use url::Url;

use super::http::Http;
use super::trouble::{Trouble, said};

/// More than any address needs.
const MAX_LENGTH: usize = 2000;

pub(super) struct Endpoints {
    pub(super) token: Url,
    pub(super) revocation: Option<Url>,
}

impl Endpoints {
    /// All of them have to be addresses that Tenon may ask or a browser may open.
    pub(super) fn check(
        http: &Http,
        server: &Url,
        metadata: &AuthorizationMetadata,
    ) -> Result<Self, Trouble> {
        let checked = |text: &str| checked(http, server, text);
        checked(&metadata.authorization_endpoint)?;
        let registration = metadata.registration_endpoint.as_deref();
        registration.map(checked).transpose()?;
        let revocation = metadata.additional_fields.get("revocation_endpoint");
        let revocation = revocation.and_then(|value| value.as_str());
        Ok(Self {
            token: checked(&metadata.token_endpoint)?,
            revocation: revocation.map(checked).transpose()?,
        })
    }
}

/// An address in an answer of a server: on the web, where this server may send
/// us, and not in the clear unless the server itself is.
pub(super) fn checked(http: &Http, server: &Url, text: &str) -> Result<Url, Trouble> {
    let refuse = |why: &str| {
        let address = said(text);
        Trouble::Untrusted(format!(
            "The server names an address that {why}: {address}."
        ))
    };
    if text.len() > MAX_LENGTH {
        return Err(refuse("is too long"));
    }
    let url = Url::parse(text).map_err(|_| refuse("is none"))?;
    if server.scheme() == "https" && url.scheme() != "https" {
        return Err(refuse("is not https, though it is itself"));
    }
    http.check(&url).map_err(|why| {
        Trouble::Untrusted(format!(
            "The server names an address that is refused. {why}"
        ))
    })?;
    Ok(url)
}
