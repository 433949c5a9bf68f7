//! What satisfies the security schemes of a document, as somebody gives it and sees it again.

use std::collections::BTreeMap;

use tenon_domain::Credential;

use crate::api::wire::CredentialKind;
use crate::sources::check;
use crate::sources::edit::{Refusal, wrong};

const MAX_CREDENTIALS: usize = 50;

/// How credentials are shown: by what they are.
pub(in crate::sources) fn kinds(
    credentials: &BTreeMap<String, Credential>,
) -> BTreeMap<String, CredentialKind> {
    let kind = |credential: &Credential| match credential {
        Credential::Key { .. } => CredentialKind::Key,
        Credential::Basic { .. } => CredentialKind::Basic,
        Credential::Client { .. } => CredentialKind::Client,
    };
    let all = credentials.iter();
    all.map(|(name, credential)| (name.clone(), kind(credential)))
        .collect()
}

/// Everything a credential is shown with, but not where.
pub(in crate::sources) fn texts(credential: &Credential) -> Vec<&String> {
    match credential {
        Credential::Key { value } => vec![value],
        Credential::Basic { user, password } => vec![user, password],
        Credential::Client {
            id,
            secret,
            token_url: _,
            scopes,
        } => [id, secret].into_iter().chain(scopes).collect(),
    }
}

pub(super) fn check_credentials(credentials: &BTreeMap<String, Credential>) -> Result<(), Refusal> {
    if credentials.len() > MAX_CREDENTIALS {
        return Err(wrong("There are too many `credentials`."));
    }
    for (name, credential) in credentials {
        if let Credential::Client {
            token_url: Some(url),
            ..
        } = credential
        {
            check::url("credentials", url, "https://example.com/token")?;
        }
        let is_odd = |text: &&String| text.len() > 16 * 1024 || text.contains(char::is_control);
        if name.is_empty() || name.len() > 200 || texts(credential).iter().any(is_odd) {
            return Err(wrong(
                "`credentials` are named as the document's security schemes, and are one line each.",
            ));
        }
    }
    Ok(())
}

/// The credentials that are meant, with what is kept of the old ones.
pub(super) fn revealed(
    given: BTreeMap<String, Option<Credential>>,
    old: &BTreeMap<String, Credential>,
    moves: bool,
) -> Result<BTreeMap<String, Credential>, Refusal> {
    let meant = given.into_iter().map(|(name, credential)| {
        let meant = match (credential, old.get(&name)) {
            // What is new is not taken to where the old server had it taken to.
            (Some(credential), _) if moves => credential,
            (Some(credential), Some(old)) => completed(credential, old),
            (Some(credential), None) => credential,
            (None, Some(old)) => old.clone(),
            (None, None) => {
                return Err(wrong(&format!(
                    "Nothing is kept in `credentials` under `{name}`. Write it out."
                )));
            }
        };
        Ok((name, meant))
    });
    meant.collect()
}

/// Who replaces the secret of a client is not shown where it gets its tokens and what for,
/// and so does not say it again.
fn completed(given: Credential, old: &Credential) -> Credential {
    match (given, old) {
        (
            Credential::Client {
                id,
                secret,
                token_url,
                scopes,
            },
            Credential::Client {
                token_url: old_url,
                scopes: old_scopes,
                ..
            },
        ) => Credential::Client {
            id,
            secret,
            token_url: token_url.or_else(|| old_url.clone()),
            scopes: scopes.or_else(|| old_scopes.clone()),
        },
        (given, _) => given,
    }
}
