//! Asking for tokens, and giving them back.

use std::time::{SystemTime, UNIX_EPOCH};

use reqwest::StatusCode;
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use super::grant::{Client, SecretGoes, TokenPair};
use super::http::{Answer, Http};
use super::trouble::{Trouble, said};

/// A token goes into a header, and servers take no longer ones.
const MAX_LENGTH: usize = 16 * 1024;

/// A token is renewed so many seconds before it ends, for it is still on its way then.
const MARGIN: i64 = 30;

/// A year: what lasts longer is renewed no later.
const MAX_LIFE: i64 = 365 * 24 * 3600;

/// Whom to ask, as whom, and for what.
pub(super) struct Desk<'a> {
    pub(super) http: &'a Http,
    pub(super) endpoint: &'a Url,
    pub(super) client: &'a Client,
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Given {
    pub(super) tokens: TokenPair,
    /// As they were told, with spaces between them.
    pub(super) scopes: Option<String>,
}

#[derive(Deserialize)]
struct Told {
    access_token: String,
    token_type: Option<String>,
    /// A number, or with some a text.
    expires_in: Option<Value>,
    refresh_token: Option<String>,
    scope: Option<String>,
}

#[derive(Deserialize)]
struct Refused {
    error: String,
    error_description: Option<String>,
}

impl Desk<'_> {
    pub(super) async fn ask(&self, form: &[(&str, &str)]) -> Result<Given, Trouble> {
        read(self.post(form).await?, now())
    }

    /// Tells that a token is not wanted any more (RFC 7009).
    pub(super) async fn revoke(&self, token: &str, kind: &str) -> Result<(), Trouble> {
        let answer = self
            .post(&[("token", token), ("token_type_hint", kind)])
            .await?;
        match answer.status.is_success() {
            true => Ok(()),
            false => Err(refusal(&answer)),
        }
    }

    async fn post(&self, form: &[(&str, &str)]) -> Result<Answer, Trouble> {
        let mut form = form.to_vec();
        let secret = self.client.secret.as_deref();
        let in_header = secret.filter(|_| self.client.secret_goes == SecretGoes::InHeader);
        if in_header.is_none() {
            form.push(("client_id", &self.client.id));
            form.extend(secret.map(|secret| ("client_secret", secret)));
        }
        let shows = in_header.map(|secret| (self.client.id.as_str(), secret));
        self.http.post_form(self.endpoint, &form, shows).await
    }
}

pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs().try_into().unwrap_or(i64::MAX))
}

fn read(answer: Answer, now: i64) -> Result<Given, Trouble> {
    // Some say that all is well and then that nothing is.
    if !answer.status.is_success() || as_refused(&answer).is_some() {
        return Err(refusal(&answer));
    }
    let told: Told = serde_json::from_slice(&answer.body)
        .map_err(|_| Trouble::Refused("its answer holds no token.".into()))?;
    let is_bearer = |kind: &String| kind.eq_ignore_ascii_case("bearer");
    if !told.token_type.as_ref().is_none_or(is_bearer) {
        return Err(Trouble::Refused(
            "it gives tokens of a kind that Tenon cannot use.".into(),
        ));
    }
    let refresh = told.refresh_token.filter(|token| !token.is_empty());
    if !is_token(&told.access_token) || !refresh.as_deref().is_none_or(is_token) {
        return Err(Trouble::Refused("its token is none.".into()));
    }
    let life = told.expires_in.as_ref().and_then(seconds);
    Ok(Given {
        tokens: TokenPair {
            access: told.access_token,
            refresh,
            renew_at: life.map(|life| now + life - MARGIN.min(life / 4)),
        },
        scopes: told.scope,
    })
}

