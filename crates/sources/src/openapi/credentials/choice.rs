//! Which of the sets that an operation names is met, and by what.

use std::collections::BTreeMap;

use reqwest::header::{AUTHORIZATION, HeaderMap};
use tenon_domain::Credential;

use super::describe;
use crate::openapi::operation::{Need, Operation, Place, Scheme, SchemeKind};

#[derive(Debug, Default)]
pub(super) struct Choice<'a> {
    pub(super) means: Vec<Means<'a>>,
    /// What is missing where no set is met, of the first one.
    pub(super) lacking: Vec<String>,
}

/// What meets one need.
pub(super) enum Means<'a> {
    /// A header that is sent anyway.
    Header,
    Key {
        place: Place,
        name: &'a str,
        value: &'a str,
    },
    Bearer(&'a str),
    Basic {
        user: &'a str,
        password: &'a str,
    },
    Client {
        scheme: &'a str,
        id: &'a str,
        secret: &'a str,
        token_url: TokenUrl<'a>,
        /// With spaces between them; may be empty.
        scopes: String,
    },
}

/// Where tokens are given out, and who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenUrl<'a> {
    Document(&'a str),
    Person(&'a str),
}

pub(super) fn choose<'a>(
    operation: &'a Operation,
    schemes: &'a [Scheme],
    held: &'a BTreeMap<String, Credential>,
    headers: &HeaderMap,
) -> Choice<'a> {
    let met = |set: &'a Vec<Need>| {
        let means = set
            .iter()
            .map(|need| meet(need, schemes, held, headers))
            .collect::<Option<Vec<_>>>()?;
        Some(Choice {
            means,
            lacking: Vec::new(),
        })
    };
    // An empty set means that nobody has to say who they are: whoever can does so all the same.
    let (open, asking): (Vec<_>, Vec<_>) =
        operation.security.iter().partition(|set| set.is_empty());
    if let Some(choice) = asking.iter().find_map(|set| met(set)) {
        return choice;
    }
    let missing = |need: &&Need| meet(need, schemes, held, headers).is_none();
    let name = |need: &Need| match schemes.iter().find(|scheme| scheme.name == need.scheme) {
        Some(scheme) => describe(scheme),
        None => format!("`{}`", need.scheme),
    };
    let lacking = match (open.is_empty(), asking.first()) {
        (true, Some(set)) => set.iter().filter(missing).map(name).collect(),
        _ => Vec::new(),
    };
    Choice {
        means: Vec::new(),
        lacking,
    }
}

fn meet<'a>(
    need: &'a Need,
    schemes: &'a [Scheme],
    held: &'a BTreeMap<String, Credential>,
    headers: &HeaderMap,
) -> Option<Means<'a>> {
    let scheme = schemes.iter().find(|scheme| scheme.name == need.scheme)?;
    let stored = held.get(&need.scheme);
    let by_credential = stored.and_then(|credential| suit(need, scheme, credential));
    by_credential.or_else(|| {
        let is_sent = match &scheme.kind {
            SchemeKind::Key { place, name } => {
                *place == Place::Header && headers.contains_key(name.as_str())
            }
            SchemeKind::Bearer
            | SchemeKind::Basic
            | SchemeKind::Client { .. }
            | SchemeKind::Other(_) => headers.contains_key(AUTHORIZATION),
        };
        is_sent.then_some(Means::Header)
    })
}

/// What a credential is for a scheme; some are stored for one they do not fit.
fn suit<'a>(need: &'a Need, scheme: &'a Scheme, credential: &'a Credential) -> Option<Means<'a>> {
    match (&scheme.kind, credential) {
        (SchemeKind::Key { place, name }, Credential::Key { value }) => Some(Means::Key {
            place: *place,
            name,
            value,
        }),
        // Somebody has got a token where people log in, or elsewhere.
        (
            SchemeKind::Bearer | SchemeKind::Client { .. } | SchemeKind::Other(_),
            Credential::Key { value },
        ) => Some(Means::Bearer(value)),
        (SchemeKind::Basic, Credential::Basic { user, password }) => {
            Some(Means::Basic { user, password })
        }
        (
            kind @ (SchemeKind::Client { .. } | SchemeKind::Bearer | SchemeKind::Other(_)),
            Credential::Client {
                id,
                secret,
                token_url,
                scopes,
            },
        ) => {
            let token_url = match (token_url, kind) {
                (Some(url), _) => TokenUrl::Person(url),
                (None, SchemeKind::Client { token_url, .. }) => TokenUrl::Document(token_url),
                (None, _) => return None,
            };
            Some(Means::Client {
                scheme: &scheme.name,
                id,
                secret,
                token_url,
                scopes: scopes.clone().unwrap_or_else(|| need.scopes.join(" ")),
            })
        }
        (SchemeKind::Key { .. }, Credential::Basic { .. } | Credential::Client { .. })
        | (SchemeKind::Basic, Credential::Key { .. } | Credential::Client { .. })
        | (
            SchemeKind::Bearer | SchemeKind::Client { .. } | SchemeKind::Other(_),
            Credential::Basic { .. },
        ) => None,
    }
}

impl Means<'_> {
    /// Whether it is worth another try with a new one.
    pub(super) fn may_end(&self) -> bool {
        matches!(self, Self::Client { .. })
    }
}

impl std::fmt::Debug for Means<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Header => "Header",
            Self::Key { .. } => "Key",
            Self::Bearer(_) => "Bearer",
            Self::Basic { .. } => "Basic",
            Self::Client { .. } => "Client",
        })
    }
}
