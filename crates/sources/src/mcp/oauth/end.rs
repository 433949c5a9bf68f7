//! Coming back from a log-in: a code becomes a grant.

use serde::{Deserialize, Serialize};
use url::Url;

use super::grant::{Client, Grant};
use super::http::Http;
use super::scopes;
use super::token::Desk;
use super::trouble::{Trouble, said};

/// What has to be known when somebody comes back. Good for one return, and secret.
#[derive(Serialize, Deserialize)]
pub struct Away {
    pub(super) verifier: String,
    pub(super) redirect: String,
    pub(super) resource: String,
    /// Who sends them back, as far as that was said beforehand.
    pub(super) issuer: Option<String>,
    /// It said that it will name itself.
    pub(super) must_name_issuer: bool,
    pub(super) client: Client,
    pub(super) token_endpoint: Url,
    pub(super) revocation_endpoint: Option<Url>,
    pub(super) scopes: Vec<String>,
}

/// What a browser brought back.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Return {
    pub state: String,
    pub code: Option<String>,
    pub iss: Option<String>,
    pub error: Option<String>,
    pub error_description: Option<String>,
}

/// Takes the code to where tokens are given out.
pub async fn end(http: &Http, away: Away, returned: Return) -> Result<Grant, Trouble> {
    // Before anything it says is believed, even that it refuses.
    away.check_issuer(returned.iss.as_deref())?;
    if let Some(error) = &returned.error {
        let why = returned.error_description.as_deref().unwrap_or_default();
        return Err(Trouble::Refused(said(&format!("{error} {why}"))));
    }
    let code = returned.code.filter(|code| !code.is_empty());
    let code = code.ok_or(Trouble::Expired)?;
    let desk = Desk {
        http,
        endpoint: &away.token_endpoint,
        client: &away.client,
    };
    let given = desk
        .ask(&[
            ("grant_type", "authorization_code"),
            ("code", &code),
            ("redirect_uri", &away.redirect),
            ("code_verifier", &away.verifier),
            ("resource", &away.resource),
        ])
        .await?;
    Ok(Grant {
        scopes: scopes::granted(given.scopes.as_deref(), &away.scopes),
        tokens: Some(given.tokens),
        client: away.client,
        token_endpoint: away.token_endpoint,
        revocation_endpoint: away.revocation_endpoint,
        resource: away.resource,
    })
}

impl Away {
    /// Whether the one who sends them back is the one they were sent to (RFC
    /// 9207): a code must not be taken to somebody else.
    fn check_issuer(&self, named: Option<&str>) -> Result<(), Trouble> {
        let is_right = match (named, &self.issuer) {
            (Some(named), Some(expected)) => named == expected,
            (Some(_), None) => false,
            (None, _) => !self.must_name_issuer,
        };
        match is_right {
            true => Ok(()),
            false => Err(Trouble::Untrusted(
                "The answer does not come from where the log-in was begun.".into(),
            )),
        }
    }
}

impl std::fmt::Debug for Away {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Away").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Return {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Return").finish_non_exhaustive()
    }
}