/// What was wrong, and whether asking again helps.
fn refusal(answer: &Answer) -> Trouble {
    let Some(told) = as_refused(answer) else {
        let status = answer.status;
        let may_pass = status.is_server_error()
            || status == StatusCode::TOO_MANY_REQUESTS
            || status == StatusCode::REQUEST_TIMEOUT;
        return match may_pass {
            true => {
                Trouble::Unreachable(format!("The log-in service answered {}.", status.as_u16()))
            }
            false => Trouble::Refused(format!("it answered {}.", status.as_u16())),
        };
    };
    let line = match &told.error_description {
        Some(why) => format!("{}: {}", said(&told.error), said(why)),
        None => said(&told.error),
    };
    match told.error.as_str() {
        "temporarily_unavailable" | "server_error" | "slow_down" => {
            Trouble::Unreachable(format!("The log-in service said {line}."))
        }
        "invalid_grant" | "invalid_client" | "unauthorized_client" => Trouble::Ended(line),
        _ => Trouble::Refused(line),
    }
}

fn as_refused(answer: &Answer) -> Option<Refused> {
    serde_json::from_slice(&answer.body).ok()
}

fn is_token(token: &str) -> bool {
    (1..=MAX_LENGTH).contains(&token.len()) && token.bytes().all(|byte| byte.is_ascii_graphic())
}

fn seconds(value: &Value) -> Option<i64> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    // Not a number and too large a one become what is possible.
    number
        .is_finite()
        .then(|| (number as i64).clamp(0, MAX_LIFE))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1000;

    fn answer(status: u16, body: &str) -> Answer {
        Answer {
            status: StatusCode::from_u16(status).unwrap(),
            headers: Default::default(),
            body: body.into(),
        }
    }

    #[track_caller]
    fn check(body: &str, expected: (&str, Option<&str>, Option<i64>)) {
        let given = read(answer(200, body), NOW).unwrap();
        let tokens = given.tokens;
        let found = (
            tokens.access.as_str(),
            tokens.refresh.as_deref(),
            tokens.renew_at,
        );
        assert_eq!(found, expected, "{body}");
    }

    #[test]
    fn tokens_are_read_as_servers_write_them() {
        check(
            r#"{"access_token":"a","token_type":"bearer","expires_in":3600,"refresh_token":"r"}"#,
            ("a", Some("r"), Some(NOW + 3570)),
        );
        check(r#"{"access_token":"a"}"#, ("a", None, None));
        check(
            r#"{"access_token":"a","expires_in":"40","refresh_token":""}"#,
            ("a", None, Some(NOW + 30)),
        );
        check(
            r#"{"access_token":"a","expires_in":0}"#,
            ("a", None, Some(NOW)),
        );
        check(
            r#"{"access_token":"a","expires_in":-5}"#,
            ("a", None, Some(NOW)),
        );
        check(
            r#"{"access_token":"a","expires_in":1e300}"#,
            ("a", None, Some(NOW + MAX_LIFE - MARGIN)),
        );
        check(r#"{"access_token":"a","expires_in":{}}"#, ("a", None, None));
    }

    #[track_caller]
    fn check_refused(status: u16, body: &str, expected: Trouble) {
        let trouble = read(answer(status, body), NOW).unwrap_err();
        assert_eq!(trouble, expected, "{body}");
    }

    #[test]
    fn a_refusal_says_whether_asking_again_helps() {
        check_refused(
            400,
            r#"{"error":"invalid_grant","error_description":"revoked\nyesterday"}"#,
            Trouble::Ended("invalid_grant: revoked yesterday".into()),
        );
        check_refused(
            401,
            r#"{"error":"invalid_client"}"#,
            Trouble::Ended("invalid_client".into()),
        );
        check_refused(
            200,
            r#"{"error":"bad_verification_code"}"#,
            Trouble::Refused("bad_verification_code".into()),
        );
        check_refused(
            503,
            "down",
            Trouble::Unreachable("The log-in service answered 503.".into()),
        );
        check_refused(302, "", Trouble::Refused("it answered 302.".into()));
        let none = || Trouble::Refused("its answer holds no token.".into());
        check_refused(200, "<html>", none());
        check_refused(200, "{}", none());
        check_refused(200, r#"{"access_token":7}"#, none());
        let bad = || Trouble::Refused("its token is none.".into());
        check_refused(200, r#"{"access_token":""}"#, bad());
        check_refused(200, r#"{"access_token":"a\r\nX: y"}"#, bad());
        check_refused(
            200,
            r#"{"access_token":"a","token_type":"DPoP"}"#,
            Trouble::Refused("it gives tokens of a kind that Tenon cannot use.".into()),
        );
    }
}
