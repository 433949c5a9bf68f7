//! A request to a token or revocation endpoint (RFC 6749, RFC 7009).

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde::{Deserialize, Serialize};
use url::form_urlencoded::{Serializer, byte_serialize};

/// The client as an authorization server knows it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OAuthClient {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    #[serde(default, rename = "secret_goes")]
    pub auth: ClientAuth,
}

/// How a client authenticates with its secret.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClientAuth {
    /// `client_secret_basic`: in the `Authorization` header.
    #[default]
    #[serde(rename = "inheader")]
    Basic,
    /// `client_secret_post`: in the form.
    #[serde(rename = "inbody")]
    Post,
}

/// A form and who posts it.
#[derive(Debug, Clone, Copy)]
pub struct TokenRequest<'a> {
    pub client: &'a OAuthClient,
    /// `grant_type` and what it needs.
    pub form: &'a [(&'a str, &'a str)],
}

/// What to post.
pub struct EncodedRequest {
    pub headers: HeaderMap,
    pub body: String,
}

impl OAuthClient {
    pub fn new(id: impl Into<String>, secret: Option<String>) -> Self {
        Self {
            id: id.into(),
            // Some servers answer with an empty one to clients that have none.
            secret: secret.filter(|secret| !secret.is_empty()),
            auth: ClientAuth::default(),
        }
    }
}

impl TokenRequest<'_> {
    /// None: the secret is too long for a header.
    pub fn encode(&self) -> Option<EncodedRequest> {
        let mut form = Serializer::new(String::new());
        form.extend_pairs(self.form);
        let mut headers = HeaderMap::new();
        // Some answer in other formats to those who do not say.
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(
            CONTENT_TYPE,
            HeaderValue::from_static("application/x-www-form-urlencoded"),
        );
        match (&self.client.secret, self.client.auth) {
            (Some(secret), ClientAuth::Basic) => {
                // RFC 6749, 2.3.1: both are form-encoded before they are joined.
                let pair = format!("{}:{}", encoded(&self.client.id), encoded(secret));
                let basic = format!("Basic {}", STANDARD.encode(pair));
                let mut basic = HeaderValue::try_from(basic).ok()?;
                basic.set_sensitive(true);
                headers.insert(AUTHORIZATION, basic);
            }
            (secret, _) => {
                form.append_pair("client_id", &self.client.id);
                if let Some(secret) = secret {
                    form.append_pair("client_secret", secret);
                }
            }
        }
        Some(EncodedRequest {
            headers,
            body: form.finish(),
        })
    }
}

fn encoded(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect()
}

impl fmt::Debug for OAuthClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OAuthClient").field(&self.id).finish()
    }
}

impl fmt::Debug for EncodedRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EncodedRequest").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_authenticates_as_it_is_wanted() {
        let form = &[("grant_type", "client_credentials")][..];
        let check = |client: &OAuthClient, body: &str, header: Option<&str>| {
            let encoded = TokenRequest { client, form }.encode().unwrap();
            assert_eq!(encoded.body, body);
            let found = encoded.headers.get(AUTHORIZATION);
            assert_eq!(found.map(|found| found.to_str().unwrap()), header);
        };
        let grant = "grant_type=client_credentials";
        let public = OAuthClient::new("a b", Some(String::new()));
        check(&public, &format!("{grant}&client_id=a+b"), None);
        let mut secret = OAuthClient::new("a", Some("s:1".into()));
        let basic = format!("Basic {}", STANDARD.encode("a:s%3A1"));
        check(&secret, grant, Some(&basic));
        secret.auth = ClientAuth::Post;
        let posted = format!("{grant}&client_id=a&client_secret=s%3A1");
        check(&secret, &posted, None);
    }
}
