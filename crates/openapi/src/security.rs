//! Which security schemes of an operation can be met, and with which credentials.
//!
//! An operation names alternative sets of schemes. The first set that can be met is chosen;
//! [`apply`] puts its credentials into the request.

pub mod apply;

use std::collections::BTreeMap;
use std::fmt;

use http::header::{AUTHORIZATION, HeaderMap};

use crate::operation::{
    Operation, ParameterLocation, SecurityRequirement, SecurityScheme, SecuritySchemeKind,
};

/// A stored credential for a security scheme.
#[derive(Clone, PartialEq, Eq)]
pub enum SchemeCredential {
    /// An API key, or a token.
    Key {
        value: String,
    },
    Basic {
        user: String,
        password: String,
    },
    /// For OAuth 2.0 client credentials.
    Client {
        id: String,
        secret: String,
        /// Instead of the one in the document.
        token_url: Option<String>,
        /// Instead of those the operation asks for; separated by spaces.
        scopes: Option<String>,
    },
}

/// How the security requirements of an operation are met.
#[derive(Debug, Default)]
pub struct SecurityChoice<'a> {
    pub credentials: Vec<RequestCredential<'a>>,
    /// Descriptions of the schemes of the first requirement, if no requirement can be met.
    pub missing: Vec<String>,
}

/// The credential that satisfies one requirement.
pub enum RequestCredential<'a> {
    /// A header that is sent with every request.
    Header,
    ApiKey {
        location: ParameterLocation,
        name: &'a str,
        value: &'a str,
    },
    Bearer(&'a str),
    Basic {
        user: &'a str,
        password: &'a str,
    },
    /// An access token has to be fetched first.
    Client {
        scheme: &'a str,
        id: &'a str,
        secret: &'a str,
        token_url: TokenUrl<'a>,
        /// Separated by spaces; may be empty.
        scopes: String,
    },
}

/// The token endpoint, and who named it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenUrl<'a> {
    Document(&'a str),
    Configured(&'a str),
}

/// Chooses credentials for an operation: by name of the scheme from `stored`, or `headers`
/// that are sent anyway.
pub fn choose<'a>(
    operation: &'a Operation,
    schemes: &'a [SecurityScheme],
    stored: &'a BTreeMap<String, SchemeCredential>,
    headers: &HeaderMap,
) -> SecurityChoice<'a> {
    let met = |set: &'a Vec<SecurityRequirement>| {
        let credentials = set
            .iter()
            .map(|requirement| match_requirement(requirement, schemes, stored, headers))
            .collect::<Option<Vec<_>>>()?;
        Some(SecurityChoice {
            credentials,
            missing: Vec::new(),
        })
    };
    // An empty set allows anonymous requests. Credentials are sent all the same, if there are any.
    let (anonymous, sets): (Vec<_>, Vec<_>) =
        operation.security.iter().partition(|set| set.is_empty());
    if let Some(choice) = sets.iter().find_map(|set| met(set)) {
        return choice;
    }
    let is_missing = |requirement: &&SecurityRequirement| {
        match_requirement(requirement, schemes, stored, headers).is_none()
    };
    let described = |requirement: &SecurityRequirement| {
        let mut schemes = schemes.iter();
        match schemes.find(|scheme| scheme.name == requirement.scheme) {
            Some(scheme) => describe(scheme),
            None => format!("`{}`", requirement.scheme),
        }
    };
    let missing = match (anonymous.is_empty(), sets.first()) {
        (true, Some(set)) => set.iter().filter(is_missing).map(described).collect(),
        _ => Vec::new(),
    };
    SecurityChoice {
        credentials: Vec::new(),
        missing,
    }
}

/// "`api_key` (an API key in the header X-Key)"
fn describe(scheme: &SecurityScheme) -> String {
    let what = match &scheme.kind {
        SecuritySchemeKind::ApiKey { location, name } => {
            let location = match location {
                ParameterLocation::Path => "path",
                ParameterLocation::Query => "query parameter",
                ParameterLocation::Header => "header",
                ParameterLocation::Cookie => "cookie",
            };
            format!("an API key in the {location} {name}")
        }
        SecuritySchemeKind::Bearer => "a bearer token".to_owned(),
        SecuritySchemeKind::Basic => "a user name and a password".to_owned(),
        SecuritySchemeKind::ClientCredentials { .. } => "a client id and its secret".to_owned(),
        SecuritySchemeKind::Other(what) => format!("{what}, for which a token may do"),
    };
    format!("`{}` ({what})", scheme.name)
}

