//! Which origins get which credentials.
//!
//! What a person stored is for the origins they entered: the URL of the document and the
//! base URL, or the server of a document that they uploaded. These get everything.
//!
//! A document may name other origins, as one at `docs.example.com` does whose
//! server is `api.example.com`. Credentials were stored for the document's own
//! schemes, so they are sent there as well, but over https only or to a host
//! that was entered; configured headers are not.
//!
//! All this holds only for documents that came from an entered origin. Where a redirect
//! or a link led to a document of another origin, whatever that one names gets nothing,
//! unless its origin was entered.

use tenon_domain::{OpenapiConfig, OpenapiOrigin};
use url::Url;

use super::CredentialContext;

/// Which credentials are sent to an origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OriginTrust {
    /// Everything.
    Entered,
    /// Only the credentials for schemes of the document.
    Named,
    /// Nothing.
    Untrusted,
}

#[derive(Debug)]
pub(super) struct TrustedOrigins {
    entered: Vec<Url>,
    /// Whether the document is the word of an entered site, or of a person.
    is_from_entered_origin: bool,
}

impl TrustedOrigins {
    /// A base URL only says where requests go. It does not make the target of a redirect trusted:
    /// only the origin of the document is.
    pub(super) fn new(config: &OpenapiConfig, document: &CredentialContext<'_>) -> Self {
        let read = |text: &str| Url::parse(text.trim()).ok();
        let base_url = config.base_url.as_deref().and_then(read);
        match &config.origin {
            OpenapiOrigin::Uploaded { .. } => Self {
                entered: vec![base_url.unwrap_or_else(|| document.base.clone())],
                is_from_entered_origin: true,
            },
            OpenapiOrigin::Url { url } => {
                let entered: Vec<Url> = read(url).into_iter().chain(base_url).collect();
                let is_entered = |url: &Url| entered.iter().any(|entered| is_same(entered, url));
                Self {
                    is_from_entered_origin: document.found_at.is_some_and(is_entered),
                    entered,
                }
            }
        }
    }

    /// Called for every request, so it avoids copies.
    pub(super) fn of(&self, url: &Url) -> OriginTrust {
        if self.entered.iter().any(|entered| is_same(entered, url)) {
            return OriginTrust::Entered;
        }
        let is_near = |entered: &Url| entered.scheme() == "http" && entered.host() == url.host();
        let is_safe = url.scheme() == "https" || self.entered.iter().any(is_near);
        if self.is_from_entered_origin && is_safe {
            OriginTrust::Named
        } else {
            OriginTrust::Untrusted
        }
    }

    /// "https://api.example.com"
    pub(super) fn shown(&self) -> String {
        let origins = self.entered.iter().map(|url| url.origin());
        let mut shown: Vec<String> = origins.map(|one| one.ascii_serialization()).collect();
        shown.dedup();
        shown.join(" and ")
    }
}

/// The same origin; or the same host behind TLS, where it was entered without.
fn is_same(entered: &Url, url: &Url) -> bool {
    let place = |url: &Url| (url.scheme() == "https", url.port_or_known_default());
    let is_there = match (place(entered), place(url)) {
        ((false, Some(80)), (true, Some(443))) => true,
        (entered, url) => entered == url,
    };
    is_there && entered.host() == url.host()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests go to the base URL, if there is one.
    fn origins(origin: OpenapiOrigin, base_url: Option<&str>, place: &str) -> TrustedOrigins {
        let is_uploaded = matches!(origin, OpenapiOrigin::Uploaded { .. });
        let config = OpenapiConfig {
            base_url: base_url.map(str::to_owned),
            ..OpenapiConfig::new(origin)
        };
        let place = Url::parse(place).unwrap();
        let base = base_url.map_or_else(|| place.clone(), |url| Url::parse(url).unwrap());
        let document = CredentialContext {
            schemes: &[],
            found_at: (!is_uploaded).then_some(&place),
            base: &base,
        };
        TrustedOrigins::new(&config, &document)
    }

    fn at(url: &str, found: &str) -> TrustedOrigins {
        let url = url.to_owned();
        origins(OpenapiOrigin::Url { url }, None, found)
    }

    #[track_caller]
    fn check(origins: &TrustedOrigins, expected: &[(&str, OriginTrust)]) {
        for (url, trust) in expected {
            assert_eq!(origins.of(&Url::parse(url).unwrap()), *trust, "{url}");
        }
    }

    #[test]
    fn keys_go_where_they_were_entered_for() {
        use OriginTrust::{Entered, Named, Untrusted};
        let https = "https://a.example/openapi.json";
        let http = "http://a.example/openapi.json";
        check(
            &at(https, https),
            &[
                ("https://a.example:443/v1", Entered),
                ("https://a.example:8443/", Named),
                ("https://b.example/", Named),
                ("http://a.example/", Untrusted),
                ("http://b.example/", Untrusted),
            ],
        );
        check(
            &at(http, http),
            &[
                ("http://a.example/", Entered),
                ("https://a.example/", Entered),
                ("http://a.example:8080/", Named),
                ("https://a.example:8443/", Named),
                ("https://b.example/", Named),
                ("http://b.example/", Untrusted),
            ],
        );
        // It was led to another site.
        let there = "https://b.example/spec.json";
        check(
            &at(https, there),
            &[
                (there, Untrusted),
                ("https://c.example/", Untrusted),
                ("https://a.example/v1", Entered),
            ],
        );
        // Over to https is no other site.
        check(
            &at(http, https),
            &[(https, Entered), ("https://b.example/", Named)],
        );
        let url = || OpenapiOrigin::Url {
            url: https.to_owned(),
        };
        check(
            &origins(url(), Some(there), there),
            &[
                (there, Entered),
                (https, Entered),
                ("https://c.example/", Named),
            ],
        );
        // With a base URL as well, what was led to another site is that site's word.
        let api = "https://api.example/v1";
        check(
            &origins(url(), Some(api), there),
            &[
                (api, Entered),
                (https, Entered),
                (there, Untrusted),
                ("https://c.example/token", Untrusted),
                ("https://api.example:8443/", Untrusted),
            ],
        );
        check(
            &origins(url(), Some(https), there),
            &[(https, Entered), ("https://c.example/token", Untrusted)],
        );
        check(
            &origins(url(), Some(api), https),
            &[
                (api, Entered),
                (https, Entered),
                ("https://c.example/token", Named),
            ],
        );
        let given = || OpenapiOrigin::Uploaded {
            document_hash: String::new(),
        };
        check(
            &origins(given(), None, "http://a.example:8000/v1"),
            &[
                ("http://a.example:8000/", Entered),
                ("http://a.example:9000/", Named),
                ("https://b.example/", Named),
                ("http://b.example/", Untrusted),
            ],
        );
        check(
            &origins(given(), Some(api), "https://a.example/v1"),
            &[(api, Entered), ("https://a.example/", Named)],
        );
    }
}
