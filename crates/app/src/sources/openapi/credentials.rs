//! Credentials for the security schemes of a document: validation, merging, masking.

use std::collections::BTreeMap;

use tenon_domain::SourceCredential;

use crate::sources::check;
use crate::sources::error::SourceError;
use crate::sources::input_error::SourceInputError;
use crate::sources::read_model::CredentialKind;

const MAX_CREDENTIALS: usize = 50;

/// How credentials are shown: by what they are.
pub(in crate::sources) fn kinds(
    credentials: &BTreeMap<String, SourceCredential>,
) -> BTreeMap<String, CredentialKind> {
    let kind = |credential: &SourceCredential| match credential {
        SourceCredential::Key { .. } => CredentialKind::Key,
        SourceCredential::Basic { .. } => CredentialKind::Basic,
        SourceCredential::Client { .. } => CredentialKind::Client,
    };
    let all = credentials.iter();
    all.map(|(name, credential)| (name.clone(), kind(credential)))
        .collect()
}

pub(super) fn check_credentials(
    credentials: &BTreeMap<String, SourceCredential>,
) -> Result<(), SourceError> {
    if credentials.len() > MAX_CREDENTIALS {
        return Err(SourceInputError::TooManyCredentials.into());
    }
    for (name, credential) in credentials {
        if let Some(url) = credential.token_url() {
            check::url("credentials", url, "https://example.com/token")?;
        }
        let is_odd = |text: &&String| text.len() > 16 * 1024 || text.contains(char::is_control);
        if name.is_empty() || name.len() > 200 || credential.texts().iter().any(is_odd) {
            return Err(SourceInputError::Credentials.into());
        }
    }
    Ok(())
}

/// The credentials that are meant, with what is kept of the old ones.
pub(super) fn unmasked_credentials(
    given: BTreeMap<String, Option<SourceCredential>>,
    old: &BTreeMap<String, SourceCredential>,
    moves: bool,
) -> Result<BTreeMap<String, SourceCredential>, SourceError> {
    let meant = given.into_iter().map(|(name, credential)| {
        let old = old.get(&name);
        let meant = match (credential, old) {
            // After a move of the server, a new secret does not inherit the old token address.
            (Some(credential), _) if moves => completed(credential, None),
            (Some(credential), old) => completed(credential, old),
            (None, Some(old)) => old.clone(),
            (None, None) => {
                let name = name.into();
                return Err(SourceInputError::CredentialNotKept { name }.into());
            }
        };
        Ok((name, meant))
    });
    meant.collect()
}

/// Completes a credential whose client secret is replaced: token address and scopes are not shown
/// to the person who types it, so they are taken from the old one. Empty fields mean the values of
/// the document.
fn completed(given: SourceCredential, old: Option<&SourceCredential>) -> SourceCredential {
    let SourceCredential::Client {
        id,
        secret,
        token_url,
        scopes,
    } = given
    else {
        return given;
    };
    let (old_url, old_scopes) = match old {
        Some(SourceCredential::Client {
            token_url, scopes, ..
        }) => (token_url.clone(), scopes.clone()),
        Some(SourceCredential::Key { .. } | SourceCredential::Basic { .. }) | None => (None, None),
    };
    let is_said = |text: &String| !text.trim().is_empty();
    SourceCredential::Client {
        id,
        secret,
        token_url: token_url.or(old_url).filter(is_said),
        scopes: scopes.or(old_scopes).filter(is_said),
    }
}