fn match_requirement<'a>(
    requirement: &'a SecurityRequirement,
    schemes: &'a [SecurityScheme],
    stored: &'a BTreeMap<String, SchemeCredential>,
    headers: &HeaderMap,
) -> Option<RequestCredential<'a>> {
    let scheme = schemes
        .iter()
        .find(|scheme| scheme.name == requirement.scheme)?;
    let credential = stored.get(&requirement.scheme);
    let by_credential = credential.and_then(|credential| fit(requirement, scheme, credential));
    by_credential.or_else(|| {
        let is_sent = match &scheme.kind {
            SecuritySchemeKind::ApiKey { location, name } => {
                *location == ParameterLocation::Header && headers.contains_key(name.as_str())
            }
            SecuritySchemeKind::Bearer
            | SecuritySchemeKind::Basic
            | SecuritySchemeKind::ClientCredentials { .. }
            | SecuritySchemeKind::Other(_) => headers.contains_key(AUTHORIZATION),
        };
        is_sent.then_some(RequestCredential::Header)
    })
}

/// How a credential meets a scheme; some are stored for one they do not fit.
fn fit<'a>(
    requirement: &'a SecurityRequirement,
    scheme: &'a SecurityScheme,
    credential: &'a SchemeCredential,
) -> Option<RequestCredential<'a>> {
    match (&scheme.kind, credential) {
        (SecuritySchemeKind::ApiKey { location, name }, SchemeCredential::Key { value }) => {
            Some(RequestCredential::ApiKey {
                location: *location,
                name,
                value,
            })
        }
        // Somebody has got a token where people log in, or elsewhere.
        (
            SecuritySchemeKind::Bearer
            | SecuritySchemeKind::ClientCredentials { .. }
            | SecuritySchemeKind::Other(_),
            SchemeCredential::Key { value },
        ) => Some(RequestCredential::Bearer(value)),
        (SecuritySchemeKind::Basic, SchemeCredential::Basic { user, password }) => {
            Some(RequestCredential::Basic { user, password })
        }
        (
            kind @ (SecuritySchemeKind::ClientCredentials { .. }
            | SecuritySchemeKind::Bearer
            | SecuritySchemeKind::Other(_)),
            SchemeCredential::Client {
                id,
                secret,
                token_url,
                scopes,
            },
        ) => {
            let token_url = match (token_url, kind) {
                (Some(url), _) => TokenUrl::Configured(url),
                (None, SecuritySchemeKind::ClientCredentials { token_url, .. }) => {
                    TokenUrl::Document(token_url)
                }
                (None, _) => return None,
            };
            Some(RequestCredential::Client {
                scheme: &scheme.name,
                id,
                secret,
                token_url,
                scopes: scopes
                    .clone()
                    .unwrap_or_else(|| requirement.scopes.join(" ")),
            })
        }
        (
            SecuritySchemeKind::ApiKey { .. },
            SchemeCredential::Basic { .. } | SchemeCredential::Client { .. },
        )
        | (
            SecuritySchemeKind::Basic,
            SchemeCredential::Key { .. } | SchemeCredential::Client { .. },
        )
        | (
            SecuritySchemeKind::Bearer
            | SecuritySchemeKind::ClientCredentials { .. }
            | SecuritySchemeKind::Other(_),
            SchemeCredential::Basic { .. },
        ) => None,
    }
}

impl RequestCredential<'_> {
    /// Whether it is an access token, which may be worth a second try with a new one.
    pub fn may_expire(&self) -> bool {
        matches!(self, Self::Client { .. })
    }
}

impl fmt::Debug for RequestCredential<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Header => "Header",
            Self::ApiKey { .. } => "ApiKey",
            Self::Bearer(_) => "Bearer",
            Self::Basic { .. } => "Basic",
            Self::Client { .. } => "Client",
        })
    }
}

/// Secrets are not for logs.
impl fmt::Debug for SchemeCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Key { .. } => "Key",
            Self::Basic { .. } => "Basic",
            Self::Client { .. } => "Client",
        })
    }
}
