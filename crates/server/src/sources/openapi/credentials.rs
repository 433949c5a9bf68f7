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

pub(super) fn check_credentials(credentials: &BTreeMap<String, Credential>) -> Result<(), Refusal> {
    if credentials.len() > MAX_CREDENTIALS {
        return Err(wrong("There are too many `credentials`."));
    }
    for (name, credential) in credentials {
        if let Some(url) = credential.token_url() {
            check::url("credentials", url, "https://example.com/token")?;
        }
        let is_odd = |text: &&String| text.len() > 16 * 1024 || text.contains(char::is_control);
        if name.is_empty() || name.len() > 200 || credential.texts().iter().any(is_odd) {
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
        let old = old.get(&name);
        let meant = match (credential, old) {
            // What is new is not taken to where the old server had it taken to.
            (Some(credential), _) if moves => completed(credential, None),
            (Some(credential), old) => completed(credential, old),
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
/// and so does not say it again. What is empty is meant to be what the document says.
fn completed(given: Credential, old: Option<&Credential>) -> Credential {
    let Credential::Client {
        id,
        secret,
        token_url,
        scopes,
    } = given
    else {
        return given;
    };
    let (old_url, old_scopes) = match old {
        Some(Credential::Client {
            token_url, scopes, ..
        }) => (token_url.clone(), scopes.clone()),
        Some(Credential::Key { .. } | Credential::Basic { .. }) | None => (None, None),
    };
    let is_said = |text: &String| !text.trim().is_empty();
    Credential::Client {
        id,
        secret,
        token_url: token_url.or(old_url).filter(is_said),
        scopes: scopes.or(old_scopes).filter(is_said),
    }
}
