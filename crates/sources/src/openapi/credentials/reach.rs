//! Which sites are told who asks.
//!
//! What a person stored is for the sites they entered: the address of the
//! document and the base URL, or where a document that they gave says its server
//! is. These are shown everything.
//!
//! A document may name other sites, as one at `docs.example.com` does whose
//! server is `api.example.com`. Credentials were stored for the document's own
//! schemes, so they are shown there as well, but over https alone or at a host
//! that was entered; the configured headers were not, and are not.
//!
//! All this holds as long as the entered site speaks for itself. Where a redirect
//! or a link has led to another site's document, whatever that one names is
//! asked with nothing, unless it is a site that was entered.

use tenon_domain::{OpenapiConfig, OpenapiOrigin};
use url::Url;

/// What a site is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Everything.
    Entered,
    /// What is stored for the document's schemes.
    Named,
    /// Nothing.
    Stranger,
}

#[derive(Debug)]
pub(super) struct Reach {
    entered: Vec<Url>,
    /// Whether the document is the word of an entered site, or of a person.
    is_own_word: bool,
}

impl Reach {
    /// `base` is where the document was, or where its server is if it was given.
    pub(super) fn new(config: &OpenapiConfig, base: &Url) -> Self {
        let read = |text: &str| Url::parse(text.trim()).ok();
        let base_url = config.base_url.as_deref().and_then(read);
        match &config.origin {
            OpenapiOrigin::Given { .. } => Self {
                entered: vec![base_url.unwrap_or_else(|| base.clone())],
                is_own_word: true,
            },
            OpenapiOrigin::Url { url } => {
                let entered: Vec<Url> = read(url).into_iter().chain(base_url).collect();
                Self {
                    is_own_word: entered.iter().any(|entered| is_same(entered, base)),
                    entered,
                }
            }
        }
    }

    /// Looked up for every request, and so without copies of anything.
    pub(super) fn of(&self, url: &Url) -> Standing {
        if self.entered.iter().any(|entered| is_same(entered, url)) {
            return Standing::Entered;
        }
        let is_near = |entered: &Url| entered.scheme() == "http" && entered.host() == url.host();
        let is_safe = url.scheme() == "https" || self.entered.iter().any(is_near);
        match self.is_own_word && is_safe {
            true => Standing::Named,
            false => Standing::Stranger,
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
    use std::collections::BTreeMap;

    use super::*;

    fn reach(origin: OpenapiOrigin, base_url: Option<&str>, base: &str) -> Reach {
        let config = OpenapiConfig {
            origin,
            base_url: base_url.map(str::to_owned),
            headers: BTreeMap::new(),
            credentials: BTreeMap::new(),
            timeout_ms: None,
            tool_timeouts_ms: BTreeMap::new(),
        };
        Reach::new(&config, &Url::parse(base).unwrap())
    }

    fn at(url: &str, found: &str) -> Reach {
        let url = url.to_owned();
        reach(OpenapiOrigin::Url { url }, None, found)
    }

    #[track_caller]
    fn check(reach: &Reach, expected: &[(&str, Standing)]) {
        for (url, standing) in expected {
            assert_eq!(reach.of(&Url::parse(url).unwrap()), *standing, "{url}");
        }
    }

    #[test]
    fn keys_go_where_they_were_entered_for() {
        use Standing::{Entered, Named, Stranger};
        let https = "https://a.example/openapi.json";
        let http = "http://a.example/openapi.json";
        check(
            &at(https, https),
            &[
                ("https://a.example:443/v1", Entered),
                ("https://a.example:8443/", Named),
                ("https://b.example/", Named),
                ("http://a.example/", Stranger),
                ("http://b.example/", Stranger),
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
                ("http://b.example/", Stranger),
            ],
        );
        // It was led to another site.
        let there = "https://b.example/spec.json";
        check(
            &at(https, there),
            &[
                (there, Stranger),
                ("https://c.example/", Stranger),
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
            &reach(url(), Some(there), there),
            &[
                (there, Entered),
                (https, Entered),
                ("https://c.example/", Named),
            ],
        );
        let given = || OpenapiOrigin::Given {
            document_hash: String::new(),
        };
        check(
            &reach(given(), None, "http://a.example:8000/v1"),
            &[
                ("http://a.example:8000/", Entered),
                ("http://a.example:9000/", Named),
                ("https://b.example/", Named),
                ("http://b.example/", Stranger),
            ],
        );
    }
}
